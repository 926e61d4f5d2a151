// Columns that sim/delta_runs.py wrote as runs of equal differences; its text says how.

// Numbers of seven bits a byte, low bits first.
class Varints {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  next() {
    const byte = this.bytes[this.at++];
    return byte < 128 ? byte : this.longer(byte - 128);
  }

  // More than 32 bits in all, so no shifts.
  longer(number) {
    for (let unit = 128; ; unit *= 128) {
      const byte = this.bytes[this.at++];
      if (byte < 128) return number + byte * unit;
      number += (byte - 128) * unit;
    }
  }

  // The same bytes, read from behind the next `count` numbers.
  behind(count) {
    const { bytes } = this;
    let at = this.at;
    while (count > 0) if (bytes[at++] < 128) count -= 1;
    return new Varints(bytes, at);
  }
}

// Written out as far as it was asked for: a long log is on screen before all of it is read.
class DeltaRuns {
  // bytes: from where the column begins
  constructor(bytes, numHeads, length) {
    this.heads = new Varints(bytes);
    this.times = this.heads.behind(numHeads);
    this.column = new Int32Array(length);
    this.known = 0;
    this.last = 0;
  }

  // As of a typed array.
  subarray(start, end) {
    if (end > this.known) this.readTo(end);
    return this.column.subarray(start, end);
  }

  // Whole runs, so mostly some numbers more.
  readTo(end) {
    const { heads, times, column } = this;
    let { known, last } = this;
    while (known < end) {
      const head = heads.next();
      const repeats = head & 1;
      const code = (head - repeats) / 2;
      const step = (code & 1 ? -(code + 1) / 2 : code / 2) | 0; // whole numbers are what is quick
      const stop = known + (repeats ? times.next() : 1);
      while (known < stop) column[known++] = last = (last + step) | 0;
    }
    Object.assign(this, { known, last });
  }
}

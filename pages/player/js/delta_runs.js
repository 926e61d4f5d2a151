// Columns that sim/delta_runs.py wrote as runs of equal differences; its text says how.

class DeltaRuns {
  // bytes: from where the column begins
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  // Seven bits a byte, low bits first; more than 32 bits in all, so no shifts.
  varint() {
    let byte = this.bytes[this.at++];
    let number = byte & 127;
    for (let unit = 128; byte > 127; unit *= 128) {
      byte = this.bytes[this.at++];
      number += (byte & 127) * unit;
    }
    return number;
  }

  // The next `length` numbers; `at` is then the first byte after them.
  read(numHeads, length) {
    const heads = new Float64Array(numHeads).map(() => this.varint());
    const column = new Int32Array(length);
    let at = 0;
    let last = 0;
    for (const head of heads) {
      const code = Math.floor(head / 2);
      const step = (code % 2 ? -(code + 1) / 2 : code / 2) | 0; // whole numbers are what is quick
      const end = (at + (head % 2 ? this.varint() : 1)) | 0;
      for (; at < end; at++) column[at] = last = (last + step) | 0;
    }
    return column;
  }
}

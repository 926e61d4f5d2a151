// Sends the place to Python: at most four times a second, and only what changed.

class Committer {
  constructor() {
    this.pending = new Map();
    this.sent = new Map();
    this.last = 0;
    this.timer = 0;
    this.send = () => {};
  }

  // What Python knows already.
  known(place) {
    for (const [name, value] of Object.entries(place)) this.sent.set(name, value);
  }

  put(name, value) {
    this.pending.set(name, value);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), 250);
  }

  // Send now, unless the last message went out less than 250 ms ago.
  hurry() {
    clearTimeout(this.timer);
    const wait = Math.max(0, this.last + 250 - performance.now());
    this.timer = setTimeout(() => this.flush(), wait);
  }

  flush() {
    for (const [name, value] of this.pending) {
      if (this.sent.get(name) === value) continue;
      this.sent.set(name, value);
      this.last = performance.now();
      this.send(name, value);
    }
    this.pending.clear();
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

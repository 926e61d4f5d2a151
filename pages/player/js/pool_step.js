// A step event by event: the state after the first n rows of a step. The event after its last row is
// the model's run, and then the step is whole.

const HASH_CHECK = 2; // of poolInvariants

class PoolStep {
  constructor(replay, blob) {
    this.replay = replay;
    this.blob = blob;
    this.leave();
  }

  // How many events a step has.
  events(step) {
    const [start, end] = this.replay.rowRange(step);
    return end - start + 1;
  }

  // Puts the replay after event n of a step; after a row its evictions are those of that row alone.
  show(step, n) {
    this.enter(step);
    this.event = n;
    this.row = null;
    if (n === this.events(step)) this.replay.forward();
    else this.applyRows(step, n);
  }

  // The state before the step, kept while the visitor is inside it.
  enter(step) {
    if (this.step === step) return this.before.restore(this.replay, step - 1);
    this.leave();
    if (step) this.replay.seek(step - 1);
    const from = step ? this.replay : new PoolReplay(this.blob);
    this.before = new Keyframes(from);
    this.before.interval = 1;
    this.before.keep(from);
    this.before.restore(this.replay, step - 1);
    this.replay.forward();
    this.hueAtEnd = this.replay.hue.slice();
    this.before.restore(this.replay, step - 1);
    this.step = step;
  }

  // Before any other seek: a replay inside a step goes back to the step before.
  leave() {
    if (this.inside) this.before.restore(this.replay, this.step - 1);
    this.step = this.event = this.before = this.row = null;
  }

  get inside() {
    return this.event !== null && this.event < this.events(this.step);
  }

  applyRows(step, n) {
    const { replay } = this;
    replay.step = step;
    replay.sample();
    const rows = replay.rowsOf(step).slice(0, n);
    for (const row of rows) {
      replay.evictions = [];
      if (row.kind !== ROW.SCHEDULE) replay.apply(row.kind, row.r, row.a, row.b, row.blocks);
      // What is hit is full: its tokens were computed before.
      if (row.kind === ROW.TOUCH) replay.computed[row.r] = row.blocks.length * replay.blockSize;
    }
    this.row = rows[n - 1];
  }

  // Blocks that this event took, and that lost their hash in it.
  marks() {
    const taken = this.row?.kind === ROW.TAKE ? this.row.blocks : [];
    const evicted = this.row ? this.replay.evictions.map(({ block }) => block) : [];
    return { taken: new Set(taken), evicted: new Set(evicted) };
  }

  // Inside a step blocks hold the hash already that this step fills; the others must be full.
  checked(checks) {
    if (!this.inside) return checks;
    return checks.map((check, i) => (i === HASH_CHECK ? { ...check, holds: this.hashesHold() } : check));
  }

  hashesHold() {
    const { tables, computed, blockSize, prefix, cachedAt, step } = this.replay;
    const early = (block) => prefix[block] !== NONE && cachedAt[block] !== step;
    return [...tables].every(
      ([r, table]) => !table.slice(Math.floor(computed[r] / blockSize)).some(early),
    );
  }

  // Whoever is admitted in this step has its hue already; nobody else's changes inside a step.
  hue(r) {
    const now = this.replay.hue[r] ?? NONE;
    return now === NONE && this.inside ? (this.hueAtEnd[r] ?? NONE) : now;
  }

  // Who holds a block, with the request that is being admitted and does not run yet.
  holders(block) {
    const { replay } = this;
    const found = replay.holders(block);
    if (!this.inside || replay.ref[block] < 2) return found;
    const coming = [...replay.tables.keys()].filter((r) => this.isComing(r));
    const at = replay.logical[block];
    return [...found, ...coming.filter((r) => replay.tables.get(r)[at] === block)];
  }

  isComing(r) {
    const { status, tables } = this.replay;
    return status[r] !== STATUS.RUNNING && tables.has(r);
  }
}

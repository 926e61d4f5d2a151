// What each row of the prefix stage shows at a step: the state of its blocks, now and after it left.
// The pool is PoolReplay's; the verdicts and hashes come with the log (pages/figures/prefix.py).

class PrefixState {
  constructor(blob) {
    this.header = blob.header;
    this.replay = new SeekingReplay(blob);
    this.size = this.replay.blockSize;
    this.arrivals = []; // the step at which a request arrives
    this.givenBack = blob.header.requests.map(() => []); // {step, table, blank} at each release
    this.hashed = blob.header.requests.map(() => 0); // blocks of the table that have a hash
    for (let step = 0; step < this.replay.numSteps; step++) {
      for (const row of this.replay.rowsOf(step)) this.note(step, row);
    }
  }

  note(step, { kind, r, a, b, blocks }) {
    if (kind === ROW.ARRIVE) this.arrivals[r] = step;
    if (kind === ROW.TOUCH) this.hashed[r] = blocks.length;
    if (kind === ROW.CACHE) this.hashed[r] = a + b;
    if (kind === ROW.RELEASE) this.release(step, r, blocks);
  }

  release(step, r, blocks) {
    const blank = blocks.length - this.hashed[r];
    this.givenBack[r].push({ step, table: [...blocks].reverse(), blank });
    this.hashed[r] = 0;
  }

  seek(step) {
    this.replay.seek(step);
    const touches = this.replay.rowsOf(step).filter((row) => row.kind === ROW.TOUCH);
    this.marks = stepMarks(this.replay);
    this.lossesNow = this.header.losses.filter((lost) => lost.step === step).flatMap(({ blocks }) => blocks);
    this.touched = new Set(touches.flatMap((row) => [...row.blocks]));
  }

  // What was found when the request was last let in; undefined before that.
  lookup(r) {
    return this.header.lookups.findLast((l) => l.request === r && l.step <= this.replay.step);
  }

  // The request's table, or the one it last gave back.
  table(r) {
    const last = this.givenBack[r].findLast(({ step }) => step <= this.replay.step);
    return this.replay.tables.get(r) ?? last?.table ?? [];
  }

  row(r) {
    const table = this.table(r);
    const prompt = Math.ceil(this.header.prompts[r].length / this.size);
    const cells = Array.from({ length: prompt }, (_, i) => this.cell(r, i, table[i]));
    const outputs = table.slice(prompt).map((block, i) => this.cell(r, prompt + i, block));
    return { status: this.replay.status[r], lookup: this.lookup(r), cells, outputs, place: this.place(r) };
  }

  // Where the request is, in words under its name.
  place(r) {
    const { status, step } = this.replay;
    const since = this.givenBack[r].findLast((given) => given.step <= step)?.step;
    if (status[r] === STATUS.ABSENT) return `comes at ${this.arrivals[r]}`;
    if (status[r] === STATUS.WAITING) return `waits since ${this.arrivals[r]}`;
    if (status[r] === STATUS.PREEMPTED) return `preempted, ${since}`;
    if (status[r] === STATUS.FINISHED) return `left, step ${since}`;
    return `step ${this.lookup(r).step}`;
  }

  cell(r, i, block) {
    const { replay } = this;
    const held = replay.tables.has(r);
    const prefix = this.header.prefixes[r][i] ?? null;
    const kept = block !== undefined && replay.prefix[block] === prefix;
    const full = (i + 1) * this.size <= (held ? replay.computed[r] : this.header.prompts[r].length);
    const found = this.lookup(r)?.blocks[i];
    const state = block === undefined ? "none" : held ? "held" : this.afterwards(kept, block);
    const used = state === "held" || state === "lent";
    const loss = state === "gone" ? this.lossOf(block, prefix) : undefined;
    const paid = held ? this.lossesNow.find((lost) => lost.block === block) : undefined;
    return {
      block,
      state,
      found,
      why: found && (loss?.why ?? [...found.why, ...(paid?.paid ?? [])]),
      label: loss ? "evicted" : this.label(found, full),
      hash: full || kept ? this.header.chains[r][i] : "",
      ref: used ? replay.ref[block] : 0,
      fill: used ? replay.fill(block) : state === "cached" ? this.size : 0,
      hue: used ? replay.holder[block] : state === "cached" ? replay.lastHolder[block] : r,
      computed: held && found?.label !== "hit",
      taken: held && this.marks.taken.has(block),
      touched: held && this.touched.has(block),
      evicted: held && this.marks.taken.has(block) && this.marks.evicted.has(block),
    };
  }

  // The last time by now that a block lost a prefix.
  lossOf(block, prefix) {
    const past = this.header.losses.filter(({ step }) => step <= this.replay.step);
    return past.flatMap(({ blocks }) => blocks).findLast((lost) => lost.block === block && lost.prefix === prefix);
  }

  // What the evictions for a request in this step were, in a sentence.
  costOf(r) {
    const mine = this.header.losses.filter(({ step, request }) => step === this.replay.step && request === r);
    return mine.flatMap(({ cost }) => cost);
  }

  // What the lookup found, unless more is known by now.
  label(found, full) {
    if (found?.label === "not full" && full) return "filled";
    return found?.label ?? "";
  }

  // What became of a block that the request gave back: held by others, cached, or lost to it.
  afterwards(kept, block) {
    if (!kept) return "gone";
    return this.replay.ref[block] ? "lent" : "cached";
  }

  // The free queue from the head: {block, hash or "", hue}
  queue() {
    const { prefix, lastHolder } = this.replay;
    return this.replay.freeQueue().map((block) => ({
      block,
      hash: prefix[block] === NONE ? "" : this.header.hashes[prefix[block]],
      hue: lastHolder[block],
    }));
  }

  // The words that a cached block stands for: those of the first request that has them.
  wordsOf(block) {
    const prefix = this.replay.prefix[block];
    for (let r = 0; r < this.header.prefixes.length; r++) {
      const i = this.header.prefixes[r].indexOf(prefix);
      if (i >= 0) return { r, words: this.header.prompts[r].slice(i * this.size, (i + 1) * this.size), i };
    }
    return null;
  }
}

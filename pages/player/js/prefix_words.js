// What a step did, in a sentence: the pool's words, with what each request found in the cache.

class PrefixWords extends PoolWords {
  constructor(state) {
    super(state.replay, state.header.scenario, (r) => r);
    this.state = state;
  }

  admitted() {
    return this.of(ROW.ADMIT).map(({ r }) => [this.chip(r), ...this.state.lookup(r).sentence, ...this.cost(r)]);
  }

  // What taking its blocks cost others.
  cost(r) {
    const evicted = this.evictedBy([r]);
    if (!evicted.length) return [];
    const blocks = `${evicted.length > 1 ? "Blocks" : "Block"} ${evicted.join(", ")}`;
    return [plain(` ${blocks}, taken from the queue’s head, ${evicted.length > 1 ? "lose their hashes" : "loses its hash"}.`)];
  }

  // The row says which blocks go to the queue's head; before 0.26 none did, so the hashes tell.
  givenBack({ r, blocks, a, b }) {
    const blank = this.state.givenBack[r]?.findLast(({ step }) => step <= this.replay.step)?.blank ?? 0;
    return super.givenBack({ blocks, a: blank, b: a + b - blank });
  }

  // Where somebody comes or goes, that is the news.
  grown() {
    return this.of(ROW.ADMIT).length || this.of(ROW.FINISH).length ? [] : super.grown();
  }
}

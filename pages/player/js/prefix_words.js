// What a step did, in a sentence: the pool's words, with what each request found in the cache.

class PrefixWords extends PoolWords {
  constructor(state) {
    super(state.replay, state.header.scenario, (r) => r);
    this.state = state;
  }

  admitted() {
    return this.of(ROW.ADMIT).map(({ r }) => [this.chip(r), ...this.state.lookup(r).sentence, ...this.cost(r)]);
  }

  // What taking its blocks cost others, and why those.
  cost(r) {
    return this.state.costOf(r).map(({ text }) => plain(text));
  }

  // The row says which blocks go to the queue's head; before 0.26 none did, so the hashes tell.
  givenBack({ r, blocks, a, b }) {
    const blank = this.state.givenBack[r]?.findLast(({ step }) => step <= this.replay.step)?.blank ?? 0;
    return super.givenBack({ blocks, a: blank, b: a + b - blank });
  }

  // Where somebody comes or goes, that is the news.
  grown() {
    if (this.of(ROW.ADMIT).length || this.of(ROW.FINISH).length) return [];
    const who = [...new Set(this.of(ROW.TAKE).map((row) => row.r))];
    return super.grown().map((clause, i) => [...clause, ...this.cost(who[i])]);
  }
}

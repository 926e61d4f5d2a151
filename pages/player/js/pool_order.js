// Physical or logical order: the same blocks by id, or by request and logical block. Physical is the
// truth, logical what attention sees; going from one to the other moves once.

const ORDER_MS = 400;

class PoolOrder {
  constructor(replay) {
    this.replay = replay;
    this.logical = false;
    this.share = 0; // 0 physical … 1 logical
    this.place = new Int32Array(replay.numBlocks).map((_, block) => block);
    this.block = this.place.slice();
  }

  // place[block] and block[place] of the logical order: tables in order of admission, then the free queue.
  refresh() {
    if (!this.logical && this.share === 0) return;
    const { running, tables } = this.replay;
    const seen = new Set([0]);
    for (const r of running) for (const block of tables.get(r) ?? []) seen.add(block);
    for (const block of this.replay.freeQueue()) seen.add(block);
    let place = 0;
    for (const block of seen) {
      this.place[block] = place;
      this.block[place++] = block;
    }
  }

  // Starts the move; frame() is called until it is over.
  turn(logical, cut, frame) {
    this.logical = logical;
    const [from, to, start] = [this.share, logical ? 1 : 0, performance.now()];
    const move = (now) => {
      const done = cut ? 1 : Math.min(1, Math.max(0, (now - start) / ORDER_MS));
      this.share = from + (to - from) * ease(done);
      frame();
      if (done < 1) this.raf = requestAnimationFrame(move);
    };
    cancelAnimationFrame(this.raf);
    move(start);
  }
}

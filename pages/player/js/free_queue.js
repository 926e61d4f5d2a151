// The free queue: a doubly linked list through a sentinel, as long as the pool is; block 0, the null
// block, is never in it. next and prev are columns of the replay, so that keyframes hold them too.

class FreeQueue {
  constructor(next, prev) {
    this.next = next;
    this.prev = prev;
    this.end = next.length - 1;
    this.fill();
  }

  // Blocks 1, 2, … in order of id.
  fill() {
    const { next, prev, end } = this;
    for (let block = 0; block <= end; block++) {
      next[block] = block + 1;
      prev[block] = block - 1;
    }
    next[end] = Math.min(1, end);
    prev[1] = end;
    next[0] = prev[0] = -1;
  }

  get head() {
    return this.next[this.end];
  }

  append(block) {
    this.link(block, this.prev[this.end], this.end);
  }

  prepend(block) {
    this.link(block, this.end, this.next[this.end]);
  }

  link(block, before, after) {
    this.next[before] = this.prev[after] = block;
    this.prev[block] = before;
    this.next[block] = after;
  }

  unlink(block) {
    this.next[this.prev[block]] = this.next[block];
    this.prev[this.next[block]] = this.prev[block];
    this.next[block] = this.prev[block] = -1;
  }

  // How far a block is from the head, from 1; 0 when it is not in the queue.
  placeOf(block) {
    let place = 1;
    for (let b = this.head; b !== this.end; b = this.next[b], place++) if (b === block) return place;
    return 0;
  }

  // Head first.
  list() {
    const blocks = [];
    for (let b = this.head; b !== this.end && blocks.length < this.end; b = this.next[b])
      blocks.push(b);
    return blocks;
  }
}

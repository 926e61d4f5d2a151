// The pool and its requests at any step, replayed from the log's rows (sim/events.py).
// Step s shows the state after schedule() of step s: all rows before schedule_end[s].

// One Int32Array behind many named columns, so that a keyframe is one copy.
function columnsOf(owner, fields, length) {
  const store = new Int32Array(fields.length * length);
  fields.forEach(([name, initial], i) => {
    owner[name] = store.subarray(i * length, (i + 1) * length);
    if (initial) owner[name].fill(initial);
  });
  return store;
}

class PoolReplay {
  constructor(blob) {
    const { scenario, requests, num_steps: numSteps } = blob.header;
    this.rows = blob.columns;
    this.requests = requests;
    this.numSteps = numSteps;
    this.numBlocks = scenario.num_gpu_blocks;
    this.blockSize = scenario.block_size;
    this.blockStore = columnsOf(this, BLOCK_FIELDS, this.numBlocks + 1);
    this.requestStore = columnsOf(this, REQUEST_FIELDS, requests.length);
    this.tables = new Map();
    this.running = [];
    this.waiting = [];
    this.hues = new Array(HUES).fill(NONE);
    this.used = this.shared = this.cached = 0;
    this.step = NONE;
    this.evictions = []; // {r, block} of the step: hashes lost, and for whom
    this.outOfOrder = NONE; // the last step in which a block was taken from elsewhere than the head
    this.queue = new FreeQueue(this.next, this.prev);
    requests.forEach((request, r) => (this.tokens[r] = request.prompt));
  }

  // Head first.
  freeQueue() {
    return this.queue.list();
  }

  // --- rows ---------------------------------------------------------------------------------------

  rowRange(step) {
    const ends = this.rows.schedule_end;
    return [step > 0 ? ends[step - 1] : 0, ends[step]];
  }

  payload(row) {
    const ends = this.rows.payload_end;
    return this.rows.payload.subarray(row ? ends[row - 1] : 0, ends[row]);
  }

  // The rows of a step as objects, for words and marks.
  rowsOf(step) {
    const { kind, request, a, b } = this.rows;
    const list = [];
    const [start, end] = this.rowRange(step);
    for (let i = start; i < end; i++) {
      list.push({ kind: kind[i], r: request[i], a: a[i], b: b[i], blocks: this.payload(i) });
    }
    return list;
  }

  forward() {
    this.step += 1;
    this.sample();
    this.evictions = [];
    const explicit = new Map();
    const [start, end] = this.rowRange(this.step);
    const { kind, request, a, b } = this.rows;
    for (let i = start; i < end; i++) {
      if (kind[i] === ROW.SCHEDULE) explicit.set(request[i], a[i]);
      else this.apply(kind[i], request[i], a[i], b[i], this.payload(i));
    }
    for (const r of this.running) {
      this.scheduled[r] = explicit.get(r) ?? 1;
      this.computed[r] += this.scheduled[r];
    }
    this.giveHues();
  }

  // What the model made of the step before: a token for each that had computed all it had.
  sample() {
    for (const r of this.running) {
      if (this.scheduled[r] && this.computed[r] >= this.tokens[r]) this.tokens[r] += 1;
    }
  }

  apply(kind, r, a, b, payload) {
    if (kind === ROW.TAKE) this.take(r, payload);
    else if (kind === ROW.CACHE) this.cache(payload, b);
    else if (kind === ROW.EVICT) payload.forEach((block) => this.evict(r, block));
    else if (kind === ROW.TOUCH) this.touch(r, payload);
    else if (kind === ROW.RELEASE) this.release(r, payload, a, b);
    else if (kind === ROW.ARRIVE) this.arrive(r);
    else if (kind === ROW.ADMIT) this.admit(r, a);
    else if (kind === ROW.PREEMPT) this.preempt(r, a);
    else if (kind === ROW.FINISH) this.leave(r, STATUS.FINISHED);
    else if (kind === ROW.RESET && a) this.forget();
  }

  // --- blocks -------------------------------------------------------------------------------------

  hold(r, block) {
    if (!this.tables.has(r)) this.tables.set(r, []);
    const table = this.tables.get(r);
    this.logical[block] = table.length;
    table.push(block);
    if (this.ref[block] === 0) this.use(r, block);
    else if (this.ref[block] === 1) this.shared += 1;
    this.ref[block] += 1;
  }

  use(r, block) {
    this.queue.unlink(block);
    this.used += 1;
    if (this.prefix[block] !== NONE) this.cached -= 1;
    this.holder[block] = r;
  }

  take(r, blocks) {
    for (const block of blocks) {
      if (this.queue.head !== block) this.outOfOrder = this.step;
      this.evict(r, block);
      this.hold(r, block);
      this.takenAt[block] = this.step;
    }
  }

  touch(r, blocks) {
    for (const block of blocks) this.hold(r, block);
  }

  cache(payload, n) {
    for (let i = 0; i < n; i++) {
      this.prefix[payload[i]] = payload[n + i];
      this.cachedAt[payload[i]] = this.step;
    }
  }

  // Takes the hash away that a block may hold.
  evict(r, block) {
    if (this.prefix[block] === NONE) return;
    if (this.ref[block] === 0) this.cached -= 1;
    this.prefix[block] = NONE;
    this.evictions.push({ r, block });
  }

  forget() {
    this.prefix.fill(NONE);
    this.cached = 0;
  }

  release(r, blocks, toHead, toTail) {
    this.heir = r;
    for (const block of blocks) this.letGo(r, block);
    for (let i = toHead - 1; i >= 0; i--) this.queue.prepend(blocks[i]);
    for (let i = toHead; i < toHead + toTail; i++) this.queue.append(blocks[i]);
    this.tables.delete(r);
  }

  letGo(r, block) {
    this.ref[block] -= 1;
    if (this.ref[block] === 1) this.shared -= 1;
    if (this.ref[block] > 0) {
      if (this.holder[block] === r) this.holder[block] = this.heirOf(r, block);
      return;
    }
    this.used -= 1;
    if (this.prefix[block] !== NONE) this.cached += 1;
    this.holder[block] = this.logical[block] = NONE;
    this.lastHolder[block] = r;
  }

  // One of the others that hold a block: who held one block of a table mostly held the next.
  heirOf(r, block) {
    const at = this.logical[block];
    const holds = (other) => other !== r && this.tables.get(other)?.[at] === block;
    if (!holds(this.heir)) this.heir = this.running.find(holds);
    return this.heir;
  }

  // The requests that hold a block, in order of admission.
  holders(block) {
    if (this.ref[block] > 1) return this.inTables(block);
    return this.ref[block] ? [this.holder[block]] : [];
  }

  // A shared block is at the same place of every table: its hash names the whole prefix.
  inTables(block) {
    const [at, refs, found] = [this.logical[block], this.ref[block], []];
    for (let i = 0; i < this.running.length && found.length < refs; i++) {
      if (this.tables.get(this.running[i])?.[at] === block) found.push(this.running[i]);
    }
    return found;
  }

  fill(block) {
    if (this.ref[block] === 0) return this.prefix[block] === NONE ? 0 : this.blockSize;
    const left = this.computed[this.holder[block]] - this.logical[block] * this.blockSize;
    return Math.max(0, Math.min(this.blockSize, left));
  }

  // --- requests -----------------------------------------------------------------------------------

  arrive(r) {
    this.status[r] = STATUS.WAITING;
    this.waiting.push(r);
  }

  admit(r, hits) {
    removeFrom(this.waiting, r);
    this.running.push(r);
    this.status[r] = STATUS.RUNNING;
    this.computed[r] = this.hits[r] = hits;
  }

  // Hues go to whoever was admitted first among those without; nobody loses one while running.
  giveHues() {
    for (const r of this.running) {
      const hue = this.hues.indexOf(NONE);
      if (hue < 0) return;
      if (this.hue[r] !== NONE) continue;
      this.hue[r] = hue;
      this.hues[hue] = r;
    }
  }

  preempt(r, tokens) {
    this.leave(r, STATUS.PREEMPTED);
    this.tokens[r] = tokens;
    this.preemptions[r] += 1;
    this.waiting.unshift(r);
  }

  leave(r, status) {
    removeFrom(this.status[r] === STATUS.RUNNING ? this.running : this.waiting, r);
    if (this.hue[r] >= 0) this.hues[this.hue[r]] = NONE;
    this.hue[r] = NONE;
    this.status[r] = status;
    this.computed[r] = this.scheduled[r] = 0;
  }
}

function removeFrom(list, item) {
  const at = list.indexOf(item);
  if (at >= 0) list.splice(at, 1);
}

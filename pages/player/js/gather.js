// The stage "gather": one query walks its block table. Source, table and pool, scores, running
// state and partial outputs are five panels of one canvas; a position is one micro step.

const GATHER_STEP_MS = { block: 500, load: 200, max: 250, l: 250, acc: 350, divide: 500 };

class GatherStage {
  constructor(host, blob) {
    this.host = host;
    this.log = new GatherLog(blob);
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.canvas.onclick = (event) => this.click(event);
    this.canvas.onmousemove = (event) => {
      this.canvas.style.cursor = this.tokenAt(event) < 0 ? "" : "pointer";
    };
    host.root.append(this.canvas);
    this.moveMs = 250;
    this.seek(0);
  }

  get numSteps() {
    return this.log.num_steps;
  }

  get stepMs() {
    return GATHER_STEP_MS[this.now.kind] ?? 180;
  }

  seek(step) {
    this.now = this.log.at(step);
  }

  sentence() {
    return gatherSentence(this.now, this.log);
  }

  // --- where things happen ------------------------------------------------------------------

  positions(test) {
    const all = Array.from({ length: this.numSteps }, (_, i) => i);
    return Int32Array.from(all.filter((i) => test(this.log.at(i))));
  }

  lanes() {
    const is = (kind) => (now) => now.kind === kind;
    const tests = {
      "new block": is("block"),
      load: is("load"),
      score: is("score"),
      "max moves": this.movesMax,
    };
    return Object.entries(tests).map(([name, test]) => ({ name, at: this.positions(test) }));
  }

  movesMax(now) {
    return now.kind === "max" && now.moved;
  }

  // A block is through when its last token is folded; the query when the division is done.
  endsBlock(now) {
    const { block_size: size, seq_len: length } = this.log;
    return now.kind === "acc" && ((now.token + 1) % size === 0 || now.token + 1 === length);
  }

  stops() {
    return ["each token", "each block", "new max"];
  }

  stopsHere(rule) {
    if (rule === "each token") return this.now.kind === "acc";
    return rule === "each block" ? this.endsBlock(this.now) : this.movesMax(this.now);
  }

  grains() {
    return [
      { name: "micro", label: "Micro" },
      { name: "block", label: "Block" },
      { name: "query", label: "Query" },
    ];
  }

  starts(grain, step) {
    if (grain === "micro") return true;
    const now = this.log.at(step);
    return grain === "block" ? this.endsBlock(now) : now.kind === "divide";
  }

  legend() {
    const { log, now } = this;
    const held = log.block_table.length;
    const count = (holder) => log.holders.filter((name) => name === holder).length;
    const others = count("B") + count("C");
    return [
      { swatch: "owner", owner: 0, label: "blocks of A", count: held },
      { swatch: "used", label: "of other requests", count: others },
      { swatch: "free", label: "free", count: count("free") },
      ...(count("null") ? [{ swatch: "null", label: "null block", count: 1 }] : []),
      "|",
      { swatch: "ring", label: "slots read", count: now.read },
      { swatch: "null", label: "slots never written, NaN", count: held * log.block_size - log.seq_len },
    ];
  }

  // --- drawing ------------------------------------------------------------------------------

  resize(width) {
    this.width = Math.max(280, width);
    this.layout = gatherLayout(this.log, this.width - 2);
    this.context = fitCanvas(this.canvas, this.width, this.layout.height);
    this.context.translate(1, 0); // edges at x = 0 stay whole
  }

  draw(progress) {
    const { log, now, layout } = this;
    this.context.clearRect(-1, 0, this.width, layout.height);
    const pen = new GatherPen(this.context, this.host);
    gatherCode(pen, layout.code, log, now, layout.lines);
    this.blocks = gatherPool(pen, layout.pool, log, now);
    this.plot = gatherScores(pen, layout.scores, log, now, progress);
    gatherState(pen, layout.state, log, now, progress);
    layout.rules.forEach((line) => pen.path(line));
    (layout.phone ? gatherOutputLine : gatherOutput)(pen, layout.output, log, now, progress);
  }

  // --- pointing -----------------------------------------------------------------------------

  // The token whose slot or score lies under the pointer, or −1.
  tokenAt({ offsetX: x, offsetY: y }) {
    const { log, layout, plot } = this;
    const { scores } = layout;
    if (y > scores.y + 20 && y < scores.y + scores.h && x >= scores.x) {
      const token = Math.floor((x - scores.x) / plot.pitch);
      if (token < log.seq_len && x < scores.x + scores.w) return token;
    }
    const block = this.blocks.find((b) => x >= b.x && x < b.x + b.w && y >= b.y && y < b.y + b.h);
    return block && block.logical >= 0 ? gatherTokenIn(block, { x, y }, log, layout.pool.w) : -1;
  }

  click(event) {
    const token = this.tokenAt(event);
    if (token >= 0) this.host.goTo(this.log.foldedAt(token));
  }

  readback() {
    const { now, log } = this;
    return {
      kind: now.kind,
      token: now.token,
      block: now.logical < 0 ? null : log.block(now.logical),
      line: log.source.lit[now.kind],
      m: now.m,
      l: now.l,
      acc: Array.from(now.acc),
      folded: now.folded,
      partial: now.folded ? Array.from(log.vector("partial", now.folded - 1)) : null,
      spots: gatherSpots(this.blocks, log, this.layout.pool.w),
      slots: Object.fromEntries(this.blocks.map((block) => [block.id, gatherStates(block, log, now)])),
    };
  }

  destroy() {
    this.canvas.remove();
  }
}

STAGES.gather = GatherStage;

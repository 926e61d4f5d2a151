// The stage "layout": one block in two layouts, load by load of one warp.

class LayoutStage {
  constructor(host, { header, columns }) {
    this.host = host;
    this.log = { ...header, column: columns };
    this.perThread = columns.load_d.length / header.num_steps / header.threads;
    this.sides = [0, 1].map((i) => new LayoutMemory(header, columns, i, header.shape));
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.details = el("div.layout-details");
    this.root = el("div.layout", {}, this.canvas, this.details);
    host.root.append(this.root);
    this.tip = new Tip(this.root);
    this.canvas.onpointermove = (event) => this.hover(event);
    this.canvas.onpointerleave = () => this.tip.hide();
    this.stepMs = 700;
    this.moveMs = 1;
    this.seek(0);
  }

  get numSteps() {
    return this.log.num_steps;
  }

  // Who reads what in a load: [{thread, slot, d}]
  elements(step) {
    const { load_slot: slots, load_d: ds } = this.log.column;
    const perLoad = this.perThread * this.log.threads;
    const list = [];
    for (let i = 0; i < perLoad; i++) {
      const at = step * perLoad + i;
      if (ds[at] < 0) continue;
      list.push({ thread: Math.floor(i / this.perThread), slot: slots[at], d: ds[at] });
    }
    return list;
  }

  seek(step) {
    const elements = this.elements(step);
    const ds = elements.map((e) => e.d);
    this.load = {
      step,
      elements,
      first: Math.min(...ds),
      last: Math.max(...ds),
      tokens: new Set(elements.map((e) => e.slot)).size,
      row: (d) => (ds.includes(d) ? d : ds[0]),
      threadOf: (some, slot) => (some.find((e) => e.slot === slot) ?? some[0]).thread,
    };
  }

  lanes() {
    return [{ name: "load", at: Int32Array.from({ length: this.numSteps }, (_, i) => i) }];
  }

  sentence() {
    return layoutSentence(this.log, this.load);
  }

  legend() {
    const { shape } = this.log;
    const token = shape.head_size * shape.element_size;
    return [
      { swatch: "ink", label: "one load of a warp, bytes", count: this.sides[0].numBytes[this.load.step] },
      { swatch: "owner", owner: 0, label: `token ${this.log.at.slot}, head ${this.log.at.head}, bytes`, count: token },
      { swatch: "tint", label: "other tokens of this head", count: shape.block_size - 1 },
      { swatch: "tone.free", label: "other heads", count: shape.num_kv_heads - 1 },
    ];
  }

  resize(width) {
    this.width = Math.max(280, width);
    this.narrow = this.width < 760;
    const half = this.narrow ? this.width : (this.width - 28) / 2;
    this.sides[0].place(0, 0, half, this.narrow);
    const [x, y] = this.narrow ? [0, this.sides[0].height + 12] : [half + 28, 0];
    this.sides[1].place(x, y, half, this.narrow);
    const height = Math.max(this.sides[0].height, y + this.sides[1].height);
    this.context = fitCanvas(this.canvas, this.width, height);
    this.drawn = null;
  }

  draw() {
    const { theme } = this.host;
    if (this.drawn === this.load && this.drawnTheme === theme) return;
    [this.drawn, this.drawnTheme] = [this.load, theme];
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const pen = new GatherPen(this.context, this.host);
    for (const side of this.sides) this.drawSide(pen, side);
    this.details.replaceChildren(
      layoutPieces(this.log, this.load),
      ...this.sides.map((side) => layoutAddress(this.log, side)),
    );
  }

  drawSide(pen, side) {
    const { theme, context: g } = pen;
    const [top, right] = [side.y - 34, side.x + side.width];
    pen.text(side.x, top, side.label, { weight: 650, size: 12.5, color: theme.ink });
    pen.text(right, top, `${count(side.block_bytes)} B a block, ${side.row_bytes} B a row`, { align: "right", color: theme.muted });
    pen.text(side.x, top + 18, `${this.log.cache} ${side.words}`, { mono: true, color: theme.muted, room: side.width });
    side.drawPlaces(g, (held) => this.colour(theme, held));
    const runs = side.runs(this.load.step);
    for (let i = 0; i < runs.length; i += 2) side.fill(g, runs[i], runs[i + 1], theme.ink);
    side.drawGrid(g, theme.bg);
    side.drawNames(pen, this.log.at);
    this.drawCost(pen, side);
  }

  colour(theme, held) {
    const { slot, head } = this.log.at;
    if (!held) return theme.bg;
    if (held.head !== head) return held.head % 2 ? theme.sunken : theme.line;
    return held.slot === slot ? theme.owners[0].fill : theme.owners[0].tint;
  }

  drawCost(pen, side) {
    const [x, y] = side.stats;
    const [number, lines] = layoutCost(this.log, side, this.load.step, this.perThread);
    pen.text(x, y, number, { size: 24, weight: 650, color: pen.theme.ink });
    lines.forEach((line, i) => pen.text(x, y + 24 + 18 * i, line, { color: pen.theme.text }));
  }

  hover(event) {
    for (const side of this.sides) {
      const place = side.under(event.offsetX, event.offsetY);
      if (place < 0) continue;
      const held = side.holds(place);
      const own = held && { block: this.log.at.block, ...held };
      return this.tip.show(own ? this.told(side, own) : this.other(side), event.offsetX, event.offsetY);
    }
    this.tip.hide();
  }

  told(side, at) {
    const { words, number } = layoutArithmetic(this.log, side, at);
    return el(
      "div.arithmetic",
      {},
      el("b", {}, `${side.label}: token ${at.slot}, head ${at.head}, d ${at.d}`),
      el("code", {}, `${words} = ${count(number)}`),
      el("code", {}, `× ${this.log.shape.element_size} = byte `, el("b", {}, count(number * this.log.shape.element_size))),
    );
  }

  other(side) {
    return el("div", {}, `${side.label}: ${this.log.cache === "K" ? "values" : "keys"} lie here.`);
  }

  readback() {
    const { load } = this;
    return {
      cache: this.log.cache,
      rowHeight: this.sides[0].rowHeight,
      sides: this.sides.map((side) => ({
        label: side.label,
        runs: Array.from(side.runs(load.step)),
        sectors: side.sectors[load.step],
        address: layoutArithmetic(this.log, side, this.log.at),
      })),
    };
  }

  destroy() {
    this.root.remove();
  }
}

STAGES.layout = LayoutStage;

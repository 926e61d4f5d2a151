// The pool stage: logical tokens → block table → physical pool, at any size of pool.

const PANEL = 252 + 44; // beside the pool, with its gap
const SHORT = 3; // rows of a pool that leaves room below it

class PoolStage extends PoolSelection {
  constructor(host, blob) {
    super();
    this.host = host;
    this.header = blob.header;
    this.replay = new SeekingReplay(blob);
    this.order = new PoolOrder(this.replay);
    this.events = new PoolEvents(blob.columns, this.replay.numSteps);
    this.hueOf = (r) => this.hue(r);
    this.words = new PoolWords(this.replay, blob.header.scenario, this.hueOf);
    this.steps = new PoolStep(this.replay, blob);
    this.eventWords = new PoolEventWords(this.replay, blob.header.scenario, this.hueOf);
    this.history = new HistoryStrip(this.replay.history, this.replay.numBlocks, this.host);
    this.panel = new PoolPanel(this.replay, blob.header.view?.reserve ?? null, blob.columns);
    this.picked = this.startingPick(blob.note);
    this.build();
    this.listen();
  }

  build() {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.headings = ["tokens", "table", "pool"].map((name) => el(`div.heading.${name}`));
    this.box = el("div.pool-box", {}, this.canvas, ...this.headings);
    this.scroller = el("div.pool-scroll", {}, this.box);
    this.scroller.onscroll = () => this.lens?.leaders.draw(this.canvas, this.lens);
    this.main = el("div.pool-main", {}, this.scroller);
    this.root = el("div.pool", {}, this.main, this.panel.root);
    this.host.root.append(this.root);
    this.tip = new Tip(this.root);
    const style = getComputedStyle(this.host.root);
    const family = (name, spare) => style.getPropertyValue(name).trim() || spare;
    this.fonts = {
      sans: family("--st-font", '"Source Sans", sans-serif'),
      mono: family("--st-code-font", '"Source Code Pro", monospace'),
    };
  }

  listen() {
    this.pointer = new PoolPointer(this);
    this.cursor = new PoolCursor(this);
    this.veil = new PoolVeil(this.box);
  }

  // --- what the core asks -------------------------------------------------------------------------

  get numSteps() {
    return this.replay.numSteps;
  }

  lanes() {
    return this.events.lanes();
  }

  stops() {
    return this.events.stops();
  }

  stopsHere(rule) {
    const { event, row } = this.steps;
    if (event !== null) return this.events.isOne(rule, row, this.marks.evicted.size);
    return this.events.happens(rule, this.replay.step);
  }

  grains() {
    return [
      { name: "event", label: "Event" },
      { name: "step", label: "Step", first: true },
      { name: "request", label: "Request" },
    ];
  }

  starts(grain, step) {
    return grain !== "request" || this.events.moves[step] > 0;
  }

  // How many events a step has: its rows, and the model's run.
  eventsOf(step) {
    return this.steps.events(step);
  }

  seek(step) {
    this.steps.leave();
    this.replay.seek(step);
    this.moved(stepMarks(this.replay));
  }

  seekEvent(step, event) {
    this.steps.show(step, event);
    this.moved(this.steps.marks());
  }

  moved(marks) {
    this.marks = marks;
    this.checks = null;
    this.stale = true;
    this.veil?.hide();
  }

  sentence() {
    if (this.steps.event !== null) return this.eventWords.sentence(this.steps.row);
    return this.words.sentence();
  }

  invariants() {
    this.checks ??= this.steps.checked(poolInvariants(this.replay));
    return this.checks;
  }

  legend() {
    return poolLegend(this);
  }

  resize(width) {
    const beside = width >= 820 && this.replay.numBlocks <= 256;
    this.root.classList.toggle("beside", beside);
    this.words.clauses = width < 560 ? 1 : 2;
    this.panel.root.hidden = this.replay.numBlocks > 256;
    this.layout = new PoolLayout(this.replay.numBlocks, beside ? width - PANEL : width, this.order);
    this.strips = this.layout.strips ? new PoolStrips(this.layout, this.replay.blockSize) : null;
    this.painter = new PoolPainter(this);
    this.refitLens(width);
    this.box.style.setProperty("--pool-width", `${Math.min(762, this.layout.room)}px`);
    this.context = fitCanvas(this.canvas, this.layout.width, this.layout.height);
    this.stale = true;
  }

  // The lens stays where it was. The history is beside it, or under a short pool, or in the panel.
  refitLens(width) {
    const block = this.lens?.block ?? this.picked.block ?? 1;
    this.lens?.destroy();
    this.lens = this.layout.strips ? null : new PoolLens(this.layout, this.root);
    if (this.lens) this.main.append(this.lens.root);
    this.lens?.fit(Math.min(width, 560));
    this.lens?.look(block);
    const room = this.root.classList.contains("beside") && this.layout.rows <= SHORT;
    (this.lens?.root ?? (room ? this.main : this.panel.root)).append(this.history.root);
    this.history.refit();
  }

  draw(progress) {
    const theme = this.host.theme;
    const moving = this.layout.level.most <= 256 && progress !== this.drawnAt;
    if (!this.stale && !moving && theme === this.drawnTheme) return;
    const settled = !this.stale && theme === this.drawnTheme;
    this.stale = false;
    this.drawnAt = progress;
    this.drawnTheme = theme;
    this.painter.draw(this.context, theme, progress);
    if (settled) return;
    if (!this.panel.root.hidden) this.panel.draw(theme, this.hueOf);
    this.drawHeadings();
    this.lens?.lead(this.canvas);
    this.cursor.tellAgain();
    this.pointer.tellAgain();
    this.history.place(this.replay.step);
    this.history.show(theme);
  }

  destroy() {
    this.replay.destroy();
    this.history.destroy();
    cancelAnimationFrame(this.order.raf);
    this.root.remove();
  }

  views() {
    return [
      { name: "physical", label: "Physical" },
      { name: "logical", label: "Logical order" },
    ];
  }

  find(name) {
    return findInPool(this, name);
  }

  setView(name) {
    this.order.turn(name === "logical", this.host.calm, () => {
      this.stale = true;
      this.host.refresh();
    });
  }

  drawHeadings() {
    const [tokens, table, pool] = this.headings;
    for (const node of this.headings) node.hidden = !this.strips;
    if (this.strips) poolHeadings(this, tokens, table, pool);
  }

  readback() {
    return poolReadback(this);
  }
}

STAGES.pool = PoolStage;

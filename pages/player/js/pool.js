// The pool stage: logical tokens → block table → physical pool, at any size of pool.

const PANEL = 252 + 44; // beside the pool, with its gap

class PoolStage {
  constructor(host, blob) {
    this.host = host;
    this.header = blob.header;
    this.replay = new SeekingReplay(blob);
    this.order = new PoolOrder(this.replay);
    this.events = new PoolEvents(blob.columns, this.replay.numSteps);
    this.hueOf = (r) => this.hue(r);
    this.words = new PoolWords(this.replay, blob.header.scenario, this.hueOf);
    this.panel = new PoolPanel(this.replay, blob.header.view?.reserve ?? null, blob.columns);
    this.picked = this.startingPick(blob.note);
    this.build();
    this.listen();
  }

  startingPick({ request, block = null }) {
    const index = this.replay.requests.findIndex(({ id }) => id === request);
    const there = block !== null && block >= 0 && block < this.replay.numBlocks;
    return { request: index < 0 ? null : index, block: there ? block : null, token: null };
  }

  build() {
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.headings = ["tokens", "table", "pool"].map((name) => el(`div.heading.${name}`));
    this.box = el("div.pool-box", {}, this.canvas, ...this.headings);
    this.scroller = el("div.pool-scroll", {}, this.box);
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
    return this.events.happens(rule, this.replay.step);
  }

  seek(step) {
    this.replay.seek(step);
    this.marks = stepMarks(this.replay);
    this.stale = true;
  }

  sentence() {
    return this.words.sentence();
  }

  invariants() {
    if (this.checked !== this.replay.step) this.checks = poolInvariants(this.replay);
    this.checked = this.replay.step;
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
    this.lens?.root.remove();
    this.lens = this.layout.strips ? null : new PoolLens(this.layout);
    if (this.lens) this.main.append(this.lens.root);
    this.lens?.fit(Math.min(width, 560));
    this.lens?.look(this.picked.block ?? 1);
    this.box.style.setProperty("--pool-width", `${Math.min(762, this.layout.room)}px`);
    this.context = fitCanvas(this.canvas, this.layout.width, this.layout.height);
    this.stale = true;
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
  }

  destroy() {
    this.replay.destroy();
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

  // --- selection ----------------------------------------------------------------------------------

  // The picked request while it is there, else the last admitted.
  get request() {
    const { status, running } = this.replay;
    const picked = this.picked.request;
    if (picked !== null && status[picked] !== STATUS.ABSENT && status[picked] !== STATUS.FINISHED)
      return picked;
    return running.length ? running[running.length - 1] : NONE;
  }

  get table() {
    return this.replay.tables.get(this.request) ?? [];
  }

  // The hovered or picked token, else the last one of this step.
  get token() {
    const computed = this.request === NONE ? 0 : this.replay.computed[this.request];
    const room = this.table.length * this.replay.blockSize;
    const wanted = this.hovered ?? this.picked.token ?? computed - 1;
    return wanted < room ? wanted : computed - 1;
  }

  // Palette index; a picked request outside the focus borrows the last hue while it is picked.
  hue(r) {
    const own = this.replay.hue[r] ?? NONE;
    const picked = this.picked.request;
    if (picked === null || this.replay.hue[picked] !== NONE) return own;
    if (this.replay.status[picked] !== STATUS.RUNNING) return own;
    if (r === picked) return HUES - 1;
    return own === HUES - 1 ? NONE : own;
  }

  pick(change) {
    Object.assign(this.picked, change);
    this.stale = true;
    if ("block" in change) this.host.commit("block", change.block);
    if ("request" in change)
      this.host.commit("request", this.replay.requests[change.request]?.id ?? null);
    this.host.refresh();
  }

  // What is known of a block, to draw it and to tell it.
  cell(block) {
    const { ref, prefix, holder, lastHolder, blockSize } = this.replay;
    const held = ref[block] > 0;
    const holders = held ? this.replay.holders(block) : [];
    const mine = holders.includes(this.request);
    const lead = mine ? this.request : (holders.find((r) => this.hue(r) !== NONE) ?? holder[block]);
    const cell = {
      id: block,
      state: block === 0 ? "null" : held ? "used" : prefix[block] !== NONE ? "cached" : "free",
      hue: this.hue(held ? lead : lastHolder[block]),
      holders,
      hues: holders.map(this.hueOf),
      ref: ref[block],
      fill: this.replay.fill(block),
      size: blockSize,
      taken: this.marks.taken.has(block),
      evicted: this.marks.evicted.has(block),
    };
    if (mine) this.addTokens(cell, this.replay.logical[block]);
    return cell;
  }

  addTokens(cell, logical) {
    cell.firstToken = logical * cell.size;
    const slot = this.token - cell.firstToken;
    if (slot >= 0 && slot < cell.size) cell.token = slot;
  }

  facts(block) {
    const { logical, prefix, takenAt, cachedAt, requests, queue, numBlocks, used } = this.replay;
    const cell = this.cell(block);
    const idle = cell.state === "free" || cell.state === "cached";
    const shared =
      cell.ref > 1 ? "shared" : cell.fill < cell.size ? "used, partly full" : "used, full";
    const words = { used: shared, cached: "cached, free", free: "free, no hash", null: "null" };
    return {
      ...cell,
      words: words[cell.state],
      owners: cell.holders.map((r) => requests[r].id),
      logical: logical[block],
      prefix: prefix[block],
      takenAt: takenAt[block],
      cachedAt: cachedAt[block],
      queuePlace: idle ? queue.placeOf(block) : 0,
      queueLength: numBlocks - 1 - used,
    };
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

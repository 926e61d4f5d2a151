// The prefix stage: prompts cut into blocks, who shares which, why not, and the free queue below.

class PrefixStage {
  constructor(host, blob) {
    this.host = host;
    this.state = new PrefixState(blob);
    this.replay = this.state.replay;
    this.events = new PoolEvents(blob.columns, this.replay.numSteps);
    this.words = new PrefixWords(this.state);
    this.build(blob.header);
    this.choose((blob.note.block ?? null) === null ? blob.header.view : blob.note);
  }

  build(header) {
    this.longest = Math.max(...header.prompts.flat().map((word) => word.length));
    const pickBlock = (block) => this.pickBlock(block);
    const act = { hover: (cell) => this.hover(cell), pick: (cell) => this.pick(cell), pickBlock };
    this.rows = header.requests.map((_, r) => new PrefixRow(r, header, act));
    const version = header.scenario.version ?? "0.26.0";
    this.queue = new PrefixQueue(this.replay.numBlocks, version, { hover: (tile) => this.hoverTile(tile), pickBlock });
    this.rails = new PrefixRails();
    this.pinned = new PrefixWhy("pinned");
    this.floating = new PrefixWhy("floating");
    this.box = el("div.prefix-rows", {}, this.rails.root, ...this.rows.map((row) => row.root), this.pinned.root);
    this.scroller = el("div.prefix-scroll", {}, this.box);
    this.scroller.onscroll = () => this.placePinned();
    this.root = el("div.prefix", {}, this.scroller, this.queue.root, this.floating.root);
    this.host.root.append(this.root);
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
    this.moves = step === this.replay.step + 1;
    this.state.seek(step);
    this.stale = true;
  }

  sentence() {
    return this.words.sentence();
  }

  legend() {
    const { taken, evicted } = this.state.marks;
    return [
      ...stateEntries(this.replay),
      "|",
      { swatch: "ring", label: "just allocated", count: taken.size },
      { swatch: "evicted", label: "evicted", count: evicted.size },
    ];
  }

  // Tokens are as wide as the row allows; a row too long for it scrolls.
  resize(width) {
    const narrow = width < 600;
    this.root.classList.toggle("narrow-rows", narrow);
    this.words.clauses = narrow ? 1 : 2;
    const cells = Math.max(...this.rows.map((row) => row.cells.length));
    const size = this.state.size;
    const gap = size === 1 ? 8 : 14;
    const room = width - (narrow ? 12 : 76 + 172) - (cells - 1) * gap;
    const word = this.longest > 3 ? (narrow ? 48 : 40) : 8 * this.longest + 10;
    const least = Math.max(size * word, 46);
    const cell = Math.max(least, Math.min(Math.floor(room / cells), size * 64));
    this.root.classList.toggle("stacked", cell < 140);
    this.root.style.setProperty("--cell", `${cell}px`);
    this.root.style.setProperty("--gap", `${gap}px`);
    this.root.style.setProperty("--size", size);
    this.resized = true;
    this.queue.fit(width);
    this.stale = true;
  }

  draw(progress) {
    const eased = 1 - (1 - progress) ** 3;
    this.root.style.setProperty("--p", eased.toFixed(3));
    if (!this.stale && this.drawnTheme === this.host.theme) return;
    this.stale = false;
    this.drawnTheme = this.host.theme;
    this.render();
  }

  destroy() {
    this.replay.destroy();
    this.root.remove();
  }

  // --- drawing ------------------------------------------------------------------------------------

  render() {
    const theme = this.host.theme;
    this.rows.forEach((row, r) => row.show(this.state.row(r), this.replay.computed[r], theme));
    this.queue.show(this.state.queue(), theme, this.moves);
    if (this.resized) this.reveal();
    this.resized = false;
    this.floating.hide();
    this.light();
    this.explain();
  }

  // The chosen block: framed, its row opened for the words below it.
  explain() {
    for (const row of this.rows) {
      row.root.style.paddingBottom = "";
      row.cells.forEach((cell) => {
        const found = row.row.cells[cell.i].found;
        cell.frame(found !== undefined && this.isChosen(cell), found?.token);
      });
    }
    this.placePinned();
    this.rails.draw(this.box, prefixLinks(this.rows), this.host.theme);
  }

  // A request's id and a logical block of it, or no request and a physical block.
  choose({ request, block }) {
    this.picked = request === null ? block : null;
    this.chosen = { r: this.rows.findIndex(({ name }) => name === request), i: block };
  }

  isChosen(cell) {
    return cell.r === this.chosen.r && cell.i === this.chosen.i;
  }

  // Brings the chosen block into sight where the rows are wider than the screen.
  reveal() {
    const cell = this.rows[this.chosen.r]?.cells[this.chosen.i]?.root;
    if (!cell || cell.offsetLeft + cell.offsetWidth <= this.scroller.clientWidth) return;
    this.scroller.scrollLeft = cell.offsetLeft - (this.scroller.clientWidth - cell.offsetWidth) / 2;
  }

  placePinned() {
    const row = this.rows[this.chosen.r];
    const why = row?.row?.cells[this.chosen.i]?.why;
    if (!why) return this.pinned.hide();
    this.pinned.say(why);
    const height = this.pinned.place(row.cells[this.chosen.i].root, this.box, this.scroller);
    row.root.style.paddingBottom = `${height}px`;
  }

  // --- pointing -----------------------------------------------------------------------------------

  pick(cell) {
    const none = { request: null, block: null };
    this.take(this.isChosen(cell) ? none : { request: this.rows[cell.r].name, block: cell.i });
  }

  // A block of the pool, wherever it stands.
  pickBlock(block) {
    this.take({ request: null, block: this.picked === block ? null : block });
  }

  take(choice) {
    this.choose(choice);
    this.host.commit("request", choice.request);
    this.host.commit("block", choice.block);
    this.floating.hide();
    this.stale = true;
    this.host.refresh();
  }

  hover(cell) {
    this.light(cell?.block.dataset.block);
    const why = cell && this.rows[cell.r].row.cells[cell.i].why;
    if (!why || this.isChosen(cell)) return this.floating.hide();
    this.float(cell.root, why, this.queue.root.getBoundingClientRect().top);
  }

  hoverTile(tile) {
    this.light(tile?.dataset.block);
    if (!tile) return this.floating.hide();
    this.float(tile, prefixTileWords(this.state, Number(tile.dataset.block)));
  }

  // Not over the queue's heading, if it can be helped.
  float(node, parts, limit) {
    this.floating.say(parts);
    this.floating.place(node, this.root, this.root, limit);
  }

  // The same block wherever it stands; the one that was picked, while none is pointed at.
  light(block = this.picked ?? undefined) {
    for (const node of this.root.querySelectorAll("[data-block]")) {
      node.classList.toggle("lit", node.dataset.block !== "" && node.dataset.block === String(block));
    }
  }

  readback() {
    return prefixReadback(this);
  }
}

// What stands on the screen, read from the nodes themselves.
function prefixReadback(stage) {
  const shown = (node) => ({
    block: node.dataset.block === "" ? null : Number(node.dataset.block),
    state: node.dataset.state,
    ref: Number(node.lastChild.textContent.slice(1)) || 1,
    taken: node.classList.contains("taken"),
    evicted: node.classList.contains("evicted"),
  });
  const row = (r) => ({
    status: r.root.dataset.status,
    summary: r.summary.textContent,
    place: r.place.textContent,
    cells: r.cells.map((cell) => ({
      ...shown(cell.block),
      label: cell.label.textContent,
      hash: cell.hash.textContent,
      words: cell.words.map((word) => word.textContent),
    })),
    outputs: [...r.outputs.querySelectorAll(".prefix-block")].map(shown),
  });
  return {
    rows: Object.fromEntries(stage.rows.map((r) => [r.name, row(r)])),
    queue: [...stage.queue.belt.querySelectorAll(".prefix-tile")].map((tile) => Number(tile.dataset.block)),
    queueHashes: [...stage.queue.belt.querySelectorAll(".prefix-tile")].map((tile) => tile.lastChild.textContent),
    rails: prefixLinks(stage.rows).map(({ block, past }) => [block, past]),
    why: stage.pinned.root.hidden ? null : stage.pinned.root.textContent,
    hint: stage.floating.root.hidden ? null : stage.floating.root.textContent,
    legend: Object.fromEntries(stage.legend().filter((entry) => entry !== "|").map(({ label, count: n }) => [label, n])),
  };
}

STAGES.prefix = PrefixStage;

// Paints the pool's canvas for the layout's level of detail.

const ease = (t) => 1 - (1 - Math.min(1, Math.max(0, t))) ** 3;
const RING_SHARE = 0.45; // of a motion: the ring comes in, then the slots fill

class PoolPainter {
  constructor(stage) {
    this.stage = stage;
    this.layout = stage.layout;
    if (this.layout.level.most > 1024) this.mosaic = new PoolMosaic(this.layout);
  }

  draw(g, theme, progress) {
    this.stage.order.refresh();
    g.clearRect(0, 0, this.layout.width, this.layout.height);
    if (this.mosaic) this.drawMosaic(g, theme);
    else this.drawCells(g, theme, progress);
    if (this.layout.left > MARGIN && !this.stage.order.logical) this.drawRowLabels(g, theme);
    if (this.layout.left > MARGIN) this.drawRowTicks(g, theme);
    if (this.stage.strips) this.drawStrips(g, theme);
    if (this.stage.lens) this.drawLens(g, theme);
  }

  drawMosaic(g, theme) {
    const { replay, hueOf, order } = this.stage;
    this.mosaic.readTheme(theme);
    this.mosaic.paint(replay, hueOf, order.logical ? order.place : null);
    this.mosaic.draw(g);
  }

  // The picked request's hue beside the rows that hold its blocks.
  drawRowTicks(g, theme) {
    const { picked, replay } = this.stage;
    const { left, poolTop, perRow, pitchY } = this.layout;
    g.fillStyle = ownerColours(theme, this.stage.hue(picked.request)).edge;
    for (const block of replay.tables.get(picked.request) ?? []) {
      const row = Math.floor(this.layout.placeOf(block) / perRow);
      g.fillRect(left - 5, poolTop + row * pitchY, 3, pitchY);
    }
  }

  drawCells(g, theme, progress) {
    const { stage, layout } = this;
    const [w, h] = [layout.cellWidth, layout.cellHeight];
    const marked = [];
    for (let block = 0; block < layout.numBlocks; block++) {
      const cell = stage.cell(block);
      const { x, y } = layout.at(block);
      const grown = cell.taken ? ease((progress - RING_SHARE) / (1 - RING_SHARE)) : 1;
      if (layout.level.name === "slots") drawSlots(g, theme, stage.fonts, cell, x, y, w, h, grown);
      else drawTile(g, theme, stage.fonts, cell, x, y, w, grown);
      if (cell.taken || cell.evicted || this.isChosen(cell)) marked.push([cell, x, y]);
    }
    for (const [cell, x, y] of marked) this.drawMarks(g, theme, cell, x, y, w, h, progress);
  }

  // The picked block, and where no wire shows it the block of the token in ink.
  isChosen(cell) {
    const wired = this.layout.level.name === "slots";
    return cell.id === this.stage.picked.block || (!wired && cell.token !== undefined);
  }

  drawMarks(g, theme, cell, x, y, w, h, progress) {
    if (this.isChosen(cell) && !cell.taken) drawSelection(g, theme, x, y, w, h);
    if (cell.taken) drawRing(g, theme, x, y, w, h, ease(progress / RING_SHARE));
    if (cell.evicted) drawCross(g, theme, x, y, w, h, ease(progress / RING_SHARE));
  }

  drawRowLabels(g, theme) {
    const { rows, perRow, pitchY, poolTop, left, cellHeight } = this.layout;
    const each = 2 ** Math.max(0, Math.ceil(Math.log2(22 / pitchY)));
    for (let row = 0; row < rows; row += each) {
      const y = poolTop + row * pitchY + Math.max(cellHeight / 2, 6);
      drawText(
        g,
        count(row * perRow),
        left - 6,
        y,
        theme.muted,
        `11.5px ${this.stage.fonts.sans}`,
        "right",
      );
    }
  }

  drawStrips(g, theme) {
    const { stage } = this;
    const { replay, strips, table, request, token, fonts } = stage;
    if (!stage.scrolledBy) strips.reveal(Math.floor(token / replay.blockSize), table.length);
    if (request === NONE || !table.length) return;
    const view = { table, token, computed: replay.computed[request], hue: stage.hue(request) };
    strips.draw(g, theme, fonts, view);
    if (this.layout.level.name === "slots") drawWires(g, theme, strips, this.layout, view);
  }

  drawLens(g, theme) {
    const { stage } = this;
    stage.lens.drawFrame(g, theme);
    const marks = (context, cell, x, y, w, h) =>
      this.drawMarks(context, theme, cell, x, y, w, h, 1);
    stage.lens.draw(theme, stage.fonts, (block) => stage.cell(block), marks);
    stage.lens.words.replaceChildren(blockTip(stage.facts(stage.lens.block)));
  }

  look(block) {
    if (this.stage.lens.block === block) return;
    this.stage.lens.look(block);
    this.stage.stale = true;
    this.stage.host.refresh();
  }
}

// Blocks that were taken, and that lost their hash, in the step on show.
function stepMarks(replay) {
  const { ref, takenAt, step } = replay;
  const { kind } = replay.rows;
  const taken = new Set();
  const [start, end] = replay.rowRange(step);
  for (let row = start; row < end; row++) {
    if (kind[row] !== ROW.TAKE) continue;
    for (const block of replay.payload(row)) {
      if (ref[block] && takenAt[block] === step) taken.add(block);
    }
  }
  return { taken, evicted: new Set(replay.evictions.map(({ block }) => block)) };
}

// Above 256 blocks: the blocks around the pointer, drawn as large as in a small pool, and one of
// them in words. It lies under the pool, never over what it enlarges.

class PoolLens {
  // box: where the leaders are drawn
  constructor(layout, box) {
    const few = layout.numBlocks <= 1024;
    [this.columns, this.rows] = few ? [8, 3] : [16, 6];
    this.cell = few ? [58, 42] : [22, 22];
    this.gap = few ? 9 : 4;
    this.layout = layout;
    this.caption = el("p");
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.words = el("div.lens-words");
    this.glass = el("div.glass", {}, this.caption, this.canvas);
    this.root = el("div.lens", {}, this.glass, this.words);
    this.leaders = new PoolLeaders(box);
  }

  // Centre the lens on a block; it stays inside the pool.
  look(block) {
    const { perRow, rows } = this.layout;
    const inside = (value, room) => Math.max(0, Math.min(value, room));
    this.block = block;
    this.led = false;
    const place = this.layout.placeOf(block);
    this.column = inside((place % perRow) - this.columns / 2, perRow - this.columns);
    this.row = inside(Math.floor(place / perRow) - Math.floor(this.rows / 2), rows - this.rows);
  }

  frame() {
    const { left, poolTop, pitchX, pitchY } = this.layout;
    const [x, y] = [left + this.column * pitchX, poolTop + this.row * pitchY];
    return [x - 2, y - 2, this.columns * pitchX + 2, this.rows * pitchY + 2];
  }

  // In ink, on a halo of background that parts it from dark blocks.
  drawFrame(g, theme) {
    roundPath(g, ...this.frame(), 5);
    for (const [colour, width] of [
      [theme.bg, 5],
      [theme.ink, 2.4],
    ]) {
      g.strokeStyle = colour;
      g.lineWidth = width;
      g.stroke();
    }
  }

  // Leaders from the frame, drawn again once it has moved.
  lead(canvas) {
    if (!this.led) this.leaders.draw(canvas, this);
    this.led = true;
  }

  destroy() {
    this.root.remove();
    this.leaders.remove();
  }

  fit(width) {
    this.root.style.setProperty("--lens-left", `${this.layout.left - 4}px`);
    const scale = Math.min(1, (width - 26) / (this.columns * (this.cell[0] + this.gap)));
    this.scale = scale;
    this.pitch = [(this.cell[0] + this.gap) * scale, this.cell[1] * scale + this.gap];
    this.size = [this.columns * this.pitch[0] + 6, this.rows * this.pitch[1] + 10];
    this.context = fitCanvas(this.canvas, ...this.size);
  }

  // cellOf(block) → cell facts; marks(g, cell, x, y, w, h) draws ring and cross
  draw(theme, fonts, cellOf, marks) {
    const g = this.context;
    g.clearRect(0, 0, ...this.size);
    const { perRow, numBlocks } = this.layout;
    const [w, h] = [this.cell[0] * this.scale, this.cell[1] * this.scale];
    const corner = this.row * perRow + this.column;
    for (let i = 0; i < this.columns * this.rows; i++) {
      const place = corner + Math.floor(i / this.columns) * perRow + (i % this.columns);
      if (place >= numBlocks) continue;
      const [x, y] = [
        5 + (i % this.columns) * this.pitch[0],
        6 + Math.floor(i / this.columns) * this.pitch[1],
      ];
      const cell = cellOf(this.layout.blockIn(place));
      if (w > 36) drawSlots(g, theme, fonts, cell, x, y, w, h);
      else drawTile(g, theme, fonts, cell, x, y, w);
      marks(g, cell, x, y, w, h);
    }
    const last = corner + (this.rows - 1) * perRow + this.columns - 1;
    this.caption.replaceChildren(
      el("b", {}, "Lens"),
      ` · ${this.layout.order.logical ? "places" : "blocks"} ${count(corner)}–${count(Math.min(last, numBlocks - 1))}, ${this.columns} × ${this.rows} of the rows above`,
    );
  }
}

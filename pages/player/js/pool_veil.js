// What a word names, lit: all other blocks step back behind a veil of background.

const VEIL = 0.72;

class PoolVeil {
  constructor(box) {
    this.box = box;
    this.canvas = el("canvas.veil", { "aria-hidden": "true" });
    this.lit = 0; // blocks that are lit, while others are not
  }

  // holds(block) → is it lit?
  show(layout, theme, holds) {
    this.box.append(this.canvas);
    const g = fitCanvas(this.canvas, layout.width, layout.height);
    g.globalAlpha = VEIL;
    g.fillStyle = theme.bg;
    g.fillRect(0, layout.poolTop - MARGIN, layout.width, layout.height - layout.poolTop + MARGIN);
    this.lit = 0;
    for (let block = 0; block < layout.numBlocks; block++) {
      if (!holds(block)) continue;
      this.lit += 1;
      this.open(g, layout, layout.spot(layout.placeOf(block)));
    }
  }

  open(g, { cellWidth, cellHeight, gapX, gapY }, { x, y }) {
    const [aside, above] = [gapX / 2, gapY / 2];
    g.clearRect(x - aside, y - above, cellWidth + gapX, cellHeight + gapY);
  }

  hide() {
    this.canvas.remove();
    this.lit = 0;
  }
}

// The blocks that a word stands for, as a test, or null when it stands for none.
function litBlocks({ replay }, { request, block, holds }) {
  if (holds) return holds;
  if (block !== undefined) return (other) => other === block;
  const table = new Set(replay.tables.get(request));
  return table.size ? (other) => table.has(other) : null;
}

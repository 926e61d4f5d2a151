// Where things lie: five levels of detail, chosen by the number of blocks alone.

const POOL_LEVELS = [
  { name: "slots", most: 64, perRow: 8, cell: [83, 46], gap: [14, 11], labels: 0 },
  { name: "tiles", most: 256, perRow: 16, cell: [30, 30], gap: [6, 6], labels: 0 },
  { name: "dots", most: 1024, perRow: 64, cell: [14, 14], gap: [2, 2], labels: 41 },
  { name: "mosaic", most: 4096, perRow: 128, cell: [8, 8], gap: [0, 0], labels: 41 },
  { name: "mosaic", most: 16384, perRow: 256, cell: [4, 4], gap: [0, 0], labels: 41 },
  { name: "image", most: Infinity, perRow: 512, cell: [2, 2], gap: [0, 0], labels: 41 },
];
const POOL_TOP = 166; // below the two strips and the wires
const MARGIN = 5; // room for the rings of the outer cells

class PoolLayout {
  constructor(numBlocks, width, order) {
    this.order = order;
    this.level = POOL_LEVELS.find((level) => numBlocks <= level.most);
    this.numBlocks = numBlocks;
    this.strips = numBlocks <= 256;
    this.perRow = this.level.perRow;
    this.fit(width);
    this.rows = Math.ceil(numBlocks / this.perRow);
    this.poolTop = this.strips ? POOL_TOP : MARGIN;
    this.height = this.poolTop + this.rows * this.pitchY + MARGIN;
    this.inner = this.perRow * this.pitchX - this.gapX;
    this.width = Math.max(width, this.left + this.inner + MARGIN);
  }

  // Cells of the first level shrink with the window; the others keep their size, but for a fifth,
  // and halve the row.
  fit(width) {
    const { cell, gap, labels } = this.level;
    [this.cellWidth, this.cellHeight] = cell;
    [this.gapX, this.gapY] = gap;
    this.left = labels || MARGIN;
    this.room = width - this.left - MARGIN;
    if (this.level.name === "slots") this.fitSlots();
    else this.fitTiles();
    this.pitchX = this.cellWidth + this.gapX;
    this.pitchY = this.cellHeight + this.gapY;
  }

  fitSlots() {
    this.narrow = this.room < 560;
    if (this.narrow) [this.gapX, this.gapY, this.cellHeight] = [5, 6, 42];
    const fits = Math.floor((this.room + this.gapX) / this.perRow - this.gapX);
    this.cellWidth = Math.max(36, Math.min(83, fits));
    this.room = this.perRow * (this.cellWidth + this.gapX) - this.gapX;
  }

  fitTiles() {
    const whole = this.cellWidth;
    const fits = () => Math.floor((this.room + this.gapX) / this.perRow - this.gapX);
    while (this.perRow > 8 && fits() < 0.8 * whole) this.perRow /= 2;
    this.cellWidth = this.cellHeight = Math.min(whole, Math.max(fits(), Math.ceil(0.8 * whole)));
  }

  spot(place) {
    return {
      x: this.left + (place % this.perRow) * this.pitchX,
      y: this.poolTop + Math.floor(place / this.perRow) * this.pitchY,
    };
  }

  // Where a block lies now: between its physical and its logical place while they change.
  at(block) {
    const [here, share] = [this.spot(block), this.order.share];
    if (!share) return here;
    const there = this.spot(this.order.place[block]);
    return { x: here.x + (there.x - here.x) * share, y: here.y + (there.y - here.y) * share };
  }

  placeOf(block) {
    return this.order.logical ? this.order.place[block] : block;
  }

  blockIn(place) {
    return this.order.logical ? this.order.block[place] : place;
  }

  blockAt(x, y) {
    const column = Math.floor((x - this.left) / this.pitchX);
    const row = Math.floor((y - this.poolTop) / this.pitchY);
    const place = row * this.perRow + column;
    if (column < 0 || column >= this.perRow || row < 0 || place >= this.numBlocks) return null;
    const cell = this.spot(place);
    const inside = x - cell.x < this.cellWidth && y - cell.y < this.cellHeight;
    return inside ? this.blockIn(place) : null;
  }
}

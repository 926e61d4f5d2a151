// One block's memory in one layout, in rows of bytes, with what a load of a warp touches in ink.

const LAYOUT_HIGH = 380; // pixels of a block's memory, at most
const LAYOUT_LABEL = 62;
const LAYOUT_STATS = 168;

class LayoutMemory {
  constructor(header, columns, number, shape) {
    Object.assign(this, header.sides[number]);
    const column = (name) => columns[`${name}${number}`];
    this.shape = shape;
    this.index = column("index");
    this.run = column("run");
    this.runEnd = column("run_end");
    this.numBytes = column("num_bytes");
    this.sectors = column("sectors");
    this.threadReads = column("thread_reads");
    this.numRows = Math.ceil(this.block_bytes / this.row_bytes);
  }

  // Bytes of a load as [start, stop) pairs, flat.
  runs(step) {
    return this.run.subarray(step ? 2 * this.runEnd[step - 1] : 0, 2 * this.runEnd[step]);
  }

  place(x, y, width, narrow) {
    this.x = x + LAYOUT_LABEL;
    this.y = y + 44;
    this.width = width - LAYOUT_LABEL - (narrow ? 4 : LAYOUT_STATS);
    this.rowHeight = Math.max(3, Math.min(24, Math.floor(LAYOUT_HIGH / this.numRows)));
    this.stats = narrow ? [this.x, this.y + this.high + 20] : [this.x + this.width + 16, this.y + 14];
    this.height = 44 + this.high + (narrow ? 112 : 8);
    return this;
  }

  get high() {
    return this.numRows * this.rowHeight;
  }

  // What a place of the block holds: {slot, head, d}, or null for the other cache's.
  holds(place) {
    const linear = this.index[place];
    if (linear < 0) return null;
    const { num_kv_heads: heads, head_size: size } = this.shape;
    return {
      slot: Math.floor(linear / (heads * size)),
      head: Math.floor(linear / size) % heads,
      d: linear % size,
    };
  }

  // The element under a point, as its place in the block; -1 for none.
  under(x, y) {
    const row = Math.floor((y - this.y) / this.rowHeight);
    const byte = Math.floor(((x - this.x) / this.width) * this.row_bytes);
    if (row < 0 || row >= this.numRows || byte < 0 || byte >= this.row_bytes) return -1;
    const at = Math.floor((row * this.row_bytes + byte) / this.shape.element_size);
    return at < this.index.length ? at : -1;
  }

  // Fills bytes [start, stop), row by row.
  fill(g, start, stop, colour, inset = 0) {
    g.fillStyle = colour;
    while (start < stop) {
      const row = Math.floor(start / this.row_bytes);
      const end = Math.min(stop, (row + 1) * this.row_bytes);
      const scale = this.width / this.row_bytes;
      const left = this.x + (start - row * this.row_bytes) * scale;
      g.fillRect(left, this.y + row * this.rowHeight + 0.5 + inset, (end - start) * scale, this.rowHeight - 1 - 2 * inset);
      start = end;
    }
  }

  // Every place in the colour of what it holds; neighbours of one colour at once.
  drawPlaces(g, colourOf) {
    const { element_size: bytes } = this.shape;
    let from = 0;
    let colour = colourOf(this.holds(0));
    for (let at = 1; at <= this.index.length; at++) {
      const next = at < this.index.length ? colourOf(this.holds(at)) : null;
      if (next === colour) continue;
      this.fill(g, from * bytes, at * bytes, colour);
      [from, colour] = [at, next];
    }
  }

  drawGrid(g, colour) {
    const pitch = (this.width * 16) / this.row_bytes;
    if (pitch < 6) return;
    g.fillStyle = colour;
    for (let x = pitch; x < this.width - 1; x += pitch) g.fillRect(this.x + x - 0.5, this.y, 1, this.high);
  }

  // Names of the outermost axis, at the row where each of it begins.
  drawNames(pen, at) {
    const [name, size] = this.axes[0];
    const each = this.high / size;
    const every = Math.ceil(14 / each);
    const word = name === "slot" ? "token" : name;
    for (let i = 0; i < size; i++) {
      const now = i === at[name];
      if (!now && (i % every || Math.abs(i - at[name]) * each < 13)) continue;
      const style = { align: "right", size: 11.5, weight: now ? 700 : 400 };
      const color = now ? pen.theme.ink : pen.theme.muted;
      pen.text(this.x - 8, this.y + (i + 0.5) * each, `${word} ${i}`, { ...style, color });
    }
  }
}

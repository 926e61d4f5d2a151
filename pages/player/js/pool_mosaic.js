// Above 1,024 blocks: one image, a pixel a block; lightness is the state, hue the requests in focus.

function packedColour(hex) {
  const [r, g, b] = hex
    .slice(1)
    .match(/../g)
    .map((pair) => parseInt(pair, 16));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0; // little endian RGBA
}

class PoolMosaic {
  constructor(layout) {
    this.layout = layout;
    this.canvas = new OffscreenCanvas(layout.perRow, layout.rows);
    this.context = this.canvas.getContext("2d");
    this.image = this.context.createImageData(layout.perRow, layout.rows);
    this.pixels = new Uint32Array(this.image.data.buffer);
  }

  readTheme(theme) {
    const { free, cached, used, shared } = theme.mosaic;
    this.colours = [free, cached, used, shared].map(packedColour);
    this.hues = theme.owners.map((owner) => packedColour(owner.fill));
  }

  // hueOf(request) → palette index, below 0 for none; place: where each block lies, or null
  paint(replay, hueOf, place) {
    const [free, cached, used, shared] = this.colours;
    const { ref, prefix, holder, numBlocks } = replay;
    const owned = new Uint32Array(replay.requests.length).fill(used);
    for (const r of replay.tables.keys()) owned[r] = this.hues[hueOf(r)] ?? used;
    const pixels = this.pixels;
    for (let block = 0; block < numBlocks; block++) {
      const refs = ref[block];
      const idle = prefix[block] < 0 ? free : cached;
      const colour = refs === 0 ? idle : refs > 1 ? shared : owned[holder[block]];
      pixels[place ? place[block] : block] = colour;
    }
    this.context.putImageData(this.image, 0, 0);
  }

  draw(g) {
    const { left, poolTop, perRow, rows, pitchX, pitchY } = this.layout;
    g.imageSmoothingEnabled = false;
    g.drawImage(this.canvas, left, poolTop, perRow * pitchX, rows * pitchY);
  }
}

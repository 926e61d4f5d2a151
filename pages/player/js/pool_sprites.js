// Pictures of cells, drawn once and then copied: most of a pool's cells look as in the step before, or
// as their neighbours.

const SPRITE_MARGIN = 5; // what a cell draws outside its box
const SPRITE_BYTES = 24e6;
const SPRITE_NAMES = 20_000;

class Sprites {
  constructor() {
    this.scratch = new OffscreenCanvas(1, 1);
    this.forget();
  }

  forget() {
    this.kept = new Map(); // a picture, or null for what was drawn once so far
    this.bytes = 0;
  }

  // paint(g, x, y) draws the cell; key names all that it depends on but the place.
  draw(g, key, x, y, w, h, paint) {
    const scale = window.devicePixelRatio || 1;
    const [left, top] = [(x - SPRITE_MARGIN) * scale, (y - SPRITE_MARGIN) * scale];
    const [dx, dy] = [left - Math.floor(left), top - Math.floor(top)]; // sharp between pixels too
    const between = dx || dy ? `${dx.toFixed(2)} ${dy.toFixed(2)}` : "";
    const name = `${key} ${w} ${h} ${scale} ${between}`;
    const sprite = this.kept.get(name) ?? this.make(name, w, h, scale, dx, dy, paint);
    if (!sprite) return paint(g, x, y);
    const [width, height] = [sprite.width / scale, sprite.height / scale];
    g.imageSmoothingEnabled = false; // pixel by pixel
    g.drawImage(sprite, (left - dx) / scale, (top - dy) / scale, width, height);
  }

  // Nothing for what comes the first time, or while another font holds the place of one on its way.
  make(name, w, h, scale, dx, dy, paint) {
    if (!this.kept.has(name)) {
      if (this.kept.size >= SPRITE_NAMES || this.bytes > SPRITE_BYTES) this.forget();
      this.kept.set(name, null);
      return null;
    }
    if (document.fonts.status !== "loaded") return null;
    const g = this.context(w, h, scale);
    g.setTransform(scale, 0, 0, scale, dx, dy);
    paint(g, SPRITE_MARGIN, SPRITE_MARGIN);
    const sprite = this.scratch.transferToImageBitmap();
    this.bytes += 4 * sprite.width * sprite.height;
    this.kept.set(name, sprite);
    return sprite;
  }

  context(w, h, scale) {
    const side = (length) => Math.ceil((length + 2 * SPRITE_MARGIN) * scale) + 1;
    const { scratch } = this;
    if (scratch.width !== side(w)) scratch.width = side(w);
    if (scratch.height !== side(h)) scratch.height = side(h);
    return scratch.getContext("2d");
  }
}

const SPRITES = new Sprites();

// The two strips above the pool: the selected request's tokens, and its block table row.

const STRIP_Y = { tokens: 20, tokenHeight: 26, table: 74, tableHeight: 34, wires: 108 };

class PoolStrips {
  constructor(layout, blockSize) {
    this.layout = layout;
    this.size = blockSize;
    this.left = layout.left;
    this.room = Math.min(762, layout.room);
    const pitch = Math.max(62, Math.min(blockSize * 20 + 4, 170));
    this.visible = Math.max(1, Math.floor((this.room + 5) / pitch));
    this.pitch = (this.room + 5) / this.visible;
    this.first = 0;
  }

  // Scroll so that logical block `index` of `length` is in sight.
  reveal(index, length) {
    if (index < this.first) this.first = index;
    if (index >= this.first + this.visible) this.first = index - this.visible + 1;
    this.first = Math.max(0, Math.min(this.first, length - this.visible));
  }

  scroll(blocks, length) {
    const before = this.first;
    this.first = Math.max(0, Math.min(this.first + blocks, length - this.visible));
    return this.first !== before;
  }

  x(index) {
    return this.left + (index - this.first) * this.pitch;
  }

  shown(table) {
    const end = Math.min(table.length, this.first + this.visible);
    return Array.from({ length: Math.max(0, end - this.first) }, (_, i) => this.first + i);
  }

  // What lies under a point: {token} or {index} or null.
  under(x, y, table) {
    const index = this.first + Math.floor((x - this.left) / this.pitch);
    const inside = x - this.x(index);
    if (index < 0 || index >= table.length || inside > this.pitch - 5 || inside < 0) return null;
    if (y >= STRIP_Y.table && y < STRIP_Y.table + STRIP_Y.tableHeight) return { index };
    if (y < STRIP_Y.tokens || y >= STRIP_Y.tokens + STRIP_Y.tokenHeight) return null;
    const slot = Math.min(this.size - 1, Math.floor((inside * this.size) / (this.pitch - 5)));
    return { index, token: index * this.size + slot };
  }

  // view = {table, computed, hue, token}
  draw(g, theme, fonts, view) {
    for (const index of this.shown(view.table)) {
      this.drawTokens(g, theme, fonts, view, index);
      this.drawEntry(g, theme, fonts, view, index);
    }
  }

  drawTokens(g, theme, fonts, view, index) {
    const width = (this.pitch - 5) / this.size;
    if (width < 14.5) return this.drawRange(g, theme, fonts, view, index);
    for (let slot = 0; slot < this.size; slot++) {
      const token = index * this.size + slot;
      this.drawToken(g, theme, fonts, view, token, this.x(index) + slot * width, width);
    }
  }

  drawToken(g, theme, fonts, view, token, x, width) {
    const colours = ownerColours(theme, view.hue);
    const { tokens: y, tokenHeight: height } = STRIP_Y;
    const now = token === view.token;
    const there = token < view.computed;
    roundPath(g, x + 0.5, y + 0.5, width - 1, height - 1, 3);
    g.fillStyle = now && there ? colours.fill : there ? colours.tint : theme.bg;
    g.fill();
    g.lineWidth = 1;
    g.strokeStyle = colours.edge;
    if (there) g.stroke();
    else strokeDashed(g, theme.rule);
    if (now) this.ringToken(g, theme, x, width);
    const words = String(token);
    const family = words.length > 2 ? fonts.sans : fonts.mono;
    const colour = now && there ? colours.on_fill : there ? theme.ink : theme.muted;
    drawText(
      g,
      words,
      x + width / 2,
      y + height / 2,
      colour,
      `${now ? 700 : 500} 11.5px ${family}`,
    );
  }

  ringToken(g, theme, x, width) {
    g.strokeStyle = theme.ink;
    g.lineWidth = 2.2;
    const wide = Math.max(4, width);
    roundPath(
      g,
      x + width / 2 - wide / 2 - 1,
      STRIP_Y.tokens - 1.5,
      wide + 2,
      STRIP_Y.tokenHeight + 3,
      5,
    );
    g.stroke();
  }

  // Too many tokens for a number each: the block as one bar with its range.
  drawRange(g, theme, fonts, view, index) {
    const colours = ownerColours(theme, view.hue);
    const { tokens: y, tokenHeight: height } = STRIP_Y;
    const width = this.pitch - 5;
    const first = index * this.size;
    const fill = Math.max(0, Math.min(this.size, view.computed - first));
    roundPath(g, this.x(index) + 0.5, y + 0.5, width - 1, height - 1, 3);
    g.fillStyle = theme.bg;
    g.fill();
    strokeDashed(g, theme.rule);
    roundPath(g, this.x(index) + 0.5, y + 0.5, (width * fill) / this.size - 1, height - 1, 3);
    g.fillStyle = colours.tint;
    if (fill) g.fill();
    g.lineWidth = 1;
    g.strokeStyle = colours.edge;
    if (fill) g.stroke();
    const now = view.token - first;
    if (now >= 0 && now < this.size)
      this.markSlot(g, theme, colours, this.x(index), now, width / this.size);
    const aside = now >= 0 && now < this.size / 2 ? ["right", width - 8] : ["left", 8];
    const words = `${first}–${first + this.size - 1}`;
    drawText(
      g,
      words,
      this.x(index) + aside[1],
      y + height / 2,
      theme.ink,
      `500 11.5px ${fonts.mono}`,
      aside[0],
    );
  }

  markSlot(g, theme, colours, x, slot, width) {
    g.fillStyle = colours.fill;
    g.fillRect(x + slot * width, STRIP_Y.tokens, Math.max(1.5, width), STRIP_Y.tokenHeight);
    this.ringToken(g, theme, x + slot * width, width);
  }

  drawEntry(g, theme, fonts, view, index) {
    const { table: y, tableHeight: height } = STRIP_Y;
    const now = index === Math.floor(view.token / this.size);
    const [x, width] = [this.x(index), this.pitch - 5];
    roundPath(g, x + 0.5, y + 0.5, width - 1, height - 1, 5);
    g.fillStyle = now ? theme.ink : theme.surface;
    g.fill();
    g.lineWidth = 1;
    g.strokeStyle = now ? theme.ink : theme.rule;
    g.stroke();
    const middle = y + height / 2;
    const [quiet, loud] = now ? [theme.bg, theme.bg] : [theme.muted, theme.ink];
    drawText(g, `${index} →`, x + 9, middle, quiet, `500 12.5px ${fonts.mono}`, "left");
    drawText(
      g,
      String(view.table[index]),
      x + width - 9,
      middle,
      loud,
      `700 16px ${fonts.mono}`,
      "right",
    );
  }
}

// One block, drawn large (slots) or small (fill height): the state treatments of the legend.
// cell = {id, state: "null" | "free" | "cached" | "used", hue, hues, ref, fill, size, taken, evicted,
//         firstToken, token}: firstToken and token only on blocks of the selected request.

// The outline of cells that nobody holds; returns false for a cell that is held.
function drawIdle(g, theme, cell, x, y, w, h, radius) {
  if (cell.state === "used") return false;
  g.lineWidth = 1;
  roundPath(g, x + 0.5, y + 0.5, w - 1, h - 1, radius);
  if (cell.state === "null") {
    strokeDotted(g, theme.rule, 1.5);
    return true;
  }
  g.fillStyle = theme.bg;
  g.fill();
  const edge = cell.state === "cached" ? ownerColours(theme, cell.hue).edge : theme.rule;
  if (cell.state === "cached") drawHatch(g, x, y, w, h, edge, w > 20 ? 6 : 5, w > 20 ? 1.8 : 1.2);
  roundPath(g, x + 0.5, y + 0.5, w - 1, h - 1, radius);
  g.strokeStyle = edge;
  g.stroke();
  return true;
}

// --- large: head with id, then the slots ---------------------------------------------------------

function drawSlots(g, theme, fonts, cell, x, y, w, h, grown = 1) {
  const paint = (to, left, top) => paintSlots(to, theme, fonts, cell, left, top, w, h, grown);
  if (grown < 1) return paint(g, x, y);
  const { id, firstToken, token, hues } = cell;
  const owners = cell.ref > 1 ? hues.slice(0, 2) : "";
  const key = `slots ${looks(theme, cell)} ${cell.ref} ${id} ${firstToken} ${token} ${owners}`;
  SPRITES.draw(g, key, x, y, w, h, paint);
}

// What both sizes show of a cell.
function looks(theme, cell) {
  return `${theme.name} ${cell.state} ${cell.hue} ${cell.fill}/${cell.size}`;
}

function paintSlots(g, theme, fonts, cell, x, y, w, h, grown) {
  const colours = ownerColours(theme, cell.hue);
  if (!drawIdle(g, theme, cell, x, y, w, h, 4)) drawHeld(g, theme, fonts, cell, x, y, w, h, grown);
  drawHead(g, theme, fonts, cell, x, y, w, colours);
  if (cell.state === "null") {
    drawText(g, "null", x + w / 2, y + h / 2 + (w > 60 ? 7 : 0), theme.muted, `12px ${fonts.sans}`);
  }
}

function drawHeld(g, theme, fonts, cell, x, y, w, h, grown) {
  const colours = ownerColours(theme, cell.hue);
  roundPath(g, x, y, w, h, 4);
  g.fillStyle = colours.tint;
  g.fill();
  g.strokeStyle = colours.edge;
  g.lineWidth = 1.3;
  roundPath(g, x + 0.65, y + 0.65, w - 1.3, h - 1.3, 4);
  g.stroke();
  const inset = cell.ref > 1 ? 4.2 : 1.8;
  const top = y + Math.round(h * 0.35);
  drawSlotRow(g, theme, fonts, cell, x + inset, top, w - 2 * inset, y + h - inset - top, grown);
  if (cell.ref < 2) return;
  g.strokeStyle = colours.edge;
  roundPath(g, x + 3.2, y + 3.2, w - 6.4, h - 6.4, 2.5);
  g.stroke();
}

function drawSlotRow(g, theme, fonts, cell, x, y, w, h, grown) {
  const colours = ownerColours(theme, cell.hue);
  const pitch = w / cell.size;
  if (pitch < 3) {
    g.fillStyle = theme.bg;
    g.fillRect(x, y, w, h);
    g.fillStyle = colours.fill;
    g.fillRect(x, y, (w * cell.fill * grown) / cell.size, h);
    return;
  }
  const gap = pitch > 8 ? 1 : 0.8;
  for (let slot = 0; slot < cell.size; slot++) {
    const left = x + slot * pitch + gap / 2;
    roundPath(g, left, y, pitch - gap, h, 1.5);
    g.fillStyle = slot < cell.fill * grown ? colours.fill : theme.bg;
    g.fill();
    if (slot >= cell.fill && pitch > 5) strokeDashed(g, colours.edge);
    drawTokenNumber(g, theme, fonts, cell, slot, left + (pitch - gap) / 2, y + h / 2, pitch);
  }
  if (cell.token !== undefined) {
    g.strokeStyle = theme.ink;
    g.lineWidth = 2.2;
    roundPath(g, x + cell.token * pitch - 0.5, y - 1, pitch + 1, h + 1.5, 3);
    g.stroke();
  }
}

function drawTokenNumber(g, theme, fonts, cell, slot, x, y, pitch) {
  if (cell.firstToken === undefined || slot >= cell.fill || pitch < 14) return;
  const words = String(cell.firstToken + slot);
  const font = words.length > 2 ? fonts.sans : fonts.mono;
  g.font = `${slot === cell.token ? 700 : 500} 11.5px ${font}`;
  if (g.measureText(words).width > pitch - 1.5) return;
  drawText(g, words, x, y, ownerColours(theme, cell.hue).on_fill, g.font);
}

function drawHead(g, theme, fonts, cell, x, y, w) {
  const small = w < 60;
  const shift = small ? 4 : cell.ref > 1 ? 5 : 7;
  const baseline = y + (small ? 9.5 : 9);
  const id = String(cell.id);
  g.font = `650 12px ${fonts.mono}`;
  const width = g.measureText(id).width;
  if (cell.state === "cached") {
    g.fillStyle = theme.bg;
    g.fillRect(x + 2, y + 2, width + shift + 3, 14);
  }
  if (cell.state === "null" && small) return;
  const ink = cell.state === "null" ? theme.muted : theme.ink;
  drawText(g, id, x + shift, baseline, ink, g.font, "left");
  if (cell.ref < 2) return;
  const times = `×${cell.ref}`;
  drawText(
    g,
    times,
    x + w - (small ? 4 : 5),
    baseline,
    theme.ink,
    `600 ${small ? 11 : 12}px ${fonts.mono}`,
    "right",
  );
  if (!small) drawOwnerSwatches(g, theme, cell, x + w - 9 - g.measureText(times).width, y + 5);
}

function drawOwnerSwatches(g, theme, cell, right, y) {
  cell.hues.slice(0, 2).forEach((hue, i, shown) => {
    const colours = ownerColours(theme, hue);
    roundPath(g, right - (shown.length - i) * 10 + 1, y, 8, 8, 2);
    g.fillStyle = colours.fill;
    g.fill();
    g.strokeStyle = colours.edge;
    g.lineWidth = 1;
    g.stroke();
  });
}

// --- small: the fill stands for the slots -------------------------------------------------------

const NAMED_TILE = 28; // a tile of this size has its id on it

function drawTile(g, theme, fonts, cell, x, y, s, grown = 1) {
  const paint = (to, left, top) => paintTile(to, theme, fonts, cell, left, top, s, grown);
  if (grown < 1) return paint(g, x, y);
  const key = `tile ${looks(theme, cell)} ${cell.ref > 1} ${s < NAMED_TILE ? "" : cell.id}`;
  SPRITES.draw(g, key, x, y, s, s, paint);
}

function paintTile(g, theme, fonts, cell, x, y, s, grown) {
  const radius = s > 20 ? 4 : 1.5;
  if (!drawIdle(g, theme, cell, x, y, s, s, radius))
    drawFill(g, theme, cell, x, y, s, radius, grown);
  if (s < NAMED_TILE) return;
  const onFill = cell.state === "used" && cell.fill > cell.size * 0.6;
  const colour = onFill ? ownerColours(theme, cell.hue).on_fill : theme.ink;
  if (cell.state === "cached") {
    g.font = `650 11.5px ${fonts.sans}`;
    g.fillStyle = theme.bg;
    const width = g.measureText(String(cell.id)).width + 4;
    g.fillRect(x + s / 2 - width / 2, y + s / 2 - 7, width, 14);
  }
  const quiet = cell.state === "null" ? theme.muted : colour;
  drawText(g, String(cell.id), x + s / 2, y + s / 2, quiet, `650 11.5px ${fonts.sans}`);
}

function drawFill(g, theme, cell, x, y, s, radius, grown) {
  const colours = ownerColours(theme, cell.hue);
  const inset = cell.ref > 1 ? Math.max(2.4, s / 9) : 0;
  roundPath(g, x + 0.5, y + 0.5, s - 1, s - 1, radius);
  g.fillStyle = theme.bg;
  g.fill();
  const height = (s - 2 * inset) * (cell.fill / cell.size) * grown;
  g.save();
  roundPath(g, x + inset, y + inset, s - 2 * inset, s - 2 * inset, Math.max(1, radius - 1));
  g.clip();
  g.fillStyle = colours.fill;
  g.fillRect(x + inset, y + s - inset - height, s - 2 * inset, height);
  g.restore();
  g.strokeStyle = colours.edge;
  g.lineWidth = 1;
  roundPath(g, x + 0.5, y + 0.5, s - 1, s - 1, radius);
  g.stroke();
  if (cell.ref < 2) return;
  roundPath(g, x + inset, y + inset, s - 2 * inset, s - 2 * inset, Math.max(1, radius - 1));
  g.stroke();
  drawDisc(g, x + s - 1, y + 1, s > 20 ? 4 : 2.6, theme.ink, theme.bg);
}

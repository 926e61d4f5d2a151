// Wires from the block table to the pool: at right angles, through the gutters.

// The corners of the wire from table entry `index` to its block; `track` keeps wires apart.
function wirePoints(strips, layout, index, block, track) {
  const entry = strips.x(index);
  const level = STRIP_Y.wires + 7 + (track % 8) * 4;
  const cell = layout.at(block);
  const place = layout.placeOf(block);
  if (place < layout.perRow) {
    const middle = cell.x + layout.cellWidth / 2;
    const above = middle > entry + 4 && middle < entry + strips.pitch - 9;
    if (above)
      return [
        [middle, STRIP_Y.wires],
        [middle, cell.y - 1],
      ];
    const start = entry + (strips.pitch - 5) / 2;
    return [
      [start, STRIP_Y.wires],
      [start, level],
      [middle, level],
      [middle, cell.y - 1],
    ];
  }
  return gutterPoints(layout, cell, place, entry + (strips.pitch - 5) / 2, level, track);
}

// Down the gutter beside the cell; the last column has it on its left.
function gutterPoints(layout, cell, place, start, level, track) {
  const last = place % layout.perRow === layout.perRow - 1;
  const edge = last ? cell.x : cell.x + layout.cellWidth;
  const aside = layout.gapX / 2 + ((track % 3) - 1) * (layout.gapX > 8 ? 2.5 : 0);
  const gutter = last ? cell.x - aside : edge + aside;
  const middle = cell.y + layout.cellHeight * 0.64;
  return [
    [start, STRIP_Y.wires],
    [start, level],
    [gutter, level],
    [gutter, middle],
    [edge, middle],
  ];
}

function tracePath(g, points) {
  g.beginPath();
  g.moveTo(...points[0]);
  for (let i = 1; i < points.length - 1; i++) g.arcTo(...points[i], ...points[i + 1], 4);
  g.lineTo(...points[points.length - 1]);
}

function drawWire(g, points, colour, width, dot) {
  tracePath(g, points);
  g.strokeStyle = g.fillStyle = colour;
  g.lineWidth = width;
  g.lineJoin = "round";
  g.stroke();
  g.beginPath();
  g.arc(...points[points.length - 1], dot, 0, 7);
  g.fill();
}

// All wires of the entries in sight; the current one last, in ink on a halo of background.
function drawWires(g, theme, strips, layout, view) {
  const now = Math.floor(view.token / strips.size);
  const shown = strips.shown(view.table);
  const points = (index) =>
    wirePoints(strips, layout, index, view.table[index], index - strips.first);
  if (!layout.narrow) {
    g.globalAlpha = 0.62;
    const colour = ownerColours(theme, view.hue).edge;
    for (const index of shown) if (index !== now) drawWire(g, points(index), colour, 1.2, 2.5);
    g.globalAlpha = 1;
  }
  if (!shown.includes(now)) return;
  drawWire(g, points(now), theme.bg, 6, 0);
  drawWire(g, points(now), theme.ink, 2.6, 4);
}

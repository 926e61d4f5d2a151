// A's block table and the physical pool: which block the table leads to, which slot is read now.
// Three sizes of block: columns of named slots, tiles with an id, and small squares.

const GATHER_TABLE = { cell: 66, least: 50, height: 23, gap: 5, title: 96 };
const GATHER_HEAD = 22;

function gatherTableRows(log, w) {
  const inline = log.block_table.length * (GATHER_TABLE.cell + GATHER_TABLE.gap);
  return w - GATHER_TABLE.title >= inline ? 1 : 2;
}

// Where each table cell stands: [{logical, x, y, w}], a window of them when not all fit.
function gatherTableCells(log, now, { x, y, w }) {
  const { gap, cell, least } = GATHER_TABLE;
  const total = log.block_table.length;
  const inline = gatherTableRows(log, w) === 1;
  const most = inline ? total : Math.min(total, Math.floor((w + gap) / (least + gap)));
  const pitch = Math.min(cell + gap, inline ? Infinity : (w + gap) / most);
  const from = gatherClamp(now.logical - Math.floor(most / 2), 0, total - most);
  const left = x + (inline ? Math.max(GATHER_TABLE.title, w * 0.5 - (total * pitch) / 2 + 22) : 0);
  return Array.from({ length: most }, (_, i) => ({
    logical: from + i,
    x: left + i * pitch,
    w: pitch - gap,
    y: inline ? y : y + 22,
  }));
}

// Sizes of the pool in a width: {level, per, w, h, gap, slot, top}
function gatherPoolSizes(log, w) {
  const blocks = log.holders.length;
  if (blocks <= 8) {
    const gap = blocks > 5 ? 5 : 9;
    const slot = Math.max(4.4, Math.min(23, 138 / log.block_size));
    const size = { level: 1, per: blocks, gap, slot, w: Math.min(76, (w - gap * (blocks - 1)) / blocks) };
    return { ...size, h: GATHER_HEAD + slot * log.block_size + 4 };
  }
  const per = blocks <= 32 ? 8 : 16;
  const gap = per === 8 ? 8 : 5;
  const side = (w - gap * (per - 1)) / per;
  return { level: per === 8 ? 2 : 3, per, gap, w: side, h: per === 8 ? 38 : Math.min(side, 16) };
}

function gatherPoolHeight(log, w) {
  const size = gatherPoolSizes(log, w);
  const rows = Math.ceil(log.holders.length / size.per);
  const table = gatherTableRows(log, w) * 22 + 2;
  return table + gatherGutter(log, size) + rows * (size.h + size.gap) - size.gap;
}

// Room for wires between the table and the pool: one lane per entry where all are drawn.
function gatherGutter(log, size) {
  return size.level === 1 ? 22 + 5 * Math.min(log.block_table.length, 5) : 26;
}

function gatherPoolBoxes(log, { x, y, w }) {
  const size = gatherPoolSizes(log, w);
  const top = y + gatherTableRows(log, w) * 22 + 2 + gatherGutter(log, size);
  return log.holders.map((holder, id) => ({
    id,
    holder,
    logical: log.block_table.indexOf(id),
    x: x + (id % size.per) * (size.w + size.gap),
    y: top + Math.floor(id / size.per) * (size.h + size.gap),
    w: size.w,
    h: size.h,
  }));
}

function gatherPool(pen, box, log, now) {
  const { theme } = pen;
  const cells = gatherTableCells(log, now, box);
  const size = gatherPoolSizes(log, box.w);
  const boxes = gatherPoolBoxes(log, box);
  const entries = log.block_table.length;
  const title = entries > 3 ? `A’s block table, ${entries} entries` : "A’s block table";
  pen.text(box.x, box.y + 11 - (entries > 3 ? 4 : 0), title, { size: 12.5, weight: 600, color: theme.ink });
  if (size.level === 1) cells.forEach((cell) => gatherThinWire(pen, cell, boxes, log, now, size));
  boxes.forEach((block) => GATHER_BLOCKS[size.level](pen, block, log, now, size));
  cells.forEach((cell) => gatherCell(pen, cell, log, now));
  const current = cells.find((cell) => cell.logical === now.logical && now.kind !== "divide");
  if (!current) return boxes;
  const route = gatherRoute(current, boxes[log.block(now.logical)], log, size);
  if (size.level === 1) pen.wire(route, "tip");
  else pen.wire(route, "dot");
  return boxes;
}

function gatherCell(pen, { logical, x, y, w }, log, now) {
  const { theme } = pen;
  const lit = logical === now.logical && now.kind !== "divide";
  const fill = lit ? theme.ink : theme.surface;
  pen.box(x, y, w, GATHER_TABLE.height, { radius: 6, fill, stroke: lit ? theme.ink : theme.rule });
  const middle = y + GATHER_TABLE.height / 2;
  pen.text(x + 7, middle, `${logical} →`, { mono: true, color: lit ? theme.bg : theme.muted });
  const font = { mono: true, size: 13.5, weight: 700, align: "right" };
  pen.text(x + w - 7, middle, String(log.block(logical)), { ...font, color: lit ? theme.bg : theme.ink });
}

// From the foot of a table cell through the gutter to the top of a column, or down the aisle to
// the left of a tile.
function gatherRoute(cell, block, log, size) {
  const from = cell.x + cell.w / 2;
  const foot = cell.y + GATHER_TABLE.height;
  const lane = foot + 7 + (size.level === 1 ? 5 * (cell.logical % 5) : 4);
  const to = size.level === 1 ? block.x + block.w / 2 : block.x - size.gap / 2;
  const end = size.level === 1 ? block.y : block.y + block.h / 2;
  const turns = Math.abs(from - to) < 1 ? [] : [[from, lane], [to, lane]];
  return [[from, foot], ...turns, [to, end]];
}

function gatherThinWire(pen, cell, boxes, log, now, size) {
  if (cell.logical === now.logical && now.kind !== "divide") return;
  const route = gatherRoute(cell, boxes[log.block(cell.logical)], log, size);
  pen.path(route, { stroke: ownerColours(pen.theme, 0).edge, width: 1.2, alpha: 0.62, radius: 4 });
}

// The state of slot `offset` of a block: "now", "read", "unread", "unwritten" or "other".
function gatherSlotState(block, offset, log, now) {
  if (block.logical < 0) return "other";
  const token = block.logical * log.block_size + offset;
  if (token >= log.seq_len) return "unwritten";
  if (token === now.token && now.folding) return "now";
  return token < now.read ? "read" : "unread";
}

// The left of the overview: A's tokens in order, the block table, the pool, and the ink path that
// leads from a token through the table to its slot, when it is written and when it is read.

const OVERVIEW = { token: 44, table: 32, head: 28, slot: 32, tableGap: 22, wires: 52 };

function overviewScene(log, { x, y, w }) {
  const groups = log.block_table.length;
  const cells = groups * log.block_size;
  const apart = 26;
  const cell = Math.min(70, (w - apart * (groups - 1)) / cells);
  const wide = cells * cell + apart * (groups - 1);
  const left = x + (w - wide) / 2;
  const top = y + 26;
  const table = top + OVERVIEW.token + OVERVIEW.tableGap + 22;
  const pool = table + OVERVIEW.table + OVERVIEW.wires;
  const gap = w < 500 ? 6 : 16;
  const column = (w - gap * (log.holders.length - 1)) / log.holders.length;
  return {
    x, y, w, cell, top, table, pool, column,
    height: pool + OVERVIEW.head + OVERVIEW.slot * log.block_size + 8 - y,
    tokenX: (token) => left + token * cell + Math.floor(token / log.block_size) * apart,
    groupX: (logical) => left + (logical + 0.5) * log.block_size * cell + logical * apart,
    blockX: (id) => x + id * (column + gap),
    slotY: (offset) => pool + OVERVIEW.head + offset * OVERVIEW.slot,
  };
}

function overviewDrawScene(pen, scene, log, now, progress) {
  overviewTitles(pen, scene);
  for (let token = 0; token < log.block_table.length * log.block_size; token++) {
    overviewToken(pen, scene, log, now, token);
  }
  log.block_table.forEach((_, logical) => overviewThin(pen, scene, log, now, logical));
  log.holders.forEach((holder, id) => overviewBlock(pen, scene, log, now, { id, holder }, progress));
  log.block_table.forEach((_, logical) => overviewEntry(pen, scene, log, now, logical));
  if (now.logical >= 0) overviewPath(pen, scene, log, now);
}

function overviewTitles(pen, { x, y, w, table, pool }) {
  const { theme } = pen;
  const head = { size: 12.5, weight: 600, color: theme.ink };
  const aside = { color: theme.muted };
  const end = x + pen.text(x, y + 8, "A’s tokens", head) + 14;
  pen.text(end, y + 8, "in order, as attention wants them", { ...aside, room: x + w - end });
  pen.text(x, table - 12, "A’s block table", head);
  const under = x + pen.text(x, pool - 12, "KV pool", head) + 14;
  if (w > 500) pen.text(under, pool - 12, "in no order", aside);
}

// "now", "done", "ahead" of this phase, or "empty" for a slot that never gets a token.
function overviewState(log, now, token) {
  if (token >= log.seq_len) return "empty";
  if (token === now.token && (now.kind === "write" || now.kind === "fold")) return "now";
  return token < now.done ? "done" : "ahead";
}

function overviewStyle(pen, state) {
  const blue = ownerColours(pen.theme, 0);
  return {
    now: { fill: blue.fill, stroke: blue.edge },
    done: { fill: blue.fill, alpha: 0.5, stroke: blue.edge },
    ahead: { fill: pen.theme.bg, stroke: blue.edge },
    empty: { fill: pen.theme.bg, stroke: blue.edge, width: 0.8, dash: [2, 2] },
  }[state];
}

function overviewInk(pen, state) {
  const blue = ownerColours(pen.theme, 0);
  return { now: blue.on_fill, empty: pen.theme.muted }[state] ?? pen.theme.ink;
}

function overviewToken(pen, scene, log, now, token) {
  const state = overviewState(log, now, token);
  const box = [scene.tokenX(token) + 1.5, scene.top, scene.cell - 3, OVERVIEW.token];
  pen.box(...box, { radius: 4, width: 1.2, ...overviewStyle(pen, state) });
  const name = state === "empty" ? "" : scene.cell > 44 ? `tok${token}` : String(token);
  const font = { mono: true, size: 13, align: "center", weight: state === "now" ? 700 : 400 };
  pen.text(box[0] + box[2] / 2, box[1] + box[3] / 2, name, { ...font, color: overviewInk(pen, state) });
  if (state === "now") gatherRing(pen, ...box);
}

function overviewEntry(pen, scene, log, now, logical) {
  const { theme } = pen;
  const lit = logical === now.logical;
  const [w, h] = [86, OVERVIEW.table];
  const x = scene.groupX(logical) - w / 2;
  pen.box(x, scene.table, w, h, { radius: 6, fill: lit ? theme.ink : theme.surface, stroke: lit ? theme.ink : theme.rule });
  const middle = scene.table + h / 2;
  pen.text(x + 12, middle, `${logical} →`, { mono: true, size: 13, color: lit ? theme.bg : theme.muted });
  const font = { mono: true, size: 16, weight: 700, align: "right", color: lit ? theme.bg : theme.ink };
  pen.text(x + w - 12, middle, String(log.block_table[logical]), font);
}

function overviewBlock(pen, scene, log, now, block, progress) {
  const { theme } = pen;
  const { id, holder } = block;
  const logical = log.block_table.indexOf(id);
  const x = scene.blockX(id);
  const h = OVERVIEW.head + OVERVIEW.slot * log.block_size + 4;
  gatherFrame(pen, { x, y: scene.pool, w: scene.column, h, holder });
  pen.text(x + 9, scene.pool + 13, String(id), { mono: true, size: 13, weight: 700, color: theme.ink });
  pen.text(x + scene.column - 9, scene.pool + 13, holder, { color: theme.muted, align: "right" });
  if (holder === "free") return;
  for (let offset = 0; offset < log.block_size; offset++) {
    overviewSlot(pen, scene, log, now, { id, logical, offset, x }, progress);
  }
}

function overviewSlot(pen, scene, log, now, { id, logical, offset, x }, progress) {
  const { theme } = pen;
  const roomy = scene.column > 92;
  const left = x + (roomy ? 34 : 5);
  const box = [left, scene.slotY(offset), x + scene.column - 6 - left, OVERVIEW.slot - 4];
  if (logical < 0) return pen.box(...box, { radius: 2, fill: theme.rest.fill, alpha: 0.22 });
  const token = logical * log.block_size + offset;
  const slot = String(id * log.block_size + offset);
  if (roomy) pen.text(left - 7, box[1] + box[3] / 2, slot, { mono: true, size: 11.5, align: "right", color: theme.muted });
  return overviewContent(pen, box, log, now, token, progress);
}

// A slot holds NaN until its token is written; then it is drawn as far as it was read.
function overviewContent(pen, box, log, now, token, progress) {
  const known = token < now.written;
  const state = known ? overviewState(log, now, token) : "empty";
  const writing = state === "now" && now.kind === "write";
  pen.box(...box, { radius: 2, ...overviewStyle(pen, writing ? "empty" : state) });
  if (writing) pen.box(box[0], box[1], box[2] * gatherEase(progress), box[3], { radius: 2, ...overviewStyle(pen, "now") });
  const font = { mono: true, size: 12, align: "center", weight: state === "now" ? 700 : 400 };
  const name = known ? `tok${token}` : "NaN";
  pen.text(box[0] + box[2] / 2, box[1] + box[3] / 2, name, { ...font, color: overviewInk(pen, state) });
  if (state === "now") gatherRing(pen, ...box);
  return undefined;
}

// The wire of an entry: down from the cell, along its own lane, down to its block.
function overviewRoute(scene, log, logical) {
  const from = scene.groupX(logical);
  const foot = scene.table + OVERVIEW.table;
  const lane = foot + 13 + 9 * (log.block_table.length - 1 - logical);
  const to = scene.blockX(log.block_table[logical]) + scene.column / 2;
  return Math.abs(from - to) < 2 ? [[from, foot], [to, scene.pool]]
    : [[from, foot], [from, lane], [to, lane], [to, scene.pool]];
}

function overviewThin(pen, scene, log, now, logical) {
  const blue = ownerColours(pen.theme, 0);
  const first = scene.tokenX(logical * log.block_size);
  const last = scene.tokenX((logical + 1) * log.block_size - 1) + scene.cell;
  const y = scene.top + OVERVIEW.token + 9;
  const thin = { stroke: blue.edge, width: 1.2, alpha: 0.62, radius: 4 };
  pen.path([[first + 2, y - 4], [first + 2, y], [last - 2, y], [last - 2, y - 4]], { ...thin, radius: 3 });
  pen.path([[scene.groupX(logical), y], [scene.groupX(logical), scene.table]], thin);
  if (logical !== now.logical) pen.path(overviewRoute(scene, log, logical), thin);
}

function overviewPath(pen, scene, log, now) {
  const center = scene.groupX(now.logical);
  const y = scene.top + OVERVIEW.token + 9;
  if (now.kind !== "block") {
    const token = scene.tokenX(now.token) + scene.cell / 2;
    const bend = Math.abs(token - center) < 1 ? [] : [[token, y], [center, y]];
    const foot = scene.top + OVERVIEW.token + 4;
    const ink = { stroke: pen.theme.ink, width: 2.6, radius: 4 };
    pen.path([[token, foot], ...bend, [center, scene.table]], ink);
  }
  pen.wire(overviewRoute(scene, log, now.logical), now.kind === "fold" ? "dot" : "tip");
}

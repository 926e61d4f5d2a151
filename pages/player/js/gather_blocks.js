// How one physical block is drawn, at each of the three sizes.

function gatherFrame(pen, block) {
  const { theme } = pen;
  const { x, y, w, h, holder } = block;
  const blue = ownerColours(theme, 0);
  const styles = {
    A: { fill: blue.tint, stroke: blue.edge, width: 1.3 },
    B: { fill: theme.sunken, stroke: theme.rest.edge },
    C: { fill: theme.sunken, stroke: theme.rest.edge },
    free: { fill: theme.bg, stroke: theme.rule },
    null: { stroke: theme.rule, width: 1.5, dash: [1.5, 3.5] },
  };
  pen.box(x, y, w, h, { radius: 4, ...styles[holder] });
}

const GATHER_BLOCKS = {
  1: gatherColumn,
  2: gatherTile,
  3: gatherSquare,
};

function gatherColumn(pen, block, log, now, size) {
  const { theme } = pen;
  gatherFrame(pen, block);
  const head = { size: 12, weight: 650, mono: true, color: theme.ink };
  const used = 12 + pen.text(block.x + 6, block.y + 11, String(block.id), head);
  const font = { size: 11.5, color: theme.muted, align: "right" };
  const fits = pen.width(block.holder, font) < block.w - used - 4;
  if (fits) pen.text(block.x + block.w - 6, block.y + 11, block.holder, font);
  if (block.holder === "free" || block.holder === "null") return;
  for (let i = 0; i < log.block_size; i++) {
    const slot = { x: block.x + 4, y: block.y + GATHER_HEAD + i * size.slot, w: block.w - 8, h: size.slot - 1.6 };
    gatherSlot(pen, slot, gatherSlotState(block, i, log, now), gatherSlotName(block, i, log));
  }
  const current = block.logical === now.logical && now.folding && log.column.offset[now.token];
  if (typeof current === "number") gatherRing(pen, block.x + 4, block.y + GATHER_HEAD + current * size.slot, block.w - 8, size.slot - 1.6);
}

function gatherSlotName(block, offset, log) {
  if (block.logical < 0) return "";
  const token = block.logical * log.block_size + offset;
  if (token >= log.seq_len) return "NaN";
  return block.w >= 44 ? `tok${token}` : String(token);
}

function gatherSlot(pen, { x, y, w, h }, state, name) {
  const { theme } = pen;
  const blue = ownerColours(theme, 0);
  const thin = h < 9;
  const edge = { stroke: blue.edge, width: thin ? 0.5 : 0.9 };
  const styles = {
    other: { fill: theme.rest.fill, alpha: 0.22 },
    unwritten: { fill: theme.bg, ...(thin ? {} : { stroke: blue.edge, width: 0.8, dash: [2, 2] }) },
    unread: { fill: theme.bg, ...edge },
    read: { fill: blue.fill, alpha: 0.5, ...edge },
    now: { fill: blue.fill, stroke: blue.edge },
  };
  pen.box(x, y, w, h, { radius: 1.5, ...styles[state] });
  if (h < 13 || !name) return;
  const color = { now: blue.on_fill, unwritten: theme.muted }[state] ?? theme.ink;
  const font = { size: 11.5, mono: true, weight: state === "now" ? 700 : 400, align: "center", color };
  pen.text(x + w / 2, y + h / 2, name, font);
}

function gatherRing(pen, x, y, w, h) {
  pen.box(x - 1.5, y - 1.5, w + 3, h + 3, { radius: 4, stroke: pen.theme.ink, width: 2.2 });
}

// A head with the id, below it the slots side by side.
function gatherTile(pen, block, log, now) {
  const { theme } = pen;
  gatherFrame(pen, block);
  const head = { size: 11.5, mono: true, weight: 650, color: theme.ink };
  pen.text(block.x + 4, block.y + 9, String(block.id), head);
  if (block.holder === "free" || block.holder === "null") return;
  gatherStrip(pen, { x: block.x + 2, y: block.y + 17, w: block.w - 4, h: block.h - 19 }, block, log, now);
}

function gatherSquare(pen, block, log, now) {
  gatherFrame(pen, block);
  if (block.holder === "free" || block.holder === "null") return;
  gatherStrip(pen, { x: block.x + 2, y: block.y + 2, w: block.w - 4, h: block.h - 4 }, block, log, now);
}

function gatherStrip(pen, { x, y, w, h }, block, log, now) {
  const { theme } = pen;
  const blue = ownerColours(theme, 0);
  const pitch = w / log.block_size;
  const gap = pitch > 4 ? 1 : 0;
  for (let i = 0; i < log.block_size; i++) {
    const state = gatherSlotState(block, i, log, now);
    const styles = {
      other: { fill: theme.rest.fill, alpha: 0.22 },
      unwritten: { fill: theme.bg },
      unread: { fill: theme.bg },
      read: { fill: blue.fill, alpha: 0.6 },
      now: { fill: theme.ink },
    };
    pen.box(x + i * pitch, y, pitch - gap, h, styles[state]);
  }
  if (block.logical !== now.logical || now.kind === "divide" || block.logical < 0) return;
  pen.box(block.x - 2, block.y - 2, block.w + 4, block.h + 4, { radius: 5, stroke: theme.ink, width: 2 });
}

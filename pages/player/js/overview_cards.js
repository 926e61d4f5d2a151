// The right of the overview: the three phases, each with the numbers it has reached.

const OVERVIEW_CARDS = { write: 100, gather: 70, compare: 190, gap: 16 };

function overviewCardsHeight() {
  const { write, gather, compare, gap } = OVERVIEW_CARDS;
  return write + gather + compare + 2 * gap;
}

function overviewCards(pen, { x, y, w }, log, now, progress) {
  const { write, gather, gap } = OVERVIEW_CARDS;
  overviewWriteCard(pen, { x, y, w }, log, now);
  overviewGatherCard(pen, { x, y: y + write + gap, w }, log, now);
  overviewCompareCard(pen, { x, y: y + write + gather + 2 * gap, w }, log, now, progress);
}

function overviewCardHead(pen, { x, y, w }, number, title, aside, on) {
  const { theme } = pen;
  pen.dot(x + 11, y + 11, 11, { fill: on ? theme.ink : theme.sunken });
  const digit = { size: 12.5, weight: 700, align: "center", color: on ? theme.bg : theme.muted };
  pen.text(x + 11, y + 11, number, digit);
  const end = x + 32 + pen.text(x + 32, y + 11, title, { size: 14, weight: 650, color: theme.ink }) + 10;
  pen.text(end, y + 11, aside, { color: theme.muted, room: x + w - end });
}

function overviewWriteCard(pen, { x, y, w }, log, now) {
  const { theme } = pen;
  overviewCardHead(pen, { x, y, w }, "1", "Write", "each token to its slot", now.kind === "write");
  const label = pen.text(x + 32, y + 42, "slot_mapping", { mono: true, size: 12 }) + 42;
  const pitch = Math.min(38, (w - label) / log.seq_len);
  for (let token = 0; token < log.seq_len; token++) {
    const lit = now.kind === "write" && token === now.token;
    const known = token < now.written;
    const style = lit ? { fill: theme.ink } : known ? { fill: theme.surface, stroke: theme.rule } : { stroke: theme.line };
    pen.box(x + label + token * pitch, y + 30, pitch - 4, 24, { radius: 4, ...style });
    const font = { mono: true, size: 12.5, align: "center", weight: lit ? 700 : 400, color: lit ? theme.bg : theme.ink };
    if (known) pen.text(x + label + token * pitch + (pitch - 4) / 2, y + 42, String(log.column.slot[token]), font);
  }
  const words = now.kind === "write" ? overviewArithmetic(log, now.token) : "slot = table[i // B] × B + i % B";
  pen.text(x + 32, y + 76, words, { mono: true, size: 12, color: now.kind === "write" ? theme.ink : theme.muted, room: w - 32 });
}

function overviewArithmetic(log, token) {
  const size = log.block_size;
  const slot = log.column.slot[token];
  return `table[${token} // ${size}] × ${size} + ${token} % ${size} = ${log.column.block_id[token]} × ${size} + ${token % size} = ${slot}`;
}

function overviewGatherCard(pen, { x, y, w }, log, now) {
  const { theme } = pen;
  const on = now.kind === "block" || now.kind === "fold";
  overviewCardHead(pen, { x, y, w }, "2", "Gather", "one query walks the table", on);
  const read = now.read;
  const font = { mono: true, size: 12.5, color: theme.ink };
  const m = read ? gatherNumber(log.column.m[read - 1]) : "−∞";
  const l = read ? gatherNumber(log.column.l[read - 1]) : "0";
  pen.run(x + 32, y + 42, [
    [`${read} of ${log.seq_len} read`, { size: 12.5 }],
    ["    m ", { ...font, weight: 700 }], [m, font],
    ["    l ", { ...font, weight: 700 }], [l, font],
  ]);
}

function overviewCompareCard(pen, { x, y, w }, log, now, progress) {
  const { theme } = pen;
  overviewCardHead(pen, { x, y, w }, "3", "Compare", "with dense attention", now.kind === "compare");
  const right = { size: 11.5, color: theme.muted, align: "right" };
  pen.text(x + w - 80, y + 40, "paged", right);
  pen.text(x + w, y + 40, "dense", right);
  for (let i = 0; i < log.head_size; i++) {
    overviewOutput(pen, { x: x + 32, y: y + 60 + i * 24, w: w - 32 }, log, now, i, progress);
  }
  const error = now.kind === "compare" ? log.column.error[log.seq_len] : log.column.error[now.read - 1];
  const words = now.read ? gatherError(error) : "–";
  pen.text(x + 32, y + 172, "largest difference", { size: 13 });
  pen.text(x + w, y + 172, words, { size: 24, weight: 650, align: "right", color: theme.ink });
}

// One output: a bar up to acc / l so far, the dense value as a dashed mark.
function overviewOutput(pen, { x, y, w }, log, now, i, progress) {
  const { theme } = pen;
  const dense = log.column.dense[i];
  const value = overviewPartial(log, now.read, i);
  const before = now.kind === "fold" ? overviewPartial(log, now.read - 1, i) : value;
  const shown = gatherMix(before, value, gatherEase(progress));
  const [from, wide] = [x + 26, w - 26 - 168];
  pen.text(x, y, `[${i}]`, { mono: true, size: 12 });
  pen.box(from, y - 7, wide, 14, { fill: theme.surface });
  pen.box(from, y - 7, wide * shown, 14, { fill: theme.rest.fill });
  pen.path([[from + wide * dense, y - 10], [from + wide * dense, y + 10]], { stroke: theme.ink, width: 1.6, dash: [3, 2] });
  const font = { mono: true, size: 12.5, align: "right" };
  const paged = now.read ? gatherNumber(value, 6) : "–";
  pen.text(x + w - 80, y, paged, { ...font, weight: 700, color: theme.ink });
  pen.text(x + w, y, gatherNumber(dense, 6), { ...font, color: theme.muted });
}

function overviewPartial(log, read, i) {
  return read > 0 ? log.column.partial[(read - 1) * log.head_size + i] : 0;
}

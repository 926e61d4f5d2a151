// The source panel: the real lines of the function that ran, the current one in ink, and beside
// each line that has run for this token the value it gave.

const GATHER_CODE = { top: 26, pad: 6 };
const GATHER_WHOLE = { row: 16, size: 11.5, gutter: 34 };
const GATHER_WINDOW = { row: 24, size: 13, gutter: 38 }; // a few lines, on a phone

// Rows that fit in a window of `most` lines around the lit one; all of them when most is 0.
function gatherCodeRows(log, now, most) {
  const lines = log.source.lines;
  if (!most || lines.length <= most) return lines;
  const lit = lines.findIndex(([number]) => number === log.source.lit[now.kind]);
  const from = gatherClamp(lit - most + 2, 0, lines.length - most);
  return lines.slice(from, from + most);
}

function gatherCodeStyle(most) {
  return most ? GATHER_WINDOW : GATHER_WHOLE;
}

function gatherCodeHeight(log, most) {
  const rows = most ? Math.min(most, log.source.lines.length) : log.source.lines.length;
  return GATHER_CODE.top + rows * gatherCodeStyle(most).row + 2 * GATHER_CODE.pad;
}

// What the lines have given so far: line number → words.
function gatherCodeValues(log, now) {
  const { lit, names } = log.source;
  const values = {};
  if (now.logical >= 0 && now.kind !== "divide") values[lit.block] = String(log.block(now.logical));
  if (now.folding) {
    values[names.offset] = String(log.column.offset[now.token]);
    values[lit.load] = `token ${now.token}`;
    const shown = { score: now.s, max: now.m, corr: now.corr, p: now.p, l: now.l };
    for (const [step, value] of Object.entries(shown)) {
      if (now.ran(step)) values[lit[step]] = gatherNumber(value);
    }
  }
  return values;
}

function gatherCode(pen, { x, y, w }, log, now, most) {
  const { theme } = pen;
  const rows = gatherCodeRows(log, now, most);
  const values = gatherCodeValues(log, now);
  const lit = log.source.lit[now.kind];
  pen.text(x, y + 7, "Source, as it runs", { size: 12.5, weight: 600, color: theme.ink });
  pen.text(x + w, y + 7, "sim/attention.py", { mono: true, size: 11.5, color: theme.muted, align: "right" });
  const top = y + GATHER_CODE.top;
  const style = gatherCodeStyle(most);
  const height = rows.length * style.row + 2 * GATHER_CODE.pad;
  const margin = most ? Math.min(...rows.map(([, text]) => gatherIndent(text))) : 0;
  pen.box(x, top - 2, w, height, { radius: 8, stroke: theme.line, fill: theme.bg });
  rows.forEach(([number, text], i) => {
    const row = { x, y: top - 2 + GATHER_CODE.pad + i * style.row, w, margin, ...style };
    gatherCodeRow(pen, row, { number, text, value: values[number] }, gatherTone(log, now, number, lit));
  });
}

// "lit" runs now, "ran" ran for this token, "other" did not.
function gatherTone(log, now, number, lit) {
  if (number === lit) return "lit";
  const { lit: at } = log.source;
  const inside = now.folding && number >= at.load && number < lit;
  return inside || (now.logical >= 0 && number === at.block && now.kind !== "divide") ? "ran" : "other";
}

const gatherIndent = (text) => text.length - text.trimStart().length;

function gatherCodeRow(pen, { x, y, w, row, size, gutter, margin }, { number, text, value }, tone) {
  const { theme } = pen;
  const middle = y + row / 2;
  if (tone === "lit") pen.box(x, y, w, row, { fill: theme.ink });
  if (tone === "ran") pen.box(x + 1, y, w - 2, row, { fill: theme.surface });
  const color = tone === "lit" ? theme.bg : tone === "ran" ? theme.ink : theme.muted;
  const font = { mono: true, size, color, weight: tone === "lit" ? 600 : 400 };
  pen.text(x + gutter - 8, middle, String(number), { ...font, weight: 400, align: "right" });
  const left = x + gutter + (gatherIndent(text) - margin) * size * 0.3; // half the width of a letter
  const right = value ? pen.width(value, { ...font, weight: 600 }) + 18 : 8;
  pen.text(left, middle, text.trimStart(), { ...font, room: x + w - right - left });
  if (value) pen.text(x + w - 8, middle, value, { ...font, weight: 600, align: "right" });
}

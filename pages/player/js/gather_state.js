// The running state (m, l, acc): in neutral what was carried × corr, in ink what was added now.

const GATHER_STATE = { row: 29, label: 44, value: 62 };

function gatherStateHeight(log) {
  return 216 + log.shown * GATHER_STATE.row + (log.head_size > log.shown ? 17 : 0);
}

function gatherState(pen, { x, y, w }, log, now, progress) {
  const { theme } = pen;
  pen.text(x, y + 7, "Running state", { size: 12.5, weight: 600, color: theme.ink });
  gatherKeys(pen, x, y + 27, log.range("acc", log.shown)[0] < 0);
  gatherMaxRow(pen, { x, y: y + 62, w }, log, now, progress);
  gatherCorrRow(pen, { x, y: y + 102, w }, log, now);
  const l = gatherParts(log.carriedL(now.token), now, now.p, "l", progress);
  gatherBar(pen, { x, y: y + 134, w }, "l", now.l, l, gatherScale(log, "l"));
  pen.path([[x, y + 156], [x + w, y + 156]]);
  gatherAccTitle(pen, { x, y: y + 174, w }, log, now);
  const scale = gatherScale(log, "acc");
  for (let i = 0; i < log.shown; i++) {
    const box = { x, y: y + 200 + i * GATHER_STATE.row, w };
    gatherBar(pen, box, `[${i}]`, now.acc[i], gatherAccParts(log, now, i, progress), scale);
  }
  gatherFoot(pen, { x, y: y + 194 + log.shown * GATHER_STATE.row, w }, log, now);
}

function gatherKeys(pen, x, y, takes) {
  const { theme } = pen;
  pen.box(x, y - 5, 14, 10, { fill: theme.rest.fill });
  let next = x + 20 + pen.text(x + 20, y, "carried × corr") + 14;
  pen.box(next, y - 5, 14, 10, { fill: theme.ink });
  next += 20 + pen.text(next + 20, y, takes ? "added" : "added now") + 14;
  if (!takes) return;
  pen.box(next, y - 5, 14, 10, { stroke: theme.rest.edge, dash: [2, 2] });
  pen.text(next + 20, y, "taken");
}

function gatherLabel(pen, { x, y, w }, name, value) {
  const { theme } = pen;
  const font = { mono: true, size: 13.5, weight: 700, color: theme.ink };
  pen.text(x, y, name, font);
  pen.text(x + w, y, value, { ...font, weight: 650, align: "right" });
}

// m on the axis of all scores: the thick tick; the ring is the score that was just taken.
function gatherMaxRow(pen, box, log, now, progress) {
  const { theme } = pen;
  const { x, y, w } = box;
  gatherLabel(pen, box, "m", gatherNumber(now.m));
  const [low, high] = log.range("s");
  const [from, to] = [x + GATHER_STATE.label, x + w - GATHER_STATE.value - 6];
  const at = (s) => from + 8 + ((s - low) / (high - low || 1)) * (to - from - 16);
  pen.box(from, y - 2.5, to - from, 5, { radius: 2.5, fill: theme.line });
  pen.path([[at(0), y - 6], [at(0), y + 6]], { stroke: theme.rule });
  const below = { size: 11.5, color: theme.muted, align: "center" };
  if (Number.isFinite(now.m)) {
    const old = log.column.m_old[now.token];
    const moving = now.kind === "max" && Number.isFinite(old);
    const m = moving ? gatherMix(old, now.m, gatherEase(progress)) : now.m;
    pen.box(at(m) - 3, y - 10, 6, 20, { radius: 2, fill: theme.ink });
  }
  const scored = now.folding && now.ran("score");
  if (!scored) pen.text(at(0), y + 16, "0", below);
  if (!scored) return;
  if (now.s < now.m) pen.dot(at(now.s), y, 5.2, { stroke: theme.ink, width: 2.2 });
  const words = now.s < now.m ? "s, below m" : now.ran("max") ? "s is the max" : "s, above m";
  const middle = gatherClamp(at(now.s), from + 26, to - 26);
  pen.text(middle, y + 16, words, below);
  if (Math.abs(middle - at(0)) > 40) pen.text(at(0), y + 16, "0", below);
}

function gatherCorrRow(pen, box, log, now) {
  const known = now.folding && now.ran("corr");
  gatherLabel(pen, box, "corr", known ? gatherNumber(now.corr) : "");
  const first = now.token === 0;
  const words = !known ? "" : first ? "nothing carried yet" : now.moved ? "max moved: carried shrinks" : "max did not move";
  pen.text(box.x + 46, box.y, words, { color: pen.theme.text, room: box.w - 108 });
}

// {from, carried, value}: the bar before, after scaling, and with what was added.
function gatherParts(before, now, added, step, progress) {
  if (!now.folding || !now.ran(step)) return { carried: before, value: now.folding ? before : now[step], fresh: false };
  const moving = now.kind === step;
  const scaled = before * now.corr;
  const half = (t) => gatherEase(gatherClamp(t, 0, 1));
  const carried = moving ? gatherMix(before, scaled, half(progress * 2)) : scaled;
  const value = moving ? carried + added * half(progress * 2 - 1) : scaled + added;
  return { carried, value, fresh: true };
}

function gatherAccParts(log, now, i, progress) {
  if (now.token < 0) return { carried: 0, value: 0, fresh: false };
  const before = log.carriedAcc(now.token)[i];
  const after = { ...now, acc: now.acc[i] };
  const added = (now.p ?? 0) * log.vector("v", now.token)[i];
  return gatherParts(before, after, added, "acc", progress);
}

function gatherScale(log, name) {
  return log.range(name, name === "acc" ? log.shown : 0);
}

// The number is the recorded one; only the bar moves towards it.
function gatherBar(pen, box, name, recorded, { carried, value, fresh }, [low, high]) {
  const { theme } = pen;
  const { x, y, w } = box;
  gatherLabel(pen, box, name, gatherNumber(recorded));
  const [from, to] = [x + GATHER_STATE.label, x + w - GATHER_STATE.value - 6];
  const at = (v) => from + ((v - low) / (high - low || 1)) * (to - from);
  const part = (a, b, style) => pen.box(Math.min(at(a), at(b)), y - 9, Math.abs(at(a) - at(b)), 18, style);
  pen.box(from, y - 9, to - from, 18, { fill: theme.surface });
  if (!fresh) part(0, value, { fill: theme.rest.fill });
  else gatherTwoParts(part, carried, value, theme);
  if (low < 0) pen.path([[at(0), y - 11], [at(0), y + 11]], { stroke: theme.rule });
}

// What is added extends the carried part, or takes from it: the part that is gone is hollow.
function gatherTwoParts(part, carried, value, theme) {
  const added = { fill: theme.ink };
  const gone = { stroke: theme.rest.edge, dash: [2, 2] };
  const takes = carried * (value - carried) < 0;
  const crosses = carried * value < 0;
  if (!crosses) part(0, takes ? value : carried, { fill: theme.rest.fill });
  if (takes) part(crosses ? 0 : value, carried, gone);
  if (!takes || crosses) part(crosses ? 0 : carried, value, added);
}

function gatherAccTitle(pen, { x, y, w }, log, now) {
  const { theme } = pen;
  pen.text(x, y, "acc", { mono: true, size: 13.5, weight: 700, color: theme.ink });
  if (!now.folding || !now.ran("p")) return;
  const v = gatherVector(log.vector("v", now.token));
  pen.text(x + 46, y, `${now.ran("acc") ? "gained" : "gains"} p × v = ${gatherNumber(now.p)} × ${v}`, { color: theme.text, room: w - 46 });
}

function gatherFoot(pen, { x, y, w }, log, now) {
  const { theme } = pen;
  const style = { size: 11.5, color: theme.muted, room: w };
  const lines = [];
  if (log.head_size > log.shown) lines.push(`first ${log.shown} of ${log.head_size} components`);
  const q = log.num_heads > 1 ? `q of head ${log.head}` : "q";
  lines.push(`${q} = ${gatherVector(log.column.q)}`);
  if (now.folding) lines.push(`k of token ${now.token} = ${gatherVector(log.vector("k", now.token))}`);
  lines.forEach((line, i) => pen.text(x, y + 2 + i * 17, line, style));
}

// The scores so far as bars, and the running max as a dashed line over them.

const GATHER_SCORES = { height: 158, tallest: 230, top: 40, bottom: 34, label: 64 };

function gatherScores(pen, { x, y, w, h }, log, now, progress) {
  const { theme } = pen;
  const plot = gatherScorePlot(log, { x, y, w, h });
  const root = log.head_size;
  pen.text(x, y + 7, `Scores s = q·k / √${root}`, { size: 12.5, weight: 600, color: theme.ink });
  pen.text(x + w, y + 7, "dashed: running max m", { color: theme.muted, align: "right" });
  pen.path([[x, plot.at(0)], [x + w - GATHER_SCORES.label, plot.at(0)]], { stroke: theme.rule });
  for (let token = 0; token < log.seq_len; token++) gatherScoreBar(pen, plot, log, now, token, progress);
  gatherMaxLine(pen, plot, log, now, x + w);
  gatherScoreAxis(pen, plot, log, now, { x, y, h });
  return plot;
}

function gatherScorePlot(log, { x, y, w, h }) {
  const [low, high] = log.range("s");
  const span = high - low || 1;
  const top = y + GATHER_SCORES.top;
  const height = h - GATHER_SCORES.top - GATHER_SCORES.bottom - 14;
  const pitch = (w - GATHER_SCORES.label) / log.seq_len;
  const bar = Math.max(1, Math.min(pitch * 0.68, 44));
  return {
    at: (s) => top + height * ((high - s) / span),
    left: (token) => x + token * pitch + (pitch - bar) / 2,
    center: (token) => x + (token + 0.5) * pitch,
    pitch,
    bar,
    foot: top + height + 14,
  };
}

function gatherScoreBar(pen, plot, log, now, token, progress) {
  const { theme } = pen;
  const known = token < now.token || (token === now.token && now.ran("score"));
  const isNow = token === now.token && now.folding;
  if (!known) {
    const soft = { stroke: theme.rule, dash: [2, 3], radius: 2 };
    if (plot.bar > 5) pen.box(plot.left(token), plot.at(0) - 7, plot.bar, 14, soft);
    return;
  }
  const grown = isNow && now.kind === "score" ? gatherEase(progress) : 1;
  const s = log.column.s[token];
  const end = plot.at(s * grown);
  const [top, height] = [Math.min(end, plot.at(0)), Math.abs(end - plot.at(0))];
  pen.box(plot.left(token), top, plot.bar, Math.max(1, height), { radius: 1.5, fill: isNow ? theme.ink : theme.rest.fill });
  if (plot.pitch < 38 && !isNow) return;
  const style = { size: 11.5, mono: true, align: "center", weight: isNow ? 700 : 400, color: isNow ? theme.ink : theme.text };
  pen.text(plot.center(token), s < 0 ? plot.at(s) + 9 : plot.at(s) - 9, gatherNumber(s), style);
}

function gatherMaxLine(pen, plot, log, now, right) {
  const { theme } = pen;
  const last = now.ran("max") ? now.token : now.token - 1;
  if (last < 0) return;
  const m = log.column.m;
  const points = [];
  for (let token = 0; token <= last; token++) {
    const [from, to] = [plot.center(token) - plot.pitch / 2, plot.center(token) + plot.pitch / 2];
    const start = token && log.movedAt[token] ? Math.max(from, plot.left(token) - 3) : from;
    if (token && log.movedAt[token]) points.push([start, plot.at(m[token - 1])]);
    points.push([start, plot.at(m[token])], [to, plot.at(m[token])]);
  }
  const end = right - GATHER_SCORES.label + 4;
  points.push([end, plot.at(m[last])]);
  pen.path(points, { stroke: theme.ink, width: 1.8, dash: [4, 3] });
  const font = { mono: true, size: 11.5, weight: 700, align: "right", color: theme.ink };
  pen.text(right, plot.at(m[last]), `m ${gatherNumber(m[last])}`, font);
}

function gatherScoreAxis(pen, plot, log, now, { x, y, h }) {
  const { theme } = pen;
  const every = [1, 2, 4, 8, 16, 32].find((n) => n * plot.pitch >= 22) ?? 32;
  const row = plot.foot + 9;
  for (let token = 0; token < log.seq_len; token++) {
    const isNow = token === now.token && now.folding;
    const moved = log.movedAt[token] && token > 0 && token <= (now.ran("max") ? now.token : now.token - 1);
    if (moved) pen.tip(plot.center(token) - (plot.pitch >= 34 ? 11 : 0), row - (plot.pitch >= 34 ? 4 : 14), 7, theme.ink);
    if (token % every && !isNow) continue;
    const font = { mono: true, size: 11.5, align: "center", weight: isNow ? 700 : 400 };
    if (!(token % every) || plot.pitch > 22) pen.text(plot.center(token), row, String(token), { ...font, color: isNow ? theme.ink : theme.muted });
  }
  pen.text(x, y + h - 4, "token    ▲ the max moved here", { size: 11.5, color: theme.muted });
}

// The partial outputs acc / l, token by token, towards the dense value; and the error, on a log axis.

const GATHER_OUTPUT = { height: 128, top: 44, foot: 6, gap: 18 };

function gatherOutput(pen, { x, y, w }, log, now, progress) {
  const { theme } = pen;
  const done = now.folded;
  const title = `Partial output acc / l after ${done} of ${log.seq_len} ${gatherPlural(log.seq_len, "token")}, against dense attention`;
  const style = { size: 12.5, weight: 600, color: theme.ink };
  const end = pen.text(x, y + 7, title, { ...style, room: w });
  const more = log.head_size > log.shown ? `; ${log.shown} of ${log.head_size} components drawn` : "";
  pen.text(x + end + 5, y + 7, `(dashed)${more}`, { size: 12.5, color: theme.muted, room: Math.max(1, w - end - 5) });
  const wide = (w - GATHER_OUTPUT.gap * log.shown) / (log.shown + 1);
  for (let i = 0; i < log.shown; i++) {
    const box = { x: x + i * (wide + GATHER_OUTPUT.gap), y: y + 22, w: wide };
    gatherOutputChart(pen, box, log, now, i, progress);
  }
  gatherErrorChart(pen, { x: x + log.shown * (wide + GATHER_OUTPUT.gap) + 16, y: y + 22, w: wide - 16 }, log, now);
}

function gatherFrameOf({ x, y, w }) {
  const top = y + 20;
  return { x, y: top, w, h: GATHER_OUTPUT.height - GATHER_OUTPUT.top - GATHER_OUTPUT.foot };
}

function gatherOutputChart(pen, box, log, now, i, progress) {
  const { theme } = pen;
  const frame = gatherFrameOf(box);
  const column = Array.from({ length: log.seq_len }, (_, t) => log.vector("partial", t)[i]);
  const dense = log.column.dense[i];
  const done = now.folded;
  gatherChartHead(pen, box, `out[${i}]`, done ? gatherNumber(column[done - 1]) : "–", gatherNumber(dense));
  pen.box(frame.x, frame.y, frame.w, frame.h, { fill: theme.surface });
  const [low, high] = [Math.min(dense, ...column), Math.max(dense, ...column)];
  const at = (v) => frame.y + 6 + (frame.h - 12) * ((high - v) / (high - low || 1));
  const across = gatherAcross(frame, log.seq_len);
  pen.path([[frame.x, at(dense)], [frame.x + frame.w, at(dense)]], { stroke: theme.ink, width: 1.4, dash: [5, 4] });
  const points = column.slice(0, done).map((v, t) => [across(t), at(v)]);
  if (now.kind === "acc" && points.length > 1) gatherSlide(points, gatherEase(progress));
  gatherTrail(pen, points);
}

function gatherAcross(frame, count) {
  return (t) => frame.x + 12 + (count > 1 ? t / (count - 1) : 0) * (frame.w - 24);
}

// The newest point on its way from the one before.
function gatherSlide(points, share) {
  const [from, to] = points.slice(-2);
  points[points.length - 1] = [gatherMix(from[0], to[0], share), gatherMix(from[1], to[1], share)];
}

function gatherTrail(pen, points) {
  if (!points.length) return;
  const blue = ownerColours(pen.theme, 0);
  pen.path(points.length > 1 ? points : [points[0], points[0]], { stroke: blue.edge, width: 2 });
  const close = points.length > 1 && points[1][0] - points[0][0] < 9;
  if (!close) points.slice(0, -1).forEach(([x, y]) => pen.dot(x, y, 3.2, { fill: blue.fill, stroke: blue.edge }));
  pen.dot(...points.at(-1), 4.2, { fill: pen.theme.ink });
}

function gatherChartHead(pen, { x, y, w }, name, value, target) {
  const { theme } = pen;
  const font = { mono: true, size: 12, align: "right" };
  const arrow = target ? ` → ${target}` : "";
  const tail = arrow ? pen.width(arrow, font) : 0;
  if (w < 100) return pen.text(x, y + 8, value, { ...font, align: "left", weight: 700, color: theme.ink });
  pen.text(x, y + 8, name, { size: 12.5 });
  if (w > 150 || !arrow) {
    if (arrow) pen.text(x + w, y + 8, arrow, { ...font, color: theme.muted });
    return pen.text(x + w - tail, y + 8, value, { ...font, weight: 700, color: theme.ink });
  }
  return pen.text(x + w, y + 8, value, { ...font, weight: 700, color: theme.ink });
}

// Powers of ten from the largest error down to 1e−16; an exact zero lies on the floor.
function gatherErrorScale(log) {
  const most = Math.max(...log.column.error);
  return { top: Math.max(0, Math.ceil(Math.log10(most || 1))), floor: -17 };
}

function gatherErrorChart(pen, box, log, now) {
  const { theme } = pen;
  const frame = gatherFrameOf(box);
  const done = now.folded;
  const latest = now.kind === "divide" ? log.column.error[log.seq_len] : log.column.error[done - 1];
  gatherChartHead(pen, box, "max |partial − dense|", done ? gatherError(latest) : "–");
  const { top, floor } = gatherErrorScale(log);
  const plot = { ...frame, x: frame.x + 34, w: frame.w - 34 };
  pen.box(plot.x, plot.y, plot.w, plot.h, { fill: theme.surface });
  const at = (e) => plot.y + 5 + (plot.h - 10) * ((top - Math.max(floor, e ? Math.log10(e) : floor)) / (top - floor));
  for (let power = 0; power >= -16; power -= 4) {
    const y = at(10 ** power);
    pen.path([[plot.x, y], [plot.x + plot.w, y]]);
    const label = power ? `1e−${-power}` : "1";
    pen.text(plot.x - 5, y, label, { mono: true, size: 11.5, align: "right", color: theme.muted });
  }
  const across = gatherAcross(plot, log.seq_len);
  const points = Array.from(log.column.error.slice(0, done), (e, t) => [across(t), at(e)]);
  if (points.length && now.kind === "divide") points[points.length - 1][1] = at(latest);
  gatherTrail(pen, points);
}

// On a phone: one line instead of the charts.
function gatherOutputLine(pen, { x, y, w }, log, now) {
  const { theme } = pen;
  const done = now.folded;
  const error = now.kind === "divide" ? log.column.error[log.seq_len] : log.column.error[done - 1];
  pen.path([[x, y], [x + w, y]]);
  pen.text(x, y + 20, `max |acc / l − dense|, ${done} of ${log.seq_len} ${gatherPlural(log.seq_len, "token")}`);
  const font = { mono: true, size: 15, weight: 700, align: "right", color: theme.ink };
  pen.text(x + w, y + 20, done ? gatherError(error) : "–", font);
}

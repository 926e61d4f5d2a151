// Drawing words that the gather and overview stages share: text, boxes, lines, numbers.

const GATHER_SIZE = { text: 12, mono: 12, small: 11.5 };

class GatherPen {
  constructor(context, host) {
    const style = getComputedStyle(host.root);
    this.context = context;
    this.theme = host.theme;
    this.sans = style.fontFamily;
    this.mono = style.getPropertyValue("--mono") || "monospace";
  }

  font({ size = GATHER_SIZE.text, weight = 400, mono = false }) {
    this.context.font = `${weight} ${size}px ${mono ? this.mono : this.sans}`;
  }

  // Baseline in the middle of y; `room` cuts the text with an ellipsis. Returns its width.
  text(x, y, words, { color, align = "left", room, ...font } = {}) {
    this.font(font);
    this.context.textAlign = align;
    this.context.textBaseline = "middle";
    this.context.fillStyle = color ?? this.theme.text;
    const shown = room ? this.fit(words, room) : words;
    this.context.fillText(shown, x, y + 0.5);
    return this.context.measureText(shown).width;
  }

  fit(words, room) {
    if (this.context.measureText(words).width <= room) return words;
    let end = words.length;
    while (end > 0 && this.context.measureText(`${words.slice(0, end)}…`).width > room) end--;
    return `${words.slice(0, end).trimEnd()}…`;
  }

  width(words, font) {
    this.font(font);
    return this.context.measureText(words).width;
  }

  // Words in a row, each with its own style: [[words, style], …]. Returns the x after the last.
  run(x, y, parts) {
    for (const [words, style] of parts) x += this.text(x, y, words, style);
    return x;
  }

  box(x, y, w, h, { radius = 0, fill, stroke, width = 1, dash = [], alpha = 1 } = {}) {
    const c = this.context;
    c.beginPath();
    c.roundRect(x, y, w, h, Math.max(0, Math.min(radius, w / 2, h / 2)));
    c.globalAlpha = alpha;
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    c.globalAlpha = 1;
    if (!stroke) return;
    c.strokeStyle = stroke;
    c.lineWidth = width;
    c.setLineDash(dash);
    c.lineCap = dash[0] <= width ? "round" : "butt";
    c.stroke();
    c.setLineDash([]);
  }

  path(points, { stroke, width = 1, dash = [], alpha = 1, radius = 0 } = {}) {
    const c = this.context;
    c.beginPath();
    c.moveTo(...points[0]);
    for (let i = 1; i < points.length - 1; i++) c.arcTo(...points[i], ...points[i + 1], radius);
    c.lineTo(...points.at(-1));
    c.globalAlpha = alpha;
    c.strokeStyle = stroke ?? this.theme.line;
    c.lineWidth = width;
    c.lineCap = "butt";
    c.lineJoin = "round";
    c.setLineDash(dash);
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  dot(x, y, r, { fill, stroke, width = 1 } = {}) {
    const c = this.context;
    c.beginPath();
    c.arc(x, y, r, 0, 2 * Math.PI);
    c.fillStyle = fill ?? this.theme.bg;
    c.fill();
    if (!stroke) return;
    c.strokeStyle = stroke;
    c.lineWidth = width;
    c.stroke();
  }

  // A filled triangle with its tip at (x, y), pointing "up" or "down".
  tip(x, y, size, fill, down = false) {
    const back = down ? -size : size;
    const c = this.context;
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x - size * 0.6, y + back);
    c.lineTo(x + size * 0.6, y + back);
    c.closePath();
    c.fillStyle = fill;
    c.fill();
  }

  // The wire that is now: ink over a halo of background; it ends in an arrow down or in a dot.
  wire(points, end) {
    const [x, y] = points.at(-1);
    const shaft = end === "tip" ? [...points.slice(0, -1), [x, y - 4]] : points;
    this.path(shaft, { stroke: this.theme.bg, width: 8.6, radius: 5 });
    this.path(shaft, { stroke: this.theme.ink, width: 2.6, radius: 5 });
    if (end === "tip") this.tip(x, y, 8, this.theme.ink, true);
    else this.dot(x, y, 4, { fill: this.theme.ink });
  }
}

const gatherClamp = (x, low, high) => Math.min(high, Math.max(low, x));
const gatherMix = (a, b, share) => a + (b - a) * share;
const gatherEase = (t) => 1 - (1 - t) ** 3;

// −0.230, ∞; the sign is a minus, not a hyphen.
function gatherNumber(x, digits = 3) {
  const text = Number.isFinite(x) ? Math.abs(x).toFixed(digits) : "∞";
  return x < 0 ? `−${text}` : text;
}

// 0.117, 5.55e−17, 0
function gatherError(x) {
  if (x === 0) return "0";
  return x >= 0.001 ? gatherNumber(x) : x.toExponential(2).replace("-", "−");
}

// .5, −.3, 12: a component of an input vector, as short as it is exact to two decimals.
function gatherShort(x) {
  const text = String(Math.abs(Math.round(x * 100) / 100)).replace(/^0\./, ".");
  return x < 0 && text !== "0" ? `−${text}` : text;
}

// [.5, −.3, .8, .1], cut after `most` components.
function gatherVector(values, most = 4) {
  const shown = Array.from(values.slice(0, most), gatherShort).join(", ");
  return values.length > most ? `[${shown}, …]` : `[${shown}]`;
}

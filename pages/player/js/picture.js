// The figure as a picture: the sentence, what the stage shows and the legend, painted as they stand on
// the screen, with the step below them.

const PICTURE_MARGIN = 16;
const PICTURE_FOOT = 24;
const PICTURE_SKIPS = ".tools, .tip, .block-cursor, [hidden]";

class Picture {
  // parts: elements one under another; foot: the line below
  constructor(card, parts, theme, foot) {
    this.theme = theme;
    const box = card.getBoundingClientRect();
    const [top, bottom] = [parts[0].getBoundingClientRect().top, lastBottom(parts)];
    const [width, height] = [box.width + 2 * PICTURE_MARGIN, bottom - top + 2 * PICTURE_MARGIN];
    this.canvas = el("canvas");
    this.g = fitCanvas(this.canvas, width, height + PICTURE_FOOT);
    fillBox(this.g, theme.bg, 0, 0, width, height + PICTURE_FOOT, 0);
    const sans = getComputedStyle(card).fontFamily;
    drawText(this.g, foot, 2 * PICTURE_MARGIN, height, theme.muted, `12px ${sans}`, "left");
    this.g.translate(PICTURE_MARGIN - box.left, PICTURE_MARGIN - top);
    for (const part of parts) this.paint(part);
  }

  download(name) {
    this.canvas.toBlob((blob) => {
      const link = el("a", { href: URL.createObjectURL(blob), download: name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    });
  }

  paint(node) {
    if (node.nodeType === Node.TEXT_NODE) return this.paintText(node);
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(PICTURE_SKIPS)) return;
    const style = getComputedStyle(node);
    const box = node.getBoundingClientRect();
    if (!box.width || !box.height || style.visibility === "hidden") return;
    this.g.save();
    if (style.overflowX !== "visible") this.clip(box);
    if (node.tagName === "CANVAS") this.g.drawImage(node, box.x, box.y, box.width, box.height);
    else if (node.tagName === "path") this.paintPath(node, style);
    else if (!this.isSwatch(node, box)) this.paintBox(style, box);
    for (const child of node.childNodes) this.paint(child);
    this.g.restore();
  }

  isSwatch(node, box) {
    return node.classList.contains("swatch") && drawSwatch(this.g, this.theme, node, box);
  }

  clip({ x, y, width, height }) {
    this.g.beginPath();
    this.g.rect(x, y, width, height);
    this.g.clip();
  }

  // Background and edges; edges that differ are lines.
  paintBox(style, { x, y, width: w, height: h }) {
    const { g } = this;
    const radius = parseFloat(style.borderTopLeftRadius) || 0;
    fillBox(g, style.backgroundColor, x, y, w, h, style.borderRadius === "50%" ? w / 2 : radius);
    const [top, right] = [parseFloat(style.borderTopWidth), parseFloat(style.borderRightWidth)];
    if (!top) return;
    g.strokeStyle = style.borderTopColor;
    g.lineWidth = top;
    g.setLineDash({ dashed: [3, 2], dotted: [1, 2] }[style.borderTopStyle] ?? []);
    if (right) roundPath(g, x + top / 2, y + top / 2, w - top, h - top, radius);
    else drawTop(g, x, y + top / 2, w);
    g.stroke();
  }

  paintPath(node, style) {
    const { x, y } = node.ownerSVGElement.getBoundingClientRect();
    this.g.translate(x, y);
    this.g.strokeStyle = style.stroke;
    this.g.lineWidth = parseFloat(style.strokeWidth);
    if (style.stroke !== "none") this.g.stroke(new Path2D(node.getAttribute("d")));
  }

  // Word by word, where each stands.
  paintText(node) {
    const style = getComputedStyle(node.parentElement);
    const { g } = this;
    g.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    g.fillStyle = style.color;
    g.textAlign = "left";
    g.textBaseline = "alphabetic";
    const range = document.createRange();
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { x, y, height } = range.getBoundingClientRect();
      const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = g.measureText(word);
      g.fillText(word, x, y + (height + up - down) / 2);
    }
  }
}

const lastBottom = (parts) => parts[parts.length - 1].getBoundingClientRect().bottom;

function drawTop(g, x, y, w) {
  g.beginPath();
  g.moveTo(x, y);
  g.lineTo(x + w, y);
}

// What a scenario is called: by the link, else by its page.
function pictureName(stage) {
  const asked = new URLSearchParams(location.search);
  const scenario = asked.get("scenario") ?? asked.get("example") ?? "";
  const page = decodeURIComponent(location.pathname.split("/").filter(Boolean).pop() ?? stage);
  return /^[\w -]{1,40}$/.test(scenario) ? scenario : page; // a long one is a scenario written out
}

// The player's figure as a file.
function savePicture({ card, stage, stageName, step, theme }) {
  const name = `${pictureName(stageName)}, step ${step}`;
  const foot = `${name} of ${stage.numSteps - 1}`;
  const parts = [card.narration, card.figure, card.legend];
  new Picture(card.root, parts, theme, foot).download(`${name}.png`);
}

// The legend's swatches in a picture: what CSS draws with gradients and shadows, drawn with the pen.

// False when a plain box is all that the swatch is.
function drawSwatch(g, theme, swatch, { x, y, width: w, height: h }) {
  const kind = [...swatch.classList].find((name) => SWATCHES[name]);
  if (!kind || swatch.classList.contains("tone")) return false;
  SWATCHES[kind](g, theme, x, y, w, h);
  return true;
}

const SWATCHES = {
  partly: (g, theme, x, y, w, h) => {
    g.fillStyle = theme.rest.fill;
    g.fillRect(x + 1, y + h / 2, w - 2, h / 2 - 1);
    swatchEdge(g, theme.rest.edge, x, y, w, h);
  },
  shared: (g, theme, x, y, w, h) => {
    fillBox(g, theme.rest.fill, x + 2.5, y + 2.5, w - 5, h - 5, 1);
    swatchEdge(g, theme.rest.edge, x, y, w, h);
    swatchEdge(g, theme.rest.edge, x + 2.6, y + 2.6, w - 5.2, h - 5.2);
  },
  cached: (g, theme, x, y, w, h) => {
    drawHatch(g, x, y, w, h, theme.rest.edge, 4, 1.4);
    swatchEdge(g, theme.rest.edge, x, y, w, h);
  },
  null: (g, theme, x, y, w, h) => {
    roundPath(g, x + 0.6, y + 0.6, w - 1.2, h - 1.2, 3);
    strokeDotted(g, theme.rule, 1.2);
  },
  ring: (g, theme, x, y, w, h) => {
    fillBox(g, theme.ink, x - 3.5, y - 3.5, w + 7, h + 7, 5);
    fillBox(g, theme.bg, x - 1.5, y - 1.5, w + 3, h + 3, 3);
    fillBox(g, theme.rest.fill, x, y, w, h, 2);
  },
  evicted: (g, theme, x, y, w, h) => {
    drawDisc(g, x + w / 2, y + h / 2, w / 2, theme.ink, theme.ink);
    g.strokeStyle = theme.bg;
    g.lineWidth = 1.6;
    strokeCross(g, x + w / 2, y + h / 2, 2.6);
  },
};

function swatchEdge(g, colour, x, y, w, h) {
  g.strokeStyle = colour;
  g.lineWidth = 1.2;
  roundPath(g, x + 0.6, y + 0.6, w - 1.2, h - 1.2, 2);
  g.stroke();
}

function fillBox(g, colour, x, y, w, h, radius) {
  g.fillStyle = colour;
  roundPath(g, x, y, w, h, radius);
  g.fill();
}

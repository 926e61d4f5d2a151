// Ink on blocks: the ring of a block just taken, the cross of a hash just dropped.

// motion 0…1: the ring comes in from 130 %
function drawRing(g, theme, x, y, w, h, motion) {
  const large = w > 20;
  const outside = (large ? 3.5 : 0.6) + (1 - motion) * w * 0.15;
  g.globalAlpha = 0.3 + 0.7 * motion;
  g.strokeStyle = theme.ink;
  g.lineWidth = large ? 2 : 1.8;
  roundPath(g, x - outside, y - outside, w + 2 * outside, h + 2 * outside, large ? 7 : 2);
  g.stroke();
  g.globalAlpha = 1;
}

function drawCross(g, theme, x, y, w, h, motion) {
  g.globalAlpha = motion;
  g.lineCap = "round";
  if (w > 35) {
    drawDisc(g, x + w, y, 7.5, theme.ink, theme.bg);
    g.strokeStyle = theme.bg;
    g.lineWidth = 1.8;
    strokeCross(g, x + w, y, 2.8);
  } else {
    for (const [colour, width] of [
      [theme.bg, 4],
      [theme.ink, 1.8],
    ]) {
      g.strokeStyle = colour;
      g.lineWidth = width;
      strokeCross(g, x + w / 2, y + h / 2, w / 4);
    }
  }
  g.globalAlpha = 1;
  g.lineCap = "butt";
}

// Ink frame around the block that is selected.
function drawSelection(g, theme, x, y, w, h) {
  g.strokeStyle = theme.ink;
  g.lineWidth = 2;
  g.setLineDash([4, 3]);
  roundPath(g, x - 2.5, y - 2.5, w + 5, h + 5, 6);
  g.stroke();
  g.setLineDash([]);
}

// Strokes that several stages draw with; g is a 2d context.

function roundPath(g, x, y, w, h, radius) {
  g.beginPath();
  g.roundRect(x, y, w, h, radius);
}

function drawHatch(g, x, y, w, h, colour, pitch, width) {
  g.save();
  roundPath(g, x, y, w, h, Math.min(4, w / 6));
  g.clip();
  g.globalAlpha = 0.5;
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.beginPath();
  for (let d = -h; d < w; d += pitch) {
    g.moveTo(x + d, y + h);
    g.lineTo(x + d + h, y);
  }
  g.stroke();
  g.restore();
}

function strokeDotted(g, colour, width) {
  g.save();
  g.setLineDash([width, 3.5]);
  g.lineCap = "round";
  g.lineWidth = width;
  g.strokeStyle = colour;
  g.stroke();
  g.restore();
}

function strokeDashed(g, colour) {
  g.save();
  g.setLineDash([2, 2]);
  g.lineWidth = 0.8;
  g.strokeStyle = colour;
  g.stroke();
  g.restore();
}

function drawText(g, words, x, y, colour, font, align = "center") {
  g.font = font;
  g.fillStyle = colour;
  g.textAlign = align;
  g.textBaseline = "middle";
  g.fillText(words, x, y + 0.5);
}

function drawDisc(g, x, y, radius, colour, halo) {
  g.beginPath();
  g.arc(x, y, radius, 0, 7);
  g.fillStyle = colour;
  g.fill();
  g.lineWidth = 1;
  g.strokeStyle = halo;
  g.stroke();
}

function strokeCross(g, x, y, arm) {
  g.beginPath();
  g.moveTo(x - arm, y - arm);
  g.lineTo(x + arm, y + arm);
  g.moveTo(x + arm, y - arm);
  g.lineTo(x - arm, y + arm);
  g.stroke();
}

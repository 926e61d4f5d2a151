// The event lanes: one row of ticks for each kind of event, height √count.

const LANE = { row: 11, label: 64, tick: 9, steps: 500 };

// Sums of count per bin; above 500 steps a bin is two pixels wide, below it is one step.
function binLane(lane, numSteps, width) {
  const bins = numSteps > LANE.steps ? Math.max(1, Math.floor(width / 2)) : numSteps;
  const sums = new Float64Array(bins);
  for (let i = 0; i < lane.at.length; i++) {
    sums[Math.floor((lane.at[i] * bins) / numSteps)] += lane.count ? lane.count[i] : 1;
  }
  return sums;
}

function drawLane(context, sums, y, width, numSteps, theme) {
  context.fillStyle = theme.line;
  context.fillRect(0, y + LANE.row / 2 - 0.5, width, 1);
  context.fillStyle = theme.muted;
  const most = Math.sqrt(Math.max(1, ...sums));
  const wide = sums.length < numSteps ? 2 : 1.6;
  sums.forEach((sum, bin) => {
    if (!sum) return;
    const height = Math.max(3, (LANE.tick * Math.sqrt(sum)) / most);
    const x = laneX(bin, sums.length, width);
    context.fillRect(x - wide / 2, y + (LANE.row - height) / 2, wide, height);
  });
}

function laneX(step, numSteps, width) {
  return numSteps > 1 ? (step / (numSteps - 1)) * width : 0;
}

function drawLanes(canvas, lanes, numSteps, width, theme) {
  const context = fitCanvas(canvas, width, lanes.length * LANE.row);
  context.clearRect(0, 0, width, lanes.length * LANE.row);
  lanes.forEach((lane, i) => {
    drawLane(context, binLane(lane, numSteps, width), i * LANE.row, width, numSteps, theme);
  });
}

// Where forward and back lead in the chosen grain. A place is a step, and in the grain "event" how many
// of the step's events have happened; event = null is the whole step.

// stage: starts(grain, step)? says at which steps a coarser grain stops; eventsOf(step)? counts events.
function placeAfter(stage, grain, place, direction, by = 1) {
  let there = { step: place.step, event: place.event };
  while (by-- > 0) {
    there =
      grain === "event" && stage.eventsOf
        ? eventAfter(stage, there, direction)
        : { step: stepAfter(stage, grain, there.step, direction), event: null };
  }
  return there;
}

function stepAfter(stage, grain, step, direction) {
  const last = stage.numSteps - 1;
  do step += direction;
  while (step > 0 && step < last && stage.starts && !stage.starts(grain, step));
  return Math.max(0, Math.min(last, step));
}

function eventAfter(stage, { step, event }, direction) {
  const all = stage.eventsOf(step);
  const next = (event ?? all) + direction;
  if (next >= 1 && next <= all) return { step, event: next };
  const other = step + direction;
  if (other < 0) return { step, event: 1 };
  if (other >= stage.numSteps) return { step, event: all };
  return { step: other, event: direction > 0 ? 1 : stage.eventsOf(other) };
}

// Nothing comes after it.
function isLastPlace(stage, { step, event }) {
  return step >= stage.numSteps - 1 && (event === null || event >= stage.eventsOf(step));
}

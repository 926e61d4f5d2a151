// Instant seeks: a copy of a replay's state every so many steps, made as steps are first reached.

const KEYFRAME_BYTES = 96e6;
const KEYFRAME_STEPS = 64;
const SLICE_MS = [4, 12]; // of idle time, at least and at most: a frame must not wait

class Keyframes {
  constructor(replay) {
    const bytes = replay.blockStore.byteLength * 1.2 + replay.requestStore.byteLength;
    const most = Math.max(2, Math.floor(KEYFRAME_BYTES / bytes));
    this.interval = Math.max(KEYFRAME_STEPS, Math.ceil(replay.numSteps / most));
    this.frames = [];
  }

  // Call at each step; copies when the step is due and new.
  keep(replay) {
    this.history?.note(replay);
    const index = replay.step / this.interval;
    if (!Number.isInteger(index) || this.frames[index]) return;
    this.frames[index] = {
      blocks: replay.blockStore.slice(),
      requests: replay.requestStore.slice(),
      tables: [...replay.tables].map(([r, table]) => [r, table.slice()]),
      running: [...replay.running],
      waiting: [...replay.waiting],
      hues: [...replay.hues],
      evictions: replay.evictions,
      counts: [replay.used, replay.shared, replay.cached, replay.outOfOrder],
    };
  }

  // The step of the last copy at or before `step`, or -1.
  before(step) {
    let index = Math.floor(step / this.interval);
    while (index >= 0 && !this.frames[index]) index -= 1;
    return index * this.interval;
  }

  restore(replay, step) {
    const frame = this.frames[step / this.interval];
    replay.blockStore.set(frame.blocks);
    replay.requestStore.set(frame.requests);
    replay.tables = new Map(frame.tables.map(([r, table]) => [r, table.slice()]));
    replay.running = [...frame.running];
    replay.waiting = [...frame.waiting];
    replay.hues = [...frame.hues];
    replay.evictions = frame.evictions;
    [replay.used, replay.shared, replay.cached, replay.outOfOrder] = frame.counts;
    replay.step = step;
  }
}

// Calls act(until when) once nothing else is to be done, or a quarter of a second later.
function whenIdle(act) {
  const [least, most] = SLICE_MS;
  const slice = (deadline) => {
    const idle = deadline?.timeRemaining() ?? 0;
    act(performance.now() + Math.min(most, Math.max(least, idle)));
  };
  if (window.requestIdleCallback) requestIdleCallback(slice, { timeout: 250 });
  else setTimeout(slice, 16);
}

// A replay that seeks; `scout` is a second one that runs ahead in idle time and leaves keyframes.
class SeekingReplay extends PoolReplay {
  constructor(blob) {
    super(blob);
    this.keyframes = new Keyframes(this);
    this.history = this.keyframes.history = new PoolHistory(this.numSteps);
    this.blob = blob;
    this.forward();
    this.explore();
  }

  seek(step) {
    const near = this.keyframes.before(step);
    if (step < this.step && near < 0) this.scoutUntil(0); // makes the first keyframe
    if (step < this.step || near > this.step) this.keyframes.restore(this, Math.max(near, 0));
    while (this.step < step) {
      this.forward();
      this.keyframes.keep(this);
    }
  }

  explore() {
    whenIdle((until) => {
      if (this.explored) return;
      this.scoutUntil(until);
      if (this.scout.step < this.numSteps - 1) this.explore();
      else this.destroy();
    });
  }

  // At least one step.
  scoutUntil(time) {
    this.scout ??= new PoolReplay(this.blob);
    do {
      this.scout.forward();
      this.keyframes.keep(this.scout);
    } while (this.scout.step < this.numSteps - 1 && performance.now() < time);
  }

  destroy() {
    this.explored = true;
    this.scout = null;
  }
}

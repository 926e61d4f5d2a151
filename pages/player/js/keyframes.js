// Instant seeks: a copy of a replay's state every so many steps, made as steps are first reached.

const KEYFRAME_BYTES = 48e6;
const KEYFRAME_STEPS = 64;

class Keyframes {
  constructor(replay) {
    const bytes = replay.blockStore.byteLength * 1.2 + replay.requestStore.byteLength;
    const most = Math.max(2, Math.floor(KEYFRAME_BYTES / bytes));
    this.interval = Math.max(KEYFRAME_STEPS, Math.ceil(replay.numSteps / most));
    this.frames = [];
  }

  // Call at each step; copies when the step is due and new.
  keep(replay) {
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

// A replay that seeks; `scout` is a second one that runs ahead in idle time and leaves keyframes.
class SeekingReplay extends PoolReplay {
  constructor(blob) {
    super(blob);
    this.keyframes = new Keyframes(this);
    this.forward();
    this.keyframes.keep(this);
    this.scout = new PoolReplay(blob);
    this.explore();
  }

  seek(step) {
    const near = this.keyframes.before(step);
    if (step < this.step || near > this.step) this.keyframes.restore(this, near);
    while (this.step < step) {
      this.forward();
      this.keyframes.keep(this);
    }
  }

  explore() {
    this.idle = setTimeout(() => {
      const until = performance.now() + 6;
      while (this.scout.step < this.numSteps - 1 && performance.now() < until) {
        this.scout.forward();
        this.keyframes.keep(this.scout);
      }
      if (this.scout.step < this.numSteps - 1) this.explore();
      else this.scout = null;
    }, 16);
  }

  destroy() {
    clearTimeout(this.idle);
  }
}

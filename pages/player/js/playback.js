// Turns time into steps: plays, keeps the speed, and says how far the change to this step has come.

const STEP_MS = 600; // one step at 1×
const MOVE_MS = 450; // its motion

class Playback {
  // act: {step() → should it stop here?, frame(), times() → {stepMs, moveMs}}
  constructor(act) {
    this.act = act;
    this.speed = 1;
    this.playing = false;
    this.progress = 1;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
  }

  // No motion, only cuts.
  get cuts() {
    return this.calm.matches || this.speed > 8;
  }

  play() {
    this.playing = true;
    this.move();
  }

  rest() {
    this.playing = false;
    this.progress = 1;
  }

  // Start the motion to the step that was just reached.
  move() {
    this.movedAt = performance.now();
    this.progress = this.cuts ? 1 : 0;
    cancelAnimationFrame(this.raf);
    this.raf = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    if (this.playing) this.advance(now);
    const moved =
      ((now - this.movedAt) * Math.max(1, this.speed)) / (this.act.times().moveMs ?? MOVE_MS);
    this.progress = this.cuts ? 1 : Math.min(1, Math.max(0, moved));
    this.act.frame();
    if (this.playing || this.progress < 1) this.raf = requestAnimationFrame((t) => this.tick(t));
  }

  advance(now) {
    const wait = (this.act.times().stepMs ?? STEP_MS) / this.speed;
    let moves = Math.min(64, Math.floor((now - this.movedAt) / wait));
    if (moves > 0) this.movedAt += moves * wait;
    for (; moves > 0 && this.playing; moves--) this.playing = !this.act.step();
  }

  stop() {
    this.playing = false;
    cancelAnimationFrame(this.raf);
  }
}

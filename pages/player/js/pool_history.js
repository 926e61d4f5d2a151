// How the pool's blocks were used at each step: counted as steps are first reached, drawn as bands.

class PoolHistory {
  constructor(numSteps) {
    for (const name of ["used", "shared", "cached"]) {
      this[name] = new Int32Array(numSteps).fill(NONE);
    }
    this.numSteps = numSteps;
    this.known = 0; // steps that were reached
  }

  note({ step, used, shared, cached }) {
    if (this.used[step] !== NONE) return;
    this.used[step] = used;
    this.shared[step] = shared;
    this.cached[step] = cached;
    this.known += 1;
  }
}

const HISTORY_HEIGHT = 92;
const HISTORY_MS = 300; // between two pictures while steps are still being counted
const HISTORY_BANDS = ["shared", "used", "cached", "free"]; // from the bottom

class HistoryStrip {
  // act: {scrub(step), release()}
  constructor(history, numBlocks, act) {
    Object.assign(this, { history, act });
    this.blocks = numBlocks - 1;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.head = el("div.history-head");
    this.field = el("div.history-field", {}, this.canvas, this.head);
    const bands = HISTORY_BANDS.map((name) => el("span", {}, el(`span.swatch.tone.${name}`), name));
    const title = el("p", {}, el("b", {}, `${count(this.blocks)} blocks`), " over time");
    this.root = el("div.history", {}, title, this.field, el("div.history-bands", {}, ...bands));
    this.listen();
  }

  listen() {
    const { field } = this;
    field.onpointerdown = (event) => {
      if (event.button) return;
      field.setPointerCapture(event.pointerId);
      this.dragging = true;
      this.act.scrub(this.stepAt(event));
    };
    field.onpointermove = (event) => this.dragging && this.act.scrub(this.stepAt(event));
    field.onpointerup = field.onpointercancel = () => {
      if (this.dragging) this.act.release();
      this.dragging = false;
    };
  }

  stepAt(event) {
    const box = this.field.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    return Math.round(share * (this.history.numSteps - 1));
  }

  // Draws what is known, and again until all is.
  show(theme) {
    const { known, numSteps } = this.history;
    if (this.theme === theme && (this.timer || this.drawn === known)) return;
    this.theme = theme;
    this.width ??= this.field.clientWidth;
    if (this.width) {
      this.drawn = known;
      this.draw(fitCanvas(this.canvas, this.width, HISTORY_HEIGHT), theme.mosaic, this.width);
    }
    clearTimeout(this.timer);
    this.timer = known < numSteps && setTimeout(() => this.again(), HISTORY_MS);
  }

  again() {
    this.timer = 0;
    this.show(this.theme);
  }

  // Its room may be another.
  refit() {
    this.theme = this.width = null;
  }

  draw(g, tones, width) {
    const last = this.history.numSteps - 1;
    for (let x = 0; x < width; x++) this.drawColumn(g, tones, x, Math.round((x * last) / (width - 1)));
  }

  drawColumn(g, tones, x, step) {
    const { used, shared, cached } = this.history;
    if (used[step] === NONE) return;
    const tops = [shared[step], used[step], used[step] + cached[step], this.blocks];
    let y = HISTORY_HEIGHT;
    HISTORY_BANDS.forEach((name, i) => {
      const top = HISTORY_HEIGHT * (1 - tops[i] / this.blocks);
      g.fillStyle = tones[name];
      g.fillRect(x, top, 1, y - top);
      y = top;
    });
  }

  place(step) {
    const share = this.history.numSteps > 1 ? (100 * step) / (this.history.numSteps - 1) : 0;
    this.field.style.setProperty("--at", `${share}%`);
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

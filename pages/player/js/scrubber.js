// The timeline: event lanes, playhead, and a native range input that keyboards and screen readers
// use. Calls seek(step) while dragging and release() when let go.

class Scrubber {
  constructor({ seek, release }) {
    this.seek = seek;
    this.release = release;
    this.lanes = [];
    this.numSteps = 1;
    this.step = 0;
    this.labels = el("div.lane-names", { "aria-hidden": "true" });
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.track = el("div.track", {}, el("div.passed"), el("div.knob"));
    this.head = el("div.playhead");
    this.range = el("input", { type: "range", min: "0", step: "1", "aria-label": "Step" });
    this.field = el("div.field", {}, this.canvas, this.track, this.head, this.range);
    this.root = el("div.scrubber", {}, this.labels, this.field);
    this.listen();
  }

  listen() {
    this.field.onpointerdown = (event) => {
      if (event.button) return;
      event.preventDefault();
      this.range.focus({ preventScroll: true });
      this.field.setPointerCapture(event.pointerId);
      this.dragging = true;
      this.seek(this.stepAt(event));
    };
    this.field.onpointermove = (event) => this.dragging && this.seek(this.stepAt(event));
    this.field.onpointerup = this.field.onpointercancel = () => {
      if (this.dragging) this.release();
      this.dragging = false;
    };
    this.range.oninput = () => this.seek(Number(this.range.value));
    this.range.onchange = () => this.release();
  }

  stepAt(event) {
    const box = this.field.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    return Math.round(Math.min(1, Math.max(0, share)) * (this.numSteps - 1));
  }

  load(lanes, numSteps) {
    this.lanes = lanes;
    this.numSteps = numSteps;
    this.range.max = String(numSteps - 1);
    this.labels.replaceChildren(...lanes.map((lane) => el("span", {}, lane.name)));
  }

  draw(theme) {
    const width = this.field.clientWidth;
    if (width) drawLanes(this.canvas, this.lanes, this.numSteps, width, theme);
  }

  show(step, words) {
    this.range.value = String(step);
    this.range.setAttribute("aria-valuetext", words);
  }

  place(step) {
    const share = this.numSteps > 1 ? (100 * step) / (this.numSteps - 1) : 0;
    this.field.style.setProperty("--at", `${share}%`);
  }
}

// The playhead: drawn at the step that "player:step" tells; a click or a drag sends "player:go".
// Without a player the step goes to Python when the pointer is let go.

const PLAYHEADS = new WeakMap();

function part(name, parent) {
  const element = document.createElement("div");
  element.className = name;
  parent.append(element);
  return element;
}

class Playhead {
  constructor(mount) {
    this.root = part("chart-playhead", mount);
    this.plot = part("plot", this.root);
    this.veil = part("veil", this.plot);
    this.line = part("line", this.plot);
    this.label = part("step", this.plot);
    this.root.ariaHidden = "true"; // the player says the step
    this.told = null; // the player that has told a step
    this.hear = ({ detail }) => this.follow(detail);
    this.press = (event) => this.start(event);
    this.drag = (event) => this.go(event);
    this.drop = () => this.end();
    document.addEventListener("player:step", this.hear);
    document.addEventListener("pointerdown", this.press);
  }

  load(data) {
    const ordered = this.data && this.data.jump.number !== data.jump.number;
    this.data = data;
    const { height, left, right, top, bottom } = data.plot;
    Object.assign(this.plot.style, {
      left: `${left}px`,
      right: `${right}px`,
      top: `${top - height}px`,
      height: `${height - top - bottom}px`,
    });
    if (ordered) this.order(data.jump.step);
    else if (!data.player || this.told !== data.player) this.draw(data.step);
    else this.draw(Math.min(this.step, data.steps - 1));
  }

  // The player's word counts, not Python's: that one comes late while it plays.
  follow({ key, step }) {
    if (!this.data || key !== this.data.player) return;
    this.told = key;
    this.draw(step);
  }

  // The line stands after its step.
  draw(step) {
    this.step = step;
    const share = (step + 1) / this.data.steps;
    const x = `${100 * share}%`;
    this.veil.style.left = this.line.style.left = this.label.style.left = x;
    this.plot.classList.toggle("late", share > 0.5);
    this.label.textContent = `step ${step.toLocaleString("en-US")}`;
    this.root.dataset.step = step;
  }

  order(step) {
    if (step !== this.step) this.draw(step);
    const detail = { key: this.data.player, step };
    if (detail.key) document.dispatchEvent(new CustomEvent("player:go", { detail }));
  }

  // --- the pointer --------------------------------------------------------------------------------

  start(event) {
    const box = this.plot.getBoundingClientRect();
    const inside =
      event.clientX >= box.left &&
      event.clientX <= box.right &&
      event.clientY >= box.top &&
      event.clientY <= box.bottom;
    const chart = this.root.getRootNode().host?.closest(".stVerticalBlock");
    if (event.button !== 0 || !inside || !chart?.contains(event.target)) return;
    document.addEventListener("pointermove", this.drag);
    document.addEventListener("pointerup", this.drop);
    document.addEventListener("pointercancel", this.drop);
    this.go(event);
  }

  go(event) {
    const box = this.plot.getBoundingClientRect();
    const step = Math.floor(((event.clientX - box.left) / box.width) * this.data.steps);
    const there = Math.max(0, Math.min(step, this.data.steps - 1));
    if (there !== this.step) this.order(there);
  }

  end() {
    this.letGo();
    if (!this.data.player) this.commit("step", this.step);
  }

  letGo() {
    document.removeEventListener("pointermove", this.drag);
    document.removeEventListener("pointerup", this.drop);
    document.removeEventListener("pointercancel", this.drop);
  }

  destroy() {
    this.letGo();
    document.removeEventListener("player:step", this.hear);
    document.removeEventListener("pointerdown", this.press);
    this.root.remove();
  }
}

export default function ({ data, parentElement, setStateValue }) {
  let playhead = PLAYHEADS.get(parentElement);
  if (!playhead) PLAYHEADS.set(parentElement, (playhead = new Playhead(parentElement)));
  playhead.commit = setStateValue;
  playhead.load(data);
  return () => {
    playhead.destroy();
    PLAYHEADS.delete(parentElement);
  };
}

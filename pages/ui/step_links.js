// Buttons that send "player:go"; the one of the step that "player:step" tells is marked.

const LINKS = new WeakMap();

class StepLinks {
  constructor(mount) {
    this.root = document.createElement("ol");
    this.root.className = "step-links";
    mount.append(this.root);
    this.hear = ({ detail }) => detail.key === this.player && this.mark(detail.step);
    document.addEventListener("player:step", this.hear);
  }

  // The nodes stay as long as the rows do, so that the keyboard keeps its place.
  load({ player, step, rows }) {
    const text = JSON.stringify(rows);
    this.player = player;
    if (text !== this.text) this.build(rows);
    this.text = text;
    this.mark(step);
  }

  build(rows) {
    const focused = this.root.getRootNode().activeElement?.dataset.step;
    this.root.classList.toggle("told", rows.some((row) => row.text));
    this.root.replaceChildren(...rows.map((row) => this.row(row)));
    if (focused !== undefined) this.root.querySelector(`[data-step="${focused}"]`)?.focus();
  }

  row({ step, label, text }) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = label;
    button.dataset.step = step;
    button.onclick = () => this.go(step);
    item.append(button);
    if (text) item.append(Object.assign(document.createElement("span"), { textContent: text }));
    return item;
  }

  go(step) {
    const detail = { key: this.player, step };
    document.dispatchEvent(new CustomEvent("player:go", { detail }));
  }

  mark(now) {
    for (const button of this.root.querySelectorAll("button")) {
      const step = Number(button.dataset.step);
      if (step === now) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
      button.parentElement.classList.toggle("later", step > now);
    }
  }

  destroy() {
    document.removeEventListener("player:step", this.hear);
    this.root.remove();
  }
}

export default function ({ data, parentElement }) {
  let links = LINKS.get(parentElement);
  if (!links) LINKS.set(parentElement, (links = new StepLinks(parentElement)));
  links.load(data);
  return () => {
    links.destroy();
    LINKS.delete(parentElement);
  };
}

// The place as events of the document, for what stands beside the player (a chart's playhead):
// "player:step" {key, step} is sent with every step that is drawn, "player:go" {key, step} is obeyed.

class PlaceEvents {
  // go(step)
  constructor(go) {
    this.obey = ({ detail }) => detail.key === this.key && go(detail.step);
    document.addEventListener("player:go", this.obey);
  }

  tell(key, step) {
    if (this.key === key && this.step === step) return;
    Object.assign(this, { key, step });
    document.dispatchEvent(new CustomEvent("player:step", { detail: { key, step } }));
  }

  destroy() {
    document.removeEventListener("player:go", this.obey);
  }
}

// The player's card: sentence and tools, figure, legend, transport, invariants, spoken line.

const HELP =
  "Player. Space plays and pauses, left and right arrow step, with Shift ten steps, " +
  "Home and End go to the first and last step; a step may also be an event or a request. " +
  "In the pool arrow keys go from block to block.";
const NARROW = 640;

class Card {
  constructor(transport) {
    this.transport = transport;
    this.sentence = el("p.sentence");
    this.views = el("span");
    this.finder = el("span");
    this.picture = el("button.picture", { type: "button", title: "The figure as an image" }, "PNG");
    this.tools = el("div.tools", {}, this.finder, this.views, this.picture);
    this.narration = el("div.narration", {}, this.sentence, this.tools);
    this.figure = el("div.figure");
    this.legend = el("ul.legend", { "aria-label": "Legend" });
    this.invariants = el("ul.invariants", { "aria-label": "Always true" });
    this.link = new WordsLink(this.sentence, this.legend);
    this.live = el("div.live", { "aria-live": "polite" });
    this.root = el("div.player", { role: "group", tabindex: "0", "aria-label": HELP });
    this.root.append(
      this.narration,
      this.figure,
      this.legend,
      transport.root,
      this.invariants,
      this.live,
    );
    this.holdHeights();
  }

  // What changes its height with the step never shrinks again, so that nothing jumps in play.
  holdHeights() {
    this.steady = [this.narration, this.legend, this.figure];
    this.holder = new ResizeObserver((entries) => {
      for (const { target, borderBoxSize } of entries) {
        target.style.minHeight = `${Math.ceil(borderBoxSize[0].blockSize)}px`;
      }
    });
    for (const node of this.steady) this.holder.observe(node);
  }

  offerViews(views, pick) {
    const node = segmented("View", views, pick);
    this.views.replaceWith(node);
    this.views = node;
  }

  offerFinder(find) {
    const node = find ? new Finder("Block or request", find).root : el("span");
    this.finder.replaceWith(node);
    this.finder = node;
  }

  // The width that a stage has for its figure; 0 while nothing is shown.
  fit() {
    const narrow = this.root.clientWidth < NARROW;
    this.root.classList.toggle("narrow", narrow);
    this.transport.fold(narrow ? this.tools : null);
    // On a phone the figure comes first.
    if (narrow) this.legend.after(this.tools);
    else this.narration.append(this.tools);
    const style = getComputedStyle(this.figure);
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    return Math.max(0, this.figure.clientWidth - padding);
  }

  forgetHeights() {
    for (const node of this.steady) node.style.minHeight = "";
  }

  // Returns the sentence as plain text.
  tell(stage, theme) {
    const parts = stage.sentence();
    const checks = stage.invariants?.() ?? [];
    const entries = stage.legend();
    fillSentence(this.sentence, parts, theme);
    fillLegend(this.legend, entries, theme);
    this.link.bind(stage, [this.sentence, parts], [this.legend, entries]);
    fillInvariants(this.invariants, checks);
    this.invariants.hidden = !checks.length;
    return plainSentence(parts);
  }

  destroy() {
    this.holder.disconnect();
    this.root.remove();
  }
}

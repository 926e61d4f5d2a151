// The pool by keyboard: arrow keys go from block to block and tell it, Enter selects it.

const POOL_KEYS_HELP =
  "Pool. Arrow keys go from block to block, Enter selects the block; Shift and arrow still step.";

class PoolCursor {
  constructor(stage) {
    this.stage = stage;
    this.block = null; // where the cursor is, while the pool has the focus
    this.frame = el("div.block-cursor", { hidden: "" });
    stage.box.append(this.frame);
    for (const [name, value] of Object.entries({
      tabindex: "0",
      role: "application",
      "aria-label": POOL_KEYS_HELP,
    })) {
      stage.box.setAttribute(name, value);
    }
    stage.box.onkeydown = (event) => this.press(event);
    stage.box.onblur = () => this.leave();
    // A click goes on driving the player: its arrows step.
    stage.box.onmousedown = (event) => {
      event.preventDefault();
      stage.root.closest(".player").focus({ preventScroll: true });
    };
  }

  press(event) {
    const { perRow } = this.stage.layout;
    const ways = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -perRow, ArrowDown: perRow, Enter: 0 };
    if (!(event.key in ways) || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey)
      return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") return this.block === null || this.stage.pointer.pickBlock(this.block);
    this.move(ways[event.key]);
  }

  // The first key shows where the cursor is: at the picked block, or at the first one.
  move(by) {
    const { stage } = this;
    const { layout } = stage;
    const place = this.block === null ? NONE : layout.placeOf(this.block) + by;
    if (this.block === null) this.block = stage.picked.block ?? stage.lens?.block ?? 1;
    else if (place >= 0 && place < layout.numBlocks) this.block = layout.blockIn(place);
    this.show();
  }

  show() {
    const { stage, block } = this;
    const { x, y } = stage.layout.spot(stage.layout.placeOf(block));
    const { cellWidth: w, cellHeight: h } = stage.layout;
    this.frame.hidden = false;
    Object.assign(this.frame.style, {
      left: `${x - 4}px`,
      top: `${y - 4}px`,
      width: `${w + 8}px`,
      height: `${h + 8}px`,
    });
    this.frame.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (stage.lens) stage.painter.look(block);
    stage.host.mark({ block, requests: stage.holdersOf(block) });
    this.tellAgain();
  }

  tellAgain() {
    const { stage, block } = this;
    if (block === null) return;
    const [box, frame] = [stage.root, this.frame].map((node) => node.getBoundingClientRect());
    stage.tip.show(blockTip(stage.facts(block)), frame.right - box.left, frame.bottom - box.top);
  }

  leave() {
    this.block = null;
    this.frame.hidden = true;
    this.stage.tip.hide();
    this.stage.host.mark(null);
  }
}

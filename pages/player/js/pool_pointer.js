// Pointer on the pool: hover tells, a click selects, a drag or a wheel on the strips scrolls them.

class PoolPointer {
  constructor(stage) {
    this.stage = stage;
    const canvas = stage.canvas;
    canvas.onpointermove = (event) => this.move(event);
    canvas.onpointerleave = () => this.leave();
    canvas.onpointerdown = (event) => (this.start = { x: event.offsetX, moved: false });
    canvas.onpointerup = () => setTimeout(() => (this.start = null));
    canvas.onclick = (event) => !this.start?.moved && this.click(event);
    stage.root.onpointerdown = (event) => event.target === canvas || this.leave();
    canvas.onwheel = (event) => this.wheel(event);
  }

  // {token?, index?, block?} under the pointer
  under(event) {
    const { strips, layout, table } = this.stage;
    const [x, y] = [event.offsetX, event.offsetY];
    const strip = strips?.under(x, y, table);
    if (strip) return { ...strip, block: table[strip.index] };
    const block = layout.blockAt(x, y);
    return block === null ? null : { block };
  }

  move(event) {
    const { stage } = this;
    if (this.start && event.buttons && this.drag(event)) return;
    const found = this.under(event);
    const token = found?.token ?? null;
    stage.canvas.style.cursor = found ? "pointer" : "default";
    if (stage.lens && found) stage.painter.look(found.block);
    if (token !== (stage.hovered ?? null)) {
      stage.hovered = token ?? undefined;
      stage.stale = true;
      stage.host.refresh();
    }
    this.tell(found, event);
  }

  tell(found, event) {
    const { stage } = this;
    this.told = found && { found, event };
    stage.host.mark(found && { block: found.block, requests: stage.holdersOf(found.block) });
    if (!found) return stage.tip.hide();
    const box = stage.root.getBoundingClientRect();
    const size = stage.replay.blockSize;
    const words =
      found.token === undefined
        ? blockTip(stage.facts(found.block))
        : tokenTip(found.token, size, found.block);
    const below =
      found.token === undefined
        ? event.clientY
        : stage.canvas.getBoundingClientRect().top + STRIP_Y.wires;
    stage.tip.show(words, event.clientX - box.left, below - box.top);
  }

  // The step has changed under the pointer.
  tellAgain() {
    if (this.told) this.tell(this.told.found, this.told.event);
  }

  leave() {
    this.tell(null);
    if (this.stage.hovered === undefined) return;
    this.stage.hovered = undefined;
    this.stage.stale = true;
    this.stage.host.refresh();
  }

  click(event) {
    const found = this.under(event);
    this.tell(found, event);
    if (!found) return;
    if (found.index !== undefined) {
      const token = found.token ?? found.index * this.stage.replay.blockSize;
      this.stage.pick({ request: this.stage.request, block: found.block, token });
    } else this.pickBlock(found.block);
  }

  pickBlock(block) {
    const { stage } = this;
    const holders = stage.replay.holders(block);
    if (!holders.length) return stage.pick({ block });
    const request = holders.includes(stage.request) ? stage.request : holders[0];
    stage.pick({ block, request, token: stage.replay.logical[block] * stage.replay.blockSize });
  }

  // True while a drag on the strips scrolls them.
  drag(event) {
    const { strips, table } = this.stage;
    if (!strips || event.offsetY > STRIP_Y.wires) return false;
    const blocks = Math.round((this.start.x - event.offsetX) / strips.pitch);
    if (blocks && strips.scroll(blocks, table.length)) this.scrolled(event.offsetX);
    return this.start.moved;
  }

  scrolled(x) {
    this.start = { x, moved: true };
    this.stage.scrolledBy = true;
    this.stage.stale = true;
    this.stage.host.refresh();
  }

  wheel(event) {
    const { strips, table } = this.stage;
    const along = event.deltaX || (event.shiftKey ? event.deltaY : 0);
    if (!strips || !along || event.offsetY > STRIP_Y.wires) return;
    event.preventDefault();
    if (strips.scroll(Math.sign(along), table.length)) this.scrolled(event.offsetX);
  }
}

// What of the pool is picked and lit, and what is known of a block. PoolStage adds the rest.

class PoolSelection {
  startingPick({ request, block = null }) {
    const index = this.replay.requests.findIndex(({ id }) => id === request);
    const there = block !== null && block >= 0 && block < this.replay.numBlocks;
    return { request: index < 0 ? null : index, block: there ? block : null, token: null };
  }

  // The picked request while it is there, else who acts in this event, else the last admitted.
  get request() {
    const { status, running } = this.replay;
    const picked = this.picked.request;
    if (picked !== null && status[picked] !== STATUS.ABSENT && status[picked] !== STATUS.FINISHED)
      return picked;
    const actor = this.steps.row?.r ?? NONE;
    if (this.replay.tables.has(actor)) return actor;
    return running.length ? running[running.length - 1] : NONE;
  }

  get table() {
    return this.replay.tables.get(this.request) ?? [];
  }

  // The hovered or picked token, else the last one of this step.
  get token() {
    const computed = this.request === NONE ? 0 : this.replay.computed[this.request];
    const room = this.table.length * this.replay.blockSize;
    const wanted = this.hovered ?? this.picked.token ?? computed - 1;
    return wanted < room ? wanted : computed - 1;
  }

  // Palette index; a picked request outside the focus borrows the last hue while it is picked.
  hue(r) {
    const own = this.steps.hue(r);
    const picked = this.picked.request;
    if (picked === null || this.steps.hue(picked) !== NONE) return own;
    if (this.replay.status[picked] !== STATUS.RUNNING) return own;
    if (r === picked) return HUES - 1;
    return own === HUES - 1 ? NONE : own;
  }

  pick(change) {
    Object.assign(this.picked, change);
    this.stale = true;
    if ("block" in change) this.host.commit("block", change.block);
    if ("request" in change)
      this.host.commit("request", this.replay.requests[change.request]?.id ?? null);
    this.host.refresh();
  }

  // Lights what a word stands for: {request}, {block} or {holds(block)}; null lights all again.
  light(word) {
    const holds = word && litBlocks(this, word);
    if (holds) this.veil.show(this.layout, this.host.theme, holds);
    else this.veil.hide();
    if (word?.block !== undefined && this.lens) this.painter.look(word.block);
  }

  choose({ request, block }) {
    if (block !== undefined) this.pointer.pickBlock(block);
    else if (request !== undefined) this.pick({ request, block: null, token: null });
  }

  holdersOf(block) {
    return block > 0 && this.replay.ref[block] ? this.steps.holders(block) : [];
  }

  cell(block) {
    return poolCell(this, block);
  }

  facts(block) {
    return poolFacts(this, block);
  }
}

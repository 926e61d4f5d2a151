// The stage "overview": the lesson's example from the first write to the comparison. A position is
// one token written, one block looked up, one token read, or the comparison at the end.

class OverviewStage {
  constructor(host, { header, columns }) {
    this.host = host;
    this.log = { ...header, column: columns };
    this.canvas = el("canvas", { "aria-hidden": "true" });
    host.root.append(this.canvas);
    this.stepMs = 750;
    this.moveMs = 250;
    this.seek(0);
  }

  get numSteps() {
    return this.log.num_steps;
  }

  at(step) {
    const { log } = this;
    const kind = log.phases[log.column.kind[step]];
    const token = log.column.token[step];
    const writing = kind === "empty" || kind === "write";
    return {
      kind,
      token,
      logical: log.column.logical[step],
      written: writing ? token + 1 : log.seq_len,
      read: writing ? 0 : token + 1,
      done: token + 1,
    };
  }

  seek(step) {
    this.now = this.at(step);
  }

  positions(...kinds) {
    const all = Array.from({ length: this.numSteps }, (_, i) => i);
    return Int32Array.from(all.filter((i) => kinds.includes(this.at(i).kind)));
  }

  lanes() {
    return [
      { name: "write", at: this.positions("write") },
      { name: "look up", at: this.positions("block") },
      { name: "read", at: this.positions("fold") },
      { name: "compare", at: this.positions("compare") },
    ];
  }

  stops() {
    return ["each phase"];
  }

  stopsHere() {
    const { kind, done } = this.now;
    return kind === "compare" || ((kind === "write" || kind === "fold") && done === this.log.seq_len);
  }

  sentence() {
    return OVERVIEW_SENTENCES[this.now.kind](this.now, this.log).map((part) =>
      typeof part === "string" ? { text: part } : part,
    );
  }

  legend() {
    const { log, now } = this;
    const slots = log.block_table.length * log.block_size;
    const count = (...names) => log.holders.filter((name) => names.includes(name)).length;
    return [
      { swatch: "owner", owner: 0, label: "blocks of A", count: log.block_table.length },
      { swatch: "used", label: "of other requests", count: count("B", "C") },
      { swatch: "free", label: "free", count: count("free") },
      "|",
      { swatch: "owner", owner: 0, label: "slots written", count: now.written },
      { swatch: "null", label: "slots not written, NaN", count: slots - now.written },
    ];
  }

  resize(width) {
    this.width = Math.max(280, width);
    const phone = this.width < 760;
    const right = phone ? this.width : Math.min(410, this.width * 0.38);
    const left = phone ? this.width : this.width - right - 44;
    this.scene = overviewScene(this.log, { x: 1, y: 0, w: left - 2 });
    this.cards = { x: this.width - right, y: phone ? this.scene.height + 24 : 0, w: right };
    this.height = Math.max(this.scene.height, this.cards.y + overviewCardsHeight());
    this.context = fitCanvas(this.canvas, this.width, this.height);
    this.rule = phone ? null : this.cards.x - 22;
  }

  draw(progress) {
    this.context.clearRect(0, 0, this.width, this.height);
    const pen = new GatherPen(this.context, this.host);
    overviewDrawScene(pen, this.scene, this.log, this.now, progress);
    overviewCards(pen, this.cards, this.log, this.now, progress);
    if (this.rule) pen.path([[this.rule, 0], [this.rule, this.height]]);
  }

  readback() {
    const { now, log } = this;
    return {
      kind: now.kind,
      token: now.token,
      written: now.written,
      read: now.read,
      slots: Array.from(log.column.slot.slice(0, now.written)),
      partial: now.read ? Array.from({ length: log.head_size }, (_, i) => overviewPartial(log, now.read, i)) : null,
      error: now.kind === "compare" ? log.column.error[log.seq_len] : null,
    };
  }

  destroy() {
    this.canvas.remove();
  }
}

const OVERVIEW_SENTENCES = {
  empty: (now, log) => [
    GATHER_A, ` has ${log.seq_len} tokens and a block table: its blocks are `,
    gatherBold(log.block_table.join(" and ")), ", wherever they lie. Nothing is written yet.",
  ],
  write: (now, log) => [
    `Write: the key and value of token ${now.token} go to slot `, gatherBold(log.column.slot[now.token]),
    `, which is slot ${log.column.offset[now.token]} of block ${log.column.block_id[now.token]}.`,
  ],
  block: (now, log) => [
    now.logical ? "The walk goes on" : "Gather: now a query reads", `. The table says: logical block ${now.logical} is physical block `,
    gatherBold(log.block_table[now.logical]), ".",
  ],
  fold: (now, log) => [
    `Gather: token ${now.token} is read from block `, gatherBold(log.column.block_id[now.token]),
    `, slot ${log.column.offset[now.token]}, and folded into the running output.`,
  ],
  compare: (now, log) => {
    const error = log.column.error[log.seq_len];
    const same = error === 0 ? "to the last bit" : `to rounding: ${gatherError(error)} at most`;
    return [
      `${log.seq_len} tokens in ${log.block_table.length} scattered blocks, one lookup each block: the output equals dense attention `,
      gatherBold(same), ".",
    ];
  },
};

STAGES.overview = OverviewStage;

// One row of the prefix stage: a prompt as a ruler cut at the block size, its blocks below it.
// The nodes are made once; a step only changes what they say.

class PrefixCell {
  // words: those of one logical block; act: {hover(cell | null), pick(cell), pickBlock(block)}
  constructor(r, i, words, size, act) {
    this.r = r;
    this.i = i;
    this.words = Array.from({ length: size }, (_, k) => el("span", words[k] ? { title: words[k] } : {}, words[k] ?? ""));
    this.label = el("span.label");
    this.block = el("button.prefix-block", { type: "button" }, el("b"), el("i"));
    this.hash = el("code");
    const line = el("div.prefix-line", {}, this.label, this.block, this.hash);
    this.root = el("div.prefix-cell", {}, el("div.prefix-words", {}, ...this.words), el("div.prefix-brace"), line);
    this.root.onpointerenter = (event) => event.pointerType === "mouse" && act.hover(this);
    this.root.onpointerleave = () => act.hover(null);
    this.root.onclick = () => act.pick(this);
    this.block.onfocus = () => this.block.matches(":focus-visible") && act.hover(this);
    this.block.onblur = () => act.hover(null);
  }

  show(cell, length, computed, theme, name) {
    this.root.dataset.label = cell.label;
    this.root.dataset.computed = cell.computed;
    paintPrefixOwner(this.root, theme, this.r);
    const first = this.i * this.words.length;
    this.words.forEach((word, k) => {
      word.dataset.kind = first + k < length ? "word" : first + k < computed ? "output" : "empty";
    });
    this.label.textContent = cell.state === "none" ? "" : cell.label;
    this.hash.textContent = cell.hash;
    showPrefixBlock(this.block, cell, this.words.length, theme);
    this.block.disabled = cell.found === undefined;
    const holds = cell.ref > 1 ? `, held by ${cell.ref} requests` : "";
    const where = cell.block === undefined ? "no block yet" : `block ${cell.block}${holds}`;
    this.block.setAttribute("aria-label", `${name}, logical block ${this.i}: ${cell.label || "not looked up"}, ${where}`);
  }

  // `token` is the position of the word that decided, shown in ink.
  frame(chosen, token) {
    this.root.classList.toggle("chosen", chosen);
    this.words.forEach((word, k) => {
      word.classList.toggle("now", chosen && token === this.i * this.words.length + k);
    });
  }
}

class PrefixRow {
  constructor(r, header, act) {
    this.r = r;
    this.act = act;
    this.length = header.prompts[r].length;
    this.name = header.requests[r].id;
    this.size = header.scenario.block_size;
    this.salt = header.salts[r];
    this.cells = Array.from({ length: Math.ceil(this.length / this.size) }, (_, i) => {
      const words = header.prompts[r].slice(i * this.size, (i + 1) * this.size);
      return new PrefixCell(r, i, words, this.size, act);
    });
    this.chip = el("span.chip", {}, this.name);
    this.place = el("span.place-of");
    this.summary = el("b");
    this.note = el("span.note");
    this.outputs = el("div.prefix-outputs");
    this.head = el("div.prefix-head", {}, this.chip, this.place);
    this.end = el("div.prefix-end", {}, el("div", {}, this.summary, this.note), this.outputs);
    this.chain = el("div.prefix-chain", {}, ...this.cells.map((cell) => cell.root));
    this.root = el("div.prefix-row", {}, this.head, this.chain, this.end);
  }

  show(row, computed, theme) {
    this.row = row;
    const colours = ownerColours(theme, this.r);
    this.chip.style.background = colours.tint;
    this.chip.style.borderColor = colours.edge;
    this.place.textContent = row.place;
    this.root.dataset.status = Object.keys(STATUS)[row.status].toLowerCase();
    this.summary.textContent = row.lookup?.summary ?? "";
    this.note.textContent = this.salt ? `salt “${this.salt}”` : "";
    row.cells.forEach((cell, i) => this.cells[i].show(cell, this.length, computed, theme, this.name));
    this.showOutputs(row, theme);
  }

  // The last two blocks that hold nothing but output, small, to be picked; how many came before.
  showOutputs(row, theme) {
    const shown = row.outputs.slice(-2);
    const more = row.outputs.length - shown.length;
    const nodes = shown.map((cell) => {
      const node = el("button.prefix-block.small", { type: "button" }, el("b"), el("i"));
      showPrefixBlock(node, cell, this.size, theme);
      node.setAttribute("aria-label", `Block ${cell.block}, of ${this.name}’s answer`);
      node.onclick = () => this.act.pickBlock(cell.block);
      return node;
    });
    const words = more > 0 ? `output +${more}` : row.lookup ? "output" : "";
    const none = row.lookup && !nodes.length ? [el("span", {}, "no block yet")] : [];
    this.outputs.replaceChildren(el("span", {}, words), ...nodes, ...none);
  }
}

function paintPrefixOwner(node, theme, r) {
  const colours = ownerColours(theme, r);
  for (const name of ["fill", "edge", "tint"]) node.style.setProperty(`--${name}`, colours[name]);
  node.style.setProperty("--on-fill", colours.on_fill);
}

// The treatments of one block; cell as PrefixState.cell gives it.
function showPrefixBlock(node, cell, size, theme) {
  paintPrefixOwner(node, theme, cell.hue);
  node.dataset.state = cell.state;
  node.dataset.block = cell.block ?? "";
  node.style.setProperty("--level", cell.fill / size);
  node.classList.toggle("shared", cell.ref > 1);
  node.classList.toggle("taken", cell.taken);
  node.classList.toggle("touched", cell.touched);
  node.classList.toggle("evicted", cell.evicted);
  node.firstChild.textContent = cell.block ?? "";
  node.lastChild.textContent = cell.ref > 1 ? `×${cell.ref}` : "";
}

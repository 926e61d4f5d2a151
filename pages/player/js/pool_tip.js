// What is under the pointer, in words: a block, or a token of the selected request.

function tipRow(label, value) {
  return [el("dt", {}, label), el("dd", {}, value)];
}

// facts: see PoolStage.cell, with owners (ids), queue place and dates
function blockTip(facts) {
  if (facts.state === "null") {
    return el(
      "dl.tip-rows",
      {},
      el("dt.title", {}, "Block 0"),
      el("dd", {}, "null block, never given out"),
    );
  }
  const rows = [
    tipRow("state", facts.words),
    tipRow("owner", facts.owners.join(", ") || "none"),
    tipRow("logical block", facts.logical < 0 ? "none" : String(facts.logical)),
    tipRow("slots", `${facts.id * facts.size}–${(facts.id + 1) * facts.size - 1}`),
    tipRow("tokens held", `${facts.fill} of ${facts.size}`),
    tipRow("ref count", String(facts.ref)),
    tipRow(
      "hash",
      facts.prefix < 0 ? "none" : `prefix ${facts.prefix}, since step ${count(facts.cachedAt)}`,
    ),
  ];
  if (facts.queuePlace)
    rows.push(
      tipRow(
        "free queue",
        `${count(facts.queuePlace)} of ${count(facts.queueLength)} from the head`,
      ),
    );
  if (facts.takenAt >= 0 && facts.ref) rows.push(tipRow("taken", `step ${count(facts.takenAt)}`));
  return el(
    "dl.tip-rows",
    {},
    el("dt.title", {}, `Block ${facts.id}`),
    el("dd", {}),
    ...rows.flat(),
  );
}

function slotWords(token, size, block) {
  const [index, offset] = [Math.floor(token / size), token % size];
  return {
    entry: `block_table[${token} // ${size}] = block_table[${index}] = ${block}`,
    slot: `${block} · ${size} + ${token} % ${size} = ${block * size} + ${offset} = `,
    short: `${block} · ${size} + ${token} % ${size} = `,
    number: block * size + offset,
  };
}

function tokenTip(token, size, block) {
  if (block === undefined) return el("div", {}, `Token ${token} has no block yet.`);
  const words = slotWords(token, size, block);
  return el(
    "div.arithmetic",
    {},
    el("b", {}, `Token ${token}`),
    el("code", {}, words.entry),
    el("code", {}, words.slot, el("b", {}, String(words.number))),
  );
}

class Tip {
  constructor(box) {
    this.box = box;
    this.root = el("div.tip", { role: "status", hidden: "" });
    box.append(this.root);
  }

  // Beside the pointer, inside the box.
  show(content, x, y) {
    this.root.replaceChildren(content);
    this.root.hidden = false;
    const room = this.box.clientWidth - this.root.offsetWidth - 4;
    const left = x + 16 > room ? x - this.root.offsetWidth - 12 : x + 16;
    this.root.style.left = `${Math.max(4, Math.min(room, left))}px`;
    const below = y + 16 + this.root.offsetHeight < this.box.clientHeight;
    this.root.style.top = `${below ? y + 16 : Math.max(0, y - this.root.offsetHeight - 12)}px`;
  }

  hide() {
    this.root.hidden = true;
  }
}

// The dark box that says why: pinned below the chosen block, or floating below the one pointed at.

class PrefixWhy {
  constructor(kind) {
    this.root = el(`div.prefix-why.${kind}`, { role: "status", hidden: "" });
  }

  say(parts) {
    this.root.replaceChildren(...parts.map(prefixPart));
    this.root.hidden = false;
  }

  hide() {
    this.root.hidden = true;
  }

  // Below `node`, inside the part of `box` that is in sight; returns the height it needs. Above it
  // where it would reach beyond `limit`, and there is room.
  place(node, box, scroller, limit = Infinity) {
    const [target, frame] = [node.getBoundingClientRect(), box.getBoundingClientRect()];
    const sight = scroller.getBoundingClientRect();
    const [left, right] = [sight.left - frame.left + 4, sight.right - frame.left - 4];
    const middle = (target.left + target.right) / 2 - frame.left;
    this.root.style.maxWidth = `${Math.min(560, right - left)}px`;
    const width = this.root.offsetWidth;
    const x = Math.max(left, Math.min(target.left - frame.left, right - width));
    this.root.style.left = `${x}px`;
    const height = this.root.offsetHeight + 10;
    const above = target.bottom + height > limit && target.top - height > sight.top;
    this.root.classList.toggle("above", above);
    this.root.style.top = `${(above ? target.top - height : target.bottom + 10) - frame.top}px`;
    this.root.style.setProperty("--tip", `${Math.max(10, Math.min(width - 22, middle - x - 6))}px`);
    return this.root.offsetHeight + 16;
  }
}

function prefixPart({ text, bold: strong, mono }) {
  if (strong) return el("b", {}, text);
  return mono ? el("code", {}, text) : text;
}

// What a block in the free queue is, in words.
function prefixTileWords(state, block) {
  const { replay, header } = state;
  const queue = replay.freeQueue();
  const place = queue.indexOf(block);
  const before = place === 0 ? "It is taken next." : `It is taken after ${many(place, "other")}.`;
  if (replay.prefix[block] === NONE) {
    return [bold(`Block ${block} is free and has no hash.`), plain(` ${before} Nothing is lost then.`)];
  }
  const { r, i, words } = state.wordsOf(block);
  const what = words.length < state.size ? `${header.requests[r].id}’s logical block ${i}` : `“${words.join(" ")}”`;
  const since = `It got its hash at step ${replay.cachedAt[block]}.`;
  return [
    bold(`Block ${block} is free, and still a hit.`),
    plain(` It holds ${what}. ${since} ${before} Then the hash `),
    { text: header.hashes[replay.prefix[block]], mono: true },
    plain(" is dropped."),
  ];
}

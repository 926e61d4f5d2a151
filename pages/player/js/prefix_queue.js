// The free queue as a conveyor: the head is taken next, what is given back with a hash joins the tail.

class PrefixQueue {
  // version: whose free order, as the scenario says it; act: {hover(tile | null), pickBlock(block)}
  constructor(numBlocks, version, act) {
    this.note = PREFIX_QUEUE_NOTES[version];
    this.tiles = Array.from({ length: numBlocks }, (_, block) => this.tile(block, act));
    this.title = el("div.title");
    this.belt = el("div.prefix-belt");
    this.head = el("span.end", {}, "head");
    this.tail = el("span.end", {}, "tail");
    this.root = el("div.prefix-queue", {}, this.title, this.belt);
    this.places = new Map();
  }

  tile(block, act) {
    const root = el("button.prefix-tile", { type: "button", "data-block": block }, el("b", {}, String(block)), el("code"));
    root.onpointerenter = () => act.hover(root);
    root.onfocus = () => root.matches(":focus-visible") && act.hover(root);
    root.onpointerleave = root.onblur = () => act.hover(null);
    root.onclick = () => {
      act.pickBlock(block);
      act.hover(root);
    };
    return root;
  }

  // Tiles as wide as the whole pool in the queue allows, so that nothing else moves as it grows.
  fit(width) {
    const most = this.tiles.length - 1;
    const tile = Math.floor((width - 18 - 2 * 40) / most) - PREFIX_TILE_GAP;
    this.root.style.setProperty("--tile", `${Math.max(32, Math.min(66, tile))}px`);
  }

  show(queue, theme, moves) {
    const before = this.places;
    const focused = this.belt.getRootNode().activeElement;
    this.title.replaceChildren(el("b", {}, "Free queue"), ` · ${many(queue.length, "block")}, ${this.note}`);
    const nodes = queue.map((entry, i) => this.showTile(entry, i, queue.length, theme));
    this.belt.replaceChildren(this.head, ...nodes, this.tail);
    if (focused && this.belt.contains(focused)) focused.focus({ preventScroll: true });
    this.places = new Map(nodes.map((node, i) => [queue[i].block, [node.offsetLeft, node.offsetTop]]));
    queue.forEach(({ block }, i) => this.move(nodes[i], moves ? before.get(block) : this.places.get(block), this.places.get(block)));
  }

  showTile({ block, hash, hue }, place, length, theme) {
    const node = this.tiles[block];
    paintPrefixOwner(node, theme, hue);
    node.dataset.state = hash ? "cached" : "free";
    node.lastChild.textContent = hash;
    const what = hash ? `still holds the hash ${hash}` : "no hash";
    node.setAttribute("aria-label", `Block ${block}, ${place + 1} of ${length} from the head, ${what}`);
    return node;
  }

  // From where it stood to where it stands; a block that was not in the queue comes from above.
  move(node, from, to) {
    node.classList.toggle("entering", !from);
    node.style.setProperty("--dx", `${from ? from[0] - to[0] : 0}px`);
    node.style.setProperty("--dy", `${from ? from[1] - to[1] : -16}px`);
  }
}

const PREFIX_TILE_GAP = 8;
const PREFIX_QUEUE_NOTES = {
  "0.26.0":
    "taken from the head; with a hash given back at the tail, else at the head. A hashed one is still a hit until it is taken.",
  "before 0.26":
    "taken from the head, given back at the tail, as before 0.26. A hashed one is still a hit until it is taken.",
};

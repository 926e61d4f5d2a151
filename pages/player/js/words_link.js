// Words and marks light each other: parts of the sentence and entries of the legend that stand for a
// request, a block or a state ({request}, {block} or {holds}), and what the stage shows of them.

class WordsLink {
  // nodes: the elements in which the words stand
  constructor(...nodes) {
    this.words = new Map();
    for (const node of nodes) {
      node.onpointerover = (event) => this.light(this.wordAt(event));
      node.onpointerleave = () => this.light(null);
      node.onclick = (event) => this.choose(this.wordAt(event));
    }
  }

  // parts[i] is shown by the i-th child of node.
  bind(stage, ...shown) {
    this.stage = stage;
    this.words.clear();
    if (!stage.light) return;
    for (const [node, parts] of shown) {
      parts.forEach((part, i) => isLinked(part) && this.link(node.childNodes[i], part));
    }
    if (this.place) this.mark(this.place);
  }

  link(child, part) {
    this.words.set(child, part);
    child.classList.add("linked");
  }

  wordAt(event) {
    for (const node of event.composedPath()) if (this.words.has(node)) return this.words.get(node);
    return null;
  }

  light(word) {
    if (word === this.lit) return;
    this.lit = word;
    this.stage.light?.(word);
  }

  choose(word) {
    if (word && !word.holds) this.stage.choose(word);
  }

  // The other way: the stage shows a block and those who hold it; null for nothing.
  mark(place) {
    this.place = place;
    for (const [node, { request, block }] of this.words) {
      const named = request === undefined ? block === place?.block : place?.requests.includes(request);
      node.classList.toggle("lit", Boolean(place && named));
    }
  }
}

function isLinked({ request, block, holds }) {
  return request !== undefined || block !== undefined || holds !== undefined;
}

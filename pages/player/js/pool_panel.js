// What paging saves, beside the pool: the same requests with max_model_len reserved for each.

const GHOSTS = 7;

function panelBar(share, colours, ghost) {
  const bar = el(ghost ? "div.bar.ghost" : "div.bar", {}, el("div"));
  const fill = bar.firstChild;
  fill.style.width = `${(100 * share).toFixed(2)}%`;
  fill.style.background = colours.fill;
  if (ghost) fill.style.borderColor = colours.edge;
  return bar;
}

const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)} %` : "–");

// waste: {heading, part, whole}
function wasteRows(theme, { heading, part, whole }) {
  const words = el("span", {}, heading, el("code", {}, `${count(part)} of ${count(whole)}`));
  const head = el("div.waste", {}, el("strong", {}, percent(part, whole)), words);
  return [head, panelBar(whole ? part / whole : 0, theme.rest)];
}

class PoolPanel {
  // reserve: tokens each request would reserve, or null for no comparison
  constructor(replay, reserve, columns) {
    this.replay = replay;
    this.reserve = reserve;
    this.columns = columns;
    this.body = el("div");
    this.root = el("div.pool-panel", {}, this.body);
  }

  draw(theme, hueOf) {
    const waste = [this.paged(), ...(this.reserve ? [this.contiguous()] : [])];
    this.body.replaceChildren(
      ...(this.reserve ? this.ghosts(theme, hueOf) : []),
      el(
        "section",
        {},
        el("h4", {}, "Slots held but empty"),
        ...waste.flatMap((w) => wasteRows(theme, w)),
      ),
      this.requests(),
    );
  }

  ghosts(theme, hueOf) {
    const { running, computed, requests } = this.replay;
    const rows = running
      .slice(0, GHOSTS)
      .flatMap((r) => [
        el(
          "div.name",
          {},
          el("span", {}, requests[r].id),
          el("code", {}, `${count(computed[r])} of ${count(this.reserve)}`),
        ),
        panelBar(Math.min(1, computed[r] / this.reserve), ownerColours(theme, hueOf(r)), true),
      ]);
    const more = running.length - GHOSTS;
    if (more > 0) rows.push(el("p", {}, `and ${count(more)} more`));
    const title = el("h4", {}, "If each request reserved max_model_len");
    return [
      el(
        "section",
        {},
        title,
        el("p", {}, `${count(this.reserve)} tokens in one piece, each`),
        ...rows,
      ),
    ];
  }

  paged() {
    const { used, blockSize } = this.replay;
    return { heading: "Paged", part: this.emptySlots(), whole: used * blockSize };
  }

  // Only the last block of a table can have room.
  emptySlots() {
    const { tables, computed, blockSize } = this.replay;
    let empty = 0;
    for (const [r, table] of tables) empty += Math.max(0, table.length * blockSize - computed[r]);
    return empty;
  }

  contiguous() {
    const { step, running, computed } = this.replay;
    const { cont_used: used, cont_reserved: reserved } = this.columns;
    const [held, whole] = used
      ? [Number(used[step]), Number(reserved[step])]
      : [running.reduce((sum, r) => sum + computed[r], 0), running.length * this.reserve];
    return { heading: "Contiguous", part: whole - held, whole };
  }

  requests() {
    const { running, numBlocks, blockSize, step } = this.replay;
    const title = el("h4", {}, `Requests running in these ${count(numBlocks - 1)} blocks`);
    const pairs = [[running.length, "paged, now"]];
    const own = this.columns.cont_running;
    if (own) pairs.push([own[step], "contiguous, now"]);
    const piece = 2 ** Math.ceil(Math.log2(this.reserve ?? 1)); // the allocator rounds up (sim/contiguous/buddy.py)
    if (this.reserve)
      pairs.push([Math.floor(((numBlocks - 1) * blockSize) / piece), "contiguous, at most"]);
    const words = pairs.map(([n, label]) => el("span", {}, el("strong", {}, count(n)), label));
    return el("section", {}, title, el("div.pairs", {}, ...words));
  }
}

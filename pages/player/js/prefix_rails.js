// Double rails between the rows that hold one block: straight to the next row, through the gutter
// past rows that do not hold it.

class PrefixRails {
  constructor() {
    this.root = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.root.classList.add("prefix-rails");
    this.root.setAttribute("aria-hidden", "true");
  }

  // links: [{from, to, past, hue}], from and to are block nodes, past says that rows lie between.
  draw(box, links, theme) {
    const origin = box.getBoundingClientRect();
    this.root.setAttribute("width", box.scrollWidth);
    this.root.setAttribute("height", box.scrollHeight);
    const place = (node) => {
      const { left, right, top, bottom } = node.getBoundingClientRect();
      return { x: (left + right) / 2 - origin.left, right: right - origin.left, top: top - origin.top, bottom: bottom - origin.top };
    };
    this.root.replaceChildren(
      ...links.flatMap(({ from, to, past, hue, cell }) => {
        const gutter = past ? place(cell).right + 9 : null;
        return this.rail(place(from), place(to), gutter, ownerColours(theme, hue).edge);
      }),
    );
  }

  rail(from, to, gutter, colour) {
    return [-1.6, 1.6].map((aside) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.setAttribute("d", gutter === null ? this.straight(from, to, aside) : this.around(from, to, gutter, aside));
      path.setAttribute("stroke", colour);
      return path;
    });
  }

  straight(from, to, aside) {
    return `M${from.x + aside} ${from.bottom}V${to.top}`;
  }

  around(from, to, gutter, aside) {
    const [leave, enter] = [from.bottom + 7 - aside, to.top - 37 + aside];
    return `M${from.x + aside} ${from.bottom}V${leave}H${gutter + aside}V${enter}H${to.x + aside}V${to.top}`;
  }
}

// Which rows hold the same block: consecutive holders, top to bottom.
function prefixLinks(rows) {
  const links = [];
  const last = new Map();
  rows.forEach((row, r) => {
    row.row.cells.forEach((cell, i) => {
      if (cell.state !== "held" || cell.ref < 2) return;
      const node = row.cells[i];
      const above = last.get(cell.block);
      if (above) {
        links.push({ from: above.node.block, to: node.block, cell: node.root, past: r > above.r + 1, hue: cell.hue, block: cell.block });
      }
      last.set(cell.block, { r, node });
    });
  });
  return links;
}

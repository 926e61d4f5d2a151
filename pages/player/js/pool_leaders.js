// Two leaders from the lens's frame on the pool to the lens.

const SVG = "http://www.w3.org/2000/svg";

class PoolLeaders {
  constructor(box) {
    this.box = box;
    this.root = document.createElementNS(SVG, "svg");
    this.root.setAttribute("class", "leaders");
    this.root.setAttribute("aria-hidden", "true");
    this.paths = ["halo", "ink"].map((name) => {
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", name);
      this.root.append(path);
      return path;
    });
    box.append(this.root);
  }

  // From the lower corners of the frame (in the canvas) to the upper corners of the lens.
  draw(canvas, lens) {
    const [x, y, w, h] = lens.frame();
    const box = this.box.getBoundingClientRect();
    const pool = canvas.getBoundingClientRect();
    const to = lens.glass.getBoundingClientRect();
    const [left, bottom] = [pool.left - box.left + x, pool.top - box.top + y + h];
    const top = to.top - box.top;
    const lines = [
      [left + 2, to.left - box.left + 6],
      [left + w - 2, to.right - box.left - 6],
    ];
    const d = lines.map(([from, end]) => `M${from} ${bottom}L${end} ${top}`).join("");
    for (const path of this.paths) path.setAttribute("d", d);
  }

  remove() {
    this.root.remove();
  }
}

// The words around a stage: the sentence on top, the legend, the invariants, the spoken line.

// parts: [{text, owner?, bold?}]; a part with an owner is a chip in the owner's colours.
function fillSentence(node, parts, theme) {
  node.replaceChildren(...parts.map((part) => sentencePart(part, theme)));
}

function sentencePart(part, theme) {
  if (part.owner === undefined) return part.bold ? el("b", {}, part.text) : part.text;
  const colours = ownerColours(theme, part.owner);
  const chip = el("span.chip", {}, part.text);
  chip.style.background = colours.tint;
  chip.style.borderColor = colours.edge;
  return chip;
}

function plainSentence(parts) {
  return parts.map((part) => part.text).join("");
}

// entries: [{swatch, owner?, label, count}] and "|" between groups
function fillLegend(node, entries, theme) {
  node.replaceChildren(...entries.map((entry) => legendEntry(entry, theme)));
}

function legendEntry(entry, theme) {
  if (entry === "|") return el("li.bar", { role: "presentation" });
  const swatch = el(`span.swatch.${entry.swatch}`, { "aria-hidden": "true" });
  if (entry.swatch === "owner") {
    const colours = ownerColours(theme, entry.owner);
    swatch.style.background = colours.fill;
    swatch.style.borderColor = colours.edge;
  }
  const number = entry.count === undefined ? "" : el("b", {}, count(entry.count));
  return el("li", {}, swatch, entry.label, " ", number);
}

// checks: [{label, holds}]
function fillInvariants(node, checks) {
  const items = checks.map(({ label, holds }) =>
    el(holds ? "li" : "li.failed", {}, svg(holds ? TICK : CROSS, 14), label),
  );
  node.replaceChildren(el("li.title", {}, "Always true"), ...items);
}

const TICK =
  "M10 0a10 10 0 1 0 0 20a10 10 0 1 0 0-20zM5 10.3l1.6-1.6 2.4 2.4 4.6-4.8 1.6 1.6-6.2 6.4z";
const CROSS =
  "M10 0a10 10 0 1 0 0 20a10 10 0 1 0 0-20zM10 2.2a7.8 7.8 0 1 1 0 15.6a7.8 7.8 0 1 1 0-15.6zM6.8 5.4L10 8.6l3.2-3.2 1.4 1.4-3.2 3.2 3.2 3.2-1.4 1.4-3.2-3.2-3.2 3.2-1.4-1.4 3.2-3.2-3.2-3.2z";

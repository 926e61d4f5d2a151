// The words of the stage "layout": what one load reads, what it costs, and where one element lies.

const layoutMany = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

// Horner's rule over the axes, as sim/layout.py `arithmetic` writes it.
function layoutArithmetic(log, side, { block, slot, head, d }) {
  const x = 16 / log.shape.element_size;
  const places = { slot, head, d, chunk: Math.floor(d / x), x: d % x, "K|V": Number(log.cache === "V") };
  let words = String(block);
  let number = block;
  for (const [name, size] of side.axes) {
    words = `${words.includes(" ") ? `(${words})` : words}×${size} + ${places[name]}`;
    number = number * size + places[name];
  }
  return { words, number };
}

function layoutSentence(log, load) {
  const { first, last, tokens } = load;
  const what =
    log.cache === "K"
      ? [{ text: `d ${first} to ${last}`, bold: true }, { text: ` of all ${tokens} tokens` }]
      : [{ text: `rows d ${first} to ${last}`, bold: true }, { text: `, all ${tokens} tokens` }];
  return [
    { text: `Load ${load.step + 1} of ${log.num_steps}. One warp of the classic kernel reads ` },
    ...what,
    { text: ` of head ${log.at.head}: in the two layouts the same bytes, elsewhere.` },
  ];
}

// What a load costs: [big number, lines]
function layoutCost(log, side, step, perThread) {
  const [sectors, bytes] = [side.sectors[step], side.numBytes[step]];
  const pieces = side.runs(step).length / 2;
  const reads = side.threadReads[step];
  return [
    count(sectors),
    [
      "sectors of 32 B for one load",
      `${Math.round((100 * bytes) / (32 * sectors))} % of them used`,
      pieces === 1 ? `one run of ${count(bytes)} B` : `${layoutMany(pieces, "run")} of ${count(bytes / pieces)} B`,
      `${layoutMany(reads, "read")} a thread, ${count((perThread * log.shape.element_size) / reads)} B each`,
    ],
  ];
}

// The 16 bytes (or fewer) in question: who of the warp reads which element.
function layoutPieces(log, load) {
  const { slot, d } = log.at;
  const mine = load.elements.filter((e) => (log.cache === "K" ? e.slot === slot : e.d === load.row(d)));
  const own = log.cache === "K" ? mine : mine.filter((e) => e.thread === load.threadOf(mine, slot));
  const name = (e) => (log.cache === "K" ? `d${e.d}` : `t${e.slot}`);
  const now = (e) => e.slot === slot && e.d === d;
  const boxes = own.map((e) => el(now(e) ? "span.now" : "span", {}, name(e)));
  const threads = [...new Set(own.map((e) => e.thread))];
  const bytes = own.length * log.shape.element_size;
  const [low, high] = [Math.min(...threads), Math.max(...threads)];
  const each = layoutMany(bytes / threads.length, "byte");
  const who = low === high ? `thread ${low} · ${each}` : `threads ${low} to ${high} · ${each} each`;
  const title =
    log.cache === "K"
      ? `Of token ${slot}, head ${log.at.head}`
      : `Of row d ${own[0].d}, head ${log.at.head}`;
  return el(
    "div.layout-detail",
    {},
    el("h4", {}, title, el("span", {}, `${bytes} bytes in this load`)),
    el("div.layout-boxes", {}, ...boxes),
    el("small", {}, who),
  );
}

function layoutAddress(log, side) {
  const { words, number } = layoutArithmetic(log, side, log.at);
  const bytes = number * log.shape.element_size;
  return el(
    "div.layout-detail",
    {},
    el("h4", {}, `${side.label}: where d ${log.at.d} of token ${log.at.slot} is`),
    el("code", {}, words),
    el("code", {}, `= element ${count(number)} = byte `, el("b", {}, count(bytes))),
  );
}

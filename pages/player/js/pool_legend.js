// The words around the pool: headings, legend with counts that add up, and what tests read back.

function poolLegend(stage) {
  const { replay, marks, painter } = stage;
  const states = painter?.mosaic ? toneEntries(replay) : stateEntries(replay);
  const [ring, cross] = [marks.taken, marks.evicted];
  const now = [
    { swatch: "ring", label: "just allocated", count: ring.size, holds: (b) => ring.has(b) },
    { swatch: "evicted", label: "evicted", count: cross.size, holds: (b) => cross.has(b) },
  ];
  return [...ownerEntries(stage), ...states, "|", ...now];
}

function ownerEntries(stage) {
  const { replay } = stage;
  const table = (r) => replay.tables.get(r) ?? [];
  const focus = replay.running.filter((r) => stage.hue(r) !== NONE);
  focus.sort((a, b) => stage.hue(a) - stage.hue(b));
  const entries = focus.map((r) => ({
    swatch: "owner",
    owner: stage.hue(r),
    label: replay.requests[r].id,
    count: table(r).length,
    request: r,
  }));
  const rest = replay.running.length - focus.length;
  if (rest) entries.push(othersEntry(replay, rest, new Set(focus.flatMap((r) => table(r)))));
  return entries.length ? [...entries, "|"] : [];
}

// Blocks that nobody in focus holds: each is counted once, however many share it.
function othersEntry({ used, ref }, others, held) {
  const holds = (block) => ref[block] > 0 && !held.has(block);
  return { swatch: "used", label: many(others, "other"), count: used - held.size, holds };
}

// In the mosaic lightness is the state.
function toneEntries(replay) {
  const { used, shared, cached, numBlocks, ref } = replay;
  const free = numBlocks - 1 - used - cached;
  return [
    { swatch: "tone.free", label: "free, no hash", count: free, holds: isFree(replay) },
    { swatch: "tone.cached", label: "cached, free", count: cached, holds: isCached(replay) },
    { swatch: "tone.used", label: "used by one", count: used - shared, holds: (b) => ref[b] === 1 },
    { swatch: "tone.shared", label: "shared", count: shared, holds: (b) => ref[b] > 1 },
    { swatch: "null", label: "null", count: 1, block: 0 },
  ];
}

function stateEntries(replay) {
  const { used, shared, cached, numBlocks, ref } = replay;
  const free = numBlocks - 1 - used - cached;
  const partly = (b) => ref[b] > 0 && replay.fill(b) < replay.blockSize;
  return [
    { swatch: "used", label: "in use", count: used, holds: (b) => ref[b] > 0 },
    { swatch: "partly", label: "of these partly full", count: partlyFull(replay), holds: partly },
    { swatch: "shared", label: "shared", count: shared, holds: (b) => ref[b] > 1 },
    { swatch: "cached", label: "cached, free", count: cached, holds: isCached(replay) },
    { swatch: "free", label: "free, no hash", count: free, holds: isFree(replay) },
    { swatch: "null", label: "null", count: 1, block: 0 },
  ];
}

const isFree = ({ ref, prefix }) => (b) => b > 0 && ref[b] === 0 && prefix[b] === NONE;
const isCached = ({ ref, prefix }) => (b) => ref[b] === 0 && prefix[b] !== NONE;

function partlyFull(replay) {
  let partly = 0;
  for (const [r, table] of replay.tables)
    partly += table.length * replay.blockSize > replay.computed[r];
  return partly;
}

function poolHeadings(stage, tokens, table, pool) {
  const { replay, request, token } = stage;
  const fill = (node, title, ...notes) => node.replaceChildren(el("b", {}, title), ...notes);
  if (request === NONE) {
    fill(tokens, "Logical tokens", " no request runs");
    fill(table, "Block table", "");
  } else {
    const [computed, total, id] = [
      replay.computed[request],
      replay.tokens[request],
      replay.requests[request].id,
    ];
    const left = total > computed ? `, ${count(total - computed)} still to be scheduled` : "";
    fill(
      tokens,
      `Logical tokens of ${id}`,
      el("span", {}, `${count(computed)} of ${count(total)} computed${left}`),
    );
    fill(
      table,
      `Block table of ${id}`,
      el("span", {}, "logical block → physical block"),
      slotNote(stage, token),
    );
  }
  pool.style.top = `${stage.layout.poolTop - 23}px`;
  const note = `${count(replay.numBlocks)} blocks × ${count(replay.blockSize)} slots, ${stage.order.logical ? "sorted by request" : "never re-sorted"}`;
  fill(pool, "Physical pool", el("span", {}, note));
}

// The slot arithmetic of the token in ink.
function slotNote(stage, token) {
  const block = stage.table[Math.floor(token / stage.replay.blockSize)];
  if (block === undefined) return "";
  const words = slotWords(token, stage.replay.blockSize, block);
  return el(
    "code",
    {},
    el("i", {}, `token ${token}: `),
    words.short,
    el("b", {}, String(words.number)),
  );
}

function poolReadback(stage) {
  const { replay } = stage;
  const range = Array.from({ length: replay.numBlocks }, (_, b) => b);
  const id = (r) => (r < 0 ? null : replay.requests[r].id);
  const people = [...replay.running, ...replay.waiting];
  return {
    level: stage.layout?.level.name,
    view: stage.order.logical ? "logical" : "physical",
    ref: Array.from(replay.ref.subarray(0, replay.numBlocks)),
    prefix: Array.from(replay.prefix.subarray(0, replay.numBlocks)),
    fill: range.map((b) => replay.fill(b)),
    owners: range.map((b) => stage.holdersOf(b).map(id)),
    freeQueue: replay.freeQueue(),
    running: replay.running.map(id),
    waiting: replay.waiting.map(id),
    tables: Object.fromEntries([...replay.tables].map(([r, table]) => [id(r), [...table]])),
    computed: Object.fromEntries(people.map((r) => [id(r), replay.computed[r]])),
    tokens: Object.fromEntries(people.map((r) => [id(r), replay.tokens[r]])),
    hues: Object.fromEntries(replay.running.map((r) => [id(r), stage.hue(r)])),
    taken: [...stage.marks.taken],
    evicted: [...stage.marks.evicted],
    history: Object.fromEntries(
      ["used", "shared", "cached"].map((name) => [name, Array.from(replay.history[name])]),
    ),
    lit: stage.veil.lit,
    cursor: stage.cursor.block,
    counts: { used: replay.used, shared: replay.shared, cached: replay.cached },
    selected: { request: id(stage.request), token: stage.token, block: stage.picked.block },
    invariants: stage.invariants().map((check) => check.holds),
    legend: stage
      .legend()
      .filter((entry) => entry !== "|")
      .map((entry) => [entry.label, entry.count]),
  };
}

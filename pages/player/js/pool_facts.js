// What is known of a block: enough to draw it, and all of it in words.

// A cell for drawing; see pool_cells.js.
function poolCell(stage, block) {
  const { ref, prefix, holder, lastHolder, blockSize } = stage.replay;
  const held = ref[block] > 0;
  const holders = held ? stage.steps.holders(block) : [];
  const mine = holders.includes(stage.request);
  const lead = mine ? stage.request : (holders.find((r) => stage.hue(r) !== NONE) ?? holder[block]);
  const cell = {
    id: block,
    state: block === 0 ? "null" : held ? "used" : prefix[block] !== NONE ? "cached" : "free",
    hue: stage.hue(held ? lead : lastHolder[block]),
    holders,
    hues: holders.map(stage.hueOf),
    ref: ref[block],
    fill: stage.replay.fill(block),
    size: blockSize,
    taken: stage.marks.taken.has(block),
    evicted: stage.marks.evicted.has(block),
  };
  if (mine) addTokens(cell, stage);
  return cell;
}

function addTokens(cell, { replay, token }) {
  cell.firstToken = replay.logical[cell.id] * cell.size;
  const slot = token - cell.firstToken;
  if (slot >= 0 && slot < cell.size) cell.token = slot;
}

// A cell with its owners' ids, its place in the free queue and its dates.
function poolFacts(stage, block) {
  const { logical, prefix, takenAt, cachedAt, requests, queue, numBlocks, used } = stage.replay;
  const cell = stage.cell(block);
  const idle = cell.state === "free" || cell.state === "cached";
  const shared =
    cell.ref > 1 ? "shared" : cell.fill < cell.size ? "used, partly full" : "used, full";
  const words = { used: shared, cached: "cached, free", free: "free, no hash", null: "null" };
  return {
    ...cell,
    words: words[cell.state],
    owners: cell.holders.map((r) => requests[r].id),
    logical: logical[block],
    prefix: prefix[block],
    takenAt: takenAt[block],
    cachedAt: cachedAt[block],
    queuePlace: idle ? queue.placeOf(block) : 0,
    queueLength: numBlocks - 1 - used,
  };
}

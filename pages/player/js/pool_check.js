// The four things that are always true, checked on the state of the step itself.

function poolInvariants(replay) {
  const queue = queueCount(replay);
  return [
    { label: "ref 0 ⇔ in the free queue", holds: queue.onlyFree && queue.length === queue.free },
    { label: "block ids are stable", holds: tablesHold(replay) },
    { label: "only full blocks hold a hash", holds: hashedAreFull(replay) },
    {
      label: `cached is not in use: ${count(queue.length)} of ${count(queue.free)} free blocks can be taken`,
      holds: queue.cached === replay.cached && replay.outOfOrder !== replay.step,
    },
  ];
}

// Is just what is free in the queue, between neighbours that know it, and is the queue one piece? Only
// the last is asked along the queue, which is as random as memory gets.
function queueCount(replay) {
  const { next, prev, ref, prefix, numBlocks } = replay;
  let [cached, free] = [0, 0];
  let onlyFree = next[0] === NONE && prev[next[numBlocks]] === numBlocks;
  for (let b = 1; b < numBlocks; b++) {
    const idle = ref[b] === 0;
    if (idle !== (next[b] !== NONE)) onlyFree = false;
    if (!idle) continue;
    free += 1;
    if (prefix[b] !== NONE) cached += 1;
    if (prev[next[b]] !== b) onlyFree = false;
  }
  return { length: queueLength(replay), cached, free, onlyFree };
}

function queueLength({ next, numBlocks }) {
  let length = 0;
  for (let b = next[numBlocks]; b !== numBlocks && length < numBlocks; b = next[b]) length += 1;
  return length;
}

// Every entry of every table still names the block that was put there, and nothing else holds one.
function tablesHold(replay) {
  const { ref, logical, numBlocks } = replay;
  let held = 0;
  for (const table of replay.tables.values()) {
    for (let i = 0; i < table.length; i++) if (logical[table[i]] !== i) return false;
    held += table.length;
  }
  let refs = 0;
  for (let b = 1; b < numBlocks; b++) refs += ref[b];
  return refs === held;
}

function hashedAreFull(replay) {
  for (const [r, table] of replay.tables) {
    const full = Math.floor(replay.computed[r] / replay.blockSize);
    for (let i = full; i < table.length; i++) if (replay.prefix[table[i]] !== NONE) return false;
  }
  return true;
}

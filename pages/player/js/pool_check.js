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

// Walks the queue: is every block in it free, and is every free block in it?
function queueCount(replay) {
  const { next, ref, prefix, numBlocks } = replay;
  let length = 0;
  let cached = 0;
  let onlyFree = true;
  for (let b = next[numBlocks]; b !== numBlocks && length < numBlocks; b = next[b]) {
    length += 1;
    if (prefix[b] !== NONE) cached += 1;
    if (ref[b] !== 0 || b === 0) onlyFree = false;
  }
  let free = 0;
  for (let b = 1; b < numBlocks; b++) if (ref[b] === 0) free += 1;
  return { length, cached, free, onlyFree };
}

// Every entry of every table still names the block that was put there, and nothing else holds one.
function tablesHold(replay) {
  let held = 0;
  for (const table of replay.tables.values()) {
    for (let i = 0; i < table.length; i++) if (replay.logical[table[i]] !== i) return false;
    held += table.length;
  }
  let refs = 0;
  for (let b = 1; b < replay.numBlocks; b++) refs += replay.ref[b];
  return refs === held;
}

function hashedAreFull(replay) {
  for (const [r, table] of replay.tables) {
    const full = Math.floor(replay.computed[r] / replay.blockSize);
    for (let i = full; i < table.length; i++) if (replay.prefix[table[i]] !== NONE) return false;
  }
  return true;
}

// Finding a block by its id or a request by its name, at the step on show.

// Picks what is named; null, or a sentence when there is nothing to pick.
function findInPool(stage, name) {
  const { requests, numBlocks } = stage.replay;
  const r = requests.findIndex(({ id }) => id === name);
  if (r >= 0) return findRequest(stage, r);
  const block = /^\d+$/.test(name) ? Number(name) : NaN;
  if (block < numBlocks) return showBlock(stage, block, () => stage.pointer.pickBlock(block));
  const ids = `a block from 0 to ${count(numBlocks - 1)}`;
  const names = requests.length ? ` or a request such as ${requests[0].id}` : "";
  const noun = Number.isNaN(block) ? "request" : "block";
  return `There is no ${noun} ${name}; ${ids}${names} would do.`;
}

function findRequest(stage, r) {
  const { replay } = stage;
  const table = replay.tables.get(r);
  if (!table?.length) return absentWords(replay, r);
  return showBlock(stage, table[0], () => stage.pick({ request: r, block: null, token: null }));
}

// The lens goes to the block that is picked.
function showBlock(stage, block, pick) {
  stage.lens?.look(block);
  pick();
  return null;
}

function absentWords(replay, r) {
  const at = admittedAt(replay, r);
  const when = at === null ? "and is never admitted" : `it is admitted at step ${count(at)}`;
  const join = at === null ? ", " : "; ";
  return `${replay.requests[r].id} holds no block at step ${count(replay.step)}${join}${when}.`;
}

// The step in which a request is first admitted, or null.
function admittedAt(replay, r) {
  const { kind, request, schedule_end: ends } = replay.rows;
  const row = kind.findIndex((k, i) => k === ROW.ADMIT && request[i] === r);
  return row < 0 ? null : ends.findIndex((end) => end > row);
}

// Where the five panels stand: three columns on a desktop, two on a tablet, one on a phone.

function gatherLayout(log, w) {
  if (w < 640) return gatherPhone(log, w);
  return w < 940 ? gatherTablet(log, w) : gatherDesktop(log, w);
}

function gatherDesktop(log, w) {
  const gap = 32;
  const code = { x: 0, y: 0, w: Math.min(480, w * 0.415) };
  const state = { x: w - Math.min(280, w * 0.25), y: 0, w: Math.min(280, w * 0.25) };
  const pool = { x: code.w + gap, y: 0, w: state.x - code.w - 2 * gap };
  const scores = { ...pool, y: gatherPoolHeight(log, pool.w) + 18 };
  const tallest = Math.max(
    gatherCodeHeight(log, 0),
    scores.y + GATHER_SCORES.height,
    gatherStateHeight(log),
  );
  scores.h = Math.min(GATHER_SCORES.tallest, tallest - scores.y);
  scores.y = tallest - scores.h;
  const output = { x: 0, y: tallest + 26, w };
  const rules = [[[-20, tallest + 12], [w + 20, tallest + 12]]];
  return { code, pool, scores, state, output, rules, lines: 0, height: output.y + GATHER_OUTPUT.height };
}

function gatherTablet(log, w) {
  const gap = 24;
  const code = { x: 0, y: 0, w: w * 0.56 };
  const pool = { x: code.w + gap, y: 0, w: w - code.w - gap };
  const scores = { ...pool, y: gatherPoolHeight(log, pool.w) + 18 };
  const top = Math.max(gatherCodeHeight(log, 0), scores.y + GATHER_SCORES.height);
  scores.h = top - scores.y;
  const state = { x: 0, y: top + 18, w };
  const output = { x: 0, y: state.y + gatherStateHeight(log) + 22, w };
  const rules = [[[0, output.y - 12], [w, output.y - 12]]];
  return { code, pool, scores, state, output, rules, lines: 0, height: output.y + GATHER_OUTPUT.height };
}

function gatherPhone(log, w) {
  const lines = 7;
  const code = { x: 0, y: 0, w };
  const pool = { x: 0, y: gatherCodeHeight(log, lines) + 10, w };
  const scores = { x: 0, y: pool.y + gatherPoolHeight(log, w) + 16, w, h: GATHER_SCORES.height };
  const state = { x: 0, y: scores.y + GATHER_SCORES.height + 16, w };
  const output = { x: 0, y: state.y + gatherStateHeight(log) + 4, w };
  const layout = { code, pool, scores, state, output, rules: [], lines, phone: true };
  return { ...layout, height: output.y + 36 };
}

// The token of the slot of `block` that (x, y) points at; −1 for a slot never written.
function gatherTokenIn(block, { x, y }, log, width) {
  const size = gatherPoolSizes(log, width);
  const offset = size.level === 1
    ? Math.floor((y - block.y - GATHER_HEAD) / size.slot)
    : Math.floor(((x - block.x - 2) / (block.w - 4)) * log.block_size);
  const token = block.logical * log.block_size + gatherClamp(offset, 0, log.block_size - 1);
  return token < log.seq_len ? token : -1;
}

// For tests: the middle of each token's slot, and the state of each slot of a block, as drawn.
function gatherSpots(blocks, log, width) {
  const size = gatherPoolSizes(log, width);
  return Array.from({ length: log.seq_len }, (_, token) => {
    const block = blocks[log.block(Math.floor(token / log.block_size))];
    const part = (token % log.block_size) + 0.5;
    return size.level === 1
      ? [block.x + block.w / 2, block.y + GATHER_HEAD + part * size.slot]
      : [block.x + 2 + (part * (block.w - 4)) / log.block_size, block.y + block.h - 6];
  });
}

function gatherStates(block, log, now) {
  return Array.from({ length: log.block_size }, (_, i) => gatherSlotState(block, i, log, now));
}

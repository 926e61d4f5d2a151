// One event of a step in a sentence: a row of the log, or the model's run after the last row.

const FINISH_HOW = ["met its stop token", "reached its length limit", "was aborted"];

class PoolEventWords extends PoolRows {
  // row: one of PoolReplay.rowsOf, already applied; null for the model's run
  sentence(row) {
    if (!row) return this.run();
    this.rows = [row];
    if (row.kind === ROW.HAZARD) return hazardClauses(this).flat();
    const who = row.r < 0 ? [] : [this.chip(row.r)];
    return EVENT_WORDS[row.kind](row, who, this.replay);
  }

  run() {
    const { running, scheduled, step } = this.replay;
    const busy = running.filter((r) => scheduled[r]);
    if (!busy.length) return [plain(`Nothing runs; step ${count(step)} is complete.`)];
    const tokens = busy.reduce((sum, r) => sum + scheduled[r], 0);
    const named = busy.length <= NAMED;
    const who = named ? this.chips(busy) : [bold(many(busy.length, "request"))];
    const end = plain(`; step ${count(step)} is complete.`);
    return [plain("The model computes "), bold(many(tokens, "token")), plain(" of "), ...who, end];
  }
}

const EVENT_WORDS = {
  [ROW.ARRIVE]: (_, who) => [...who, plain(" arrives, at the end of the waiting queue.")],
  [ROW.LOOKUP]: ({ a, b, blocks }, who) => [
    ...who,
    plain(` asks the prefix cache for its ${many(a, "token")}: `),
    ...(b ? [bold(`${count(b)} hit`), plain(", in "), ...namedBlocks(blocks)] : [plain("no hit")]),
    plain("."),
  ],
  [ROW.TOUCH]: ({ blocks }, who, replay) => [
    ...who,
    plain(" puts "),
    ...namedBlocks(blocks),
    plain(` first in its block table: ${blocks.length > 1 ? "each" : "its"} ref count + 1`),
    plain(leavingQueue(blocks, replay)),
  ],
  [ROW.TAKE]: ({ blocks }, who, replay) => [
    ...who,
    plain(" takes "),
    ...namedBlocks(blocks),
    plain(" from the free queue’s head"),
    plain(droppedHashes(blocks.length, replay.evictions.length)),
  ],
  [ROW.EVICT]: ({ blocks }) => [
    ...namedBlocks(blocks, true),
    plain(blocks.length > 1 ? " lose their hashes" : " loses its hash"),
    plain(" without being taken."),
  ],
  [ROW.CACHE]: ({ b, blocks }, who) => [
    ...namedBlocks(blocks.subarray(0, b), true),
    plain(" of "),
    ...who,
    plain(b > 1 ? " get their hashes: they are full with this step." : ""),
    plain(b > 1 ? "" : " gets its hash: it is full with this step."),
  ],
  [ROW.ALLOC_FAILED]: ({ a, b }, who) => [
    ...who,
    plain(` asks for room for ${many(a, "token")} and gets none: `),
    bold(many(b, "block")),
    plain(b > 1 ? " are missing." : " is missing."),
  ],
  [ROW.RELEASE]: (row, who) => [...who, ...givenBackInOrder(row)],
  [ROW.PREEMPT]: ({ a }, who) => [
    ...who,
    plain(" is preempted: it goes to the front of the waiting queue, and its "),
    bold(many(a, "token")),
    plain(" will be computed again."),
  ],
  [ROW.ADMIT]: ({ a, b }, who) => [
    ...who,
    plain(b ? " runs again" : " is admitted"),
    ...(a ? [plain(" with "), bold(many(a, "token")), plain(" that it need not compute")] : []),
    plain("."),
  ],
  [ROW.SCHEDULE]: ({ a }, who) => [
    ...who,
    plain(" is to compute "),
    bold(many(a, "token")),
    plain(" in this step."),
  ],
  [ROW.FINISH]: ({ a }, who) => [...who, plain(` ${FINISH_HOW[a]} and leaves.`)],
  [ROW.RESET]: ({ a }) => [
    plain(a ? "The prefix cache forgets every hash." : "The prefix cache is asked to forget: "),
    plain(a ? "" : "it cannot while blocks are in use."),
  ],
};

// Hit blocks that nobody held were in the free queue until now.
function leavingQueue(blocks, replay) {
  const free = [...blocks].filter((block) => replay.ref[block] === 1).length;
  if (!free) return ".";
  if (free < blocks.length) return `, and ${spelled(free)} of them leave the free queue.`;
  return free === 1 ? ", and it leaves the free queue." : ", and they leave the free queue.";
}

function droppedHashes(taken, dropped) {
  if (!dropped) return ".";
  if (taken === 1) return ", and its hash is dropped.";
  if (dropped === taken) return ", and all their hashes are dropped.";
  return `, and ${spelled(dropped)} of their hashes ${dropped === 1 ? "is" : "are"} dropped.`;
}

function givenBackInOrder({ blocks, a, b }) {
  if (!blocks.length) return [plain(" holds no block to give back.")];
  const ways = [
    [a, "to the free queue’s head"],
    [b, "still cached, to the free queue’s tail"],
    [blocks.length - a - b, "still held by others"],
  ];
  const told = ways.filter(([n]) => n).map(([n, where]) => `${spelled(n)} ${where}`);
  return [plain(" gives back "), ...namedBlocks(blocks), plain(`, last first: ${told.join("; ")}.`)];
}

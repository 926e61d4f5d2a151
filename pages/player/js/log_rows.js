// The rows of a log (sim/events.py), and what is kept of each block and request while replaying them.

const ROW = {
  ARRIVE: 0,
  LOOKUP: 1,
  TOUCH: 2,
  TAKE: 3,
  EVICT: 4,
  CACHE: 5,
  ALLOC_FAILED: 6,
  RELEASE: 7,
  PREEMPT: 8,
  ADMIT: 9,
  SCHEDULE: 10,
  FINISH: 11,
  RESET: 12,
  HAZARD: 13,
};
const STATUS = { ABSENT: 0, WAITING: 1, RUNNING: 2, PREEMPTED: 3, FINISHED: 4 };
const HUES = 7;
const NONE = -1;
const BLOCK_FIELDS = [
  ["ref", 0],
  ["prefix", NONE],
  ["next", 0], // the free queue fills both
  ["prev", 0],
  ["holder", NONE], // one of the requests that hold it
  ["logical", NONE],
  ["lastHolder", NONE],
  ["takenAt", NONE],
  ["cachedAt", NONE],
];
const REQUEST_FIELDS = [
  ["status", STATUS.ABSENT],
  ["computed", 0],
  ["tokens", 0],
  ["scheduled", 0], // tokens of this step
  ["preemptions", 0],
  ["hits", 0],
  ["hue", NONE], // palette index while it runs
];

// The rows of the step on show, by kind and by request, and the parts that sentences are made of.

const NUMBERS = [
  "no",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
];
const NAMED = 2; // more requests than this doing the same are counted, not named

const plain = (words) => ({ text: words });
const bold = (words) => ({ text: words, bold: true });
const spelled = (n) => NUMBERS[n] ?? count(n);
const many = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

class PoolRows {
  // scenario: the header's; hueOf(request) → palette index
  constructor(replay, scenario, hueOf) {
    this.replay = replay;
    this.scenario = scenario;
    this.hueOf = hueOf;
    this.clauses = 2;
  }

  of(kind) {
    return this.rows.filter((row) => row.kind === kind);
  }

  by(kind, r) {
    return this.of(kind).filter((row) => row.r === r);
  }

  blocksOf(kind, requests) {
    return this.of(kind)
      .filter((row) => requests.includes(row.r))
      .flatMap((row) => [...row.blocks]);
  }

  // Blocks that lost their hash when these requests took them.
  evictedBy(requests) {
    return this.replay.evictions.filter(({ r }) => requests.includes(r)).map(({ block }) => block);
  }

  chip(r) {
    return { text: this.replay.requests[r].id, owner: this.hueOf(r), request: r };
  }

  chips(requests) {
    return requests.flatMap((r, i) => {
      const join = i === 0 ? [] : [plain(i === requests.length - 1 ? " and " : ", ")];
      return [...join, this.chip(r)];
    });
  }
}

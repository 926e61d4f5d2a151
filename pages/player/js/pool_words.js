// What a step did and why, in a sentence or two made from the step’s rows.

class PoolWords extends PoolRows {
  sentence() {
    this.rows = this.replay.rowsOf(this.replay.step);
    const told = [
      hazardClauses(this),
      this.preempted(),
      this.admitted(),
      this.grown(),
      this.refused(),
      this.finished(),
      this.arrived(),
    ];
    const all = told.flat();
    if (!all.length) return this.quiet();
    const more = all.length - this.clauses;
    const rest = more > 0 ? [plain(` And ${spelled(more)} more.`)] : [];
    return [...all.slice(0, this.clauses).flatMap((c, i) => (i ? [plain(" "), ...c] : c)), ...rest];
  }

  // --- leaving ------------------------------------------------------------------------------------

  finished() {
    const rows = this.of(ROW.FINISH);
    const given = (r) => this.by(ROW.RELEASE, r)[0] ?? { blocks: [], a: 0, b: 0 };
    if (rows.length > NAMED) {
      const blocks = rows.reduce((sum, row) => sum + given(row.r).blocks.length, 0);
      return [
        [
          bold(many(rows.length, "request")),
          plain(` finished and gave back ${many(blocks, "block")}.`),
        ],
      ];
    }
    return rows.map(({ r, a }) => [
      this.chip(r),
      plain(` ${FINISH_HOW[a]} and `),
      ...this.givenBack(given(r)),
    ]);
  }

  givenBack({ blocks, a, b }) {
    if (!blocks.length) return [plain("held no block.")];
    const all = blocks.length > 1 ? "all still cached" : "still cached";
    const kept = b ? `, ${b === blocks.length ? all : `${spelled(b)} still cached`}` : "";
    const held = blocks.length - a - b;
    const others = held ? `, ${spelled(held)} still held by others` : "";
    return [plain("gave back "), bold(many(blocks.length, "block")), plain(`${kept}${others}.`)];
  }

  preempted() {
    const rows = this.of(ROW.PREEMPT);
    if (!rows.length) return [];
    const failed = this.of(ROW.ALLOC_FAILED)[0];
    if (!failed)
      return [[...this.chips(rows.map((row) => row.r)), plain(" give way to the reset.")]];
    const why = [this.chip(failed.r), plain(` finds no free block, so `)];
    return [[...why, ...this.victims(rows, failed.r)]];
  }

  victims(rows, asker) {
    const last =
      (this.scenario.policy ?? "fcfs") === "fcfs" ? "the last admitted" : "the least urgent";
    const blocks = rows
      .flatMap(({ r }) => this.by(ROW.RELEASE, r))
      .reduce((n, row) => n + row.blocks.length, 0);
    const tokens = rows.reduce((n, row) => n + row.a, 0);
    const gives = [
      plain(rows.length > 1 ? " give back " : " gives back "),
      bold(many(blocks, "block")),
      plain(
        ` and will compute ${rows.length > 1 ? "their" : "its"} ${many(tokens, "token")} again.`,
      ),
    ];
    if (rows.length > NAMED) return [bold(many(rows.length, "request")), ...gives];
    if (rows[0].r === asker) return [plain(`as ${last} it`), ...gives];
    return [plain(`${last}, `), ...this.chips(rows.map((row) => row.r)), plain(","), ...gives];
  }

  // --- coming -------------------------------------------------------------------------------------

  admitted() {
    const rows = this.of(ROW.ADMIT);
    if (rows.length <= NAMED) return rows.map((row) => this.admission(row)).reverse();
    const requests = rows.map((row) => row.r);
    const hits = rows.reduce((sum, row) => sum + row.a, 0);
    const parts = [
      bold(many(rows.length, "request")),
      plain(" are admitted: "),
      bold(many(hits, "token")),
    ];
    return [[...parts, plain(" hit; they "), ...this.taking(requests), plain(".")]];
  }

  admission({ r, a: hits, b: resumed }) {
    const start = [this.chip(r), plain(resumed ? " resumes: " : " is admitted: ")];
    return [...start, ...this.hitWords(r, hits), ...this.tokensTake(r, hits), plain(".")];
  }

  hitWords(r, hits) {
    if (this.scenario.enable_prefix_caching === false) return [plain("t")];
    if (!hits) return [plain("no hit; t")];
    const others = new Set(
      this.blocksOf(ROW.TOUCH, [r]).flatMap((block) => this.replay.holders(block)),
    );
    others.delete(r);
    const named = [...others].slice(0, NAMED);
    const shared = named.length
      ? [plain(", shared with "), ...this.chips(named)]
      : [plain(", from free blocks")];
    const more = others.size > NAMED ? [plain(` and ${spelled(others.size - NAMED)} more`)] : [];
    return [bold(`${many(hits, "token")} hit`), ...shared, ...more, plain("; t")];
  }

  tokensTake(r, hits) {
    const last = this.replay.computed[r] - 1;
    const range = last === hits ? `oken ${count(hits)}` : `okens ${count(hits)}–${count(last)}`;
    return [plain(`${range} `), ...this.taking([r], last === hits)];
  }

  taking(requests, single = false) {
    const taken = this.blocksOf(ROW.TAKE, requests);
    const verb = single ? "takes" : "take";
    if (!taken.length) return [plain(single ? "needs no new block" : "need no new block")];
    const parts = [plain(`${verb} `), ...namedBlocks(taken), plain(" from the free queue’s head")];
    return [...parts, ...this.evicting(requests, taken.length)];
  }

  evicting(requests, taken) {
    const evicted = this.evictedBy(requests).length;
    if (!evicted) return [];
    if (evicted === taken && taken === 1) return [plain(", which drops its cached hash")];
    return [plain(`, evicting ${spelled(evicted)}`)];
  }

  // --- staying ------------------------------------------------------------------------------------

  grown() {
    const admitted = new Set(this.of(ROW.ADMIT).map((row) => row.r));
    const rows = this.of(ROW.TAKE).filter((row) => !admitted.has(row.r));
    const requests = [...new Set(rows.map((row) => row.r))];
    if (!requests.length) return [];
    if (requests.length > NAMED) {
      return [
        [
          bold(many(requests.length, "request")),
          plain(" fill their last block and "),
          ...this.taking(requests),
          plain("."),
        ],
      ];
    }
    return requests.map((r) => [
      this.chip(r),
      plain(` ${this.growth(r)} `),
      ...this.taking([r], true),
      plain("."),
    ]);
  }

  growth(r) {
    const { computed, scheduled } = this.replay;
    const last = computed[r] - 1;
    if (scheduled[r] === 1) return `has no room for token ${count(last)} and`;
    return `goes on with tokens ${count(computed[r] - scheduled[r])}–${count(last)} and`;
  }

  refused() {
    const waits = this.of(ROW.ALLOC_FAILED).filter(({ r }) => this.replay.waiting.includes(r));
    if (this.of(ROW.PREEMPT).length) return [];
    return waits.map(({ r, b }) => [
      this.chip(r),
      plain(" waits: "),
      bold(many(b, "block")),
      plain(
        b === 1
          ? " is missing, and nobody overtakes it."
          : " are missing, and nobody overtakes it.",
      ),
    ]);
  }

  arrived() {
    const told = this.of(ROW.ALLOC_FAILED).map(({ r }) => r);
    const waits = ({ r }) => this.replay.status[r] === STATUS.WAITING && !told.includes(r);
    const rows = this.of(ROW.ARRIVE).filter(waits);
    if (!rows.length) return [];
    if (rows.length > NAMED)
      return [[bold(many(rows.length, "request")), plain(" arrive and wait.")]];
    const verb = rows.length > 1 ? " arrive and wait." : " arrives and waits.";
    return [[...this.chips(rows.map((row) => row.r)), plain(verb)]];
  }

  quiet() {
    const { running, waiting, scheduled } = this.replay;
    const busy = running.filter((r) => scheduled[r]);
    if (!busy.length)
      return waiting.length
        ? this.stuck(waiting[0])
        : [plain("Nothing runs: every block is free.")];
    const seats = this.scenario.max_num_seqs ?? 256;
    const full = waiting.length && running.length >= seats;
    const rest = full
      ? [plain(" "), this.chip(waiting[0]), plain(` waits: all ${spelled(seats)} seats are taken.`)]
      : [];
    return [...(busy.length === 1 ? this.alone(busy[0]) : this.together(busy)), ...rest];
  }

  alone(r) {
    const { computed, scheduled, tables, blockSize } = this.replay;
    const last = computed[r] - 1;
    const block = tables.get(r)[Math.floor(last / blockSize)];
    const tokens =
      scheduled[r] > 1
        ? `tokens ${count(computed[r] - scheduled[r])}–${count(last)}`
        : `token ${count(last)}`;
    const slot = bold(count(block * blockSize + (last % blockSize)));
    return [
      this.chip(r),
      plain(` computes ${tokens}; the last goes to `),
      ...namedBlocks([block]),
      plain(", slot "),
      slot,
      plain("."),
    ];
  }

  together(busy) {
    const tokens = busy.reduce((sum, r) => sum + this.replay.scheduled[r], 0);
    const room = plain(": each still has room in its last block, nothing is allocated.");
    return [
      bold(many(busy.length, "request")),
      plain(" compute "),
      bold(many(tokens, "token")),
      room,
    ];
  }

  stuck(r) {
    return [plain("Nothing runs, and "), this.chip(r), plain(" waits.")];
  }
}

// What happens at each step, counted: the timeline's lanes and the stops of play.

const POOL_LANES = [
  ["allocate", ROW.TAKE],
  ["hit", ROW.TOUCH],
  ["evict", ROW.EVICT],
  ["preempt", ROW.PREEMPT],
  ["finish", ROW.FINISH],
];
const HAZARD_LANE = ["hazard", ROW.HAZARD]; // only where vLLM itself goes wrong
const MOVES = [ROW.ADMIT, ROW.PREEMPT, ROW.FINISH]; // a request comes or goes

class PoolEvents {
  constructor(rows, numSteps) {
    const { kind, a, payload_end: ends, schedule_end: steps } = rows;
    this.shown = [...POOL_LANES, ...(kind.includes(ROW.HAZARD) ? [HAZARD_LANE] : [])];
    this.byName = Object.fromEntries(this.shown.map(([name]) => [name, new Int32Array(numSteps)]));
    this.moves = new Int32Array(numSteps);
    const byKind = new Map(this.shown.map(([name, kind]) => [kind, this.byName[name]]));
    for (let row = 0, step = 0; row < kind.length; row++) {
      while (step < numSteps && row >= steps[step]) step += 1;
      const counts = step < numSteps && byKind.get(kind[row]);
      if (counts) counts[step] += ends[row] - (row ? ends[row - 1] : 0) || 1; // no payload: one
      if (step < numSteps && kind[row] === ROW.TAKE) this.byName.evict[step] += a[row];
      if (step < numSteps && MOVES.includes(kind[row])) this.moves[step] += 1;
    }
  }

  lanes() {
    return this.shown.map(([name]) => {
      const at = [];
      this.byName[name].forEach((n, step) => n && at.push(step));
      const counts = at.map((step) => this.byName[name][step]);
      return { name, at: Int32Array.from(at), count: Int32Array.from(counts) };
    });
  }

  stops() {
    return ["each event", ...this.shown.map(([name]) => name)];
  }

  happens(rule, step) {
    if (rule !== "each event") return this.byName[rule][step] > 0;
    return this.shown.some(([name]) => this.byName[name][step] > 0);
  }

  // Does the rule stop at this one row (null: the model's run), which cost so many hashes?
  isOne(rule, row, evicted) {
    const names = this.shown.filter(([, kind]) => kind === row?.kind).map(([name]) => name);
    if (evicted) names.push("evict");
    return rule === "each event" ? names.length > 0 : names.includes(rule);
  }
}

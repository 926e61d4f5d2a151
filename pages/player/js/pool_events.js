// What happens at each step, counted: the timeline's lanes and the stops of play.

const POOL_LANES = [
  ["allocate", ROW.TAKE],
  ["hit", ROW.TOUCH],
  ["evict", ROW.EVICT],
  ["preempt", ROW.PREEMPT],
  ["finish", ROW.FINISH],
];

class PoolEvents {
  constructor(rows, numSteps) {
    this.byName = Object.fromEntries(POOL_LANES.map(([name]) => [name, new Int32Array(numSteps)]));
    const byKind = new Map(POOL_LANES.map(([name, kind]) => [kind, this.byName[name]]));
    const { kind, a, payload_end: ends, schedule_end: steps } = rows;
    for (let row = 0, step = 0; row < kind.length; row++) {
      while (step < numSteps && row >= steps[step]) step += 1;
      const counts = step < numSteps && byKind.get(kind[row]);
      if (counts) counts[step] += ends[row] - (row ? ends[row - 1] : 0) || 1; // no payload: one
      if (step < numSteps && kind[row] === ROW.TAKE) this.byName.evict[step] += a[row];
    }
  }

  lanes() {
    return POOL_LANES.map(([name]) => {
      const at = [];
      this.byName[name].forEach((n, step) => n && at.push(step));
      const counts = at.map((step) => this.byName[name][step]);
      return { name, at: Int32Array.from(at), count: Int32Array.from(counts) };
    });
  }

  stops() {
    return ["each event", ...POOL_LANES.map(([name]) => name)];
  }

  happens(rule, step) {
    if (rule !== "each event") return this.byName[rule][step] > 0;
    return POOL_LANES.some(([name]) => this.byName[name][step] > 0);
  }
}

// Where vLLM 0.26.0 itself goes wrong (sim/events.py `Hazard`), told in the step in which it does.

const HAZARDS = [
  (rows, { b }) => [
    plain(" can never be admitted: it needs "),
    bold(many(b, "block")),
    plain(`, more than the ${count(rows.replay.numBlocks - 1)} there are.`),
  ],
  () => [plain(" runs alone and still finds no free block, so it gives way to itself.")],
  () => [plain(" stands at max_model_len and may not stop: it keeps its blocks and gets nothing.")],
  (_, { b }) => [
    plain(" was to compute "),
    bold(many(b, "block")),
    plain(` that already ${b === 1 ? "has its hash" : "have their hashes"}, and now nobody will.`),
  ],
  (_, { b }) => [
    plain(" hits "),
    bold(many(b, "block")),
    plain(" that nobody computed: vLLM 0.26.0 reads what is not there."),
  ],
];

function hazardClauses(rows) {
  return rows.of(ROW.HAZARD).map((row) => [rows.chip(row.r), ...HAZARDS[row.a](rows, row)]);
}

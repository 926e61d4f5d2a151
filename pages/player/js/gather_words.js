// What a micro step did and why, as the player's sentence: the numbers are the recorded ones.

const gatherBold = (text) => ({ text: String(text), bold: true });
const gatherChip = (text) => ({ text, owner: -1 });
const GATHER_A = { text: "A", owner: 0 };

const GATHER_SENTENCES = {
  start(now, log) {
    const blocks = log.block_table.length;
    return [
      "The query of ", GATHER_A, ` starts with nothing: m = −∞, l = 0. Its `,
      gatherBold(log.seq_len), ` ${gatherPlural(log.seq_len, "token")} `,
      log.seq_len === 1 ? "lies in " : "lie in ",
      gatherBold(blocks), ` ${gatherPlural(blocks, "block")}, in the order only its table knows.`,
    ];
  },
  block(now, log) {
    const first = now.logical * log.block_size;
    const held = log.held(now.logical);
    const last = first + held - 1;
    const what = held > 1 ? `tokens ${first}–${last}` : `token ${first}`;
    const empty = log.block_size - held;
    return [
      `The table says: logical block ${now.logical} is physical block `,
      gatherBold(log.block(now.logical)), `. There ${held > 1 ? "lie" : "lies"} ${what}`,
      empty ? `; ${empty} of its ${log.block_size} slots ${empty > 1 ? "were" : "was"} never written.` : ".",
    ];
  },
  load(now, log) {
    const others = log.num_heads - 1;
    const heads = others === 1 ? "the other query head reads" : `the other ${others} query heads read`;
    return [
      ...gatherPlace(now, log),
      ": its key and its value are read from there, and from nowhere else",
      others ? `; ${heads} the same slot.` : ".",
    ];
  },
  score(now, log) {
    return [
      `The score of token ${now.token} is q·k / √${log.head_size} = `,
      gatherBold(gatherNumber(now.s)), ".",
    ];
  },
  max(now, log) {
    const s = gatherBold(gatherNumber(now.s));
    if (now.token === 0) return ["The first score, ", s, ", becomes the running max m."];
    const old = gatherNumber(log.column.m_old[now.token]);
    if (now.moved) return ["Score ", s, ` is above the running max ${old}: `, gatherChip("m"), " moves."];
    return ["Score ", s, ` is not above the running max ${old}, so `, gatherChip("m"), " stays."];
  },
  corr(now, log) {
    const old = log.column.m_old[now.token];
    const corr = gatherBold(gatherNumber(now.corr));
    if (now.token === 0) return ["Nothing was carried yet: corr = exp(−∞) = ", corr, "."];
    if (!now.moved) return ["The max did not move: corr = exp(0) = ", corr, ", nothing is rescaled."];
    return [
      `The max moved by ${gatherNumber(now.m - old)}: corr = exp(−${gatherNumber(now.m - old)}) = `,
      corr, ", and all that was carried shrinks by it.",
    ];
  },
  p(now) {
    const share = gatherBold(gatherNumber(now.p));
    return [`Token ${now.token} weighs p = exp(s − m) = `, share, " against the largest so far."];
  },
  l(now, log) {
    const carried = gatherNumber(log.carriedL(now.token));
    return [
      gatherChip("l"), ` = ${carried} × ${gatherNumber(now.corr)} + ${gatherNumber(now.p)} = `,
      gatherBold(gatherNumber(now.l)), ": the sum of all weights so far.",
    ];
  },
  acc(now, log) {
    const above = now.s > log.column.m_old[now.token];
    const why = now.token === 0 ? ["the first"]
      : above ? ["above the running max, so what was carried is scaled by ", gatherBold(gatherNumber(now.corr))]
      : [now.s < now.m ? "below" : "at", " the running max, so nothing is rescaled"];
    return [
      ...gatherPlace(now, log), `. Its score ${gatherNumber(now.s)} is `, ...why, "; ",
      gatherChip("acc"), " gains ", gatherBold(gatherNumber(now.p)), " × v.",
    ];
  },
  divide(now, log) {
    const error = log.column.error[log.seq_len];
    const how = error === 0 ? "no bit differs from dense attention"
      : `it differs from dense attention by ${gatherError(error)} at most`;
    return [
      log.seq_len === 1 ? "The only token is in: " : `All ${log.seq_len} tokens are in: `,
      gatherChip("acc / l"), ` is the output, and `, gatherBold(how), ".",
    ];
  },
};

function gatherPlural(n, noun) {
  return n === 1 ? noun : `${noun}s`;
}

function gatherPlace(now, log) {
  const offset = log.column.offset[now.token];
  return [
    `Token ${now.token} sits in block `, gatherBold(log.block(now.logical)), `, slot ${offset}`,
  ];
}

function gatherSentence(now, log) {
  return GATHER_SENTENCES[now.kind](now, log).map((part) =>
    typeof part === "string" ? { text: part } : part,
  );
}

// Blocks as parts of a sentence: each name lights its block.

const BLOCKS_NAMED = 6; // more blocks than this are counted, not named

// "block 3", "blocks 3, 4" or "12 blocks"; capital: at the start of a sentence.
function namedBlocks(blocks, capital = false) {
  if (blocks.length > BLOCKS_NAMED) return [bold(many(blocks.length, "block"))];
  const noun = `${capital ? "B" : "b"}lock${blocks.length > 1 ? "s" : ""} `;
  const names = [...blocks].map((block) => ({ text: String(block), bold: true, block }));
  return [plain(noun), ...names.flatMap((name, i) => (i ? [plain(", "), name] : [name]))];
}

// The container of sim/columns.py as typed arrays: columns are not copied, runs are written out.
// After the last column pages/player adds a JSON note: {key, step, request, block}, where to start.

const DTYPES = {
  u8: Uint8Array,
  i32: Int32Array,
  i64: BigInt64Array,
  f32: Float32Array,
  f64: Float64Array,
};

function decode(data) {
  const bytes = data.byteOffset % 8 ? data.slice() : data;
  const text = new TextDecoder();
  if (text.decode(bytes.subarray(0, 8)) !== "PACOLS01") throw new Error("not a log");
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const start = 12 + view.getUint32(8, true);
  const header = JSON.parse(text.decode(bytes.subarray(12, start)));
  const columns = {};
  let end = start;
  for (const [name, dtype, length, offset, numHeads] of header.columns) {
    const { column, size } = readColumn(bytes, start + offset, dtype, length, numHeads);
    columns[name] = column;
    end = Math.max(end, start + offset + Math.ceil(size / 8) * 8);
  }
  const note = end < bytes.length ? JSON.parse(text.decode(bytes.subarray(end))) : {};
  return { header, columns, note };
}

// A column, and how many bytes it was stored in.
function readColumn(bytes, at, dtype, length, numHeads) {
  if (dtype === "runs") {
    const runs = new DeltaRuns(bytes.subarray(at));
    return { column: runs.read(numHeads, length), size: runs.at };
  }
  const column = new DTYPES[dtype](bytes.buffer, bytes.byteOffset + at, length);
  return { column, size: column.byteLength };
}

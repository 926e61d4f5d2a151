// The container of sim/columns.py as typed arrays: columns are not copied, runs are written out, those
// of the payload, by far the longest, as far as subarray(start, end) asks for them.
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
  for (const [name, dtype, length, offset, ...runs] of header.columns) {
    const at = start + offset;
    if (dtype === "runs") columns[name] = readRuns(bytes.subarray(at), name, length, runs[0]);
    else columns[name] = new DTYPES[dtype](bytes.buffer, bytes.byteOffset + at, length);
    end = Math.max(end, at + Math.ceil((runs[1] ?? columns[name].byteLength) / 8) * 8);
  }
  const note = end < bytes.length ? JSON.parse(text.decode(bytes.subarray(end))) : {};
  return { header, columns, note };
}

function readRuns(bytes, name, length, numHeads) {
  const runs = new DeltaRuns(bytes, numHeads, length);
  return name === "payload" ? runs : runs.subarray(0, length);
}

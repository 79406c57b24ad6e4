// The page's data: facts at once, stacks and values when they are unpacked.
const facts = JSON.parse($("facts").textContent);
const BIG = facts.big;
const exact = (text) => (BIG ? BigInt(text) : Number(text));
const ZERO = BIG ? 0n : 0;
const ExactArray = BIG ? BigInt64Array : Float64Array;
const length = facts.length, unit = facts.unit, left = facts.left;
const steps = facts.steps.map(([name, total, objects, restart, taken, release]) =>
  ({ name, total: exact(total), objects: objects === null ? null : exact(objects), restart, taken, release: release === 1 }));
const judgedStep = (i) => steps[left + i];
const rest = facts.rest.map(exact);
const others = { count: facts.others[0], values: facts.others[1].map(exact), grew: exact(facts.others[2]),
  shrank: exact(facts.others[3]), objects: [exact(facts.others[4]), exact(facts.others[5])] };
const bands = facts.bands.map(([kind, name, note, values]) => ({ kind, name, note, values: values.map(Number) }));

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  number() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, scale = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  }
  difference() {
    const n = this.number();
    return n % 2 ? -(n + 1) / 2 : n / 2;
  }
  bigNumber() {
    let value = 0n, shift = 0n, byte;
    do {
      byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte > 127);
    return value;
  }
  bigDifference() {
    const n = this.bigNumber();
    return n & 1n ? -((n + 1n) >> 1n) : n >> 1n;
  }
  numbers(count, Type = Int32Array) {
    const out = new Type(count);
    for (let i = 0; i < count; ++i) out[i] = this.number();
    return out;
  }
  block() {
    const size = this.number();
    this.at += size;
    return new Reader(this.bytes.subarray(this.at - size, this.at));
  }
  text() {
    return new TextDecoder().decode(this.block().bytes);
  }
  lines() {
    return this.text().split("\n");
  }
}

async function unpacked(id) {
  const text = $(id).textContent;
  let packed;
  if (Uint8Array.fromBase64) packed = Uint8Array.fromBase64(text);
  else {
    const binary = atob(text);
    packed = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i) packed[i] = binary.charCodeAt(i);
  }
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Reader(new Uint8Array(await new Response(stream).arrayBuffer()));
}

const ENTRY = 4, LIBRARY = 8;
const model = { rows: 0 };

// Texts, frames, and stacks as a tree of frames: node 0 is the root, parents come before children.
async function readStacks() {
  const data = await unpacked("stacks-data");
  data.number();
  model.texts = data.lines();
  const frames = data.number();
  model.name = data.numbers(frames);
  model.full = data.numbers(frames).map((id, f) => (id === 0 ? model.name[f] : id - 1));
  model.file = data.numbers(frames);
  model.module = data.numbers(frames);
  model.line = data.numbers(frames);
  model.flags = data.numbers(frames, Uint8Array);
  await breathe();
  const rows = data.number(), nodes = data.number();
  const shared = data.numbers(rows), added = data.numbers(rows);
  model.parent = new Int32Array(nodes + 1);
  model.frame = new Int32Array(nodes + 1).fill(-1);
  model.node = new Int32Array(rows);
  const path = [0];
  let next = 0;
  for (let row = 0; row < rows; ++row) {
    let depth = shared[row];
    for (let i = added[row]; i > 0; --i) {
      model.parent[++next] = path[depth];
      model.frame[next] = data.number();
      path[++depth] = next;
    }
    model.node[row] = path[depth];
    if (row % 2048 === 0) await breathe();
  }
  model.rows = rows;
}

// Values of rows as multiples of what divides them all: divisors, first values, steps.
async function readSeries(data, lengths, out) {
  const rows = lengths.length;
  const divisors = new ExactArray(rows);
  for (let row = 0; row < rows; ++row) divisors[row] = BIG ? data.bigNumber() : data.number();
  const firsts = new ExactArray(rows);
  for (let row = 0; row < rows; ++row) firsts[row] = BIG ? data.bigDifference() : data.difference();
  for (let row = 0, at = 0; row < rows; ++row) {
    let multiple = firsts[row];
    out[at++] = multiple * divisors[row];
    for (let i = 1; i < lengths[row]; ++i) {
      // Differences are modulo 2^64.
      multiple = BIG ? BigInt.asIntN(64, multiple + data.bigDifference()) : multiple + data.difference();
      out[at++] = multiple * divisors[row];
    }
    if (row % 1024 === 0) await breathe();
  }
  return out;
}

async function readValues() {
  const data = await unpacked("values-data");
  const rows = model.rows;
  const ranked = data.numbers(data.number());
  model.values = await readSeries(data.block(), new Int32Array(rows).fill(length), new ExactArray(rows * length));
  const objects = data.block();
  if (facts.objects) {
    const lengths = objects.numbers(rows).map((whole) => (whole ? length : 2));
    model.objectsAt = new Int32Array(rows + 1);
    for (let row = 0; row < rows; ++row) model.objectsAt[row + 1] = model.objectsAt[row] + lengths[row];
    model.objects = await readSeries(objects, lengths, new ExactArray(model.objectsAt[rows]));
  }
  const errors = data.block();
  if (facts.errors) model.errors = errors.numbers(rows, Float64Array).map((n) => (n === 0 ? NaN : n - 1));
  const verdicts = data.block();
  model.words = [];
  if (facts.judged) {
    model.words = ["", ...verdicts.lines()];
    model.reasons = ["", ...verdicts.lines()];
    model.word = verdicts.numbers(rows, Uint8Array);
    model.reason = verdicts.numbers(rows);
  }
  model.tier = data.numbers(rows, Uint8Array);
  const known = data.block();
  if (!facts.known) model.knownAt = known.numbers(rows * length, Uint8Array);
  await breathe();
  orderRows(ranked);
}

// The report's own order for the first rows, then size of change, then names.
function orderRows(ranked) {
  model.rank = new Int32Array(model.rows).fill(-1);
  ranked.forEach((row, rank) => (model.rank[row] = rank));
  const size = new Float64Array(model.rows);
  const left = [];
  for (let row = 0; row < model.rows; ++row) {
    if (model.rank[row] >= 0) continue;
    size[row] = Number(magnitude(valueAt(row, length - 1) - valueAt(row, 0)));
    left.push(row);
  }
  left.sort((a, b) => size[b] - size[a] || a - b);
  left.forEach((row, i) => (model.rank[row] = ranked.length + i));
  model.byRank = new Uint32Array(model.rows);
  model.rank.forEach((rank, row) => (model.byRank[rank] = row));
}

const valueAt = (row, i) => model.values[row * length + i];
const isKnown = (row, i) => !model.knownAt || model.knownAt[row * length + i] !== 0;
// Counts of objects, null where they were not kept.
function objectsAt(row, i) {
  if (!model.objects) return null;
  const at = model.objectsAt[row], count = model.objectsAt[row + 1] - at;
  if (count === length) return model.objects[at + i];
  return i === 0 ? model.objects[at] : i === length - 1 ? model.objects[at + 1] : null;
}

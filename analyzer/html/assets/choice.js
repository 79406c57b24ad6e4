// What the reader has chosen, which rows that leaves, and the address that says so.
const choice = { from: 0, to: length - 1, q: "", filter: "", sort: "growth", down: true, open: -1, zoom: 0, skip: 0,
  width: "change" };
const CHANGES = ["new", "gone", "grew", "shrank", "same"];
const WIDTHS = { change: "growth plus shrinkage", union: "the larger side", before: "value before", after: "value after",
  growth: "growth alone" };

const growthOf = (row) => valueAt(row, choice.to) - valueAt(row, choice.from);
function changeOf(row) {
  const a = valueAt(row, choice.from), b = valueAt(row, choice.to);
  return a == 0 && b != 0 ? "new" : a != 0 && b == 0 ? "gone" : b > a ? "grew" : b < a ? "shrank" : "same";
}
function objectsGrowth(row) {
  const a = objectsAt(row, choice.from), b = objectsAt(row, choice.to);
  return a === null || b === null ? null : b - a;
}
const isWhole = () => choice.from === 0 && choice.to === length - 1;
const verdictOf = (row) => (facts.judged ? model.words[model.word[row]] : changeOf(row));

// Which texts, and which rows, hold every word of the search. Null: no search.
let searched = null;
function search() {
  const words = choice.q.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return (searched = null);
  if (searched && searched.q === choice.q) return searched;
  model.lower ||= model.texts.map((text) => text.toLowerCase());
  const texts = new Uint8Array(model.texts.length).fill(1);
  let rows = null;
  for (const word of words) {
    const text = new Uint8Array(model.texts.length);
    for (let i = 0; i < text.length; ++i) text[i] = model.lower[i].includes(word) ? 1 : 0;
    for (let i = 0; i < text.length; ++i) texts[i] &= text[i];
    const frame = model.name.map((name, f) =>
      text[name] | text[model.full[f]] | text[model.file[f]] | text[model.module[f]]);
    const node = new Uint8Array(model.parent.length);
    for (let i = 1; i < node.length; ++i) node[i] = node[model.parent[i]] | frame[model.frame[i]];
    const hit = new Uint8Array(model.rows);
    for (let row = 0; row < hit.length; ++row) hit[row] = node[model.node[row]] & (rows ? rows[row] : 1);
    rows = hit;
  }
  return (searched = { q: choice.q, texts, rows });
}

// Rows that are left, in order. All rows are put in order once for each choice of column and pair.
const view = { rows: new Uint32Array(0) };
let ordered = { key: "" };
function chooseRows() {
  const found = search()?.rows, { filter } = choice, out = new Uint32Array(model.rows);
  const word = facts.judged ? model.words.indexOf(filter) : -1, byChange = CHANGES.includes(filter);
  let count = 0;
  for (const row of allInOrder()) {
    if (found && !found[row]) continue;
    if (filter && (byChange ? changeOf(row) !== filter : model.word?.[row] !== word)) continue;
    out[count++] = row;
  }
  view.rows = out.subarray(0, count);
}

function allInOrder() {
  const { sort, down, from, to } = choice, key = [sort, down, from, to].join();
  if (ordered.key === key) return ordered.rows;
  const rows = sortedBy(sortKeys(), down);
  const exactly = { growth: (row) => magnitude(growthOf(row)), before: (row) => valueAt(row, from), after: (row) => valueAt(row, to) }[sort];
  if (BIG && exactly) {
    // Beyond 2^53 ordinary numbers tie where the values do not.
    rows.sort((a, b) => {
      const x = exactly(a), y = exactly(b);
      return x === y ? model.rank[a] - model.rank[b] : x < y === down ? 1 : -1;
    });
  }
  ordered = { key, rows };
  return rows;
}

// Rows by key, ties by rank: sixteen bits at a time, from the lowest, each pass keeping the order before.
function sortedBy(key, down) {
  const count = model.rows, bits = new Uint16Array(key.buffer);
  let rows = model.byRank.slice(), other = new Uint32Array(count);
  // The order of numbers as the order of their bits.
  const words = new Uint32Array(key.buffer);
  for (let i = 0; i < count; ++i) {
    const flip = (words[2 * i + 1] >>> 31 ? 0xffffffff : 0) ^ (down ? 0xffffffff : 0);
    words[2 * i] ^= flip;
    words[2 * i + 1] ^= flip ^ 0x80000000;
  }
  const at = new Uint32Array(65537);
  for (let digit = 0; digit < 4; ++digit) {
    at.fill(0);
    for (let i = 0; i < count; ++i) ++at[bits[4 * i + digit] + 1];
    if (at[bits[digit] + 1] === count) continue;
    for (let b = 0; b < 65536; ++b) at[b + 1] += at[b];
    for (let i = 0; i < count; ++i) other[at[bits[4 * rows[i] + digit]]++] = rows[i];
    [rows, other] = [other, rows];
  }
  return rows;
}

function sortKeys() {
  const key = new Float64Array(model.rows);
  const of = COLUMNS.find(({ sort }) => sort === choice.sort).order;
  // Zero has one sign here.
  for (let row = 0; row < key.length; ++row) key[row] = of(row) + 0;
  return key;
}
const WORD_ORDER = [...facts.verdicts, "", "new", "grew", "shrank", "gone", "same"];

// Sums of what is not shown: every byte is in exactly one row.
function sums(shown) {
  const at = (i) => {
    let inRows = ZERO;
    for (let k = 0; k < shown; ++k) inRows += valueAt(view.rows[k], i);
    return { shown: inRows, rest: rest[i], total: judgedStep(i).total, others: judgedStep(i).total - rest[i] - inRows };
  };
  return { before: at(choice.from), after: at(choice.to), count: model.rows - shown + others.count };
}

// #from=3&to=12&q=…&filter=…&sort=…&up=1&stack=…&frame=…&width=…&theme=…
function readAddress() {
  const query = new URLSearchParams(location.hash.slice(1));
  const number = (name) => {
    const i = parseInt(query.get(name), 10) - 1 - left;
    return i >= 0 && i < length ? i : null;
  };
  const a = number("from") ?? 0, b = number("to") ?? length - 1;
  if (a < b) Object.assign(choice, { from: a, to: b });
  else Object.assign(choice, { from: 0, to: length - 1 });
  choice.q = query.get("q") || "";
  choice.filter = query.get("filter") || query.get("verdict") || "";
  choice.sort = COLUMNS.some(({ sort }) => sort && sort === query.get("sort")) ? query.get("sort") : "growth";
  choice.down = !query.has("up");
  choice.width = query.get("width") in WIDTHS ? query.get("width") : "change";
  if (["light", "dark"].includes(query.get("theme"))) document.documentElement.dataset.theme = query.get("theme");
  return query;
}

let written = "";
function writeAddress() {
  const query = new URLSearchParams();
  if (!isWhole()) {
    query.set("from", choice.from + 1 + left);
    query.set("to", choice.to + 1 + left);
  }
  if (choice.q) query.set("q", choice.q);
  if (choice.filter) query.set("filter", choice.filter);
  if (choice.sort !== "growth") query.set("sort", choice.sort);
  if (!choice.down) query.set("up", "1");
  if (choice.width !== "change") query.set("width", choice.width);
  if (choice.open >= 0) query.set("stack", stackId(choice.open));
  if (choice.zoom > 0) query.set("frame", flameId(choice.zoom));
  if (document.documentElement.dataset.theme) query.set("theme", document.documentElement.dataset.theme);
  written = "#" + query;
  if (written === (location.hash || "#")) return;
  try {
    history.replaceState(null, "", written);
  } catch {
    location.hash = written;
  }
}

// The tree of the flame graph: functions below their callers, of all rows; node 0 is everything. What a library does
// inside is in its caller's box, as in the table; stacks of libraries alone are shown whole.
const tree = { size: 0 };
const OTHERS = -1, REST = -2;

async function growTree() {
  const nodes = model.parent.length;
  tree.parent = new Int32Array(2 * nodes + 2);
  tree.text = new Int32Array(2 * nodes + 2);
  // Where a stack that ends at a node of the model ends here: with its libraries folded, and as it is.
  const folded = new Int32Array(nodes), whole = new Int32Array(nodes), own = new Uint8Array(nodes);
  // Children are found by caller and name: open addressing, never more than half full.
  let slots = 16;
  while (slots < nodes * 4) slots *= 2;
  const table = new Int32Array(slots), mask = slots - 1;
  let size = 1;
  const child = (above, text) => {
    let slot = (Math.imul(above, 0x9e3779b1) ^ Math.imul(text, 0x85ebca6b)) & mask;
    while (table[slot] && !(tree.parent[table[slot]] === above && tree.text[table[slot]] === text)) slot = (slot + 1) & mask;
    if (!table[slot]) {
      table[slot] = size;
      tree.parent[size] = above;
      tree.text[size++] = text;
    }
    return table[slot];
  };
  for (let node = 1; node < nodes; ++node) {
    const above = model.parent[node], frame = model.frame[node], library = (model.flags[frame] & LIBRARY) !== 0;
    own[node] = own[above] | (library ? 0 : 1);
    folded[node] = library ? folded[above] : child(folded[above], model.name[frame]);
    if (!own[node]) whole[node] = child(whole[above], model.name[frame]);
    if (node % 8192 === 0) await breathe();
  }
  tree.leaf = model.node.map((node) => own[node] ? folded[node] : whole[node]);
  if (others.count > 0) tree.text[size++] = OTHERS;
  if (rest.some((v) => v != 0)) tree.text[size++] = REST;
  const begin = new Int32Array(size + 1);
  for (let node = 1; node < size; ++node) ++begin[tree.parent[node] + 1];
  for (let node = 0; node < size; ++node) begin[node + 1] += begin[node];
  const at = begin.slice(), children = new Int32Array(size);
  for (let node = 1; node < size; ++node) children[at[tree.parent[node]]++] = node;
  Object.assign(tree, { size, begin, children });
  for (const name of ["before", "after", "grew", "shrank"]) tree[name] = new ExactArray(size);
  tree.weight = new Float64Array(size);
}

const WEIGHTS = {
  change: (a, b) => Math.abs(Number(b - a)), before: (a) => Math.abs(Number(a)), after: (a, b) => Math.abs(Number(b)),
  union: (a, b) => Math.max(Math.abs(Number(a)), Math.abs(Number(b))), growth: (a, b) => Math.max(0, Number(b - a)) };

// Figures of every node for the pair: parents come before children, so one backward pass adds them up.
function weighTree() {
  const { before, after, grew, shrank, weight, leaf, parent, size } = tree, { from, to } = choice;
  for (const column of [before, after, grew, shrank]) column.fill(ZERO);
  weight.fill(0);
  const of = WEIGHTS[choice.width];
  const add = (node, a, b) => {
    before[node] += a;
    after[node] += b;
    if (b > a) grew[node] += b - a;
    else shrank[node] += b - a;
    weight[node] += of(a, b);
  };
  for (let row = 0; row < model.rows; ++row) add(leaf[row], valueAt(row, from), valueAt(row, to));
  for (let node = size - 1; node > 0 && tree.text[node] < 0; --node) {
    const values = tree.text[node] === OTHERS ? others.values : rest;
    add(node, values[from], values[to]);
    // What grew and what shrank among the rows that are not kept is known for the whole series alone.
    if (tree.text[node] === OTHERS && isWhole()) {
      grew[node] = others.grew;
      shrank[node] = others.shrank;
      if (choice.width === "change") weight[node] = Number(others.grew - others.shrank);
    }
  }
  for (let node = size - 1; node > 0; --node) {
    const above = parent[node];
    before[above] += before[node];
    after[above] += after[node];
    grew[above] += grew[node];
    shrank[above] += shrank[node];
    weight[above] += weight[node];
  }
}

const flameName = (node) => node === 0 ? (choice.width === "change" ? "all change" : "all") : tree.text[node] === OTHERS ? othersText(others.count)
  : tree.text[node] === REST ? (facts.filtered ? "[unattributed] and [filtered out]" : "[unattributed]") : model.texts[tree.text[node]];
function flamePath(node) {
  const out = [];
  for (; node > 0; node = tree.parent[node]) out.push(node);
  return out.reverse();
}
const flameOf = (row) => tree.leaf[row];
function flameId(node) {
  let high = 0, low = 0;
  for (const at of flamePath(node)) {
    const text = flameName(at);
    high = mixedHash(high, textHash(text, 1));
    low = mixedHash(low, textHash(text, 2));
  }
  return idHash(high, low);
}
function flameOfId(id) {
  if (!/^[0-9a-f]{16}$/.test(id)) return 0;
  const high = new Int32Array(tree.size), low = new Int32Array(tree.size);
  for (let node = 1; node < tree.size; ++node) {
    const text = flameName(node), above = tree.parent[node];
    high[node] = mixedHash(high[above], textHash(text, 1));
    low[node] = mixedHash(low[above], textHash(text, 2));
    if (idHash(high[node], low[node]) === id) return node;
  }
  return 0;
}

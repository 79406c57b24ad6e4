// One row: its frames, its name in the table, its sparkline, its place in addresses.
function framesOf(row) {
  const out = [];
  for (let node = model.node[row]; node > 0; node = model.parent[node]) out.push(model.frame[node]);
  return out;
}
const baseName = (path) => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
const frameName = (frame) => model.texts[model.name[frame]];
function siteOf(frame) {
  const file = model.texts[model.file[frame]];
  return file ? baseName(file) + (model.line[frame] > 0 ? ":" + model.line[frame] : "") : "";
}

// Longer names lose their middle, never what stands last.
const lastComponent = (text) => text.slice(Math.max(text.lastIndexOf(":"), text.lastIndexOf("."), text.lastIndexOf("/")) + 1);
function cutName(text, most) {
  if (text.length <= most) return text;
  const letters = Array.from(text), last = Array.from(lastComponent(text));
  if (letters.length <= most) return text;
  if (last.length > 0 && last.length < most - 4) return letters.slice(0, most - last.length - 1).join("") + "\u2026" + last.join("");
  return letters.slice(0, (most - 1) >> 1).join("") + "\u2026" + letters.slice(-(most >> 1)).join("");
}

// Entry points dropped from the root end, runs of the standard library folded into the call that was
// written, recursion into one frame with its mark.
function foldedNames(frames) {
  let end = frames.length;
  while (end > 1 && model.flags[frames[end - 1]] & ENTRY) --end;
  const out = [];
  let inLibrary = false;
  for (let i = 0; i < end && out.length < 64; ++i) {
    const frame = frames[i], last = out[out.length - 1], library = (model.flags[frame] & LIBRARY) !== 0;
    if (last && model.full[last.frame] === model.full[frame]) {
      last.again = true;
      continue;
    }
    if (library && inLibrary) out[out.length - 1] = { frame, again: false };
    else out.push({ frame, again: false });
    inLibrary = library;
  }
  return out.map(({ frame, again }, i) => cutName(frameName(frame), i === 0 ? 44 : 30) + (again ? " \u21bb" : ""));
}

function nameCell(row) {
  const frames = framesOf(row), [first, ...callers] = foldedNames(frames), site = siteOf(frames[0]);
  return el("td", { title: frames.slice(0, 40).map((f) => model.texts[model.full[f]]).join("\n") }, el("span", { class: "leaf" },
    el("b", {}, first), site && el("span", { class: "site" }, site)), el("span", { class: "via" }, ...callers.flatMap((name, i) => [i === 0 ? "\u2039 " : " \u2039 ", el("bdi", {}, name)])));
}

function sparkline(row) {
  const values = [];
  let least = 0, most = 0;
  for (let i = 0; i < length; ++i) {
    const v = isKnown(row, i) ? Number(valueAt(row, i)) : NaN;
    values.push(v);
    if (v < least) least = v;
    if (v > most) most = v;
  }
  const x = (i) => 2 + (72 * i) / Math.max(1, length - 1), y = (v) => 21 - (18 * (v - least)) / (most - least || 1);
  const points = [];
  const every = Math.max(1, Math.floor(length / 160));
  for (let i = 0; i < length; ++i) {
    const chosen = i % every === 0 || i === length - 1 || i === choice.from || i === choice.to;
    if (chosen && !Number.isNaN(values[i])) points.push(x(i).toFixed(1) + "," + y(values[i]).toFixed(1));
  }
  const a = values[choice.from], b = values[choice.to];
  const kind = b > a ? "up" : b < a || most > Math.max(a, b) ? "down" : "";
  const dots = [choice.from, choice.to].filter((i) => !Number.isNaN(values[i]))
    .map((i) => svg("circle", { cx: x(i).toFixed(1), cy: y(values[i]).toFixed(1), r: 2.4 }));
  return svg("svg", { class: "spark " + kind, viewBox: "0 0 76 24", "aria-hidden": "true" },
    svg("path", { d: "M2 21.5H74" }), svg("polyline", { points: points.join(" ") }), ...dots);
}

// Sixteen digits of a stack's own text: the same in every report that holds it.
function idHash(high, low) {
  return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
}
function textHash(text, seed) {
  let hash = seed | 0;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
}
function mixedHash(above, own) {
  const hash = Math.imul(above ^ (above >>> 13), 0x5bd1e995) ^ own;
  return Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
}
const textHashes = new Map();
function textHashPair(id) {
  if (!textHashes.has(id)) textHashes.set(id, [textHash(model.texts[id], 0x811c9dc5), textHash(model.texts[id], 0x1b873593)]);
  return textHashes.get(id);
}
const frameHash = (frame, half) =>
  mixedHash(mixedHash(textHashPair(model.full[frame])[half], textHashPair(model.file[frame])[half]), model.line[frame]);
function stackId(row) {
  let high = 0, low = 0;
  for (const frame of framesOf(row).reverse()) {
    high = mixedHash(high, frameHash(frame, 0));
    low = mixedHash(low, frameHash(frame, 1));
  }
  return idHash(high, low);
}
function rowOfId(id) {
  if (!/^[0-9a-f]{16}$/.test(id)) return -1;
  const own = [0, 1].map((half) => Int32Array.from(model.name, (_, frame) => frameHash(frame, half)));
  const high = new Int32Array(model.parent.length), low = new Int32Array(model.parent.length);
  for (let node = 1; node < high.length; ++node) {
    high[node] = mixedHash(high[model.parent[node]], own[0][model.frame[node]]);
    low[node] = mixedHash(low[model.parent[node]], own[1][model.frame[node]]);
  }
  const wanted = [parseInt(id.slice(0, 8), 16) | 0, parseInt(id.slice(8), 16) | 0];
  return model.node.findIndex((node) => high[node] === wanted[0] && low[node] === wanted[1]);
}

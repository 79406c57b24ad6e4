// The flame graph: all functions of both sides; gone on the left of a box, new on the right.
// Below NARROW pixels boxes are merged; below SLIM nothing is drawn under a box until it is zoomed into.
const NARROW = 4, SLIM = 9, DEEPEST = 64;
let boxes = [], activeBox = 0;

// Children by weight, then by name; those that weigh nothing have no box.
function heavyChildren(node) {
  const { begin, children, weight, text } = tree, out = [];
  for (let i = begin[node]; i < begin[node + 1]; ++i) if (weight[children[i]] > 0) out.push(children[i]);
  return out.sort((a, b) => weight[b] - weight[a] || text[a] - text[b]);
}

// Boxes below `zoom`, in preorder: { node, x, w, depth, count } with x and w as parts of the width. `count`
// children from `skip` on that are too narrow are one box, so that none is lost.
function layout(zoom, skip, pixels) {
  const out = [], todo = [], narrow = NARROW / pixels;
  const below = (node, x, w, depth, from, whole, parentBox) => {
    if (depth >= DEEPEST || (w * pixels < SLIM && depth > 1)) return;
    const kids = heavyChildren(node), pending = [];
    for (let i = from, at = x; i < kids.length; ++i) {
      const part = (tree.weight[kids[i]] / whole) * w;
      if (part < narrow) {
        let sum = 0;
        for (let k = i; k < kids.length; ++k) sum += tree.weight[kids[k]];
        const merged = { node, x: at, w: (sum / whole) * w, depth, count: kids.length - i, skip: i, parentBox, kids: kids.slice(i) };
        if (kids.length - i === 1) Object.assign(merged, { node: kids[i], count: 0, skip: 0 });
        pending.push(merged);
        break;
      }
      pending.push({ node: kids[i], x: at, w: part, depth, count: 0, skip: 0, parentBox });
      at += part;
    }
    todo.push(...pending.reverse());
  };
  let whole = tree.weight[zoom];
  if (skip > 0) whole = heavyChildren(zoom).slice(skip).reduce((sum, kid) => sum + tree.weight[kid], 0);
  out.push({ node: zoom, x: 0, w: 1, depth: 0, count: 0, skip, parentBox: -1 });
  if (!(whole > 0)) return out;
  below(zoom, 0, 1, 1, skip, whole, 0);
  while (todo.length > 0) {
    const box = todo.pop();
    out.push(box);
    if (box.count === 0) below(box.node, box.x, box.w, box.depth + 1, 0, tree.weight[box.node], out.length - 1);
  }
  return out;
}

function boxFigures(box) {
  const of = (nodes) => {
    const sum = { before: ZERO, after: ZERO, grew: ZERO, shrank: ZERO, weight: 0 };
    for (const node of nodes) for (const key in sum) sum[key] += tree[key][node];
    return sum;
  };
  if (box.count > 0) return of(box.kids);
  if (box.skip > 0) return of(heavyChildren(box.node).slice(box.skip));
  return of([box.node]);
}

function boxText(box, sum) {
  const name = box.count > 0 ? `${countText(box.count)} smaller below ${flameName(box.node)}` : flameName(box.node);
  const share = choice.width === "change" ? percentText(sum.grew - sum.shrank, tree.grew[0] - tree.shrank[0]) + " of all change"
    : percentText(sum.weight, tree.weight[0]) + " of the width";
  return `${name}: net ${valueText(sum.after - sum.before, unit, true)}; grew ${valueText(sum.grew, unit)}, shrank ${valueText(magnitude(sum.shrank), unit)}; ` +
    `${valueText(sum.before, unit)} \u2192 ${valueText(sum.after, unit)}; ${share}`;
}

function drawFlame() {
  if (!tree.size) return;
  weighTree();
  if (choice.zoom >= tree.size || (choice.zoom > 0 && tree.weight[choice.zoom] === 0)) Object.assign(choice, { zoom: 0, skip: 0 });
  const place = $("flame-boxes"), pixels = Math.max(280, place.clientWidth);
  boxes = layout(choice.zoom, choice.skip, pixels);
  const deepest = boxes.reduce((most, box) => Math.max(most, box.depth), 0), tall = deepest < 9;
  const height = tall ? 46 : 24, hits = search()?.texts;
  const most = Math.max(1e-9, ...boxes.map((box) => (box.depth > 0 || boxes.length === 1 ? Math.abs(Number(tree.after[box.node] - tree.before[box.node])) : 0)));
  activeBox = 0;
  place.style.setProperty("height", (deepest + 1) * height + "px");
  place.classList.toggle("tall", tall);
  place.classList.toggle("searching", Boolean(hits));
  place.replaceChildren(...boxes.map((box, i) => drawBox(box, i, pixels, height, most, hits)));
  drawCrumbs();
  const nothing = tree.weight[0] === 0;
  $("flame-line").textContent = nothing ? "Nothing to draw: no stack has a width of this kind." : boxText(boxes[0], boxFigures(boxes[0]));
}

function drawBox(box, i, pixels, height, most, hits) {
  const sum = box.count === 0 && box.skip === 0 ? null : boxFigures(box), node = box.node;
  const before = sum ? sum.before : tree.before[node], after = sum ? sum.after : tree.after[node];
  const grew = sum ? sum.grew : tree.grew[node], shrank = sum ? sum.shrank : tree.shrank[node];
  const whole = (sum ? sum.weight : tree.weight[node]) || 1, net = after - before, width = box.w * pixels, mode = choice.width;
  const gone = mode === "after" || mode === "growth" ? 0 : Math.min(1, -Number(shrank) / whole);
  const fresh = mode === "before" ? 0 : Math.min(1 - gone, Number(grew) / whole);
  const name = box.count > 0 ? `+${countText(box.count)} frames` : flameName(node), text = valueText(net, unit, true);
  const out = document.createElement("div");
  let kind = "box";
  if (fresh > 0.999) kind += " full";
  else {
    if (gone > 0) out.append(el("span", { class: "gone", style: { width: percent(gone) } }));
    if (fresh > 0) out.append(el("span", { class: "fresh", style: { left: percent(gone), width: percent(fresh) } }));
  }
  if (hits && box.count === 0 && tree.text[node] >= 0 && hits[tree.text[node]]) kind += " hit";
  if (width < SLIM || box.depth + 1 >= DEEPEST) kind += box.count === 0 && tree.begin[node + 1] > tree.begin[node] ? " deeper" : "";
  if (width > 34)
    out.append(el("span", { class: gone * width > 6 ? "label plate" : "label" }, el("b", {}, name),
      width > 90 && el("i", {}, (net > 0 ? "\u25b2\u2009" : net < 0 ? "\u25bc\u2009" : "") + text)));
  out.className = kind;
  out.setAttribute("role", "button");
  out.setAttribute("aria-label", name + ": " + text);
  out.tabIndex = i === activeBox ? 0 : -1;
  out.dataset.box = i;
  const style = out.style;
  style.left = percent(box.x);
  style.width = percent(box.w);
  style.top = box.depth * height + "px";
  style.setProperty("--strength", Math.round(100 * (0.18 + 0.62 * Math.sqrt(Math.min(1, Math.abs(Number(net)) / most)))) + "%");
  return out;
}
const percent = (part) => (part * 100).toFixed(4) + "%";

function drawCrumbs() {
  const path = [0, ...flamePath(choice.zoom)], items = [];
  path.forEach((node, i) => {
    const last = i + 1 === path.length && choice.skip === 0;
    const text = flameName(node);
    items.push(last ? el("b", {}, text) : el("button", { type: "button", onclick: () => zoomTo(node, 0) }, text));
    if (!last) items.push(" \u203a ");
  });
  if (choice.skip > 0) items.push(el("b", {}, "smaller ones"));
  $("crumbs").hidden = choice.zoom === 0 && choice.skip === 0;
  $("crumbs").replaceChildren(...items);
}

function zoomTo(node, skip) {
  Object.assign(choice, { zoom: node, skip });
  drawFlame();
  writeAddress();
}
const zoomOut = () => (choice.skip > 0 ? zoomTo(choice.zoom, 0) : zoomTo(tree.parent[choice.zoom], 0));

function enterBox(i) {
  const box = boxes[i];
  if (i === 0) {
    if (choice.zoom > 0 || choice.skip > 0) zoomOut();
  } else zoomTo(box.node, box.count > 0 ? box.skip : 0);
  $("flame-boxes").firstChild?.focus({ preventScroll: true });
}

function moveBox(i, key) {
  const box = boxes[i];
  const find = (test) => boxes.findIndex(test);
  if (key === "ArrowUp") return box.parentBox;
  if (key === "ArrowDown") return find((b) => b.parentBox === i);
  const same = boxes.map((b, k) => [b, k]).filter(([b]) => b.depth === box.depth).sort(([a], [b]) => a.x - b.x).map(([, k]) => k);
  const at = same.indexOf(i) + (key === "ArrowRight" ? 1 : -1);
  return at >= 0 && at < same.length ? same[at] : -1;
}

function makeFlame() {
  const place = $("flame-boxes");
  const boxAt = (event) => event.target.closest("[data-box]");
  place.addEventListener("click", (event) => boxAt(event) && enterBox(+boxAt(event).dataset.box));
  const tell = (event) => {
    const at = boxAt(event);
    if (at) $("flame-line").textContent = boxText(boxes[+at.dataset.box], boxFigures(boxes[+at.dataset.box]));
  };
  place.addEventListener("pointerover", tell);
  place.addEventListener("focusin", tell);
  place.addEventListener("keydown", (event) => {
    const at = boxAt(event);
    if (!at) return;
    const i = +at.dataset.box;
    if (event.key === "Enter" || event.key === " ") enterBox(i);
    else if (event.key === "s") setSearch(boxes[i].count === 0 && boxes[i].node > 0 ? flameName(boxes[i].node) : "");
    else if (event.key.startsWith("Arrow")) {
      const to = moveBox(i, event.key);
      if (to >= 0) {
        at.tabIndex = -1;
        place.children[to].tabIndex = 0;
        place.children[to].focus();
      }
    } else return;
    event.preventDefault();
  });
  $("flame-tools").append(el("label", {}, "Width: ", el("select", { id: "flame-width", onchange: (event) => {
    choice.width = event.target.value;
    drawFlame();
    writeAddress();
  } }, ...Object.entries(WIDTHS).map(([value, text]) => el("option", { value, selected: value === choice.width }, text)))),
    el("button", { id: "flame-out", type: "button", onclick: () => zoomTo(0, 0) }, "Whole graph"),
    el("button", { type: "button", onclick: () => setSearch(choice.zoom > 0 ? flameName(choice.zoom) : "") }, "Search for this box"));
}

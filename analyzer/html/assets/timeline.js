// Totals over the snapshots, with two points to choose.
function niceAxis(most) {
  const units = unit === "bytes" ? BYTE_UNITS.map((name, i) => [name, 1024 ** i])
    : unit === "nanoseconds" ? TIME_UNITS.map((name, i) => [name, 1000 ** i]) : [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9]];
  let [name, scale] = units[0];
  for (const [n, s] of units) if (most >= s) [name, scale] = [n, s];
  const top = Math.max(most / scale, 1e-9), rough = top / 4, power = 10 ** Math.floor(Math.log10(rough));
  let step = [1, 2, 2.5, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  if (scale === 1) step = Math.max(1, Math.ceil(step));
  return { name, scale, step, ticks: Math.max(1, Math.ceil(top / step - 1e-9)) };
}

const hatch = (id, paper, line) => svg("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse",
  patternTransform: "rotate(45)" }, svg("rect", { width: 6, height: 6, class: paper }), svg("path", { d: "M0 0V6", class: line }));

const BAND_CLASSES = ["band-strong", "band-soft", "band-pale"];
function bandClasses() {
  let strength = 0;
  return bands.map((band) => band).reverse().map((band) =>
    band.kind.startsWith("role") ? `band-${band.kind}` : band.kind === "grown" ? BAND_CLASSES[Math.min(strength++, 2)] : band.kind === "rest" ? "band-rest" : "band-gone").reverse();
}

const pointText = (i) => {
  const step = steps[i];
  return `snapshot ${i + 1}, ${step.name}, ${valueText(step.total, unit)}${step.taken ? ", " + step.taken : ""}`;
};

let plotGeometry = null;
function drawTimeline() {
  if (!$("plot")) return;
  const width = Math.max(300, $("plot").clientWidth), height = steps.length === 2 ? 190 : width < 600 ? 230 : 290;
  const box = { left: 46, right: width - 16, top: 26, bottom: height - 28 };
  const n = steps.length, totals = steps.map((step) => Number(step.total));
  const limit = facts.limit ? Number(facts.limit) : 0;
  const highest = Math.max(1, ...totals), shownLimit = limit > 0 && limit < highest * 3 ? limit : 0;
  const axis = niceAxis(Math.max(highest, shownLimit)), most = axis.ticks * axis.step * axis.scale;
  const least = Math.min(0, ...totals);
  const x = (i) => box.left + ((box.right - box.left) * i) / Math.max(1, n - 1);
  const y = (v) => box.bottom - ((box.bottom - box.top) * (v - least)) / (most - least);
  plotGeometry = { x, n, width };
  const out = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "totals at each snapshot" },
    svg("defs", {}, hatch("hatch", "hatch-paper", "hatch-line")));
  for (let t = 0; t <= axis.ticks; ++t) {
    const at = y(t * axis.step * axis.scale);
    out.append(svg("path", { d: `M${box.left} ${at}H${box.right}`, class: "grid" }),
      svg("text", { x: box.left - 8, y: at + 4, "text-anchor": "end" }, String(+(t * axis.step).toPrecision(6))));
  }
  out.append(svg("text", { x: box.left - 8, y: 12, "text-anchor": "end" }, axis.name));
  const notes = drawBands(out, x, y);
  if (shownLimit > 0)
    out.append(svg("path", { d: `M${box.left} ${y(limit)}H${box.right}`, class: "limit" }),
      svg("text", { x: box.right, y: y(limit) - 5, "text-anchor": "end" }, "limit " + valueText(exact(facts.limit), unit)));
  const gaps = new Set(facts.missing.map(([before]) => before));
  out.append(svg("path", { d: totals.map((v, i) => (i === 0 || gaps.has(i) ? "M" : "L") + x(i).toFixed(1) + " " + y(v).toFixed(1)).join(""),
    class: "total" }));
  drawRestarts(out, x, box);
  drawMissing(out, x, box);
  drawNotes(out, notes, x, y, box);
  drawPoints(out, x, y, box, totals);
  out.addEventListener("pointerdown", startDrag);
  $("plot").replaceChildren(out);
  drawKey();
}

function drawBands(out, x, y) {
  const classes = bandClasses();
  const notes = [];
  let low = new Array(length).fill(0);
  bands.forEach((band, b) => {
    const high = low.map((v, i) => v + band.values[i]);
    const line = (values) => values.map((v, i) => x(left + i).toFixed(1) + " " + y(v).toFixed(1));
    const area = svg("path", { d: "M" + line(low).join("L") + "L" + line(high).reverse().join("L") + "Z", class: classes[b] });
    area.append(svg("title", {}, band.note || band.name));
    out.append(area);
    if (band.note) notes.push([band, high]);
    low = high;
  });
  return notes;
}

// Beside its layer, on the side that has room; where neither has, the key's layer tells by its title.
function drawNotes(out, notes, x, y, box) {
  for (const [band, high] of notes) {
    const peak = band.values.indexOf(Math.max(...band.values)), half = band.values[peak] / 2, width = band.note.length * 6.6;
    let begin = peak, end = peak;
    while (begin > 0 && band.values[begin - 1] > half) --begin;
    while (end + 1 < length && band.values[end + 1] > half) ++end;
    const toRight = x(left + end) + 12 + width < box.right, toLeft = x(left + begin) - 14 - width > x(left);
    if (!toRight && !toLeft) continue;
    out.append(svg("text", { x: toRight ? x(left + end) + 12 : x(left + begin) - 14, y: y(high[toRight ? end : begin]) + 4,
      "text-anchor": toRight ? "start" : "end", class: "passing" }, band.note));
  }
}

function drawRestarts(out, x, box) {
  if (left > 0)
    out.append(svg("rect", { x: box.left, y: box.top, width: x(left - 0.5) - box.left, height: box.bottom - box.top, class: "before" }),
      svg("text", { x: box.left + 8, y: box.top + 16 }, "before the restart: not compared"));
  steps.forEach((step, i) => {
    if (!(step.restart || step.release) || i === 0) return;
    const at = x(i - 0.5);
    out.append(svg("path", { d: `M${at} ${box.top - 6}V${box.bottom}`, class: "restart" }),
      svg("text", { x: at, y: box.top - 10, "text-anchor": "middle" }, step.release ? "release" : "restart?",
        svg("title", {}, step.restart || "another build of the program")));
  });
}

// Between its neighbours, where a damaged input belongs.
function drawMissing(out, x, box) {
  const places = new Map();
  for (const [before, why] of facts.missing) places.set(before, [...(places.get(before) || []), why]);
  for (const [before, whys] of places) {
    const at = Math.min(Math.max(x(before - 0.5), box.left), box.right);
    out.append(svg("path", { d: `M${at} ${box.top - 6}V${box.bottom}`, class: "restart" }),
      svg("path", { d: `M${at - 4} ${box.bottom - 12}l8 8m0 -8l-8 8`, class: "missing" }),
      svg("text", { x: at, y: box.top - 10, "text-anchor": "middle" }, whys.length + " missing", svg("title", {}, whys.join("\n"))));
  }
}

function drawPoints(out, x, y, box, totals) {
  const n = steps.length, every = Math.ceil(n / (plotGeometry.width < 600 ? 12 : 24));
  const ends = [left + choice.from, left + choice.to];
  steps.forEach((step, i) => {
    const chosen = ends.includes(i);
    if (!chosen && n <= 60)
      out.append(svg("circle", { cx: x(i), cy: y(totals[i]), r: 3.6, class: "point" }, svg("title", {}, pointText(i))));
    const near = ends.some((e) => e !== i && Math.abs(e - i) < every * 0.8);
    if (chosen || (i % every === 0 && !near))
      out.append(svg("text", { x: x(i), y: box.bottom + 19, "text-anchor": "middle", class: chosen ? "chosen" : "" }, String(i + 1)));
  });
  [["from", choice.from], ["to", choice.to]].forEach(([side, i]) => {
    const at = left + i;
    out.append(svg("g", { class: "handle", role: "slider", tabindex: 0, "aria-label": side === "from" ? "first point" : "second point",
      "aria-valuemin": left + 1, "aria-valuemax": left + length, "aria-valuenow": at + 1, "aria-valuetext": pointText(at),
      "data-side": side, onkeydown: (event) => moveHandle(event, side) },
      svg("title", {}, pointText(at)), svg("path", { d: `M${x(at)} ${box.top}V${box.bottom}` }),
      svg("circle", { cx: x(at), cy: y(totals[at]), r: 7 })));
  });
}

function drawKey() {
  const classes = bandClasses();
  $("plot-key").replaceChildren(...bands.map((band, b) =>
    el("li", {}, el("i", { class: classes[b] }), band.name)).reverse());
}

function moveHandle(event, side) {
  const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -length, End: length }[event.key];
  if (!step) return;
  event.preventDefault();
  choosePoint(side, choice[side] + step);
  document.querySelector(`[data-side=${side}]`).focus();
}

// The other point is never passed: a comparison goes forward in time.
function choosePoint(side, i) {
  i = side === "from" ? Math.min(Math.max(0, i), choice.to - 1) : Math.max(Math.min(length - 1, i), choice.from + 1);
  if (i === choice[side]) return;
  choice[side] = i;
  pairChanged();
}

const nearestStep = (event) => {
  const box = $("plot").firstChild.getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * plotGeometry.width;
  const gap = plotGeometry.x(1) - plotGeometry.x(0);
  return Math.min(length - 1, Math.max(0, Math.round((at - plotGeometry.x(0)) / gap) - left));
};
function startDrag(event) {
  if (length < 3 || !model.rows) return;
  const i = nearestStep(event);
  const side = event.target.closest("[data-side]")?.dataset.side ||
    (Math.abs(i - choice.from) < Math.abs(i - choice.to) ? "from" : "to");
  event.preventDefault();
  choosePoint(side, i);
  const move = (e) => choosePoint(side, nearestStep(e));
  const stop = () => {
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", stop);
    document.querySelector(`[data-side=${side}]`)?.focus();
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", stop);
}

// Key figures follow the two points.
function drawFigures() {
  const a = judgedStep(choice.from), b = judgedStep(choice.to);
  const put = (id, label, big, small, direction) => {
    const [dt, dd, detail] = $(id).children;
    if (label) dt.textContent = label;
    dd.textContent = big;
    dd.className = direction;
    detail.textContent = small;
  };
  const growth = b.total - a.total;
  put("figure-growth", steps.length > 2 ? `growth ${left + choice.from + 1} \u2192 ${left + choice.to + 1}` : null,
    valueText(growth, unit, true), `${valueText(a.total, unit)} \u2192 ${valueText(b.total, unit)}`,
    growth > 0 ? "up" : growth < 0 ? "down" : "");
  if (a.objects !== null && b.objects !== null)
    put("figure-objects", null, countText(b.objects - a.objects, true), `${countText(a.objects)} \u2192 ${countText(b.objects)}`, "");
}

// The growth table: only the rows in sight are in the document.
const ROW = 53, ALL = 60;
let printing = false, active = 0, detailHeight = 0;
const isLong = () => view.rows.length > ALL && !printing;
const shownRows = () => (printing ? Math.min(ALL, view.rows.length) : view.rows.length);

function makeTools() {
  const option = (value, text, selected) => el("option", { value, selected }, text);
  const pick = (side) => el("select", { id: side, "aria-label": side === "from" ? "first snapshot" : "second snapshot",
    onchange: (event) => choosePoint(side, +event.target.value) });
  const filter = el("select", { id: "filter", "aria-label": "filter", onchange: (event) => {
    choice.filter = event.target.value;
    rowsChanged();
  } }, option("", "all rows"),
    facts.judged && el("optgroup", { label: "verdict" }, ...model.words.filter(Boolean)
      .sort((a, b) => WORD_ORDER.indexOf(a) - WORD_ORDER.indexOf(b)).map((word) => option(word, word))),
    el("optgroup", { label: "change" }, ...CHANGES.map((word) => option(word, word))));
  let wait = 0;
  const box = el("input", { id: "q", type: "search", placeholder: "Search functions and files  ( / )", "aria-label": "search",
    autocomplete: "off", spellcheck: "false", oninput: () => {
      clearTimeout(wait);
      wait = setTimeout(() => setSearch(box.value), model.rows > 5000 ? 60 : 0);
    } });
  $("tools").append(box, filter, pick("from"), pick("to"),
    el("button", { id: "csv", type: "button", onclick: copyCsv }, "Copy as CSV"),
    el("button", { id: "reset", type: "button", hidden: true, onclick: resetChoice }, "Show all"));
}

function drawTools() {
  $("q").value = choice.q;
  $("filter").value = choice.filter;
  $("reset").hidden = !(choice.q || choice.filter || !isWhole());
  const pair = choice.from + "," + choice.to;
  if ($("tools").dataset.pair === pair) return;
  $("tools").dataset.pair = pair;
  for (const side of ["from", "to"]) {
    $(side).hidden = length < 3;
    const other = side === "from" ? choice.to : choice.from;
    $(side).replaceChildren(...Array.from({ length }, (_, i) => el("option", { value: i, selected: i === choice[side],
      disabled: side === "from" ? i >= other : i <= other }, `${side} ${left + i + 1}  ${baseName(judgedStep(i).name)}`)));
  }
}

// A browser repeats the head on each printed page, but no buttons in it.
const headPart = (key) => (printing ? ["span", {}] : ["button", { type: "button", "data-sort": key, onclick: () => sortBy(key) }]);

function drawHead() {
  const cells = COLUMNS.map(({ sort, title, css }) => {
    if (!sort) return el("th", { scope: "col", class: css }, title);
    const on = choice.sort === sort;
    return el("th", { scope: "col", class: css, "aria-sort": on && (choice.down ? "descending" : "ascending") },
      el(...headPart(sort), title + (on ? (choice.down ? " \u2193" : " \u2191") : "")));
  });
  $("rows-head").replaceChildren(el("tr", {}, ...cells));
}

function sortBy(key) {
  if (choice.sort === key) choice.down = !choice.down;
  else Object.assign(choice, { sort: key, down: true });
  const focused = document.activeElement?.dataset?.sort;
  rowsChanged();
  if (focused) document.querySelector(`[data-sort=${focused}]`).focus();
}

function drawRow(row, place) {
  return el("tr", { id: "row-" + row, "data-row": row, "data-place": place, "aria-rowindex": place + 2, tabindex: place === active ? 0 : -1,
    class: row === choice.open ? "row open" : "row", "aria-expanded": row === choice.open }, ...COLUMNS.map(({ cell, css }) => cell(row, css)));
}

// Between two builds: both stacks side by side, what is alike in one line.
const pairs = new Map((facts.pairs || []).map(([row, how, frames]) => [row, { how, frames }]));
function pairTable(row) {
  if (!isWhole() || !pairs.has(row)) return false;
  const { how, frames } = pairs.get(row), body = [];
  let alike = 0;
  const fold = () => {
    if (alike > 0) body.push(el("tr", { class: "alike" }, el("td", { colspan: 2 }, `${alike} ${alike === 1 ? "frame" : "frames"} alike`)));
    alike = 0;
  };
  for (const [before, after] of frames) {
    if (after === undefined) ++alike;
    else {
      fold();
      body.push(el("tr", {}, el("td", {}, before || "\u2013"), el("td", {}, after || "\u2013")));
    }
  }
  fold();
  return el("table", { class: "pair" }, el("caption", {}, "Another build: " + how),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "before"), el("th", { scope: "col" }, "after"))), el("tbody", {}, ...body));
}

function drawDetail(row) {
  const frames = framesOf(row), lines = [];
  for (const frame of frames) {
    const module = model.texts[model.module[frame]], file = model.texts[model.file[frame]];
    lines.push(el("li", {}, el("code", {}, model.texts[model.full[frame]]),
      file && el("span", { class: "site" }, " " + file + (model.line[frame] > 0 ? ":" + model.line[frame] : "")),
      module && el("span", { class: "site" }, " " + baseName(module))));
  }
  const reason = facts.judged ? model.reasons[model.reason[row]] : "";
  const values = length > 2 && el("p", { class: "values" }, "At each snapshot: ",
    Array.from({ length: Math.min(length, 100) }, (_, i) => isKnown(row, i) ? valueText(valueAt(row, i), unit) : "n/a").join(", ") + (length > 100 ? ", \u2026" : ""));
  const toFlame = () => {
    zoomTo(flameOf(row), 0);
    $("flame").scrollIntoView();
  };
  return el("tr", { class: "detail" }, el("td", { colspan: COLUMNS.length },
    reason && el("p", {}, badge(verdictOf(row)), " " + reason),
    el("ol", {}, ...lines), pairTable(row), values,
    el("p", { class: "tools" }, el("button", { type: "button", onclick: toFlame }, "Show in the flame graph"),
      el("button", { type: "button", onclick: () => copyText(frames.map((f) => model.texts[model.full[f]] + " " + siteOf(f)).join("\n")) }, "Copy stack"),
      el("a", { href: "#stack=" + stackId(row) }, "Link to this stack"))));
}

const spacer = (height) => el("tr", { class: "spacer", "aria-hidden": "true" }, el("td", { colspan: COLUMNS.length, style: { height: height + "px" } }));

function drawRows() {
  const count = shownRows(), scroll = $("scroll"), openAt = choice.open < 0 ? -1 : view.rows.indexOf(choice.open);
  scroll.classList.toggle("tall", isLong());
  let first = 0, end = count;
  if (isLong()) {
    const above = scroll.scrollTop - (openAt >= 0 && openAt * ROW < scroll.scrollTop ? detailHeight : 0);
    first = Math.min(Math.max(0, Math.floor(above / ROW) - 6), count);
    end = Math.min(count, first + Math.ceil(scroll.clientHeight / ROW) + 14);
  }
  const focusedRow = document.activeElement?.closest?.("#rows-body tr.row")?.dataset.row;
  const body = [];
  const open = openAt >= 0 && openAt < count;
  if (first > 0) body.push(spacer(first * ROW + (open && openAt < first ? detailHeight : 0)));
  for (let i = first; i < end; ++i) {
    body.push(drawRow(view.rows[i], i));
    if (i === openAt) body.push(drawDetail(choice.open));
  }
  if (end < count) body.push(spacer((count - end) * ROW + (open && openAt >= end ? detailHeight : 0)));
  $("rows").setAttribute("aria-rowcount", view.rows.length + 1);
  $("rows-body").replaceChildren(...body);
  const detail = $("rows-body").querySelector(".detail");
  if (detail) detailHeight = detail.getBoundingClientRect().height;
  if (focusedRow !== undefined) $("row-" + focusedRow)?.focus({ preventScroll: true });
}

function sumRow(id, name, before, after, objects) {
  const cells = COLUMNS.slice(1).map(({ sum = (_, css) => empty(css), css }) => sum({ before, after, objects }, css));
  return el("tr", { id }, el("th", { scope: "row" }, name), ...cells);
}

// Growth of objects between first and last, in rows and beside them. Other pairs lack the counts of some rows.
const growthOfObjects = (rows) => rows.reduce((sum, row) => sum + (objectsGrowth(row) ?? ZERO), ZERO);
function objectSums(shown, total) {
  if (total === null || !model.objects || !isWhole()) return { others: "", rest: "" };
  const beside = total - growthOfObjects(model.byRank) - (others.objects[1] - others.objects[0]);
  return { others: countText(total - beside - growthOfObjects(view.rows.subarray(0, shown)), true), rest: countText(beside, true) };
}

function drawFoot() {
  const sum = sums(shownRows()), a = judgedStep(choice.from), b = judgedStep(choice.to);
  const total = a.objects === null || b.objects === null ? null : b.objects - a.objects;
  const objects = objectSums(shownRows(), total);
  $("rows-foot").replaceChildren(
    sumRow("sum-others", othersText(sum.count), sum.before.others, sum.after.others, objects.others),
    sumRow("sum-rest", facts.filtered ? "[unattributed] and [filtered out]" : "[unattributed]", sum.before.rest, sum.after.rest, objects.rest),
    sumRow("sum-total", "TOTAL", sum.before.total, sum.after.total, total === null ? "n/a" : countText(total, true)));
  const n = view.rows.length;
  $("table-h").textContent = `Growth per stack, ${left + choice.from + 1} \u2192 ${left + choice.to + 1}`;
  $("table-note").textContent = (n === model.rows ? countText(n) + (n === 1 ? " row" : " rows") : `${countText(n)} of ${countText(model.rows)} rows`) +
    (printing && n > ALL ? `, ${ALL} printed` : "") + ". Every byte is in exactly one row." + (isWhole() || !facts.judged ? "" : " Verdicts are of the whole series.");
}

function drawTable() {
  chooseRows();
  if (active >= view.rows.length) active = 0;
  drawTools();
  drawHead();
  drawRows();
  drawFoot();
}

function toggleRow(row) {
  choice.open = choice.open === row ? -1 : row;
  detailHeight = 0;
  drawRows();
  if (choice.open >= 0) drawRows();
  writeAddress();
}

function showRow(row) {
  let at = view.rows.indexOf(row);
  if (at < 0) {
    Object.assign(choice, { q: "", filter: "" });
    drawTable();
    at = view.rows.indexOf(row);
  }
  choice.open = row;
  active = at;
  if (isLong()) $("scroll").scrollTop = Math.max(0, at * ROW - 60);
  drawRows();
  $("row-" + row)?.scrollIntoView({ block: "center" });
  $("row-" + row)?.focus({ preventScroll: true });
}

function moveActive(to) {
  active = Math.min(Math.max(0, to), view.rows.length - 1);
  const scroll = $("scroll");
  if (isLong()) {
    const head = $("rows-head").clientHeight, foot = $("rows-foot").clientHeight;
    const top = active * ROW + (choice.open >= 0 && view.rows.indexOf(choice.open) < active ? detailHeight : 0);
    if (top < scroll.scrollTop) scroll.scrollTop = top;
    else if (top + ROW + head + foot > scroll.scrollTop + scroll.clientHeight) scroll.scrollTop = top + ROW + head + foot - scroll.clientHeight;
  }
  drawRows();
  $("row-" + view.rows[active])?.focus({ preventScroll: isLong() });
}

function listenToTable() {
  $("rows-body").addEventListener("click", (event) => {
    const row = event.target.closest("tr.row");
    if (!row || event.target.closest("a,button") || String(getSelection())) return;
    active = +row.dataset.place;
    toggleRow(+row.dataset.row);
    $("row-" + row.dataset.row)?.focus({ preventScroll: true });
  });
  $("rows-body").addEventListener("keydown", (event) => {
    const row = event.target.closest("tr.row");
    if (!row || event.target !== row) return;
    const at = +row.dataset.place;
    const page = Math.max(1, Math.floor($("scroll").clientHeight / ROW) - 2);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: view.rows.length - 1, PageDown: at + page, PageUp: at - page }[event.key];
    if (to !== undefined) moveActive(to);
    else if (event.key === "Enter" || event.key === " ") toggleRow(+row.dataset.row);
    else return;
    event.preventDefault();
  });
  let asked = false;
  $("scroll").addEventListener("scroll", () => {
    if (asked || !isLong()) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      drawRows();
    });
  });
}

// A spreadsheet would run what starts with one of these as a formula.
function csvText(text) {
  const safe = /^[=+\-@]/.test(text) ? "'" + text : text;
  return /[",\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
}
function csv() {
  const columns = COLUMNS.filter((column) => column.csv);
  const lines = [[...columns.map(({ key }) => key), "stack"].join(",")];
  for (const row of view.rows)
    lines.push([...columns.map((column) => column.csv(row)), csvText(framesOf(row).map((f) => model.texts[model.full[f]]).join(";"))].join(","));
  const { before, after, count } = sums(view.rows.length);
  for (const [name, part] of [[`[${count} ${count === 1 ? "other" : "others"}]`, "others"], ["[unattributed]", "rest"], ["TOTAL", "total"]]) {
    const known = { growth: after[part] - before[part], baseline: before[part], current: after[part] };
    lines.push([...columns.map(({ key }) => known[key] ?? ""), name].join(","));
  }
  return lines.join("\r\n") + "\r\n";
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "away" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
async function copyCsv() {
  await copyText(csv());
  const button = $("csv");
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = "Copy as CSV"), 1500);
}

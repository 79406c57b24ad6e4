// From the file's text to a page that answers.
function rowsChanged() {
  if (choice.open >= 0) detailHeight = 0;
  $("scroll").scrollTop = 0;
  active = 0;
  drawTable();
  writeAddress();
}
function setSearch(q) {
  choice.q = q;
  rowsChanged();
  drawFlame();
}
function pairChanged() {
  drawFigures();
  drawTimeline();
  drawTable();
  drawFlame();
  writeAddress();
}
function resetChoice() {
  Object.assign(choice, { from: 0, to: length - 1, q: "", filter: "", sort: "growth", down: true, zoom: 0, skip: 0 });
  pairChanged();
}

// What the address names: a stack by its digits, by its place, or by a function in it.
function followAddress() {
  const query = readAddress();
  drawFigures();
  drawTimeline();
  drawTable();
  choice.zoom = query.has("frame") ? flameOfId(query.get("frame")) : 0;
  choice.skip = 0;
  choice.open = -1;
  drawFlame();
  $("flame-width").value = choice.width;
  let row = query.has("stack") ? rowOfId(query.get("stack")) : -1;
  if (query.has("row")) row = model.rank.indexOf(parseInt(query.get("row"), 10) - 1);
  if (row < 0 && query.has("stack")) {
    choice.q = query.get("stack");
    drawTable();
    row = view.rows.length > 0 ? view.rows[0] : -1;
  }
  if (row >= 0) showRow(row);
  else if (query.has("frame")) $("flame").scrollIntoView();
  else if (query.has("q") || query.has("filter") || query.has("sort")) $("table").scrollIntoView();
}

async function start() {
  const first = readAddress();
  listenToKeys();
  linkGraph();
  if (facts.start && location.hash.length < 2) $(facts.start)?.scrollIntoView();
  const root = document.documentElement;
  if (!facts.metric) {
    root.dataset.ready = "true";
    return;
  }
  if (typeof DecompressionStream === "undefined") {
    $("table-note").textContent = "This browser cannot unpack the page's data: these are the rows that changed most.";
    return;
  }
  drawTimeline();
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  await readStacks();
  await readValues();
  makeTools();
  listenToTable();
  makeFlame();
  drawTable();
  if (!isWhole()) drawFigures();
  await breathe();
  await growTree();
  drawFlame();
  if ([...first.keys()].some((key) => key !== "theme")) followAddress();
  else if (facts.start && location.hash.length < 2) $(facts.start)?.scrollIntoView();
  let resized = 0;
  addEventListener("resize", () => {
    clearTimeout(resized);
    resized = setTimeout(() => {
      drawTimeline();
      drawRows();
      drawFlame();
    }, 80);
  });
  addEventListener("hashchange", () => {
    if (location.hash === written) return;
    if (location.hash.includes("=") || location.hash.length < 2) followAddress();
  });
  const closed = [...document.querySelectorAll("#inputs details:not([open])")].filter((part) => part.id !== "glossary");
  const print = (on) => {
    printing = on;
    for (const part of closed) part.open = on;
    drawHead();
    drawRows();
    drawFoot();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  performance.mark("ready");
  root.dataset.ready = "true";
}

// Data stand behind the script, so that what is above is painted first.
document.addEventListener("DOMContentLoaded", () => start().catch((failure) => {
  if ($("table-note")) $("table-note").textContent = "The page's data cannot be unpacked: these are the rows that changed most.";
  document.documentElement.dataset.ready = "failed";
  console.error(failure);
}));

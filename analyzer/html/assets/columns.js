// The columns of the growth table. The page says which there are, with their titles; here is how each is shown and sorted.
//   cell(row, css)   the cell of a row; `css` hides it where the window is narrow
//   sum(sum, css)    the cell of a row of sums: { before, after, objects }; empty where it is not given
//   order(row)       sorts rows; `sort` is its name in addresses. Columns without it are not sorted by
//   csv(row)         the value in "Copy as CSV"
const empty = (css) => el("td", { class: css });
const withClass = (css, more) => (css ? css + " " : "") + more;
const words = (css, word) => el("td", { class: css }, facts.judged ? word && badge(word) : word);
const betweenLists = (row, i) => (isKnown(row, i) ? "" : " between");
const valueColumn = (sort, at, of) => ({
  sort,
  cell: (row, css) => numberCell("td", css + betweenLists(row, at()), valueAt(row, at()), unit),
  sum: (sum, css) => numberCell("td", css, sum[of], unit),
  order: (row) => Number(model.values[row * length + at()]),
  csv: (row) => valueAt(row, at()),
});
const wordColumn = { sort: "verdict", cell: (row, css) => words(css, verdictOf(row)),
  order: (row) => -WORD_ORDER.indexOf(verdictOf(row)), csv: (row) => csvText(verdictOf(row)) };
// Errors are known between first and last alone.
const errorOf = (row) => (model.errors && isWhole() ? model.errors[row] : NaN);
const COLUMN_PARTS = {
  stack: {
    sort: "name",
    cell: nameCell,
    // Texts are sorted: their numbers compare as they do. Names go up first.
    order: (row) => -model.name[model.frame[model.node[row]]],
  },
  values: { cell: (row, css) => el("td", { class: css }, sparkline(row)) },
  growth: {
    sort: "growth",
    cell: (row, css) => {
      const growth = growthOf(row), direction = growth > 0 ? "up" : growth < 0 ? "down" : "", error = errorOf(row);
      const mayBeChance = error > 0 && Math.abs(Number(growth)) < 2 * error;
      const cell = numberCell("td", withClass(css, "g " + direction + (mayBeChance ? " chance" : "")), growth, unit, true);
      if (mayBeChance) cell.prepend("~");
      return cell;
    },
    sum: (sum, css) => numberCell("td", withClass(css, "g"), sum.after - sum.before, unit, true),
    order: (row) => Math.abs(Number(growthOf(row))),
    csv: growthOf,
  },
  baseline: valueColumn("before", () => choice.from, "before"),
  current: valueColumn("after", () => choice.to, "after"),
  growth_objects: {
    sort: "objects",
    cell: (row, css) => {
      const objects = objectsGrowth(row);
      return el("td", { class: css }, objects === null ? "n/a" : countText(objects, true));
    },
    sum: (sum, css) => el("td", { class: css }, sum.objects),
    order: (row) => Number(magnitude(objectsGrowth(row) ?? 0)),
    csv: (row) => objectsGrowth(row) ?? "",
  },
  error: {
    sort: "error",
    cell: (row, css) => {
      const error = errorOf(row);
      return el("td", { class: css }, facts.exact ? "0" : Number.isNaN(error) ? "n/a" : valueText(Math.round(error), unit));
    },
    order: (row) => (model.errors ? model.errors[row] || 0 : 0),
  },
  verdict: wordColumn,
  class: wordColumn,
};
const COLUMNS = facts.columns.map(([key, title, narrow]) => ({ key, title, css: narrow ? "" : "wide", ...COLUMN_PARTS[key] }));

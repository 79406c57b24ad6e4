// Keys, the list of them, light and dark.
const HELP = [["/", "search"], ["\u2191 \u2193", "rows of the table, boxes of the flame graph"], ["Enter", "open a row, zoom into a box"],
  ["Esc", "back: close, zoom out, clear the search"], ["\u2190 \u2192", "move a point of the plot, boxes side by side"],
  ["s", "search for a box of the flame graph"], ["d", "dark or light"], ["?", "this list"]];

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  writeAddress();
}

function showHelp() {
  let dialog = $("help");
  if (!dialog) {
    dialog = el("dialog", { id: "help", "aria-label": "keys" }, el("h2", {}, "Keys"),
      el("dl", {}, ...HELP.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])),
      el("button", { type: "button", onclick: () => dialog.close() }, "Close"));
    document.body.append(dialog);
  }
  if (!dialog.open) dialog.showModal();
}

function escape() {
  if (document.activeElement === $("q") && !choice.q) return $("q").blur();
  if (document.activeElement?.closest("#flame") && (choice.zoom > 0 || choice.skip > 0)) return zoomOut();
  if (choice.open >= 0 && document.activeElement?.closest("#table")) return toggleRow(choice.open);
  if (choice.q) return setSearch("");
  if (choice.zoom > 0 || choice.skip > 0) return zoomOut();
  if (choice.open >= 0) return toggleRow(choice.open);
  if (choice.filter) {
    choice.filter = "";
    rowsChanged();
  }
}

function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $("help")?.open) return;
    const typing = /^(input|select|textarea)$/i.test(event.target.tagName);
    if (event.key === "Escape") {
      if (model.rows) escape();
    } else if (typing) return;
    else if (event.key === "/" && $("q")) {
      $("q").focus();
      $("q").select();
    } else if (event.key === "?") showHelp();
    else if (event.key === "d") toggleTheme();
    else return;
    event.preventDefault();
  });
  $("bar-buttons").append(el("button", { id: "keys", type: "button", "aria-label": "keys", onclick: showHelp }, "?"),
    el("button", { id: "theme", type: "button", "aria-label": "switch between light and dark", onclick: toggleTheme }, "light / dark"));
}

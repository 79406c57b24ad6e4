// The drawn graph: a box leads to the rows of its function.
function linkGraph() {
  const drawing = $("drawing");
  if (!drawing) return;
  for (const title of drawing.querySelectorAll("svg g > title")) {
    const node = title.parentElement, name = title.textContent.split("\n")[0];
    node.classList.add("node");
    node.setAttribute("role", "link");
    node.setAttribute("tabindex", "0");
    node.setAttribute("aria-label", title.textContent.replace(/\n/g, ", "));
    const go = () => {
      setSearch(name);
      $("table").scrollIntoView();
    };
    node.addEventListener("click", go);
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      go();
    });
  }
}

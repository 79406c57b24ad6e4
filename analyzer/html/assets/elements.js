// Elements are made, never written as markup: whatever a name holds, it stays text.
const SVG = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, v] of Object.entries(value)) element.style.setProperty(key, v);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child || child === 0) element.append(child);
  return element;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A value with its unit beside it; the title tells it to the last byte.
function numberCell(tag, className, v, unit, plus) {
  const [digits, name] = parts(v, unit, plus);
  return el(tag, { class: className, title: exactText(v, unit, plus), "data-v": String(v) }, digits,
    name && el("span", { class: "u" }, name));
}

const badge = (word) => el("span", { class: /^[A-Z]+$/.test(word) ? "badge " + word : "badge" }, word);

// Long work gives way to clicks and painting.
let sliceStart = 0;
async function breathe() {
  if (performance.now() - sliceStart < 12) return;
  await new Promise((resolve) => setTimeout(resolve));
  sliceStart = performance.now();
}

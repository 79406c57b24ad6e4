// Numbers as the reports write them: three digits, binary units, rounded half away from zero from the
// exact integer. Values are Number or BigInt; BigInt does the arithmetic here, so that none is lost.
const MINUS = "\u2212", THIN = "\u2009", NBSP = "\u00a0";
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const TIME_UNITS = ["ns", "us", "ms", "s"];

const magnitude = (v) => (v < 0 ? -v : v);
const grouped = (digits) => String(digits).replace(/\B(?=(\d{3})+$)/g, THIN);

// The same twice: what fits ordinary numbers with all its digits, and what does not.
function threeDigits(value, unit) {
  for (let decimals = 2; decimals > 0; --decimals) {
    const power = decimals === 2 ? 100 : 10, number = Math.floor((value * power * 2 + unit) / (unit * 2));
    if (number >= 1000) continue;
    const digits = String(number).padStart(decimals + 1, "0");
    return digits.slice(0, -decimals) + "." + digits.slice(-decimals);
  }
  return String(Math.floor((value * 2 + unit) / (unit * 2)));
}

function scaled(value, step, units) {
  let unit = 1, index = 0;
  while (index + 1 < units.length && (index === 0 ? value >= 1000 : value * 2 >= unit * 1999)) {
    ++index;
    unit *= step;
  }
  return [index === 0 ? String(value) : threeDigits(value, unit), units[index]];
}

function threeBigDigits(value, unit) {
  for (let decimals = 2; decimals > 0; --decimals) {
    const number = (value * 10n ** BigInt(decimals) * 2n + unit) / (unit * 2n);
    if (number >= 1000n) continue;
    const digits = String(number).padStart(decimals + 1, "0");
    return digits.slice(0, -decimals) + "." + digits.slice(-decimals);
  }
  return String((value * 2n + unit) / (unit * 2n));
}

function scaledBig(value, step, units) {
  let unit = 1n, index = 0;
  while (index + 1 < units.length && (index === 0 ? value >= 1000n : value * 2n >= unit * 1999n)) {
    ++index;
    unit *= step;
  }
  return [index === 0 ? String(value) : threeBigDigits(value, unit), units[index]];
}

// [digits with sign, unit]
function parts(v, unit, plus) {
  const sign = v < 0 ? MINUS : v > 0 && plus ? "+" : "", size = magnitude(v);
  const units = unit === "bytes" ? BYTE_UNITS : unit === "nanoseconds" ? TIME_UNITS : null;
  if (!units) return [sign + grouped(size), ""];
  const step = unit === "bytes" ? 1024 : 1000;
  const [digits, name] = size < 2 ** 43 ? scaled(Number(size), step, units) : scaledBig(BigInt(size), BigInt(step), units);
  return [sign + digits, name];
}

const valueText = (v, unit, plus = false) => parts(v, unit, plus).filter(Boolean).join(NBSP);
const countText = (v, plus = false) => valueText(v, "", plus);
// To the last byte, for titles.
const exactText = (v, unit, plus = false) => countText(v, plus) + (unit === "bytes" ? NBSP + "B" : "");
const othersText = (n) => "[" + countText(n) + (n === 1 ? " other]" : " others]");

function percentText(part, whole) {
  if (!whole) return "n/a";
  const share = Math.abs(Number(part) / Number(whole)) * 100;
  if (share > 0 && share < 1) return "<1" + NBSP + "%";
  if (share < 100 && Math.round(share) === 100) return ">99" + NBSP + "%";
  return Math.round(share) + NBSP + "%";
}

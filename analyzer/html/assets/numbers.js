// Numbers as the reports write them: three digits, binary units, rounded half away from zero from the
// exact integer. Values are Number or BigInt; BigInt does the arithmetic here, so that none is lost.
const MINUS = "\u2212", THIN = "\u2009", NBSP = "\u00a0";
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const TIME_UNITS = ["ns", "us", "ms", "s"];

const magnitude = (v) => (v < 0 ? -v : v);
const grouped = (digits) => String(digits).replace(/\B(?=(\d{3})+$)/g, THIN);

function threeDigits(value, unit) {
  for (let decimals = 2; decimals > 0; --decimals) {
    const number = (value * 10n ** BigInt(decimals) * 2n + unit) / (unit * 2n);
    if (number >= 1000n) continue;
    const digits = String(number).padStart(decimals + 1, "0");
    return digits.slice(0, -decimals) + "." + digits.slice(-decimals);
  }
  return String((value * 2n + unit) / (unit * 2n));
}

function scaled(value, step, units) {
  let unit = 1n, index = 0;
  while (index + 1 < units.length && (index === 0 ? value >= 1000n : value * 2n >= unit * 1999n)) {
    ++index;
    unit *= step;
  }
  return [index === 0 ? String(value) : threeDigits(value, unit), units[index]];
}

// [digits with sign, unit]
function parts(v, unit, plus) {
  const big = BigInt(v), size = magnitude(big);
  const sign = big < 0n ? MINUS : big > 0n && plus ? "+" : "";
  const [digits, name] = unit === "bytes" ? scaled(size, 1024n, BYTE_UNITS)
    : unit === "nanoseconds" ? scaled(size, 1000n, TIME_UNITS) : [grouped(size), ""];
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

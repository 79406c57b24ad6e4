'use strict';
// node check_growth.js LEAKING HARMLESS: so many generated bodies of each kind; prints what is judged wrongly. Slow.
const { EventEmitter } = require('events');
const vm = require('vm');
const path = require('path');
const zlib = require('zlib');
const { expectNoGrowth } = require('../index.js');

// Each leaves about BYTES a round; LEAK is the function that is to be named.
const LEAKS = [
  'const kept = []; function LEAK() { kept.push(new Array(BYTES / 8).fill(1)); } return () => LEAK();',
  'const kept = new Map(); let n = 0; function LEAK() { kept.set("k" + n++, { list: new Array(BYTES / 8).fill(n) }); } return () => LEAK();',
  'const kept = new Set(); function LEAK() { kept.add({ text: new Array(BYTES / 8).fill("x") }); } return () => { LEAK(); };',
  'let head = null; function LEAK() { head = { next: head, load: new Array(BYTES / 8).fill(0) }; } return () => LEAK();',
  'const bus = new EventEmitter(); bus.setMaxListeners(0); function LEAK() { const state = new Array(BYTES / 8).fill(2); bus.on("x", () => state.length); } return () => LEAK();',
  'const kept = []; async function LEAK() { await null; kept.push(new Array(BYTES / 8).fill(3)); } return async () => { await LEAK(); };',
  'const kept = {}; let n = 0; function LEAK() { kept["user" + n] = { id: n++, rows: new Array(BYTES / 8).fill(0) }; } return () => LEAK();',
  'class Session { constructor() { this.data = new Array(BYTES / 8).fill(1); } } const all = []; function LEAK() { all.push(new Session()); } return () => LEAK();',
  'const pending = []; function LEAK() { const load = new Array(BYTES / 8).fill(4); pending.push(new Promise(() => load)); pending[pending.length - 1].load = load; } return () => LEAK();',
  'const log = []; function LEAK() { for (let i = 0; i < BYTES / 64; i++) log.push({ i, t: i * 2, u: "v" + i }); } return () => LEAK();',
];
const HARMLESS = [
  'return () => JSON.parse(JSON.stringify(new Array(BYTES / 8).fill({ a: 1 }))).length;',
  'const cache = new Map(); let n = 0; return () => { cache.set(n++ % 4, new Array(BYTES / 8).fill(n)); };',
  'return () => new Array(BYTES / 8).fill(0).map((_, i) => (i * 7919) % 1009).sort((a, b) => a - b).length;',
  'const bus = new EventEmitter(); return () => { const f = () => 1; bus.on("x", f); bus.emit("x"); bus.off("x", f); };',
  'return async () => { await Promise.all(Array.from({ length: 20 }, async (_, i) => { await null; return i; })); };',
  'let last; return () => { last = new Array(BYTES / 8).fill(1); };',
  'return () => "a,b,c".repeat(BYTES / 16).split(",").join(";").replace(/b/g, "d").length;',
  'const ring = new Array(8).fill(null); let n = 0; return () => { ring[n++ % 8] = { load: new Array(BYTES / 8).fill(n) }; };',
  'return () => zlib.gunzipSync(zlib.gzipSync(Buffer.alloc(BYTES))).length;',
  'const pool = []; return () => { const one = pool.pop() || new Array(BYTES / 8).fill(0); one[0]++; pool.push(one); };',
  'const weak = new WeakMap(); return () => { weak.set({}, new Array(BYTES / 8).fill(1)); };',
  'return () => new Promise((resolve) => setTimeout(() => resolve(new Array(BYTES / 8).fill(1)), 1));',
  'let n = 0; const seen = new Set(); return () => { seen.add(n++); if (seen.size > 3) seen.clear(); };',
  'return () => { const m = new Map(); for (let i = 0; i < BYTES / 32; i++) m.set("k" + i, i); return m.size; };',
  'return async () => { for await (const x of (async function* () { yield 1; yield new Array(BYTES / 8); })()) void x; };',
  'const url = "http://h/a?b=1"; return () => { for (let i = 0; i < 20; i++) new URL(url).searchParams.get("b"); };',
];

function body_of(source, bytes, number) {
  const file = path.join(__dirname, `made_${number}.js`);
  const text = `(function (EventEmitter, zlib) {\n${source.replaceAll('BYTES', String(bytes)).replaceAll('LEAK', `leak_${number}`)}\n})`;
  return vm.runInThisContext(text, { filename: file })(EventEmitter, zlib);
}

async function main() {
  const [leaking, harmless] = process.argv.slice(2).map(Number);
  let wrong = 0;
  for (let number = 0; number < leaking; ++number) {
    const bytes = [1024, 1536, 2048, 4096, 8192][number % 5] + 8 * (number % 3);
    const said = await expectNoGrowth(body_of(LEAKS[(number * 7) % LEAKS.length], bytes, number), { holder: false }).then(() => 'passed', (failure) => failure.message);
    const named = new RegExp(`GROWING {2}(new )?(leak_${number}|Session) {2}.*made_${number}\\.js:2`);
    if (!named.test(said)) { ++wrong; console.log(`leak ${number} (${bytes} bytes, kind ${(number * 7) % LEAKS.length}): ${said}`); }
  }
  for (let number = 0; number < harmless; ++number) {
    const source = HARMLESS[number % HARMLESS.length];
    const said = await expectNoGrowth(body_of(source, 512 << (number % 6), 1000 + number), { holder: false }).then(() => '', (failure) => failure.message);
    if (said) { ++wrong; console.log(`harmless ${number} (kind ${number % HARMLESS.length}): ${said}`); }
  }
  console.log(`${leaking} leaking, ${harmless} harmless: ${wrong} judged wrongly`);
  process.exitCode = wrong === 0 ? 0 : 1;
}
main();

'use strict';
// node check_growth.js LEAKING HARMLESS [NODE_MODULES]: so many generated bodies of each kind; prints what is judged wrongly.
// Every second one calls packages of npm out of NODE_MODULES, those that are there. Slow.
const { EventEmitter } = require('events');
const vm = require('vm');
const path = require('path');
const zlib = require('zlib');
const { createRequire } = require('module');
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

// The same with packages that people use.
const PACKAGED_LEAKS = [
  'const ajv = new (need("ajv").default || need("ajv"))(); let n = 0; function LEAK() { ajv.compile({ $id: "s" + n++, enum: new Array(BYTES / 8).fill(n).map((v, i) => v * 1e6 + i) }); } return () => LEAK();',
  'const { Subject } = need("rxjs"); const all = new Subject(); function LEAK() { const load = new Array(BYTES / 8).fill(1); all.subscribe(() => load.length); } return () => LEAK();',
  'const app = need("express")(); let n = 0; function LEAK() { const load = new Array(BYTES / 8).fill(1); app.get("/" + n++, () => load.length); } return () => LEAK();',
  'const made = need("lru-cache"); const cache = new (made.LRUCache || made)({ max: 100000 }); let n = 0; function LEAK() { cache.set("k" + n++, new Array(BYTES / 8).fill(n)); } return () => LEAK();',
  'const { parse } = need("@babel/parser"); const trees = []; function LEAK() { trees.push(parse("const a = [" + "1,".repeat(BYTES / 64) + "]")); } return () => LEAK();',
  'const yaml = need("js-yaml"); const seen = new Map(); let n = 0; function LEAK() { seen.set(n++, yaml.load("- {a: 1, b: [x, y]}\\n".repeat(BYTES / 32))); } return () => LEAK();',
];
const PACKAGED_HARMLESS = [
  'const ajv = new (need("ajv").default || need("ajv"))(); const check = ajv.compile({ type: "object", properties: { a: { type: "string" } } }); return () => check({ a: "x".repeat(BYTES) });',
  'const { Subject } = need("rxjs"); const all = new Subject(); return () => { const one = all.subscribe(() => 1); all.next(1); one.unsubscribe(); };',
  'const made = need("lru-cache"); const cache = new (made.LRUCache || made)({ max: 4 }); let n = 0; return () => cache.set("k" + n++, new Array(BYTES / 8).fill(n));',
  'const { parse } = need("@babel/parser"); return () => parse("const a = [" + "1,".repeat(BYTES / 64) + "]").type;',
  'const yaml = need("js-yaml"); return () => yaml.dump(yaml.load("- {a: 1, b: [x, y]}\\n".repeat(BYTES / 32))).length;',
  'const semver = need("semver"); let n = 0; return () => semver.satisfies("1.2." + (n++ % 50), ">=1.1.0 <2 || ^3.0.0");',
  'const qs = need("qs"); return () => qs.stringify(qs.parse("a[b]=1&c=2&d[]=3&d[]=4")).length;',
  'const { minimatch } = need("minimatch"); return () => minimatch("src/a/b.js", "src/**/*.js");',
  'const { renderToString } = need("react-dom/server"); const { createElement } = need("react"); return () => renderToString(createElement("p", null, "x".repeat(BYTES))).length;',
  'const postcss = need("postcss"); return () => postcss.parse("a{color:red}".repeat(BYTES / 64)).toString().length;',
];

function body_of(source, bytes, number, need) {
  const file = path.join(__dirname, `made_${number}.js`);
  const text = `(function (EventEmitter, zlib, need) {\n${source.replaceAll('BYTES', String(bytes)).replaceAll('LEAK', `leak_${number}`)}\n})`;
  return vm.runInThisContext(text, { filename: file })(EventEmitter, zlib, need);
}

// Those of `sources` whose packages are there; names the others.
function usable(sources, need) {
  return sources.filter((source) => {
    try {
      for (const [, name] of source.matchAll(/need\("([^"]+)"\)/g)) need(name);
      return true;
    } catch (failure) {
      console.log(`skipped: ${failure.message.split('\n')[0]}`);
      return false;
    }
  });
}

async function main() {
  const [leaking, harmless] = process.argv.slice(2, 4).map(Number);
  const modules = process.argv[4];
  const need = modules ? createRequire(path.join(path.resolve(modules), 'x.js')) : () => { throw new Error('no NODE_MODULES'); };
  const packaged = modules ? { leaks: usable(PACKAGED_LEAKS, need), harmless: usable(PACKAGED_HARMLESS, need) } : { leaks: [], harmless: [] };
  const pick = (own, theirs, number) => (number % 2 === 1 && theirs.length ? theirs[(number >> 1) % theirs.length] : own[(number * 7) % own.length]);
  let wrong = 0;
  for (let number = 0; number < leaking; ++number) {
    const bytes = [1024, 1536, 2048, 4096, 8192][number % 5] + 8 * (number % 3);
    const source = pick(LEAKS, packaged.leaks, number);
    const said = await expectNoGrowth(body_of(source, bytes, number, need), { holder: false }).then(() => 'passed', (failure) => failure.message);
    const named = new RegExp(`(GROWING|RISING) {2}(new )?(leak_${number}|Session) {2}.*made_${number}\\.js:2`);
    if (!named.test(said)) { ++wrong; console.log(`leak ${number} (${bytes} bytes, ${source}): ${said}`); }
  }
  for (let number = 0; number < harmless; ++number) {
    const source = pick(HARMLESS, packaged.harmless, number);
    const said = await expectNoGrowth(body_of(source, 512 << (number % 6), 1000 + number, need), { holder: false }).then(() => '', (failure) => failure.message);
    if (said) { ++wrong; console.log(`harmless ${number} (${source}): ${said}`); }
  }
  console.log(`${leaking} leaking, ${harmless} harmless: ${wrong} judged wrongly`);
  process.exitCode = wrong === 0 ? 0 : 1;
}
main();

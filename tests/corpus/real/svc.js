// A service whose parts are chosen on the command line: node svc.js OUT STEPS SEED NAME... writes a V8 heap snapshot a step.
'use strict';
const path = require('path');
const v8 = require('v8');

class Session { constructor(id) { this.id = id; this.body = `body ${id} `.repeat(10 + id % 3); this.tags = [id]; } }
class Ticket { constructor(id) { this.id = id; this.parts = new Map([[id, { a: id }]]); } }
class Tile { constructor(id) { this.id = id; this.cells = new Array(16).fill(id + 0.5); } }
class Registry { constructor() { this.items = new Map(); } }

const state = { sessions: new Registry(), tickets: [], listeners: [], cache: new Map(), table: null, burst: null, ring: [] };
let random = 1;
function next(limit) { random = (random * 1103515245 + 12345) % 2147483648; return random % limit; }

function trackSession() { for (let i = 0; i < 400; i++) state.sessions.items.set(state.sessions.items.size, new Session(state.sessions.items.size)); }
function keepTicket() { for (let i = 0; i < 300; i++) state.tickets.push(new Ticket(state.tickets.length)); }
function addListener() { for (let i = 0; i < 500; i++) { const id = i; state.listeners.push(function onClose() { return id; }); } }
function warmCache() { for (let i = 0; i < 300; i++) { const key = next(30) * next(30); if (!state.cache.has(key)) state.cache.set(key, new Tile(key)); } }
function loadTable(step) { if (step === 2) state.table = Array.from({ length: 8000 }, (_, i) => ({ row: i, text: 'r' + i })); }
function burstLoad(step) { if (step === 3) state.burst = Array.from({ length: 6000 }, (_, i) => new Tile(i)); if (step === 5) state.burst = null; }
function touchRing() { for (let i = 0; i < 50; i++) state.ring[next(200)] = new Tile(i); }

const parts = { session: trackSession, ticket: keepTicket, listener: addListener, cache: warmCache, table: loadTable, burst: burstLoad, ring: touchRing };
const [out, steps, seed, ...names] = process.argv.slice(2);
random = Number(seed) + 7;
for (let step = 1; step <= Number(steps); step++) {
  for (const name of names) parts[name](step);
  v8.writeHeapSnapshot(path.join(out, `Heap.${String(step).padStart(2, '0')}.heapsnapshot`));
}

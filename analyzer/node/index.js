'use strict';
// Tests that fail if memory grows, and series of snapshots. What is a leak is for the program to say.
const { spawnSync } = require('child_process');
const fs = require('fs');
const { Session } = require('inspector');
const { SourceMap } = require('module');
const os = require('os');
const path = require('path');
const { fileURLToPath } = require('url');
const v8 = require('v8');
const { program } = require('./program.js');

const ROUNDS = 12; // snapshots; verdicts need eight
const WARMUP = 5; // rounds in which caches fill and functions are compiled
const BUDGET = '512B/round'; // half of the smallest leak that is to be found, 1 KiB a round
const JUDGED_FROM = 8;
const MOST_RUNS = 3; // of the rounds: two that have to agree, and one that a long warm-up fills
const HOLDER_ROUNDS = 8; // between two heap snapshots, so that what is held more stands out
const SAMPLING_BYTES = 64; // one sample for so many bytes: nearly each allocation

class MemoryGrowth extends Error {
  constructor(message, answer) {
    super(message);
    this.name = 'MemoryGrowth';
    this.answer = answer;
  }
}

function snapdiff(words) {
  const done = spawnSync(program(), [...words, '--db', ':memory:', '--as', 'json'], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (done.error) throw done.error;
  if (!done.stdout) throw new Error(`snapdiff: ${done.stderr.trim()}`);
  return JSON.parse(done.stdout);
}

// What the round left for later, a turn of the event loop and finalizers among it, is done before a snapshot.
const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function write(folder, round, profile) {
  const file = path.join(folder, `round.${String(round).padStart(4, '0')}.heapprofile`);
  fs.writeFileSync(file, JSON.stringify(profile));
  return file;
}

// {scriptId: map} of what was compiled as it was loaded (by jest, vitest, TypeScript) and carries its map.
async function sourceMaps(session, post) {
  const maps = new Map();
  const note = ({ params: { scriptId, sourceMapURL } }) => {
    const [data] = /^data:application\/json[^,]*;base64,/.exec(sourceMapURL || '') || [];
    if (data) maps.set(scriptId, sourceMapURL.slice(data.length));
  };
  session.on('Debugger.scriptParsed', note);
  await Promise.all([post('Debugger.enable'), post('Debugger.setSkipAllPauses', { skip: true })]);
  await post('Debugger.disable');
  session.off('Debugger.scriptParsed', note);
  const read = (text) => new SourceMap(JSON.parse(Buffer.from(text, 'base64').toString()));
  return { of: (id) => { // read when it is asked for: a map may have megabytes
    if (typeof maps.get(id) === 'string') maps.set(id, read(maps.get(id)));
    return maps.get(id);
  } };
}

// Places as a person wrote them.
function placeAsWritten(node, maps) {
  const frame = node.callFrame;
  const entry = maps.of(frame.scriptId)?.findEntry(frame.lineNumber, frame.columnNumber);
  if (entry && entry.originalLine !== undefined) {
    const compiled = frame.url.startsWith('file:') ? fileURLToPath(frame.url) : frame.url;
    const source = String(entry.originalSource);
    const written = source.startsWith('file:') ? fileURLToPath(source) : path.resolve(path.dirname(compiled), source);
    frame.url = fs.existsSync(written) ? written : compiled;
    [frame.lineNumber, frame.columnNumber] = [entry.originalLine, entry.originalColumn];
  }
  for (const child of node.children) placeAsWritten(child, maps);
}

// Runs `body` in rounds and writes what it allocated and is still live after each, by stack, as FOLDER/round.NNNN.heapprofile.
async function profiles(body, folder, { rounds = ROUNDS, warmup = WARMUP } = {}) {
  fs.mkdirSync(folder, { recursive: true });
  for (let round = 0; round < warmup; ++round) {
    await body();
    await settle();
  }
  const session = new Session();
  session.connect();
  const post = (method, parameters) => new Promise((resolve, reject) =>
    session.post(method, parameters, (failure, answer) => (failure ? reject(failure) : resolve(answer))));
  const taken = [];
  try {
    await post('HeapProfiler.enable');
    await post('HeapProfiler.startSampling', { samplingInterval: SAMPLING_BYTES });
    for (let round = 1; round <= rounds; ++round) {
      await body();
      await settle();
      const { profile } = await post('HeapProfiler.getSamplingProfile');
      leaveOut(profile.head);
      taken.push(write(folder, round, profile));
    }
    await post('HeapProfiler.stopSampling');
    const maps = await sourceMaps(session, post);
    for (const file of taken) {
      const profile = JSON.parse(fs.readFileSync(file, 'utf8'));
      placeAsWritten(profile.head, maps);
      fs.writeFileSync(file, JSON.stringify(profile));
    }
  } finally {
    session.disconnect();
  }
  return taken;
}

// Branches that begin in this file and hold none of the test's own code: the profiler's own.
function leaveOut(node) {
  const own = (one) => {
    const { url } = one.callFrame;
    return (url !== '' && !url.startsWith('node:') && !url.endsWith(__filename)) || one.children.some(own);
  };
  node.children = node.children.filter((child) => own(child));
  node.children.forEach(leaveOut);
}

// Runs `body` in rounds and writes heap snapshots at equal steps: every `every` rounds, `count` of them.
async function snapshots(body, folder, { count = 8, every = 1, warmup = WARMUP } = {}) {
  fs.mkdirSync(folder, { recursive: true });
  for (let round = 0; round < warmup; ++round) await body();
  const files = [];
  for (let number = 1; number <= count; ++number) {
    for (let round = 0; round < every; ++round) await body();
    await settle();
    files.push(v8.writeHeapSnapshot(path.join(folder, `heap.${String(number).padStart(4, '0')}.heapsnapshot`)));
  }
  return files;
}

// What keeps more after more rounds: "Cache (Map) keeps 8 more Object, in global.cache".
async function holders(body, folder) {
  try {
    const [before, after] = await snapshots(body, path.join(folder, 'holders'), { count: 2, every: HOLDER_ROUNDS, warmup: 0 });
    // One more a round at least, and no compiled code: the tools of a test keep a few of their own.
    return (snapdiff([before, after]).story || { culprits: [] }).culprits.filter((one) => one.type && one.type !== '(code)' && one.growth_objects >= HOLDER_ROUNDS)
      .map((one) => `${one.name} keeps ${one.growth_objects} more ${one.type}${one.holder ? `, ${one.holder}` : ''}`);
  } catch {
    return []; // the verdict stands without
  }
}

const size = (bytes) => (bytes < 1024 ? `${Math.round(bytes)} B` : bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1048576).toFixed(1)} MiB`);

// Fails if snapdiff judges that what `body` leaves grows by more than the budget, less two standard deviations.
async function expectNoGrowth(body, options) {
  const asked = new Error(); // its stack is that of the test
  Error.captureStackTrace(asked, expectNoGrowth);
  try {
    return await judge(body, options);
  } catch (failure) {
    if (failure instanceof MemoryGrowth) failure.stack = `${failure.name}: ${failure.message}\n${asked.stack.split('\n').slice(1).join('\n')}`;
    throw failure;
  }
}

async function judge(body, { rounds = ROUNDS, warmup = WARMUP, budget = BUDGET, holder = true } = {}) {
  if (!Number.isInteger(rounds) || rounds < JUDGED_FROM) throw new RangeError(`rounds: found ${rounds}, expected at least ${JUDGED_FROM}, which a verdict needs`);
  const [amount, per = 'round'] = budget.split('/');
  if (per !== 'round') throw new RangeError(`budget: found '${budget}', expected an amount a round, such as '10KiB/round'`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'snapdiff-'));
  const place = (one) => `${one.name.split(' ‹ ')[0]}  ${one.file}:${one.line}`;
  try {
    // Caches and compiled code may rise steadily for a while. A leak is over the budget in two runs of the rounds.
    let answer, findings, seen = new Set();
    for (let run = 0; run < MOST_RUNS; ++run) {
      const files = await profiles(body, folder, { rounds, warmup: run === 0 ? warmup : 0 });
      answer = snapdiff(['gate', ...files, '--budget', `culprit:${amount}/step`]);
      const broken = answer.findings.filter((one) => one.outcome === 'broken');
      findings = broken.filter((one) => seen.has(place(one)));
      if (findings.length > 0 || !answer.findings.some((one) => one.measured > one.allowed)) break;
      seen = new Set(broken.map(place));
    }
    if (findings.length === 0) return answer;
    const lines = [`memory grows over ${rounds} rounds, budget ${budget}:`];
    for (const one of findings) lines.push(`  ${one.verdict}  ${place(one)}  ${size(one.measured)} a round`);
    if (holder) for (const line of await holders(body, folder)) lines.push(`  held by  ${line}`);
    throw new MemoryGrowth(lines.join('\n'), answer);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

module.exports = { expectNoGrowth, profiles, snapshots, program, MemoryGrowth };

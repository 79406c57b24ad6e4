'use strict';
// node --expose-gc record.js pprof|snapshot DRIVE OUT STEPS PER_STEP leak|control
const fs = require('fs');
const path = require('path');
const v8 = require('v8');
const zlib = require('zlib');

const [profiler, drive, out, steps, perStep, mode] = process.argv.slice(2);
const service = require(path.resolve(drive));
const heap = profiler === 'pprof' ? require('@datadog/pprof').heap : null;

async function main() {
  if (heap) heap.start(512 * 1024, 64);
  service.prepare(mode === 'control');
  for (let step = 1; step <= Number(steps); step++) {
    for (let i = 0; i < Number(perStep); i++) await service.serve();
    await new Promise((done) => setTimeout(done, 20));
    global.gc();
    const name = path.join(out, `heap.${String(step).padStart(3, '0')}`);
    if (heap) fs.writeFileSync(name + '.pb.gz', zlib.gzipSync(heap.profile().encode()));
    else v8.writeHeapSnapshot(name + '.heapsnapshot');
  }
  process.exit(0);
}

main();

'use strict';
// Loaded by `snapdiff run` through NODE_OPTIONS: writes what is live, sampled by V8, every SNAPDIFF_RUN_EVERY seconds.
(() => {
  const folder = process.env.SNAPDIFF_RUN_FOLDER;
  const is_launcher = /(npm|npx|yarn|pnpm|corepack)(-cli)?(\.c?js)?$/.test(process.argv[1] || '');
  if (!folder || is_launcher || !require('worker_threads').isMainThread) return;
  const fs = require('fs');
  const path = require('path');
  const { Session } = require('inspector');
  const session = new Session();
  session.connect();
  session.post('HeapProfiler.enable');
  session.post('HeapProfiler.startSampling', { samplingInterval: 16384 });
  let number = 0;
  const take = () => session.post('HeapProfiler.getSamplingProfile', (failure, answer) => {
    if (failure) return;
    const file = path.join(folder, `heap-${process.pid}.${String(++number).padStart(4, '0')}.heapprofile`);
    try {
      fs.writeFileSync(file + '.part', JSON.stringify(answer.profile));
      fs.renameSync(file + '.part', file);
    } catch (problem) {
      process.stderr.write(`snapdiff run: no snapshot: ${problem.message}\n`);
      clearInterval(timer);
    }
  });
  const timer = setInterval(take, 1000 * Number(process.env.SNAPDIFF_RUN_EVERY));
  timer.unref();
})();

#!/usr/bin/env node
'use strict';
const { spawnSync } = require('child_process');
const os = require('os');
const { program } = require('../program.js');

try {
  const done = spawnSync(program(), process.argv.slice(2), { stdio: 'inherit' });
  if (done.error) throw done.error;
  process.exitCode = done.signal ? 128 + os.constants.signals[done.signal] : done.status;
} catch (failure) {
  process.stderr.write(`error: ${failure.message}\n`);
  process.exitCode = 2;
}

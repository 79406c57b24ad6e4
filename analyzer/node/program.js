'use strict';
const fs = require('fs');
const path = require('path');

// The file of the program: SNAPDIFF, the package of this platform, PATH.
function program() {
  if (process.env.SNAPDIFF) return process.env.SNAPDIFF;
  try {
    return require.resolve(`snapdiff-${process.platform}-${process.arch}/snapdiff`);
  } catch {
    for (const folder of (process.env.PATH || '').split(path.delimiter)) {
      const file = path.join(folder, 'snapdiff');
      try {
        fs.accessSync(file, fs.constants.X_OK);
        // This package's own command, linked into PATH by npm, would start itself.
        if (fs.realpathSync(file) !== path.join(__dirname, 'bin', 'snapdiff.js')) return file;
      } catch { /* not there */ }
    }
  }
  throw new Error(`no snapdiff program: found no package snapdiff-${process.platform}-${process.arch}, expected it or a file in SNAPDIFF`);
}

module.exports = { program };

'use strict';
// inflight: a look-up that never answers keeps its callbacks. The control answers each.
const inflight = require('inflight');
const { Beside, random } = require('./beside');

const beside = new Beside();
let answers = false;

function lookUp(name, done) {
  const callback = inflight(name, done);
  if (callback && (answers || random(4) !== 0)) callback(null, name.length);
}

module.exports = {
  prepare(control) { answers = control; },
  serve() {
    const order = { id: random(1e9), lines: [random(9), random(9), random(9)] };
    lookUp(`host-${random(1e9)}.example`, () => order.id);
    for (let i = 0; i < 10; i++) beside.request();
  },
};

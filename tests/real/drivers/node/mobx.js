'use strict';
// mobx: a reaction of each visitor to the prices of the shop. The control disposes of it, as its documentation asks.
const { observable, autorun } = require('mobx');
const { Beside, random } = require('./beside');

const beside = new Beside();
const prices = observable.map({ book: 12, pen: 2 });
let disposes = false;

function watchPrices(visitor) {
  const basket = { visitor, seen: [] };
  const dispose = autorun(() => { basket.seen = [prices.get('book'), prices.get('pen')]; });
  if (disposes) dispose();
  return basket.seen.length;
}

module.exports = {
  prepare(control) { disposes = control; },
  serve() {
    watchPrices(`visitor ${random(1e9)}`);
    for (let i = 0; i < 10; i++) beside.request();
  },
};

'use strict';
// node --test: a few of each kind; check_growth.js runs many.
const assert = require('node:assert');
const test = require('node:test');
const { expectNoGrowth, MemoryGrowth } = require('../index.js');

test('a leak fails with function, file, line and holder', async () => {
  const kept = [];
  const remember = () => kept.push(new Array(400).fill(kept.length));
  await assert.rejects(expectNoGrowth(remember), (failure) => {
    assert.ok(failure instanceof MemoryGrowth);
    assert.match(failure.message, /GROWING {2}remember {2}.*growth\.test\.js:9 {2}\d/);
    assert.match(failure.message, /held by {2}kept.* keeps/);
    return true;
  });
});

test('a map that is never emptied fails', async () => {
  const cache = new Map();
  let number = 0;
  const serve = async () => { cache.set(`user ${number++}`, { name: 'x'.repeat(10), list: new Array(200).fill(0) }); };
  await assert.rejects(expectNoGrowth(serve, { holder: false }), /GROWING {2}serve {2}.*growth\.test\.js:21/);
});

test('work that leaves nothing passes', async () => {
  await expectNoGrowth(() => JSON.parse(JSON.stringify(new Array(1000).fill({ a: 1 }))).length);
});

test('a cache with a bound passes', async () => {
  const cache = new Map();
  let number = 0;
  await expectNoGrowth(() => {
    cache.set(number++ % 4, new Array(300).fill(number));
  });
});

test('what is asked for wrongly is said', async () => {
  await assert.rejects(expectNoGrowth(() => 0, { rounds: 3 }), /rounds: found 3/);
  await assert.rejects(expectNoGrowth(() => 0, { budget: '1KiB/day' }), /budget: found/);
});

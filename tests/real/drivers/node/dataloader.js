'use strict';
// dataloader: one loader for the whole process; the control makes one for each request, as its documentation asks.
const DataLoader = require('dataloader');
const { Beside, random } = require('./beside');

const beside = new Beside();
const makeLoader = () => new DataLoader(async (ids) => ids.map((id) => ({ id, title: `article ${id}`, tags: [id % 7, id % 11] })));
let shared = makeLoader();
let perRequest = false;

async function showArticles(ids) {
  const loader = perRequest ? makeLoader() : shared;
  return (await loader.loadMany(ids)).length;
}

module.exports = {
  prepare(control) { perRequest = control; if (control) shared = null; },
  async serve() {
    await showArticles(Array.from({ length: 5 }, () => random(1e9)));
    for (let i = 0; i < 10; i++) beside.request();
  },
};

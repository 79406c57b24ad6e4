'use strict';
// cls-hooked: the context of a request holds a promise. The control keeps none there.
const cls = require('cls-hooked');
const { Beside, random } = require('./beside');

const beside = new Beside();
const namespace = cls.createNamespace('requests');
let bare = false;

async function loadUser(id) {
  return { id, roles: Array.from({ length: 20 }, (_, i) => `role-${i}`) };
}

function handleRequest(id) {
  namespace.run(() => {
    const user = loadUser(id);
    namespace.set('user', bare ? id : user);
    for (let i = 0; i < 20; i++) beside.request();
  });
}

module.exports = {
  prepare(control) { bare = control; },
  async serve() {
    handleRequest(random(1e6));
    if (random(10) === 0) await new Promise((done) => setImmediate(done));
  },
};

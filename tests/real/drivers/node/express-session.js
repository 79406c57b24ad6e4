'use strict';
// express-session: the MemoryStore that it warns of. Each visit without a cookie makes a session. The control saves none that is empty.
const session = require('express-session');
const { Beside, random } = require('./beside');

const beside = new Beside();
let middleware;
let keeps = true;

function visit() {
  return new Promise((done) => {
    const request = { headers: {}, url: '/', originalUrl: '/', method: 'GET', connection: { encrypted: false } };
    const response = { headersSent: false, _headers: {}, on() {}, setHeader() {}, getHeader() {}, writeHead() {}, write() { return true; }, end() { done(); }, _implicitHeader() {}, _header: 'x', _contentLength: null };
    middleware(request, response, () => {
      if (keeps) request.session.basket = { visit: random(1e9), articles: [random(100), random(100)] };
      response.end();
    });
  });
}

module.exports = {
  prepare(control) {
    keeps = !control;
    middleware = session({ secret: 'shop', resave: false, saveUninitialized: false });
  },
  async serve() {
    await visit();
    for (let i = 0; i < 10; i++) beside.request();
  },
};

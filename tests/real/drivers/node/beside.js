'use strict';
// The ordinary work of a service: a bounded cache, a window of timings, requests of varying size.
let state = 7;

function random(below) {
  state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
  return (state >>> 8) % below;
}

class Beside {
  constructor() {
    this.pages = new Map();
    this.timings = [];
  }

  request() {
    const key = random(600);
    let page = this.pages.get(key);
    if (!page) {
      page = Array.from({ length: 10 + random(60) }, (_, i) => ({ key, i }));
      this.pages.set(key, page);
      if (this.pages.size > 100) this.pages.delete(this.pages.keys().next().value);
    }
    this.timings.push(random(1000));
    if (this.timings.length > 2000) this.timings.splice(0, 1000);
    return page.length;
  }
}

module.exports = { Beside, random };

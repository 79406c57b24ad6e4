// Keeps sessions in an array: 50, then 250. Writes two snapshots of each kind, and what the engine counts by type itself.
import { generateHeapSnapshotForDebugging, heapStats } from "bun:jsc";
import { writeFileSync } from "fs";

class Session {
  constructor(n) {
    this.id = n;
    this.buffer = new Uint8Array(512);
    this.tags = ["a" + n, "b" + n];
  }
}

const kept = [];
globalThis.kept = kept;

function keep(from, to) {
  for (let i = from; i < to; i++) kept.push(new Session(i));
}

function write(n) {
  Bun.gc(true);
  const counts = heapStats().objectTypeCounts;
  writeFileSync(`${n}.inspector.json`, JSON.stringify(Bun.generateHeapSnapshot("jsc")));
  writeFileSync(`${n}.debugging.json`, JSON.stringify(generateHeapSnapshotForDebugging()));
  writeFileSync(`${n}.counts.expected.txt`, JSON.stringify(counts));
}

keep(0, 50);
write("few");
keep(50, 250);
write("many");

"""Node: V8's sampling profiler, plain or bundled."""

import gzip
import json

import pprof
import program as programs
from languages.language import Language, need, run, write_table

NODE_MAIN = """const fs = require('fs');
const inspector = require('inspector');
const rt = require('%s/rt.js');
%s
function run() {
%s
}
const table = fs.readFileSync(process.argv[2], 'utf8').trim().split('\\n').map(l => l.split(' ').map(Number));
const session = new inspector.Session();
session.connect();
session.post('HeapProfiler.enable');
session.post('HeapProfiler.startSampling', {samplingInterval: 1});
for (const row of table) {
  const way = row.slice(3).concat([-1]);
  for (let i = 0; i < row[0]; i++) { rt.way = way; rt.depth = 0; rt.size = row[1] * 8; run(); }
}
session.post('HeapProfiler.getSamplingProfile', (e, r) => fs.writeFileSync(process.argv[3], JSON.stringify(r.profile)));
"""

NODE_RT = """exports.way = []; exports.depth = 0; exports.size = 0; exports.kept = new Array(1 << 20); exports.count = 0;
exports.is = k => exports.way[exports.depth] === k;
exports.at = k => { if (exports.way[exports.depth] !== k) return false; exports.depth++; return true; };
exports.withTrace = function withTrace(f) { return f(); };
"""


class Node(Language):
    """V8 tells stacks by function, not by line: paths of one run of functions are one stack."""
    name = "Node"
    FIRST = 3000

    def __init__(self, bundled=False):
        self.bundled = bundled

    def real_size(self, size, flavour):
        return size * 8 + 64

    def at(self, uid):
        return f"rt.at({uid})"

    def here(self, uid):
        return f"rt.is({uid})"

    def module(self, file):
        return f"{file.directory}/{file.base}"

    def call(self, program, step):
        argument = "1" if program.function(step.callee).parameter else ""
        file = program.file_of(step.callee)
        called = f"rt.m_{file.space}_{file.type}.{self.js_name(program.function(step.callee))}({argument});"
        return f"rt.withTrace(() => {called[:-1]});" if step.through else called

    def js_name(self, function):
        head, *tail = function.name.split("_")
        return head + "".join(w.capitalize() for w in tail)

    def site(self, program, step):
        one = "rt.kept[rt.count++] = new Array(rt.size / 8)"
        return f"(() => {{ {one}; }})();" if step.flavour == 3 else one + ";"

    def emit(self, program, folder):
        folder.mkdir(parents=True)
        bundle = []
        for file in program.files:
            out = ["// The service's own part of the work"] * file.head
            if not self.bundled:
                out.append(f"const rt = require('{folder}/rt.js');")
            exported = f"rt.m_{file.space}_{file.type}"
            out.append(f"{exported} = {exported} || {{}};")
            for function in file.functions:
                out += [""] * function.gap
                given = "n" if function.parameter else ""
                out.append(f"{exported}.{self.js_name(function)} = function {self.js_name(function)}({given}) {{"
                           if function.uid % 4 else f"{exported}.{self.js_name(function)} = ({given}) => {{")
                self.body(program, function.steps, 1, out)
                out.append("};")
            if self.bundled:
                bundle += out
            else:
                (folder / file.directory).mkdir(exist_ok=True)
                (folder / file.directory / (file.base + ".js")).write_text("\n".join(out) + "\n")
        (folder / "rt.js").write_text(NODE_RT)
        body = []
        self.body(program, program.roots, 1, body)
        imports = "\n".join(bundle) if self.bundled else "\n".join(
            f"require('{folder}/{self.module(file)}.js');" for file in program.files)
        (folder / "main.js").write_text(NODE_MAIN % (folder, imports, "\n".join(body)))

    def build(self, folder):
        need("node")

    def profile(self, folder, table, out):
        # The sampler loses some objects: each path has a size of its own there, which says that it was at this place.
        write_table([programs.Path(p.steps, self.FIRST + 32 * k, 25) for k, p in enumerate(table)], folder / "table")
        raw = folder / "heap.json"
        run(["node", "--no-opt", "--max-lazy", str(folder / "main.js"), str(folder / "table"), str(raw)], cwd=folder)
        tree = json.loads(raw.read_text())
        path_of = {self.real_size(self.FIRST + 32 * k, 0): k for k in range(len(table))}
        there = {}
        for sample in tree["samples"]:
            if sample["size"] in path_of:
                there.setdefault(sample["nodeId"], set()).add(path_of[sample["size"]])
        rows = []
        for node, stack in pprof.v8_stacks(tree):
            held = [table[k] for k in sorted(there.get(node["id"], ()))]
            if held and stack:
                rows.append((stack, sum(self.real_size(p.size, 0) * p.count for p in held), sum(p.count for p in held)))
        out.write_bytes(gzip.compress(pprof.encode(rows), mtime=0))
        return out

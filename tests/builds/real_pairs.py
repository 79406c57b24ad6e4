#!/usr/bin/env python3
"""Two releases of real programs, compared: the heaviest rows with both stacks, to be looked at by hand.

    tests/builds/real_pairs.py SNAPDIFF [--only marked,re2] [--rows 20]

Packages come from npm (`npm pack`), Python's modules from two interpreters, RE2 from the sources that npm's re2 carries.
What is missing is skipped and said so.
"""

import argparse
import collections
import gzip
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pprof

NPM = {  # package: releases, and what is done with `lib` (the package) for the i-th time
    "marked": ("4.0.10", "9.1.6", "kept.push((lib.lexer || lib.marked.lexer)(text(i)))"),
    "handlebars": ("4.1.2", "4.7.8", "kept.push(lib.parse('{{#each a}}<b>{{x}}</b>{{/each}} ' + text(i).slice(0, 400)),"
                   " lib.precompile('{{#if a}}' + i + '{{/if}}'))"),
    "acorn": ("7.4.1", "8.12.1", "kept.push(lib.parse(code(i), {ecmaVersion: 2020, locations: true}))"),
    "less": ("3.13.1", "4.2.0", "lib.render(style(i), {syncImport: true}, (e, out) => kept.push(out && out.css))"),
    "js-yaml": ("3.13.1", "4.1.0", "kept.push((lib.safeLoad && lib.safeLoad.length ? lib.safeLoad : lib.load)(yaml(i)))"),
    "postcss": ("8.1.0", "8.4.38", "kept.push(lib.parse(style(i)))"),
    "ejs": ("2.7.4", "3.1.9", "kept.push(lib.compile('<% for (const x of a) { %>' + text(i).slice(0, 300) + '<%= x %><% } %>'))"),
}

NODE = """
const inspector = require('inspector'), fs = require('fs');
const session = new inspector.Session();
session.connect();
const text = i => ('# Title ' + i + '\\n\\n' + 'Some *words* and `code` of [a link](x) here.\\n\\n- one\\n- two\\n\\n').repeat(12);
const code = i => ('function f' + i + '(a, b) { const c = [1, 2, `x${a}`]; return c.map(v => v + b * 2); }\\n').repeat(20);
const style = i => ('.a' + i + ' { color: #fff; .b { width: (1px + 2) * 3; } }\\n').repeat(30);
const yaml = i => 'list:\\n' + ('  - name: n' + i + '\\n    tags: [a, b]\\n    text: "q"\\n').repeat(30);
session.post('HeapProfiler.startSampling', {samplingInterval: 512}, () => {
  const lib = require(process.argv[2]), kept = globalThis.kept = [];
  for (let i = 0; i < 60; ++i) { %s; }
  setTimeout(() => session.post('HeapProfiler.stopSampling', (e, r) => {
    fs.writeFileSync(process.argv[3], JSON.stringify(r.profile));
  }), 300);
});
"""

PYTHON = {  # module: files of the standard library, and what is done for the i-th time
    "argparse": (["argparse.py"], "p = argparse.ArgumentParser()\n        [p.add_argument(f'--o{k}', type=int, help='x' * k)"
                 " for k in range(20)]\n        kept.append((p, p.parse_args(['--o1', '2'])))"),
    "configparser": (["configparser.py"], "c = configparser.ConfigParser()\n        c.read_string('[a]\\nx=1\\ny=%(x)s\\n'"
                     " + f'[s{i}]\\n' + ''.join(f'k{k}=v{k}\\n' for k in range(40)))\n        kept.append(c)"),
    "email": (["email"], "kept.append(email.message_from_string('From: a@b\\nTo: c@d\\nSubject: s\\n' + "
              "''.join(f'X-{k}: v\\n' for k in range(30)) + '\\nbody\\n' * 20))"),
    "xml.dom.minidom": (["xml"], "kept.append(xml.dom.minidom.parseString('<a>' + '<b c=\"d\">e</b>' * 60 + '</a>'))"),
    "lib2to3.pytree": (["lib2to3"], "kept.append(driver.parse_string('def f(a):\\n    return a + 1\\n' * 15))"),
}

PYTHON_RUN = """
import sys, tracemalloc
sys.path.insert(0, sys.argv[1])
tracemalloc.start(40)
import %s
%s
kept = []
def work():
    for i in range(60):
        %s
work()
tracemalloc.take_snapshot().dump(sys.argv[2])
"""

RE2 = """
#include <re2/re2.h>
#include <string>
#include <vector>
int main() {
  std::vector<RE2*> kept;
  for (int i = 0; i < 300; ++i) {
    kept.push_back(new RE2("(a+|b" + std::to_string(i) + ")*c[d-z]{2,9}(\\\\w+)@(\\\\d+)\\\\.com"));
    const std::string text = std::string(200, 'a') + "b" + std::to_string(i) + "cdef name@12.com";
    RE2::PartialMatch(text, *kept.back());
  }
  _exit(0);
}
"""


class Missing(Exception):
    pass


def run(command, **more):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    if done.returncode != 0:
        raise Missing(f"{command[0]}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-200:]}")
    return done.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Missing(f"{program} is not installed")


def unpack(package, version, folder):
    """The folder of an npm package."""
    need("npm")
    folder.mkdir(parents=True)
    run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", f"{package}@{version}"])
    return folder / "node_modules" / package


def npm_pair(package, folder):
    need("node")
    before, after, use = NPM[package]
    (folder / "use.js").write_text(NODE % use)
    out = []
    for version in (before, after):
        lib = unpack(package, version, folder / version)
        raw = folder / f"{version}.heapprofile"
        run(["node", "--no-opt", folder / "use.js", lib, raw])  # what is inlined leaves no frame
        out.append(folder / f"{version}.pb.gz")
        out[-1].write_bytes(gzip.compress(pprof.encode(v8_rows(json.loads(raw.read_text()))), mtime=0))
    return f"{before} → {after}", out


def v8_rows(profile):
    """Stacks of V8's sampling profiler with bytes and objects: pprof is what Node's agents write."""
    counts = collections.Counter(sample["nodeId"] for sample in profile.get("samples", []))
    return [(stack, node["selfSize"], counts[node["id"]] or 1) for node, stack in pprof.v8_stacks(profile)
            if node["selfSize"] and stack]


def python_pair(module, folder):
    files, use = PYTHON[module]
    found = [p for p in map(real_interpreter, interpreters()) if p]
    if len(found) < 2:
        raise Missing("two versions of Python are not installed")
    extra = "from lib2to3 import pygram, pytree\nfrom lib2to3.pgen2 import driver as d\n" \
            "driver = d.Driver(pygram.python_grammar, convert=pytree.convert)" if module.startswith("lib2to3") else ""
    (folder / "use.py").write_text(PYTHON_RUN % (module, extra, use))
    out = []
    for python in (found[0], found[-1]):
        library = pathlib.Path(run([python, "-c", "import os; print(os.path.dirname(os.__file__))"]).strip())
        own = folder / library.name
        own.mkdir()
        for name in files:
            (shutil.copytree if (library / name).is_dir() else shutil.copy)(library / name, own / name)
        out.append(folder / f"{library.name}.pickle")
        run([found[-1], "-B", folder / "use.py", own, out[-1]])
    return f"{out[0].stem} → {out[1].stem}", out


def interpreters():
    """Oldest first, up to 3.12, the last one that has lib2to3."""
    for minor in range(8, 13):
        found = [shutil.which(f"python3.{minor}"), *pathlib.Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3")]
        yield from filter(None, reversed(found))


def real_interpreter(python):
    try:
        return run([python, "-c", "import sys; print(sys.executable)"]).strip()
    except Missing:
        return None


def re2_pair(_, folder):
    need("g++", "heaptrack")
    out = []
    versions = ("1.10.5", "1.17.8")
    (folder / "main.cc").write_text("#include <unistd.h>\n" + RE2)
    for version in versions:
        source = unpack("re2", version, folder / version) / "vendor"
        built = folder / version / "prog"
        sources = [p for part in ("re2", "util") for p in sorted((source / part).glob("*.cc"))
                   if not any(word in p.name for word in ("test", "benchmark", "fuzz", "random", "pcre", "thread"))]
        run(["g++", "-O1", "-g", "-w", "-pthread", f"-I{source}", folder / "main.cc", *sources, "-o", built])
        run(["heaptrack", "-o", folder / version / "heap", built])
        out.append(next((folder / version).glob("heap*")))
    return " → ".join(versions), out


def frames(stack, most=5):
    own = [f for f in stack if f["function"] and not (f["file"] or "").startswith(("node:", "internal/"))]
    return [f"{f['function'][-46:]}:{f['line']}" for f in own[:most]]


def show(snapdiff, title, versions, files, rows):
    answer = json.loads(run([snapdiff, "diff", *files, "--db", ":memory:", "--as", "json", "-n", "0"]))
    parts = {tier: round(100 * share, 1) for tier, share in answer["matched"].items() if share >= 0.001}
    print(f"\n== {title} {versions}: % of the bytes by tier {parts}")
    heaviest = sorted(answer["rows"], key=lambda r: -(r["baseline"] + r["current"]))[:rows]
    for number, row in enumerate(heaviest, 1):
        print(f"{number:3} {row['tier'] or row['class']:8} {row['baseline'] / 1024:9.1f} → {row['current'] / 1024:9.1f} KiB")
        before = frames(row.get("baseline_stack") or (row["stack"] if row["baseline"] else []))
        after = frames(row["stack"] if row["current"] else [])
        for i in range(max(len(before), len(after))):
            left, right = (side[i] if i < len(side) else "" for side in (before, after))
            print(f"      {left:54} {'=' if left == right else '|'} {right}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("snapdiff")
    parser.add_argument("--only", default="", help="programs, comma-separated; all without")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--keep", help="a folder for the two profiles of each")
    options = parser.parse_args()
    pairs = {**{p: npm_pair for p in NPM}, **{p: python_pair for p in PYTHON}, "re2": re2_pair}
    chosen = options.only.split(",") if options.only else pairs
    for name in chosen:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="real-pair-"))
        try:
            versions, files = pairs[name](name, folder)
            if options.keep:
                for number, file in enumerate(files, 1):
                    shutil.copy(file, pathlib.Path(options.keep) / f"{name}.{number}{''.join(file.suffixes[-2:])}")
            show(options.snapdiff, name, versions, files, options.rows)
        except Missing as missing:
            print(f"\n== {name}: skipped, {missing}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Two releases of real programs, compared: the heaviest rows with both stacks, to be looked at by hand.

    tests/builds/real_pairs.py SNAPDIFF [--only marked,re2] [--rows 20]

Packages come from npm, Python's modules from two interpreters, RE2, SQLite and LevelDB from the sources that npm's re2,
better-sqlite3 and leveldown carry. What is missing is skipped and said so.
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
#include <unistd.h>
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

SQLITE = """
#include <sqlite3.h>
#include <string>
#include <unistd.h>
int main() {
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  const auto run = [&](const std::string& sql) { sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr); };
  for (int t = 0; t < 20; ++t) {
    const std::string name = "t" + std::to_string(t);
    run("CREATE TABLE " + name + "(id INTEGER PRIMARY KEY, name TEXT NOT NULL, size REAL DEFAULT 1.5, at TEXT)");
    run("CREATE INDEX i" + name + " ON " + name + "(name, at)");
    run("CREATE VIEW v" + name + " AS SELECT name, sum(size) s FROM " + name + " GROUP BY name HAVING s > 2");
    run("CREATE TRIGGER g" + name + " AFTER INSERT ON " + name + " BEGIN UPDATE " + name + " SET at='x' WHERE id=new.id; END");
    run("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 200) INSERT INTO " + name +
        "(name) SELECT 'row ' || n FROM c");
  }
  for (int i = 0; i < 400; ++i) {
    const std::string name = "t" + std::to_string(i % 20);
    sqlite3_stmt* kept = nullptr;
    const std::string sql = "SELECT a.name, count(*), upper(b.name) FROM " + name + " a JOIN v" + name +
                            " b USING (name) WHERE a.size IN (1.5, 2.5) AND a.name LIKE 'row%' ORDER BY 2 DESC LIMIT 5";
    sqlite3_prepare_v2(db, sql.c_str(), -1, &kept, nullptr);
    sqlite3_step(kept);
  }
  _exit(0);
}
"""

LEVELDB = """
#include <leveldb/db.h>
#include <leveldb/cache.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>
#include <string>
#include <unistd.h>
#include <vector>
int main(int, char** argv) {
  leveldb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 256 << 10;
  options.block_cache = leveldb::NewLRUCache(2 << 20);
  options.filter_policy = leveldb::NewBloomFilterPolicy(10);
  leveldb::DB* db = nullptr;
  if (!leveldb::DB::Open(options, std::string(argv[0]) + ".db", &db).ok()) return 1;
  for (int i = 0; i < 400; ++i) {
    leveldb::WriteBatch batch;
    for (int k = 0; k < 100; ++k) batch.Put("key " + std::to_string(i * 7919 % 400 * 100 + k), std::string(60, 'v'));
    db->Write(leveldb::WriteOptions(), &batch);
  }
  db->CompactRange(nullptr, nullptr);
  std::vector<leveldb::Iterator*> kept;
  for (int i = 0; i < 300; ++i) {
    kept.push_back(db->NewIterator(leveldb::ReadOptions()));
    int steps = 0;
    for (kept.back()->Seek("key " + std::to_string(i)); kept.back()->Valid() && steps < 500; kept.back()->Next()) ++steps;
  }
  std::string value;
  for (int i = 0; i < 3000; ++i) db->Get(leveldb::ReadOptions(), "key " + std::to_string(i * 13), &value);
  for (int i = 0; i < 1500; ++i) db->Put(leveldb::WriteOptions(), "last " + std::to_string(i), std::string(80, 'v'));
  _exit(0);
}
"""

# library: npm package, its releases, the source's folder or archive in it, folders of its files, what to leave out, options
CPP = {
    "re2": ("re2", ("1.10.5", "1.17.8"), ["vendor"], ["re2", "util"], ["pcre", "thread", "random"], [], RE2),
    "sqlite": ("better-sqlite3", ("5.4.0", "9.6.0"), ["deps/sqlite3.tar.gz", "deps/sqlite3"], ["."], [],
               ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"], SQLITE),
    "leveldb": ("leveldown", ("1.4.0", "6.1.1"), ["deps/leveldb/leveldb-1.18.0", "deps/leveldb/leveldb-1.20"],
                ["db", "table", "util", "port"], ["bench", "leveldbutil", "leveldb_main", "env_chromium", "port_uv"],
                ["-DLEVELDB_PLATFORM_POSIX", "-DOS_LINUX", "-Iinclude"], LEVELDB),
}


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
            if (library / name).is_dir():  # both are compiled, and make their own grammars: one run has no caches of the other
                shutil.copytree(library / name, own / name, ignore=shutil.ignore_patterns("__pycache__", "*.pickle"))
            else:
                shutil.copy(library / name, own / name)
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


def cpp_pair(library, folder):
    need("g++", "gcc", "heaptrack")
    package, versions, places, parts, without, options, use = CPP[library]
    out = []
    (folder / "main.cc").write_text(use)
    for version in versions:
        root = unpack(package, version, folder / version)
        source = next(root / place for place in places if (root / place).exists())
        if source.is_file():
            (root / "source").mkdir()
            shutil.unpack_archive(source, root / "source")
            source = root / "source"
        built = folder / version / "prog"
        files = [p for part in parts for p in sorted((source / part).glob("*.c*"))
                 if not any(word in p.name for word in ["test", "benchmark", "fuzz", *without])]
        flags = ["-O1", "-g", "-w", "-pthread", f"-I{source}",
                 *(f"-I{source / o[2:]}" if o.startswith("-I") else o for o in options)]
        objects = [folder / version / f"{i}.o" for i in range(len(files))]
        for file, compiled in zip(files, objects):
            run(["gcc" if file.suffix == ".c" else "g++", *flags, "-c", file, "-o", compiled])
        run(["g++", *flags, folder / "main.cc", *objects, "-o", built])
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
    pairs = {**{p: npm_pair for p in NPM}, **{p: python_pair for p in PYTHON}, **{p: cpp_pair for p in CPP}}
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

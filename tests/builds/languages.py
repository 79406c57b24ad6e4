"""The program as source text of each language, its build and its run with a profiler."""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pprof
import program as programs


class Missing(Exception):
    """A tool that this machine does not have."""


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def need(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            raise Missing(tool)


def write_table(table, file):
    lines = [f"{p.count} {p.size} {len(p.steps)} {' '.join(map(str, p.steps))}\n" for p in table]
    file.write_text("".join(lines))


class Language:
    """What the languages share: bodies as nested conditions."""
    comment = "//"
    indent = "  "
    end_if = "}"
    named = True  # profiles hold the names of functions
    helpers = {}  # by flavour: the program's own function, or file, that a site has allocate for it

    def body(self, program, steps, depth, out):
        pad = self.indent * depth
        for step in steps:
            if step.kind == "comment":
                out.append(f"{pad}{self.comment} what comes next depends on the order of arrival")
            elif step.kind == "site":
                self.conditional(pad, self.at(step.uid), [self.site(program, step)], out)
            elif step.kind == "helper":
                asked = self.any_of([self.here(uid) for uid in step.covers])
                self.conditional(pad, asked, [self.call(program, step)], out)
            elif step.body:
                out.append(pad + self.open_if(self.at(step.uid)))
                self.body(program, step.body, depth + 1, out)
                if self.end_if:
                    out.append(pad + self.end_if)
            else:
                self.conditional(pad, self.at(step.uid), [self.call(program, step)], out)

    def conditional(self, pad, asked, lines, out):
        out.append(pad + self.open_if(asked))
        out.extend(pad + self.indent + line for line in lines)
        if self.end_if:
            out.append(pad + self.end_if)

    def any_of(self, conditions):
        return " || ".join(conditions)

    def at(self, uid):
        return f"at({uid})"

    def here(self, uid):
        return f"is({uid})"

    def open_if(self, asked):
        return f"if ({asked}) {{"

    def real_size(self, size, flavour):
        return size


CPP_RUNTIME = r"""#pragma once
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>
struct Run { int way[64]; int depth; std::size_t size; };
extern Run g_run;
extern void* volatile g_sink;
#define ALWAYS static inline __attribute__((always_inline))
ALWAYS bool is(int k) { return g_run.way[g_run.depth] == k; }
ALWAYS bool at(int k) { if (!is(k)) return false; ++g_run.depth; return true; }
ALWAYS void keep(void* p) { g_sink = p; }
template <class T> char* box() { return new char[g_run.size]; }
inline void fill(std::vector<char>& v) { v.reserve(g_run.size); }
template <class F> __attribute__((noinline)) void with_trace(F&& f) { int before = g_run.depth; f(); g_run.size += g_run.depth < before; }
"""

CPP_MAIN = r"""
#include <fcntl.h>
#include <unistd.h>
Run g_run;
void* volatile g_sink;
static char g_text[1 << 20];
static long number(char*& at) {
  while (*at == ' ' || *at == '\n') ++at;
  long n = 0;
  for (; *at >= '0' && *at <= '9'; ++at) n = n * 10 + (*at - '0');
  return n;
}
%s
int main(int, char** argv) {
  int file = open(argv[1], O_RDONLY);
  g_text[read(file, g_text, sizeof g_text - 1)] = 0;
  for (char* at = g_text; *at != 0;) {
    long count = number(at);
    long size = number(at);
    int length = static_cast<int>(number(at));
    for (int i = 0; i < length; ++i) g_run.way[i] = static_cast<int>(number(at));
    g_run.way[length] = -1;
    while (*at == '\n') ++at;
    for (long i = 0; i < count; ++i) {
      g_run.depth = 0;
      g_run.size = static_cast<std::size_t>(size);
      run();
    }
  }
%s  return 0;
}
"""


class Cpp(Language):
    name = "C++"
    helpers = {3: "fill"}

    def __init__(self, compiler="g++", level="-O2", lto=False, static=False, symbols=False):
        self.compiler, self.level, self.lto, self.static, self.symbols = compiler, level, lto, static, symbols

    def qualified(self, program, uid):
        file = program.file_of(uid)
        return f"{file.space}::{file.type}::{program.function(uid).name}"

    def call(self, program, step):
        argument = "1" if program.function(step.callee).parameter else ""
        called = f"{self.qualified(program, step.callee)}({argument});"
        return f"with_trace([] {{ {called} }});" if step.through else called

    def site(self, program, step):
        return ("keep(new char[g_run.size]);", "keep(std::malloc(g_run.size));",
                f"keep(box<struct Item{step.uid % 3}>());",
                "{ auto& v = *new (g_place) std::vector<char>; fill(v); keep(&v); }")[step.flavour]

    def emit(self, program, folder):
        (folder / "src").mkdir(parents=True)
        (folder / "src/runtime.h").write_text(CPP_RUNTIME + "alignas(16) inline char g_place[64];\n#include <new>\n")
        head = ['#include "runtime.h"']
        for file in program.files:
            head.append(f"namespace {file.space} {{ struct {file.type} {{")
            head += [f"  static void {f.name}({'int' if f.parameter else ''});" for f in file.functions]
            head.append("}; }")
        (folder / "src/all.h").write_text("#pragma once\n" + "\n".join(head) + "\n")
        names = []
        for file in program.files:
            out = ["// The service's own part of the work"] * file.head + ['#include "all.h"']
            for function in file.functions:
                out += [""] * function.gap
                out.append(f"void {file.space}::{file.type}::{function.name}({'int' if function.parameter else ''}) {{")
                self.body(program, function.steps, 1, out)
                out.append("}")
            where = folder / "src" / file.directory
            where.mkdir(exist_ok=True)
            (where / (file.base + ".cc")).write_text("\n".join(out) + "\n")
            names.append(f"{file.directory}/{file.base}.cc")
        run_body = ["__attribute__((noinline)) void run() {"]
        self.body(program, program.roots, 1, run_body)
        main = CPP_MAIN % ("\n".join(run_body + ["}"]), "")
        (folder / "src/main.cc").write_text('#include "all.h"\n' + main)
        self.sources = names + ["main.cc"]

    def build(self, folder):
        need(self.compiler, "heaptrack")
        flags = ["-g", "-std=c++17", self.level, f"-I{folder}/src", "-w"]
        if self.lto:
            flags.append("-flto")
            sources = [str(folder / "src" / s) for s in self.sources]
        else:
            (folder / "src/unity.cc").write_text("".join(f'#include "{s}"\n' for s in self.sources))
            sources = [str(folder / "src/unity.cc")]
        run([self.compiler, *flags, *sources, "-o", str(folder / "prog")])

    def profile(self, folder, table, out):
        write_table(table, folder / "table")
        run(["heaptrack", "-o", str(out), str(folder / "prog"), str(folder / "table")], cwd=folder)
        return next(out.parent.glob(out.name + "*"))

    def arguments(self, folder):
        return []


CPP_HOOK = r"""
#include <execinfo.h>
#include <cstdio>
#include <cstring>
extern "C" void* __libc_malloc(std::size_t);
struct Row { void* frame[30]; int depth; unsigned long bytes, objects; };
static Row g_rows[8192];
static int g_row_count;
static int g_off = 1;
static __attribute__((noinline)) void note(std::size_t size) {
  g_off = 1;
  Row row;
  row.depth = backtrace(row.frame, 30);
  int i = 0;
  while (i < g_row_count && (g_rows[i].depth != row.depth || std::memcmp(g_rows[i].frame, row.frame, sizeof(void*) * row.depth) != 0)) ++i;
  if (i == g_row_count) { row.bytes = row.objects = 0; g_rows[g_row_count++] = row; }
  g_rows[i].bytes += size;
  g_rows[i].objects += 1;
  g_off = 0;
}
extern "C" void* malloc(std::size_t size) { if (!g_off) note(size); return __libc_malloc(size); }
struct Profile {
  Profile() { void* some[4]; backtrace(some, 4); g_off = 0; }
  ~Profile() {
    g_off = 1;
    std::FILE* out = std::fopen("out.heap", "w");
    unsigned long bytes = 0, objects = 0;
    for (int i = 0; i < g_row_count; ++i) { bytes += g_rows[i].bytes; objects += g_rows[i].objects; }
    std::fprintf(out, "heap profile: %lu: %lu [%lu: %lu] @ heapprofile\n", objects, bytes, objects, bytes);
    for (int i = 0; i < g_row_count; ++i) {
      std::fprintf(out, "%lu: %lu [%lu: %lu] @", g_rows[i].objects, g_rows[i].bytes, g_rows[i].objects, g_rows[i].bytes);
      for (int k = 2; k < g_rows[i].depth; ++k) std::fprintf(out, " %p", g_rows[i].frame[k]);
      std::fprintf(out, "\n");
    }
    std::fprintf(out, "\nMAPPED_LIBRARIES:\n");
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[1024];
    while (std::fgets(line, sizeof line, maps)) std::fputs(line, out);
    std::fclose(out);
  }
} g_profile;
"""


class CppText(Cpp):
    """The same with a profile of addresses and a memory map, as tcmalloc writes it, named with --symbols."""
    name = "C++ text"

    def emit(self, program, folder):
        super().emit(program, folder)
        (folder / "src/hook.cc").write_text(CPP_HOOK)
        self.sources.append("hook.cc")

    def build(self, folder):
        need(self.compiler)
        super().build(folder)

    def profile(self, folder, table, out):
        write_table(table, folder / "table")
        run([str(folder / "prog"), str(folder / "table")], cwd=folder)
        shutil.move(folder / "out.heap", out)
        return out

    def arguments(self, folder):
        return ["--symbols", str(folder / "prog")]


GO_MAIN = """package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
)

var way [64]int
var depth, size int
var sink [][]byte

func init() { runtime.MemProfileRate = 1 }

func is(k int) bool { return way[depth] == k }
func at(k int) bool {
	if way[depth] != k {
		return false
	}
	depth++
	return true
}

//go:noinline
func withTrace(f func()) {
	f()
	if depth < 0 {
		println("trace")
	}
}

%s

func main() {
	text, _ := os.ReadFile(os.Args[1])
	lines := strings.Split(strings.TrimSpace(string(text)), "\\n")
	sink = make([][]byte, 0, 1000000)
	for _, line := range lines {
		var n [70]int
		for i, word := range strings.Fields(line) {
			n[i], _ = strconv.Atoi(word)
		}
		for i := 0; i < n[0]; i++ {
			copy(way[:], n[3:3+n[2]])
			way[n[2]] = -1
			depth, size = 0, n[1]
			run()
		}
	}
	out, _ := os.Create(os.Args[2])
	runtime.GC()
	pprof.Lookup("heap").WriteTo(out, 0)
	out.Close()
	runtime.KeepAlive(sink)
}
"""

class Go(Language):
    name = "Go"
    indent = "\t"

    def __init__(self, flags=()):
        self.flags = list(flags)

    def real_size(self, size, flavour):
        return programs.class_of(size)

    def open_if(self, asked):
        return f"if {asked} {{"

    def go_name(self, program, uid):
        function = program.function(uid)
        return "".join(w.capitalize() for w in function.name.split("_"))

    def call(self, program, step):
        argument = "1" if program.function(step.callee).parameter else ""
        file = program.file_of(step.callee)
        called = f"the{file.space.capitalize()}{file.type}.{self.go_name(program, step.callee)}({argument})"
        return f"withTrace(func() {{ {called} }})" if step.through else called

    def site(self, program, step):
        if step.flavour == 3:
            return "func() { sink = append(sink, make([]byte, size)) }()"
        return "sink = append(sink, make([]byte, size))"

    def emit(self, program, folder):
        folder.mkdir(parents=True)
        (folder / "go.mod").write_text("module prog\n\ngo 1.18\n")
        for file in program.files:
            kind = file.space.capitalize() + file.type
            out = ["// The service's own part of the work"] * file.head + ["package main", "", f"type {kind} struct{{}}",
                                                                        "", f"var the{kind} = &{kind}{{}}"]
            for function in file.functions:
                out += [""] * max(1, function.gap)
                given = "n int" if function.parameter else ""
                out.append(f"func (x *{kind}) {self.go_name(program, function.uid)}({given}) {{")
                self.body(program, function.steps, 1, out)
                out.append("}")
            (folder / f"{file.directory}_{file.base}.go").write_text("\n".join(out) + "\n")
        body = ["func run() {"]
        self.body(program, program.roots, 1, body)
        (folder / "main.go").write_text(GO_MAIN % "\n".join(body + ["}"]))

    def build(self, folder):
        need("go")
        run(["go", "build", *self.flags, "-o", "prog", "."], cwd=folder,
            env=dict(os.environ, GOFLAGS="-mod=mod", GO111MODULE="on", CGO_ENABLED="0"))

    def profile(self, folder, table, out):
        write_table(table, folder / "table")
        run([str(folder / "prog"), str(folder / "table"), str(out)], cwd=folder)
        return out

    def arguments(self, folder):
        return []


PYTHON_MAIN = """import sys
import tracemalloc
import rt
%s


def run():
%s


def main():
    with open(sys.argv[1]) as file:
        table = [[int(n) for n in line.split()] for line in file]
    tracemalloc.start(40)
    for row in table:
        way = row[3:] + [-1]
        for _ in range(row[0]):
            rt.way, rt.depth, rt.size = way, 0, row[1]
            run()
    tracemalloc.take_snapshot().dump(sys.argv[2])


main()
"""

PYTHON_RT = """way, depth, size = [], 0, 0
kept = []


def keep(block):
    kept.append(block)


def here(k):
    return way[depth] == k


def at(k):
    global depth
    if way[depth] != k:
        return False
    depth += 1
    return True


def with_trace(f):
    return f()


class Box:
    def __init__(self):
        self.room = bytes(size)
"""


class Python(Language):
    name = "Python"
    helpers = {2: "rt"}
    named = False
    comment = "#"
    indent = "    "
    end_if = ""

    def __init__(self, elsewhere=False):
        self.elsewhere = elsewhere

    def real_size(self, size, flavour):
        return size + 33

    def at(self, uid):
        return f"rt.at({uid})"

    def here(self, uid):
        return f"rt.here({uid})"

    def any_of(self, conditions):
        return " or ".join(conditions)

    def open_if(self, asked):
        return f"if {asked}:"

    def module(self, file):
        return f"{file.space}_{file.directory}.{file.base}"

    def call(self, program, step):
        argument = "1" if program.function(step.callee).parameter else ""
        called = f"sys.modules['{self.module(program.file_of(step.callee))}'].{program.function(step.callee).name}"
        return f"rt.with_trace(lambda: {called}({argument}))" if step.through else f"{called}({argument})"

    def site(self, program, step):
        return "rt.keep(bytes(rt.size))" if step.flavour != 2 else "rt.keep(rt.Box().room)"

    def emit(self, program, folder):
        folder.mkdir(parents=True)
        (folder / "rt.py").write_text(PYTHON_RT)
        for file in program.files:
            out = ["# The service's own part of the work"] * file.head + ["import sys", "import rt"]
            for function in file.functions:
                out += [""] * function.gap
                out.append(f"def {function.name}({'n' if function.parameter else ''}):")
                self.body(program, function.steps, 1, out)
                out.append("    return None")
            where = folder / f"{file.space}_{file.directory}"
            where.mkdir(exist_ok=True)
            (where / "__init__.py").write_text("")
            (where / (file.base + ".py")).write_text("\n".join(out) + "\n")
        body = []
        self.body(program, program.roots, 1, body)
        imports = "\n".join(f"import {self.module(file)}" for file in program.files)
        (folder / "main.py").write_text(PYTHON_MAIN % (imports, "\n".join(body)))

    def build(self, folder):
        pass

    def profile(self, folder, table, out):
        write_table(table, folder / "table")
        run([sys.executable, str(folder / "main.py"), str(folder / "table"), str(out)], cwd=folder)
        return out

    def arguments(self, folder):
        return []


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

    def arguments(self, folder):
        return []


RUST_MAIN = """#![allow(warnings)]
mod rt;
%s
#[inline(never)]
fn run() {
%s
}

fn main() {
    let name = std::env::args().nth(1).unwrap();
    let text = std::fs::read_to_string(name).unwrap();
    for line in text.lines() {
        let n: Vec<i64> = line.split(' ').map(|w| w.parse().unwrap()).collect();
        for _ in 0..n[0] {
            unsafe {
                for i in 0..n[2] as usize { rt::WAY[i] = n[3 + i]; }
                rt::WAY[n[2] as usize] = -1;
                rt::DEPTH = 0;
                rt::SIZE = n[1] as usize;
            }
            run();
        }
    }
    std::process::exit(0);
}
"""

RUST_RT = """pub static mut WAY: [i64; 64] = [0; 64];
pub static mut DEPTH: usize = 0;
pub static mut SIZE: usize = 0;
#[inline(always)]
pub fn is(k: i64) -> bool { unsafe { WAY[DEPTH] == k } }
#[inline(always)]
pub fn at(k: i64) -> bool { unsafe { if WAY[DEPTH] != k { return false; } DEPTH += 1; true } }
#[inline(always)]
pub fn size() -> usize { unsafe { SIZE } }
#[inline(always)]
pub fn keep(v: Vec<u8>) { std::mem::forget(std::hint::black_box(v)); }
pub fn make<T>() -> Vec<u8> { Vec::with_capacity(size()) }
#[inline(never)]
pub fn with_trace<F: Fn()>(f: F) { f(); unsafe { if DEPTH > 99 { SIZE = 1; } } }
"""


class Rust(Language):
    name = "Rust"
    helpers = {2: "make"}

    def __init__(self, level="2"):
        self.level = level

    def at(self, uid):
        return f"rt::at({uid})"

    def here(self, uid):
        return f"rt::is({uid})"

    def open_if(self, asked):
        return f"if {asked} {{"

    def call(self, program, step):
        file = program.file_of(step.callee)
        argument = "1" if program.function(step.callee).parameter else ""
        called = f"crate::{file.space}_{file.base}::{file.type}::{program.function(step.callee).name}({argument});"
        return f"rt::with_trace(|| {called[:-1]});" if step.through else called

    def site(self, program, step):
        return ("rt::keep(Vec::with_capacity(rt::size()));", "rt::keep(vec![0u8; rt::size()]);",
                f"rt::keep(rt::make::<[u8; {step.uid % 3 + 1}]>());",
                "(|| rt::keep(Vec::with_capacity(rt::size())))();")[step.flavour]

    def emit(self, program, folder):
        folder.mkdir(parents=True)
        modules = []
        for file in program.files:
            out = ["// The service's own part of the work"] * file.head + ["use crate::rt;", f"pub struct {file.type};",
                                                                        f"impl {file.type} {{"]
            for function in file.functions:
                out += [""] * function.gap
                out.append(f"    pub fn {function.name}({'n: i32' if function.parameter else ''}) {{")
                self.body(program, function.steps, 4, out)
                out.append("    }")
            out.append("}")
            (folder / file.directory).mkdir(exist_ok=True)
            (folder / file.directory / (file.base + ".rs")).write_text("\n".join(out) + "\n")
            modules.append(f'#[path = "{file.directory}/{file.base}.rs"]\nmod {file.space}_{file.base};')
        (folder / "rt.rs").write_text(RUST_RT)
        body = []
        self.body(program, program.roots, 2, body)
        (folder / "main.rs").write_text(RUST_MAIN % ("\n".join(modules), "\n".join(body)))

    def build(self, folder):
        need("rustc", "heaptrack")
        run(["rustc", "-g", "-C", f"opt-level={self.level}", "-C", "codegen-units=1", "--edition", "2021", "-o",
             str(folder / "prog"), str(folder / "main.rs")], cwd=folder)

    def profile(self, folder, table, out):
        return Cpp.profile(self, folder, table, out)

    def arguments(self, folder):
        return []

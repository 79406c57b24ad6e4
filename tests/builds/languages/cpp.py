"""C++: profiled by heaptrack, or by a hook that writes addresses as tcmalloc does."""

import shutil

from languages.language import Language, need, run, run_under_heaptrack, write_table

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
        return run_under_heaptrack(folder, table, out)


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

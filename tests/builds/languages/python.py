"""Python: snapshots of tracemalloc."""

import sys

from languages.language import Language, run, write_table

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

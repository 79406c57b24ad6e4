"""The programs of stages.py as source text: classes whose methods call by closures, tables, and several in one line."""

from languages.go import GO_MAIN, Go
from languages.node import NODE_MAIN, NODE_RT, Node
from languages.python import PYTHON_MAIN, PYTHON_RT, Python

NODE_LOOP = """exports.each = function each(f) { return f(); };
exports.pick = function pick(table) { for (const k in table) if (exports.at(Number(k))) return table[k](1); };
"""

PYTHON_LOOP = """

def each(f):
    return f()


def pick(table):
    for k, f in table.items():
        if at(k):
            return f(1)


def loop(posted):
    for k, f in posted:
        if at(k):
            f(1)
"""

GO_LOOP = """
//go:noinline
func each(f func(int)) {
	f(1)
	if depth < 0 {
		println("each")
	}
}

//go:noinline
func pick(table map[int]func(int)) {
	if f := table[way[depth]]; f != nil {
		depth++
		f(1)
	}
	if depth < 0 {
		println("pick")
	}
}
"""


class Stages:
    """Statements of a method; what a language writes for each is its own."""

    def method(self, program, function, depth, out):
        pad = self.indent * depth
        table = [s for s in function.steps if s.kind == "call" and s.how == "table"]
        for step in function.steps:
            if step.kind == "comment":
                out.append(f"{pad}{self.comment} as the order of the batches may change")
            elif step.kind == "site":
                out.extend(pad + line for line in self.statement(self.at(step.uid), self.site_lines(program, step)))
            elif step.kind == "helper":
                asked = self.any_of([self.here(uid) for uid in step.covers])
                out.extend(pad + line for line in self.statement(asked, [self.target(program, step) + "(1)" + self.end]))
            elif step in table:
                if step is table[0]:
                    out.extend(pad + line for line in self.table(program, table))
            elif step.how == "each":
                out.extend(pad + line for line in self.statement(self.at(step.uid), self.through(program, step)))
            else:
                text = self.one_line(self.at(step.uid), self.target(program, step))
                if step.how == "beside" and out and out[-1].startswith(pad + self.one_line_start):
                    out[-1] += "; " + text
                else:
                    out.append(pad + text)


class StagesPython(Stages, Python):
    name = "Python stages"
    helpers = {}
    end = ""
    one_line_start = "rt.at("

    def target(self, program, step):
        file = program.file_of(step.callee)
        return f"sys.modules['{self.module(file)}'].the.{program.function(step.callee).name}"

    def one_line(self, asked, target):
        return f"{asked} and {target}(1)"

    def statement(self, asked, lines):
        return [f"if {asked}:", *("    " + line for line in lines)]

    def through(self, program, step):
        return [f"rt.each(lambda: {self.target(program, step)}(1))"]

    def table(self, program, steps):
        return ["rt.pick({", *(f"    {s.uid}: {self.target(program, s)}," for s in steps), "})"]

    def site_lines(self, program, step):
        return [["rt.keep(bytes(rt.size))"], ["block = bytes(rt.size)", "rt.keep(block)"],
                ["rt.keep(Item(rt.size).room)"], ["rt.keep(", "    bytes(", "        rt.size))"]][step.flavour]

    def emit(self, program, folder):
        folder.mkdir(parents=True)
        (folder / "rt.py").write_text(PYTHON_RT + PYTHON_LOOP)
        for file in program.files:
            out = ["# Use is subject to the notice in the folder above."] * file.head
            out += ["import sys", "", "import rt", "", "", "class Item:", "    def __init__(self, size):",
                    "        self.room = bytes(size)", "", "", f"class {file.type}:"]
            for function in file.functions:
                out += ["", f"    def {function.name}(self, n):", "        self.n = n"]
                self.method(program, function, 2, out)
            out += ["", "", f"the = {file.type}()"]
            where = folder / f"{file.space}_{file.directory}"
            where.mkdir(exist_ok=True)
            (where / "__init__.py").write_text("")
            (where / (file.base + ".py")).write_text("\n".join(out) + "\n")
        posted = ", ".join(f"({s.uid}, {self.target(program, s)})" for s in program.roots)
        imports = "\n".join(f"import {self.module(file)}" for file in program.files)
        (folder / "main.py").write_text(PYTHON_MAIN % (imports, f"    rt.loop([{posted}])"))


class StagesNode(Stages, Node):
    name = "Node stages"
    end = ";"
    one_line_start = "if (rt.at("

    def target(self, program, step):
        file = program.file_of(step.callee)
        return f"rt.all.{file.type}.{self.js_name(program.function(step.callee))}"

    def one_line(self, asked, target):
        return f"if ({asked}) {target}(1)"

    def statement(self, asked, lines):
        return [f"if ({asked}) {{", *("  " + line for line in lines), "}"]

    def through(self, program, step):
        return [f"rt.each(() => {self.target(program, step)}(1));"]

    def table(self, program, steps):
        return ["rt.pick({", *(f"  {s.uid}: n => {self.target(program, s)}(n)," for s in steps), "});"]

    def site_lines(self, program, step):
        one = "rt.kept[rt.count++] = new Array(rt.size / 8)"
        return [[one + ";"], ["const block = new Array(rt.size / 8);", "rt.kept[rt.count++] = block;"],
                [f"[1].forEach(() => {{ {one}; }});"], ["rt.kept[rt.count++] =", "  new Array(rt.size / 8);"]][step.flavour]

    def emit(self, program, folder):
        folder.mkdir(parents=True)
        files = []
        for file in program.files:
            out = ["// Use is subject to the notice in the folder above."] * file.head
            out += [f"const rt = require('{folder}/rt.js');", f"class {file.type} {{"]
            for function in file.functions:
                out += [f"  {self.js_name(function)}(n) {{", "    this.n = n;"]
                self.method(program, function, 2, out)
                out.append("  }")
            out += ["}", f"rt.all.{file.type} = new {file.type}();"]
            (folder / file.directory).mkdir(exist_ok=True)
            (folder / file.directory / (file.base + ".js")).write_text("\n".join(out) + "\n")
            files.append(f"require('{folder}/{self.module(file)}.js');")
        (folder / "rt.js").write_text(NODE_RT + "exports.all = {};\n" + NODE_LOOP)
        body = "\n".join(f"  if (rt.at({s.uid})) {self.target(program, s)}(1);" for s in program.roots)
        (folder / "main.js").write_text(NODE_MAIN % (folder, "\n".join(files), body))


class StagesGo(Stages, Go):
    name = "Go stages"
    end = ""
    one_line_start = "if at("

    def target(self, program, step):
        file = program.file_of(step.callee)
        return f"the{file.type}.{self.go_name(program, step.callee)}"

    def one_line(self, asked, target):
        return f"if {asked} {{ {target}(1) }}"

    def statement(self, asked, lines):
        return [f"if {asked} {{", *("\t" + line for line in lines), "}"]

    def through(self, program, step):
        return [f"each(func(n int) {{ {self.target(program, step)}(n) }})"]

    def table(self, program, steps):
        return ["pick(map[int]func(int){", *(f"\t{s.uid}: {self.target(program, s)}," for s in steps), "})"]

    def site_lines(self, program, step):
        return [["sink = append(sink, make([]byte, size))"], ["block := make([]byte, size)", "sink = append(sink, block)"],
                ["each(func(int) { sink = append(sink, make([]byte, size)) })"],
                ["sink = append(sink,", "\tmake([]byte, size))"]][step.flavour]

    def emit(self, program, folder):
        folder.mkdir(parents=True)
        (folder / "go.mod").write_text("module prog\n\ngo 1.18\n")
        for file in program.files:
            out = ["// Use is subject to the notice in the folder above."] * file.head
            out += ["package main", "", f"type {file.type} struct{{ n int }}", "",
                    f"var the{file.type} = &{file.type}{{}}"]
            for function in file.functions:
                out += ["", f"func (s *{file.type}) {self.go_name(program, function.uid)}(n int) {{", "\ts.n = n"]
                self.method(program, function, 1, out)
                out.append("}")
            (folder / f"{file.base}.go").write_text("\n".join(out) + "\n")
        body = ["func run() {", *(f"\tif at({s.uid}) {{ {self.target(program, s)}(1) }}" for s in program.roots), "}"]
        (folder / "main.go").write_text(GO_MAIN % (GO_LOOP + "\n" + "\n".join(body)))

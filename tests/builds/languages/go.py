"""Go: pprof of the runtime."""

import os

import program as programs
from languages.language import Language, need, run, write_table

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

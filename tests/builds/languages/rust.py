"""Rust: profiled by heaptrack."""

from languages.language import Language, need, run, run_under_heaptrack

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
        return run_under_heaptrack(folder, table, out)

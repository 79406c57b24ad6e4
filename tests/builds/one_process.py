#!/usr/bin/env python3
"""Series of one process, none of which may be taken for another build. See README.md beside this file."""

import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import edits
import languages as lang
import languages.cpp
import languages.go
import languages.node
import languages.python
import stages
from languages.language import run

MOMENTS = 7

# A line that asks for no objects is a moment: the oldest objects are dropped, as many as it says, and a snapshot is taken.
GO = [("runtime.MemProfileRate = 1", "runtime.MemProfileRate, _ = strconv.Atoi(os.Args[3])"),
      ("\t\tfor i := 0; i < n[0]; i++ {", """\t\tif n[0] == 0 {
			for i := 0; i < n[1]; i++ { sink[dropped+i] = nil }
			dropped += n[1]
			runtime.GC()
			out, _ := os.Create(os.Args[2] + strconv.Itoa(moment))
			moment++
			pprof.Lookup("heap").WriteTo(out, 0)
			out.Close()
		}
		for i := 0; i < n[0]; i++ {"""), ("var depth, size int", "var depth, size, dropped, moment int")]
NODE = [("samplingInterval: 1", "samplingInterval: Number(process.argv[4])"), ("1 << 20", "1 << 22"),
        ("for (const row of table) {", """let dropped = 0, moment = 0;
for (const row of table) {
  if (row[0] === 0) {
    for (let i = 0; i < row[1]; i++) rt.kept[dropped++] = null;
    gc();
    session.post('HeapProfiler.getSamplingProfile', (e, r) =>
      fs.writeFileSync(process.argv[3] + moment++ + '.heapprofile', JSON.stringify(r.profile)));
  }""")]
PYTHON = [("tracemalloc.start(40)", "tracemalloc.start(int(sys.argv[3]))\n    moment = 0"),
          ("        way = row[3:] + [-1]", """        if row[0] == 0:
            del rt.kept[:row[1]]
            tracemalloc.take_snapshot().dump(sys.argv[2] + str(moment))
            moment += 1
        way = row[3:] + [-1]""")]
CPP = [("    while (*at == '\\n') ++at;", "    while (*at == '\\n') ++at;\n    if (count == 0) dump();"),
       ("int main(", "void dump();\nint main("), ("  ~Profile() {", "  void write() {"),
       ('std::fopen("out.heap", "w")', "std::fopen(name, \"w\")"), ("    g_off = 1;\n    std::FILE* out", """    g_off = 1;
    static int moment = 0;
    char name[16];
    std::snprintf(name, sizeof name, "heap%d", moment++);
    std::FILE* out"""), ("    std::fclose(out);\n", "    std::fclose(maps);\n    std::fclose(out);\n    g_off = 0;\n"),
       ("} g_profile;", "} g_profile;\nvoid dump() { g_profile.write(); }"), ("1 << 20", "1 << 22")]


def patched(text, changes):
    for old, new in changes:
        text = text.replace(old, new)
    return text


def patch(module, names, changes):
    for name in names:
        setattr(module, name, patched(getattr(module, name), changes))


def patch_all():
    """The programs of the pairs, in this process alone, with moments."""
    import languages.stages as written
    for module in (languages.go, written):
        patch(module, ["GO_MAIN"], GO)
    for module in (languages.node, written):
        patch(module, ["NODE_MAIN", "NODE_RT"], NODE)
    for module in (languages.python, written):
        patch(module, ["PYTHON_MAIN"], PYTHON)
    patch(languages.cpp, ["CPP_MAIN", "CPP_HOOK"], CPP)


def table_of(paths, rng, times):
    """Work that comes, goes on and ends: which paths run is another set at each moment."""
    lines, objects = [], 0
    share = rng.choice([0.2, 0.5, 0.9])
    used = [p for p in paths if rng.random() < share]
    for _ in range(MOMENTS):
        came = 0
        for path in used:
            if rng.random() < 0.7:
                count = max(1, int(path.count * times * rng.uniform(0.2, 1.5)))
                came += count
                lines.append(f"{count} {path.size} {len(path.steps)} {' '.join(map(str, path.steps))}")
        used = [p for p in used if rng.random() < 0.8] + [p for p in paths if rng.random() < share / 3]
        dropped = int((objects + came) * rng.uniform(0, 0.8))
        objects += came - dropped
        lines.append(f"0 {dropped} 0")
    return "\n".join(lines) + "\n"


KINDS = {  # language, the module that makes the program, arguments of the program, objects by those of a pair
    "Go": (lang.Go, edits, ("524288", "65536"), 12), "Go stages": (lang.StagesGo, stages, ("524288", "65536"), 12),
    "Node": (lang.Node, edits, ("32768", "4096"), 6), "Node stages": (lang.StagesNode, stages, ("32768", "4096"), 6),
    "Python": (lang.Python, edits, ("1", "25"), 1), "Python stages": (lang.StagesPython, stages, ("1", "25"), 1),
    "C++ text": (lang.CppText, edits, ("",), 1)}


def command(name, folder, out, argument):
    if name.startswith("Go"):
        return [str(folder / "prog"), str(folder / "table"), out, argument]
    if name.startswith("Node"):
        return ["node", "--expose-gc", str(folder / "main.js"), str(folder / "table"), out, argument]
    if name.startswith("Python"):
        return [sys.executable, str(folder / "main.py"), str(folder / "table"), out, argument]
    return [str(folder / "prog"), str(folder / "table")]


def make(name, seed, folder):
    """Two series for each argument of the program of this seed; folders of them."""
    language, kind, arguments, times = KINDS[name]
    made, program = language(), kind.make(seed)
    made.emit(program, folder / "app")
    made.build(folder / "app")
    rng, paths = random.Random(f"{seed} {name}"), kind.paths(program, seed)
    for argument in arguments:
        for again in range(2):
            series = folder / f"{argument}.{again}"
            series.mkdir()
            (folder / "app/table").write_text(table_of(paths, rng, times))
            run(command(name, folder / "app", str(series / "heap"), argument), cwd=series)
            if name == "C++ text":
                shutil.copy(folder / "app/prog", series / "prog")
    shutil.rmtree(folder / "app")


def others(snapdiff, series, noise):
    """Which snapshots of a series, or of its ends alone, are said to be of another build; adds to `noise`, of each way of
    looking at two of them, how many facts contradict each other and how many there are."""
    files = sorted(str(f) for f in series.iterdir() if f.name.startswith("heap") and f.name != "heap")
    more = ["--symbols", str(series / "prog")] if (series / "prog").exists() else []

    def ask(*operands):
        done = subprocess.run([snapdiff, *operands, "--db", ":memory:", *more], capture_output=True, text=True)
        if done.returncode > 1 or not done.stdout:
            raise RuntimeError(f"{series}: {done.stderr[-300:]}")
        return done.stdout
    steps = json.loads(ask("trend", *files, "--as", "json"))["snapshots"]
    out = [f"snapshot {k}" for k, step in enumerate(steps) if step.get("other_build")]
    for a, b in ((0, -1), (0, 1), (2, 4)):
        for line in ask("diff", files[a], files[b], "--explain-match", "1").splitlines():
            if line.startswith("builds ") and "nothing shows another" not in line:
                out.append(f"{files[b][-20:]}: {line.removeprefix('builds').strip()}")
            for text, contradict, of in re.findall(r"([^;]*?): (\d+) of (\d+), weight", line if "because " in line else ""):
                sums = noise.setdefault(text.removeprefix("because").strip(), [0, 0])
                sums[0] += int(contradict)
                sums[1] += int(of)
    return out


def one(task):
    name, seed, snapdiff, keep = task
    folder = pathlib.Path(keep) / f"{name}.{seed}".replace(" ", "_")
    if not folder.exists():
        patch_all()
        folder.mkdir(parents=True)
        make(name, seed, folder)
    noise = {}
    return name, seed, [(s.name, others(snapdiff, s, noise)) for s in sorted(folder.iterdir())], noise


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapdiff")
    parser.add_argument("--seeds", default="1", help="e.g. 5 or 5,6,7; 26 series a seed")
    parser.add_argument("--languages", default="", help=f"of {', '.join(KINDS)}; all without")
    parser.add_argument("--keep", help="a folder for the profiles; those in it are used again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ProcessPoolExecutor(
            2, max_tasks_per_child=1) as pool:
        names = options.languages.split(",") if options.languages else KINDS
        tasks = [(n, int(seed), options.snapdiff, options.keep or temporary) for seed in options.seeds.split(",") for n in names]
        count = false = 0
        noise = {}
        for name, seed, found, observed in pool.map(one, tasks):
            for text, sums in observed.items():
                noise[text] = [a + b for a, b in zip(noise.get(text, [0, 0]), sums)]
            for series, steps in found:
                count += 1
                false += 1 if steps else 0
                if steps:
                    print(f"{name} #{seed} {series}: another build at {', '.join(steps)}")
    for text, (contradict, of) in sorted(noise.items()):
        print(f"{text}: {contradict} of {of}, at most {(contradict + 2 * contradict ** 0.5 + 3) / of:.4f}")
    print(f"{count} series of one process, {false} taken for several builds")
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())

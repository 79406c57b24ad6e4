"""Cases written by real programs in the languages that are installed: tests/corpus/real holds the sources.

Each run chooses parts of a program by name, some of which leak; the truth is what the source says. A language whose tools
are missing is skipped, and said so. What a run wrote is kept by the hash of program, arguments and tool version, so that
building the corpus again with the same seed runs nothing.
"""
import concurrent.futures
import functools
import glob
import gzip
import hashlib
import json
import os
import random
import re
import shutil
import subprocess

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "real")
QUIET_NAMES = {"cache": ("main.warmCache", "warm_cache", "svc::State::warm_cache"), "ring": ("main.touchRing", "touch_ring", "svc::State::touch_ring"),
               "table": ("main.loadTable", "load_table", "svc::State::load_table"), "burst": ("main.burstLoad", "burst_load"),
               "queue": ("main.runQueue", "run_queue"), "double": ("main.fillTable",)}
QUIET = ("cache", "ring", "table", "burst", "queue")

# Accepted names by the part that leaks: (function or type, file).
GO = {"session": [("main.trackSession", "svc.go")], "journal": [("main.appendJournal", "svc.go")], "topic": [("main.watchTopic", "svc.go")],
      "intern": [("main.internName", "svc.go"), ("main.internAll", "svc.go")]}
CPP = {"pool": [("svc::Pool::acquire", "svc.cc")], "registry": [("svc::Registry::track", "svc.cc")], "record": [("keep_record", "svc.cc")], "tree": [("walk_tree", "svc.cc")]}
RUST = {"session": [("svc::State::track_session", "svc.rs")], "journal": [("svc::State::keep_journal", "svc.rs")]}
PYTHON = {"session": ["track_session", "Session.__init__"], "journal": ["keep_journal"], "listener": ["add_listener"], "rows": ["clone_rows", "Row.__init__"]}
PYTHON_LEAVES = {"journal": (("json/decoder.py", ""), ("json/encoder.py", "")), "rows": (("copy.py", ""),), "listener": (("svc.py", "make_buffer"),)}
PYTHON_TYPES = {"session": (["Session"], ["Session", "dict"]), "rows": (["Row"], ["Row", "dict", "list"]), "listener": (["function", "cell"], ["function", "cell", "tuple"])}
NODE = {"session": (["Session"], ["Session", "(string)", "(concatenated string)", "(array)", "Array", "(number)"]), "ticket": (["Ticket"], ["Ticket", "Map", "(array)", "Object"]),
        "listener": (["onClose"], ["onClose", "system / Context", "(array)"])}
JAVA_OWN = "com.acme.svc.Svc$"
JAVA = {"session": ([JAVA_OWN + "Session"], [JAVA_OWN + "Session", "[B", "java.lang.String", "java.util.HashMap$Node", "java.lang.Integer", "[Ljava.util.HashMap$Node;"]),
        "ticket": ([JAVA_OWN + "Ticket"], [JAVA_OWN + "Ticket", "java.util.HashMap", "java.util.HashMap$Node", "[Ljava.util.HashMap$Node;", "[B", "java.lang.String", "java.lang.Integer", "[Ljava.lang.Object;"]),
        "listener": ([JAVA_OWN + "Listener"], [JAVA_OWN + "Listener", "[J", "[Ljava.lang.Object;"])}


class Tool:
    """A program that is built once and run many times."""

    def __init__(self, name, needs, leaks, quiet, formats):
        self.name, self.needs, self.leaks, self.quiet, self.formats = name, needs, leaks, quiet, formats

    def missing(self):
        return [tool for tool in self.needs if shutil.which(tool) is None]


TOOLS = (
    Tool("go", ("go",), GO, QUIET + ("double",), ("pprof-go", "go-text")),
    Tool("cpp", ("g++", "heaptrack", "zstd"), CPP, QUIET, ("heaptrack",)),
    Tool("valgrind", ("g++", "valgrind"), CPP, QUIET, ("massif", "dhat")),
    Tool("rust", ("rustc", "heaptrack", "zstd"), RUST, ("cache", "table", "ring"), ("heaptrack",)),
    Tool("python", ("python3",), PYTHON, QUIET, ("tracemalloc", "tracemalloc-list")),
    Tool("python-types", ("python3",), PYTHON_TYPES, QUIET, ("objgraph",)),
    Tool("node", ("node",), NODE, ("cache", "table", "burst", "ring"), ("v8",)),
    Tool("java", ("javac", "java"), JAVA, ("cache", "table", "burst", "queue"), ("jvm-histogram", "hprof")),
)


def execute(command, cwd, env=None):
    done = subprocess.run(command, cwd=cwd, env=dict(os.environ, **(env or {})), capture_output=True, timeout=120, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.decode('utf-8', 'replace').strip()[-300:]}")
    return done.stdout.decode("utf-8", "replace")


def compile_all(tool, work):
    """Builds the tool's program; variants of a build lie side by side."""
    if tool.name == "go":
        shutil.copy(os.path.join(SOURCES, "svc.go"), work)
        with open(os.path.join(work, "go.mod"), "w", encoding="utf-8") as out:
            out.write("module svc\ngo 1.19\n")
        environment = {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": os.path.join(work, "cache")}
        execute(["go", "build", "-trimpath", "-o", "svc.inlined", "."], work, environment)
        execute(["go", "build", "-trimpath", "-gcflags=-l", "-o", "svc.plain", "."], work, environment)
    elif tool.name in ("cpp", "valgrind"):
        for variant, flags in (("plain", "-O1"), ("inlined", "-O2")):
            execute(["g++", "-std=c++17", "-g", flags, "-pthread", os.path.join(SOURCES, "svc.cc"), "-o", f"svc.{variant}"], work)
    elif tool.name == "rust":
        for variant, flags in (("plain", "1"), ("inlined", "3")):
            execute(["rustc", "--edition=2021", "-g", "-C", f"opt-level={flags}", os.path.join(SOURCES, "svc.rs"), "-o", f"svc.{variant}"], work)
    elif tool.name == "java":
        execute(["javac", "-d", work, os.path.join(SOURCES, "com/acme/svc/Svc.java")], work)


def names_in(folder, pattern):
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(folder, pattern)))


def packed(folder, pattern):
    """The files in gzip instead: object graphs are large."""
    for name in names_in(folder, pattern):
        path = os.path.join(folder, name)
        with open(path, "rb") as source, gzip.GzipFile(path + ".gz", "wb", 1, mtime=0) as out:
            shutil.copyfileobj(source, out)
        os.remove(path)
    return names_in(folder, pattern + ".gz") or names_in(folder, pattern)


def run_heaptrack(binary, case, folder):
    execute(["heaptrack", "-o", os.path.join(folder, "heaptrack.svc"), binary, str(case["n"]), str(case["seed"]), "0", *case["parts"]], folder, {"SVC_EXIT": "1"})
    name = names_in(folder, "heaptrack.svc*")[0]
    text = subprocess.run(["zstd", "-dc", name] if name.endswith(".zst") else ["gzip", "-dc", name], cwd=folder, capture_output=True, check=True).stdout
    sizes, events, ends = [], 0, []
    for kind, first in re.findall(rb"^([a+-]) ([0-9a-f]+)", text, re.M):
        if kind == b"a":
            sizes.append(int(first, 16))
            continue
        if kind == b"+" and 7000000 < sizes[int(first, 16)] <= 7000000 + case["n"]:
            ends.append(events)  # what was recorded before the mark of the step
        events += 1
    if len(ends) != case["n"]:
        raise RuntimeError(f"{len(ends)} of {case['n']} steps are in the recording")
    return [f"{name}@{max(1, end)}" for end in ends]


def run(tool, case, work, folder):
    """Runs one case; its files are in `folder` afterwards. Returns the operands, oldest first."""
    steps, seed, parts, binary = str(case["n"]), str(case["seed"]), case["parts"], os.path.join(work, "svc." + case["variant"])
    if tool.name == "go":
        execute([binary, folder, steps, seed, str(case["rate"] or 1), *parts], folder, {"DEBUG1": "1"} if case["format"] == "go-text" else {})
        return names_in(folder, "heap.*")
    if case["format"] == "heaptrack":
        return run_heaptrack(binary, case, folder)
    if case["format"] == "massif":
        execute(["valgrind", "--tool=massif", "--detailed-freq=1", f"--max-snapshots={max(10, case['n'])}", "--massif-out-file=massif.out.77", binary, steps, seed, "0", *parts], folder)
        return ["massif.out.77"]
    if case["format"] == "dhat":
        for step in range(1, case["n"] + 1):
            execute(["valgrind", "--tool=dhat", f"--dhat-out-file=dhat.{step:02}.json", binary, str(step), seed, "0", *parts], folder)
        return names_in(folder, "dhat.*.json")
    if tool.name in ("python", "python-types"):
        kind = {"tracemalloc": "dump", "tracemalloc-list": "list", "objgraph": "types"}[case["format"]]
        execute(["python3", os.path.join(SOURCES, "svc.py"), folder, steps, seed, kind, *parts], folder)
        return names_in(folder, "step*")
    if tool.name == "node":
        execute(["node", os.path.join(SOURCES, "svc.js"), folder, steps, seed, *parts], folder)
        return packed(folder, "*.heapsnapshot")
    execute(["java", "-Xmx256m", "-cp", work, "com.acme.svc.Svc", folder, steps, seed, "hprof" if case["format"] == "hprof" else "histo", *parts], folder)
    return packed(folder, "heap.*") if case["format"] == "hprof" else names_in(folder, "histo.*")


def plan(tool, seed):
    """The cases of one program: each leak alone, all together, each among what is harmless, and harmless ones only."""
    rng, out = random.Random(f"real:{seed}:{tool.name}"), []
    lengths = {"v8": (3, 8), "hprof": (5, 8), "dhat": (8,), "massif": (20, 30), "heaptrack": (8, 12, 20)}
    combos = [[leak] for leak in tool.leaks] + [list(tool.leaks)[:3]]
    for number, leaks in enumerate(combos + [[]] * (2 if tool.name in ("node", "java") else 4)):
        form = tool.formats[number % len(tool.formats)]
        n = rng.choice(lengths.get(form, (8, 12, 16, 20, 30)))
        quiet = rng.sample(tool.quiet, rng.randint(1, len(tool.quiet)) if leaks else min(len(tool.quiet), 1 + number % 4))
        if not leaks and number == len(combos):
            quiet = ["ring"] if "ring" in tool.quiet else ["queue"]  # at rest
        kind = "real-" + ("several" if len(leaks) > 1 else leaks[0]) if leaks else "real-rest" if len(quiet) == 1 else "real-quiet"
        rate = rng.choice((0, 32768, 524288) if form.startswith(("pprof", "go")) else (0,))
        out.append({"id": f"{'real' if leaks else 'quiet-real'}-{tool.name}-{number}", "format": form, "n": max(n, 8) if not leaks else n, "leaks": leaks, "kind": kind,
                    "rate": rate, "variant": rng.choice(("plain", "inlined")), "parts": rng.sample(leaks + quiet, len(leaks + quiet)), "seed": rng.randrange(1, 10000)})
    return out


def function_lines(path):
    """Lines of each function and method of a Python source, the nested ones by their own name too."""
    import ast
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    out = {}

    def visit(node, prefix):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                name = prefix + child.name
                if isinstance(child, ast.FunctionDef):
                    out[name] = list(range(child.lineno, child.end_lineno + 1))
                visit(child, name + ".")
    visit(tree, "")
    return out


def truth_of(tool, case, operands, seed):
    family = "types" if tool.name in ("python-types", "node", "java") else "stacks"
    by_line = case["format"] in ("tracemalloc", "tracemalloc-list")
    lines = function_lines(os.path.join(SOURCES, "svc.py")) if by_line else {}
    culprits = []
    for leak in case["leaks"]:
        if family == "types":
            accepted, grows = tool.leaks[leak]
            places, extra = [{"name": n, "file": "", "lines": []} for n in accepted], {"grows": grows}
        elif by_line:
            places, extra = [{"name": f, "file": "svc.py", "lines": lines[f]} for f in tool.leaks[leak]], {}
            if case["format"] == "tracemalloc-list":  # a list has the leaf's line only: that is all there is to name
                places += [{"name": "", "file": file, "lines": lines.get(function, [])} for file, function in PYTHON_LEAVES.get(leak, ())]
        else:
            places, extra = [{"name": n, "file": f, "lines": []} for n, f in tool.leaks[leak]], {}
        weak = "fewer than 8 snapshots" if case["n"] < 8 else "sampled every 512 KiB" if case["rate"] > 100000 else ""
        culprits.append({"accepted": places, "growth": None, "seen_growth": None, "samples": None, "shape": "real", "spread": "real", "weak": weak, **extra})
    return {"id": case["id"], "source": "real", "format": case["format"], "family": family, "kind": case["kind"], "spread": "real" if case["leaks"] else "", "n": case["n"],
            "rate": case["rate"], "seed": seed, "harmless": not case["leaks"], "slow": False, "uneven": False, "by_line": by_line, "leak_share": None, "operands": operands,
            "culprits": culprits, "wrappers": [{"name": n, "file": ""} for n in ("xmalloc", "main.newBody", "svc::blob", "make_buffer")],
            "entries": [{"name": n, "file": ""} for n in ("main", "main.main", "svc::main", "<module>", "runtime.main")],
            "shared": [{"name": n, "file": ""} for n in ("main.handleRequest", "handle_request", "handle")], "library": [], "parts": case["parts"],
            "quiet": [{"name": n, "file": "", "what": part} for part in case["parts"] for n in QUIET_NAMES.get(part, ())]}


@functools.lru_cache(maxsize=None)
def version(tool):
    try:
        return execute([tool.needs[0], "version" if tool.needs[0] == "go" else "--version"], ".")
    except (RuntimeError, OSError):
        return ""


def key_of(tool, case):
    """Name of the folder that keeps a run: changes with the program, its arguments and the tool."""
    return hashlib.sha256(json.dumps([case, work_key(tool), version(tool)], sort_keys=True).encode()).hexdigest()[:24]


def one(tool, case, work, cases, cache, seed):
    kept, folder = os.path.join(cache, key_of(tool, case)), os.path.join(cases, case["id"])
    if not os.path.isfile(os.path.join(kept, "truth.json")):
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(kept)
        operands = run(tool, case, work, kept)
        if not operands:
            raise RuntimeError("nothing was written")
        with open(os.path.join(kept, "truth.json"), "w", encoding="utf-8") as out:
            json.dump(truth_of(tool, case, operands, seed), out, indent=1)
    shutil.copytree(kept, folder, copy_function=os.link)
    return case["id"]


@functools.lru_cache(maxsize=None)
def work_key(tool):
    """Hash of the sources that a run comes from: the program's and this file."""
    source = {"go": "svc.go", "cpp": "svc.cc", "valgrind": "svc.cc", "rust": "svc.rs", "node": "svc.js", "java": "com/acme/svc/Svc.java"}.get(tool.name, "svc.py")
    out = hashlib.sha256()
    for path in (os.path.join(SOURCES, source), os.path.abspath(__file__)):
        with open(path, "rb") as file:
            out.update(file.read())
    return tool.name + out.hexdigest()


def build(cases, out, seed):
    """Runs all programs. Returns the ids of the cases and what was skipped, with the reason."""
    cache, made, skipped, jobs = os.path.join(out, "real-cache"), [], [], []
    for tool in TOOLS:
        if tool.missing():
            skipped.append(f"{tool.name}: not installed: {', '.join(tool.missing())}")
            continue
        work = os.path.join(cache, "build-" + tool.name)
        jobs += [(tool, case, work) for case in plan(tool, seed)]
        if all(os.path.isfile(os.path.join(cache, key_of(tool, case), "truth.json")) for _, case, _ in jobs[-len(plan(tool, seed)):]):
            continue
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        try:
            compile_all(tool, work)
        except (RuntimeError, subprocess.SubprocessError) as error:
            skipped.append(f"{tool.name}: {error}")
            jobs = [job for job in jobs if job[0] is not tool]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(one, tool, case, work, cases, cache, seed): case["id"] for tool, case, work in jobs}
        for future in concurrent.futures.as_completed(running):
            try:
                made.append(future.result())
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                skipped.append(f"{running[future]}: {error}")
    return sorted(made), sorted(skipped)

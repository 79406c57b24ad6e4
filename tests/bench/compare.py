#!/usr/bin/env python3
"""Times whole snapdiff commands beside the tools people use today, on the same files in one run.

  compare.py SNAPDIFF [--generator bench_generate] [--quick | --full] [--only CASE]... [--keep FOLDER]

  default   10 KB pairs, 2 x 100 000 stacks, 2 x 80 MB of jemalloc text, the series
  --quick   every case, tiny: does it run at all?
  --full    2 x 1 000 000 stacks and object graphs of 500 MB and 1 GB too; go tool pprof needs 12 GiB and some minutes for them

The job is `snapdiff A B` in an empty folder, which prints the answer and writes the store; beside it
the same with `--db :memory:`, and the floor: inflating the same two files with libdeflate-gunzip.
`answer` is when the last byte was printed, `wall` when the command had ended; ratios are of `wall`.
Peers that are not installed are left out with a line. Wall time and peak memory are those of the
command (wait4), its children included; files are read once before, so that all find them cached.
A peak below some 12 MiB cannot be seen: that is this script itself before the command starts.
Never fails for a time: it prints, a person judges. Ends 1 when a snapdiff command fails.
"""

import argparse
import csv
import glob
import io
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from measured_run import Run

# Beside the checkout: dumps of a program whose leaks are known, and the program.
SERIES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data/pprof/series"))


class Bench:
    def __init__(self, snapdiff, generator, scratch):
        self.snapdiff, self.generator, self.scratch = os.path.abspath(snapdiff), os.path.abspath(generator), scratch
        self.failed = False
        self.environment = {key: value for key, value in os.environ.items() if key != "SNAPDIFF_DB"}
        self.environment.update(NO_COLOR="1", PPROF_BINARY_PATH=os.path.join(scratch, "no-binaries"),
                                PPROF_TMPDIR=scratch, HOME=scratch)

    def make(self, name, kind, **numbers):
        folder = os.path.join(self.scratch, name)
        os.makedirs(folder, exist_ok=True)
        subprocess.run([self.generator, kind, folder, *(f"{key}={value}" for key, value in numbers.items())], check=True)
        for path in glob.glob(folder + "/*"):
            with open(path, "rb") as file:
                while file.read(1 << 22):
                    pass
        return folder

    def time(self, command, runs):
        """The run of median wall time, each in a new empty folder; None when the tool is missing."""
        if not shutil.which(command[0]):
            return None
        results = []
        for _ in range(runs):
            with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
                results.append(Run(command, folder, self.environment))
        worst = max(results, key=lambda run: run.code != 0)
        if worst.code != 0:
            return worst
        middle = sorted(results, key=lambda run: run.wall)[(len(results) - 1) // 2]
        middle.wall = statistics.median(run.wall for run in results)
        middle.answer = statistics.median(run.answer for run in results)
        middle.peak = max(run.peak for run in results)
        return middle

    def pair(self, title, before, after, peers, runs, peer_runs):
        size = (os.path.getsize(before) + os.path.getsize(after)) / 1e6
        print(f"\n{title} ({size:.2f} MB in all, median of {runs})")
        rows = [("snapdiff A B", self.time([self.snapdiff, before, after], runs)),
                ("snapdiff A B --db :memory:", self.time([self.snapdiff, before, after, "--db", ":memory:"], runs))]
        rows += [(name, self.time(command, peer_runs)) for name, command in peers]
        if before.endswith(".gz"):
            inflate = f"libdeflate-gunzip -kc '{before}' >/dev/null && libdeflate-gunzip -kc '{after}' >/dev/null"
            if shutil.which("libdeflate-gunzip"):
                rows.append(("floor: libdeflate-gunzip A, B", self.time(["sh", "-c", inflate], runs)))
            else:
                rows.append(("floor: libdeflate-gunzip A, B", None))
        self.table(rows)

    def table(self, rows):
        own = rows[0][1]
        print(f"  {'command':32} {'answer':>9} {'wall':>10} {'cpu':>9} {'peak':>10}   time ratio  memory ratio")
        for name, run in rows:
            if run is None:
                print(f"  {name:32} skipped: not installed")
            elif run.code != 0:
                print(f"  {name:32} failed: exit {run.code}: {run.words.splitlines()[-1:] or ''}")
                self.failed |= name.startswith("snapdiff")
            else:
                ratio = f"{run.wall / own.wall:9.2f} x {run.peak / own.peak:11.2f} x" if own.code == 0 else ""
                answer = f"{run.answer:7.3f} s" if run.answer else " " * 9
                print(f"  {name:32} {answer} {run.wall:8.3f} s {run.cpu:7.2f} s {run.peak:6.0f} MiB   {ratio}")
        sys.stdout.flush()

    def proto_pair(self, title, name, stacks, runs, peer_runs):
        folder = self.make(name, "pprof", stacks=stacks)
        before, after = folder + "/a.pb.gz", folder + "/b.pb.gz"
        self.pair(title, before, after,
                  [("go tool pprof -top -diff_base", ["go", "tool", "pprof", "-top", f"-diff_base={before}", after])],
                  runs, peer_runs)

    def builds(self, title, name, stacks, runs):
        """Two snapshots of one build beside two of two builds: every line and address of the second one moved."""
        times = []
        for words, folder in (("one build", self.make(name + "-one", "pprof", stacks=stacks)),
                              ("two builds", self.make(name + "-two", "pprof", stacks=stacks, rebuilt=1))):
            run = self.time([self.snapdiff, folder + "/a.pb.gz", folder + "/b.pb.gz", "--db", ":memory:"], runs)
            if run is None or run.code != 0:
                print(f"  {words} failed: {'missing' if run is None else run.words}")
                self.failed = True
                return
            times.append((words, run))
        print(f"\n{title} (median of {runs})")
        self.table(times)
        print(f"  two builds take {times[1][1].wall / times[0][1].wall:.2f} times the time of one")
        sys.stdout.flush()

    def text_pair(self, title, name, kind, tool, stacks, runs, peer_runs):
        folder = self.make(name, kind, stacks=stacks)
        before, after = folder + "/a.heap", folder + "/b.heap"
        # The program the dump names is not there; any other keeps the peer from asking for it.
        self.pair(title, before, after, [(f"{tool} --text --base", [tool, "--text", f"--base={before}", "/bin/true", after])],
                  runs, peer_runs)

    def sum_of(self, commands):
        """One Run that stands for all of these, one after the other; None when the tool is missing."""
        runs = [self.time(command, 1) for command in commands]
        if None in runs:
            return None
        total = next((run for run in runs if run.code != 0), runs[0])
        total.answer = 0.0
        total.wall, total.cpu = sum(run.wall for run in runs), sum(run.cpu for run in runs)
        total.peak = max(run.peak for run in runs)
        return total

    def names(self, title, tool, series, other_process, runs):
        """A series of raw addresses with names from the program that wrote it. `other_process`: the same
        series out of another process, whose last dump has the same state at other addresses; or None."""
        folder = os.path.join(self.scratch, "names")
        program = os.path.join(SERIES, "bin", "svc_cache")
        if not os.path.exists(program):
            print(f"\n{title}\n  skipped: no {SERIES}")
            return
        for name in filter(None, (series, other_process)):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            for path in glob.glob(os.path.join(SERIES, name, "*.heap")):
                with open(path, encoding="ascii") as file:
                    # The peers take names from the recorded path only, and that is not there.
                    text = re.sub(r"/\S*/svc_cache$", program, file.read(), flags=re.MULTILINE)
                with open(os.path.join(folder, name, os.path.basename(path)), "w", encoding="ascii") as file:
                    file.write(text)
        paths = sorted(glob.glob(os.path.join(folder, series, "*.heap")))
        names = ["--symbols", os.path.dirname(program)]

        def peer(before, after):
            return [tool, "--text", f"--base={before}", program, after]
        print(f"\n{title} (median of {runs})")
        self.table([(f"snapdiff FILES... ({len(paths)})", self.time([self.snapdiff, *paths, *names], runs)),
                    (f"{tool}, {len(paths) - 1} pairs", self.sum_of([peer(*pair) for pair in zip(paths, paths[1:])]))])
        self.table([("snapdiff FIRST LAST", self.time([self.snapdiff, paths[0], paths[-1], *names], runs)),
                    (f"{tool} --text --base", self.time(peer(paths[0], paths[-1]), runs))])
        if other_process is None or not shutil.which(tool):
            return
        same = os.path.join(folder, other_process, os.path.basename(paths[-1]))
        own = subprocess.run([self.snapdiff, paths[-1], same, *names, "--db", ":memory:", "--as", "csv"], text=True,
                             capture_output=True, env=self.environment, cwd=folder, check=False).stdout
        theirs = subprocess.run(peer(paths[-1], same), capture_output=True, text=True, env=self.environment, cwd=folder,
                                check=False).stdout
        rows = list(csv.DictReader(io.StringIO(own)))
        print(f"  the same state in two processes: snapdiff has {sum(int(row['growth']) != 0 for row in rows)} of "
              f"{len(rows)} rows that changed, {tool} {sum('inf' in line for line in theirs.splitlines())}")
        sys.stdout.flush()

    def series(self, title, name, count, stacks, changed):
        folder = self.make(name, "series", count=count, stacks=stacks, changed=changed)
        paths = sorted(glob.glob(folder + "/s.*.pb.gz"))
        size = sum(os.path.getsize(path) for path in paths)
        store = os.path.join(folder, "series.db")
        if os.path.exists(store):
            os.remove(store)
        with tempfile.TemporaryDirectory(dir=self.scratch) as scratch:
            run = Run([self.snapdiff, "import", "--db", store, *paths], scratch, self.environment)
        print(f"\n{title}")
        if run.code != 0:
            print(f"  snapdiff import failed: exit {run.code}: {run.words}")
            self.failed = True
            return
        stored = os.path.getsize(store)
        print(f"  inputs {size / 1e6:.2f} MB gzip'd, store {stored / 1e6:.2f} MB = {100 * stored / size:.1f} %, "
              f"import {run.wall:.2f} s, peak {run.peak:.0f} MiB")
        sys.stdout.flush()

    def trend(self, title, name, count, stacks):
        """Verdicts of all rows out of the store: where 1 % of the rows pass the byte floor, and where all do."""
        folder = self.make(name, "series", count=count, stacks=stacks, changed=1000)
        store = os.path.join(folder, "series.db")
        paths = sorted(glob.glob(folder + "/s.*.pb.gz"))
        if not os.path.exists(store):
            subprocess.run([self.snapdiff, "import", "--db", store, *paths], env=self.environment, check=True, capture_output=True)
        command = [self.snapdiff, "trend", "--db", store]
        # In a process of its own: a run is forked from this one, and its peak counts what this one holds.
        script = ("import json, subprocess, sys\nranges = []\n"
                  "with subprocess.Popen([*sys.argv[1:], '--as', 'jsonl', '-n', '0'], stdout=subprocess.PIPE) as run:\n"
                  "    for line in run.stdout:\n"
                  "        values = json.loads(line).get('values')\n"
                  "        if values: ranges.append(max(values) - min(values))\n"
                  "ranges.sort(reverse=True)\nprint(len(ranges), ranges[len(ranges) // 100])\n")
        rows, hundredth = map(int, subprocess.run([sys.executable, "-c", script, *command], env=self.environment,
                                                  check=True, capture_output=True, text=True).stdout.split())
        print(f"\n{title}, {rows} rows in all")
        for words, floor in (("1 % of the rows above the floor", hundredth), ("all rows above it", 0)):
            run = self.time([*command, "--floor", str(floor)], 3)
            if run is None or run.code != 0:
                print(f"  trend failed: {'missing' if run is None else run.words}")
                self.failed = True
                return
            print(f"  {words:<34} {run.wall:8.3f} s  {run.peak:7.0f} MiB")
        sys.stdout.flush()

    def postmortem(self, title, name, count, stacks):
        """The whole report: seconds, peak memory, and the size of each part; beside reading the same files alone."""
        folder = self.make(name, "series", count=count, stacks=stacks, changed=1000)
        paths = sorted(glob.glob(folder + "/s.*.pb.gz"))
        out = os.path.join(folder, "report")
        shutil.rmtree(out, ignore_errors=True)
        print(f"\n{title}")
        rows = [("snapdiff postmortem", self.time([self.snapdiff, "postmortem", "-o", out, *paths], 1)),
                ("snapdiff A B ... --db :memory:", self.time([self.snapdiff, "--db", ":memory:", *paths], 1))]
        self.table(rows)
        if rows[0][1].code == 0:
            parts = sorted((os.path.getsize(path), os.path.basename(path)) for path in glob.glob(out + "/*"))
            print("  " + ", ".join(f"{part} {size / 1e6:.2f} MB" for size, part in parts))
        sys.stdout.flush()

    def cuda(self, title, name, size):
        """Beside pickle.load and a sum of live blocks per stack, on one generated snapshot."""
        folder = os.path.join(self.scratch, name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "big.pickle")
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "big_cuda_snapshot.py")
        made = json.loads(subprocess.run([sys.executable, maker, path, str(size)], capture_output=True, text=True, check=True).stdout)
        script = ("import pickle, sys\nsums = {}\n"
                  "for s in pickle.load(open(sys.argv[1], 'rb'))['segments']:\n"
                  "    for b in s['blocks']:\n"
                  "        if b['state'] == 'active_allocated':\n"
                  "            k = tuple((f['filename'], f['line'], f['name']) for f in b['frames'])\n"
                  "            sums[k] = sums.get(k, 0) + b['size']\n"
                  "print(sum(sums.values()))\n")
        ours = self.time([self.snapdiff, "info", path], 3)
        theirs = self.time([sys.executable, "-c", script, path], 1)
        floor = self.time(["cat", path], 3)
        print(f"\n{title} ({made['bytes'] / 1e6:.0f} MB, {made['entries']} entries, {made['memo_slots']} memo slots)")
        for row, run in (("snapdiff info", ours), ("pickle.load + sums", theirs), ("floor: cat (page cache)", floor)):
            if run is None or run.code != 0:
                print(f"  {row} failed: {'missing' if run is None else run.words}")
                self.failed = True
                return
            print(f"  {row:<26} {run.wall:8.3f} s  {run.peak:7.0f} MiB  {made['bytes'] / 1e6 / run.wall:8.0f} MB/s")
        print(f"  {theirs.wall / ours.wall:.1f} times as fast; {ours.peak * 1048576 / made['memo_slots']:.2f} bytes of peak memory "
              f"per memo slot; {ours.wall / floor.wall:.1f} times what reading the file alone takes")
        self.cuda_steps(path, size)
        sys.stdout.flush()

    def cuda_steps(self, path, size):
        """A training run of the same size with some 500 iterations: the series of their ends beside reading the file."""
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "big_cuda_training.py")
        made = json.loads(subprocess.run([sys.executable, maker, path, str(size), str(max(20, min(500, size // 200_000)))], capture_output=True,
                                         text=True, check=True).stdout)
        # In turn, since other work on the machine disturbs both alike.
        rounds = [(self.time([self.snapdiff, "info", path], 1),
                   self.time([self.snapdiff, "trend", path + "@steps", "--db", ":memory:"], 1)) for _ in range(3)]
        for info, steps in rounds:
            if info.code != 0 or steps.code != 0:
                print(f"  @steps failed: {info.words} {steps.words}")
                self.failed = True
                return
        report = json.loads(subprocess.run([self.snapdiff, "trend", path + "@steps", "--as", "json", "--db", ":memory:"], capture_output=True,
                                           text=True, check=True).stdout)
        culprits = [(c["path"][-1]["function"], c["growth"]) for c in report["story"]["culprits"]]
        truth = [("put", made["leaked_per_iteration"] * (made["iterations"] - 1))]
        if culprits != truth or len(report["snapshots"]) != made["iterations"]:
            print(f"  @steps: {len(report['snapshots'])} iterations, culprits {culprits}; expected {made['iterations']}, {truth}")
            self.failed = True
        info, steps = sorted(rounds, key=lambda both: both[1].wall / both[0].wall)[1]
        print(f"  @steps of {made['iterations']} iterations, {made['entries']} entries in {made['bytes'] / 1e6:.0f} MB: {steps.wall:.2f} s, "
              f"{steps.cpu:.2f} s of processor time, {steps.peak:.0f} MiB; {steps.wall / info.wall:.2f} times snapdiff info by the clock, "
              f"{steps.cpu / info.cpu:.2f} by processor time")

    def tracemalloc(self, title, name, size):
        """Beside Snapshot.load of both and compare_to('traceback'), on two generated dumps."""
        folder = os.path.join(self.scratch, name)
        os.makedirs(folder, exist_ok=True)
        before, after = os.path.join(folder, "before.tracemalloc"), os.path.join(folder, "after.tracemalloc")
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "big_tracemalloc.py")
        made = json.loads(subprocess.run([sys.executable, maker, before, after, str(size)], capture_output=True, text=True,
                                         check=True).stdout)
        script = ("import sys, tracemalloc\na, b = map(tracemalloc.Snapshot.load, sys.argv[1:])\n"
                  "print(sum(s.size_diff for s in b.compare_to(a, 'traceback')))\n")
        ours = self.time([self.snapdiff, before, after], 5)
        in_memory = self.time([self.snapdiff, before, after, "--db", ":memory:"], 5)
        theirs = self.time([sys.executable, "-c", script, before, after], 1)
        print(f"\n{title} ({made['bytes'] / 1e6:.0f} MB in all, {made['traces']} traces of {made['tracebacks']} tracebacks)")
        self.table([("snapdiff A B", ours), ("snapdiff A B --db :memory:", in_memory), ("load twice, compare_to", theirs)])


    def heaptrack(self, title, name, megabytes):
        """Beside heaptrack_print -d, on two generated recordings; the totals must be those of the generator."""
        folder = os.path.join(self.scratch, name)
        maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "big_heaptrack.py")
        if not shutil.which("zstd"):
            print(f"\n{title}\n  skipped: zstd is not installed")
            return
        made = json.loads(subprocess.run([sys.executable, maker, folder, str(megabytes)], capture_output=True, text=True,
                                         check=True).stdout)
        before, after = folder + "/a.zst", folder + "/b.zst"
        print(f"\n{title} ({made['a']['bytes'] / 1e6:.0f} + {made['b']['bytes'] / 1e6:.0f} MB of text)")
        self.table([("snapdiff A B", self.time([self.snapdiff, before, after], 5)),
                    ("snapdiff A B --db :memory:", self.time([self.snapdiff, before, after, "--db", ":memory:"], 5)),
                    ("snapdiff A@peak B@peak", self.time([self.snapdiff, before + "@peak", after + "@peak"], 3)),
                    ("heaptrack_print -d A B", self.time(["heaptrack_print", "-d", before, after], 3)),
                    ("floor: zstd -dc A, B", self.time(["sh", "-c", f"zstd -dcq '{before}' '{after}' >/dev/null"], 5))])
        for path, point in ((before, ""), (before, "@peak"), (after, ""), (after, "@peak")):
            run = subprocess.run([self.snapdiff, "info", path + point, "--as", "json"], env=self.environment, text=True,
                                 capture_output=True, cwd=folder, check=False)
            expected = made[os.path.basename(path)[0]]["peak" if point else "live"]
            if run.returncode != 0 or json.loads(run.stdout)["totals"]["inuse_space"] != expected:
                print(f"  {path}{point}: not the {expected} bytes that were written")
                self.failed = True
        sys.stdout.flush()

    def graph(self, title, name, maker, size, peer=None):
        """An object graph of one generated file, beside a peer in Python and the floor: reading it from the page cache."""
        folder = os.path.join(self.scratch, name)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "heap")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), maker)
        made = json.loads(subprocess.run([sys.executable, script, path, str(size)], capture_output=True, text=True, check=True).stdout)
        rows = [("snapdiff info", self.time([self.snapdiff, "info", path], 3)), ("floor: cat (page cache)", self.time(["cat", path], 3))]
        if peer:
            rows.append((peer[0], self.time([sys.executable, "-c", peer[1], path], 1)))
        print(f"\n{title} ({made['bytes'] / 1e6:.0f} MB, {made['nodes']} nodes, {made['edges']} edges)")
        for row, run in rows:
            if run is None or run.code != 0:
                print(f"  {row} failed: {'missing' if run is None else run.words}")
                self.failed |= row.startswith("snapdiff")
                continue
            print(f"  {row:<26} {run.wall:8.3f} s  {run.cpu:7.2f} s of CPU  {run.peak:7.0f} MiB  {made['bytes'] / 1e6 / run.wall:8.0f} MB/s")
        ours, floor = rows[0][1], rows[1][1]
        if ours and floor and ours.code == 0:
            columns = 29 * made["nodes"] + 8 * made["edges"]
            print(f"  {ours.wall / floor.wall:.1f} times the time of reading the file alone; peak {ours.peak * 1048576 / columns:.2f} "
                  f"times the graph's own columns")
        sys.stdout.flush()


V8_IN_PYTHON = ("import collections, json, sys\n"
                "whole = json.load(open(sys.argv[1], encoding='utf-8'))\n"
                "width, nodes = len(whole['snapshot']['meta']['node_fields']), whole['nodes']\n"
                "sums = collections.Counter()\n"
                "for at in range(0, len(nodes), width): sums[nodes[at], nodes[at + 1]] += nodes[at + 3]\n"
                "print(len(sums))\n")


def cases(bench, arguments):
    quick = arguments.quick
    runs = 1 if quick else 5
    stacks = 500 if quick else 20_000
    count = 5 if quick else 100
    return {
        "small": lambda: bench.proto_pair("10 KB pair, profile.proto", "small", 200, 2 if quick else 30, 2 if quick else 30),
        "100k": lambda: bench.proto_pair("2 x 100 000 stacks, profile.proto" if not quick else "2 x 1000 stacks, profile.proto",
                                         "p100k", 1000 if quick else 100_000, runs, 1),
        "builds": lambda: bench.builds(f"release against release, 2 x {1000 if quick else 100_000} stacks", "builds",
                                       1000 if quick else 100_000, runs),
        "jemalloc": lambda: bench.text_pair("2 x 80 MB of jemalloc text" if not quick else "jemalloc text", "jemalloc",
                                            "jemalloc", "jeprof", 500 if quick else 155_000, runs, 1),
        "tcmalloc": lambda: bench.text_pair("2 x 76 MB of gperftools text" if not quick else "gperftools text", "tcmalloc",
                                            "tcmalloc", "google-pprof", 500 if quick else 155_000, runs, 1),
        "series": lambda: bench.series(f"series of {count} x {stacks} stacks, 10 % changed and 1 % replaced in each step",
                                       "series", count, stacks, 1000),
        "series-all": lambda: bench.series(f"series of {count} x {stacks} stacks, 100 % changed and 1 % replaced in each step",
                                           "series-all", count, stacks, 10_000),
        "trend": lambda: bench.trend(f"trend over {count} x {5 * stacks} stacks from the store", "trend", count, 5 * stacks),
        "postmortem": lambda: bench.postmortem(f"post-mortem of {count // 2} x {5 * stacks} stacks", "postmortem", count // 2, 5 * stacks),
        "names-tcmalloc": lambda: bench.names("names, tcmalloc series", "google-pprof", "tcmalloc-svc", "tcmalloc-svc-run2", runs),
        "names-jemalloc": lambda: bench.names("names, jemalloc series", "jeprof", "jemalloc-svc", None, runs),
        "cuda": lambda: bench.cuda("CUDA memory snapshot", "cuda", 1_000_000 if quick else 200_000_000),
        "cuda-1g": lambda: bench.cuda("CUDA memory snapshot of 1 GB", "cuda-1g", 1_000_000_000),
        "heaptrack": lambda: bench.heaptrack("heaptrack recordings", "heaptrack", 1 if quick else 100),
        "tracemalloc": lambda: bench.tracemalloc("dumps of tracemalloc", "tracemalloc", 200_000 if quick else 50_000_000),
        "v8": lambda: bench.graph("V8 heap snapshot", "v8", "make_v8.py", 300_000 if quick else 500_000_000,
                                  ("json.load + sums", V8_IN_PYTHON)),
        "hprof": lambda: bench.graph("HPROF dump", "hprof", "make_hprof.py", 300_000 if quick else 1_000_000_000),
        "builds-1m": lambda: bench.builds("release against release, 2 x 1 000 000 stacks", "builds-1m", 1_000_000, 3),
        "1m": lambda: bench.proto_pair("2 x 1 000 000 stacks, profile.proto", "p1m", 1_000_000, 3, 1),
    }


def main():
    parser = argparse.ArgumentParser(description="Times snapdiff beside its peers.")
    parser.add_argument("snapdiff")
    parser.add_argument("--generator", help="the bench_generate program (default: where the build puts it)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="tiny inputs: a smoke test")
    size.add_argument("--full", action="store_true", help="2 x 1 000 000 stacks, a 1 GB CUDA snapshot and object graphs too")
    parser.add_argument("--only", action="append", help="only this case; repeatable: " + ", ".join(cases(None, argparse.Namespace(quick=True))))
    parser.add_argument("--keep", metavar="FOLDER", help="make the inputs there and leave them")
    arguments = parser.parse_args()
    generator = arguments.generator or os.path.join(os.path.dirname(arguments.snapdiff), "../../tests/bench/bench_generate")
    if not os.path.exists(generator):
        parser.error(f"no generator at {generator}; name it with --generator")
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors, load before the run {load:.1f}" + ("; times are too high" if load > 1 else ""))
    with tempfile.TemporaryDirectory(prefix="snapdiff-bench-") as scratch:
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
        bench = Bench(arguments.snapdiff, generator, os.path.abspath(arguments.keep or scratch))
        table = cases(bench, arguments)
        chosen = arguments.only or [name for name in table if name not in ("1m", "builds-1m", "cuda-1g", "v8", "hprof") or arguments.full or
                                    (arguments.quick and name in ("v8", "hprof"))]
        for name in chosen:
            if name not in table:
                parser.error(f"no case {name}; there are {', '.join(table)}")
            table[name]()
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())

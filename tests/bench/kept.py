#!/usr/bin/env python3
"""Holds snapdiff to the speed it once had: one number per job in kept.json, which is committed.

  kept.py SNAPDIFF                  measure all jobs, compare with kept.json; ends 1 when a job lost more than 10 %
  kept.py SNAPDIFF --write RELEASE  measure, and write the numbers under this name
  --only JOB                        only this job; repeatable      --runs N   of each job, the least counts (default 5)

Numbers of a job:
  cpu           CPU seconds of the command, divided by those of a fixed calibration loop (bench_generate calibrate) that
                runs before and after it: about the same on machines of one kind, whatever else they do
  peak          MiB of memory at the peak
  instructions  millions in user mode on one core, as `perf stat` counts them, else valgrind's cachegrind; they depend
                on the compiler, not on the load. Where one counter counted both sides, they stand for cpu, which then
                is only printed: a busy machine changes nothing. --no-counter leaves them out

A job that lost is measured again, twice: only a job that loses each time is named. It runs outside ctest: a test that
depends on the load of its machine is soon ignored. Numbers are compared with the newest entry of kept.json of the same build (bench_generate build): those of another
compiler or of other flags say nothing.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from measured_run import Run

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_LOST = 0.10  # of a number: noise of a least-of-five on a shared machine stays below
ROUNDS = 3        # a job has to lose in each


def jobs(quick):
    """Name, what bench_generate makes for it, and the command's arguments in that folder."""
    many = 2_000 if quick else 50_000
    few = 500 if quick else 20_000
    pair, texts = ["a.pb.gz", "b.pb.gz"], ["a.heap", "b.heap"]
    series = [f"s.{i:04}.pb.gz" for i in range(1, 13)]
    pprof = {"kind": "pprof", "stacks": many}
    shallow = {"kind": "pprof", "stacks": many, "depth": 12, "changed": 10_000}
    rebuilt = {"kind": "pprof", "stacks": few, "rebuilt": 1}
    jemalloc = {"kind": "jemalloc", "stacks": few}
    months = {"kind": "series", "stacks": few, "count": 12}
    # Other snapshots of a store must not matter to a command: 2000 of them are there.
    crowd = {"kind": "series", "stacks": 100, "count": 200 if quick else 2_000, "depth": 8, "stored": "crowd.db"}
    graph = {"kind": "make_v8.py", "bytes": 1_000_000 if quick else 20_000_000}
    return {
        "pair": (pprof, [*pair, "--db", ":memory:"]),
        "pair-stored": (pprof, [*pair, "--db", "kept.db"]),
        "pair-all-changed": (shallow, [*pair, "--db", ":memory:"]),
        "pair-of-two-builds": (rebuilt, [*pair, "--db", ":memory:"]),
        "pair-by-function": (pprof, [*pair, "--by", "function", "--db", ":memory:"]),
        "top": (pprof, ["top", "a.pb.gz", "--db", ":memory:"]),
        "jemalloc-text": (jemalloc, [*texts, "--db", ":memory:"]),
        "trend": (months, ["trend", *series, "--db", ":memory:"]),
        "import": (months, ["import", *series, "--db", "kept.db"]),
        "diff-in-crowd": (crowd, ["diff", "@1", "@9", "--db", "crowd.db"]),
        "sql-in-crowd": (crowd, ["sql", "SELECT count(*), sum(value) FROM sample WHERE snapshot = 9", "--db", "crowd.db"]),
        "retained": (graph, ["retained", "graph"]),
        "retained-on-disk": (graph, ["retained", "graph", "--memory", "4MiB"]),
        "postmortem": (months, ["postmortem", "-o", "report", *series, "--db", ":memory:"]),
    }


class Keeper:
    def __init__(self, snapdiff, generator, scratch):
        self.snapdiff, self.generator, self.scratch = os.path.abspath(snapdiff), os.path.abspath(generator), scratch
        self.environment = {key: value for key, value in os.environ.items() if key != "SNAPDIFF_DB"}
        self.environment.update(NO_COLOR="1", HOME=scratch)
        self.made = {}
        self.counter = self.find_counter()

    def find_counter(self):
        """Name and start of a command that counts instructions; none where there is no counter."""
        one_core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        perf = [*one_core, "perf", "stat", "-x,", "-e", "instructions:u", "--"]
        valgrind = [*one_core, "valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        for name, command in (("perf", perf), ("valgrind", valgrind)):
            if not shutil.which("taskset") or not shutil.which(name):
                continue
            seen = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
            if seen.returncode == 0 and instructions(seen.stderr):
                return name, command
        return None

    def inputs(self, what):
        name = "-".join(str(value) for value in what.values())
        if name not in self.made:
            folder = os.path.join(self.scratch, name)
            os.makedirs(folder)
            if what["kind"].endswith(".py"):
                script = os.path.join(HERE, what["kind"])
                subprocess.run([sys.executable, script, os.path.join(folder, "graph"), str(what["bytes"])], check=True, stdout=subprocess.DEVNULL)
            else:
                numbers = [f"{key}={value}" for key, value in what.items() if key not in ("kind", "stored")]
                subprocess.run([self.generator, what["kind"], folder, *numbers], check=True)
            if "stored" in what:
                subprocess.run([self.snapdiff, "import", ".", "--db", what["stored"]], cwd=folder, env=self.environment, check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.made[name] = folder
        return self.made[name]

    def run(self, command, folder):
        for left in ("kept.db", "kept.db-wal", "kept.db-shm"):
            if os.path.exists(os.path.join(folder, left)):
                os.remove(os.path.join(folder, left))
        shutil.rmtree(os.path.join(folder, "report"), ignore_errors=True)
        run = Run(command, folder, self.environment)
        if run.code != 0:
            sys.exit(f"kept.py: {' '.join(command)} failed: exit {run.code}: {run.words}")
        return run

    def calibration(self):
        return self.run([self.generator, "calibrate", "."], self.scratch).cpu

    def measure(self, what, arguments, runs):
        folder = self.inputs(what)
        command = [self.snapdiff, *arguments]
        self.run(command, folder)  # the files are in the page cache now
        loops, results = [self.calibration()], []
        for _ in range(runs):
            results.append(self.run(command, folder))
            loops.append(self.calibration())
        numbers = {"cpu": round(min(run.cpu for run in results) / min(loops), 3),
                   "peak": round(min(run.peak for run in results), 1)}
        if self.counter:
            count = instructions(self.run([*self.counter[1], *command], folder).words)
            if count:
                numbers[f"instructions_{self.counter[0]}"] = round(count / 1e6, 1)
        return numbers


def instructions(words):
    """What `perf stat -x,` and cachegrind call so; None where neither spoke."""
    found = re.search(r"^(\d+),[^,]*,instructions|I +refs: +([0-9,]+)", words, re.MULTILINE)
    return int((found.group(1) or found.group(2)).replace(",", "")) if found else None


def losses(before, now):
    """The numbers of a job that got worse by too much."""
    time = next((name for name in before if name.startswith("instructions_") and name in now), "cpu")
    return [f"{name} {before[name]} -> {now[name]} ({now[name] / before[name] - 1:+.0%})"
            for name in (time, "peak") if before.get(name) and now[name] > before[name] * (1 + MOST_LOST)]


def least(one, other):
    return {name: min(value, other.get(name, value)) for name, value in one.items()}


def main():
    parser = argparse.ArgumentParser(description="Fails when snapdiff lost more than 10 % of the speed in kept.json.")
    parser.add_argument("snapdiff")
    parser.add_argument("--generator", help="the bench_generate program (default: where the build puts it)")
    parser.add_argument("--numbers", default=os.path.join(HERE, "kept.json"), help="the file of numbers")
    parser.add_argument("--write", metavar="RELEASE", help="write what is measured under this name")
    parser.add_argument("--only", action="append", metavar="JOB")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--no-counter", action="store_true", help="CPU seconds and memory alone")
    parser.add_argument("--quick", action="store_true", help="tiny inputs: a smoke test of this script")
    arguments = parser.parse_args()
    generator = arguments.generator or os.path.join(os.path.dirname(arguments.snapdiff), "../../tests/bench/bench_generate")
    kept = {"releases": []}
    if os.path.exists(arguments.numbers):
        with open(arguments.numbers, encoding="utf-8") as file:
            kept = json.load(file)
    build = subprocess.run([generator, "build"], capture_output=True, text=True, check=True).stdout.strip()
    newest = next((one["jobs"] for one in reversed(kept["releases"]) if one.get("build") == build), {})
    if not newest:
        print(f"kept.py: {os.path.basename(arguments.numbers)} has no numbers of this build: {build}", file=sys.stderr)
    measured, lost = {}, []
    with tempfile.TemporaryDirectory(prefix="snapdiff-kept-") as scratch:
        keeper = Keeper(arguments.snapdiff, generator, scratch)
        keeper.counter = None if arguments.no_counter else keeper.counter
        for name, (what, command) in jobs(arguments.quick).items():
            if arguments.only and name not in arguments.only:
                continue
            now = keeper.measure(what, command, arguments.runs)
            for _ in range(ROUNDS - 1):
                if not losses(newest.get(name, {}), now):
                    break
                now = least(now, keeper.measure(what, command, arguments.runs))
            measured[name] = now
            worse = losses(newest.get(name, {}), now)
            lost += [f"{name}: {words}" for words in worse]
            print(f"{'LOST' if worse else 'kept' if name in newest else 'new ':4} {name:20} {json.dumps(now)}  before {json.dumps(newest.get(name))}")
            sys.stdout.flush()
    if arguments.write:
        kept["releases"] = [one for one in kept["releases"] if (one["name"], one.get("build")) != (arguments.write, build)]
        kept["releases"].append({"name": arguments.write, "build": build, "jobs": {**newest, **measured}})
        with open(arguments.numbers, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
            file.write("\n")
    for words in lost:
        print(f"kept.py: SLOWER than kept.json: {words}", file=sys.stderr)
    return 1 if (lost or not newest) and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())

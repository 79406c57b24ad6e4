#!/usr/bin/env python3
"""Holds snapdiff to the speed it once had: one number per job in kept.json, which is committed.

  kept.py SNAPDIFF                  measure all jobs, compare with kept.json; ends 1 when a job lost more than 10 %
  kept.py SNAPDIFF --write RELEASE  measure, and write the numbers under this name
  --only JOB                        only this job; repeatable      --runs N   of each job, the least counts (default 5)

Numbers of a job:
  cpu           CPU seconds of the command, divided by those of a fixed calibration loop (bench_generate calibrate) that
                runs before and after it: about the same on machines of one kind, whatever else they do
  peak          MiB of memory at the peak
  instructions  millions in user mode, where `perf stat` counts them; they depend on the compiler, not on the load.
                Where both sides have them, they stand for cpu, which then is only printed

A job that lost is measured again, twice: only a job that loses each time is named. It runs outside ctest: a test that
depends on the load of its machine is soon ignored. RELEASE is compared with the newest entry of kept.json.
"""

import argparse
import json
import os
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
    many = 2_000 if quick else 100_000
    few = 500 if quick else 20_000
    pair, texts = ["a.pb.gz", "b.pb.gz"], ["a.heap", "b.heap"]
    series = [f"s.{i:04}.pb.gz" for i in range(1, 13)]
    pprof = {"kind": "pprof", "stacks": many}
    shallow = {"kind": "pprof", "stacks": many, "depth": 12, "changed": 10_000}
    rebuilt = {"kind": "pprof", "stacks": few, "rebuilt": 1}
    jemalloc = {"kind": "jemalloc", "stacks": few}
    months = {"kind": "series", "stacks": few, "count": 12}
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
        """The start of a command that counts instructions; none where the machine has no counter."""
        if not shutil.which("perf"):
            return None
        command = ["perf", "stat", "-x,", "-e", "instructions:u", "--"]
        seen = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
        return command if seen.returncode == 0 and seen.stderr.split(",")[0].isdigit() else None

    def inputs(self, what):
        name = "-".join(str(value) for value in what.values())
        if name not in self.made:
            folder = os.path.join(self.scratch, name)
            os.makedirs(folder)
            numbers = [f"{key}={value}" for key, value in what.items() if key != "kind"]
            subprocess.run([self.generator, what["kind"], folder, *numbers], check=True)
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
            words = self.run([*self.counter, *command], folder).words
            count = next((line.split(",")[0] for line in words.splitlines() if "instructions" in line), "")
            if count.isdigit():
                numbers["instructions"] = round(int(count) / 1e6)
        return numbers


def losses(before, now):
    """The numbers of a job that got worse by too much."""
    time = "instructions" if "instructions" in before and "instructions" in now else "cpu"
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
    parser.add_argument("--quick", action="store_true", help="tiny inputs: a smoke test of this script")
    arguments = parser.parse_args()
    generator = arguments.generator or os.path.join(os.path.dirname(arguments.snapdiff), "../../tests/bench/bench_generate")
    kept = {"releases": []}
    if os.path.exists(arguments.numbers):
        with open(arguments.numbers, encoding="utf-8") as file:
            kept = json.load(file)
    newest = kept["releases"][-1]["jobs"] if kept["releases"] else {}
    measured, lost = {}, []
    with tempfile.TemporaryDirectory(prefix="snapdiff-kept-") as scratch:
        keeper = Keeper(arguments.snapdiff, generator, scratch)
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
        kept["releases"] = [one for one in kept["releases"] if one["name"] != arguments.write]
        kept["releases"].append({"name": arguments.write, "jobs": {**newest, **measured}})
        with open(arguments.numbers, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
            file.write("\n")
    for words in lost:
        print(f"kept.py: SLOWER than kept.json: {words}", file=sys.stderr)
    return 1 if lost and not arguments.write else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Training runs with a known truth (training_run.py) against what `snapdiff trend FILE@steps` says of them.

  check_iterations.py --snapdiff SNAPDIFF

Each run: every iteration is found and ends within one event of the true one; what a leak keeps of an iteration is the first
culprit, with its exact bytes and blocks; runs without a leak have no culprit. Standard library only.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import training_run  # noqa: E402

# What the leak is to be called: the last own function of the culprit.
NAMES = {"loss_list": ("forward", "model.py"), "hook": ("save_output", "model.py"), "optimizer_copies": ("remember_state", "train.py"),
         "cache": ("put", "cache.py")}

HARMLESS = [[], ["--zero-grad", "end"], ["--zero-grad", "never"], ["--stacks", "python"], ["--accumulate", "4"], ["--evaluate", "3"],
            ["--vary"], ["--vary", "--evaluate", "2", "--accumulate", "2"], ["--graphs"], ["--bounded", "3"], ["--late"],
            ["--in-place"], ["--in-place", "--zero-grad", "end", "--stacks", "python"], ["--oom", "forward"], ["--oom", "backward"],
            ["--oom", "step"], ["--late", "--vary", "--bounded", "3"]]
BESIDE = [[], ["--stacks", "python"], ["--evaluate", "3"], ["--vary"], ["--graphs"], ["--oom", "forward"], ["--late"], ["--bounded", "3"],
          ["--zero-grad", "end"], ["--accumulate", "2"]]


class Checker:
    def __init__(self, snapdiff, folder):
        self.snapdiff, self.path, self.failures, self.runs = snapdiff, os.path.join(folder, "run.pickle"), [], 0
        self.found = self.wanted = 0

    def expect(self, condition, what, arguments):
        if not condition:
            self.failures.append("%s: %s" % (" ".join(arguments), what))

    def trend(self):
        """Two snapshots are no trend."""
        for command in ("trend", "diff"):
            done = subprocess.run([self.snapdiff, command, self.path + "@steps", "--as", "json", "--db", ":memory:"], capture_output=True,
                                  text=True, timeout=120, check=False)
            if done.returncode == 0:
                return json.loads(done.stdout)
            if "too few snapshots for a trend" not in done.stderr:
                break
        return done.stderr

    def make(self, arguments):
        self.runs += 1
        return training_run.make(self.path, *arguments)

    def boundaries(self, report, truth, arguments):
        snapshots = report.get("snapshots") or [report["baseline"], report["current"]]
        ends = [int(snapshot["ref"].rpartition("@")[2]) for snapshot in snapshots]
        self.wanted += len(truth["ends"])
        near = sum(1 for end in truth["ends"] if any(abs(end - found) <= 1 for found in ends))
        self.found += near
        self.expect(near == len(truth["ends"]) and len(ends) == len(truth["ends"]),
                    "iterations end after events %s, expected %s" % (ends, truth["ends"]), arguments)

    def harmless(self, arguments):
        truth = self.make(arguments)
        report = self.trend()
        if isinstance(report, str):
            return self.expect(False, report, arguments)
        if "--in-place" not in arguments:       # its iterations end elsewhere: at zero_grad or backward
            self.boundaries(report, truth, arguments)
        names = [culprit["name"] for culprit in report["story"]["culprits"]]
        self.expect(not names, "culprits %s, expected none" % names, arguments)

    def leak(self, kind, arguments):
        truth = self.make(arguments)
        report = self.trend()
        if isinstance(report, str):
            return self.expect(False, report, arguments)
        self.boundaries(report, truth, arguments)
        if not report["story"]["culprits"]:
            return self.expect(False, "no culprit", arguments)
        first = report["story"]["culprits"][0]
        last = first["path"][-1]
        name = (last["function"], os.path.basename(last["file"]))
        self.expect(name == NAMES[kind], "the first culprit is %s, expected %s" % (name, NAMES[kind]), arguments)
        kept = truth["leaked"][1:]              # since the end of the first one
        wanted = (sum(k["bytes"] for k in kept), sum(k["blocks"] for k in kept))
        got = (first["growth"], first["growth_objects"])
        self.expect(got == wanted, "growth of bytes and blocks is %s, expected %s" % (got, wanted), arguments)

    def inference(self, arguments):
        self.make(arguments)
        report = self.trend()
        self.expect(isinstance(report, str) and "no iteration of a training loop" in report, "iterations were found, expected none", arguments)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapdiff", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(os.path.abspath(options.snapdiff), folder)
        for iterations in ("5", "12", "20"):
            for arguments in HARMLESS:
                if iterations == "5" and arguments[0:1] == ["--late"] and "--bounded" in arguments:
                    continue                    # three iterations are left, and the cache holds three
                checker.harmless(["--iterations", iterations, *arguments])
        for iterations in ("2", "3", "5", "12", "20"):
            for kind in training_run.LEAKS:
                for arguments in BESIDE:
                    # Two iterations have to be left in the trace, and a cache that is not full yet looks like a leak.
                    if iterations in ("2", "3") and arguments in (["--late"], ["--bounded", "3"]):
                        continue
                    checker.leak(kind, ["--iterations", iterations, "--leak", kind, *arguments])
        for layers in ("4", "24"):
            for iterations in ("1", "20"):
                checker.inference(["--inference", "--iterations", iterations, "--layers", layers])
        print("%d runs; iterations that end where they should: %d of %d" % (checker.runs, checker.found, checker.wanted))
    if checker.failures:
        print("\n".join(checker.failures))
        sys.exit(1)


if __name__ == "__main__":
    main()

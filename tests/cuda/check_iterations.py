#!/usr/bin/env python3
"""Training runs with a known truth (training_run.py) against what `snapdiff trend FILE@steps` says of them.

  check_iterations.py --snapdiff SNAPDIFF
  check_iterations.py --snapdiff SNAPDIFF --seeds 200 [--first 1]    runs of any mixture instead, by seed

Each run: every iteration is found and ends within one event of the true one; what a leak keeps of an iteration is the first
culprit, with its exact bytes and blocks; runs without a leak have no culprit; at least 95 % of the bytes at the peak and at the
end of the last iteration have their role. Standard library only.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import training_run  # noqa: E402
from rounds import rounds  # noqa: E402

# What the leak is to be called: the last own function of the culprit.
NAMES = {"loss_list": ("forward", "model.py"), "hook": ("save_output", "model.py"), "optimizer_copies": ("remember_state", "train.py"),
         "cache": ("put", "cache.py")}

HARMLESS = [[], ["--zero-grad", "end"], ["--zero-grad", "never"], ["--stacks", "python"], ["--accumulate", "4"], ["--evaluate", "3"],
            ["--vary"], ["--vary", "--evaluate", "2", "--accumulate", "2"], ["--graphs"], ["--bounded", "3"], ["--late"],
            ["--replay"], ["--autotune"], ["--checkpoint"], ["--annotations", "optimizer"], ["--annotations", "profiler", "--evaluate", "2"],
            ["--annotations", "own", "--late"], ["--annotations", "optimizer", "--oom", "step"],
            ["--in-place"], ["--in-place", "--zero-grad", "end", "--stacks", "python"], ["--oom", "forward"], ["--oom", "backward"],
            ["--oom", "step"], ["--late", "--vary", "--bounded", "3"]]
BESIDE = [[], ["--stacks", "python"], ["--evaluate", "3"], ["--vary"], ["--graphs"], ["--oom", "forward"], ["--late"], ["--bounded", "3"],
          ["--zero-grad", "end"], ["--zero-grad", "never"], ["--accumulate", "2"], ["--oom", "backward"], ["--oom", "step"],
          ["--autotune"], ["--checkpoint"], ["--annotations", "optimizer"], ["--annotations", "profiler"]]
# A captured pass calls no hooks and keeps no list of graphs.
NOT_CAPTURED = ("loss_list", "hook")
# What is kept after a step belongs to the next one where marks of steps divide them: two of these see it once.
AFTER_STEP = ("optimizer_copies", "cache")


def mixture(seed):
    """The arguments of a run, drawn, and the leak among them."""
    rng = random.Random(seed)
    leak = rng.choice([None, None, *training_run.LEAKS])
    iterations = rng.randint(2, 20)
    marks = rng.choice([None, None, None, "optimizer", "profiler", "own"])
    if marks == "optimizer" and leak in AFTER_STEP:
        iterations = max(iterations, 3)
    out = ["--iterations", str(iterations), "--seed", str(seed), "--layers", str(rng.choice([2, 3, 4, 7, 12])),
           "--hidden", str(rng.choice([64, 256, 384])), "--batch", str(rng.choice([1, 8, 24])), "--seq", str(rng.choice([64, 128, 320])),
           "--zero-grad", rng.choice(["start", "end", "never"]), "--accumulate", str(rng.choice([1, 1, 2, 4])),
           "--evaluate", str(rng.choice([0, 0, 1, 3])), "--stacks", rng.choice(["all", "python"])]
    if leak:
        out += ["--leak", leak]
    if marks:
        out += ["--annotations", marks]
    if rng.random() < 0.3:
        out += ["--oom", rng.choice(["forward", "backward", "step"])]
    if rng.random() < 0.2 and leak not in NOT_CAPTURED:
        out += ["--replay"]
    elif rng.random() < 0.2:
        out += ["--checkpoint"]
    out += [flag for flag in ("--vary", "--graphs", "--autotune") if rng.random() < 0.25]
    # Two iterations have to be left in the trace; a cache that is not full yet looks like a leak.
    if iterations > 5 and rng.random() < 0.2:
        out += ["--late"]
    if iterations > 8 and rng.random() < 0.2:
        out += ["--bounded", "3"]
    return out, leak


class Checker:
    def __init__(self, snapdiff, folder):
        self.snapdiff, self.path, self.failures, self.runs = snapdiff, os.path.join(folder, "run.pickle"), [], 0
        self.found = self.wanted = self.right_bytes = self.all_bytes = 0

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
        # The losses themselves are those of another line: of the culprit, or small beside it.
        losses = len(kept) * truth["losses"]
        without = (wanted[0] - 512 * losses, wanted[1] - losses)
        self.expect(got in ((wanted, without) if kind == "loss_list" else (wanted,)), "growth of bytes and blocks is %s, expected %s" % (got, wanted), arguments)

    def roles(self, arguments):
        """Of all bytes at the peak and at the last low point, how many have the right role."""
        truth = self.make(arguments)
        for moment, wanted in truth["roles"].items():
            done = subprocess.run([self.snapdiff, "top", "%s@%d" % (self.path, moment), "--by", "role", "-n", "0", "--as", "json", "--db", ":memory:"],
                                  capture_output=True, text=True, timeout=120, check=False)
            if done.returncode != 0:
                return self.expect(False, done.stderr, arguments)
            found = {row["key"].removeprefix("role="): row["flat"] for row in json.loads(done.stdout)["rows"]}
            right = sum(min(size, found.get(role, 0)) for role, size in wanted.items())
            self.right_bytes, self.all_bytes = self.right_bytes + right, self.all_bytes + sum(wanted.values())
            self.expect(right >= 0.95 * sum(wanted.values()), "roles after %d events are %s, expected %s" % (moment, found, wanted), arguments)

    def peak_line(self, arguments):
        """The report's first screen says what fills the device at the peak; a failed allocation comes before all else."""
        truth = self.make(arguments)
        wanted = next(iter(truth["roles"].values()))
        done = subprocess.run([self.snapdiff, "postmortem", self.path, "-o", self.path + ".report"], capture_output=True, text=True, timeout=120, check=True)
        lines = done.stdout.splitlines()
        first = max(wanted, key=wanted.get)
        share = round(100 * wanted[first] / sum(wanted.values()))
        at_peak = [line for line in lines if line.startswith("At the peak, ")]
        self.expect(len(at_peak) == 1 and " in use: %d %% %s" % (share, first) in at_peak[0], "%s, expected %d %% %s" % (at_peak, share, first), arguments)
        if "--oom" in arguments:
            self.expect(lines[0].startswith("An allocation of "), "the first line is '%s'" % lines[0], arguments)

    def failure(self, part, arguments):
        """Asked, free, reserved, what could go back and the reason, to the byte, before all else; then what would hold less."""
        arguments = [*arguments, "--oom", part, "--batch", "64"]
        truth = self.make(arguments)["failure"]
        run = lambda *words: subprocess.run([self.snapdiff, *words], capture_output=True, text=True, timeout=120, check=True).stdout
        [found] = json.loads(run("info", self.path, "--as", "json"))["out_of_memory"]
        got = {key: found[key] for key in ("asked", "device_free", "reserved", "blocks", "allocated", "requested")}
        got["can_go_back"] = found["releasable"]["bytes"]
        self.expect(got == truth, "the failure is %s, expected %s" % (got, truth), arguments)
        self.expect(found["reason"] == "real exhaustion", "the reason is %s" % found["reason"], arguments)
        screen = run("top", self.path, "--db", ":memory:")
        self.expect(screen.startswith("out of memory on device 0"), "the first screen begins '%s'" % screen.splitlines()[0], arguments)
        # What would hold less when it failed: a forward pass had only begun, backward had all, the step nothing of it.
        calls, state = " are activations of the 4 module calls at model.py:66", " are the optimizer's state"
        wanted = {"forward": state, "backward": calls, "step": state}[part]
        self.expect("advice      When it failed, " in screen and wanted in screen, "no advice in %s" % screen, arguments)
        self.expect(part == "backward" or calls not in screen, "advice of another moment in %s" % screen, arguments)
        self.expect("expandable_segments" not in screen, "fewer gaps would not have helped: %s" % screen, arguments)
        report = run("postmortem", self.path, "-o", self.path + ".report")
        self.expect(re.match(r"An allocation of [0-9.]+ MiB failed on device 0: real exhaustion: ", report), "the report begins '%s'" % report[:80], arguments)

    def peak_figures(self, arguments, layers):
        """The first screen of a single snapshot: bytes by role, and what the calls of the model's layers keep."""
        arguments = [*arguments, "--layers", str(layers), "--batch", "64"]
        truth = self.make(arguments)
        done = subprocess.run([self.snapdiff, "top", self.path, "--as", "json", "--db", ":memory:"], capture_output=True, text=True, timeout=120, check=True)
        peak = json.loads(done.stdout)["peak"]
        moment, wanted = next(iter(truth["roles"].items()))
        found = {role["role"]: role["bytes"] for role in peak["roles"]}
        self.expect(peak["event"] == moment and peak["bytes"] == sum(wanted.values()) == sum(found.values()),
                    "the peak is %d bytes after %d events, expected %d after %d" % (peak["bytes"], peak["event"], sum(wanted.values()), moment), arguments)
        right = sum(min(size, found.get(role, 0)) for role, size in wanted.items())
        self.expect(right >= 0.95 * sum(wanted.values()), "roles at the peak are %s, expected %s" % (found, wanted), arguments)
        advice = [line for line in peak["advice"] if "torch.utils.checkpoint" in line]
        # Each call keeps five parts of 8 MiB, of which it hands on one; backward has freed up to three of the last one's.
        calls = r"^(\d+) MiB are activations of the %d module calls at model\.py:66: .* about ([\d.]+) MiB$" % layers
        found = re.search(calls, advice[0]) if advice else None
        self.expect(found and 40 * layers - 24 <= int(found[1]) <= 40 * layers and abs(float(found[2]) - (40 + 8 * layers)) <= 6,
                    "advice is %s, expected '%s' of %d MiB" % (peak["advice"], calls, 40 * layers), arguments)

    def real_roles(self, path):
        """A forward and a backward pass of attention, judged by hand: one workspace of cuBLAS for each of two threads, and the
        gradients of three inputs of 2 MiB; at the peak what backward needs and what it makes."""
        for moment, wanted in (("end", {"workspace": 2 * 8519680, "gradient": 3 << 21}), ("peak", {"workspace": 2 * 8519680})):
            done = subprocess.run([self.snapdiff, "top", "%s@%s" % (path, moment), "--by", "role", "-n", "0", "--as", "json", "--db", ":memory:"],
                                  capture_output=True, text=True, timeout=120, check=True)
            found = {row["key"]: row["flat"] for row in json.loads(done.stdout)["rows"]}
            for role, size in wanted.items():
                self.expect(found.get(role) == size, "%s of %s is %s, expected %d" % (role, moment, found.get(role), size), [path])
            if moment == "peak":
                large = found.get("activation", 0) + found.get("autograd detail", 0)
                self.expect(large > 0.98 * sum(found.values()), "activations and autograd details are %d of %s" % (large, found), [path])

    def any(self, seed):
        arguments, kind = mixture(seed)
        if kind:
            self.leak(kind, arguments)
        else:
            self.harmless(arguments)
        if "--late" not in arguments:
            self.roles(arguments)

    def inference(self, arguments):
        self.make(arguments)
        report = self.trend()
        self.expect(isinstance(report, str) and "no iteration of a training loop" in report, "iterations were found, expected none", arguments)


def everything(checker):
    # Two lengths run the code of all: one with iterations enough for a verdict, and one without.
    for iterations in rounds(("12", "2", "3", "5", "20"), 2, "lengths of a run"):
        for arguments in HARMLESS:
            # Two iterations have to be left in the trace, and a cache that is not full yet looks like a leak.
            if iterations in ("2", "3") and ("--late" in arguments or "--bounded" in arguments):
                continue
            if iterations == "5" and arguments[0:1] == ["--late"] and "--bounded" in arguments:
                continue                    # three iterations are left, and the cache holds three
            checker.harmless(["--iterations", iterations, *arguments])
    for iterations in rounds(("12", "2", "3", "5", "20"), 2, "lengths of a run that leaks"):
        for kind in training_run.LEAKS:
            for arguments in BESIDE:
                # Two iterations have to be left in the trace, and a cache that is not full yet looks like a leak.
                if iterations in ("2", "3") and arguments in (["--late"], ["--bounded", "3"]):
                    continue
                if iterations == "2" and arguments == ["--annotations", "optimizer"] and kind in AFTER_STEP:
                    continue
                checker.leak(kind, ["--iterations", iterations, "--leak", kind, *arguments])
    for layers in ("4", "24"):
        for iterations in ("1", "20"):
            checker.inference(["--inference", "--iterations", iterations, "--layers", layers])
    for arguments in HARMLESS + [["--leak", kind] for kind in training_run.LEAKS]:
        if "--late" not in arguments:           # what is there before the trace has no role that the trace could tell
            checker.roles(arguments)
    for arguments in [[], ["--oom", "backward"], ["--leak", "loss_list", "--iterations", "3"]]:
        checker.peak_line(arguments)
    for part in ("forward", "backward", "step"):
        for arguments in [["--iterations", "1"], ["--iterations", "6", "--stacks", "python"]]:
            checker.failure(part, arguments)
    for layers in (4, 12):
        for arguments in [["--iterations", "1"], ["--iterations", "4"], ["--iterations", "1", "--stacks", "python"]]:
            checker.peak_figures(arguments, layers)
    data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "torch_cuda")
    checker.real_roles(os.path.join(data, "cs336-sil-attention-small.pickle"))
    for seed in rounds(range(1, 31), 5, "mixtures"):
        checker.any(seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapdiff", required=True)
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--first", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(os.path.abspath(options.snapdiff), folder)
        if options.seeds:
            for seed in range(options.first, options.first + options.seeds):
                checker.any(seed)
        else:
            everything(checker)
        print("%d runs; iterations that end where they should: %d of %d; bytes with the right role: %.1f %%"
              % (checker.runs, checker.found, checker.wanted, 100 * checker.right_bytes / checker.all_bytes))
    if checker.failures:
        print("\n".join(checker.failures))
        sys.exit(1)


if __name__ == "__main__":
    main()

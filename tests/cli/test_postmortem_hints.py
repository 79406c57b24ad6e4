"""Every hint rule on a sample that shows its pattern, and on one that must not be taken for it.

Where the samples come from: tests/data/postmortem/README.md. `made` ones are written here, in the layout of the real
tool; all others are of real runs."""
import glob
import json
import os
import pickle
import re
import unittest

import device_snapshots as cuda
from heaps import EXAMPLES, SOURCE, CliTest

DATA = os.path.join(SOURCE, "tests", "data")
SHARED = os.path.join(os.path.dirname(SOURCE), "shared", "data")


def files(pattern):
    found = sorted(glob.glob(os.path.join(DATA, pattern)))
    assert found, pattern
    return found


GO = sorted(glob.glob(os.path.join(EXAMPLES, "go-queue", "heap.*.pb.gz")))
TCMALLOC = sorted(glob.glob(os.path.join(EXAMPLES, "tcmalloc-svc", "svc.*.heap")))
FIGURES, CACHE, GOROUTINES = files("postmortem/figures/*"), files("postmortem/cache/*"), files("postmortem/goroutines/*")
LOSS, OUTPUTS, FIRST = (files("postmortem/torch-%s.sdt.jsonl" % n) for n in ("loss", "outputs", "first-step"))
MODULES, ONCE = (files("postmortem/torch-modules%s.sdt.jsonl" % n) for n in ("", "-once"))
OBJECTS, OPERATORS = files("postmortem/modules/*.gz"), files("postmortem/tensorflow-ops/*.txt")
RSS, FRAGMENTS = files("postmortem/rss_beside_heap.sdt.jsonl"), files("postmortem/fragments.log")
SIL = os.path.join(DATA, "torch_cuda", "cs336-sil-attention-small.pickle")
NAMED = files("postmortem/named.*.pb.gz")
HEAPTRACK = files("heaptrack/native_leak-steps*.zst")
LOOP, NODES, LIVE = (files("metric_log/" + n) for n in ("constructed-loop.log", "constructed-meminfo-graphnodes.log", "cpu-iterations.log"))

# rule: (shows it, must not be taken for it)
REAL = {
    "matplotlib-figures": (FIGURES, CACHE),
    "counted-leftovers": (GO, CACHE),
    "torch-loss-with-graph": (LOSS, OUTPUTS),
    "torch-modules-in-loop": (MODULES, ONCE),
    "torch-module-objects": (OBJECTS, OUTPUTS),
    "torch-tensors-collected": (OUTPUTS, FIRST),
    "torch-first-step": (FIRST, OUTPUTS),
    "torch-live-tensors": (LIVE, LOOP),
    "cublas-workspace": ([SIL + "@10", SIL], OUTPUTS),
    "cuda-pinned-segments": ([SIL + "@10", SIL + "@39"], [SIL + "@10", SIL]),
    "torchsharp-detached": (LOOP, NODES),
    "tensorflow-graph-nodes": (NODES, LOOP),
    "tensorflow-ops-in-loop": (OPERATORS, OBJECTS),
    "cpp-container-grows": (NAMED, HEAPTRACK),
    "doubling-table": (TCMALLOC[:12], FIGURES),
    "goroutines": (GOROUTINES, GO),
    "resident-beyond-heap": (RSS, FIGURES),
    "allocator-fragmentation": (FRAGMENTS, LIVE),
    "cache-warming-up": (CACHE, GO),
    "one-step": (CACHE, FIGURES),
}


class Hints(CliTest):
    def hints(self, *operands):
        self.run_it("postmortem", *operands, "-o", "out", "--db", ":memory:")
        with open(os.path.join(self.folder, "out", "report.json"), encoding="utf-8") as file:
            self.report = json.load(file)
        return {hint["rule"]: hint for hint in self.report["hints"]}

    def lines(self, name, snapshots):
        """A series in the native tracker format: per snapshot [(frames, bytes, count)] and {counter: value}."""
        out = [{"k": "header", "format": "snapdiff-tracker", "version": 1, "producer": "test"}]
        for i, (rows, counters) in enumerate(snapshots):
            out.append({"k": "snapshot", "id": "s%d" % i, "seq": i})
            out += [{"k": "live", "stack": frames, "bytes": size, "count": count} for frames, size, count in rows]
            out += [{"k": "counter", "name": n, "value": v, "unit": "bytes"} for n, v in counters.items()]
            out.append({"k": "end", "id": "s%d" % i, "rows": len(rows) + len(counters)})
        return self.write(name, "".join(json.dumps(line) + "\n" for line in out))

    def dumps(self, *snapshots):
        return [self.write("%d.pickle" % i, pickle.dumps(s, protocol=4)) for i, s in enumerate(snapshots)]

    def made(self):
        """Patterns of which no real recording could be had."""
        stats = "ThreadTotalLiveCount: %d; CreatedOutsideScopeCount: %d; DisposedOutsideScopeCount: %d; CreatedInScopeCount: 350; DisposedInScopeCount: 350; AttachedToScopeCount: 0; DetachedFromScopeCount: 0\n"
        log = "".join("epoch %d\n" % i + stats % (50 * (i + 1), 80 * (i + 1), 30 * (i + 1)) for i in range(4))
        yield "torchsharp-outside-scope", [self.write("outside.log", log)], LOOP
        log = lambda allocated: "".join("step %d GPU Memory: Allocated=%dMB, Reserved=%dMB\n" % (i, allocated(i), 500 + 40 * i) for i in range(9))
        yield ("torch-reserved-beyond-allocated", [self.write("r.log", log(lambda i: 300 + i % 2))],
               [self.write("r0.log", log(lambda i: 300 + 40 * i))])
        def kept(name, leaf):
            return self.lines(name, [([([leaf, "link (graph%s)" % name[-3:], "main (main%s)" % name[-3:]], 4800 * (i + 1), 100 * (i + 1)),
                                       (["idle (idle%s)" % name[-3:]], 90000, 9)], {}) for i in range(9)])
        shared, listed = kept("shared.cc", "std::make_shared<Node> (shared_ptr.h:1010)"), kept("listed.py", "append (list.py:7)")
        yield "cpp-shared-pointers", [shared], [listed]
        yield "counted-leftovers-python", [listed], [shared]
        dialled = kept("dialled.go", "net/http.(*Transport).dialConn (transport.go:1775)")
        yield "go-response-bodies", [dialled], [listed]

    def check(self, rule, shows, shows_not):
        with self.subTest(rule):
            hint = self.hints(*shows).get(rule)
            self.assertIsNotNone(hint, self.report["hints"])
            self.assertTrue(hint["evidence"].strip())
            if hint["rows"]:
                self.assertRegex(hint["evidence"], r"^\+[0-9.,\s]+ ?(B|KiB|MiB|GiB)? ?\(")
            self.assertNotIn(rule, self.hints(*shows_not))

    def test_each_rule_fits_its_pattern_and_not_another(self):
        seen = set()
        for rule, (shows, shows_not) in REAL.items():
            self.check(rule, shows, shows_not)
            seen.add(rule)
        for rule, shows, shows_not in self.made():
            self.check(rule, shows, shows_not)
            seen.add(rule)
        seen |= {"cuda-fragmentation", "cuda-private-pools"}  # test_rules_of_the_device
        text, _ = self.run_it("postmortem", "--print-hints")
        self.assertEqual(set(re.findall(r'^id = "(.*)"$', text, re.M)), seen)

    def test_rules_of_the_device(self):
        holes = [(15 * cuda.MIB, None), (10 * cuda.MIB, 10 * cuda.MIB), (15 * cuda.MIB, None)]
        start = {"segments": [cuda.segment(cuda.C, [(4 * cuda.MIB, 4 * cuda.MIB)])], "device_traces": [[]], "allocator_settings": {},
                 "external_annotations": []}
        torn = cuda.failed([cuda.segment(cuda.A, holes)], 20 * cuda.MIB, 5 * cuda.MIB)
        full = cuda.failed([cuda.segment(cuda.A, [(40 * cuda.MIB, 40 * cuda.MIB)])], 20 * cuda.MIB, 5 * cuda.MIB)
        free = [(60 * cuda.MIB, None), (2 * cuda.MIB, 2 * cuda.MIB)]
        pools = cuda.failed([cuda.segment(cuda.A, [(100 * cuda.MIB, 100 * cuda.MIB)]), cuda.segment(cuda.B, free, pool=(0, 1))],
                            20 * cuda.MIB, 5 * cuda.MIB)
        found = self.hints(*self.dumps(start, torn))
        self.assertIn("30.0 MiB are free in 2 blocks, the largest 15.0 MiB", re.sub(r"\s", " ", found["cuda-fragmentation"]["evidence"]))
        self.assertIn("30.0 MiB of 40.0 MiB that the allocator holds (75 %)", re.sub(r"\s", " ", found["cuda-pinned-segments"]["evidence"]))
        self.assertNotIn("cuda-private-pools", found)
        found = self.hints(*self.dumps(start, pools))
        self.assertIn("cuda-private-pools", found)
        self.assertNotIn("cuda-fragmentation", found)
        found = self.hints(*self.dumps(start, full))
        self.assertFalse([rule for rule in found if rule.startswith("cuda-")])

    def test_reserved_memory_of_real_snapshots(self):
        names = ["cs336-wl-medium-256-training.pickle", "cs336-wl-medium-512-training.pickle"]
        paths = [os.path.join(SHARED, "pytorch", name) for name in names]
        if not all(map(os.path.exists, paths)):
            self.skipTest("the shared samples are not here")
        with open(os.path.join(SHARED, "pytorch", "expected.json"), encoding="utf-8") as file:
            truth = json.load(file)
        hint = self.hints(*paths)["torch-reserved-beyond-allocated"]
        growth = (truth[names[1]]["reserved"] - truth[names[0]]["reserved"]) / 2**30
        self.assertIn("reserved +%.2f GiB" % growth, re.sub(r"\s", " ", hint["evidence"]))

    def test_layers_that_are_made_are_not_taken_for_outputs(self):
        """Names of functions are not in tracemalloc's files; where the memory is taken tells the two apart."""
        hints = self.hints(*OBJECTS)
        self.assertGreater(hints["torch-module-objects"]["growth"], 5 * hints["torch-tensors-collected"]["growth"])
        self.assertNotIn("torch-tensors-collected", self.hints(*MODULES))

    def test_harmless_patterns_say_so_and_come_last(self):
        report = self.hints(*CACHE)
        # Of a jump of unknown cause nobody knows whether it is harmless.
        self.assertEqual({rule: hint["harmless"] for rule, hint in report.items()}, {"cache-warming-up": True, "one-step": False})
        self.hints(*FIGURES)
        flags = [hint["harmless"] for hint in self.report["hints"]]
        self.assertEqual(flags, sorted(flags))

    def test_programs_of_others_show_no_pattern_of_a_library_they_do_not_use(self):
        for series in ("real-sqlite3-tcmalloc", "real-cmake-jemalloc", "node-cache"):
            operands = sorted(glob.glob(os.path.join(SHARED, "pprof", "series", series, "*.*")))
            if not operands:
                self.skipTest("the shared samples are not here")
            for rule in self.hints(*operands):
                self.assertNotRegex(rule, "torch|matplotlib|tensorflow|cuda|goroutines")

    def test_a_series_that_does_not_grow_has_no_hint(self):
        self.assertEqual(self.hints(GO[0], GO[0]), {})
        level = self.lines("level.jsonl", [([(["f (a.py:1)", "main (a.py:9)"], 1000000 + 7 * (i % 3), 10)], {"rss": 5000000}) for i in range(12)])
        self.assertEqual(self.hints(level), {})

    def test_evidence_is_of_the_rows(self):
        hint = self.hints(*FIGURES)["matplotlib-figures"]
        rows = [row for row in self.report["diff"]["rows"] if any("pyplot.py" in (f["file"] or "") for f in row["stack"]) and row["growth"] > 0]
        self.assertLessEqual(hint["growth"], sum(row["growth"] for row in rows))
        self.assertGreater(hint["growth"], 0.9 * sum(row["growth"] for row in rows))
        self.assertLessEqual(hint["rows"], len(rows))


if __name__ == "__main__":
    unittest.main()

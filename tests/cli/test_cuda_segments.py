"""Charts, stores and other forms of CUDA snapshots."""
import gzip
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import unittest

from device_snapshots import A, DeviceTest, segment
from heaps import SOURCE
from test_cuda import CACHE, LEAK, MIB, Run


class CudaSegments(DeviceTest):
    def test_devices_of_other_kinds_are_named_by_what_the_file_says(self):
        """Function names of the allocators, and names of settings; torch/cuda is Python's for ROCm as well, and says nothing."""
        def kind(function="", filename="", setting=None):
            frames = [{"name": function or "f", "filename": filename or "x.cpp", "line": 1}] + LEAK
            snapshot = {"segments": [segment(A, [(MIB, MIB, frames)], device=d) for d in (0,)], "device_traces": [[]],
                        "allocator_settings": {setting: ""} if setting else {}}
            path = self.dump("kind.pickle", snapshot)
            return self.json("info", path)["format_detail"].partition(", of a device of ")[2]
        self.assertEqual(kind("c10::xpu::XPUCachingAllocator::malloc(unsigned long)"), "XPU")
        self.assertEqual(kind("allocate", "/site-packages/torch/xpu/memory.py"), "XPU")
        self.assertEqual(kind("c10::hip::HIPCachingAllocator::Native::malloc(unsigned long)"), "ROCm")
        self.assertEqual(kind("rocblas_create_handle"), "ROCm")
        self.assertEqual(kind(setting="PYTORCH_HIP_ALLOC_CONF"), "ROCm")
        self.assertEqual(kind("f", "/site-packages/torch/mtia/memory.py"), "MTIA")
        for said in (dict(), dict(function="c10::cuda::CUDACachingAllocator::malloc()"), dict(filename="/site-packages/torch/cuda/memory.py"),
                     dict(setting="PYTORCH_ALLOC_CONF"), dict(function="my_xpu_helper")):
            self.assertEqual(kind(**said), "", said)
        self.run_it("import", "kind.pickle", "--per-device")
        frames = [{"name": "c10::xpu::XPUCachingAllocator::malloc()", "filename": "x.cpp", "line": 1}]
        self.run_it("import", self.dump("other.pickle", {"segments": [segment(A, [(MIB, MIB, frames)])], "device_traces": [[]]}), "--per-device")
        listed = json.loads(self.run_it("list", "--as", "json")[0])
        self.assertEqual(sorted(s["name"] for s in listed["series"]), ["kind/cuda:0", "other/xpu:0"])

    def test_timelines_of_the_profiler(self):
        times = [1_700_000_000_000_000 + 1000 * i for i in range(10)]
        sizes = [[0, 4096, 0, 0, 64 * (i % 3), 1024 * i, 0, 0, 0] for i in range(10)]
        self.write("memory.json", json.dumps([times, sizes]))
        report = self.json("trend", "memory.json", "--by", "label:category")
        self.assertEqual({row["key"]: row["values"] for row in report["rows"]},
                         {"parameter": [4096] * 10, "activation": [1024 * i for i in range(10)], "temporary": [64 * (i % 3) for i in range(10)]})
        self.assertEqual({row["key"]: row["verdict"] for row in report["rows"]}["activation"], "GROWING")
        top = self.json("top", "memory.json@peak", "--by", "label:category")
        self.assertEqual((top["total"], top["snapshot"]["taken_at"]), (4096 + 9 * 1024, "2023-11-14T22:13:20.009Z"))
        # Raw: pre-existing, create, a new version (out of one category, into another), destroy.
        raw = [[-1, 1, 500, 0], [10, 2, 100, 3], [20, 3, -100, 3], [20, 3, 100, 4], [30, 4, -100, 4]]
        self.write("memory.raw.json", json.dumps(raw))
        report = self.json("memory.raw.json", "--by", "label:category")
        self.assertEqual([step["total"] for step in report["snapshots"]] if "snapshots" in report else None, [500, 600, 600, 500])
        self.assertIn("torch-timeline", self.run_it("formats")[0])

    def test_a_profile_with_memory_events_is_a_series_of_counters(self):
        made = os.path.join(SOURCE, "tests", "data", "torch_cuda", "profile-made.json")
        with open(made, encoding="utf-8") as file:
            events = [event["args"] for event in json.load(file)["traceEvents"] if event["name"] == "[memory]"]
        report = self.json("trend", made)
        values = {row["name"]: row["values"] for row in report["rows"]}
        self.assertEqual(values["allocated{device=cuda:0}"], [event["Total Allocated"] for event in events])
        self.assertEqual(values["reserved{device=cuda:0}"], [event["Total Reserved"] for event in events])
        self.write("plain.json", '{"traceEvents": [{"ph": "X", "name": "f", "ts": 1}]}')
        self.assertIn("this is a Chrome trace without memory events", self.refused("top", "plain.json"))

    def test_many_devices_have_fewer_moments_with_their_own_values(self):
        events = [{"ph": "i", "name": "[memory]", "ts": n, "args": {"Device Type": 1, "Device Id": n % 256, "Total Allocated": n * 31 % 10_007, "Total Reserved": n}}
                  for n in range(3000)]
        self.write("profile.json", json.dumps({"traceEvents": events}))
        counters = self.json("info", "profile.json")["snapshots"]
        self.assertLessEqual(len(counters), 512)
        report = self.json("trend", "profile.json", "-n", "0")
        values = {row["name"]: row["values"] for row in report["rows"]}
        last = {}
        for event in events:
            last[event["args"]["Device Id"]] = event["args"]
        for device, args in last.items():
            self.assertEqual((values["allocated{device=cuda:%d}" % device][-1], values["reserved{device=cuda:%d}" % device][-1]),
                             (args["Total Allocated"], args["Total Reserved"]))
        # The fullest moment of all is kept.
        live, most = {}, 0
        for event in events:
            live[event["args"]["Device Id"]] = event["args"]["Total Allocated"]
            most = max(most, sum(live.values()))
        known = [[v or 0 for v in row["values"]] for row in report["rows"] if row["name"].startswith("allocated")]
        self.assertEqual(max(map(sum, zip(*known))), most)

    def test_a_long_timeline_keeps_its_peak_and_its_end(self):
        sizes = [[0, i % 7, 0, 0, 0, 0, 0, 0, 10_000 if i == 12_345 else 0] for i in range(20_000)]
        self.write("memory.json", json.dumps([list(range(20_000)), sizes]))
        found = self.json("info", "memory.json")
        self.assertLessEqual(len(found["snapshots"]), 2000)
        self.assertGreater(len(found["snapshots"]), 500)
        totals = [s["totals"]["inuse_space"] for s in found["snapshots"]]
        self.assertEqual((max(totals), totals[-1]), (10_000 + 12_345 % 7, 19_999 % 7))

    def test_broken_timelines(self):
        for text, why in (("[[1, 2], [[0, 1], [0, 2], [0, 3]]]", "more sizes than times"), ("[[1, 2], [[0, 1]]]", "fewer sizes than times"),
                          ("[[1], [[0,1,1,1,1,1,1,1,1,1]]]", "more than 9 sizes"), ("[[1, 9, 1, 1]]", "expected 1 to 4"), ("[[1, 2, 1, 8]]", "expected 0 to 7"),
                          ("[[1, 2, 1]]", "event of 3 numbers"), ("[[1, 2], [[0, 1], [0", "truncated"), ("[[1e30], [[0]]]", "no number below 2^63"),
                          ("[[1, 2, 9223372036854775807, 0], [2, 2, 1, 0]]", "beyond 2^63-1")):
            with self.subTest(text):
                self.write("bad.json", text)
                self.assertIn(why, self.refused("top", "bad.json"))

    def test_charts_of_one_trace(self):
        run = Run(12)
        run.trace.append({"action": "oom", "device_free": 1 * MIB, "size": 512 * MIB, "stream": 0, "time_us": run.now + 1, "frames": LEAK})
        path = self.dump("run.pickle", run)
        timeline = self.drawing("--timeline", path)
        for text in ("Out of memory at", "keep_output", "build_model", "workspace", "reserved by the allocator", "asked 512 MiB", "step 1"):
            self.assertTrue(text in timeline, text)
        self.assertTrue("2 segments, 84.0 MiB reserved" in self.drawing("--segments", path))
        self.assertTrue("free but pinned" in self.drawing("--pins", path))
        self.assertTrue("pinned +63.0 MiB, live" in self.drawing("--pins", path + "@1", path + "@2"))
        both = self.drawing("--timeline", "--segments", "--pins", path)
        self.assertGreater(len(both), len(timeline))
        for ending, magic in (("pdf", b"%PDF-"), ("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF-")):
            self.run_it("render", "--timeline", path, "-o", "out." + ending)
            with open(os.path.join(self.folder, "out." + ending), "rb") as file:
                self.assertTrue(file.read(8).startswith(magic), ending)
        self.assertFalse(self.exists("snapdiff.db"))

    def test_a_device_each_has_its_timeline(self):
        run, other = Run(4).snapshot(), Run(7).snapshot()
        for segment in other["segments"]:
            segment["device"] = 1
        both = {"segments": run["segments"] + other["segments"], "device_traces": run["device_traces"] + other["device_traces"]}
        drawing = self.drawing("--timeline", self.dump("two.pickle", both))
        self.assertTrue("device 0" in drawing)
        self.assertTrue("device 1" in drawing)

    def test_charts_refuse_what_they_cannot_draw(self):
        path = self.dump("run.pickle", Run(3))
        self.assertIn("no trace", self.refused("render", "--timeline", path + "@peak"))
        self.assertIn("no trace", self.refused("render", "--timeline", self.pair()[0]))
        self.assertIn("no segments", self.refused("render", "--segments", self.pair()[0]))
        self.assertIn("--dot has no charts", self.refused("render", "--pins", "--dot", path))
        self.assertIn("no store here", self.refused("render", "--pins"))
        self.assertIn("found 3", self.refused("render", "--pins", path, path, path))
        self.run_it(*self.pair())
        self.assertIn("no segments", self.refused("render", "--segments"))
        self.assertIn("no trace in this snapshot: expected a CUDA snapshot with history for @peak", self.refused("top", "@1@peak"))

    def test_segments_that_do_not_fit_their_rows_are_refused(self):
        """A store that somebody changed: the segments of one snapshot beside the rows of another (it was exit 3)."""
        for name, kept in (("a", 10 * MIB), ("b", 14 * MIB)):
            whole = segment(A, [(kept, kept, LEAK), (40 * MIB - kept, None)])
            self.run_it("import", self.dump(name, {"segments": [whole], "device_traces": [[]]}), "--series", name)
        self.assertTrue("30.0 MiB" in self.drawing("--pins", "@1"))
        with sqlite3.connect(os.path.join(self.folder, "snapdiff.db")) as db:
            self.assertEqual(db.execute("SELECT count(*) FROM allocator WHERE base IS NULL").fetchone(), (2,))
            first, second = (db.execute("SELECT id, data FROM allocator_chunk WHERE id / 1048576 = ? ORDER BY id", (i,)).fetchall() for i in (1, 2))
            self.assertEqual(len(first), len(second))
            for (to, _), (_, data) in zip(first + second, second + first):
                db.execute("UPDATE allocator_chunk SET data = ? WHERE id = ?", (data, to))
        db.close()
        for arguments in (["render", "--segments", "@1"], ["render", "--pins", "@1"], ["pins", "@1"]):
            with self.subTest(arguments):
                self.assertIn("rows pin 31457280 bytes, segments hold 27262976 pinned ones", self.refused(*arguments))

    def two_stored(self):
        """b1 and b2, a run that went out of memory, stored as @1 and @2: names as long as their ids."""
        run = Run(12)
        run.trace.append({"action": "oom", "device_free": 1 * MIB, "size": 512 * MIB, "stream": 0, "time_us": run.now + 1, "frames": LEAK})
        run.alloc(3 * MIB, CACHE)
        self.run_it("diff", self.dump("b1", Run(4)), self.dump("b2", run))
        return "b1", "b2"

    def test_stored_snapshots_answer_as_their_files(self):
        a, b = self.two_stored()

        def of_store(text):
            return text.replace("@1", a).replace("@2", b)

        for words in (["pins", b], ["pins", a, b], ["pins", b + "@peak"], ["top", b + "@oom"], ["top", b + "@peak"], ["top", b + "@5"],
                      ["top", b + "@0.012s"], ["top", b + "@0:end"], ["top", b], ["info", b],
                      ["top", "--metric", "pinned_space", b + "@peak"]):
            with self.subTest(words):
                stored = [word.replace(a, "@1").replace(b, "@2") for word in words]
                expected = self.run_it(*words, "--db", ":memory:")[0]
                self.assertEqual(of_store(self.run_it(*stored)[0]), expected)
                as_json = json.loads(self.run_it(*words, "--db", ":memory:", "--as", "json")[0])
                found = json.loads(of_store(self.run_it(*stored, "--as", "json")[0]))
                for report in (as_json, found):
                    for side in ("baseline", "current", "snapshot"):
                        if isinstance(report.get(side), dict):
                            report[side].pop("series", None)
                self.assertEqual(found, as_json)
        self.assertIn("out of memory on device 0", self.run_it("top", "@2@oom")[0])
        self.assertIn("out of memory on device 0", self.run_it("top", "@last@oom")[0])
        self.assertIn("out of memory on device 0", self.run_it("info", "@2")[0])
        self.assertIn("no point 'nonsense'", self.refused("top", "@2@nonsense"))
        self.assertIn("top takes one snapshot", self.refused("top", "@2@every:30"))
        growth = self.json("diff", b + "@5", b + "@end")["total"]["growth"]
        self.assertEqual(json.loads(self.run_it("diff", "@2@5", "@2@end", "--as", "json")[0])["total"]["growth"], growth)

    def test_charts_of_stored_snapshots(self):
        a, b = self.two_stored()
        for chart in ("--timeline", "--segments", "--pins"):
            with self.subTest(chart):
                expected = self.drawing(chart, a, b)
                self.assertEqual(self.drawing(chart), expected)  # what was last compared
                self.assertEqual(self.drawing(chart, "@1", "@2"), expected)
        self.assertEqual(self.drawing("--pins", "@2@peak"), self.drawing("--pins", b + "@peak"))
        self.assertTrue("keep_output" in self.drawing("--timeline"))
        # Of more than two, segments are those of the first and the last.
        self.run_it("diff", a, a, b)
        self.assertTrue("pinned" in self.drawing("--pins"))
        self.run_it("diff", b + "@5", b + "@end")  # moments are stored with their segments
        self.assertTrue("pinned" in self.drawing("--pins"))
        self.assertIn("no trace", self.refused("render", "--timeline"))

    def test_traces_are_rows_of_sql_and_survive_what_happens_to_the_store(self):
        _, b = self.two_stored()
        with open(os.path.join(self.folder, b), "rb") as file:
            snapshot = pickle.load(file)  # our own
        trace = snapshot["device_traces"][0]
        blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]]

        def rows(query, *more):
            return json.loads(self.run_it("sql", query, "--as", "json", *more)[0])

        def check(number, *more):
            found = rows("SELECT action, coalesce(address, device_free) AS address, size, time_us FROM trace_event "
                         "WHERE snapshot = %d ORDER BY event" % number, *more)
            found = found["rows"] if isinstance(found, dict) else found
            values = [list(row.values()) if isinstance(row, dict) else row for row in found]
            self.assertEqual([[str(v) for v in row] for row in values],
                             [[str(v) for v in (e["action"], e.get("addr", e.get("device_free")), e["size"], e["time_us"])] for e in trace])
            found = rows("SELECT address, size, state = 'inactive' AS free FROM block WHERE snapshot = %d" % number, *more)
            found = found["rows"] if isinstance(found, dict) else found
            values = [list(row.values()) if isinstance(row, dict) else row for row in found]
            self.assertEqual([[str(v) for v in row] for row in values],
                             [[str(v) for v in (x["address"], x["size"], int(x["state"] == "inactive"))] for x in blocks])

        check(2)
        self.run_it("merge", "snapdiff.db", "--db", "other.db")
        check(2, "--db", "other.db")
        self.run_it("rm", "@1", "--yes")
        check(2)
        self.assertEqual(self.drawing("--timeline", "@2"), self.drawing("--timeline", b))

    def test_compressed_snapshots_hold_the_same(self):
        self.dump("b1", Run(5))
        with open(os.path.join(self.folder, "b1"), "rb") as file:
            plain = file.read()
        self.write("g1", gzip.compress(plain))
        names = ["g1"]
        if shutil.which("zstd"):
            subprocess.run(["zstd", "-q", "b1", "-o", "z1"], cwd=self.folder, check=True)
            names.append("z1")
        else:
            print("skipped: no zstd program", file=sys.stderr)
        for name in names:
            for words in (["top"], ["top", "--metric", "pinned_space"], ["pins"], ["info"]):
                with self.subTest((name, words)):
                    found, expected = self.json(*words, name), self.json(*words, "b1")
                    for key in ("rows", "total", "segments", "pinned", "live", "totals", "stacks"):
                        self.assertEqual(found.get(key), expected.get(key))
            self.assertEqual(self.json("top", name + "@peak")["rows"], self.json("top", "b1@peak")["rows"])


if __name__ == "__main__":
    unittest.main()

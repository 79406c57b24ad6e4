"""What CUDA snapshots tell beyond stacks: why an allocation failed, who pins segments."""
import gzip
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import unittest

from heaps import SOURCE, CliTest
from test_cuda import CACHE, LEAK, MIB, WEIGHTS, Run, frame

SCHEMAS = os.path.join(SOURCE, "analyzer", "report", "schema")
VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")


def segment(address, blocks, stream=0, pool=(0, 0), small=False, device=0):
    """blocks: (size, requested or None for a free one, frames, state), one after the other."""
    out, at = [], address
    for size, requested, *more in blocks:
        frames = more[0] if more else LEAK
        state = more[1] if len(more) > 1 else "active_allocated"
        out.append({"address": at, "size": size, "requested_size": requested or 0, "frames": frames if requested else [],
                    "state": state if requested else "inactive"})
        at += size
    busy = [b for b in out if b["state"] != "inactive"]
    return {"device": device, "address": address, "total_size": at - address,
            "allocated_size": sum(b["size"] for b in busy if b["state"] == "active_allocated"), "active_size": sum(b["size"] for b in busy),
            "requested_size": sum(b["requested_size"] for b in busy), "stream": stream, "segment_type": "small" if small else "large",
            "segment_pool_id": pool, "is_expandable": False, "frames": [], "blocks": out}


def failed(segments, asked, free, stream=0, device=0):
    oom = {"action": "oom", "device_free": free, "size": asked, "stream": stream, "time_us": 1_700_000_000_500_000, "frames": LEAK}
    start = {"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": 1_700_000_000_000_000}
    traces = [[] for _ in range(device)] + [[start, oom]]
    return {"segments": segments, "device_traces": traces, "allocator_settings": {"expandable_segments": False}, "external_annotations": []}


A, B, C = 0x7F0000000000, 0x7F1000000000, 0x7F2000000000


class CudaMemory(CliTest):
    def dump(self, name, value):
        self.write(name, pickle.dumps(value.snapshot() if isinstance(value, Run) else value, protocol=4))
        return name

    def json(self, *arguments):
        return json.loads(self.run_it(*arguments, "--db", ":memory:", "--as", "json")[0])

    def failure(self, snapshot):
        [found] = self.json("info", self.dump("oom.pickle", snapshot))["out_of_memory"]
        return found

    def valid(self, schema, text, ending=".json"):
        done = subprocess.run([sys.executable, VALIDATE, os.path.join(SCHEMAS, schema + ".schema.json"),
                               os.path.join(self.folder, self.write("valid" + ending, text))], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_memory_that_is_all_in_use_is_exhausted(self):
        found = self.failure(failed([segment(A, [(100 * MIB, 100 * MIB)])], 50 * MIB, 10 * MIB))
        self.assertEqual(found["reason"], "real exhaustion")
        self.assertIn("40.0 MiB more than the 110 MiB", found["sentence"])
        self.assertEqual((found["asked"], found["device_free"], found["reserved"], found["allocated"], found["largest_free"]),
                         (50 * MIB, 10 * MIB, 100 * MIB, 100 * MIB, 0))
        self.assertEqual((found["event"], found["events"], found["after_us"], found["exact"]), (1, 2, 500_000, True))

    def test_what_rounding_took_would_have_been_enough(self):
        found = self.failure(failed([segment(A, [(20 * MIB, 12 * MIB)] * 5)], 30 * MIB, 10 * MIB))
        self.assertEqual((found["reason"], found["allocated"], found["requested"]), ("rounding", 100 * MIB, 60 * MIB))

    def test_a_new_segment_may_take_more_than_the_request(self):
        found = self.failure(failed([segment(A, [(100 * MIB, 100 * MIB)])], 5 * MIB, 18 * MIB))
        self.assertEqual((found["reason"], found["segment"]), ("rounding", 20 * MIB))
        self.assertIn("a new segment for it takes 20.0 MiB", found["sentence"])

    def test_free_blocks_that_are_all_too_small_are_fragmentation(self):
        holes = [(15 * MIB, None), (10 * MIB, 10 * MIB), (15 * MIB, None)]
        found = self.failure(failed([segment(A, holes), segment(B, holes, stream=7)], 20 * MIB, 5 * MIB))
        self.assertEqual(found["reason"], "fragmentation")
        self.assertEqual(found["free_for_it"], {"bytes": 30 * MIB, "largest": 15 * MIB, "blocks": 2})
        self.assertEqual(found["free_other_streams"], {"bytes": 30 * MIB, "largest": 15 * MIB, "blocks": 2})
        self.assertIn("30.0 MiB are free in 2 blocks, the largest 15.0 MiB", found["sentence"])

    def test_free_memory_of_private_pools_and_of_other_streams(self):
        full, free = segment(A, [(100 * MIB, 100 * MIB)]), [(60 * MIB, None), (2 * MIB, 2 * MIB)]
        found = self.failure(failed([full, segment(B, free, pool=(0, 1))], 20 * MIB, 5 * MIB))
        self.assertEqual((found["reason"], found["free_other_pools"]["bytes"]), ("private pools", 60 * MIB))
        found = self.failure(failed([full, segment(B, free, stream=7)], 20 * MIB, 5 * MIB))
        self.assertEqual((found["reason"], found["free_other_streams"]["bytes"]), ("other streams", 60 * MIB))
        waiting = segment(A, [(50 * MIB, 50 * MIB, LEAK, "active_pending_free"), (50 * MIB, 50 * MIB)])
        found = self.failure(failed([waiting], 20 * MIB, 5 * MIB))
        self.assertEqual((found["reason"], found["pending"]), ("other streams", 50 * MIB))

    def test_several_places_or_none_that_explains_it(self):
        parts = [segment(A, [(10 * MIB, None), (90 * MIB, 90 * MIB)]), segment(B, [(12 * MIB, None), (8 * MIB, 8 * MIB)], stream=7)]
        found = self.failure(failed(parts, 20 * MIB, 5 * MIB))
        self.assertEqual(found["reason"], "several")
        self.assertIn("of other streams 12.0 MiB", found["sentence"])
        found = self.failure(failed([segment(A, [(30 * MIB, None), (90 * MIB, 90 * MIB)])], 20 * MIB, 5 * MIB))
        self.assertEqual((found["reason"], found["largest_free"]), ("unknown", 30 * MIB))
        found = self.failure(failed([], 20 * MIB, 5 * MIB))
        self.assertEqual((found["reason"], found["reserved"]), ("real exhaustion", 0))

    def test_without_segments_the_reason_cannot_be_told(self):
        snapshot = failed([], 20 * MIB, 5 * MIB)
        del snapshot["segments"]
        found = self.failure(snapshot)
        self.assertEqual((found["reason"], found["reserved"], found["largest_free"]), ("unknown", None, None))

    def test_small_requests_cannot_use_large_segments(self):
        found = self.failure(failed([segment(A, [(30 * MIB, None), (90 * MIB, 90 * MIB)])], MIB // 2, 0))
        self.assertEqual((found["free_for_it"]["blocks"], found["free_other_size"]["bytes"], found["segment"]), (0, 30 * MIB, 2 * MIB))

    def test_the_state_is_that_before_the_failure(self):
        run = Run(6)
        oom = {"action": "oom", "device_free": 1 * MIB, "size": 512 * MIB, "stream": 0, "time_us": run.now + 1, "frames": LEAK}
        run.trace.append(oom)
        live = run.bytes_at(len(run.history))
        run.history.append(run.history[-1])
        run.alloc(3 * MIB, CACHE)  # what came later is not there yet
        path = self.dump("oom.pickle", run)
        [found] = self.json("info", path)["out_of_memory"]
        self.assertEqual((found["allocated"], found["exact"]), (live, False))
        self.assertEqual(found["reserved"], 84 * MIB)
        # Behind the kept tensors, where the workspace was, all is free; so is what the weights leave.
        self.assertEqual(found["free_for_it"]["bytes"], 84 * MIB - live)
        self.assertEqual([row["value"] for row in found["stacks"]], [8 * MIB, 6 * 4096])

    def test_top_of_the_moment_says_why(self):
        path = self.dump("oom.pickle", failed([segment(A, [(100 * MIB, 100 * MIB)])], 50 * MIB, 10 * MIB))
        report = self.json("top", path + "@oom")
        self.assertEqual((report["out_of_memory"]["reason"], report["total"]), ("real exhaustion", 100 * MIB))
        self.assertNotIn("out_of_memory", self.json("top", path + "@end"))
        self.assertNotIn("out_of_memory", self.json("top", path))
        text = self.run_it("top", path + "@oom", "--db", ":memory:")[0]
        self.assertTrue(text.startswith("out of memory on device 0 0.5 s into the trace, event 2 of 2\n"), text)
        for line in ("asked        50.0 MiB on stream 0", "device free  10.0 MiB", "reserved     100 MiB", "reason       real exhaustion"):
            self.assertIn(line, text)
        for command in (["top", path], [path]):  # the file alone
            self.assertTrue(self.run_it(*command, "--db", ":memory:")[0].startswith("out of memory on device 0 0.5 s into"), command)
        self.assertIn("keep_output", self.run_it("info", path)[0].split("out of memory", 1)[1])
        self.assertIn("**out of memory", self.run_it("top", path + "@oom", "--as", "md")[0])
        self.valid("top", self.run_it("top", path + "@oom", "--as", "json")[0])
        self.valid("top.line", self.run_it("top", path + "@oom", "--as", "jsonl")[0], ".jsonl")

    def test_each_device_has_its_own_post_mortem(self):
        snapshot = failed([segment(A, [(100 * MIB, 100 * MIB)]), segment(A, [(10 * MIB, 10 * MIB)], device=1)], 50 * MIB, 10 * MIB, device=1)
        snapshot["device_traces"][0] = [dict(e) for e in snapshot["device_traces"][1]]
        found = self.json("info", self.dump("two.pickle", snapshot))["out_of_memory"]
        self.assertEqual([(f["device"], f["allocated"]) for f in found], [(0, 100 * MIB), (1, 10 * MIB)])

    def test_who_pins_what(self):
        mixed = segment(A, [(2 * MIB, 2 * MIB, LEAK), (10 * MIB + 1024, None), (4 * MIB, 3 * MIB, CACHE), (4 * MIB - 1024, None)])
        alone = segment(B, [(5 * MIB, 5 * MIB, LEAK), (15 * MIB, None)])
        idle = segment(C, [(20 * MIB, None)])
        report = self.json("pins", self.dump("a.pickle", {"segments": [mixed, alone, idle], "device_traces": [[]]}))
        self.assertEqual((report["pinned"]["current"], report["live"]["current"], report["reserved"], report["releasable"]),
                         (29 * MIB, 11 * MIB, 60 * MIB, 20 * MIB))
        rows = {row["stack"][0]["function"]: row for row in report["rows"]}
        self.assertEqual({name: (r["pinned"]["current"], r["live"]["current"], r["sole"]["current"], r["segments"], r["sole_segments"])
                          for name, r in rows.items()},
                         {"keep_output": (7 * MIB + 15 * MIB, 7 * MIB, 20 * MIB, 2, 1), "workspace": (7 * MIB, 4 * MIB, 0, 1, 0)})
        self.assertEqual([(s["pinned"], s["stacks"], s["rounding"], s["free"]) for s in report["segments"]],
                         [(14 * MIB, 2, MIB, 14 * MIB), (15 * MIB, 1, 0, 15 * MIB), (0, 0, 0, 20 * MIB)])
        self.assertIsNone(report["baseline"])
        self.valid("pins", json.dumps(report))
        text = self.run_it("pins", "a.pickle", "-n", "1")[0]
        for part in ("29.0 MiB pinned", "[1 other]", "TOTAL", "20.0 MiB in segments without a live block"):
            self.assertIn(part, text)

    def test_growth_of_what_is_pinned_is_apart_from_growth_of_what_is_live(self):
        def state(kept, wasted):
            return {"segments": [segment(A, [(kept, kept, LEAK), (40 * MIB - kept, None)]),
                                 segment(B, [(MIB, MIB, WEIGHTS), (wasted, None)])], "device_traces": [[]]}
        a, b = self.dump("a.pickle", state(4 * MIB, 19 * MIB)), self.dump("b.pickle", state(14 * MIB, 29 * MIB))
        report = self.json("pins", a, b)
        rows = {row["stack"][0]["function"]: (row["live"]["growth"], row["pinned"]["growth"], row["sole"]["growth"]) for row in report["rows"]}
        self.assertEqual(rows, {"keep_output": (10 * MIB, -10 * MIB, 0), "build_model": (0, 10 * MIB, 10 * MIB)})
        self.assertEqual((report["live"]["growth"], report["pinned"]["growth"]), (10 * MIB, 0))
        self.valid("pins", json.dumps(report))

    def test_pinned_bytes_add_up_at_every_moment(self):
        run = Run(9)
        path = self.dump("run.pickle", run)
        for moment in (0, 1, 2, 5, 12, len(run.trace) - 1, len(run.trace)):
            with self.subTest(moment):
                report = self.json("pins", "%s@%d" % (path, moment))
                self.assertEqual(sum(r["pinned"]["current"] for r in report["rows"]), report["pinned"]["current"])
                self.assertEqual(report["pinned"]["current"],
                                 sum(s["free"] for s in report["segments"] if s["stacks"]))
                self.assertEqual(report["live"]["current"], run.bytes_at(moment))
                self.assertEqual(report["pinned"]["current"], self.json("top", "%s@%d" % (path, moment), "--metric", "pinned_space")["total"])

    def ranks(self, leaks):
        names = []
        for rank, leak in enumerate(leaks):
            names.append(self.dump("snap_rank%d.pickle" % rank, Run(10, leak)))
        return names

    def test_which_rank_differs(self):
        names = self.ranks([4096, 4096, 8192, 4096])
        report = self.json("ranks", *names)
        self.valid("ranks", json.dumps(report))
        self.assertEqual(report["odd"], 2)
        self.assertEqual([(r["rank"], r["device"], r["total"], r["off"], r["reserved"]) for r in report["ranks"]],
                         [(i, 0, 8 * MIB + 10 * leak, 10 * (leak - 4096), 84 * MIB) for i, leak in enumerate([4096, 4096, 8192, 4096])])
        first = report["rows"][0]
        self.assertEqual((first["stack"][0]["function"], first["values"], first["middle"], first["odd"]),
                         ("keep_output", [40960, 40960, 81920, 40960], 40960, 2))
        self.assertIsNone(report["rows"][1]["odd"])
        text = self.run_it("ranks", *names)[0]
        self.assertIn("rank 2 (snap_rank2.pickle) differs most: +40.0 KiB from the middle rank; most of it +40.0 KiB in keep_output", text)
        self.assertIn("all agree", text)

    def test_ranks_that_agree_and_two_of_which_neither_is_odd(self):
        names = self.ranks([4096] * 3)
        self.assertIsNone(self.json("ranks", *names)["odd"])
        self.assertIn("all ranks hold the same in every row", self.run_it("ranks", *names)[0])
        names = self.ranks([4096, 9216])
        report = self.json("ranks", *names)
        self.assertEqual((report["odd"], report["rows"][0]["values"]), (None, [40960, 92160]))
        self.assertIn("neither is the odd one", self.run_it("ranks", *names)[0])
        self.assertIn("at least two files or devices: found 1", self.refused("ranks", names[0]))

    def test_devices_of_one_file_are_ranks(self):
        parts = []
        for device, leak in enumerate((512, 512, 1024)):
            segments = Run(4, leak).snapshot()["segments"]
            parts += [dict(s, device=device) for s in segments]
        path = self.dump("all.pickle", {"segments": parts, "device_traces": [[], [], []]})
        report = self.json("ranks", path)
        self.assertEqual([(r["name"], r["total"]) for r in report["ranks"]],
                         [("all.pickle, device %d" % d, 8 * MIB + 4 * leak) for d, leak in enumerate((512, 512, 1024))])
        self.assertEqual(report["odd"], 2)
        pinned = self.json("ranks", path, "--metric", "pinned_space")
        self.assertEqual([r["total"] for r in pinned["ranks"]], [76 * MIB - 4 * leak for leak in (512, 512, 1024)])

    def test_a_failure_says_what_could_go_back_and_who_keeps_the_rest(self):
        whole = segment(A, [(64 * MIB, 0)])
        kept = segment(A + (1 << 40), [(2 * MIB, 2 * MIB), (80 * MIB, 0)])
        full = segment(A + (2 << 40), [(100 * MIB, 100 * MIB)])
        path = self.dump("oom.pickle", failed([whole, kept, full], 200 * MIB, 10 * MIB))
        [found] = self.json("info", path)["out_of_memory"]
        self.assertEqual((found["releasable"]["bytes"], found["releasable"]["blocks"]), (64 * MIB, 1))
        self.assertEqual((found["fragments"]["bytes"], found["fragments"]["blocks"]), (80 * MIB, 1))
        [holder] = found["holders"]
        self.assertEqual((holder["live"], holder["free"], holder["segments"]), (2 * MIB, 80 * MIB, 1))
        self.assertEqual((holder["name"], holder["line"]), (LEAK[0]["name"], LEAK[0]["line"]))
        text = " ".join(self.run_it("info", path)[0].split())
        self.assertIn("can go back 64.0 MiB in 1 segment without a block in use", text)
        self.assertIn("kept by 80.0 MiB free beside 2.00 MiB of keep_output train.py:10 in 1 segment", text)
        self.run_it("postmortem", path, "-o", "report", "--redact")
        with open(os.path.join(self.folder, "report", "report.json"), encoding="utf-8") as file:
            self.assertNotIn("keep_output", file.read())

    def test_a_series_for_each_rank_and_device(self):
        self.run_it("import", *self.ranks([4096, 8192]))
        two = [dict(s, device=d) for d in range(2) for s in Run(2).snapshot()["segments"]]
        self.run_it("import", self.dump("run.pickle", {"segments": two, "device_traces": [[], []]}), "--per-device")
        listed = json.loads(self.run_it("list", "--as", "json")[0])
        self.assertEqual(sorted(s["name"] for s in listed["series"]), ["run/cuda:0", "run/cuda:1", "snap_rank0", "snap_rank1"])
        self.run_it("import", "run.pickle", "--per-device")
        again = json.loads(self.run_it("list", "--as", "json")[0])
        self.assertEqual([len(s["snapshots"]) for s in again["series"]], [1, 1, 1, 1])

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

    def drawing(self, *arguments):
        """The SVG; the same bytes each time."""
        out = self.run_it("render", *arguments, "--svg", "-o", "-", text=False)[0]
        self.assertEqual(out, self.run_it("render", *arguments, "--svg", "-o", "-", text=False)[0])
        return out.decode().replace("\u00a0", " ")

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

    def test_pins_refuses_what_has_no_segments(self):
        self.assertIn("no segments", self.refused("pins", self.pair()[0]))
        self.assertIn("one file, or a baseline and a file", self.refused("pins"))
        self.assertIn("expected text or json", self.refused("pins", "x", "--as", "csv"))

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
        self.run_it("rm", "@1")
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

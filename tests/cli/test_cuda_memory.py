"""What CUDA snapshots tell beyond stacks: why an allocation failed, who pins segments."""
import json
import os
import pickle
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
        for part in ("29.0 MiB pinned", "[1 others]", "TOTAL", "20.0 MiB in segments without a live block"):
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
        self.assertTrue("pinned +63.0 MiB, live +1.00 MiB" in self.drawing("--pins", path + "@1", path + "@2"))
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
        self.assertIn("need the snapshot's file", self.refused("render", "--pins"))
        self.assertIn("found 3", self.refused("render", "--pins", path, path, path))

    def test_pins_refuses_what_has_no_segments(self):
        self.assertIn("no segments", self.refused("pins", self.pair()[0]))
        self.assertIn("one file, or a baseline and a file", self.refused("pins"))
        self.assertIn("expected text or json", self.refused("pins", "x", "--as", "csv"))


if __name__ == "__main__":
    unittest.main()

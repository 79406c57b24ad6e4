"""Why an allocation of a CUDA device failed."""
import os
import unittest

from device_snapshots import A, B, DeviceTest, failed, segment
from test_cuda import CACHE, LEAK, MIB, Run


class CudaFailures(DeviceTest):
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
        self.assertIn("releasable 64.0 MiB in 1 segment", text)
        self.assertIn("unreleasable 80.0 MiB free, held by 2.00 MiB of keep_output train.py:10 in 1 segment", text)
        self.run_it("postmortem", path, "-o", "report", "--redact")
        with open(os.path.join(self.folder, "report", "report.json"), encoding="utf-8") as file:
            self.assertNotIn("keep_output", file.read())


if __name__ == "__main__":
    unittest.main()

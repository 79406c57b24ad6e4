"""CUDA snapshots as a user compares them: two files, moments of one trace, who pins free memory."""
import json
import os
import pickle
import unittest

from heaps import CliTest

MIB = 1 << 20


def frame(name, line):
    return {"filename": "train.py", "line": line, "name": name}


LEAK = [frame("keep_output", 10), frame("step", 20), frame("main", 30)]
CACHE = [frame("workspace", 11), frame("step", 20), frame("main", 30)]
WEIGHTS = [frame("build_model", 5), frame("main", 29)]


class Run:
    """A made-up run: weights from before the trace, a workspace that comes and goes, one tensor kept per step.
    What is live at every event is counted here, independently of the program."""

    def __init__(self, steps, kept=4096):
        self.trace, self.live, self.history, self.annotations = [], {}, [], []
        self.now, self.next_address = 1_700_000_000_000_000, 0x7F0000000000
        self.weights = (0x7E0000000000, 8 * MIB)
        self.record("segment_alloc", 0x7F0000000000, 64 * MIB, [])
        for step in range(steps):
            self.annotations.append({"name": "ProfilerStep#%d" % step, "stage": "START", "device": 0, "time_us": self.now + 1})
            workspace = self.alloc(1 * MIB, CACHE)
            self.alloc(kept, LEAK)
            self.free(workspace)

    def record(self, action, address, size, frames):
        self.now += 1000
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.now, "frames": frames})
        self.history.append({address: size for address, (size, _) in self.live.items()})

    def alloc(self, size, frames):
        address = self.next_address
        self.next_address += (size + 511) // 512 * 512
        self.live[address] = (size, frames)
        self.record("alloc", address, size, frames)
        return address

    def free(self, address):
        size, frames = self.live.pop(address)  # pending is not in use
        self.record("free_requested", address, size, frames)
        self.record("free_completed", address, size, frames)

    def bytes_at(self, events):
        return self.weights[1] + (sum(self.history[events - 1].values()) if events else 0)

    def segment(self, address, size, blocks):
        tiled, at = [], address
        for start, length, frames in sorted(blocks):
            if start > at:
                tiled.append({"address": at, "size": start - at, "requested_size": 0, "state": "inactive", "frames": []})
            tiled.append({"address": start, "size": (length + 511) // 512 * 512, "requested_size": length,
                          "state": "active_allocated", "frames": frames})
            at = start + tiled[-1]["size"]
        if at < address + size:
            tiled.append({"address": at, "size": address + size - at, "requested_size": 0, "state": "inactive", "frames": []})
        used = sum(block["size"] for block in tiled if block["state"] != "inactive")
        return {"device": 0, "address": address, "total_size": size, "allocated_size": used, "active_size": used,
                "requested_size": sum(b["requested_size"] for b in tiled if b["state"] != "inactive"), "stream": 0,
                "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": tiled}

    def snapshot(self):
        segments = [self.segment(self.weights[0], 20 * MIB, [(self.weights[0], self.weights[1], WEIGHTS)]),
                    self.segment(0x7F0000000000, 64 * MIB, [(a, s, f) for a, (s, f) in self.live.items()])]
        return {"segments": segments, "device_traces": [self.trace], "allocator_settings": {"expandable_segments": False},
                "external_annotations": self.annotations}


class Cuda(CliTest):
    def dump(self, name, run):
        self.write(name, pickle.dumps(run.snapshot() if isinstance(run, Run) else run, protocol=4))
        return name

    def json(self, *arguments):
        return json.loads(self.run_it(*arguments, "--db", ":memory:", "--as", "json")[0])

    def test_a_kept_tensor_is_the_first_row_with_its_bytes(self):
        a, b = self.dump("a.pickle", Run(10)), self.dump("b.pickle", Run(25))
        report = self.json(a, b)
        first = report["rows"][0]
        self.assertEqual([f["function"] for f in first["stack"]], ["keep_output", "step", "main"])
        self.assertEqual((first["growth"], first["growth_objects"]), (15 * 4096, 15))
        self.assertEqual(report["total"]["growth"], 15 * 4096)

    def test_moments_of_one_trace(self):
        run = Run(12)
        path = self.dump("run.pickle", run)
        events = len(run.trace)
        for moment in (0, 1, 2, 7, events // 2, events - 1, events):
            with self.subTest(moment):
                self.assertEqual(self.json("top", "%s@%d" % (path, moment))["total"], run.bytes_at(moment))
        self.assertEqual(self.json("top", path + "@end")["total"], run.bytes_at(events))
        peak = max(run.bytes_at(n) for n in range(events + 1))
        self.assertEqual(self.json("top", path + "@peak")["total"], peak)
        # The first event is at 1 ms of the run's clock: 5 ms later six of them have happened.
        self.assertEqual(self.json("top", path + "@0.005s")["total"], run.bytes_at(6))

    def test_one_file_is_a_series_by_step(self):
        run = Run(12)
        path = self.dump("run.pickle", run)
        report = self.json("trend", path + "@steps")
        self.assertEqual(len(report["snapshots"]), 12)
        first = report["rows"][0]
        self.assertEqual(first["stack"][0]["function"], "keep_output")
        self.assertEqual(first["verdict"], "GROWING")
        self.assertAlmostEqual(first["slope"], 4096)
        self.assertEqual({row["verdict"] for row in report["rows"] if row["stack"][0]["function"] == "build_model"}, {"FLAT"})
        steps = self.json("diff", path + "@1", path + "@every:4")["snapshots"]
        self.assertEqual(steps[-1]["total"], run.bytes_at(len(run.trace)))

    def test_points_that_are_not_there_say_what_is(self):
        path = self.dump("run.pickle", Run(3))
        self.assertIn("expected end, peak, oom", self.refused("top", path + "@nonsense"))
        self.assertIn("no out-of-memory event", self.refused("top", path + "@oom"))
        self.assertIn("expected end", self.refused("top", path + "@99999"))
        self.assertIn("expected end", self.refused("top", path + "@every:0"))
        self.assertIn("no trace of device 3", self.refused("top", path + "@3:peak"))

    def test_out_of_memory_is_the_moment_before_it(self):
        run = Run(6)
        run.trace.append({"action": "oom", "device_free": 1 * MIB, "size": 512 * MIB, "stream": 0,
                          "time_us": run.now + 1, "frames": LEAK})
        path = self.dump("oom.pickle", run)
        self.assertEqual(self.json("top", path + "@oom")["total"], run.bytes_at(len(run.trace) - 1))

    def test_pinned_bytes_add_up_to_the_free_bytes_beside_live_blocks(self):
        run = Run(7)
        path = self.dump("run.pickle", run)
        pinned = 0
        for segment in run.snapshot()["segments"]:
            if any(block["state"] != "inactive" for block in segment["blocks"]):
                pinned += sum(block["size"] for block in segment["blocks"] if block["state"] == "inactive")
        report = self.json("top", path, "--metric", "pinned_space")
        self.assertEqual(report["total"], pinned)
        shares = {row["stack"][0]["function"]: row["value"] for row in report["rows"]}
        # Alone in their segments: the weights keep 12 MiB, the kept tensors the rest of theirs.
        self.assertEqual(shares, {"build_model": 12 * MIB, "keep_output": 64 * MIB - 7 * 4096})

    def test_shares_of_one_segment_are_even_to_the_byte(self):
        run = Run(1)
        base = 0x7D0000000000
        segment = run.segment(base, 2 * MIB, [(base, 512, LEAK), (base + 1024, 512, CACHE), (base + 4096, 512, WEIGHTS)])
        free = 2 * MIB - 3 * 512
        path = self.dump("one.pickle", {"segments": [segment], "device_traces": [[]]})
        report = self.json("top", path, "--metric", "pinned_space")
        self.assertEqual(report["total"], free)
        self.assertEqual(sorted(row["value"] for row in report["rows"]), sorted([free // 3] * (3 - free % 3) + [free // 3 + 1] * (free % 3)))

    def test_moments_are_snapshots_of_their_own_in_the_store(self):
        path = self.dump("run.pickle", Run(5))
        self.run_it("import", path + "@5", path + "@10")
        self.assertEqual(self.run_it("sql", "SELECT count(*) FROM snapshot")[0].split()[-1], "2")
        self.run_it("import", path + "@5", path + "@10")
        self.assertEqual(self.run_it("sql", "SELECT count(*) FROM snapshot")[0].split()[-1], "2")

    def test_frames_of_the_recorder_and_the_interpreter_are_hidden(self):
        native = [{"filename": "unwind.cpp", "line": 1, "name": "torch::unwind::unwind()"},
                  {"filename": "combined_traceback.cpp", "line": 2, "name": "torch::CapturedTraceback::gather(bool)"},
                  {"filename": "CUDACachingAllocator.cpp", "line": 3, "name": "c10::cuda::malloc"},
                  {"filename": "ceval.c", "line": 4, "name": "_PyEval_EvalFrameDefault"}]
        base = 0x7D0000000000
        blocks = [(base, 512, native + LEAK), (base + 4096, 1024, native[:2])]
        path = self.dump("both.pickle", {"segments": [Run(1).segment(base, 2 * MIB, blocks)], "device_traces": [[]]})
        def stacks(*more):
            return {row["value"]: [frame["function"] for frame in row["stack"]] for row in self.json("top", path, *more)["rows"]}
        python = [frame["name"] for frame in LEAK]
        only_noise = [frame["name"] for frame in native[:2]]
        self.assertEqual(stacks(), {512: python, 1024: only_noise})
        self.assertEqual(stacks("--frames", "python"), {512: python, 1024: only_noise})
        self.assertEqual(stacks("--frames", "native"), {512: ["c10::cuda::malloc"], 1024: only_noise})
        self.assertEqual(stacks("--frames", "all"), {512: [f["name"] for f in native] + python, 1024: only_noise})
        report = self.json("top", path)
        self.assertTrue(any("--frames all" in note["text"] for note in report["notes"]))
        self.assertEqual(report["filtered"], 0)

    def test_by_device_stream_and_pool(self):
        path = self.dump("run.pickle", Run(5))
        for key in ("device", "stream", "pool"):
            self.assertEqual(len(self.json("top", path, "--by", "label:" + key)["rows"]), 1)

    def test_a_pickle_that_would_run_a_command_is_refused(self):
        class Evil:
            def __reduce__(self):
                return (os.system, ("touch run-by-pickle",))
        self.write("evil.pickle", pickle.dumps({"segments": [Evil()], "device_traces": []}, protocol=4))
        line = self.refused("evil.pickle", self.dump("a.pickle", Run(1)))
        self.assertIn("unsafe pickle", line)
        self.assertRegex(line, r"at byte \d+")
        self.assertFalse(self.exists("run-by-pickle"))
        self.assertFalse(self.exists("snapdiff.db"))


if __name__ == "__main__":
    unittest.main()

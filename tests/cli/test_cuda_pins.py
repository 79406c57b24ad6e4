"""Who pins segments, and which rank differs."""
import json
import unittest

from device_snapshots import A, B, C, DeviceTest, segment
from test_cuda import CACHE, LEAK, MIB, WEIGHTS, Run


class CudaPins(DeviceTest):
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

    def test_a_series_for_each_rank_and_device(self):
        self.run_it("import", *self.ranks([4096, 8192]))
        two = [dict(s, device=d) for d in range(2) for s in Run(2).snapshot()["segments"]]
        self.run_it("import", self.dump("run.pickle", {"segments": two, "device_traces": [[], []]}), "--per-device")
        listed = json.loads(self.run_it("list", "--as", "json")[0])
        self.assertEqual(sorted(s["name"] for s in listed["series"]), ["run/cuda:0", "run/cuda:1", "snap_rank0", "snap_rank1"])
        self.run_it("import", "run.pickle", "--per-device")
        again = json.loads(self.run_it("list", "--as", "json")[0])
        self.assertEqual([len(s["snapshots"]) for s in again["series"]], [1, 1, 1, 1])

    def test_pins_refuses_what_has_no_segments(self):
        self.assertIn("no segments", self.refused("pins", self.pair()[0]))
        self.assertIn("one file, or a baseline and a file", self.refused("pins"))
        self.assertIn("expected text or json", self.refused("pins", "x", "--as", "csv"))


if __name__ == "__main__":
    unittest.main()

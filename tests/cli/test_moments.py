"""Recordings and files of several snapshots as a user names them: FILE@POINT, series out of one file."""
import json
import os
import unittest

from heaps import CliTest

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
STRINGS = ["/bin/svc", "main", "grow", "churn", "/s/svc.c"]


def recording(steps):
    """Grows by one block of 1000 bytes a step and frees 3 others at once; a stamp every 10 ms."""
    lines = ["v 10400 3", "X ./svc", "I 1000 100"] + [f"s {len(s):x} {s}" for s in STRINGS]
    lines += ["i 1000 1 2 5 a", "i 1100 1 3 5 14", "i 1200 1 4 5 1e", "t 1 0", "t 2 1", "t 3 1", "a 3e8 2", "a 1f4 3"]
    for step in range(1, steps + 1):
        lines += ["+ 0"] + ["+ 1", "- 1"] * 3 + [f"c {10 * step:x}", "R 10"]
    return "\n".join(lines) + "\n"


class Moments(CliTest):
    def total(self, operand):
        return json.loads(self.run_ok("info", operand, "--as", "json"))["totals"]["inuse_space"]

    def run_ok(self, *arguments):
        return self.run_it(*arguments)[0]

    def test_points_of_a_recording(self):
        path = self.write("svc.heaptrack", recording(20))
        self.assertEqual(self.total(path), 20_000)
        self.assertEqual(self.total(path + "@end"), 20_000)
        self.assertEqual(self.total(path + "@peak"), 20_500)
        self.assertEqual(self.total(path + "@50ms"), 5_000)
        self.assertEqual(self.total(path + "@0.1s"), 10_000)
        self.assertEqual(self.total(path + "@7"), 1_000)
        self.assertEqual(self.total(path + "@first"), 1_000)

    def test_a_point_that_is_none(self):
        path = self.write("svc.heaptrack", recording(2))
        self.assertIn("no point 'noon': expected end, peak", self.refused("top", path + "@noon"))

    def test_two_moments_of_one_recording(self):
        path = self.write("svc.heaptrack", recording(20))
        diff = json.loads(self.run_ok("diff", path + "@50ms", path, "--as", "json"))
        self.assertEqual(diff["total"]["growth"], 15_000)

    def test_a_series_out_of_one_recording(self):
        path = self.write("svc.heaptrack", recording(20))
        diff = json.loads(self.run_ok("diff", path + "@every:50ms", "--as", "json"))
        self.assertEqual([step["total"]["growth"] for step in diff["steps"]], [5_000] * 3)
        self.run_ok("import", path + "@every:50ms", "--db", "s.db")
        self.assertIn("4 stored before", self.run_it("import", path + "@every:50ms", "--db", "s.db")[1])

    def test_a_flight_recording_is_a_series_of_its_dumps(self):
        path = os.path.join(DATA, "jfr", "leak-jdk25.jfr.xz")
        diff = self.run_ok("diff", path)
        self.assertRegex(diff, "growth .*Leak.CACHE .*%")
        self.assertIn("over 3 snapshots", diff)
        counters = json.loads(self.run_ok("diff", "--counters", path, "--as", "json"))
        rows = {row["name"]: row for row in counters["rows"]}
        self.assertGreater(len(counters["snapshots"]), 20)
        self.assertGreater(rows["heap_after_full_gc"]["growth"], 5_000_000)
        self.assertEqual(json.loads(self.run_ok("info", path + "@1", "--as", "json"))["totals"], {})

    def test_a_recording_with_few_dumps_is_judged_by_its_counters(self):
        path = os.path.join(DATA, "jfr", "leak-jdk17.jfr.xz")
        self.assertEqual(json.loads(self.run_ok("diff", path, "--as", "json"))["total"]["growth"], 13)
        rows = {row["name"]: row for row in json.loads(self.run_ok("trend", path, "--as", "json"))["rows"]}
        self.assertEqual(sum(value is not None for value in rows["heap_total"]["values"]), 17)
        self.assertEqual(rows["heap_after_gc"]["unit"], "bytes")

    def test_massif_is_a_series_of_its_trees(self):
        path = os.path.join(DATA, "valgrind", "massif-threshold20-ms-steps6.out")
        last = json.loads(self.run_ok("info", path, "--as", "json"))
        self.assertGreater(last["totals"]["inuse_space"], 0)
        diff = json.loads(self.run_ok("diff", path, "--as", "json"))
        self.assertGreater(len(diff.get("steps", [])), 1)

    def test_dhat_has_two_moments(self):
        path = os.path.join(DATA, "valgrind", "dhat-steps2.json")
        self.assertEqual(self.total(path), 252_800)
        self.assertEqual(self.total(path + "@peak"), 252_800 + 72_704 + 32_768 + 5_000)


if __name__ == "__main__":
    unittest.main()

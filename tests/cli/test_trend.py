"""The trend of a series: ranks, verdicts, forecast, times, restarts."""
import csv
import io
import json
import os
import unittest

from heaps import EXAMPLES, GROW, INUSE, KEEP, MAIN, CliTest, pprof, tcmalloc

MINUTE = 60 * 10**9
START = 1_700_000_000 * 10**9


class Trend(CliTest):
    def heaps(self, count, leak=1000, start=0):
        """`count` exact dumps: one stack grows by `leak` bytes each, another stays at 50 000."""
        return [self.write("svc.%04d.heap" % (i + 1),
                           tcmalloc([(i + 1, start + (i + 1) * leak, [GROW, MAIN]), (5, 50000, [KEEP, MAIN])]))
                for i in range(count)]

    def timed(self, minutes, value):
        return [self.write("t%02d.pb.gz" % i, pprof(INUSE, [(["leak", "main"], [1, value(minute)]),
                                                            (["keep", "main"], [1, 100000])],
                                                    time_ns=START + minute * MINUTE))
                for i, minute in enumerate(minutes)]

    def trend(self, *arguments):
        return json.loads(self.run_it("trend", *arguments, "--as", "json")[0])

    def test_a_leak_is_growing_with_its_slope(self):
        report = self.trend(*self.heaps(12))
        self.assertEqual(report["schema"], "snapdiff.trend/1")
        self.assertTrue(report["judged"])
        first = report["rows"][0]
        self.assertEqual((first["verdict"], first["growth"]), ("GROWING", 11000))
        self.assertAlmostEqual(first["slope"], 1000)
        self.assertEqual(first["values"], [1000 * (i + 1) for i in range(12)])
        self.assertIsNone(first["slope_per_hour"])
        self.assertEqual([row["verdict"] for row in report["rows"][1:]], ["FLAT"])
        flat = sum(row["growth"] for row in report["rows"]) + report["others"]["growth"]
        self.assertEqual(flat + report["unattributed"]["growth"] + report["filtered"]["growth"],
                         report["total"]["growth"])

    def test_the_table_says_it_in_words(self):
        out, _ = self.run_it("trend", *self.heaps(12), "--limit", "1MiB", env={"COLUMNS": "140"})
        self.assertRegex(out, r"trend +GROWING over 12 snapshots: \+0\.98 KiB ± 0 B a snapshot")
        # 62 000 bytes at the end, 1000 a snapshot: (1 048 576 - 62 000) / 1000 = 986.6.
        self.assertRegex(out, r"forecast +1\.00 MiB in 987 snapshots \(987 to 987\)")
        self.assertIn("GROWING", out)
        self.assertIn("TOTAL", out)

    def test_below_eight_there_is_a_rank_and_no_claim(self):
        report = self.trend(*self.heaps(7), "--limit", "1MiB")
        self.assertFalse(report["judged"])
        self.assertEqual(report["rows"][0]["growth"], 6000)
        self.assertTrue(all(row["verdict"] is None for row in report["rows"]))
        self.assertEqual(report["forecast"]["kind"], "insufficient points")
        out, _ = self.run_it("trend", *self.heaps(7))
        self.assertIn("insufficient points", out)
        self.assertNotIn("GROWING", out)

    def test_two_snapshots_are_no_trend(self):
        self.assertIn("expected at least 3", self.refused("trend", *self.heaps(2)))

    def test_all_equal_and_all_zero(self):
        report = self.trend(*self.heaps(9, leak=0, start=500))
        self.assertEqual({row["verdict"] for row in report["rows"]}, {"FLAT"})
        self.assertEqual(report["total"]["verdict"], "FLAT")

    def test_times_give_growth_an_hour(self):
        report = self.trend(*self.timed(range(10), lambda minute: 50000 + 700 * minute))
        self.assertAlmostEqual(report["step_seconds"], 60)
        self.assertAlmostEqual(report["rows"][0]["slope_per_hour"], 42000)

    def test_a_gap_in_the_times_bends_nothing(self):
        minutes = [0, 1, 2, 3, 11, 12, 13, 14, 15, 16]
        report = self.trend(*self.timed(minutes, lambda minute: 50000 + 7000 * minute))
        self.assertFalse(report["even"])
        self.assertEqual(report["rows"][0]["verdict"], "GROWING")
        self.assertAlmostEqual(report["rows"][0]["slope_per_hour"], 420000, delta=1)

    def test_times_that_run_backwards_are_counted_and_told(self):
        files = self.timed([0, 1, 3, 2, 4, 5, 6, 7, 8], lambda minute: 50000 + 7000 * minute)
        report = self.trend(*files)
        self.assertIn("backwards", report["times"])
        self.assertIsNone(report["step_seconds"])

    def test_a_restart_is_split_off(self):
        before = self.heaps(5, start=900000)
        after = [self.write("svc.%04d.heap" % (i + 6), tcmalloc([(1, 1000 * (i + 1), [GROW, MAIN]),
                                                                 (5, 50000, [KEEP, MAIN])])) for i in range(9)]
        report = self.trend(*before, *after)
        self.assertEqual(report["left_out"], 5)
        self.assertEqual(len(report["snapshots"]), 9)
        self.assertAlmostEqual(report["rows"][0]["slope"], 1000)
        out, _ = self.run_it("trend", *before, *after)
        self.assertIn("5 snapshots before it left out", out)

    def test_by_function_and_other_forms(self):
        files = self.heaps(12)
        report = self.trend(*files, "--by", "module")
        self.assertEqual(report["rows"][0]["key"], "service")
        rows = list(csv.DictReader(io.StringIO(self.run_it("trend", *files, "--as", "csv")[0])))
        self.assertEqual(rows[0]["verdict"], "GROWING")
        self.assertEqual(sum(int(row["growth"]) for row in rows), 11000)
        lines = [json.loads(line) for line in self.run_it("trend", *files, "--as", "jsonl")[0].splitlines()]
        self.assertEqual(len(lines), 1 + len(rows) - 1)  # [unattributed] is no line
        markdown, _ = self.run_it("trend", *files, "--as", "md")
        self.assertIn("**TOTAL**", markdown)

    def test_from_the_store_without_operands(self):
        self.run_it("import", *self.heaps(12))
        report = self.trend()
        self.assertEqual(report["rows"][0]["verdict"], "GROWING")

    def test_the_example_series(self):
        folder = os.path.join(EXAMPLES, "go-queue")
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".pb.gz"))
        report = self.trend(*files, "--by", "function", "--db", ":memory:")
        growing = {row["key"] for row in report["rows"] if row["verdict"] in ("GROWING", "RISING")}
        # newBody serves a burst too, which is given back: by stack it leaks, as a function it does not.
        self.assertLessEqual({"main.leakBacklog", "main.leakSubscribers"}, growing)
        self.assertFalse(any("ringWrite" in key or "burstLoad" in key for key in growing), growing)


if __name__ == "__main__":
    unittest.main()

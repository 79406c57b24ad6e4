"""The trend of a series: ranks, verdicts, forecast, times, restarts."""
import csv
import io
import json
import os
import unittest

from heaps import EXAMPLES, GONE, GROW, INUSE, KEEP, MAIN, CliTest, pprof, tcmalloc

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
        self.assertRegex(out, r"\) over 12 snapshots\n")
        self.assertRegex(out, r"\nGROWING +service\+0x1200 +\+10\.7 KiB +100 % +\+0\.98 KiB a snapshot, in 11 of 11 steps\n")
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
        self.assertRegex(out, r"\nverdict +none: not enough data for a trend verdict \(needs 8 snapshots\)\n")
        self.assertNotIn("GROWING", out)

    def test_two_snapshots_are_no_trend(self):
        self.assertIn("expected at least 3", self.refused("trend", *self.heaps(2)))

    def test_all_equal_and_all_zero(self):
        report = self.trend(*self.heaps(9, leak=0, start=500))
        self.assertEqual({row["verdict"] for row in report["rows"]}, {"FLAT"})
        self.assertEqual(report["total"]["verdict"], "FLAT")

    def test_times_give_growth_an_hour(self):
        report = self.trend(*self.timed(range(12), lambda minute: 50000 + 700 * minute))
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
        self.assertIn("5 snapshots before left out", out)

    def lives(self, lengths, pids=False, fixed=0):
        """Tracker lines of a process that restarts: a leak and a cache that fills at once, from nothing each time."""
        lines, at = ['{"k":"header","format":"snapdiff-tracker","version":1,"producer":"test"}'], 0
        for life, length in enumerate(lengths):
            for i in range(length):
                pid = ',"pid":%d' % (4000 + life) if pids else ""
                lines.append('{"k":"snapshot","id":"s%d","seq":%d,"time":%d%s}' % (at, at, 1767225600 + 3600 * at, pid))
                rows = [("session_keep (svc.cc:38)", 200000 + 450000 * i + 20000 * (i % 3)),
                        ("page_cache (svc.cc:28)", min(1 + i, 3) * 6000000 + 30000 * (i % 2))]
                if fixed:
                    rows.append(("load_tables (base.cc:10)", fixed))
                lines += ['{"k":"live","stack":["%s","main (main.cc:1)"],"bytes":%d,"count":%d}' % (name, size, size // 500)
                          for name, size in rows]
                lines.append('{"k":"end","id":"s%d","rows":%d}' % (at, len(rows)))
                at += 1
        return self.write("lives.sdt.jsonl", "\n".join(lines).encode() + b"\n")

    def test_each_life_between_restarts_is_judged(self):
        for pids in (True, False):
            for fixed in (0, 40000000):  # with tables that are loaded at the start the total falls little
                with self.subTest(pids=pids, fixed=fixed):
                    series = self.lives([12, 12, 12, 12], pids, fixed)
                    report = self.trend(series)
                    self.assertEqual((report["left_out"], report["story"]["headline"]["verdict"]), (36, "GROWING"))
                    self.assertEqual(report["story"]["culprits"][0]["name"], "session_keep")
                    self.assertEqual(report["story"]["culprits"][0]["spread"], "grew in 4 of 4 lives")
                    for columns in ("100", "160"):  # it comes before the pace, which gives way
                        out, _ = self.run_it("trend", series, env={"COLUMNS": columns})
                        self.assertIn("grew in 4 of 4 lives", out)

    def test_files_as_a_shell_lists_them_are_in_the_order_of_their_numbers(self):
        files = [self.write("svc.%d.heap" % (i + 1), tcmalloc([(i + 1, 50000 * (i + 1), [GROW, MAIN]), (5, 5000, [KEEP, MAIN])]))
                 for i in range(15)]
        report = self.trend(*sorted(files))
        self.assertEqual((report["restart"], len(report["snapshots"])), (None, 15))
        self.assertEqual(report["rows"][0]["values"], [50000 * (i + 1) for i in range(15)])
        backwards = self.trend(*reversed(files))  # somebody's own order stays
        self.assertEqual(backwards["rows"][0]["values"], [50000 * (i + 1) for i in reversed(range(15))])

    def test_reasons_have_the_names_of_the_culprits(self):
        """Not those of the allocating frames below them, of which one culprit has several."""
        library = lambda name: (name, "/usr/lib/python3/site-packages/parse/core.py", 7)
        rows = lambda i: [([library("alloc%d" % k), "keep", "main"], [i, (k + 1) * 100000 * (i + 1)]) for k in range(3)] + [(["cache", "main"], [9, 500000])]
        out, _ = self.run_it("trend", *[self.write("r%02d.pb.gz" % i, pprof(INUSE, rows(i))) for i in range(10)])
        reasons = [line for line in out.splitlines() if " GROWING: " in line]
        self.assertEqual([line.split(" GROWING: ")[0] for line in reasons], ["keep"])
        self.assertIn("\nGROWING   keep ", out)

    def test_rows_of_one_function_show_where_they_differ(self):
        library = lambda name: (name, "/usr/lib/python3/site-packages/parse/core.py", 7)
        rows = lambda i: [([library(leaf), library("wrapper"), "when", "handle"], [i, 100000 * (i + 1)])
                          for leaf in ("build", "compile", "split")]
        rows_of = lambda i: rows(i) + [([library("one"), library("a"), library("wrapper"), "ask", "handle"], [i, 90000 * (i + 1)]),
                                       ([library("one"), library("b"), library("wrapper"), "ask", "handle"], [i, 90000 * (i + 1)])]
        files = [self.write("a%02d.pb.gz" % i, pprof(INUSE, rows_of(i))) for i in range(10)]
        for command in (["trend", *files], ["diff", files[0], files[-1]]):
            out, _ = self.run_it(*command, env={"COLUMNS": "140"})
            named = [line.split("  ")[-1].strip() for line in out.splitlines() if "handle" in line and "‹" in line]
            self.assertEqual(len(named), 5)
            self.assertEqual(len(set(named)), 5, named)
            self.assertTrue(any(text.startswith("compile ‹ … ‹ when") for text in named), named)

    def test_a_remark_that_all_files_share_is_made_once(self):
        _, errors = self.run_it("trend", self.lives([12], pids=True))  # an unknown key in each of 12 snapshots
        self.assertEqual(errors.count("warning:"), 1, errors)
        self.assertIn("likewise in 11 more", errors)

    def test_a_burst_is_no_restart(self):
        rows = lambda i: [(["keep", "main"], [1, 4000000 + 7000 * (i % 3)])] + [
            (["work%d" % k, "main"], [1, 100000 + (1500000 + 10000 * i if 5 < i < 12 else 0)]) for k in range(4)]
        report = self.trend(*[self.write("burst%02d.pb.gz" % i, pprof(INUSE, rows(i))) for i in range(20)])
        self.assertEqual((report["restart"], len(report["snapshots"])), (None, 20))

    def test_totals_that_never_reset_disprove_a_restart(self):
        kinds = [("alloc_space", "bytes"), ("inuse_space", "bytes")]
        heaps = [self.write("go%02d.pb.gz" % i, pprof(kinds, [(["f", "main"], [1000000 * (i + 1), 900000 if i < 5 else 90000])]))
                 for i in range(12)]
        self.assertIsNone(self.trend(*heaps)["restart"])

    def test_a_restart_a_few_snapshots_ago_does_not_hide_the_leak(self):
        report = self.trend(self.lives([20, 5]))
        self.assertEqual((len(report["snapshots"]), report["story"]["headline"]["verdict"]), (20, "GROWING"))
        out, _ = self.run_it("trend", self.lives([20, 5]))
        self.assertIn("5 snapshots after left out", out)

    def test_a_process_that_ends_is_judged_before_its_end(self):
        files = self.heaps(9) + [self.write("svc.0010.heap", tcmalloc([(1, 16, [KEEP, MAIN])]))]
        report = self.trend(*files)
        self.assertEqual((len(report["snapshots"]), report["story"]["headline"]["verdict"]), (9, "GROWING"))
        rows = sum(row["growth"] for row in report["rows"]) + report["others"]["growth"] + report["unattributed"]["growth"]
        self.assertEqual(rows, report["total"]["growth"])

    def test_a_total_that_grows_without_a_function_that_shows_it(self):
        heaps = [self.write("many%02d.pb.gz" % i, pprof(INUSE, [(["leaf%03d" % k, "op%03d" % k, "main"], [1, 100000 + 600 * i])
                                                                for k in range(400)])) for i in range(12)]
        report = self.trend(*heaps)
        self.assertEqual((report["story"]["headline"]["verdict"], report["story"]["culprits"]), ("GROWING", []))
        self.assertEqual(report["story"]["no_culprit"], "the total grows by 234 KiB a snapshot: no single function explains it")

    def test_what_appears_and_stays_is_new(self):
        heaps = [self.write("new%02d.pb.gz" % i, pprof(INUSE, [(["keep", "main"], [1, 200000])] +
                                                       ([(["fresh_cache", "main"], [1, 805000 + 300 * (i % 3)])] if i > 3 else [])))
                 for i in range(12)]
        self.assertEqual(self.trend(*heaps)["story"]["culprits"][0]["verdict"], "NEW")

    def test_a_climb_that_begins_later_says_since_when(self):
        """Not "steady over all 11 snapshots" of 12 without a word of the first one."""
        heaps = [self.write("late%02d.pb.gz" % i, pprof(INUSE, [(["keep", "main"], [1, 200000])] +
                                                        ([(["leak", "main"], [1, 50000 * i])] if i > 0 else [])))
                 for i in range(12)]
        self.assertRegex(self.trend(*heaps)["story"]["culprits"][0]["reason"],
                         "steady over all 11 snapshots.*; first there at snapshot 2$")

    def test_what_changes_less_than_the_floor_is_not_told(self):
        """Not "small +2.00 KiB : changes less than the floor", without a verdict."""
        heaps = [self.write("small%02d.pb.gz" % i, pprof(INUSE, [(["keep", "main"], [1, 4000000]), (["small", "main"], [1, 9000 + 700 * (i // 5)]),
                                                                 (["leak", "main"], [1, 5000 + 5000 * i])])) for i in range(10)]
        self.assertNotIn("changes less", " ".join(self.trend(*heaps)["story"]["also"]))

    def test_a_forecast_agrees_with_the_headline(self):
        def heaps(name, value):
            return [self.write("%s%02d.pb.gz" % (name, i), pprof(INUSE, [(["f", "main"], [1, round(value(i))]), (["g", "main"], [1, 5000000 if 6 < i < 11 and name == "leak" else 1000])])) for i in range(20)]
        leak = self.trend(*heaps("leak", lambda i: 2000000 + 400000 * i + 30000 * (i % 3)), "--limit", "24MiB")
        self.assertEqual((leak["story"]["headline"]["verdict"], leak["forecast"]["kind"]), ("GROWING", "ahead"))
        self.assertLess(leak["forecast"]["soonest"], 40)
        warm = self.trend(*heaps("warm", lambda i: 9000000 * (1 - 2.7 ** (-i / 4)) + 30000 * (i % 3)), "--limit", "24MiB")
        self.assertEqual((warm["story"]["headline"]["verdict"], warm["forecast"]["kind"]), ("SATURATING", "never"))

    def test_two_programs_are_not_one_series(self):
        def heaps(name, count):
            return [self.write("%s%02d.pb.gz" % (name, i), pprof(INUSE, [([name + str(k), "main"], [1, 1000 * k + i])
                                                                         for k in range(1, 8)])) for i in range(count)]
        report = self.trend(*heaps("one", 9), *heaps("two", 9))
        self.assertEqual(report["left_out"], 9)
        self.assertEqual(report["restart"], "not one stack in common with the one before: another program")
        self.assertEqual(len(report["snapshots"]), 9)
        self.assertEqual(report["total"]["growth"], 7 * 8)

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

    def test_the_floor_is_a_fifth_of_a_percent_or_what_is_asked_for(self):
        paths = self.heaps(12, leak=10)  # 110 bytes of growth, in 50 120
        self.assertEqual(self.trend(*paths)["rows"][0]["verdict"], "GROWING")
        self.assertEqual([self.trend(*paths, "--floor", "111")["rows"][0][key] for key in ("verdict", "minor", "growth")], [None, True, 110])
        paths = self.heaps(12, leak=5)
        self.assertEqual([self.trend(*paths)["rows"][0][key] for key in ("verdict", "minor", "growth")], [None, True, 55])
        self.assertEqual(self.trend(*paths, "--floor", "0")["rows"][0]["verdict"], "GROWING")

    def rounds(self, counts_of):
        """Dumps with these object counts per stack (20 bytes each but for BLOB's one growing block)."""
        steps = len(next(iter(counts_of.values())))
        return [self.write("round.%d.heap" % i, tcmalloc(
            [(counts[i], counts[i] * 20, [stack, MAIN]) for stack, counts in counts_of.items() if counts[i]]
            + [(1, 1000 * (i + 1), [GONE, MAIN])])) for i in range(steps)]

    def test_round_trips_keep_what_grew_in_every_round(self):
        # GROW leaves 7 a round and more; KEEP misses one round; a block that grows is no new object.
        paths = self.rounds({GROW: [10, 17, 30, 37], KEEP: [5, 12, 18, 40]})
        report = self.trend("--loops", "7", *paths)
        self.assertEqual(report["scenario"], {"kind": "round trips", "loops": 7, "rows": 1, "kept": 540})
        row = report["rows"][0]
        self.assertEqual((row["growth"], row["kept"], row["least_objects"]), (540, 540, 7))
        self.assertEqual(row["objects"], [10, 17, 30, 37])
        self.assertEqual(row["stack"][0]["offset"], GROW)
        self.assertEqual(len(report["rows"]), 1)
        self.assertEqual(report["others"]["growth"], 35 * 20 + 3000)
        self.assertEqual(sum(r["growth"] for r in report["rows"]) + report["others"]["growth"],
                         report["total"]["growth"])
        self.assertEqual(self.trend("--loops", "6", *paths)["scenario"]["rows"], 2)
        self.assertEqual(self.trend("--loops", "8", *paths)["scenario"]["rows"], 0)
        self.assertEqual(self.trend("--loops", "7", "--metric", "inuse_objects", *paths)["scenario"]["kept"], 27)
        out, _ = self.run_it("trend", "--loops", "7", *paths, env={"COLUMNS": "140"})
        self.assertRegex(out, r"scenario +1 stack left 7 objects or more in each of 3 rounds: \+540 B in all, \+25 B a round trip")
        self.assertIn("TOTAL", out)
        self.assertNotIn("verdict", out)
        for form in ("csv", "md", "jsonl"):
            self.assertIn("kept", self.run_it("trend", "--loops", "7", *paths, "--as", form)[0])
        self.assertEqual(self.trend("--loops", "7", *paths[:2])["scenario"]["rows"], 2)  # two snapshots are one round

    def test_a_triple_keeps_what_the_target_added_and_the_end_still_holds(self):
        # GROW: +40 at the target, 15 of them left. KEEP: freed again. The block: 1000 added, still there at the end.
        paths = self.rounds({GROW: [10, 50, 25], KEEP: [5, 40, 5]})
        report = self.trend("--triple", *paths)
        self.assertEqual(report["scenario"], {"kind": "triple", "loops": None, "rows": 2, "kept": 1300})
        self.assertEqual([(row["stack"][0]["offset"], row["kept"], row["growth"]) for row in report["rows"]],
                         [(GONE, 1000, 2000), (GROW, 300, 300)])
        self.assertEqual(sum(r["growth"] for r in report["rows"]) + report["others"]["growth"],
                         report["total"]["growth"])
        out, _ = self.run_it("trend", "--triple", *paths)
        self.assertRegex(out, r"2 stacks of which the final snapshot still holds what the target\s+added: \+1\.27 KiB")

    def test_scenarios_that_make_no_sense_are_refused(self):
        paths = self.rounds({GROW: [10, 17, 30, 37]})
        self.assertIn("expected a whole number from 1 to", self.refused("trend", "--loops", "0", *paths))
        self.assertIn("found 4 snapshots, expected 3", self.refused("trend", "--triple", *paths))
        self.assertIn("expected one of them", self.refused("trend", "--triple", "--loops", "3", *paths))
        bare = [self.write("bare%d.pb.gz" % i, pprof([("inuse_space", "bytes")], [(["leak", "main"], [100 + i])]))
                for i in range(3)]
        self.assertIn("no counts of objects beside inuse_space", self.refused("trend", "--loops", "1", *bare))

    def test_a_leak_beside_a_buffer_of_changing_size_is_told_by_its_number(self):
        # Ten blocks of 1000 bytes more each time, under one buffer whose size changes by far more than that.
        buffer = [90, 200, 20, 170, 10, 140, 60, 190, 30, 80, 180, 40, 120, 10, 200, 70, 30, 150, 100, 50]
        paths = [self.write("buffer.%02d.heap" % i, tcmalloc(
            [(10 * i + 11, 1000 * (10 * i + 10 + buffer[i]), [GROW, MAIN]), (5, 500000, [KEEP, MAIN])]))
            for i in range(20)]
        row = self.trend(*paths)["rows"][0]
        self.assertEqual((row["verdict"], row["by_objects"]), ("GROWING", True))
        self.assertRegex(row["reason"], r"^counted in objects: \+10 per snapshot.*; by bytes alone [A-Z]+$")
        # A cache that is full stays one, whatever its count says.
        paths = [self.write("cache.%02d.heap" % i, tcmalloc(
            [(i + 1, int(100000 + 2000000 * (1 - 0.4 ** i)), [GROW, MAIN])])) for i in range(12)]
        self.assertEqual(self.trend(*paths)["rows"][0]["verdict"], "SATURATING")

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

"""The gate: exit codes, budgets in files, accepted growth, JUnit and SARIF as their standards have them."""
import json
import os
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from heaps import BINARY, GROW, INUSE, KEEP, MAIN, SCHEMAS, SOURCE, CliTest, pprof, tcmalloc


class Gate(CliTest):
    def heaps(self, values, keep=1000000, objects=None):
        """One exact dump per value: a stack that holds it, beside one that stays. One more object each time, or so many."""
        os.makedirs(os.path.join(self.folder, "heaps"), exist_ok=True)
        for i, value in enumerate(values):
            self.write("heaps/svc.%04d.heap" % (i + 1),
                       tcmalloc([(objects or i + 1, int(value), [GROW, MAIN]), (5, keep, [KEEP, MAIN])]))
        return "heaps"

    def leak(self, count=12, step=30000):
        return self.heaps([100000 + step * i for i in range(count)])

    def warming_cache(self):
        return self.heaps([100000 + 2000000 * (1 - 0.4 ** i) for i in range(12)])

    def test_a_leak_of_three_percent_a_step_fails(self):
        out, _ = self.run_it("gate", self.leak(), code=1)
        self.assertTrue(out.startswith("FAIL  1 of 1 budget broken"), out)
        self.assertIn("GROWING", out)
        # Each step alone is small against what is there: no check of a step against itself would see it.
        out, _ = self.run_it("gate", "heaps", "--budget", "total:1%/step", code=1)
        self.assertIn("TOTAL", out)
        self.run_it("gate", "heaps", "--budget", "total:4%/step")

    def test_a_warming_cache_passes(self):
        out, _ = self.run_it("gate", self.warming_cache(), "--budget", "0/step", "--budget", "total:1%/step")
        self.assertTrue(out.startswith("PASS"), out)

    def test_the_script_of_the_examples(self):
        script = os.path.join(SOURCE, "examples", "ci", "gate.sh")
        def run(folder):
            return subprocess.run(["sh", script, folder], cwd=self.folder, capture_output=True, text=True, timeout=120,
                                  env=dict(os.environ, SNAPDIFF=BINARY, LC_ALL="C.UTF-8"), check=False)
        done = run(self.leak())
        self.assertEqual(done.returncode, 1, done.stderr)
        for name in ("gate.junit.xml", "gate.sarif", "growth.pdf", "leaks.db"):
            self.assertTrue(self.exists(name), name)
        os.remove(os.path.join(self.folder, "leaks.db"))
        self.assertEqual(run(self.warming_cache()).returncode, 0)
        self.assertEqual(run("missing").returncode, 2)

    def test_budgets_in_a_file(self):
        self.write("b.toml", '[[budget]]\nname = "service"\nmodule = "*/service"\nallow = "20KiB/step"\n')
        out, _ = self.run_it("gate", self.leak(), "--budgets", "b.toml", "--as", "json", code=1)
        report = json.loads(out)
        self.assertEqual(report["schema"], "snapdiff.gate/1")
        self.assertTrue(report["breached"])
        self.assertEqual(report["findings"][0]["name"], "service (2 rows)")
        self.assertAlmostEqual(report["findings"][0]["measured"], 30000)
        self.write("b.toml", '[[budget]]\nallow = "far too much"\n')
        self.assertIn("b.toml: line 1: 'far too much' is no budget", self.refused("gate", "heaps", "--budgets", "b.toml"))
        self.assertIn("none.toml", self.refused("gate", "heaps", "--budgets", "none.toml"))
        self.assertIn("is no budget", self.refused("gate", "heaps", "--budget", "10parsec"))

    def test_accept_and_what_it_holds(self):
        env = {"SOURCE_DATE_EPOCH": "1795000000"}  # 2026-11-18
        out, err = self.run_it("gate", self.leak(), "--accept", "service+0x1200", "--until", "2026-12-31", "--reason",
                               "the queue is drained at night", env=env)
        self.assertIn("accepted 1 in snapdiff-accept.toml", err)
        self.assertTrue(out.startswith("PASS"), out)
        with open(os.path.join(self.folder, "snapdiff-accept.toml"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("drained at night", text)
        self.run_it("gate", "heaps", env=env)
        self.run_it("gate", "heaps", code=1, env={"SOURCE_DATE_EPOCH": "1800000000"})  # 2027-01-15
        self.leak(step=40000)
        out, _ = self.run_it("gate", "heaps", code=1, env=env)
        self.assertIn("more than the accepted", out)
        self.assertIn("--accept nothing", self.refused("gate", "heaps", "--accept", "nothing", env=env))
        self.assertIn("expected a day", self.refused("gate", "heaps", "--accept", "x", "--until", "tomorrow", env=env))

    def test_two_seven_and_twelve_snapshots_without_a_budget(self):
        """Before and after is what CI has most often; from 8 snapshots on a warm-up can be told from a leak."""
        shapes = {
            "nothing new": lambda i, n: 100000,
            "a leak of three percent a step": lambda i, n: 100000 + 33000 * i,
            "a step of sixteen percent": lambda i, n: 100000 + (180000 if 2 * i >= n else 0),
            "a warming cache": lambda i, n: 100000 + int(2000000 * (1 - 0.4 ** i)),
        }
        wanted = {
            # Three percent in one step is within what two runs differ by; growth first -> last tells from two steps on.
            2: {"nothing new": 0, "a leak of three percent a step": 0, "a step of sixteen percent": 1, "a warming cache": 1},
            7: {"nothing new": 0, "a leak of three percent a step": 1, "a step of sixteen percent": 1, "a warming cache": 1},
            12: {"nothing new": 0, "a leak of three percent a step": 1, "a step of sixteen percent": 0, "a warming cache": 0},
        }
        for count, codes in wanted.items():
            for name, code in codes.items():
                with self.subTest(snapshots=count, shape=name):
                    for left in os.listdir(self.folder):
                        if left != "heaps":
                            os.remove(os.path.join(self.folder, left))
                        else:
                            for file in os.listdir(os.path.join(self.folder, "heaps")):
                                os.remove(os.path.join(self.folder, "heaps", file))
                    self.heaps([shapes[name](i, count) for i in range(count)], objects=9)
                    out, _ = self.run_it("gate", "heaps", "--junit", "g.xml", "--sarif", "g.sarif", code=code)
                    self.assertTrue(out.startswith("PASS  " if code == 0 else "FAIL  "), out)
                    self.assertNotIn("n/a", out)
                    self.assert_servers_are_told(code)

    def assert_servers_are_told(self, code):
        """JUnit and SARIF say what the exit code says."""
        suite = ElementTree.parse(os.path.join(self.folder, "g.xml")).getroot().find("testsuite")
        failures = suite.findall("testcase/failure")
        self.assertEqual((int(suite.get("failures")), suite.get("errors")), (len(failures), "0"))
        with open(os.path.join(self.folder, "g.sarif"), encoding="utf-8") as file:
            results = json.load(file)["runs"][0]["results"]
        broken = [result for result in results if result["level"] == "error"]
        self.assertEqual((len(failures) > 0, len(broken) > 0), (code == 1, code == 1), (failures, results))

    def test_a_step_is_a_finding_of_its_own(self):
        self.heaps([100000] * 6 + [280000] * 6, objects=9)
        self.run_it("gate", "heaps", "--budget", "0/step")  # no rate sees it
        report = json.loads(self.run_it("gate", "heaps", "--budget", "culprit:16%/jump", "--as", "json", code=1)[0])
        self.assertEqual(report["result"], "failed")
        (finding,) = report["findings"]
        self.assertEqual((finding["measure"], finding["measured"], finding["verdict"]), ("step", 180000, "STEP"))
        self.run_it("gate", "heaps", "--budget", "culprit:17%/jump")

    def unjudged(self, *more, code=2):
        return self.run_it("gate", "heaps", "--budget", "0/step", *more, code=code)

    def test_what_cannot_be_judged_is_not_passed(self):
        os.makedirs(os.path.join(self.folder, "heaps"))
        for i in range(2):
            rows = [(1, 1000 + 10 * i * row, [0x2000 + 16 * row, MAIN]) for row in range(1, 17)]
            self.write("heaps/svc.%04d.heap" % (i + 1), tcmalloc(rows))
        out, err = self.unjudged()
        self.assertTrue(out.startswith("NOT JUDGED  1 of 1 budget"), out)
        self.assertNotIn("PASS", out)
        self.assertNotIn("0 B", out)
        self.assertEqual(out.count("unjudged"), 2, out)  # one line in the table, one that says why
        self.assertIn("16 rows that grew", out)
        self.assertIn("n/a", out)
        self.assertIn("8 snapshots or more are judged: found 2", out)
        self.assertIn("1 of 1 budgets could not be judged; --allow-unjudged accepts that", err)
        report = json.loads(self.unjudged("--as", "json")[0])
        self.assertEqual((report["breached"], report["result"]), (False, "unjudged"))
        self.assertEqual([(f["measured"], f["row_count"]) for f in report["findings"]], [(None, 16)])
        cells = self.unjudged("--as", "csv")[0].splitlines()[1].split(",")
        self.assertEqual((cells[0], cells[2]), ("unjudged", ""))
        self.assertIn("| n/a |", self.unjudged("--as", "md")[0])
        # Nothing was judged: no PASS, even where that is allowed.
        out, _ = self.unjudged("--allow-unjudged", code=0)
        self.assertTrue(out.startswith("NOT JUDGED"), out)
        out, _ = self.unjudged("--allow-unjudged", "--budget", "total:1MiB", code=0)
        self.assertTrue(out.startswith("PASS  1 budget held, 1 not judged"), out)
        out, _ = self.unjudged("--budget", "total:1MiB")
        self.assertTrue(out.startswith("NOT JUDGED  1 of 2 budgets"), out)
        self.unjudged("--budget", "total:1", code=1)  # growth needs no verdict

    def test_what_is_not_judged_is_no_success_for_servers(self):
        self.leak(count=5)
        self.unjudged("--junit", "g.xml", "--sarif", "g.sarif")
        suite = ElementTree.parse(os.path.join(self.folder, "g.xml")).getroot().find("testsuite")
        self.assertEqual([suite.get(name) for name in ("tests", "failures", "errors", "skipped")], ["1", "0", "1", "0"])
        self.assertIn("is not judged", suite.find("testcase/error").get("message"))
        with open(os.path.join(self.folder, "g.sarif"), encoding="utf-8") as file:
            (result,) = json.load(file)["runs"][0]["results"]
        self.assertEqual((result["kind"], result["level"]), ("open", "none"))  # SARIF 2.1.0, 3.27.9 and 3.27.10
        self.unjudged("--junit", "g.xml", "--allow-unjudged", code=0)
        suite = ElementTree.parse(os.path.join(self.folder, "g.xml")).getroot().find("testsuite")
        self.assertEqual([suite.get(name) for name in ("errors", "skipped")], ["0", "1"])

    def test_junit(self):
        self.run_it("gate", self.leak(), "--budget", "0/step", "--budget", "total:1GiB", "--junit", "g.xml", code=1)
        root = ElementTree.parse(os.path.join(self.folder, "g.xml")).getroot()
        self.assertEqual(root.tag, "testsuites")
        suite = root.find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual(int(suite.get("tests")), len(cases))
        self.assertEqual(int(suite.get("failures")), len([case for case in cases if case.find("failure") is not None]))
        self.assertEqual(int(suite.get("failures")), 1)
        for case in cases:
            self.assertTrue(case.get("name") and case.get("classname"))
        failure = suite.find("testcase/failure")
        self.assertIn("a snapshot", failure.get("message"))
        self.run_it("gate", self.heaps([100000] * 12), "--budget", "0/step", "--junit", "g.xml")
        self.assertEqual(len(ElementTree.parse(os.path.join(self.folder, "g.xml")).getroot().findall(".//testcase")), 1)

    def test_sarif(self):
        self.run_it("gate", self.leak(), "--sarif", "g.sarif", code=1)
        with open(os.path.join(self.folder, "g.sarif"), encoding="utf-8") as file:
            log = json.load(file)
        # What SARIF 2.1.0 requires, sections 3.13, 3.14, 3.18, 3.19, 3.27.
        self.assertEqual(log["version"], "2.1.0")
        self.assertEqual(len(log["runs"]), 1)
        driver = log["runs"][0]["tool"]["driver"]
        self.assertEqual(driver["name"], "snapdiff")
        rules = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(rules), len(set(rules)))
        results = log["runs"][0]["results"]
        self.assertEqual(len(results), 1)
        for result in results:
            self.assertEqual(rules[result["ruleIndex"]], result["ruleId"])
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertTrue(result["message"]["text"])
            self.assertTrue(result["partialFingerprints"]["snapdiffLeakId/v1"])
            for location in result["locations"]:
                self.assertLessEqual(set(location), {"physicalLocation", "logicalLocations"})
        self.run_it("gate", self.heaps([100000] * 12), "--sarif", "g.sarif")
        with open(os.path.join(self.folder, "g.sarif"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["runs"][0]["results"], [])

    def test_forms(self):
        self.leak()
        markdown, _ = self.run_it("gate", "heaps", "--as", "md", code=1)
        self.assertIn("| broken |", markdown)
        table, _ = self.run_it("gate", "heaps", "--as", "csv", code=1)
        self.assertTrue(table.startswith("outcome,budget,measured,allowed"))
        lines, _ = self.run_it("gate", "heaps", "--as", "jsonl", code=1)
        self.write("g.json", self.run_it("gate", "heaps", "--as", "json", code=1)[0])
        self.write("g.jsonl", lines)
        for name, schema in (("g.json", "gate.schema.json"), ("g.jsonl", "gate.line.schema.json")):
            done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests/unit/analyzer/report/validate_json.py"),
                                   os.path.join(SCHEMAS, schema), os.path.join(self.folder, name)],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_same_leak_same_id_at_other_addresses(self):
        def ids(text):
            return {finding["id"] for finding in json.loads(text)["findings"] if finding["outcome"] == "broken"}
        first = ids(self.run_it("gate", self.leak(), "--as", "json", code=1)[0])
        for name in os.listdir(os.path.join(self.folder, "heaps")):
            path = os.path.join(self.folder, "heaps", name)
            with open(path, encoding="ascii") as file:
                moved = file.read().replace("55d0000", "7a10000")
            with open(path, "w", encoding="ascii") as file:
                file.write(moved)
        self.assertEqual(ids(self.run_it("gate", "heaps", "--as", "json", code=1)[0]), first)

    def test_operands_or_last(self):
        """Without operands a gate would judge whatever was compared last: that must be asked for."""
        self.assertIn("--last judges", self.refused("gate"))
        self.run_it("trend", self.leak(), "--db", "ci.db")
        self.assertIn("--last judges", self.refused("gate", "--db", "ci.db"))
        self.run_it("gate", "--last", "--db", "ci.db", code=1)
        self.assertIn("expected none", self.refused("gate", "heaps", "--last"))

    def test_logs_are_gated_by_counter(self):
        lines = "".join("2026-01-01T00:%02d:00Z rss=%dMiB threads=%d\n" % (i, 100 + 5 * i, 10) for i in range(20))
        self.write("leak.log", lines)
        out, _ = self.run_it("gate", "leak.log", code=1)
        self.assertIn("rss", out)
        self.assertIn("+5.00 MiB a snapshot", out)
        self.run_it("gate", "leak.log", "--budget", "6MiB/step")
        self.run_it("gate", "leak.log", "--budget", "total:4MiB/step", code=1)
        self.run_it("gate", "leak.log", "--budget", "200MiB/h", code=1)
        self.write("level.log", "".join("2026-01-01T00:%02d:00Z rss=%dMiB\n" % (i, 100 + i % 2) for i in range(20)))
        self.assertTrue(self.run_it("gate", "level.log")[0].startswith("PASS"))
        self.write("few.log", "".join(lines.splitlines(True)[:3]))
        self.run_it("gate", "few.log", code=1)
        self.run_it("gate", "few.log", "--budget", "11%")

    def test_a_leak_after_a_start_up_is_stopped(self):
        """The start-up is most of the rise; the fixed version has it too."""
        logs = os.path.join(SOURCE, "tests", "data", "metric_log")
        out, _ = self.run_it("gate", os.path.join(logs, "startup-then-leak.dat"), code=1)
        self.assertIn("GROWING", out)
        out, _ = self.run_it("trend", os.path.join(logs, "startup-then-leak.dat"))
        self.assertRegex(out, r"GROWING memory: \+2\d\d KiB per snapshot, .*; the first \d are a start-up")
        out, _ = self.run_it("gate", os.path.join(logs, "startup-alone.dat"))
        self.assertTrue(out.startswith("PASS"), out)

    def test_containers_that_grow_by_less_than_a_page_each(self):
        """Two containers of a Java heap keep 38 objects more, 13 KiB together; their types' own bytes are below a page."""
        sys.path.insert(0, os.path.join(SOURCE, "tests", "corpus"))
        from lib import cases  # pylint: disable=import-outside-toplevel
        cases.write_case(self.folder, 8203, cases.Plan("leak-hprof-2", "hprof", 20, "bursty", 2, "callers"))
        with open(os.path.join(self.folder, "leak-hprof-2", "truth.json"), encoding="utf-8") as file:
            operands = [os.path.join("leak-hprof-2", one) for one in json.load(file)["operands"]]
        self.assertIn("GROWING", self.run_it("gate", *operands, "--db", ":memory:", code=1)[0])

    def test_what_more_snapshots_would_decide_is_not_passed(self):
        """A rise of 8 to 15 snapshots whose band is above 0 and that may be chance."""
        self.heaps([64000, 97200, 97120, 116560, 91200, 134640, 121920, 124960], keep=300000, objects=9)
        out, err = self.run_it("gate", "heaps", code=2)
        self.assertTrue(out.startswith("NOT JUDGED"), out)
        self.assertIn("may be chance: 16 snapshots decide, found 8", out)
        self.run_it("gate", "heaps", "--budget", "30000/step", code=0)

    def test_what_only_the_last_list_has_is_not_passed(self):
        """A stack that a list of the largest ones lacks at first was smaller than the least of that list."""
        def moment(clock, *stacks):
            return f"[10:0{clock}:00] Top 3 stacks with outstanding allocations:\n" + "".join(
                f"\t{size} bytes in 10 allocations from stack\n\t\t{name}+0x10 [service]\n\t\tmain+0x4 [service]\n" for size, name in stacks)
        kept = ((90000, "load"), (80000, "parse"))
        for last, code, said in ((70000, 2, "with the stacks that only the last list has, the growth is beyond the budget"), (62000, 0, "PASS")):
            self.write("list.txt", moment(0, (60000, "walk"), *kept) + moment(5, (last, "leak"), *kept))
            out, _ = self.run_it("gate", "list.txt", "--budget", "total:5000", "--db", ":memory:", code=code)
            self.assertIn(said, out)

    def test_a_slight_leak_beside_a_large_rise(self):
        """Of +4.6 MiB that wander upwards a steady 145 KiB is 3 %: GROWING stands before RISING, however slight it is."""
        wanders = (585, 352, 574, 1240, 2096, 3097, 3027, 3203, 3826, 3851, 3139, 2773, 3058, 2273, 2347, 2812, 2639, 3622, 3101,
                   3841, 3686, 3361, 4024, 4580, 5056, 5010, 4827, 5127, 5285, 5218)  # KiB
        for i, size in enumerate(wanders):
            rows = [(["attach", "serve", "main"], [10, size << 10]), (["stage", "work", "main"], [10 + i, 100000 + 5000 * i]), (["keep", "main"], [1, 9 << 20])]
            self.write("s.%02d.pb.gz" % i, pprof(INUSE, rows))
        names = ["s.%02d.pb.gz" % i for i in range(len(wanders))]
        out, _ = self.run_it("gate", *names, "--as", "json", "--db", ":memory:", code=1)
        self.assertEqual([(one["name"].split(" ")[0], one["verdict"]) for one in json.loads(out)["findings"]], [("stage", "GROWING"), ("attach", "RISING")])
        found = json.loads(self.run_it("trend", *names, "--as", "json", "--db", ":memory:")[0])["story"]
        self.assertEqual((found["headline"]["verdict"], found["culprits"][0]["name"]), ("GROWING", "stage"))

    def test_lost_bytes_are_lost_whatever_their_course(self):
        """LeakSanitizer lists what is lost: growth that no verdict calls a climb is not passed, and nobody says "in use"."""
        def reports(tag, sizes):
            for i, size in enumerate(sizes):
                self.write("%s.%02d.txt" % (tag, i), "==7==ERROR: LeakSanitizer: detected memory leaks\n\nDirect leak of %d byte(s) in 10 object(s) allocated from:\n"
                           "    #0 0x1 in malloc /a/malloc.cc:1\n    #1 0x2 in put_batch /a/put.cc:7:3\n    #2 0x3 in main /a/main.cc:2:1\n\n"
                           "SUMMARY: LeakSanitizer: %d byte(s) leaked in 10 allocation(s).\n" % (size, size))
            return ["%s.%02d.txt" % (tag, i) for i in range(len(sizes))]
        course = (1548, 1245, 1826, 1777, 1982, 2031, 2064, 2023, 2244, 3112, 3260, 3072)
        names = reports("a", [1000 * size for size in course])
        out, _ = self.run_it("gate", *names, "--db", ":memory:", code=2)
        self.assertTrue(out.startswith("NOT JUDGED"), out)
        out, _ = self.run_it("trend", *names, "--db", ":memory:")
        self.assertRegex(out, r"(?m)^lost +1\.48 MiB")
        self.assertNotIn("in use", out)
        self.run_it("gate", *reports("b", course), "--db", ":memory:")  # less than a page

    def test_names_are_printable_in_markdown(self):
        for i in range(12):
            self.write("a.%02d.pb.gz" % i, pprof(INUSE, [(["le\x1b[31mak\u202e\x00", "main"], [i, 100000 + 30000 * i]), (["keep"], [1, 500000])]))
        out, _ = self.run_it("gate", *("a.%02d.pb.gz" % i for i in range(12)), "--as", "md", code=1)
        for mark in ("\x1b", "\u202e", "\x00"):
            self.assertNotIn(mark, out)
        self.assertIn("x1b", out)

    def test_two_snapshots_are_the_least(self):
        self.heaps([1000])
        self.assertIn("at least two", self.refused("gate", "heaps"))


if __name__ == "__main__":
    unittest.main()

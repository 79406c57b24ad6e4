"""A series over two releases of one program: rows go on where lines moved and a function has another name."""
import json
import os
import re
import subprocess
import sys
import unittest

from heaps import INUSE, SCHEMAS, SOURCE, CliTest, pprof

MINUTE = 60 * 10**9
START = 1_700_000_000 * 10**9
STEP = 64_000  # bytes that the leak grows by
OLD, NEW = 6, 6  # snapshots of each release


def release(number, moved, renamed):
    """Snapshot `number` of a build whose lines moved down by `moved`: one leak below a shared function, and work that is
    as large at all times."""
    put = "Store::insert" if renamed else "Cache::put"

    def at(name, line, file="server.cc"):
        return name, file, line + moved

    main, serve = at("main", 90, "main.cc"), at("serve", 40, "main.cc")
    leak = [at("Session::Session", 12), at(put, 31), at("open_session", 55), serve, main]
    rows = [(leak, [100 + 1000 * number, 6400 + STEP * number])]
    rows.append(([at("Entry::Entry", 18), at(put, 33), at("warm_up", 70), serve, main], [500, 48_000]))
    for i, name in enumerate(("parse", "route", "render", "compress", "encrypt", "log", "index", "flush")):
        rows.append(([at("Buffer::Buffer", 200), at(name, 100 + 10 * i), serve, main], [50 + i, 20_000 + 1000 * i]))
    return pprof(INUSE, rows, time_ns=START + number * MINUTE)


class Releases(CliTest):
    def setUp(self):
        super().setUp()
        self.files = [self.write("svc.%03d.pb.gz" % i, release(i, 0, False)) for i in range(OLD)]
        self.files += [self.write("svc.%03d.pb.gz" % i, release(i, 7, True)) for i in range(OLD, OLD + NEW)]

    def check(self, report):
        """One row that grows through both releases, and nothing that is new or gone."""
        growing = [row for row in report["rows"] if row["growth"] > 0]
        self.assertEqual([(row["growth"], row["verdict"]) for row in growing], [(STEP * (OLD + NEW - 1), "GROWING")])
        self.assertEqual(growing[0]["values"], [6400 + STEP * i for i in range(OLD + NEW)])
        self.assertIn("Store::insert", [frame["function"] for frame in growing[0]["stack"]])
        self.assertTrue(all(row["growth"] == 0 for row in report["rows"] if row is not growing[0]))
        self.assertEqual(report["story"]["headline"]["verdict"], "GROWING")
        first = report["story"]["culprits"][0]
        self.assertIn(first["name"], ("Session::Session", "Store::insert", "open_session"))
        self.assertEqual((first["verdict"], first["growth"]), ("GROWING", STEP * (OLD + NEW - 1)))
        marked = [i for i, snapshot in enumerate(report["snapshots"]) if snapshot.get("other_build")]
        self.assertEqual(marked, [OLD])

    def test_files(self):
        report = json.loads(self.run_it("trend", *self.files, "--as", "json")[0])
        self.check(report)

    def test_a_store(self):
        store = os.path.join(self.folder, "s.db")
        self.run_it("import", *self.files, "--db", store)
        report = json.loads(self.run_it("trend", "--db", store, "--as", "json")[0])
        self.check(report)

    def test_the_schemas_know_the_mark(self):
        for form, schema in (("json", "trend.schema.json"), ("jsonl", "trend.line.schema.json")):
            out = self.run_it("trend", *self.files, "--as", form)[0]
            self.assertIn('"other_build"', out)
            name = self.write("trend." + form, out)
            done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests/unit/analyzer/report/validate_json.py"), os.path.join(SCHEMAS, schema), name],
                                  cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_release_is_marked(self):
        text = self.run_it("trend", *self.files)[0]
        self.assertIn("another build from snapshot %d (svc.%03d.pb.gz) on" % (OLD + 1, OLD), text)
        self.assertNotIn("[NEW]", text)
        self.run_it("postmortem", *self.files, "-o", "report")
        with open(os.path.join(self.folder, "report/report.json"), encoding="utf-8") as file:
            inputs = json.load(file)["inputs"]
        self.assertEqual([i for i, one in enumerate(inputs) if one.get("other_build")], [OLD])
        with open(os.path.join(self.folder, "report/report.html"), encoding="utf-8") as file:
            self.assertIn("another build of the program", file.read())

    def test_a_diff_of_the_series_marks_the_release(self):
        out = self.run_it("diff", *self.files)[0]
        self.assertIn("releases  another build from snapshot %d (svc.%03d.pb.gz) on\n" % (OLD + 1, OLD), out)
        marked = [line for line in out.splitlines() if line.endswith("  another build")]
        self.assertEqual([line.split()[0] for line in marked], [str(OLD + 1)])
        out = self.run_it("diff", *self.files, "--as", "md")[0]
        self.assertEqual(out.count("(another build)"), 1)
        self.assertNotIn("another build", self.run_it("diff", *self.files[:OLD])[0])

    def test_one_build_has_no_mark(self):
        report = json.loads(self.run_it("trend", *self.files[:OLD], "--as", "json")[0])
        self.assertFalse(any("other_build" in snapshot for snapshot in report["snapshots"]))

    def test_the_gate_goes_on(self):
        """The growth of a row is judged across the release; nothing is new because its lines moved."""
        self.run_it("gate", *self.files, "--budget", "%d/step" % (STEP * 2))
        out = self.run_it("gate", *self.files, "--budget", "%d/step" % (STEP // 2), code=1)[0]
        self.assertIn("FAIL", out)
        self.run_it("gate", self.files[OLD - 1], self.files[OLD], "--budget", "%d" % (STEP * 2))
        out = self.run_it("gate", self.files[OLD - 1], self.files[OLD], "--budget", "%d" % (STEP // 2), code=1)[0]
        self.assertIn("FAIL", out)

    def test_the_gate_says_that_it_judged_two_builds(self):
        note = "another build from snapshot %d (svc.%03d.pb.gz) on; 100 %% of the bytes at both ends matched" % (OLD + 1, OLD)
        budget = ("--budget", "%d/step" % (STEP * 2))
        self.assertIn("note: " + note + "\n", self.run_it("gate", *self.files, *budget)[0])
        self.assertIn("\n" + note + "\n", self.run_it("gate", *self.files, *budget, "--as", "md")[0])
        self.assertEqual(json.loads(self.run_it("gate", *self.files, *budget, "--as", "json")[0])["releases"], note)
        old = self.run_it("gate", *self.files[:OLD], "--budget", str(STEP * OLD), "--as", "json")[0]
        self.assertNotIn("releases", json.loads(old))

    def test_what_was_accepted_stays_accepted_when_its_function_is_renamed(self):
        for scope in ("", "culprit:"):
            budget = ("--budget", "%s%d" % (scope, STEP // 2), "--allow", "allow%s.toml" % scope.strip(":"))
            out = self.run_it("gate", *self.files[:OLD], *budget, "--accept", "Cache::put")[0]
            self.assertIn("PASS", out)
            known = re.search("accepted +(?:RISING +)?([0-9a-f]{12}) ", out).group(1)
            # The amount is that of five steps and a tenth: of the two builds these are as many.
            pair = (self.files[1], self.files[OLD])
            out = self.run_it("gate", *pair, *budget)[0]
            self.assertIn("PASS  1 budget held, 1 accepted", out)
            self.assertIn(": as %s before the release" % known, out)
            self.assertNotIn("not there any more", out)
            self.assertNotIn("before the release", self.run_it("gate", *self.files[1:3], *budget)[0])

    def test_a_budget_for_a_function_holds_under_its_new_name(self):
        with open(os.path.join(self.folder, "budgets.toml"), "w", encoding="utf-8") as file:
            file.write('[[budget]]\nname = "cache"\nfunction = "Cache::put"\nallow = "%d"\n' % (STEP // 2))
        out = self.run_it("gate", self.files[OLD - 1], self.files[OLD], "--budgets", "budgets.toml", code=1)[0]
        self.assertIn("cache (2 rows)", out)


class SideBySide(CliTest):
    """Of a stack that was matched across builds, peek and the page show what each build calls it."""
    BEFORE = ["Session::Session  server.cc:12", "Cache::put  server.cc:31", "open_session  server.cc:55",
              "serve  main.cc:40", "main  main.cc:90"]
    AFTER = ["Session::Session  server.cc:19", "Store::insert  server.cc:38", "open_session  server.cc:62",
             "serve  main.cc:47", "main  main.cc:97"]

    def setUp(self):
        super().setUp()
        self.files = [self.write("a.pb.gz", release(0, 0, False)), self.write("b.pb.gz", release(6, 7, True))]

    def test_the_terminal_has_two_columns(self):
        out, _ = self.run_it("peek", "Store|Cache", *self.files)
        self.assertIn("Two builds: 2 stacks that hold one were matched\n", out)
        lines = out[out.index("Two builds"):].splitlines()
        self.assertRegex(lines[2], r"^  \+375 KiB   6.25 KiB → 381 KiB   matched (by function under another name|without frames of one build)$")
        table = [line.split("  ") for line in lines[3:9]]
        cells = [[cell.strip() for cell in row if cell.strip()] for row in table]
        self.assertEqual(cells[0], ["before", "after"])
        self.assertEqual([row[0] + "  " + row[1] for row in cells[1:]], self.BEFORE)
        self.assertEqual([row[2] + "  " + row[3] for row in cells[1:]], self.AFTER)

    def test_one_build_has_none(self):
        same = self.write("c.pb.gz", release(6, 0, False))
        out, _ = self.run_it("peek", "Store|Cache", self.files[0], same)
        self.assertNotIn("Two builds", out)
        self.assertNotIn("matched_stacks", json.loads(self.run_it("peek", "Cache", self.files[0], same, "--as", "json")[0]))

    def test_machine_forms_have_both_stacks(self):
        report = json.loads(self.run_it("peek", "Store|Cache", *self.files, "--as", "json")[0])
        leak = report["matched_stacks"][0]
        self.assertEqual((leak["baseline"], leak["current"]), (6400, 6400 + 6 * STEP))
        self.assertIn(leak["tier"], ("T4", "inline"))
        text = lambda stack: ["%s  %s:%d" % (frame["function"], frame["file"], frame["line"]) for frame in stack]
        self.assertEqual(text(leak["baseline_stack"]), self.BEFORE)
        self.assertEqual(text(leak["stack"]), self.AFTER)
        out, _ = self.run_it("peek", "Store|Cache", *self.files, "--as", "md")
        self.assertIn("| Cache::put  server.cc:31 | Store::insert  server.cc:38 |", out)

    def test_a_frame_that_came_between_has_nothing_beside_it(self):
        def build(moved, more, value):
            def stack(name):
                frames = [("Session::Session", "server.cc", 12 + moved), (name, "server.cc", 31 + moved)]
                frames += [("traced", "trace.cc", 5)] * more
                return frames + [("f%d" % i, "server.cc", 100 + i) for i in range(8)] + [("main", "main.cc", 90 + moved)]
            return pprof(INUSE, [(stack(name), [1, value * (k + 1)]) for k, name in enumerate(("open", "close", "route"))])

        old, new = self.write("old.pb.gz", build(0, 0, 1000)), self.write("new.pb.gz", build(7, 1, 3000))
        out, _ = self.run_it("peek", "route", old, new)
        self.assertRegex(out, r"(?m)^    – +traced  trace.cc:5$")
        self.assertRegex(out, r"(?m)^    f0  server.cc:100 +=$")
        self.assertRegex(out, r"(?m)^    … 4 frames alike$")

    def test_a_row_says_why_it_was_matched(self):
        out, _ = self.run_it("diff", *self.files, "--explain-match", "1")
        lines = out.splitlines()
        self.assertLessEqual(len(lines), 10, out)
        self.assertRegex(lines[0], r"^row 1 +Session::Session server.cc:19 < Store::insert server.cc:38 < open_session ")
        self.assertRegex(lines[1], r"^values +6.25 KiB → 381 KiB$")
        self.assertRegex(lines[2], r"^builds +two: a function begins at another line$")
        self.assertRegex(out, r"(?m)^before +Session::Session server.cc:12 < Cache::put server.cc:31 < ")
        self.assertRegex(out, r"(?m)^score +1.00 = mean of the shares of both stacks and of the shorter one: 4 equal sites ")

    def test_a_new_row_names_the_stacks_that_are_most_like_it(self):
        leak = [("Session::Session", "server.cc", 19), ("brand_new", "new.cc", 5), ("serve", "main.cc", 47), ("main", "main.cc", 97)]
        rows = [(leak, [9000, 9_000_000]), ([("parse", "server.cc", 19), ("serve", "main.cc", 47), ("main", "main.cc", 97)], [50, 20_000])]
        old = self.write("old.pb.gz", pprof(INUSE, [([("parse", "server.cc", 12), ("serve", "main.cc", 40), ("main", "main.cc", 90)],
                                                    [50, 20_000])]))
        out, _ = self.run_it("diff", old, self.write("new.pb.gz", pprof(INUSE, rows)), "--explain-match", "1")
        self.assertLessEqual(len(out.splitlines()), 10, out)
        self.assertRegex(out, r"(?m)^matched +unmatched \(new or gone\)$")
        self.assertRegex(out, r"(?m)^  row 2 +0.90 another function allocates: parse server.cc:12 < serve main.cc:40 < main main.cc:90$")
        self.assertRegex(out, r"(?m)^- only +parse server.cc:12$")

    def test_a_row_that_does_not_exist_has_no_reason(self):
        _, err = self.run_it("diff", *self.files, "--explain-match", "99", code=2)
        self.assertIn("row 99 does not exist, expected 1 to 10", err)

    def test_very_deep_stacks_end(self):
        def build(moved, prefix):
            deep = [("Session::Session", "server.cc", 12 + moved)]
            deep += [(prefix + "%d" % (i % 977), "server.cc", 31 + moved + i % 977) for i in range(4000)]
            deep.append(("main", "main.cc", 90 + moved))
            shared = [("Buffer::Buffer", "server.cc", 200 + moved), ("parse", "server.cc", 20 + moved), ("main", "main.cc", 90 + moved)]
            return pprof(INUSE, [(deep, [1, 1000 + moved]), (shared, [1, 50_000])])

        old, new = self.write("old.pb.gz", build(0, "a")), self.write("new.pb.gz", build(7, "b"))
        self.run_it("peek", "Session", old, new)
        self.run_it("render", "--html", old, new, "-o", "page.html")
        new = self.write("new.pb.gz", build(7, "a"))
        out, _ = self.run_it("peek", "Session", old, new)
        self.assertIn("frames left out", out)
        self.assertLess(len(out), 100_000)
        self.run_it("render", "--html", old, new, "-o", "page.html")

    def test_the_page_has_them(self):
        self.run_it("render", "--html", *self.files, "-o", "page.html")
        with open(os.path.join(self.folder, "page.html"), encoding="utf-8") as file:
            page = file.read()
        start = page.index('id="facts">') + len('id="facts">')
        facts = json.loads(page[start:page.index("</script>", start)])
        pairs = [frames for _, _, frames in facts["pairs"]]
        self.assertIn([list(pair) for pair in zip(self.BEFORE, self.AFTER)], pairs)
        self.assertEqual(len(pairs), 10)  # every row moved


class WhatDiffers(CliTest):
    """What the two stacks of a row are called side by side."""
    SHARED = ("parse", "route", "render", "compress", "encrypt", "log", "index", "flush")

    def pair(self, leak, moved=7):
        """Two builds of a program, of the leaking stack leak(0) and leak(moved); lines of all others moved, too."""
        def build(down):
            rows = [(leak(down), [100, 6400 + down * 60_000])]
            for i, name in enumerate(self.SHARED):
                rows.append(([("Buffer::Buffer", "server.cc", 200 + down), (name, "server.cc", 100 + 10 * i + down),
                              ("main", "main.cc", 90 + down)], [50 + i, 20_000 + 1000 * i]))
            return pprof(INUSE, rows)
        return [self.write("a.pb.gz", build(0)), self.write("b.pb.gz", build(moved))]

    def beside(self, name, files):
        """Cells of the first table of `peek name`: [before, after], or [both]."""
        out, _ = self.run_it("peek", name, *files)
        lines = out[out.index("Two builds"):].splitlines()[4:]
        return [[cell.strip() for cell in re.split("   +", line.strip())] for line in lines if line.startswith("    ")]

    def test_other_parameters_are_shown(self):
        def leak(down):
            put = "Cache::put(int, std::string const&)" if down else "Cache::put(int)"
            return [("Session::Session", "server.cc", 12 + down), (put, "server.cc", 31 + down), ("main", "main.cc", 90 + down)]
        files = self.pair(leak)
        self.assertIn(["Cache::put(int)  server.cc:31", "Cache::put(int, std::string const&)  server.cc:38"],
                      self.beside("Cache::put", files))

    def test_of_a_file_that_lies_elsewhere_the_other_folders_are_shown(self):
        def leak(down):
            folder = "/home/ci/build-%d/src/app/" % (down + 1)
            return [("Session::Session", folder + "session.cc", 12), ("keep", folder + "server.cc", 31 + down),
                    ("main", "main.cc", 90 + down)]
        cells = self.beside("keep", self.pair(leak))
        self.assertIn(["Session::Session  build-1/src/app/session.cc:12", "Session::Session  build-8/src/app/session.cc:12"], cells)
        self.assertIn(["keep  server.cc:31", "keep  server.cc:38"], cells)

    def test_a_frame_that_is_called_by_its_place_says_it_once(self):
        def leak(down):
            return [("svc/cache.py:%d" % (12 + down), "/app/svc/cache.py", 12 + down), ("keep", "server.cc", 31 + down),
                    ("main", "main.cc", 90 + down)]
        self.assertIn(["svc/cache.py:12", "svc/cache.py:19"], self.beside("keep", self.pair(leak)))

    def test_functions_that_v8_names_by_their_place_are_not_renamed(self):
        def leak(down):
            at = 31 + down
            return [("Session", "server.js", 12 + down), ("(anonymous:L#%d:C#8)" % at, "server.js", at), ("open", "server.js", 3)]
        out, _ = self.run_it(*self.pair(leak))
        self.assertIn("matched", out)
        self.assertNotIn("renamed:", out)

    def test_renamed_functions_have_stacks(self):
        def leak(down):
            put = "Store::insert" if down else "Cache::put"
            return [("Session::Session", "server.cc", 12 + down), (put, "server.cc", 31 + down), ("main", "main.cc", 90 + down)]
        files = self.pair(leak)
        self.assertIn("note: renamed: Cache::put → Store::insert, 1 stack\n", self.run_it(*files)[0])
        report = json.loads(self.run_it(*files, "--as", "json")[0])
        self.assertEqual(report["renamed"], [{"before": "Cache::put", "after": "Store::insert", "stacks": 1}])


class Strictly(CliTest):
    """--match strict, and filters: neither says that two builds of one program are two programs."""

    def setUp(self):
        super().setUp()
        self.files = [self.write("a.pb.gz", release(0, 0, False)), self.write("b.pb.gz", release(6, 7, True))]

    def test_strict_joins_what_is_recorded_alike_alone(self):
        report = json.loads(self.run_it(*self.files, "--match", "strict", "--as", "json")[0])
        self.assertEqual({row["class"] for row in report["rows"]}, {"new", "gone"})
        self.assertEqual([tier for tier, share in report["matched"].items() if share], ["unmatched"])
        self.assertNotIn("renamed", report)
        out, _ = self.run_it(*self.files, "--match", "strict")
        self.assertRegex(out.splitlines()[0], "^warning +no stack is recorded alike in both: another build[?]")
        self.assertNotIn("different programs", out)
        self.assertEqual(self.run_it(*self.files, "--match", "builds"), self.run_it(*self.files))

    def test_one_side_of_a_filter_may_be_empty(self):
        only_old = self.write("a.pb.gz", release(0, 0, False))
        rows = [(["leave", "main"], [1, 64_000])] + [(["work%d" % i, "main"], [1, 1000 + i]) for i in range(12)]
        more = self.write("more.pb.gz", pprof(INUSE, rows))
        less = self.write("less.pb.gz", pprof(INUSE, rows[1:]))
        out, err = self.run_it(more, less, "--focus", "leave")
        self.assertIn("[DEL]", out)
        self.assertNotIn("in common", out + err)
        out, _ = self.run_it(more, only_old)
        self.assertIn("no stack in common: two different programs?", out)


class SameAnswer(CliTest):
    """What is matched depends on neither the order of the samples nor that of the operands."""

    def rows(self, before, after, mirrored=False):
        data = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "pprof", "two-builds")
        files = [os.path.join(data, name + ".pb") for name in (before, after)]
        rows = json.loads(self.run_it("diff", *files, "--as", "json", "-n", "0")[0])["rows"]
        sides = ("current", "baseline") if mirrored else ("baseline", "current")
        return sorted((row[sides[0]], row[sides[1]], row["tier"]) for row in rows)

    def test_the_order_of_the_samples(self):
        self.assertEqual(self.rows("order-a", "order-b"), self.rows("order-a2", "order-b2"))

    def test_the_order_of_the_operands(self):
        self.assertEqual(self.rows("mirror-a", "mirror-b"), self.rows("mirror-b", "mirror-a", mirrored=True))


if __name__ == "__main__":
    unittest.main()

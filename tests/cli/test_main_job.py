"""The main job as a user runs it: snapdiff A B, then snapdiff render --pdf."""
import json
import os
import re
import resource
import subprocess
import unittest

import crafted
from heaps import AFTER, BEFORE, BINARY, EXAMPLES, INUSE, SANITIZED, TOTAL_AFTER, TOTAL_BEFORE, CliTest, pprof, rounds, tcmalloc


class MainJob(CliTest):
    def test_two_files_print_growth_and_leave_a_store(self):
        out, _ = self.run_it(*self.pair())
        self.assertIn("5.92 KiB → 8.88 KiB", out)
        self.assertIn("+2.96 KiB", out)
        self.assertIn("TOTAL", out)
        self.assertNotIn("[unattributed]", out)  # there is nothing of it
        self.assertIn("service+0x1200", out)
        self.assertTrue(self.exists("snapdiff.db"))

    def test_json_has_the_exact_numbers(self):
        out, _ = self.run_it(*self.pair(), "--as", "json")
        report = json.loads(out)
        self.assertEqual(report["schema"], "snapdiff.diff/1")
        self.assertEqual(report["metric"], "inuse_space")
        self.assertEqual(report["total"]["baseline"], TOTAL_BEFORE)
        self.assertEqual(report["total"]["current"], TOTAL_AFTER)
        self.assertEqual(report["total"]["grew"], 3096)
        self.assertEqual(report["total"]["shrank"], -64)
        classes = {row["class"]: row["growth"] for row in report["rows"] if row["growth"]}
        self.assertEqual(classes, {"grew": 3096, "gone": -64})
        flat = sum(row["growth"] for row in report["rows"])
        self.assertEqual(flat + report["others"]["growth"] + report["unattributed"]["growth"] +
                         report["filtered"]["growth"], TOTAL_AFTER - TOTAL_BEFORE)

    def test_json_carries_what_was_noted_while_reading(self):
        a, _ = self.pair()
        lines = AFTER.splitlines(keepends=True)
        self.write("cut.heap", lines[0] + "".join(lines[2:]))  # the header counts a row that is missing
        report = json.loads(self.run_it(a, "cut.heap", "--as", "json")[0])
        self.assertTrue(any(note["severity"] == "data loss" and "cut.heap" in note["text"] for note in report["notes"]))
        self.assertEqual(report["unattributed"]["growth"], 4096)
        self.run_it(a, "cut.heap", "--strict", code=2)

    def test_stdout_is_the_same_every_time(self):
        a, b = self.pair()
        first, _ = self.run_it(a, b)
        second, _ = self.run_it(a, b)
        self.assertEqual(first, second)

    def test_render_without_operands_draws_what_was_compared(self):
        self.run_it(*self.pair())
        self.run_it("render", "--pdf")
        self.run_it("render", "--pdf", "-o", "again.pdf")
        with open(os.path.join(self.folder, "snapdiff.pdf"), "rb") as one, \
                open(os.path.join(self.folder, "again.pdf"), "rb") as two:
            pdf = one.read()
            self.assertEqual(pdf[:5], b"%PDF-")
            self.assertEqual(pdf, two.read())

    def test_render_makes_svg_png_and_dot(self):
        a, b = self.pair()
        self.run_it("render", "--svg", a, b, "-o", "g.svg")
        self.run_it("render", "--png", a, b, "-o", "g.png")
        out, _ = self.run_it("render", "--dot", a, b, "-o", "-")
        self.assertIn("digraph", out)
        with open(os.path.join(self.folder, "g.png"), "rb") as file:
            self.assertEqual(file.read(8), b"\x89PNG\r\n\x1a\n")
        with open(os.path.join(self.folder, "g.svg"), encoding="utf-8") as file:
            self.assertIn("<text", file.read())

    def test_same_file_twice_shows_no_growth(self):
        a, _ = self.pair()
        out, _ = self.run_it(a, a, "--as", "json")
        report = json.loads(out)
        self.assertEqual(report["total"]["growth"], 0)
        self.assertEqual({row["class"] for row in report["rows"]}, {"same"})

    def test_swapped_files_mirror(self):
        a, b = self.pair()
        there = json.loads(self.run_it(a, b, "--as", "json")[0])
        back = json.loads(self.run_it(b, a, "--as", "json")[0])
        self.assertEqual(there["total"]["growth"], -back["total"]["growth"])
        self.assertEqual(sorted(r["growth"] for r in there["rows"]), sorted(-r["growth"] for r in back["rows"]))

    def test_older_second_file_is_told(self):
        self.write("a.pb.gz", pprof(INUSE, [(["alloc", "main"], [1, 100])], time_ns=2_000_000_000))
        self.write("b.pb.gz", pprof(INUSE, [(["alloc", "main"], [2, 200])], time_ns=1_000_000_000))
        out, err = self.run_it("a.pb.gz", "b.pb.gz")
        self.assertIn("+100 B", out)
        self.assertIn("disagrees with the times", err)

    def test_three_files_give_steps_and_first_to_last(self):
        for i in range(1, 4):
            self.write("svc.%04d.heap" % i, tcmalloc([(i, 1000 * i, [0x1200, 0x1100])]))
        out, _ = self.run_it("svc.0001.heap", "svc.0002.heap", "svc.0003.heap", "--as", "json")
        report = json.loads(out)
        self.assertEqual(len(report["steps"]), 2)
        self.assertEqual(sum(step["total"]["growth"] for step in report["steps"]), 2000)
        self.assertEqual(report["overall"]["total"]["growth"], 2000)
        text, _ = self.run_it("svc.0001.heap", "svc.0002.heap", "svc.0003.heap")
        self.assertIn("+1.95 KiB", text)

    def test_directory_is_ordered_by_the_number_in_the_name(self):
        os.mkdir(os.path.join(self.folder, "heaps"))
        for i in (2, 10, 9):
            self.write("heaps/svc.%d.heap" % i, tcmalloc([(i, 100 * i, [0x1200, 0x1100])]))
        self.write("heaps/notes.txt", "nothing to see")
        out, err = self.run_it("heaps", "--as", "json")
        report = json.loads(out)
        self.assertEqual([step["baseline"]["totals"]["inuse_space"] for step in report["steps"]], [200, 900])
        self.assertIn("skipped", err)

    def test_stdin_is_a_file(self):
        a, b = self.pair()
        out, _ = self.run_it(a, "-", stdin=AFTER.encode())
        direct, _ = self.run_it(a, b)
        self.assertEqual(out.splitlines()[0], direct.splitlines()[0])

    def test_words_after_two_dashes_are_operands(self):
        self.write("-odd.heap", BEFORE)
        self.write("list", AFTER)
        out, _ = self.run_it("diff", "--", "-odd.heap", "list")
        self.assertIn("+2.96 KiB", out)

    def test_an_option_takes_one_value_wherever_it_stands(self):
        values = {"FILE": "out.txt", "PATH": "kept.db", "DIR": "names", "NAME": "inuse_space", "KIND": "function",
                  "KEY": "name", "RE": ".", "X": None, "N": "5", "SIZE": "1KiB", "FORM": "json", "AMOUNT": "9GiB",
                  "TEXT": "why", "YYYY-MM-DD": "2999-01-01", "K=V": "k=v", "L": "1"}
        words = {"--format": "gperftools", "--symbols": "names", "--accept": "nothing-has-this", "--allow": "allow.toml",
                 "--budgets": "budgets.toml", "--series": "s", "--rows": "5", "--explain-match": "1",
                 "--memory": "9GiB"}  # what lies in a file at once differs from run to run
        os.mkdir(os.path.join(self.folder, "names"))
        self.write("allow.toml", "")
        self.write("budgets.toml", "")
        seen = 0
        for command in ("diff", "top", "trend", "gate", "import", "render", "export"):
            help_text = self.run_it(command, "--help")[0]
            options = re.findall(r"^  (-[^ ]+(?:, -[^ ]+)?) ([A-Z][A-Z=-]*)\n? +(.*)$", help_text, re.M)
            # Each option is a row of one table, which one function reads: of a command the first ones are enough.
            for names, kind, text in rounds(options, 4, "options of " + command):
                option = names.split(", ")[-1]
                if kind in ("TIME", "LINE") or option in ("--count", "--timeout"):
                    continue  # of addresses alone: test_run.py
                value = words.get(option) or values[kind] or re.match(r"[a-z0-9]+", text)[0]
                operands = {"top": self.pair()[:1], "trend": (*self.pair(), self.write("c.heap", AFTER + " "))}
                more = {"render": ["--pdf"], "export": ["--csv"]}.get(command, [])
                with self.subTest(command=command, option=option, value=value):
                    seen += 1
                    runs = []
                    for arguments in ([option, value, *operands.get(command, self.pair())],
                                      [*operands.get(command, self.pair()), option, value]):
                        run = self.run_any(command, *more, *arguments, env={"SNAPDIFF_DB": ":memory:"})
                        untimed = [re.sub(rb"in \d+\.\d+ s", b"in a while", text) for text in (run.stdout, run.stderr)]
                        runs.append((run.returncode, *untimed))
                        if self.exists("kept.db"):
                            os.remove(os.path.join(self.folder, "kept.db"))
                    self.assertEqual(runs[0], runs[1])
                    if option != "--accept":  # nothing breaks a budget here, which it tells
                        self.assertLess(runs[0][0], 2, runs[0][2])
        self.assertGreater(seen, 20 if SANITIZED else 90)

    def test_one_file_shows_top_and_a_hint(self):
        a, _ = self.pair()
        out, err = self.run_it(a)
        self.assertIn("TOTAL", out)
        self.assertIn("second file", err)
        self.assertFalse(self.exists("snapdiff.db"))

    def test_memory_store_leaves_nothing(self):
        self.run_it(*self.pair(), "--db", ":memory:")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.heap", "b.heap"])

    def test_default_store_that_cannot_be_written_is_a_warning(self):
        a, b = self.pair()
        os.mkdir(os.path.join(self.folder, "snapdiff.db"))
        out, err = self.run_it(a, b)
        self.assertIn("TOTAL", out)
        self.assertIn("warning: not stored", err)

    def test_explicit_store_that_cannot_be_written_is_an_error(self):
        a, b = self.pair()
        os.mkdir(os.path.join(self.folder, "taken"))
        out, err = self.run_it(a, b, "--db", "taken", code=2)
        self.assertIn("TOTAL", out)
        self.assertIn("error: ", err)
        self.run_it(a, b, env={"SNAPDIFF_DB": "taken"}, code=2)

    def test_store_too_large_for_the_file_size_limit_is_told(self):
        a, b = self.pair()
        _, err = self.run_it(a, b, "--db", "s.db", code=2,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        self.assertIn("s.db", err)

    def test_a_reader_that_goes_away_is_no_failure(self):
        a, b = self.pair()
        done = subprocess.run(["sh", "-c", '"$0" a.heap b.heap | true; test -f snapdiff.db', BINARY],
                              cwd=self.folder, check=False, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_full_device_is_told(self):
        a, b = self.pair()
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BINARY, a, b], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"standard output", done.stderr)

    def test_an_answer_in_pieces_that_cannot_be_written_fails(self):
        """Of some MiB the first pieces are written before the last ones are made."""
        heap = self.write(*crafted.long_name_in_rows(20000))
        whole = self.run_it("top", heap, "--as", "json", "--db", ":memory:")[0]
        self.assertGreater(len(whole), 4 << 20)
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))}
        with open(os.path.join(self.folder, "cut.json"), "wb") as cut:
            done = subprocess.run([BINARY, "top", heap, "--as", "json", "--db", ":memory:"], cwd=self.folder, stdout=cut,
                                  stderr=subprocess.PIPE, check=False, timeout=60, **limit)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"standard output: cannot write", done.stderr)
        def content(name):
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                return file.read()

        self.write("old.json", "old")
        for output in ("old.json", "new.json"):
            error = self.refused(heap, "-o", output, "--db", ":memory:", **limit)
            self.assertIn(output + ": cannot write", error)
        self.assertEqual(content("old.json"), "old")
        self.assertEqual([name for name in os.listdir(self.folder) if "new.json" in name or ".tmp" in name], [])
        self.run_it(heap, "-o", "new.json", "--db", ":memory:")
        self.assertEqual(json.loads(content("new.json")), json.loads(whole))

    def colour_run(self, env, *more):
        return self.shown_on_a_terminal(*self.pair(), *more, **env)

    def test_colour_only_on_a_terminal_that_wants_it(self):
        self.assertIn(b"\x1b[", self.colour_run({}))
        self.assertNotIn(b"\x1b[", self.colour_run({"NO_COLOR": "1"}))
        self.assertNotIn(b"\x1b[", self.colour_run({}, "--no-color"))
        out, _ = self.run_it(*self.pair())
        self.assertNotIn("\x1b[", out)

    def test_names_never_reach_the_terminal_raw(self):
        name = "evil\x1b[2J\x07\n</script>"
        self.write("a.pb.gz", pprof(INUSE, [([name, "main"], [1, 100])]))
        self.write("b.pb.gz", pprof(INUSE, [([name, "main"], [2, 900])]))
        for form in ("text", "md"):
            out, err = self.run_it("a.pb.gz", "b.pb.gz", "--as", form)
            self.assertNotIn("\x1b", out + err)
            self.assertNotIn("\x07", out + err)

    def test_real_series_of_the_examples(self):
        folder = os.path.join(EXAMPLES, "tcmalloc-svc")
        files = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".heap"))[:12]
        out, _ = self.run_it(*files, "--as", "json")
        overall = json.loads(out)["overall"]
        # TRUTH: 1 064 912 after step 1, 7 047 568 after step 12.
        self.assertEqual((overall["total"]["baseline"], overall["total"]["current"]), (1064912, 7047568))


if __name__ == "__main__":
    unittest.main()

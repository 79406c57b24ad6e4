"""What is said about options, commands, metrics, tables and files that are wrong: the right one is blamed, the nearest suggested."""
import os
import pty
import re
import select
import subprocess
import time
import unittest

from heaps import AFTER, BEFORE, BINARY, CliTest, pprof, tcmalloc

PAGES = os.environ["SNAPDIFF_PAGES"]

NUMBERS = [
    ("-n", "-5"), ("-n", ""), ("-n", "3x"), ("-n", "1e3"), ("-n", "99999999999999999999"), ("--rows", " 3"),
    ("--min-bytes", "-5GiB"), ("--min-bytes", ""), ("--min-bytes", "lots"), ("--min-bytes", "5 parsecs"),
    ("--max-input", ""), ("--max-input", "0"), ("--max-input", "-1"), ("--max-input", "1e300"), ("--memory", ""), ("--memory", "0"), ("--memory", "lots"),
]


class Options(CliTest):
    def test_every_number_is_parsed_whole_and_in_range(self):
        self.pair()
        for option, value in NUMBERS:
            with self.subTest(option=option, value=value):
                self.assertIn(option.split(",", maxsplit=1)[0].replace("--rows", "-n"), self.refused("a.heap", "b.heap", option, value))
        for arguments in (["prune", "--keep", "-1"], ["prune", "--keep", "99999999999999999999"], ["prune", "--keep", ""],
                          ["trend", "--limit", "-1", "a.heap"], ["trend", "--floor", "", "a.heap"], ["trend", "--loops", "0", "a.heap"],
                          ["render", "--max-nodes", "1", "a.heap", "b.heap"], ["paths", "--loops", "-3", "X", "a.heap"],
                          ["postmortem", "--limit", "", "a.heap", "b.heap"]):
            with self.subTest(arguments):
                self.assertIn(arguments[1], self.refused(*arguments))
        self.assertFalse(self.exists("snapdiff.db"))

    def test_numbers_that_are_right_are_taken(self):
        self.pair()
        self.assertIn("[2 others]", self.run_it("a.heap", "b.heap", "-n", "1", "--db", ":memory:")[0])
        self.run_it("a.heap", "b.heap", "--min-bytes", "1.5KiB", "--max-input", "1GiB", "-n", "0", "--db", ":memory:")

    def test_days_are_those_of_the_calendar(self):
        self.pair()
        for day in ("2026-13-45", "2026-02-29", "2026-00-10", "2026-1-1", "", "tomorrow", "2026-12-31 "):
            with self.subTest(day):
                self.assertIn("--until", self.refused("gate", "a.heap", "b.heap", "--accept", "x", "--until", day))
        self.write("a.toml", '[[accept]]\nid = "x"\nuntil = "2026-02-30"\n')
        self.assertIn("2026-02-30", self.refused("gate", "a.heap", "b.heap", "--allow", "a.toml"))
        self.write("b.toml", '[[accept]]\nid = "x"\nuntil = "2028-02-29"\n')
        self.assertNotIn("2028", self.run_any("gate", "a.heap", "b.heap", "--allow", "b.toml", "--db", ":memory:").stderr.decode())

    def test_the_option_is_blamed_and_the_nearest_suggested(self):
        self.pair()
        for arguments, blamed, meant in ((["--focsu", "x"], "--focsu", "--focus?"), (["--focsu", "x", "a.heap", "b.heap"], "--focsu", "--focus?"),
                                         (["a.heap", "b.heap", "--metirc=x"], "--metirc", "--metric?"), (["list", "--bd", "x"], "--bd", "--db?"),
                                         (["diff", "a.heap", "b.heap", "--allocator"], "--allocator", "--allocator-frames?")):
            with self.subTest(arguments):
                line = self.refused(*arguments)
                self.assertIn("unknown option " + blamed, line)
                self.assertIn("did you mean " + meant, line)
        # Short spellings of forms, and options that other programs have, are known where they are mistyped as well.
        self.assertIn("did you mean --json?", self.refused("top", "a.heap", "--jsno"))
        self.assertIn("unknown option --tpo: -n 5 shows 5 rows", self.refused("top", "a.heap", "--tpo"))
        self.assertNotIn("did you mean", self.refused("a.heap", "b.heap", "--no-such-thing-at-all"))

    def test_words_of_a_choice(self):
        self.pair()
        for option, value, meant in (("--sort", "grwoth", "growth"), ("--by", "functoin", "function"), ("--as", "jsno", "json"),
                                     ("--metric", "inuse_spcae", "inuse_space"), ("--format", "gperftool", "gperftools"),
                                     ("--demangle", "fulll", "full")):
            with self.subTest(option):
                line = self.refused("a.heap", "b.heap", option, value)
                self.assertIn(value, line)
                self.assertIn("did you mean %s" % meant, line)

    def test_commands_and_files(self):
        for word, meant in (("rendr", "render"), ("report", "postmortem"), ("trned", "trend"), ("ls", "list"), ("compare", "diff")):
            with self.subTest(word):
                _, err = self.run_it(word, code=2)
                self.assertIn("'%s' is neither a command nor a file" % word, err)
                self.assertIn("did you mean: snapdiff " + meant, err)
        self.write("heap.0001", BEFORE)
        self.write("heap.0012", AFTER)
        self.assertIn("did you mean heap.0012?", self.refused("heap.0001", "heap.012"))
        self.assertNotIn("did you mean", self.refused("heap.0001", "nothing/like.that"))
        self.assertIn("no such file or directory; did you mean heap.0012?", self.refused("import", "heap.012"))
        self.run_it("import", "heap.0001", "--series", "heap.web")
        # With a store the name may be of a series, too: the nearest of either.
        self.assertIn("did you mean heap.0012?", self.refused("heap.0001", "heap.012"))
        self.assertIn("did you mean heap.web?", self.refused("diff", "heap.wbe"))

    def test_tables_and_functions_of_sql(self):
        self.run_it(*self.pair())
        self.assertIn("did you mean sample?", self.refused("sql", "SELECT * FROM sampel"))
        self.assertIn("did you mean theil_sen?", self.refused("sql", "SELECT theil_sne(1, 2)"))

    def test_help_of_a_command(self):
        for command in ("diff", "sql", "gate"):
            self.assertEqual(self.run_it("help", command)[0], self.run_it(command, "--help")[0])
        self.assertIn("did you mean: snapdiff diff", self.run_it("help", "dif", code=2)[1])

    def test_words_of_verdicts_are_explained(self):
        """All that the rule can say, in the help, the man page and the README."""
        root = os.path.join(os.path.dirname(__file__), "..", "..")
        with open(os.path.join(root, "analyzer", "trend", "verdict.cpp"), encoding="utf-8") as source:
            words = set(re.findall(r'(?:return |verdict = |word = ).*?"([A-Z]{3,})"', source.read())) | {"SATURATING", "RISING"}
        self.assertLessEqual({"GROWING", "NOISY", "FLAT", "STEP", "NEW", "GONE", "SHRINKING"}, words)
        texts = {"help": self.run_it("help", "verdicts")[0]}
        for name, path in (("README.md", os.path.join(root, "README.md")), ("man page", os.path.join(PAGES, "snapdiff.1"))):
            with open(path, encoding="utf-8") as page:
                texts[name] = page.read()
        for name, text in texts.items():
            for word in sorted(words | {"minor"}):
                with self.subTest(where=name, word=word):
                    self.assertRegex(text, r"\b%s\b" % word)

    def test_one_prefix_and_no_kind_inside(self):
        self.pair()
        for arguments in (["missing.heap", "a.heap"], ["sql", "--db", ":memory:", "SELECT nonsense("], ["a.heap", "b.heap", "--by", "colour"],
                          ["rm"], ["@7"], ["list", "--db", "missing.db"], ["render", "--pdf", "a.heap"]):
            with self.subTest(arguments):
                line = self.refused(*arguments)
                for word in ("usage:", "input/output", ":memory:", "error: error"):
                    self.assertNotIn(word, line)

    def test_a_cpu_profile_is_named_as_one(self):
        for kinds in ([("samples", "count"), ("cpu", "nanoseconds")], [("cpu", "nanoseconds")], [("samples", "count"), ("wall", "microseconds")]):
            for name, factor in (("cpu1.pb.gz", 1), ("cpu2.pb.gz", 2)):
                self.write(name, pprof(kinds, [(["main"], [factor * 10] * len(kinds))]))
            self.assertIn("this is a CPU profile", self.refused("cpu1.pb.gz", "cpu2.pb.gz"))
            self.run_it("cpu1.pb.gz", "cpu2.pb.gz", "--metric", kinds[-1][0], "--db", ":memory:")
        self.write("lock.pb.gz", pprof([("contentions", "count"), ("delay", "nanoseconds")], [(["main"], [1, 2])]))
        self.assertNotIn("CPU", self.refused("top", "lock.pb.gz"))

    def test_a_filter_that_matches_nothing_says_so(self):
        self.write("a.pb.gz", pprof([("inuse_space", "bytes")], [(["leaf", "main"], [10])]))
        self.write("b.pb.gz", pprof([("inuse_space", "bytes")], [(["leaf", "main"], [30])]))
        for option in ("--focus", "--ignore", "--hide", "--show"):
            with self.subTest(option):
                for arguments in (["a.pb.gz", "b.pb.gz"], ["top", "b.pb.gz"]):
                    out, err = self.run_it(*arguments, option, "nowhere", "--db", ":memory:")
                    self.assertIn("nothing matches %s 'nowhere'" % option, out + err)
                    self.assertNotIn("growth is spread", out)
                    out, err = self.run_it(*arguments, option, "leaf", "--db", ":memory:")
                    self.assertNotIn("nothing matches", out + err)

    def test_a_store_that_refuses_is_no_bug_of_ours(self):
        """Exit 2 with one line, where a file that somebody else made does not let us (it was 3)."""
        import sqlite3
        self.run_it(*self.pair())
        self.assertIn("store", self.refused("sql", "CREATE TABLE x(a)"))
        self.assertIn("store", self.refused("sql", "DROP TABLE snapshot"))
        with sqlite3.connect(os.path.join(self.folder, "snapdiff.db")) as db:
            db.execute("CREATE TRIGGER no BEFORE DELETE ON snapshot BEGIN SELECT raise(ABORT, 'not with me'); END")
        self.refused("prune", "--keep", "1", "--yes")
        self.refused("rm", "@1", "--yes")


class Stages(CliTest):
    def test_nothing_is_silent_for_more_than_two_seconds_on_a_terminal(self):
        """A reader that waits for its input says so all the while, and wipes its line at the end."""
        self.write("b.heap", AFTER)
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([BINARY, "-", "b.heap", "--db", ":memory:"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=slave, env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm"})
        os.close(slave)
        process.stdin.write(BEFORE.encode()[:100])
        process.stdin.flush()
        seen, told = b"", [time.monotonic()]
        while time.monotonic() < told[0] + 3.2:
            if select.select([master], [], [], 0.1)[0]:
                seen += os.read(master, 4096)
                told.append(time.monotonic())
        told.append(time.monotonic())
        process.stdin.write(BEFORE.encode()[100:])
        process.stdin.close()
        out = process.stdout.read().decode()
        process.stdout.close()
        self.assertEqual(process.wait(), 0)
        try:
            while True:
                seen += os.read(master, 65536)
        except OSError:
            pass  # the other end is closed, and all of it was read
        self.assertIn(b"reading  ", seen)
        for percent in re.findall(rb"(\d+) %", seen):
            self.assertLessEqual(int(percent), 100)  # the size of what comes from a pipe is unknown
        self.assertLess(max(b - a for a, b in zip(told, told[1:])), 2)
        self.assertIn(b"\r\x1b[K", seen)
        self.assertIn("in use", out)


class Symbols(CliTest):
    def dumps(self):
        return self.write("a.heap", tcmalloc([(1, 100, [0x1200, 0x1100])])), self.write("b.heap", tcmalloc([(9, 900, [0x1200, 0x1100])]))

    def notes(self, err):
        return [line for line in err.splitlines() if line.startswith(("note:", "warning:", "partial:"))]

    def test_a_path_that_is_not_there_is_an_error(self):
        for option in ("--symbols", "--sysroot"):
            self.assertIn("missing", self.refused(*self.dumps(), option, "missing", "--db", ":memory:"))
        self.run_it("import", *self.dumps())
        self.assertIn("missing", self.refused("symbolize", "--symbols", "missing"))

    def test_one_line_says_what_is_missing_and_which_path_fits_nothing(self):
        os.makedirs(os.path.join(self.folder, "bin"))
        out, err = self.run_it(*self.dumps(), "--symbols", "bin", "--db", ":memory:")
        self.assertEqual(len(self.notes(err)), 1, err)
        for words in ("addresses have names", "bin fits no module of the input", "service", "--symbols FILE|DIR"):
            self.assertIn(words, self.notes(err)[0])
        self.assertNotIn("note:", out)


class Direction(CliTest):
    LINES = """{"k":"header","format":"snapdiff-tracker","version":1}
{"k":"snapshot","id":"s%d"}
{"k":"live","stack":["\u05e9\u05dc\u05d5\u05dd (a.py:3)","\u0645\u0631\u062d\u0628\u0627 (a.py:4)","start (a.py:1)"],"bytes":%d000000,"count":7}
{"k":"end","id":"s%d","rows":1}
"""

    def on_a_terminal(self, locale):
        seen = self.shown_on_a_terminal("a.jsonl", "b.jsonl", "--db", ":memory:", LC_ALL=locale, NO_COLOR="1", COLUMNS="120")
        return seen.decode().replace("\r\n", "\n")

    def test_names_from_right_to_left_keep_their_places(self):
        """Side by side they would change places on a terminal: each is isolated there, and nowhere else."""
        for number, name in ((1, "a.jsonl"), (2, "b.jsonl")):
            self.write(name, self.LINES % (number, number, number))
        shown = self.on_a_terminal("C.UTF-8")
        self.assertIn("\u2068\u05e9\u05dc\u05d5\u05dd\u2069 \u2039 \u2068\u0645\u0631\u062d\u0628\u0627\u2069 \u2039 start", shown)
        self.assertEqual(shown.count("\u2068"), shown.count("\u2069"))
        for line in shown.replace("\u2068", "").replace("\u2069", "").splitlines():
            self.assertLessEqual(len(line), 120)
        piped, _ = self.run_it("a.jsonl", "b.jsonl", "--db", ":memory:")
        self.assertIn("\u05e9\u05dc\u05d5\u05dd \u2039 \u0645\u0631\u062d\u0628\u0627", piped)
        self.assertNotIn("\u2068", piped)
        self.assertNotIn("\u2068", self.on_a_terminal("C"))


if __name__ == "__main__":
    unittest.main()

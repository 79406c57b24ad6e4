"""What people type first: help on one screen, -o FILE, --json, --open, options of other programs."""
import json
import os
import re
import stat
import time
import unittest

from heaps import CliTest


class Surface(CliTest):
    def made(self, *arguments, code=0, **more):
        return self.run_it(*arguments, "--db", ":memory:", code=code, **more)

    def test_help_fits_a_screen_and_has_the_commands_of_every_day(self):
        text, _ = self.run_it("help")
        lines = text.splitlines()
        self.assertLessEqual(len(lines), 40)
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertEqual(re.findall(r"^  ([a-z]+) ", text.split("\n\nexamples")[0], re.M), ["diff", "trend", "top", "peek", "info", "postmortem", "render", "gate"])
        self.assertEqual(len(re.findall(r"^  --?[a-z]", text, re.M)), 8)
        self.assertEqual(text, self.run_it("--help")[0])
        everything, _ = self.run_it("help", "--all")
        self.assertEqual(everything, self.run_it("--help", "--all")[0])
        for command in ("diff", "list", "prune", "symbolize", "paths", "mcp"):
            self.assertRegex(everything, r"(?m)^  (\w+, )*%s\b" % command)

    def test_options_are_in_groups(self):
        text, _ = self.run_it("trend", "--help")
        found = [word for word in text.splitlines() if word in ("input", "filter", "symbols", "store", "output")]
        self.assertEqual(found, ["input", "filter", "symbols", "store", "output"])
        for group, option in (("filter", "--focus"), ("symbols", "--sysroot"), ("store", "--db"), ("output", "-n, --rows"), ("input", "--strict")):
            self.assertIn("  " + option, text.split("\n%s\n" % group)[1].split("\n\n")[0])
        self.assertNotIn("\noutput\n", self.run_it("prune", "--help")[0])

    def test_the_name_of_a_file_says_its_form(self):
        self.pair()
        for ending, begins in (("html", b"<!doctype html"), ("json", b"{"), ("jsonl", b"{"), ("csv", b"class,"), ("md", b"##"), ("txt", b"in use"), ("pdf", b"%PDF"),
                               ("svg", b"<"), ("png", b"\x89PNG"), ("dot", b"digraph")):
            with self.subTest(ending):
                done = self.run_any("a.heap", "b.heap", "-o", "x." + ending, "--db", ":memory:")
                said = done.stderr.decode()
                if ending in ("pdf", "svg", "png", "dot") and b"draw" in done.stderr and done.returncode == 2:
                    continue  # a build that does not draw
                self.assertEqual((done.returncode, done.stdout), (0, b""), said)
                self.assertIn("wrote x." + ending, said)
                with open(os.path.join(self.folder, "x." + ending), "rb") as file:
                    self.assertEqual(file.read(len(begins)).lower(), begins.lower())
        with open(os.path.join(self.folder, "x.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), json.loads(self.made("a.heap", "b.heap", "--as", "json")[0]))
        for name, said in (("x.xls", ".xls"), ("x", "no ending"), ("x.html", "--as csv")):
            more = ["--as", "csv"] if name == "x.html" else []
            self.assertIn(said, self.refused("a.heap", "b.heap", "-o", name, *more))
        self.assertIn("what this command reads", self.refused("a.heap", "b.heap", "--as", "text", "-o", "a.heap", "--db", ":memory:"))
        self.assertEqual(self.made("a.heap", "b.heap", "-o", "-")[0], self.made("a.heap", "b.heap")[0])
        self.made("a.heap", "-o", "one.csv")
        self.made("trend", "a.heap", "b.heap", "a.heap", "-o", "t.md")
        self.assertTrue(self.exists("one.csv") and self.exists("t.md"))

    def test_short_spellings(self):
        self.pair()
        json_text, _ = self.made("a.heap", "b.heap", "--json")
        self.assertEqual(json_text, self.made("a.heap", "b.heap", "--as", "json")[0])
        self.assertEqual(self.made("top", "a.heap", "--csv")[0], self.made("top", "a.heap", "--as", "csv")[0])
        self.made("a.heap", "b.heap", "--html")
        self.assertTrue(self.exists("snapdiff.html"))
        self.made("a.heap", "b.heap", "--html", "-o", "y.html")
        self.assertTrue(self.exists("y.html"))

    def test_options_of_other_programs(self):
        self.pair()
        for arguments, said in ((["a.heap", "b.heap", "--limit", "5"], "-n 5 shows 5 rows"), (["top", "a.heap", "--limit", "5"], "-n 5 shows 5 rows"),
                                (["a.heap", "b.heap", "-v"], "--version prints the version"), (["a.heap", "b.heap", "--verbose"], "snapdiff info FILE"),
                                (["top", "a.heap", "--pdf"], "snapdiff render --pdf"), (["formats", "--json"], "--json"), (["top", "a.heap", "-o", "x"], "> FILE")):
            with self.subTest(arguments):
                if arguments == ["formats", "--json"]:
                    self.run_any(*arguments)
                    continue
                self.assertIn(said, self.refused(*arguments))

    def opener(self):
        """A folder with an xdg-open that writes down what it is given."""
        os.mkdir(os.path.join(self.folder, "bin"))
        path = os.path.join(self.folder, "bin", "xdg-open")
        with open(path, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "$1" > "%s/opened.new"; mv "%s/opened.new" "%s/opened"; sleep 5\n' % ((self.folder,) * 3))
        os.chmod(path, 0o755)
        return {"PATH": os.path.join(self.folder, "bin") + ":" + os.environ["PATH"], "DISPLAY": ":9", "TMPDIR": self.folder}

    def opened(self):
        for _ in range(100):
            if self.exists("opened"):
                with open(os.path.join(self.folder, "opened"), encoding="utf-8") as file:
                    return file.read().strip()
            time.sleep(0.05)
        return None

    def test_open_prints_the_path_where_there_is_no_display(self):
        self.pair()
        quiet = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "TMPDIR": self.folder}
        for arguments in (["a.heap", "b.heap"], ["trend", "a.heap", "b.heap", "a.heap"], ["render", "a.heap", "b.heap"], ["render", "--html", "a.heap", "b.heap"]):
            with self.subTest(arguments):
                path = self.made(*arguments, "--open", env=quiet)[0].strip()
                self.assertRegex(path, r"^%s/snapdiff-\w{6}\.html$" % re.escape(self.folder))
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
                with open(path, encoding="utf-8") as file:
                    self.assertIn("<!doctype html", file.read(100).lower())
        self.assertEqual(self.made("a.heap", "b.heap", "--open", "-o", "z.html", env=quiet)[0], "z.html\n")
        done = self.run_any("postmortem", "a.heap", "b.heap", "-o", "out", "--open", env=quiet)
        self.assertIn(b"\nout/report.html\n", done.stdout)
        self.assertIn("expected -o FILE.html", self.refused("a.heap", "b.heap", "--open", "-o", "x.pdf"))
        self.assertIn("--open is for pages", self.refused("render", "--pdf", "a.heap", "b.heap", "--open"))

    def test_open_starts_the_browser_and_does_not_wait(self):
        self.pair()
        environment = self.opener()
        began = time.monotonic()
        _, said = self.made("a.heap", "b.heap", "--open", env=environment)
        self.assertLess(time.monotonic() - began, 4)
        self.assertIn("opened " + self.folder, said)
        self.assertEqual(self.opened(), said.split("opened ")[1].strip())


if __name__ == "__main__":
    unittest.main()

"""One file of a series is cut or empty, as a process that was killed for its memory leaves it: the others answer."""
import gzip
import json
import os
import re
import shutil
import subprocess
import unittest

from heaps import INUSE, SOURCE, CliTest, pprof, tcmalloc


class Damaged(CliTest):
    def series(self, damage):
        """Thirteen dumps, the seventh of which `damage` has made of what it should be."""
        os.mkdir(os.path.join(self.folder, "heaps"))
        for i in range(1, 14):
            whole = pprof(INUSE, [(["leak%d" % n, "main"], [i, 1000 * n * i]) for n in range(1, 40)] +
                          [(["keep", "main"], [5, 900000])])
            self.write("heaps/svc.%03d.pb.gz" % i, damage(whole) if i == 7 else whole)
        return ["heaps/" + name for name in sorted(os.listdir(os.path.join(self.folder, "heaps")))]

    def assert_left_out(self, damage):
        files = self.series(damage)
        for operands in (["heaps"], files):
            out, err = self.run_it("diff", *operands, "--db", ":memory:")
            self.assertIn("warning", out.splitlines()[0])
            self.assertIn("left out: heaps/svc.007.pb.gz", " ".join(out.splitlines()[:3]))
            self.assertIn("warning: left out: heaps/svc.007.pb.gz", err)
            report = json.loads(self.run_it("diff", *operands, "--as", "json", "--db", ":memory:")[0])
            self.assertEqual(len(report["steps"]), 11)
            self.assertIn("left out: heaps/svc.007.pb.gz", " ".join(note["text"] for note in report["overall"]["notes"]))
            trend, _ = self.run_it("trend", *operands)
            self.assertIn("left out: heaps/svc.007.pb.gz", " ".join(trend.splitlines()[:3]))
            _, err = self.run_it("gate", *operands, code=1)
            self.assertIn("left out", err)
            self.run_it("postmortem", *operands, "-o", "report")
            with open(os.path.join(self.folder, "report", "report.json"), encoding="utf-8") as file:
                self.assertIn("left out: heaps/svc.007.pb.gz", file.read())
            with open(os.path.join(self.folder, "report", "report.md"), encoding="utf-8") as file:
                self.assertIn("left out: heaps/svc.007.pb.gz", file.read().replace("\\", ""))
            self.run_it("render", "--pdf", "-o", "g.pdf", *operands)
            for command in (["diff"], ["trend"], ["gate"], ["postmortem", "-o", "strict"]):
                self.run_it(*command, *operands, "--strict", "--db", ":memory:", code=2)
        _, err = self.run_it("import", "heaps")
        self.assertIn("left out: heaps/svc.007.pb.gz", err)
        self.assertIn("import  12 snapshots", err)

    def test_cut(self):
        self.assert_left_out(lambda whole: whole[:len(whole) // 2])

    def test_empty(self):
        self.assert_left_out(lambda whole: b"")

    def test_one_cut_and_one_empty_among_thirteen(self):
        """The report is of the eleven others and says so: on the terminal, in JSON, on page 1, in the inputs."""
        os.mkdir(os.path.join(self.folder, "heaps"))
        for i in range(1, 14):
            whole = pprof(INUSE, [(["leak%d" % n, "main"], [i, 1000 * n * i]) for n in range(1, 40)])
            self.write("heaps/svc.%d.pb.gz" % i, whole[:len(whole) // 2] if i == 5 else b"" if i == 10 else whole)
        out, err = self.run_it("postmortem", "heaps", "-o", "report")
        for name in ("svc.5.pb.gz", "svc.10.pb.gz"):
            self.assertIn("left out: heaps/" + name, err)
            self.assertIn("left out: heaps/" + name, " ".join(self.run_it("diff", "heaps", "--db", ":memory:")[0].split()))
        with open(os.path.join(self.folder, "report", "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(len(report["inputs"]), 11)
        # Numbered files: 5 is between 4 and 6, and 10 between 9 and 11, whatever the order of their names as text.
        self.assertEqual([(one["before"], one["name"]) for one in report["missing_inputs"]],
                         [(5, "heaps/svc.5.pb.gz"), (9, "heaps/svc.10.pb.gz")])
        self.assertEqual([report["inputs"][one["before"] - 1]["snapshot"]["source"] for one in report["missing_inputs"]],
                         ["heaps/svc.6.pb.gz", "heaps/svc.11.pb.gz"])
        self.assertIn("empty input file", report["missing_inputs"][1]["why"])
        self.assertIn("11 snapshots (2 damaged and left out)", report["order"])
        with open(os.path.join(self.folder, "report", "report.html"), encoding="utf-8") as file:
            page = file.read().replace("\u00a0", " ")
        self.assertTrue("11 snapshots, 2 missing, with hashes and totals" in page)
        rows = page[page.index('id="files"'):]
        self.assertLess(rows.index("svc.4.pb.gz"), rows.index("missing: heaps/svc.5.pb.gz"))
        self.assertLess(rows.index("missing: heaps/svc.5.pb.gz"), rows.index("svc.6.pb.gz"))
        self.assertTrue(re.search(r'"missing":\[\[4,"heaps/svc\.5\.pb\.gz[^"]*"\],\[8,"heaps/svc\.10\.pb\.gz[^"]*"\]\]', page))
        if shutil.which("pdftotext"):
            done = subprocess.run(["pdftotext", "-layout", os.path.join(self.folder, "report", "report.pdf"), "-"],
                                  stdout=subprocess.PIPE, check=True)
            pages = done.stdout.decode().split("\f")
            self.assertRegex(pages[0], "1 missing +1 missing")
            self.assertIn("2 damaged and left out", pages[0])
        self.run_it("render", "--timeline", "--svg", "-o", "t.svg", "heaps")
        with open(os.path.join(self.folder, "t.svg"), encoding="utf-8") as file:
            self.assertEqual(file.read().count("1 missing"), 2)
        for command in ("diff", "trend", "gate", "postmortem"):
            self.assertIn("svc.", self.refused(command, "heaps", "--strict", "--db", ":memory:"))
        # In the order given on the command line; names as tokens where they are to be.
        given = ["heaps/svc.%d.pb.gz" % i for i in (1, 2, 10, 3, 4)]
        self.run_it("postmortem", *given, "-o", "given", "--redact")
        with open(os.path.join(self.folder, "given", "report.json"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual([one["before"] for one in json.loads(text)["missing_inputs"]], [3])
        self.assertNotIn("svc.10", text)

    def test_cut_text(self):
        # The head says how much the rows add up to: a cut dump cannot be told from a smaller one by its last line.
        files = [self.write("t.%d.heap" % i, tcmalloc([(1, 100 * n * i, [16 * n]) for n in range(1, 30)])) for i in range(1, 5)]
        with open(os.path.join(self.folder, files[2]), "r+b") as file:
            file.truncate(200)
        _, err = self.run_it(*files)
        self.assertRegex(err, "(left out|partial): t.3.heap")

    def test_what_of_a_cut_file_is_kept_is_what_its_format_says(self):
        """As the README of each format has it: records that stand alone are kept, as partial; the rest is refused."""
        data = os.path.join(SOURCE, "tests", "data")
        partial = ["metric_log/constructed-loop.log", "leak_reports/memcheck-list-all.txt", "valgrind/massif-vgseries-final.out",
                   "postmortem/torch-modules-once.sdt.jsonl"]
        refused = ["torch_cuda/flexgen-oom-history.pickle", "postmortem/cache/cache-00.tracemalloc", "valgrind/dhat-steps2.json",
                   "pprof/go-dd-heap/heap.after.pb"]
        for name in partial + refused:
            with open(os.path.join(data, name), "rb") as file:
                whole = file.read()
            self.write("cut", whole[:len(whole) * 6 // 10])
            if name in refused:
                self.run_it("info", "cut", code=2)
            else:
                self.assertTrue(json.loads(self.run_it("info", "cut", "--as", "json")[0])["partial"], name)

    def test_each_format_says_what_of_a_cut_file_is_kept(self):
        folder = os.path.join(SOURCE, "formats")
        helpers = {"input", "json", "pickle", "text"}  # they read no files of their own
        for name in sorted(set(os.listdir(folder)) - helpers):
            readme = os.path.join(folder, name, "README.md")
            if os.path.exists(readme):
                with open(readme, encoding="utf-8") as file:
                    self.assertRegex(file.read(), r"\bCut\b", name)

    def test_what_a_compressed_file_held_before_its_end_is_kept(self):
        """A gzip that is cut: whole lines of text are, of a profile.proto nothing is."""
        text = gzip.compress(("\n".join("Iteration %d: %d.%dMB" % (i, 100 + i, i % 10) for i in range(4000)) + "\n").encode())
        self.write("log.gz", text[:len(text) // 2])
        found = json.loads(self.run_it("info", "log.gz", "--as", "json")[0])
        self.assertTrue(found["partial"])
        rows = [(1, 100 * n, [16 * n]) for n in range(1, 3000)]
        heap = gzip.compress(tcmalloc(rows).encode())
        self.write("t.heap.gz", heap[:len(heap) // 2])
        found = json.loads(self.run_it("info", "t.heap.gz", "--as", "json")[0])
        self.assertTrue(found["partial"])
        self.assertTrue(100 < found["stacks"] < 2999, found["stacks"])

    def test_a_single_damaged_file_and_a_pair_are_refused(self):
        files = self.series(lambda whole: whole[:50])
        self.refused("diff", files[0], files[6])
        self.refused("top", files[6])
        self.assertFalse(self.exists("snapdiff.db"))


if __name__ == "__main__":
    unittest.main()

"""One file of a series is cut or empty, as a process that was killed for its memory leaves it: the others answer."""
import json
import os
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

    def test_cut_text(self):
        # The head says how much the rows add up to: a cut dump cannot be told from a smaller one by its last line.
        files = [self.write("t.%d.heap" % i, tcmalloc([(1, 100 * n * i, [16 * n]) for n in range(1, 30)])) for i in range(1, 5)]
        with open(os.path.join(self.folder, files[2]), "r+b") as file:
            file.truncate(200)
        _, err = self.run_it(*files)
        self.assertRegex(err, "(left out|partial): t.3.heap")

    def test_what_of_a_cut_file_is_kept_is_what_its_format_says(self):
        """As the README of each format has it: records that stand alone are kept, as partial; the rest is refused."""
        kept = ["metric_log/constructed-loop.log", "leak_reports/memcheck-list-all.txt"]
        refused = ["torch_cuda/flexgen-oom-history.pickle", "postmortem/cache/cache-00.tracemalloc"]
        for name in kept + refused:
            path = os.path.join(SOURCE, "tests", "data", name)
            with open(path, "rb") as file:
                whole = file.read()
            self.write("cut", whole[:len(whole) * 6 // 10])
            if name in refused:
                self.run_it("info", "cut", code=2)
            else:
                self.assertTrue(json.loads(self.run_it("info", "cut", "--as", "json")[0])["partial"], name)

    def test_a_single_damaged_file_and_a_pair_are_refused(self):
        files = self.series(lambda whole: whole[:50])
        self.refused("diff", files[0], files[6])
        self.refused("top", files[6])
        self.assertFalse(self.exists("snapdiff.db"))


if __name__ == "__main__":
    unittest.main()

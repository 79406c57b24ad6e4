"""Commands on the store: import, list, operands, rm, prune, merge, sql, export."""
import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import unittest

from heaps import BINARY, INUSE, CliTest, pprof, tcmalloc


class StoreCommands(CliTest):
    def series(self, count=4):
        names = []
        for i in range(1, count + 1):
            names.append(self.write("svc.%04d.heap" % i, tcmalloc([(i, 1000 * i, [0x1200, 0x1100]), (7, 700, [0x1300])])))
        return names

    def listed(self):
        return json.loads(self.run_it("list", "--as", "json")[0])["series"]

    def test_import_is_idempotent(self):
        names = self.series()
        self.run_it("import", *names)
        _, err = self.run_it("import", *names)
        self.assertIn("4 stored before", err)
        (series,) = self.listed()
        self.assertEqual(series["name"], "svc")
        self.assertEqual(series["order"], "sequence")
        self.assertEqual([s["totals"]["inuse_space"] for s in series["snapshots"]], [1700, 2700, 3700, 4700])

    def test_order_is_the_number_in_the_name_not_the_import(self):
        names = self.series()
        self.run_it("import", *reversed(names))
        self.assertEqual([s["totals"]["inuse_space"] for s in self.listed()[0]["snapshots"]], [1700, 2700, 3700, 4700])

    def test_same_bytes_under_two_names_are_two_snapshots(self):
        self.write("x.1.heap", tcmalloc([(1, 10, [0x1200])]))
        self.write("x.2.heap", tcmalloc([(1, 10, [0x1200])]))
        self.run_it("import", "x.1.heap", "x.2.heap")
        self.assertEqual(len(self.listed()[0]["snapshots"]), 2)

    def growth(self, *operands):
        return json.loads(self.run_it("diff", *operands, "--as", "json")[0])["total"]["growth"]

    def test_operands(self):
        names = self.series()
        self.run_it("import", *names, "--label", "release=7")
        self.assertEqual(self.growth("@1", "@4"), 3000)
        self.assertEqual(self.growth("@first", "@last"), 3000)
        self.assertEqual(self.growth("@prev", "@last"), 1000)
        self.assertEqual(self.growth("svc#2", "svc#-1"), 2000)
        self.assertEqual(self.growth(names[0], "@3"), 2000)
        self.assertEqual(len(json.loads(self.run_it("diff", "@2..@4", "--as", "json")[0])["steps"]), 2)
        self.assertEqual(len(json.loads(self.run_it("diff", "label:release=7", "--as", "json")[0])["steps"]), 3)
        self.assertEqual(len(json.loads(self.run_it("diff", "--as", "json")[0])["steps"]), 3)
        self.write("@3", tcmalloc([(1, 5, [0x1200])]))
        self.assertEqual(self.growth("@3", "@4"), 4695)  # an existing path wins

    def test_files_and_store_give_the_same_answer(self):
        names = self.series(2)
        from_files, _ = self.run_it(*names, "--as", "csv", "--db", ":memory:")
        self.run_it("import", *names)
        from_store, _ = self.run_it("diff", "@1", "@2", "--as", "csv")
        self.assertEqual(from_files, from_store)

    def test_rm_and_prune(self):
        self.run_it("import", *self.series(20))
        self.run_it("rm", "@1", "svc#8", "--yes")
        totals = [s["totals"]["inuse_space"] for s in self.listed()[0]["snapshots"]]
        self.assertEqual(totals, [700 + 1000 * i for i in range(1, 21) if i not in (1, 8)])
        self.run_it("prune", "--keep", "3", "-y")
        self.assertEqual([s["totals"]["inuse_space"] for s in self.listed()[0]["snapshots"]], [18700, 19700, 20700])
        self.assertEqual(self.growth("@first", "@last"), 2000)
        self.refused("rm", "svc.0001.heap")

    def test_merge(self):
        names = self.series()
        self.run_it("import", *names[:3], "--db", "one.db")
        self.run_it("import", *names[2:], "--db", "two.db")
        self.run_it("merge", "one.db", "two.db", "--db", "ab.db")
        self.run_it("merge", "two.db", "one.db", "--db", "ba.db")
        answer = [self.run_it("diff", "--db", db, "--as", "csv")[0] for db in ("ab.db", "ba.db")]
        self.assertEqual(answer[0], answer[1])
        series = json.loads(self.run_it("list", "--as", "json", "--db", "ab.db")[0])["series"]
        self.assertEqual(len(series[0]["snapshots"]), 4)

    def test_sql(self):
        self.run_it("import", *self.series())
        out, _ = self.run_it("sql", "select sum(growth) as g from growth(1, 4) where metric = 'inuse_space'", "--as", "json")
        self.assertEqual(json.loads(out)[0]["g"], 3000)
        out, _ = self.run_it("sql", "--as", "csv", stdin=b"select 1 as a, null as b; select 'x,y' as c;")
        self.assertEqual(list(csv.reader(io.StringIO(out))), [["a", "b"], ["1", ""], ["c"], ["x,y"]])
        self.refused("sql", "select nonsense from nowhere")
        self.refused("sql", "delete from snapshot")

    def test_export_kinds(self):
        names = self.series(2)
        folded, _ = self.run_it("export", "--folded", *names)
        self.assertEqual([line.split()[-1] for line in folded.splitlines()], ["1000"])
        scope, _ = self.run_it("export", "--speedscope", names[0])
        self.assertIn("profiles", json.loads(scope))
        rows, _ = self.run_it("export", "--csv", *names)
        self.assertGreaterEqual(len(list(csv.DictReader(io.StringIO(rows)))), 2)
        lines, _ = self.run_it("export", "--jsonl", *names)
        self.assertTrue(all(json.loads(line) for line in lines.splitlines()))
        self.run_it("import", *names)
        self.run_it("export", "--plain-sqlite", "-o", "plain.sqlite")
        plain = sqlite3.connect(os.path.join(self.folder, "plain.sqlite"))
        self.addCleanup(plain.close)
        self.assertEqual(plain.execute("pragma integrity_check").fetchone(), ("ok",))

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_export_pprof_opens_in_pprof(self):
        types = [("alloc_objects", "count"), ("alloc_space", "bytes"), ("inuse_objects", "count"), ("inuse_space", "bytes")]
        self.write("a.pb.gz", pprof(types, [(["leak", "main"], [5, 500, 1, 100]), (["old", "main"], [1, 50, 1, 50])]))
        self.write("b.pb.gz", pprof(types, [(["leak", "main"], [9, 900, 4, 4100])]))
        self.run_it("export", "--pprof", "a.pb.gz", "b.pb.gz", "-o", "diff.pb.gz")
        done = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", "-sample_index=inuse_space", "diff.pb.gz"],
                              cwd=self.folder, capture_output=True, text=True, check=True, timeout=120)
        self.assertRegex(done.stdout, r"4000B.*leak")
        self.assertRegex(done.stdout, r"-50B.*old")

    def test_two_processes_on_one_store(self):
        names = self.series(12)
        children = [subprocess.Popen([BINARY, "import", *part, "--db", "s.db"], cwd=self.folder, stderr=subprocess.PIPE)
                    for part in (names[:6], names[6:])]
        for child in children:
            _, err = child.communicate(timeout=120)
            self.assertEqual(child.returncode, 0, err)
        series = json.loads(self.run_it("list", "--as", "json", "--db", "s.db")[0])["series"]
        self.assertEqual(len(series[0]["snapshots"]), 12)

    def test_zstd_and_plain_are_the_same_snapshot(self):
        if shutil.which("zstd") is None:
            self.skipTest("zstd is not installed")
        self.write("p.pb", pprof(INUSE, [(["a", "main"], [3, 300])], compress=False))
        subprocess.run(["zstd", "-q", "p.pb", "-o", "p.pb.zst"], cwd=self.folder, check=True)
        out, _ = self.run_it("p.pb", "p.pb.zst", "--as", "json")
        report = json.loads(out)
        self.assertEqual((report["total"]["baseline"], report["total"]["current"], report["total"]["grew"]), (300, 300, 0))


if __name__ == "__main__":
    unittest.main()

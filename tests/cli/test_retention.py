"""Removing snapshots: what goes is said first, series are thinned as backups are, and no output replaces what it did not make."""
import json
import os
import pty
import stat
import subprocess
import unittest

from heaps import BINARY, INUSE, CliTest, kept_environment, pprof

HOUR = 3600 * 10**9
START = 1_760_000_400 * 10**9  # 2025-10-09 09:00 UTC


class Removing(CliTest):
    def series(self, count, step=HOUR, name="web"):
        """A heap that grows by 1000 bytes a snapshot in one of two stacks."""
        files = []
        for number in range(count):
            samples = [(["leak", "main"], [number, 5000 + 1000 * number]), (["steady", "main"], [7, 70_000])]
            files.append(self.write("%s.%04d.pb.gz" % (name, number), pprof(INUSE, samples, START + number * step)))
        self.run_it("import", *files, "--series", name)
        return files

    def totals(self, name="web"):
        listed = json.loads(self.run_it("list", name, "--as", "json")[0])["series"]
        return [snapshot["totals"]["inuse_space"] for snapshot in listed[0]["snapshots"]]

    def numbers(self, name="web"):
        return [(total - 75_000) // 1000 for total in self.totals(name)]

    def test_keep_nothing_is_refused(self):
        self.series(3)
        self.assertIn("--keep", self.refused("prune", "--keep", "0", "--yes"))
        self.assertIn("--keep", self.refused("prune", "--yes"))
        self.assertEqual(len(self.totals()), 3)

    def test_dry_run_removes_nothing(self):
        self.series(6)
        _, err = self.run_it("prune", "--keep", "2", "--dry-run")
        self.assertEqual(err, "would remove 4 of 6 snapshots of web\n")
        _, err = self.run_it("rm", "@1", "web#-1", "--dry-run")
        self.assertEqual(err, "would remove 2 of 6 snapshots of web\n")
        self.assertEqual(len(self.totals()), 6)

    def test_without_a_terminal_it_needs_yes(self):
        self.series(4)
        for arguments in (["rm", "@1"], ["prune", "--keep", "1"]):
            self.assertIn("nothing was removed", self.run_it(*arguments, code=2)[1])
        self.assertEqual(len(self.totals()), 4)
        _, err = self.run_it("prune", "--keep", "1", "--yes")
        self.assertEqual(err, "removes 3 of 4 snapshots of web\nremoved 3 snapshots\n")
        self.assertEqual(self.numbers(), [3])

    def answered(self, answer, *arguments):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        environment = {**kept_environment(), "LC_ALL": "C.UTF-8"}
        with subprocess.Popen([BINARY, *arguments], cwd=self.folder, stdin=slave, stdout=slave, stderr=slave, env=environment) as process:
            os.close(slave)
            os.write(master, answer)
            self.assertEqual(process.wait(60), 0)

    def test_a_terminal_is_asked(self):
        self.series(4)
        self.answered(b"\n", "rm", "@1")
        self.answered(b"n\n", "prune", "--keep", "1")
        self.assertEqual(len(self.totals()), 4)
        self.answered(b"y\n", "prune", "--keep", "1")
        self.assertEqual(self.numbers(), [3])

    def test_thinned_like_backups(self):
        count = 24 * 20
        self.series(count)
        self.run_it("prune", "--keep-last", "48h", "--keep-hourly", "3d", "--keep-daily", "1y", "--yes")
        last = count - 1
        # 09:00 is the first: the newest of a day is at 23:00, 14 hours later.
        expected = {n for n in range(count) if last - n <= 72 or n % 24 == 14}
        self.assertEqual(self.numbers(), sorted(expected))

    def test_minutes_are_thinned_to_hours(self):
        self.series(60 * 6, HOUR // 60)
        self.run_it("prune", "--keep-last", "30m", "--keep-hourly", "1d", "--yes")
        self.assertEqual(self.numbers(), [59, 119, 179, 239, 299] + list(range(329, 360)))

    def test_what_stays_is_as_true_as_before(self):
        self.series(24 * 4)
        before = json.loads(self.run_it("diff", "web#24", "web#-1", "--as", "json")[0])
        verdict = json.loads(self.run_it("trend", "web", "--as", "json")[0])
        self.run_it("prune", "--keep-last", "12h", "--keep-hourly", "1d", "--keep-daily", "1y", "--yes")
        kept = self.numbers()
        self.assertLess(len(kept), 30)
        place = kept.index(23) + 1 if 23 in kept else 1
        for number, one in enumerate(kept, 1):
            rows = json.loads(self.run_it("top", "web#%d" % number, "--as", "json")[0]) if number in (1, len(kept)) else None
            if rows:
                self.assertEqual(rows["total"]["value"] if isinstance(rows["total"], dict) else rows["total"], 75_000 + 1000 * one)
        after = json.loads(self.run_it("diff", "web#%d" % place, "web#-1", "--as", "json")[0])
        self.assertEqual(after["total"]["growth"], 1000 * (kept[-1] - kept[place - 1]))
        self.assertEqual(before["total"]["growth"], 1000 * (95 - 23))
        thinned = json.loads(self.run_it("trend", "web", "--as", "json")[0])
        named = lambda report: {row["stack"][0]["function"]: row["verdict"] for row in report["rows"]}
        self.assertEqual(named(thinned), named(verdict))
        self.assertAlmostEqual(thinned["total"]["slope_per_hour"], verdict["total"]["slope_per_hour"], delta=1)
        self.run_it("sql", "pragma integrity_check")

    def test_without_times_a_series_stays_whole(self):
        files = [self.write("x.%d.pb.gz" % n, pprof(INUSE, [(["main"], [1, 10 + n])])) for n in range(5)]
        self.run_it("import", *files, "--series", "x")
        _, err = self.run_it("prune", "--keep-last", "1h", "--yes")
        self.assertIn("x stays whole", err)
        self.assertEqual(len(self.totals("x")), 5)


class Replacing(CliTest):
    def bytes_of(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def test_a_store_is_not_replaced(self):
        names = self.pair()
        self.run_it(*names, "--db", "s.db")
        before = self.bytes_of("s.db")
        self.assertIn("SQLite", self.refused("export", "--folded", *names, "-o", "s.db", "--db", ":memory:"))
        self.assertEqual(self.bytes_of("s.db"), before)

    def test_an_input_is_not_replaced(self):
        names = self.pair()
        before = self.bytes_of(names[0])
        self.assertIn("reads", self.refused("export", "--folded", names[0], "-o", names[0], "--db", ":memory:"))
        self.assertEqual(self.bytes_of(names[0]), before)

    def test_the_mode_stays(self):
        names = self.pair()
        path = os.path.join(self.folder, "out.txt")
        self.run_it("export", "--folded", *names, "-o", "out.txt", "--db", ":memory:")
        os.chmod(path, 0o600)
        self.run_it("export", "--folded", *names, "-o", "out.txt", "--db", ":memory:")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)


if __name__ == "__main__":
    unittest.main()

"""Whole snapshots only: import, comparison, prune and merge killed at any moment, a disk that is full, many processes on one store.

A few rounds; SNAPDIFF_KILL_ROUNDS=200 kills each so often, and 70 processes write at once."""
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

from heaps import BINARY, SANITIZED, CliTest, tcmalloc

ASKED = int(os.environ.get("SNAPDIFF_KILL_ROUNDS", "0"))
KILLS = ASKED or (3 if SANITIZED else 6)
WRITERS = 70 if ASKED else 8
FILES_OF_A_STORE = ("s.db", "s.db-wal", "s.db-shm", "s.db-journal")


class Killed(CliTest):
    def kill_series(self):
        """Files whose totals tell them apart, large enough to be killed in the middle of; their totals."""
        totals = {}
        for i in range(8):
            rows = [(1 + n % 7, 64 * (n + i + 1), [0x1000 + 8 * n, 0x1100, 0x1200 + n % 50]) for n in range(2000)]
            name = self.write("svc.%04d.heap" % i, tcmalloc(rows))
            totals[name] = sum(64 * (n + i + 1) for n in range(2000))
        return totals

    def remove_store(self):
        for left in FILES_OF_A_STORE:
            if self.exists(left):
                os.remove(os.path.join(self.folder, left))

    def begin_with(self, store):
        self.remove_store()
        if store:
            shutil.copy(os.path.join(self.folder, store), os.path.join(self.folder, "s.db"))

    def time_of(self, *arguments, store=None):
        """How long the command takes when nobody kills it."""
        self.begin_with(store)
        begin = time.monotonic()
        self.run_it(*arguments, "--db", "s.db")
        spent = time.monotonic() - begin
        self.remove_store()
        return spent

    def killed(self, seed, totals, whole, *arguments, store=None):
        """Kills the command at moments from its start to past its end; gives each time how many snapshots are stored.

        The moments follow the machine: half of them come before the end, whatever runs beside it.
        """
        chance = random.Random(seed)
        longest = 1.5 * self.time_of(*arguments, store=store)
        for _ in range(KILLS):
            if store:
                self.begin_with(store)
            child = subprocess.Popen([BINARY, *arguments, "--db", "s.db"], cwd=self.folder,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, longest))
            child.send_signal(signal.SIGKILL)
            child.wait(60)
            count = self.whole_snapshots(totals)
            longest *= .8 if count == whole else 1.25
            yield count

    def whole_snapshots(self, totals):
        """How many snapshots the store holds; fails unless each is whole and SQLite finds the file sound."""
        if not self.exists("s.db"):
            return 0
        out, _ = self.run_it("sql", "pragma integrity_check", "--db", "s.db", "--as", "csv")
        self.assertEqual(out.split(), ["integrity_check", "ok"])
        count = 0
        for series in json.loads(self.run_it("list", "--as", "json", "--db", "s.db")[0])["series"]:
            for snapshot in series["snapshots"]:
                self.assertEqual(snapshot["totals"]["inuse_space"], totals[snapshot["source"]])
                top = json.loads(self.run_it("top", snapshot["ref"], "--db", "s.db", "--as", "json")[0])
                self.assertEqual(sum(row["value"] for row in top["rows"]), totals[snapshot["source"]])
                count += 1
        return count

    def test_kill_at_any_moment_of_an_import_leaves_whole_snapshots(self):
        totals = self.kill_series()
        seen = set()
        for count in self.killed(7, totals, len(totals), "import", *totals):
            seen.add(count)
            if count == len(totals):
                self.remove_store()
        self.assertTrue(seen - {0, len(totals)} or KILLS < 25, "no import was caught in its middle: %s" % seen)

    def test_kill_at_any_moment_of_a_comparison_leaves_a_whole_store_or_none(self):
        totals = self.kill_series()
        names = sorted(totals)
        seen = set()
        for count in self.killed(8, totals, 2, names[0], names[-1]):
            self.assertIn(count, (0, 2))
            seen.add(count)
            left = set(os.listdir(self.folder)) - set(names)
            self.assertEqual(left, {"s.db"} if count else set())
            if count:
                os.remove(os.path.join(self.folder, "s.db"))
        self.assertTrue(seen == {0, 2} or KILLS < 25, seen)

    def test_kill_at_any_moment_of_a_prune(self):
        totals = self.kill_series()
        self.run_it("import", *totals, "--db", "all.db")
        seen = set(self.killed(9, totals, 3, "prune", "--keep", "3", "--yes", store="all.db"))
        self.assertLessEqual(seen, set(range(3, 9)))

    def test_kill_at_any_moment_of_a_merge(self):
        totals = self.kill_series()
        names = sorted(totals)
        self.run_it("import", *names[:4], "--db", "there.db")
        self.run_it("import", *names[4:], "--db", "more.db")
        seen = set(self.killed(10, totals, 8, "merge", "more.db", store="there.db"))
        self.assertLessEqual(seen, set(range(4, 9)))

    def on_a_small_disk(self, size, script):
        """Runs lines of a shell in a file system of so many KiB, at small/; $0 is the program."""
        os.mkdir(os.path.join(self.folder, "small"))
        whole = "mount -t tmpfs -o size=%dk small small || exit 77\n%s\ncp small/s.db* .\n" % (size, script)
        done = subprocess.run(["unshare", "-rm", "sh", "-c", whole, BINARY], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode in (1, 77, 127) and not self.exists("errors"):
            self.skipTest("skipped: no file system can be mounted here: %s" % done.stderr.strip())
        with open(os.path.join(self.folder, "errors"), encoding="utf-8") as file:
            errors = [line for line in file.read().splitlines() if line.startswith("error: ")]
        self.assertTrue(all("full" in line or "space" in line for line in errors), errors)
        return errors

    def test_an_import_on_a_full_disk(self):
        """Each import on a file system of 280 KiB either stores its snapshot or says that there is no space."""
        totals = self.kill_series()
        errors = self.on_a_small_disk(280, "".join(
            '"$0" import %s --db small/s.db 2>> errors || echo %s >> refused\n' % (name, name) for name in sorted(totals)))
        count = self.whole_snapshots(totals)
        with open(os.path.join(self.folder, "refused"), encoding="utf-8") as file:
            refused = file.read().split()
        self.assertEqual((count, len(errors)), (len(totals) - len(refused), len(refused)))
        self.assertGreater(count, 0)

    def test_a_prune_and_a_merge_on_a_full_disk(self):
        """Beside a store the disk has no space, a little or enough: nothing is done, or all of it, or whole snapshots more."""
        totals = self.kill_series()
        names = sorted(totals)
        self.run_it("import", *names, "--db", "all.db")
        self.run_it("import", *names[:4], "--db", "there.db")
        self.run_it("import", *names[4:], "--db", "more.db")
        for command, store, before, after in (("prune --keep 3 --yes", "all.db", 8, 3), ("merge more.db", "there.db", 4, 8)):
            kept = os.path.getsize(os.path.join(self.folder, store)) // 1024 + 1
            outcomes = set()
            for room in (8, 100, 2000):
                self.remove_store()
                errors = self.on_a_small_disk(kept + room, 'cp %s small/s.db; "$0" %s --db small/s.db 2> errors' % (store, command))
                os.rmdir(os.path.join(self.folder, "small"))
                count = self.whole_snapshots(totals)
                outcomes.add((bool(errors), count))
                self.assertIn(count, range(min(before, after), max(before, after) + 1) if errors else (after,), command)
            self.assertIn((False, after), outcomes)
            self.assertTrue(any(failed for failed, _ in outcomes) or command.startswith("prune"), outcomes)

    def test_many_processes_on_one_store(self):
        totals = {}
        for i in range(WRITERS):
            totals[self.write("w.%04d.heap" % i, tcmalloc([(1, 64 * (n + i + 1), [0x1000 + 8 * n, 0x1100]) for n in range(50)]))] = sum(
                64 * (n + i + 1) for n in range(50))
        children = [subprocess.Popen([BINARY, "import", name, "--series", "w", "--db", "s.db"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE) for name in totals]
        for child in children:
            _, err = child.communicate(timeout=300)
            self.assertEqual(child.returncode, 0, err)
        self.assertEqual(self.whole_snapshots(totals), WRITERS)


if __name__ == "__main__":
    unittest.main()

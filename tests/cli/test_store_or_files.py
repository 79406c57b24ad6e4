"""The same answer, byte for byte, whether snapshots come out of their files or out of the store."""
import json
import os
import re
import unittest

from heaps import EXAMPLES, SOURCE, CliTest, pprof

DATA = os.path.join(SOURCE, "tests", "data")


def without_names(text, *paths):
    """A report without how its snapshots are named, the only difference there may be."""
    refs = list(dict.fromkeys(re.findall(r'"ref": *"([^"]+)"', text)))
    for name in sorted(refs, key=len, reverse=True):
        text = re.sub(re.escape(name) + r"(?=[\s\":@])", "snapshot%d" % refs.index(name), text)
    for number, path in enumerate(paths):
        text = re.sub(re.escape(path) + r"(?=[\s\":@])", "snapshot%d" % number, text)
    return re.sub(r'"series": *("[^"]*"|null)', '"series": null', text)


class StoreOrFiles(CliTest):
    def pairs(self):
        """First and last of the samples of each folder and ending."""
        kinds = {}
        for top in (DATA, EXAMPLES):
            for folder, _, names in os.walk(top):
                for name in names:
                    kinds.setdefault((folder, name.partition(".")[2].lstrip("0123456789")), []).append(os.path.join(folder, name))
        for paths in kinds.values():
            read = lambda path: self.run_any("info", path).returncode == 0
            first = next(filter(read, sorted(paths)), None)
            last = first and next(filter(read, sorted(paths, reverse=True)))
            if first != last:
                yield first, last

    def test_equal_bytes(self):
        seen = 0
        for number, (before, after) in enumerate(self.pairs()):
            if os.sep + "jsc" + os.sep in before:
                print("left out: %s: a store keeps rows, holders of objects are in the file alone" % os.path.basename(before))
                continue
            done = self.run_any("diff", before, after, "--as", "json", "--db", ":memory:")
            if done.returncode != 0:
                continue
            store = "s%d.db" % number
            self.run_any("import", before, "--db", store, "--series", "a")
            self.run_any("import", after, "--db", store, "--series", "b")
            stored = self.run_any("diff", "a#-1", "b#-1", "--as", "json", "--db", store)
            self.assertEqual(stored.returncode, 0, (before, after, stored.stderr))
            expected = without_names(done.stdout.decode(), before, after).split(",")
            found = without_names(stored.stdout.decode(), before, after).split(",")
            differing = [pair for pair in zip(expected, found) if pair[0] != pair[1]]
            self.assertEqual((differing[:3], len(found)), ([], len(expected)), (before, after))
            seen += 1
        self.assertGreater(seen, 10)

    def test_one_default_metric(self):
        """Two columns in bytes and a default: every command takes the file's own default, SQL and lists too."""
        types = [("cache_bytes", "bytes"), ("arena_bytes", "bytes")]
        files = []
        for i in range(10):
            rows = [(["leak", "main"], [1000, 100000 + 30000 * i]), (["keep", "main"], [5000, 100000])]
            files.append(self.write("s.%02d.pb.gz" % i, pprof(types, rows, time_ns=10 ** 18 + 60 * 10 ** 9 * i, default="arena_bytes")))
        trend = json.loads(self.run_it("trend", *files, "--as", "json", "--db", ":memory:")[0])
        self.assertEqual((trend["metric"], trend["total"]["verdict"]), ("arena_bytes", "GROWING"))
        self.run_it("import", *files, "--db", "s.db", "--series", "s")
        rows = self.run_it("sql", "SELECT DISTINCT metric, verdict FROM trend('s') ORDER BY verdict", "--as", "csv", "--db", "s.db")[0]
        self.assertEqual(rows.split(), ["metric,verdict", "arena_bytes,FLAT", "arena_bytes,GROWING"])
        listed = self.run_it("list", "--db", "s.db")[0]
        self.assertIn("195 KiB", listed)
        self.assertNotIn("n/a  ", listed.splitlines()[2].split("pprof")[1][:12])
        self.assertEqual(json.loads(self.run_it("gate", "s", "--db", "s.db", "--as", "json", code=1)[0])["metric"], "arena_bytes")
        self.assertIn("arena_bytes", self.run_it("sql", "SELECT DISTINCT metric FROM retained(1)", "--as", "csv", "--db", "s.db")[0])


if __name__ == "__main__":
    unittest.main()

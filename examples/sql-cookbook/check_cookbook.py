#!/usr/bin/env python3
"""Runs every query of the page. check_cookbook.py SNAPDIFF PAGE

Each must give rows; those whose truth is known elsewhere are compared with it.
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

SNAPDIFF, PAGE = (os.path.abspath(argument) for argument in sys.argv[1:3])
EXAMPLES = os.path.dirname(os.path.dirname(PAGE))


class Cookbook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        with open(PAGE, encoding="utf-8") as page:
            cls.queries = re.findall(r"```sql\n(.*?)```", page.read(), re.DOTALL)
        for series, name, ending in (("go-queue", "queue", ".pb.gz"), ("tcmalloc-svc", "svc", ".heap")):
            folder = os.path.join(EXAMPLES, series)
            files = sorted(os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(ending))
            subprocess.run([SNAPDIFF, "import", *files, "--series", name], cwd=cls.folder, check=True, capture_output=True)

    def rows(self, query):
        done = subprocess.run([SNAPDIFF, "sql", query, "--as", "csv"], cwd=self.folder, capture_output=True, text=True,
                              env=dict(os.environ, LC_ALL="C.UTF-8"), check=False, timeout=120)
        self.assertEqual(done.returncode, 0, query + done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout)))

    def test_every_query_gives_rows(self):
        self.assertGreaterEqual(len(self.queries), 20)
        for number, query in enumerate(self.queries, 1):
            with self.subTest(number):
                self.assertTrue(self.rows(query), query)

    def query(self, *words):
        found = [query for query in self.queries if all(word in query for word in words)]
        self.assertEqual(len(found), 1, words)
        return self.rows(found[0])

    def test_growth_is_conserved(self):
        row = self.query("AS stacks,", "AS total;")[0]
        self.assertEqual(row["stacks"], row["total"])
        self.assertEqual(int(row["total"]), 10728376 - 1875856)

    def test_churn_adds_up(self):
        row = self.query("AS shrank")[0]
        self.assertEqual(int(row["grew"]) + int(row["shrank"]), int(row["net"]))

    def test_the_leaks_of_the_queue_are_growing(self):
        texts = [list(row.values())[-1] for row in self.query("IN ('GROWING', 'RISING')")]
        # leakSubscribers recurses to five depths in turn: five stacks, each of which jumps.
        for caller in ("leakBacklog", "leakIndex"):
            self.assertTrue(any("main.newBody" in text and caller in text for text in texts), (caller, texts))
        self.assertFalse(any("burstLoad" in text or "ringWrite" in text for text in texts), texts)

    def test_objects_that_are_added_have_their_size(self):
        means = {row["mean"] for row in self.query("AS mean")}
        self.assertLessEqual({"240.0", "100.0", "65536.0"}, means)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

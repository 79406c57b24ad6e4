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
        subprocess.run([sys.executable, os.path.join(os.path.dirname(PAGE), "make_oom.py"), "oom.pickle"], cwd=cls.folder, check=True)
        subprocess.run([SNAPDIFF, "import", "oom.pickle", "--series", "gpu"], cwd=cls.folder, check=True, capture_output=True)

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

    def test_segments_blocks_and_events_are_those_of_the_file(self):
        mib = 1 << 20
        [row] = self.query("AS pinned")  # the four segments of one kept output each; the model's has two stacks
        self.assertEqual((int(row["pinned"]), row["segments"]), ((19 + 18 + 17 + 16) * mib, "4"))
        self.assertIn("keep_output", list(row.values())[-1])
        [row] = self.query("AS largest")
        self.assertEqual((row["stream"], row["pool"], int(row["largest"]), row["blocks"], int(row["free"])),
                         ("0", "(0, 0)", 19 * mib, "5", (8 + 19 + 18 + 17 + 16) * mib))
        events = self.query("device_free")
        self.assertEqual([row["action"] for row in events],
                         ["segment_alloc", "alloc", "alloc", "free_requested", "free_completed", "oom"])
        self.assertEqual((int(events[-1]["size"]), int(events[-1]["device_free"])), (24 * mib, 6 * mib))

    def test_the_leaks_of_the_queue_are_growing(self):
        texts = [list(row.values())[-1] for row in self.query("IN ('GROWING', 'RISING')")]
        # leakSubscribers recurses to five depths in turn: five stacks, each of which jumps.
        for caller in ("leakBacklog", "leakIndex"):
            self.assertTrue(any("main.newBody" in text and caller in text for text in texts), (caller, texts))
        self.assertFalse(any("burstLoad" in text or "ringWrite" in text for text in texts), texts)

    def test_objects_that_are_added_have_their_size(self):
        means = {row["mean"] for row in self.query("AS mean")}
        self.assertLessEqual({"240.0", "100.0", "65536.0"}, means)

    def test_retained_is_what_cannot_be_reached_without_the_function(self):
        """Takes each function out of the merged call graph and adds up what the root no longer reaches."""
        for snapshot in (12, 24):
            sums, stacks = {}, {}
            for row in self.rows(f"SELECT stack, sum(value) AS value FROM sample WHERE snapshot = {snapshot} AND "
                                 "metric = 'inuse_space' GROUP BY stack"):
                if int(row["value"]) != 0:
                    sums[row["stack"]] = int(row["value"])
            for row in self.rows("SELECT stack, function, module, \"offset\" FROM stack_frame ORDER BY stack, position DESC"):
                name = row["function"] or f"{os.path.basename(row['module'])}+{int(row['offset'] or 0):#x}"
                if row["stack"] in sums:
                    stacks.setdefault(row["stack"], []).append((name, row["module"]))
            edges, flat, cum = {}, {}, {}
            for stack, value in sums.items():
                above = None
                for node in stacks[stack]:
                    edges.setdefault(above, set()).add(node)
                    above = node
                flat[above] = flat.get(above, 0) + value
                for node in set(stacks[stack]):
                    cum[node] = cum.get(node, 0) + value

            def reached(without):
                seen, todo = {None, without}, [None]
                while todo:
                    for node in edges.get(todo.pop(), ()):
                        if node not in seen:
                            seen.add(node)
                            todo.append(node)
                return sum(flat.get(node, 0) for node in seen if node != without)

            total = sum(sums.values())
            expected = {node: (flat.get(node, 0), cum[node], total - reached(node)) for node in cum}
            found = {(row["name"], row["module"]): (int(row["flat"]), int(row["cum"]), int(row["retained"]))
                     for row in self.rows(f"SELECT * FROM retained({snapshot})")}
            self.assertGreater(len(found), 10)
            self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

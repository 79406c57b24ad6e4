"""What used to be said wrongly, one test for each symptom."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import unittest

from heaps import CliTest, INUSE, SOURCE, pprof

sys.path.insert(0, os.path.join(SOURCE, "tests", "corpus"))
from lib.write_types import Hprof, V8Graph  # noqa: E402

MIB = 1 << 20


def functions(story):
    return [culprit["name"] for culprit in story["culprits"]]


class Symptoms(CliTest):
    def heap(self, name, rows):
        """rows: (bytes, [function, ...] leaf first)."""
        return self.write(name, pprof(INUSE, [(stack, [max(1, size // 1024), size]) for size, stack in rows]))

    def story(self, *files):
        document = json.loads(self.run_it("diff", *files, "--db", ":memory:", "--as", "json")[0])
        return document.get("overall", document)["story"]

    def test_three_leaks_under_main_are_three_culprits(self):
        """Not "main 68 %, _Vector_base<float>::_Vector_base 30 %"."""
        base = "std::_Vector_base<float, std::allocator<float> >::_Vector_base(unsigned long)"
        files = []
        for i in range(13):
            files.append(self.heap("svc.%04d.pb.gz" % i, [
                (MIB // 2 + i * 257 * 1024, ["kernel_cache_put", "Filter::apply", "main"]),
                (MIB // 4 + i * 176 * 1024, [base, "std::vector<float, std::allocator<float> >::vector(unsigned long)", "Worker::convolve", "main"]),
                (MIB // 8 + i * 130 * 1024, ["Pool<Tile>::acquire", "load_tiles", "main"]),
                (4 * MIB, ["read_image", "main"]),
                (2 * MIB + (i % 3) * 1000, ["Pool<Tile>::grow", "load_tiles", "main"])]))
        story = self.story(*files)
        self.assertEqual(functions(story), ["kernel_cache_put", "Worker::convolve", "Pool<Tile>::acquire"])
        self.assertEqual([culprit["verdict"] for culprit in story["culprits"]],
                         ["GROWING"] * 3)
        first = self.run_it("diff", *files, "--db", ":memory:")[0].split("\n\n")[0]
        self.assertNotIn("_Vector_base", first)
        self.assertRegex(first, r"GROWING +kernel_cache_put")

    def test_a_series_with_a_leak_and_a_warm_cache_is_titled_by_the_leak(self):
        """Not "(SATURATING)" for the heaviest row of the first culprit."""
        files = []
        for i in range(12):
            rows = [(int(8 * MIB * (1 - 0.5 ** (i + 1))), ["cache.fill", "main.serve", "main.main"])]
            rows += [(MIB + i * 40 * 1024 * (k + 1), ["main.leak%d" % k, "main.serve", "main.main"]) for k in range(5)]
            files.append(self.heap("svc.%04d.pb.gz" % i, rows))
        story = self.story(*files)
        self.assertEqual(story["headline"]["verdict"], "GROWING")
        self.assertTrue(all(name.startswith("main.leak") for name in functions(story)), functions(story))
        self.assertEqual([culprit["name"] for culprit in story["levelled"]], ["cache.fill"])
        if shutil.which("pdftotext"):
            self.run_it("render", "--pdf", *files, "-o", "r.pdf", "--db", ":memory:")
            page = subprocess.run(["pdftotext", "-l", "1", os.path.join(self.folder, "r.pdf"), "-"], capture_output=True, check=True).stdout.decode()
            self.assertNotIn("(SATURATING)", page)
            self.assertIn("GROWING", page)

    def test_growth_over_many_stacks_is_shown_by_function(self):
        """Not twenty rows of 1 KiB and "[105 001 others]"."""
        draw = random.Random(7)
        stacks = [["alloc.site%d" % (i % 40), "svc.handle%d" % (i // 40 % 50), "svc.part%d" % (i // 2000), "svc.loop", "main.main"] for i in range(12000)]
        sizes = [draw.randrange(1, 64) * 1024 for _ in stacks]
        a = self.heap("a.pb.gz", list(zip(sizes, stacks)))
        b = self.heap("b.pb.gz", [(size + 1024, stack) for size, stack in zip(sizes, stacks)])
        text = self.run_it("diff", a, b, "--db", ":memory:")[0]
        self.assertIn("By function", text)
        self.assertNotIn("others]", text)
        row = re.search(r"^ *(\S+ \S+) +\S+ \S+ +-> +\S+ \S+ +(\d+) % +svc\.part0\b", text.replace("→", "->"), re.MULTILINE)
        self.assertIsNotNone(row, text)
        self.assertEqual((row.group(1), row.group(2)), ("+1.95 MiB", "17"))
        everything = self.run_it("diff", a, b, "--db", ":memory:", "-n", "0")[0]
        self.assertNotIn("By function", everything)

    @staticmethod
    def listing(rows):
        lines = ["[ Top %d ]" % len(rows)]
        lines += ["/srv/app/%s:%d: size=%d KiB, count=%d, average=%d B" % (file, line, size, count, size * 1024 // count) for file, line, size, count in rows]
        return "\n".join(lines) + "\n"

    def test_what_a_list_left_out_at_first_is_judged_in_a_series(self):
        """Not "STEP" for a table beside a leak that only the first list leaves out."""
        files = []
        for i in range(14):
            rows = [("cache.py", 10, 900 if i < 6 else 1300, 900), ("rows.py", 20, 500, 500), ("text.py", 30, 300, 300)]
            rows += [("leak.py", 40, 320 + 90 * (i - 2), 100 + i)] if i >= 2 else [("boot.py", 50, 310, 10)]
            files.append(self.write("list.%04d.txt" % i, self.listing(sorted(rows, key=lambda row: -row[2]))))
        story = self.story(*files)
        self.assertEqual((story["headline"]["verdict"], functions(story)[0]), ("GROWING", "app/leak.py:40"))
        self.assertEqual(story["culprits"][0]["growth"], 90 * 11 * 1024)

    def test_what_a_list_left_out_before_is_named(self):
        """Not "2 culprits hold 100 % of the growth" where the largest stack was on no list before."""
        listing = self.listing
        a = self.write("a.txt", listing([("cache.py", 10, 900, 900), ("rows.py", 20, 500, 500), ("text.py", 30, 300, 300)]))
        b = self.write("b.txt", listing([("leak.py", 40, 5000, 5000), ("cache.py", 10, 950, 950), ("rows.py", 20, 500, 500)]))
        first = self.run_it("diff", a, b, "--db", ":memory:")[0].split("\n\n")[0]
        self.assertIn("leak.py:40: 4.88 MiB at the end; not listed before, so not judged", re.sub(r"\s+", " ", first))

    def test_an_object_graph_is_told_by_what_types_keep_alive(self):
        """Not "(string) +206 KiB (81 %)", without a word of the registry that holds the sessions."""
        files = []
        for sessions in (20, 420):
            graph = V8Graph()
            root, roots, glob = graph.node("synthetic", "", 1, 0), graph.node("synthetic", "(GC roots)", 3, 0), graph.node("object", "global", 5, 56)
            registry, table = graph.node("object", "Map", 7, 32), graph.node("array", "", 9, 16 + 8 * sessions)
            graph.link(root, roots, 0)
            graph.link(roots, glob, 0)
            graph.link(glob, registry, "registry")
            graph.link(registry, table, "table")
            for i in range(sessions):
                session, body = graph.node("object", "Session", 1001 + 4 * i, 40), graph.node("string", "x%d" % i, 1003 + 4 * i, 500)
                graph.link(table, session, i)
                graph.link(session, body, "body")
            files.append(self.write("heap%d.heapsnapshot" % sessions, graph.json()))
        story = self.story(*files)
        self.assertEqual((functions(story), story["culprits"][0]["type"]), (["global.registry (Map)"], "Session"))
        first = self.run_it("diff", *files, "--db", ":memory:")[0].split("\n\n")[0]
        # 400 sessions with a string each: 400 * (40 + 500) bytes.
        self.assertRegex(first, r"growth +global\.registry \(Map\) +\+211 KiB +\d+ % +keeps 400 more Session")
        self.run_it("postmortem", *files, "-o", "out", "--db", ":memory:")
        with open(os.path.join(self.folder, "out", "report.html"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r"global\.registry \(Map\)")

    def test_a_growing_type_that_nothing_holds_is_named(self):
        """Not "culprits none: growth is spread" beside a row of 100 % that is GROWING."""
        files = []
        for step in range(10):
            dump = Hprof()
            for name in ("java.lang.Object", "java.lang.Class", "[B"):
                dump.load(name, (0, 0))
            kept = [dump.instance(dump.load("com.acme.Kept", (4, 4)), (0, 0, 0, 0), 4) for _ in range(200)]
            for _ in range(500 + 100 * step):
                dump.instance(dump.load("com.acme.Lost", (4, 20)), (0, 0, 0, 0), 20)
            dump.load("com.acme.Registry", (0, 0), statics=[("ALL", dump.objects(dump.load("[Ljava.lang.Object;", (0, 0)), kept))])
            files.append(self.write("heap.%02d.hprof" % step, dump.finish()))
        story = self.story(*files)
        self.assertEqual(functions(story), ["com.acme.Lost"])
        self.assertEqual(story["culprits"][0]["verdict"], "GROWING")

    def test_dead_space_of_a_collector_is_no_culprit_of_a_histogram(self):
        """Not "GROWING FillerElement[] 100 %" for what fills gaps between objects."""
        head = " num     #instances         #bytes  class name (module)\n" + "-" * 55 + "\n"
        files = [self.write("hist.%02d.txt" % step, head +
                            "   1:%15d%15d  [Ljdk.internal.vm.FillerElement; (java.base@21)\n" % (5, 300000 + 90000 * step) +
                            "   2:%15d%15d  com.acme.Order\n" % (1000 + 50 * step, 24000 + 1200 * step) +
                            "Total%13d%15d\n" % (1005 + 50 * step, 324000 + 91200 * step)) for step in range(8)]
        document = json.loads(self.run_it("trend", *files, "--as", "json")[0])
        self.assertEqual(functions(document["story"]), ["com.acme.Order"])
        self.assertIn("dead space of the collector", [row["stack"][0]["function"] for row in document["rows"]])


if __name__ == "__main__":
    unittest.main()

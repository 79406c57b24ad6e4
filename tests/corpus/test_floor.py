"""The small corpus: building it twice gives the same bytes, every case is read, the score stays above its floor."""
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from lib import cases, heap, names, scoring, shapes  # noqa: E402


def digest(folder):
    out = hashlib.sha256()
    for root, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            with open(os.path.join(root, name), "rb") as file:
                out.update(name.encode() + b"\0" + file.read())
    return out.hexdigest()


def figure(figures, path):
    for key in path.split("."):
        figures = figures[key]
    return figures["share"] if isinstance(figures, dict) else len(figures) if isinstance(figures, list) else figures


class Floor(unittest.TestCase):
    def test_score_of_the_small_corpus(self):
        with open(os.path.join(HERE, "floor.json"), encoding="utf-8") as file:
            floor = json.load(file)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, os.path.join(HERE, "build"), "--small", "--no-real", "--seed", str(floor["seed"]), "--out", folder],
                           check=True, stdout=subprocess.DEVNULL)
            done = subprocess.run([sys.executable, os.path.join(HERE, "score"), "--snapdiff", os.environ["SNAPDIFF"], folder, "--as", "json"],
                                  check=True, capture_output=True)
        figures = json.loads(done.stdout)
        self.assertEqual(figures["errors"], [], "cases that the program could not read")
        for path, least in floor["at_least"].items():
            self.assertGreaterEqual(round(figure(figures, path), 4), least, path)
        for path, most in floor["at_most"].items():
            self.assertLessEqual(round(figure(figures, path), 4), most, path)


class Builder(unittest.TestCase):
    def test_the_same_seed_gives_the_same_bytes(self):
        plans = cases.plans(3, "small")
        chosen = [plan for i, plan in enumerate(plans) if i % 6 == 0 and plan.format not in ("v8", "hprof", "tracemalloc")]
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b, tempfile.TemporaryDirectory() as c:
            for folder, seed in ((a, 3), (b, 3), (c, 4)):
                for plan in chosen:
                    cases.write_case(folder, seed, plan)
            self.assertEqual(digest(a), digest(b))
            self.assertNotEqual(digest(a), digest(c))

    def test_survivors_keep_their_samples(self):
        import random
        site = heap.Site((), [heap.Cohort(0, 1024, 200_000)], "constant")
        counts = [sum(c.values()) for c in heap.Recorded(site, 12, 524288, random.Random(1)).live]
        self.assertEqual(len(set(counts)), 1)  # nobody came or went, so no value moves
        self.assertTrue(300 < counts[0] < 490, counts)  # 200 000 x (1 - exp(-1/512)) = 390, sd 20

    def test_levels_become_cohorts_with_these_levels(self):
        import random
        for name, shape in {**shapes.LEAKS, **shapes.HARMLESS}.items():
            levels, turnover = shape(random.Random(name), 20)
            levels = [max(0, round(100 * level)) for level in levels]
            cohorts = heap.cohorts_of_levels(levels, 8, turnover, random.Random(2))
            live = [sum(c.count for c in cohorts if c.born <= t and (c.dies is None or c.dies > t)) for t in range(20)]
            self.assertEqual(live, levels, name)

    def test_every_format_and_number_of_snapshots_is_planned(self):
        plans = cases.plans(1, "normal")
        self.assertGreaterEqual(sum(p.leaks > 0 and p.n >= 8 for p in plans), 60)
        self.assertGreaterEqual(sum(p.leaks == 0 for p in plans), 200)
        self.assertEqual({p.format for p in plans if p.leaks}, set(cases.FORMATS))
        self.assertEqual({p.n for p in plans if p.leaks}, {2, 3, 5, 8, 12, 16, 20, 30})


class Matching(unittest.TestCase):
    def truth(self, name, file="", **more):
        return {"family": "stacks", "by_line": False, "culprits": [{"accepted": [{"name": name, "file": file, "lines": [7]}]}], **more}

    def named(self, function, truth, file="", line=None):
        return names.culprit_of(function, file, line, truth) is not None

    def test_what_printers_add_is_taken_off(self):
        for truth, spelled in (("app::Pool<app::Tile, 64>::acquire()", "app::Pool::acquire"), ("load_tile(char const*, int)", "load_tile"),
                               ("github.com/acme/svc/cache.(*Store).Put", "cache.(*Store).Put"), ("main.build.func1", "main.build.func1"),
                               ("svc::order::build::{{closure}}", "svc::order::build::{{closure}}"), ("int app::f<int>(int)", "app::f")):
            self.assertTrue(self.named(spelled, self.truth(truth)), spelled)

    def test_another_function_is_wrong(self):
        for truth, spelled in (("app::Tile::load()", "app::Tile::store"), ("app::Tile::load()", "load"), ("main.build.func1", "main.build"),
                               ("main.(*Store).Put", "main.(*Store).Get"), ("cache.(*Store).Put", "queue.(*Store).Put"), ("main", "<module>")):
            self.assertFalse(self.named(spelled, self.truth(truth)), spelled)

    def test_files_must_agree_where_both_are_known(self):
        truth = self.truth("put", "/srv/app/orders/put.py")
        self.assertTrue(self.named("put", truth, "orders/put.py"))
        self.assertTrue(self.named("put", truth, "put.py"))
        self.assertTrue(self.named("put", truth))
        self.assertFalse(self.named("put", truth, "tiles/put.py"))

    def test_lines_decide_where_there_are_no_functions(self):
        truth = self.truth("put", "/srv/app/orders/put.py", by_line=True)
        self.assertTrue(self.named("orders/put.py:7", truth, "/srv/app/orders/put.py", 7))
        self.assertTrue(self.named("orders/put.py:7", truth))
        self.assertFalse(self.named("orders/put.py:8", truth, "/srv/app/orders/put.py", 8))

    def test_types_by_their_source_names(self):
        for truth, spelled in (("[B", "byte[]"), ("[Ljava.lang.Object;", "java.lang.Object[]"), ("onclose (closure)", "onclose")):
            self.assertTrue(self.named(spelled, self.truth(truth, family="types")), spelled)
        self.assertFalse(self.named("Session", self.truth("SessionStore", family="types")))

    def test_wilson_interval(self):
        low, high = scoring.wilson(8, 10)
        self.assertAlmostEqual(low, 0.4902, 3)
        self.assertAlmostEqual(high, 0.9433, 3)


if __name__ == "__main__":
    unittest.main()

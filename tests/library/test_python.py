#!/usr/bin/env python3
"""The Python package, with the standard library alone; pyarrow and pandas where they are installed.

SNAPDIFF_LIBRARY is the library, PYTHONPATH has analyzer/python."""
import ctypes
import gc
import gzip
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

import snapdiff

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SERIES = os.path.join(ROOT, "examples", "go-queue")
FILES = [os.path.join(SERIES, f"heap.{i:03}.pb.gz") for i in range(1, 13)]
SVC = os.path.join(ROOT, "examples", "tcmalloc-svc")


def has(module):
    return importlib.util.find_spec(module) is not None


class Answers(unittest.TestCase):
    def test_comparison(self):
        d = snapdiff.compare(FILES[0], FILES[-1])
        first = d.culprits[0]
        # The leak that examples/go-queue plants.
        self.assertEqual((first.name, first.place, first.growth, first.objects_growth), ("main.leakBacklog", "main.go:33", 6072064, 22000))
        self.assertEqual(first.verdict, None)
        self.assertEqual(d.verdict, "")
        self.assertIn("8 snapshots", d.no_verdict)
        self.assertEqual((d.metric, d.unit, d.after - d.before), ("inuse_space", "bytes", d.growth))
        self.assertAlmostEqual(sum(d.matched.values()), 1)
        self.assertIn("main.leakBacklog", repr(d))

    def test_rows_add_up_and_say_where(self):
        for answer in (snapdiff.compare(FILES[0], FILES[-1]), snapdiff.compare(FILES[0], FILES[-1], focus="main", by="function"),
                       snapdiff.series(SERIES), snapdiff.series(SVC)):
            rows = answer.rows.to_list()
            self.assertEqual(sum(row["growth"] for row in rows), answer.growth)
            self.assertEqual(sum(row["before"] for row in rows), answer.before)
            self.assertEqual(sum(row["objects_growth"] or 0 for row in rows), answer.objects_growth)
            self.assertEqual(len(rows), len(answer.rows))
        row = snapdiff.compare(FILES[0], FILES[-1]).rows.to_list(1)[0]
        self.assertEqual((row["name"], row["line"], row["growth"], row["class"]), ("main.newBody", 28, 5632000, "grew"))
        self.assertEqual(row["stack"][:2], ["main.newBody", "main.leakBacklog"])

    def test_rows_are_those_of_json(self):
        for options in ({}, {"by": "module"}, {"frames": "all"}, {"hide": "newBody"}):
            d = snapdiff.compare(FILES[0], FILES[-1], **options)
            expected = d.json()["rows"]
            rows = d.rows.to_list()
            for row, other in zip(rows, expected):
                self.assertEqual((row["before"], row["after"], row["growth"]), tuple(other[k] for k in ("baseline", "current", "growth")))
                if "frames" in other:
                    names = [frame.get("function") or row["stack"][i] for i, frame in enumerate(other["frames"])]
                    self.assertEqual(row["stack"], names)

    def test_series(self):
        s = snapdiff.series(SERIES, limit=1 << 30)
        self.assertEqual(s.verdict, "GROWING")
        names = [one.name for one in s.culprits]
        self.assertEqual(names[:2], ["main.leakBacklog", "main.leakIndex"])
        self.assertTrue(all(one.slope_low <= one.slope <= one.slope_high and len(one.values) == 12 for one in s.culprits))
        self.assertEqual([len(row["values"]) for row in s.rows.to_list(3)], [12, 12, 12])
        trend = s.trend.to_dict()
        self.assertEqual((len(trend["total"]), trend["total"][-1]), (12, s.after))
        self.assertEqual(sum(trend["growth"]), s.growth)
        self.assertEqual(s.rows.to_list(1)[0]["verdict"], "GROWING")

    def test_gate(self):
        s = snapdiff.series(SERIES)
        failed = s.gate(["total:5%"])
        self.assertEqual((bool(failed), failed.result, failed.broken[0]["budget"]), (False, "failed", "total:5%"))
        self.assertTrue(s.gate(["total:10GiB"]))
        self.assertEqual(snapdiff.open(FILES[0], FILES[-1]).gate(["culprit:1KiB/step"]).result, "unjudged")

    def test_report_and_notebook(self):
        s = snapdiff.series(SERIES)
        with tempfile.TemporaryDirectory() as folder:
            names = s.report(os.path.join(folder, "incident"))
            self.assertLessEqual({"report.html", "report.json", "report.md"}, set(names))
            with open(os.path.join(folder, "incident", "report.json"), encoding="utf-8") as file:
                self.assertIn("leakBacklog", file.read())
        page = s._repr_html_()
        self.assertIn("<svg", page)
        self.assertIn("main.leakBacklog", page)
        self.assertNotIn("http", page)
        self.assertTrue(s.draw("html").startswith(b"<!"))

    def test_store(self):
        with tempfile.TemporaryDirectory() as folder:
            store = os.path.join(folder, "s.db")
            ids = snapdiff.open(*FILES[:2], store=store).record()
            again = snapdiff.compare(f"@{ids[0]}", f"@{ids[1]}", store=store)
            self.assertEqual(again.growth, snapdiff.compare(*FILES[:2]).growth)


class Failures(unittest.TestCase):
    def test_fields(self):
        with self.assertRaises(snapdiff.InputOutputError) as caught:
            snapdiff.compare("/nowhere/a.heap", FILES[0])
        self.assertIn("/nowhere/a.heap", caught.exception.subject)
        self.assertEqual(caught.exception.code, "input/output")
        with tempfile.TemporaryDirectory() as folder:
            cut = os.path.join(folder, "cut.pb.gz")
            with open(FILES[0], "rb") as file, open(cut, "wb") as out:
                out.write(gzip.decompress(file.read()) + b"\x0a")
            with self.assertRaises(snapdiff.MalformedError) as caught:
                snapdiff.compare(cut, FILES[0])
            failure = caught.exception
            self.assertEqual((failure.subject, failure.offset, failure.expected), (cut, os.path.getsize(cut), "a profile field"))
        with self.assertRaises(snapdiff.UsageError) as caught:
            snapdiff.series(*FILES[:2])
        self.assertEqual((caught.exception.found, caught.exception.expected), ("2", "at least 3"))
        with self.assertRaisesRegex(ValueError, "did you mean focus"):
            snapdiff.compare(*FILES[:2], focsu="x")
        with self.assertRaisesRegex(ValueError, "expected .*stack, function"):
            snapdiff.compare(*FILES[:2], by="functoin")

    def test_names_are_utf8_and_printable(self):
        with tempfile.TemporaryDirectory() as folder:
            names = b"heap profile:    1:  %d [   1:  %d] @ heap_v2/1\n   1: %d [  1: %d] @ 0x10\n\nMAPPED_LIBRARIES:\n00000000-00001000 r-xp 00000000 00:00 0 /x\xff\x1b[31m\n"
            paths = []
            for i in (1, 2):
                paths.append(os.path.join(folder, f"{i}.heap"))
                with open(paths[-1], "wb") as file:
                    file.write(names % ((i * 100000,) * 4))
            row = snapdiff.compare(*paths).rows.to_list(1)[0]
            self.assertIn("\\xff\\x1b[31m", row["module"])

    def test_names_beyond_two_bytes(self):
        """Numbers of texts have two bytes up to 32 767 names and four beyond."""
        with tempfile.TemporaryDirectory() as folder:
            for count in (100, 33000):
                paths = [os.path.join(folder, f"{count}.{i}.folded") for i in (1, 2)]
                for i, path in enumerate(paths):
                    with open(path, "w", encoding="ascii") as file:
                        file.writelines(f"main;work_{n} {4096 + n * i}\n" for n in range(count))
                rows = snapdiff.compare(*paths).rows.to_list()
                self.assertEqual({row["stack"][0]: row["growth"] for row in rows}, {f"work_{n}": n for n in range(count)})
                self.assertEqual({row["stack"][1] for row in rows}, {"main"})

    def test_null_is_refused(self):
        native = snapdiff._native
        error = native._Error()
        for function, arguments in (("snapdiff_compare", (None, None, None)), ("snapdiff_table", (None, b"rows", None)),
                                    ("snapdiff_json", (None, None)), ("snapdiff_report", (None, None, None, None))):
            code = getattr(native._library, function)(*arguments, ctypes.byref(error))
            self.assertEqual(code, 6, function)
            self.assertIn(b"NULL", error.message)
            native._library.snapdiff_error_clear(ctypes.byref(error))
        native._library.snapdiff_snapshots_free(None)
        self.assertEqual(native._library.snapdiff_text(None, b"unit"), None)


class Memory(unittest.TestCase):
    def resident(self):
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_calls_leak_nothing(self):
        opened = snapdiff.open(FILES[0], FILES[-1])

        def once():
            d = opened.compare()
            d.rows.to_list(3), d.culprits, d.rows.__arrow_c_stream__()
            try:
                opened.compare(focus="(")
            except snapdiff.UsageError:
                pass
        for _ in range(50):
            once()
        gc.collect()
        before = self.resident()
        for _ in range(150):
            once()
        gc.collect()
        self.assertLess(self.resident() - before, 4 << 20)
        self.assertEqual(snapdiff._tables._streams, {})

    def test_threads(self):
        growth = []
        threads = [threading.Thread(target=lambda: growth.append(snapdiff.compare(FILES[0], FILES[-1]).growth)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(set(growth)), 1)
        self.assertEqual(len(growth), 4)


class Others(unittest.TestCase):
    @unittest.skipUnless(has("pyarrow"), "skipped: pyarrow is not installed")
    def test_pyarrow(self):
        import pyarrow
        table = pyarrow.table(snapdiff.series(SERIES).rows)
        table.validate(full=True)
        self.assertEqual(table.to_pylist(), snapdiff.series(SERIES).rows.to_list())

    @unittest.skipUnless(has("pandas"), "skipped: pandas is not installed")
    def test_pandas(self):
        d = snapdiff.compare(FILES[0], FILES[-1])
        frame = d.rows.to_pandas()
        self.assertEqual(int(frame["growth"].sum()), d.growth)
        self.assertEqual(list(frame["stack"].iloc[0]), d.rows.to_list(1)[0]["stack"])
        growth = d.growth
        del d
        own = frame.copy()
        own.loc[0, "growth"] = 0  # numbers of `frame` belong to the answer
        self.assertEqual(int(frame["growth"].sum()), growth)

    def test_tracemalloc(self):
        kept = []
        with tempfile.TemporaryDirectory() as folder:
            with snapdiff.capture.tracemalloc(folder) as snapshots:
                for _ in range(9):
                    kept.append(bytearray(20_000))
                    snapshots.take()
            culprit = snapdiff.series(folder).culprits[0]
        self.assertEqual((culprit.verdict, os.path.basename(culprit.file)), ("GROWING", os.path.basename(__file__)))

    @unittest.skipUnless(has("pytest"), "skipped: pytest is not installed")
    def test_pytest_plugin(self):
        suite = '''import pytest
KEPT = []
@pytest.mark.no_growth
def test_leak(): KEPT.append(bytearray(1024))
@pytest.mark.no_growth(budget="10KiB/round")
def test_within(): KEPT.append(bytearray(1024))
@pytest.mark.no_growth(rounds=8, warmup=1)
def test_harmless(): bytearray(100000)
def test_fixture(memory_growth): memory_growth(lambda: KEPT.append([0] * 500))
'''
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test_suite.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(suite)
            done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "snapdiff.pytest_plugin", "-p", "no:cacheprovider", path],
                                  capture_output=True, text=True, check=False, cwd=folder)
        self.assertIn("2 failed, 2 passed", done.stdout, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"GROWING  \S*test_suite.py:4  \+1\.\d+ KiB a round\n +def test_leak")

    def test_readme(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            block = re.search(r"```python\n(import snapdiff\n.*?)```", file.read(), re.DOTALL)[1]
        code = [line.split("  # ")[0] for line in block.splitlines() if "to_pandas" not in line]
        output = [line.split("  # ")[1] for line in block.splitlines() if line.startswith("print(")]
        done = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=True, cwd=ROOT)
        self.assertEqual(done.stdout.splitlines(), output)

    def test_annotations_parse(self):
        for name in ("compare", "series", "open"):
            self.assertTrue(getattr(snapdiff, name).__doc__)
        self.assertEqual(json.loads(json.dumps(snapdiff.version())), snapdiff.version())


if __name__ == "__main__":
    unittest.main()

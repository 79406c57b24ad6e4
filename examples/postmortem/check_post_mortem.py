#!/usr/bin/env python3
"""Runs post-mortem.sh the ways it will be run. check_post_mortem.py SNAPDIFF SCRIPT SERIES"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SNAPDIFF, SCRIPT, SERIES = (os.path.abspath(argument) for argument in sys.argv[1:4])


class PostMortem(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.dumps = os.path.join(self.folder, "dumps")
        os.mkdir(self.dumps)

    def keep(self, number, name=None):
        """Puts dump `number` of the series into the folder of dumps."""
        shutil.copy(os.path.join(SERIES, f"svc.{number:04}.heap"), os.path.join(self.dumps, name or f"svc.{number:04}.heap"))

    def run_script(self, *arguments):
        return subprocess.run(["sh", "-eu", SCRIPT, *arguments], capture_output=True, text=True, cwd=self.folder,
                              env=dict(os.environ, SNAPDIFF=SNAPDIFF, LC_ALL="C.UTF-8"), timeout=120, check=False)

    def result(self, name, out="post-mortem"):
        path = os.path.join(self.folder, out, name)
        with open(path, "rb") as file:
            return file.read()

    def test_folder_gives_every_result(self):
        for number in range(1, 13):
            self.keep(number)
        done = self.run_script("dumps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith(self.result("growth.txt").decode()))
        self.assertIn(b"<!doctype html", self.result("report.html")[:200].lower())
        self.assertTrue(self.result("report.md").startswith(b"### In-use bytes grew"))
        self.assertEqual(self.result("report.pdf")[:5], b"%PDF-")
        self.assertEqual(self.result("snapdiff.db")[:15], b"SQLite format 3")
        report = json.loads(self.result("report.json"))
        self.assertEqual(report["diff"]["total"]["growth"], 7047568 - 1064912)
        self.assertEqual(len(report["trend"]["snapshots"]), 12)

    def test_order_is_the_number_not_the_time(self):
        for number in (1, 2, 10):
            self.keep(number, f"svc.{number if number != 10 else 10000}.heap")
        os.utime(os.path.join(self.dumps, "svc.1.heap"))
        done = self.run_script("dumps")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(self.result("report.json"))
        self.assertEqual(report["diff"]["total"]["baseline"], 1064912)
        self.assertEqual(report["diff"]["total"]["current"], 6004496)

    def test_dump_cut_by_the_crash_is_left_out(self):
        self.keep(1)
        self.keep(2)
        with open(os.path.join(self.dumps, "svc.0003.heap"), "w", encoding="ascii") as file:
            file.write("heap pro")
        done = self.run_script("-o", "report", "dumps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out", done.stderr)
        self.assertEqual(json.loads(self.result("report.json", "report"))["diff"]["total"]["growth"], 537920)

    def test_only_the_process_that_died(self):
        self.keep(1, "svc_41.0001.heap")
        self.keep(2, "svc_42.0001.heap")
        self.keep(3, "svc_42.0002.heap")
        done = self.run_script("-p", "42", "dumps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(self.result("report.json"))["diff"]["total"]["growth"], 4748608)

    def test_one_dump_shows_its_stacks(self):
        self.keep(12)
        done = self.run_script("dumps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(self.result("report.json"))["total"], 7047568)

    def test_no_dump_is_exit_1_and_writes_nothing(self):
        done = self.run_script("dumps")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "post-mortem")))

    def test_wrong_usage_is_exit_2(self):
        self.assertEqual(self.run_script().returncode, 2)
        self.assertEqual(self.run_script("-x").returncode, 2)
        self.assertEqual(self.run_script("not-there").returncode, 2)

    def test_again_gives_the_same(self):
        self.keep(1)
        self.keep(2)
        self.run_script("dumps")
        first = self.result("report.json"), self.result("report.pdf")
        done = self.run_script("dumps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(first, (self.result("report.json"), self.result("report.pdf")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

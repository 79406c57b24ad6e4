"""Small things that a person expects, each once seen otherwise."""
import collections
import json
import os
import re
import subprocess
import sys
import unittest

from heaps import EXAMPLES, SCHEMAS, SOURCE, CliTest

CUDA = os.path.join(SOURCE, "tests", "data", "torch_cuda", "flexgen-oom-history.pickle")
GO = [os.path.join(EXAMPLES, "go-queue", "heap.%03d.pb.gz" % i) for i in range(1, 13)]


class Expected(CliTest):
    def test_first_of_a_cuda_trace(self):
        first = json.loads(self.run_it("top", CUDA + "@first", "--as", "json")[0])
        start = json.loads(self.run_it("top", CUDA + "@0", "--as", "json")[0])
        self.assertEqual((first["total"], first["rows"]), (start["total"], start["rows"]))

    def test_info_says_each_counter_once(self):
        out, _ = self.run_it("info", CUDA)
        counters = re.findall(r"^  counter +(\S+) = ", out, re.MULTILINE)
        self.assertIn("reserved", counters)
        self.assertEqual([name for name in counters if name.startswith("device")], [])
        self.assertEqual(len(counters), len(set(counters)))

    def validated(self, schema, text):
        self.write("x.json", text)
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests/unit/analyzer/report/validate_json.py"),
                               os.path.join(SCHEMAS, schema), os.path.join(self.folder, "x.json")],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_info_and_list_follow_their_schemas(self):
        self.validated("info.schema.json", self.run_it("info", CUDA, "--as", "json")[0])
        self.validated("info.schema.json", self.run_it("info", CUDA, *GO[:2], "--as", "json")[0])
        self.run_it("import", CUDA, *GO)
        self.validated("list.schema.json", self.run_it("list", "--as", "json")[0])

    def test_the_ending_of_a_picture_is_one_that_can_be_drawn(self):
        self.assertIn("found the ending .jpg, expected .pdf, .svg, .png, .dot or .html",
                      self.refused("render", *GO[:2], "-o", "x.jpg"))
        self.assertFalse(self.exists("x.jpg"))
        self.run_it("render", *GO[:2], "--dot", "-o", "x.gv")
        self.run_it("render", *GO[:2], "-o", "x.PDF".lower())

    def test_a_legend_has_no_name_twice(self):
        self.run_it("render", "--timeline", "--svg", "-o", "t.svg", CUDA)
        with open(os.path.join(self.folder, "t.svg"), encoding="utf-8") as file:
            texts = [re.sub("<[^>]*>", "", text) for text in re.findall(r"<text[^>]*>(.*?)</text>", file.read(), re.DOTALL)]
        names = collections.Counter(text for text in texts if text.startswith("init_weight_list"))
        self.assertGreaterEqual(len(names), 3)
        self.assertLessEqual(max(names.values()), 2, names)  # beside the chart and in the table

    def test_a_store_that_was_made_is_named(self):
        _, err = self.run_it(*GO[:2])
        self.assertEqual(err.splitlines()[-1], "created snapdiff.db: stored as @1, @2")
        _, err = self.run_it(*GO[:2])
        self.assertNotIn("snapdiff.db", err)
        _, err = self.run_it(*GO[:2], "--db", ":memory:")
        self.assertEqual(err, "")


if __name__ == "__main__":
    unittest.main()

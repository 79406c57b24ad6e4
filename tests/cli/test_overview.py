"""All series of a folder or a store in one table."""
import base64
import csv
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from heaps import EXAMPLES, GROW, KEEP, MAIN, SCHEMAS, SOURCE, CliTest, tcmalloc

SCHEMA = os.path.join(SCHEMAS, "overview.schema.json")
VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")


class Overview(CliTest):
    def series(self, name, values):
        """A folder with one heap for each number of KiB."""
        os.mkdir(os.path.join(self.folder, name))
        for number, value in enumerate(values, 1):
            self.write("%s/%s.%04d.heap" % (name, os.path.basename(name), number), tcmalloc([(value, value * 1024, [GROW, MAIN]), (5, 50_000, [KEEP, MAIN])]))

    def services(self):
        self.series("flat", [100] * 10)
        self.series("leaking", range(100, 1100, 100))
        self.series("worse", range(1000, 11000, 1000))
        self.series("pair", [100, 200])
        self.series("single", [100])
        os.mkdir(os.path.join(self.folder, "empty"))
        self.write("empty/notes.txt", "nothing")
        shutil.copytree(os.path.join(EXAMPLES, "go-queue"), os.path.join(self.folder, "queue"))

    def test_folders_in_folders(self):
        os.makedirs(os.path.join(self.folder, "a", "b", "c", "d"))
        for name in ("a", "a/b", "a/b/c", "a/b/c/d"):
            self.series(name + "/x", [100, 200])
        os.symlink("..", os.path.join(self.folder, "a", "up"))
        self.assertEqual([row["name"] for row in self.rows(".")], ["a/b/x", "a/x"])

    def rows(self, *arguments):
        text, _ = self.run_it("overview", *arguments, "--as", "json")
        self.write("overview.json", text)
        subprocess.run([sys.executable, VALIDATE, SCHEMA, os.path.join(self.folder, "overview.json")], check=True, capture_output=True)
        return json.loads(text)["series"]

    def test_the_gravest_first(self):
        self.services()
        rows = self.rows(".")
        self.assertEqual([row["name"] for row in rows], ["worse", "queue", "leaking", "pair", "single", "flat"] if rows[-1]["name"] == "flat" else
                         ["worse", "queue", "leaking", "flat", "pair", "single"])
        by_name = {row["name"]: row for row in rows}
        self.assertEqual([by_name[name]["verdict"] for name in ("worse", "queue", "leaking")], ["GROWING"] * 3)
        self.assertEqual((by_name["queue"]["culprit"], by_name["queue"]["place"]), ("main.leakBacklog", "main.go:33"))
        self.assertEqual((by_name["worse"]["growth"], by_name["worse"]["slope"]), (9000 * 1024, 1000 * 1024))
        self.assertEqual(by_name["worse"]["values"], [value * 1024 + 50_000 for value in range(1000, 11000, 1000)])
        self.assertEqual(by_name["single"]["note"], "one snapshot")
        self.assertEqual(by_name["pair"]["growth"], 100 * 1024)

    def test_the_same_answer_as_trend(self):
        self.series("leaking", range(100, 1100, 100))
        trend = json.loads(self.run_it("trend", "leaking", "--as", "json")[0])
        row = self.rows(".")[0]
        self.assertEqual((row["growth"], row["verdict"], row["slope"]), (trend["total"]["growth"], trend["story"]["culprits"][0]["verdict"], trend["total"]["slope"]))

    def test_text_and_the_time_to_a_limit(self):
        self.services()
        text, _ = self.run_it("overview", ".", "--limit", "20MiB", env={"COLUMNS": "150"})
        lines = text.splitlines()
        self.assertEqual(lines[0], "6 series, 3 GROWING")
        self.assertRegex(lines[2], r"^series +verdict +total +growth +rate +to limit +over time +first culprit$")
        self.assertRegex(lines[3], r"^worse +GROWING +9\.81 MiB +\+8\.79 MiB +\+0\.98 MiB a snapshot +10 snapshots +[▁-█]{10} +service\+0x1200")
        self.assertRegex(text, r"(?m)^queue +GROWING .* main\.leakBacklog  main\.go:33  \+\S+ MiB 69 %$")
        self.assertRegex(text, r"(?m)^single .*\(one snapshot\)$")

    def test_files_of_each_form(self):
        self.services()
        self.run_it("overview", ".", "-o", "all.csv")
        with open(os.path.join(self.folder, "all.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(io.StringIO(file.read())))
        self.assertEqual((rows[0]["series"], rows[0]["growth"]), ("worse", str(9000 * 1024)))
        self.assertIn("| worse | GROWING |", self.run_it("overview", ".", "--as", "md")[0])
        self.assertIn("no pictures", self.refused("overview", ".", "-o", "x.pdf"))

    def test_a_page(self):
        self.services()
        self.series("<b>x", range(100, 1100, 100))
        self.run_it("overview", ".", "--limit", "20MiB", "-o", "all.html")
        with open(os.path.join(self.folder, "all.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("<h1>7\u00a0series, 4 GROWING</h1>", page)
        names = re.findall(r'<tr><td><a href="#s\d+">([^<]*)</a>', page)
        self.assertEqual(names[:2], ["worse", "queue"])
        self.assertIn("&lt;b&gt;x", names)
        self.assertEqual(page.count('<section class="one"'), 7)
        self.assertIn("<code>main.leakBacklog</code>", page)
        self.assertIn("20.0\u00a0MiB", page)
        style = re.search(r"<style>(.*?)</style>", page, re.S)[1].encode()
        self.assertIn("style-src 'sha256-%s'" % base64.b64encode(hashlib.sha256(style).digest()).decode(), page)
        self.assertNotRegex(page, r"<script|style=|https?://")
        self.assertTrue(self.run_it("overview", ".", "--open")[0].endswith(".html\n"))

    def test_of_a_store(self):
        self.series("leaking", range(100, 1100, 100))
        self.series("flat", [100] * 10)
        self.run_it("import", "leaking", "--db", "s.db")
        self.run_it("import", "flat", "--db", "s.db")
        stored = self.rows("--db", "s.db")
        self.assertEqual([(row["name"], row["snapshots"]) for row in stored], [("leaking", 10), ("flat", 10)])
        self.assertEqual(stored, self.rows("s.db"))
        folder = self.rows(".")
        self.assertEqual([row["growth"] for row in stored], [row["growth"] for row in folder])

    def test_damage_and_nothing(self):
        self.series("good", range(100, 1100, 100))
        os.mkdir(os.path.join(self.folder, "bad"))
        with open(os.path.join(EXAMPLES, "go-queue", "heap.001.pb.gz"), "rb") as file:
            self.write("bad/x.pb.gz", file.read()[:300])
        rows = self.rows(".")
        self.assertEqual([row["name"] for row in rows], ["good", "bad"])
        self.assertIn("x.pb.gz", rows[1]["note"])
        os.mkdir(os.path.join(self.folder, "nothing"))
        self.assertIn("no heap snapshot", self.refused("overview", "nothing"))
        self.assertIn("one store or folder", self.refused("overview", "good", "bad"))
        self.refused("overview", "no-such.db")


if __name__ == "__main__":
    unittest.main()

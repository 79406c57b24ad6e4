"""Object graphs: retained, paths, render --retained."""
import csv
import io
import json
import os
import subprocess
import sys
import unittest

from heaps import SCHEMAS, SOURCE, CliTest

VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")
MAKE_V8 = os.path.join(SOURCE, "tests", "bench", "make_v8.py")


class Objects(CliTest):
    def v8(self, name, sessions):
        """A V8 snapshot of so many sessions, and what is in it."""
        made = subprocess.run([sys.executable, MAKE_V8, os.path.join(self.folder, name), "0", "--sessions", str(sessions)],
                              capture_output=True, text=True, check=True)
        return json.loads(made.stdout)

    def series(self, *counts):
        truth = [self.v8(f"{step}.heapsnapshot", count) for step, count in enumerate(counts)]
        return [f"{step}.heapsnapshot" for step in range(len(counts))], truth

    def json(self, *arguments):
        return json.loads(self.run_it(*arguments, "--db", ":memory:", "--as", "json")[0])

    def valid(self, schema, document):
        name = self.write("valid.json", json.dumps(document))
        done = subprocess.run([sys.executable, VALIDATE, os.path.join(SCHEMAS, schema + ".schema.json"), os.path.join(self.folder, name)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_types_have_their_retained_sizes(self):
        files, truth = self.series(10, 30)
        report = self.json("retained", *files, "-n", "0")
        self.valid("retained", report)
        rows = {(row["type"], row["kind"]): row for row in report["rows"]}
        for step, truth_of in enumerate(truth):
            registry = rows[("Registry", "object")]["at"][step]
            self.assertEqual(registry["retained"]["bytes"], truth_of["retained"]["Registry"])
            session = rows[("Session", "object")]["at"][step]
            self.assertEqual([session["self"]["objects"], session["self"]["bytes"]], truth_of["types"]["Session"])
            self.assertEqual(rows[("Config", "object")]["at"][step]["retained"]["bytes"], truth_of["retained"]["Config"])
            heap = report["heaps"][step]
            self.assertEqual(heap["reachable"]["objects"] + heap["unreachable"]["objects"], truth_of["nodes"])
            self.assertEqual(heap["detached"]["objects"], truth_of["detached"])
        self.assertEqual(report["rows"][0]["at"][1]["retained"]["bytes"] - report["rows"][0]["at"][0]["retained"]["bytes"],
                         truth[1]["retained"]["Registry"] - truth[0]["retained"]["Registry"])

    def test_text_and_csv_say_the_same(self):
        files, truth = self.series(10, 30)
        text = self.run_it("retained", *files, "--db", ":memory:")[0]
        self.assertIn("Registry", text)
        self.assertIn("TOTAL", text)
        table = self.run_it("retained", *files, "--db", ":memory:", "--as", "csv", "--sort", "name")[0]
        rows = list(csv.DictReader(io.StringIO(table)))
        [session] = [row for row in rows if row["type"] == "Session" and row["kind"] == "object"]
        self.assertEqual((session["baseline_objects"], session["current_objects"], session["growth_objects"]), ("10", "30", "20"))
        self.assertEqual([row["type"] for row in rows], sorted(row["type"] for row in rows))
        alone = self.run_it("retained", files[0], "--db", ":memory:", "-n", "3")[0]
        self.assertNotIn("growth", alone)

    def test_the_path_of_what_grows_is_told(self):
        files, truth = self.series(10, 30, 50)
        report = self.json("paths", "^Session$", *files, "--loops", "20")
        self.valid("paths", report)
        self.assertEqual([sums["objects"] for sums in report["total"]], [10, 30, 50])
        [place] = [p for p in report["growing"] if any(h["step"]["type"] == "Session" for h in p["held"])]
        labels = [step["label"] for step in place["path"]]
        self.assertEqual(labels[-2:], ["registry", "sessions"])
        self.assertEqual(place["share"]["exclusive_bytes"], truth[2]["retained"]["(array)"])
        self.assertEqual(report["rows"][0]["growing"], report["growing"].index(place))
        text = self.run_it("paths", "^Session$", *files, "--db", ":memory:")[0]
        self.assertIn("global.registry", text)
        self.assertIn("[x]", text)

    def test_pictures_of_one_heap_and_of_growth(self):
        files, _ = self.series(10, 30)
        for form, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG"), ("dot", b"digraph")):
            for some in (files[:1], files):
                self.run_it("render", "--retained", "--" + form, *some, "--db", ":memory:", "-o", "out." + form)
                with open(os.path.join(self.folder, "out." + form), "rb") as file:
                    self.assertTrue(file.read().startswith(start), form)
        with open(os.path.join(self.folder, "out.dot"), encoding="utf-8") as file:
            dot = file.read()
        self.assertIn("Registry", dot)
        self.assertIn("Session", dot)
        self.run_it("render", "--retained", "--dot", *files, "--db", ":memory:", "-o", "again.dot")
        with open(os.path.join(self.folder, "again.dot"), encoding="utf-8") as file:
            self.assertEqual(file.read(), dot)

    def test_what_has_no_graph_is_refused(self):
        files, _ = self.series(3, 5)
        from heaps import AFTER
        self.write("plain.heap", AFTER)
        for words in (["retained", "plain.heap"], ["paths", "x", "plain.heap"], ["render", "--retained", "plain.heap"]):
            _, said = self.run_it(*words, "--db", ":memory:", code=2)
            self.assertIn("no references between objects", said)
        self.run_it("import", files[0], "--db", "s.db")
        _, said = self.run_it("retained", "@1", "--db", "s.db", code=2)
        self.assertIn("the store keeps none", said)

    def test_wrong_words_are_told(self):
        files, _ = self.series(3)
        for words, expected in ((["retained"], "one file or more"), (["paths", "Session"], "a pattern and one file"),
                                (["paths", "(", files[0]], "RE2"), (["retained", files[0], "--as", "md"], "text, json or csv"),
                                (["paths", "x", files[0], "--as", "csv"], "text or json"),
                                (["render", "--retained", "--pins", files[0]], "one or the other")):
            _, said = self.run_it(*words, "--db", ":memory:", code=2)
            self.assertIn(expected, said)

    def test_the_owner_is_the_culprit_everywhere(self):
        """One culprit for one growing container, by its name: not a line for each of Session, (string) and (array)."""
        files, _ = self.series(10, 300)
        diff = self.json("diff", *files)
        self.valid("diff", diff)
        [culprit] = diff["story"]["culprits"]
        self.assertRegex(culprit["name"], r"registry|Registry")
        self.assertEqual(culprit["type"], "Session")
        retained = self.json("retained", *files)
        self.valid("retained", retained)
        self.assertEqual(retained["owners"][0]["holder"], culprit["name"])
        self.assertEqual(retained["owners"][0]["growth"], culprit["growth"])
        self.assertIn(culprit["name"], self.run_it("retained", *files, "--db", ":memory:")[0])
        self.run_it("postmortem", *files, "-o", "out", "--db", ":memory:")
        with open(os.path.join(self.folder, "out", "report.md"), encoding="utf-8") as file:
            self.assertIn(culprit["name"].split(" ")[0], file.read())

    def test_one_dump_alone_has_a_report(self):
        files, truth = self.series(300)
        text = self.run_it(files[0], "--db", ":memory:")[0]
        self.assertRegex(text, r"keeps .*Session")
        self.run_it("postmortem", files[0], "-o", "out", "--db", ":memory:")
        with open(os.path.join(self.folder, "out", "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertIn("in use", json.dumps(report))

    def ruby(self, name, orders):
        """A dump of Ruby in which Audit.LOG holds so many orders; the table of the tracer is larger than they are."""
        lines = [{"type": "ROOT", "root": "vm", "references": ["0x1", "0x2", "0x3", "0x4", "0x5"]},
                 {"address": "0x1", "type": "CLASS", "class": "0x4", "name": "Audit", "references": ["0x10"], "memsize": 568, "file": "leak.rb", "line": 5},
                 {"address": "0x2", "type": "CLASS", "class": "0x4", "name": "Order", "memsize": 504},
                 {"address": "0x3", "type": "CLASS", "class": "0x4", "name": "Array", "memsize": 4000},
                 {"address": "0x4", "type": "CLASS", "name": "Class", "memsize": 4000},
                 {"address": "0x5", "type": "DATA", "struct": "ObjectTracing/allocation_info_tracer", "memsize": 600 * orders},
                 {"address": "0x10", "type": "ARRAY", "class": "0x3", "references": [hex(0x100 + n) for n in range(orders)], "memsize": 40}]
        lines += [{"address": hex(0x100 + n), "type": "OBJECT", "class": "0x2", "memsize": 400, "file": "leak.rb", "line": 5, "method": "new"}
                  for n in range(orders)]
        return self.write(name, "\n".join(map(json.dumps, lines)) + "\n")

    def test_holders_of_ruby_are_classes_of_the_program(self):
        for name, orders in (("1.json", 100), ("2.json", 400)):
            self.ruby(name, orders)
        text = self.run_it("1.json", "2.json", "--db", ":memory:")[0]
        first = [line for line in text.splitlines() if line.startswith("growth")][0]
        self.assertRegex(first, r"^growth +Audit \(Array\) .*keeps 300 more Order")


if __name__ == "__main__":
    unittest.main()

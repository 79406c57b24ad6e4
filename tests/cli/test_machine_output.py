"""JSON, JSON Lines and CSV as programs read them: numbers are numbers, a line is a value, no two rows are alike."""
import csv
import io
import json
import os
import re
import unittest

from heaps import EXAMPLES, SCHEMAS, SOURCE, CliTest, tcmalloc

GO = [os.path.join(EXAMPLES, "go-queue", "heap.%03d.pb.gz" % i) for i in range(1, 13)]
SVC = [os.path.join(EXAMPLES, "tcmalloc-svc", "svc.%04d.heap" % i) for i in range(1, 13)]
DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
TOP_LIST = "a.py:%d: size=%d KiB, count=%d, average=1 KiB\n"
LEAKS = """
=================================================================
==%d==ERROR: LeakSanitizer: detected memory leaks

Direct leak of %d byte(s) in 3 object(s) allocated from:
    #0 0x4c4b3d in _Znwm (/srv/app+0x4c4b3d)
    #1 0x4f1234 in _Z3foov (/srv/app+0x4f1234)
    #2 0x4f1300 in main /srv/app.cc:9:3

SUMMARY: AddressSanitizer: %d byte(s) leaked in 3 allocation(s).
"""
MEMLEAK = """[%d] Top 2 stacks with outstanding allocations:
%d bytes in %d allocations from stack
\t0 [<000055d000001200>] _Znwm
\t1 [<000055d000001300>] _Z3foov
\t2 [<000055d000001400>] main
"""


class Machine(CliTest):
    def samples(self):
        """{name: two or more operands}; each in a form of its own."""
        self.write("one.log", "".join("step %d rss: %d MB vms: %d MB\n" % (i, 100 + i, 200 + 2 * i) for i in range(3)))
        self.write("steps.log", "".join("step %d rss: %d MB vms: %d MB\n" % (i, 100 + i, 200 + 2 * i) for i in range(12)))
        self.write("t1.txt", "[ Top 3 ]\n" + "".join(TOP_LIST % (i, 50 - i, 50 - i) for i in (1, 2, 3)))
        self.write("t2.txt", "[ Top 3 ]\n" + "".join(TOP_LIST % (i, 90 - i, 90 - i) for i in (1, 2, 7)))
        self.write("t3.txt", "[ Top 3 ]\n" + "".join(TOP_LIST % (i, 190 - i, 190 - i) for i in (1, 7, 9)))
        self.write("l1.txt", LEAKS % (7, 300, 300))
        self.write("l2.txt", LEAKS % (7, 900, 900))
        self.write("l3.txt", LEAKS % (7, 1900, 1900))
        return {"go": GO, "tcmalloc": SVC, "log": ["steps.log"], "short log": ["one.log"], "top lists": ["t1.txt", "t2.txt", "t3.txt"],
                "leaks": ["l1.txt", "l2.txt", "l3.txt"]}

    def lines(self, *arguments, codes=(0,)):
        done = self.run_any(*arguments, "--db", ":memory:")
        self.assertIn(done.returncode, codes, done.stderr.decode())
        out = done.stdout.decode()
        self.assertTrue(out.endswith("\n"))
        values = [json.loads(line) for line in out.splitlines()]
        self.assertTrue(all(isinstance(value, dict) for value in values), arguments)
        return values

    def object(self, *arguments, codes=(0,)):
        done = self.run_any(*arguments, "--as", "json", "--db", ":memory:")
        self.assertIn(done.returncode, codes, done.stderr.decode())
        return json.loads(done.stdout)

    def test_json_lines_hold_one_value_a_line_and_every_row_once(self):
        for name, files in self.samples().items():
            commands = {"trend": (["trend", *files], "rows"), "info": (["info", files[-1]], None), "top": (["top", files[-1]], "rows"),
                        "diff": (files, "rows"), "gate": (["gate", *files], "findings")}
            if len(files) > 1:
                commands["pair"] = ([files[0], files[-1]], "rows")
                commands["steps"] = (["--steps", *files], None)
            if "log" not in name:
                commands["by"] = ([*files, "--by", "function"], "rows")
                commands["peek"] = (["peek", ".", files[0], files[-1]], "functions")
                commands["export"] = (["export", "--jsonl", files[0], files[-1]], None)
            for command, (arguments, key) in commands.items():
                if "log" in name and command == "gate":
                    continue  # a log has no rows
                with self.subTest(sample=name, command=command):
                    codes = (0, 1, 2) if command == "gate" else (0,)
                    form = [] if command == "export" else ["--as", "jsonl"]
                    values = self.lines(*arguments, *form, codes=codes)
                    self.assertIn("schema", values[0])
                    if key is None:
                        continue
                    whole = self.object(*arguments, codes=codes)
                    whole = whole.get("overall", whole)
                    self.assertEqual(values[1:], whole[key])

    def test_forms_that_a_command_does_not_have_are_refused(self):
        for arguments in (["formats", "--as", "jsonl"], ["list", "--as", "csv"], ["info", "--as", "csv", GO[0]], ["pins", "--as", "jsonl", GO[0]],
                          ["ranks", "--as", "csv", GO[0]], ["retained", "--as", "jsonl", GO[0]], ["paths", "x", GO[0], "--as", "md"]):
            self.assertIn("expected", self.refused(*arguments))

    def test_sql_gives_json_numbers(self):
        self.run_it(*self.pair())
        query = "SELECT 7 AS i, -2.5 AS r, 1e999 AS huge, 'x' AS t, '7' AS digits, NULL AS n, x'0aff' AS b, 9223372036854775807 AS most"
        expected = {"i": 7, "r": -2.5, "huge": "Inf", "t": "x", "digits": "7", "n": None, "b": "x'0aff'", "most": 9223372036854775807}
        self.assertEqual(json.loads(self.run_it("sql", "--as", "json", query)[0]), [expected])
        self.assertEqual(json.loads(self.run_it("sql", "--as", "jsonl", query)[0]), expected)
        self.assertEqual(json.loads(self.run_it("sql", "--as", "json", "SELECT 1 WHERE 0")[0]), [])
        rows = list(csv.DictReader(io.StringIO(self.run_it("sql", "--as", "csv", query)[0])))
        self.assertEqual([rows[0][key] for key in ("i", "r", "t", "n", "most")], ["7", "-2.5", "x", "", "9223372036854775807"])

    def test_csv_names_file_line_and_module(self):
        for arguments in (["diff", GO[0], GO[11]], ["trend", *GO], ["top", GO[11]], [*GO], ["export", "--csv", GO[0], GO[11]]):
            with self.subTest(arguments[0]):
                form = [] if arguments[0] == "export" else ["--as", "csv"]
                text = self.run_it(*arguments, *form, "--db", ":memory:")[0]
                rows = list(csv.DictReader(io.StringIO(text)))
                self.assertTrue(all(None not in row and None not in row.values() for row in rows), "as many fields as columns")
                stacks = [row for row in rows if not row["stack"].startswith("[")]
                self.assertEqual(len({(row["stack"], row["places"]) for row in stacks}), len(stacks))
                leaf = [row for row in stacks if row["stack"].startswith("main.newBody;main.leakBacklog")]
                self.assertEqual({(os.path.basename(row["file"]), row["line"]) for row in leaf}, {("main.go", "28")})
        a = self.write("a.heap", tcmalloc([(1, 100, [0x1200, 0x1100])]))
        b = self.write("b.heap", tcmalloc([(9, 900, [0x1200, 0x1100])]))
        rows = list(csv.DictReader(io.StringIO(self.run_it(a, b, "--as", "csv", "--db", ":memory:")[0])))
        self.assertEqual((rows[0]["file"], rows[0]["line"], rows[0]["module"]), ("", "", "/srv/bin/service"))

    def test_digits_are_grouped_on_a_terminal_alone(self):
        out, _ = self.run_it(GO[0], GO[11], "--db", ":memory:")
        self.assertIn("+33742", out)
        self.assertNotRegex(out, r"\d \d{3}\b")

    def test_linker_names_are_readable_in_every_format(self):
        self.samples()
        self.write("m1.txt", MEMLEAK % (1, 100, 1))
        self.write("m2.txt", MEMLEAK % (1, 900, 9))
        for files in (["l1.txt", "l2.txt"], ["m1.txt", "m2.txt"]):
            with self.subTest(files[0]):
                def functions(*more):
                    done, _ = self.run_it(*files, "--as", "json", "--db", ":memory:", *more)
                    return [frame["function"] for frame in json.loads(done)["rows"][0]["stack"]]
                self.assertEqual(functions(), ["foo()", "main"])
                self.assertEqual(functions("--allocator-frames", "show"), ["operator new(unsigned long)", "foo()", "main"])
                self.assertEqual(functions("--demangle", "simple"), ["foo", "main"])
                self.assertEqual(functions("--demangle", "none")[:2], ["_Znwm", "_Z3foov"])

    def test_a_column_of_csv_holds_the_field_of_its_name(self):
        for command in (["diff", *GO[::11]], ["diff", *GO], ["diff", "--by", "function", *GO[::11]], ["trend", *GO], ["trend", "--by", "file", *SVC],
                        ["top", GO[5]], ["top", "--by", "function", GO[5]]):
            with self.subTest(command[:3]):
                records = list(csv.DictReader(io.StringIO(self.run_it(*command, "--as", "csv", "--db", ":memory:")[0])))
                rows = json.loads(self.run_it(*command, "--as", "json", "--db", ":memory:")[0])
                rows = rows.get("overall", rows)["rows"]
                self.assertGreater(len(rows), 1)
                alike = 0
                for record, row in zip(records, rows):
                    for name, shown in record.items():
                        value = row.get(name)
                        if name in row and not isinstance(value, (list, dict)):
                            alike += 1
                            same = shown.lstrip("'") == ("" if value is None else value) if not isinstance(value, (int, float)) else float(shown) == value
                            self.assertTrue(same, (name, shown, value))
                self.assertGreater(alike, 2 * len(rows))

    def test_the_schemas_are_whole(self):
        # A schema written by hand would not be installed: documents are described in *.txt.
        described = os.listdir(os.path.join(SOURCE, "analyzer", "report", "schema"))
        self.assertEqual([name for name in described if name.endswith(".json")], [])
        names = sorted(os.listdir(SCHEMAS))
        self.assertIn("diff.line.schema.json", names)
        for name in names:
            with open(os.path.join(SCHEMAS, name), encoding="utf-8") as file:
                text = file.read()
            schema = json.loads(text)
            self.assertEqual(schema["$id"], "urn:snapdiff:%s:1" % name[:-len(".schema.json")])
            self.assertEqual(set(re.findall(r'"#/\$defs/(\w+)"', text)), set(schema["$defs"]), name)


if __name__ == "__main__":
    unittest.main()

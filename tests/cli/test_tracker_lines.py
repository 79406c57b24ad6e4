"""The native tracker format on the command line: a file is a series, and info --validate."""
import gzip
import json
import unittest

from heaps import BEFORE, CliTest

HEADER = '{"k":"header","format":"snapdiff-tracker","version":1,"producer":"test"}\n'


def step(number, jobs, rows=2):
    return (f'{{"k":"snapshot","id":"step-{number}","seq":{number}}}\n'
            f'{{"k":"live","type":"Job","bytes":{jobs * 56},"count":{jobs}}}\n'
            f'{{"k":"live","stack":["make (app.py:7)","main"],"bytes":4096,"count":1}}\n'
            f'{{"k":"end","id":"step-{number}","rows":{rows}}}\n')


SERIES = HEADER + "".join(step(number, 25 * (number + 1)) for number in range(4))


class TrackerLines(CliTest):
    def test_one_file_is_a_series(self):
        self.write("types.sdt.jsonl", SERIES)
        report = json.loads(self.run_it("types.sdt.jsonl", "--as", "json")[0])
        self.assertEqual(len(report["steps"]), 3)
        self.assertEqual(report["overall"]["total"]["growth"], 75 * 56)

    def test_two_moments_of_one_file(self):
        self.write("types.sdt.jsonl", SERIES)
        report = json.loads(self.run_it("types.sdt.jsonl@1", "types.sdt.jsonl@last", "--by", "type", "--as", "json")[0])
        [row] = [row for row in report["rows"] if row["key"] == "Job"]
        self.assertEqual(row["growth"], 75 * 56)

    def test_compressed_and_from_standard_input(self):
        self.write("types.gz", gzip.compress(SERIES.encode(), mtime=0))
        out, _ = self.run_it("info", "types.gz")
        self.assertIn("snapdiff-tracker, version 1, gzip", out)
        self.assertIn("types.gz: valid, 4 snapshots\n", self.run_it("info", "--validate", "types.gz")[0])

    def test_formats_lists_it(self):
        self.assertIn("snapdiff-tracker", self.run_it("formats")[0])

    def test_a_valid_file_is_valid(self):
        self.write("good.sdt.jsonl", SERIES)
        self.assertEqual(self.run_it("info", "--validate", "good.sdt.jsonl")[0], "good.sdt.jsonl: valid, 4 snapshots\n")

    def test_violations_are_named_by_line_and_rule(self):
        bad = SERIES.replace('"count":25}', '"count":-25}').replace('"rows":2}', '"rows":7}', 1) + '{"k":"live","type":"T","count":1}\n{"k":'
        self.write("bad.sdt.jsonl", bad)
        out, _ = self.run_it("info", "--validate", "bad.sdt.jsonl", code=2)
        self.assertEqual(out.splitlines(), [
            "bad.sdt.jsonl:3: rule 7: live: count is not what is expected: found -25, expected an integer from 0 to 2^63-1",
            "bad.sdt.jsonl:5: rule 6: snapshot dropped: row count differs from the end record: found 1, expected 7",
            "bad.sdt.jsonl:18: rule 1: live outside a snapshot",
            "bad.sdt.jsonl:19: rule 6: the last line is not whole and is dropped: invalid JSON",
            "bad.sdt.jsonl: not valid, 4 violations, 3 snapshots"])

    def test_remarks_do_not_make_a_file_invalid(self):
        self.write("odd.sdt.jsonl", SERIES.replace('"count":25}', '"count":25,"colour":"red"}'))
        out, _ = self.run_it("info", "--validate", "odd.sdt.jsonl")
        self.assertEqual(out.splitlines(), ["odd.sdt.jsonl:3: warning: rule 2: live: unknown key colour ignored",
                                            "odd.sdt.jsonl: valid, 4 snapshots, 1 remark"])

    def test_other_formats_are_read_whole(self):
        self.write("a.heap", BEFORE)
        self.assertEqual(self.run_it("info", "--validate", "a.heap")[0], "a.heap: valid, 1 snapshot\n")
        self.write("cut.heap", BEFORE[: BEFORE.index("MAPPED") - 30])
        self.run_it("info", "--validate", "cut.heap", code=2)

    def test_what_cannot_be_read_is_refused(self):
        self.write("later.sdt.jsonl", HEADER.replace('"version":1', '"version":3'))
        self.assertIn("written for version 3, this build reads 1", self.refused("info", "--validate", "later.sdt.jsonl"))
        self.refused("info", "--validate", "missing.sdt.jsonl")
        self.refused("info", "--validate", "--as", "json", "later.sdt.jsonl")

    def test_strict_stops_at_the_first_bad_line(self):
        self.write("bad.sdt.jsonl", SERIES.replace('"count":25}', '"count":"25"}'))
        self.run_it("info", "bad.sdt.jsonl")
        line = self.refused("info", "--strict", "bad.sdt.jsonl")
        self.assertIn("line 3 (rule 7): live: count is not what is expected", line)
        self.refused("import", "--strict", "bad.sdt.jsonl")
        self.assertFalse(self.exists("snapdiff.db"))

    def test_import_keeps_the_series(self):
        self.write("types.sdt.jsonl", SERIES)
        self.run_it("import", "types.sdt.jsonl")
        listed = json.loads(self.run_it("list", "--as", "json")[0])
        self.assertEqual(len(listed["series"][0]["snapshots"]), 4)
        report = json.loads(self.run_it("diff", "@1", "@4", "--as", "json")[0])
        self.assertEqual(report["total"]["growth"], 75 * 56)


if __name__ == "__main__":
    unittest.main()

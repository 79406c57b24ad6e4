"""Each result says the same in each form: what JSON holds is in CSV, text, Markdown, the HTML page and the PDF."""
import csv
import html
import io
import json
import os
import re
import shutil
import subprocess
import unittest

from heaps import EXAMPLES, CliTest

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
GO = [os.path.join(EXAMPLES, "go-queue", "heap.%03d.pb.gz" % i) for i in range(1, 13)]
SVC = [os.path.join(EXAMPLES, "tcmalloc-svc", "svc.%04d.heap" % i) for i in range(1, 13)]
V8 = [os.path.join(DATA, "v8", "series.%03d.heapprofile" % i) for i in (1, 2)]
SPACES = re.compile("[\\s\u00a0\u2009\u202f]+")


def three_digits(value, unit):
    """value / unit, rounded half up to three digits."""
    for decimals in (2, 1, 0):
        number = (value * 10 ** decimals * 2 + unit) // (unit * 2)
        if number < 1000 or decimals == 0:
            digits = str(number).rjust(decimals + 1, "0")
            return digits[:len(digits) - decimals] + "." + digits[len(digits) - decimals:] if decimals else digits


def amount(value, unit, sign=False):
    """A number as people read it; without blanks, since each form has its own."""
    if value is None:
        return ""
    size, index = abs(value), 0
    text = str(size)
    if unit == "bytes":
        while index < 6 and (size >= 1000 if index == 0 else size * 2 >= 1024 ** index * 1999):
            index += 1
        text = (str(size) if index == 0 else three_digits(size, 1024 ** index)) + ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[index]
    return ("-" if value < 0 else "+" if value > 0 and sign else "") + text


def bare(text):
    return SPACES.sub("", text).replace("\u2212", "-")


def growth_cells(row, unit):
    """In the order of the columns of text and Markdown; the objects where the result has them."""
    objects = [amount(row["growth_objects"], "count", True)] if row.get("growth_objects") is not None else []
    return [amount(row["growth"], unit, True), amount(row["baseline"], unit), amount(row["current"], unit)] + objects


def trend_cells(row, unit):
    slope = [] if row["minor"] or row["slope"] is None else [amount(round(row["slope"]), unit, True)]
    return [amount(row["growth"], unit, True)] + slope + ([row["verdict"]] if row["verdict"] else [])


def top_cells(row, unit):
    return [amount(row.get("value", row.get("flat")), unit)] + ([amount(row["objects"], "count")] if row.get("objects") is not None else [])


def counter_cells(row, _):
    unit = row["unit"]
    return [amount(row["growth"], unit, True), amount(row["baseline"], unit), amount(row["current"], unit), row["verdict"] or "", row["name"]]


def gate_cells(row, unit):
    return [row["budget"], amount(round(row["measured"]), unit, True), row["id"]]


class SameCells(CliTest):
    def forms(self, *arguments, codes=(0,)):
        """{form: what it prints}."""
        out = {}
        for form in ("json", "csv", "text", "md"):
            done = self.run_any(*arguments, "--as", form, "--db", ":memory:", env={"COLUMNS": "200"})
            self.assertIn(done.returncode, codes, done.stderr.decode())
            out[form] = done.stdout.decode()
        whole = json.loads(out["json"])
        out["json"] = whole.get("overall", whole)
        return out

    def check_csv(self, text, rows):
        """The first lines are the rows; fields of one name hold one value."""
        lines = list(csv.DictReader(io.StringIO(text)))
        self.assertGreaterEqual(len(lines), len(rows))
        names = {"stack": "name"} if "budget" in lines[0] else {}
        held = {key for key, value in rows[0].items() if not isinstance(value, (list, dict))}
        self.assertLessEqual(held, {names.get(column, column) for column in lines[0]})
        for line, row in zip(lines, rows):
            for column, cell in line.items():
                key = names.get(column, column)
                if not isinstance(row.get(key, []), (list, dict)):
                    self.check_field(cell, row[key], column)
                elif column.startswith("value_"):
                    self.check_field(cell, row["values"][int(column[6:]) - 1], column)
                elif column == "stack" and isinstance(row.get("stack"), list):
                    frames = cell.split(";")
                    self.assertEqual(len(frames), len(row["stack"]))
                    for frame, field in zip(frames, row["stack"]):
                        self.assertIn(field["function"] or "+0x", frame)
                elif column in ("file", "line") and row.get("stack") and isinstance(row["stack"], list):
                    self.check_field(cell, row["stack"][0][column], column)

    def check_field(self, cell, value, column):
        if value is None:
            self.assertEqual(cell, "", column)
        elif isinstance(value, bool):
            self.assertEqual(cell, str(int(value)), column)
        elif isinstance(value, (int, float)):
            self.assertAlmostEqual(float(cell), value, delta=abs(value) * 1e-12, msg=column)
        else:
            self.assertEqual(cell.removeprefix("'"), value, column)

    def check_lines(self, lines, rows, cells, unit):
        """Each row has a line, in the same order, that holds its cells in their order."""
        lines = [bare(line) for line in lines]
        at = 0
        for row in rows:
            wanted = re.compile(".*".join(re.escape(cell) for cell in cells(row, unit)))
            while at < len(lines) and not wanted.search(lines[at]):
                at += 1
            self.assertLess(at, len(lines), "no line with %s" % cells(row, unit))
            at += 1

    def check(self, forms, cells, key="rows", shown=lambda row: True):
        rows = forms["json"][key]
        self.assertTrue(rows)
        self.check_csv(forms["csv"], rows)
        unit = forms["json"].get("unit", "")
        shown_rows = [row for row in rows if shown(row)]
        self.check_lines(forms["text"].splitlines(), shown_rows, cells, unit)
        table = [line for line in forms["md"].splitlines() if line.startswith("| ")]
        self.check_lines([line.replace("\\", "") for line in table], shown_rows, cells, unit)
        return shown_rows, unit

    def changed(self, row):
        return row["class"] != "same"

    def test_growth(self):
        for name, files in {"go": GO, "tcmalloc": SVC, "v8": V8}.items():
            for more in ([], ["--by", "function"], ["--steps"]):
                for operands in ([files[0], files[-1]], files):
                    with self.subTest(sample=name, options=more, snapshots=len(operands)):
                        if more == ["--steps"] and len(operands) == 2:
                            continue
                        forms = self.forms("diff", *operands, *more, "-n", "0")
                        cells = growth_cells if len(operands) == 2 else lambda row, unit: growth_cells(row, unit)[:1]
                        self.check(forms, cells, shown=self.changed)

    def test_trend(self):
        for name, files in {"go": GO, "tcmalloc": SVC}.items():
            with self.subTest(sample=name):
                self.check(self.forms("trend", *files, "-n", "0"), trend_cells, shown=lambda row: row["growth"] != 0)

    def test_top(self):
        for name, files in {"go": GO, "tcmalloc": SVC, "v8": V8}.items():
            for more in ([], ["--by", "function"]):
                with self.subTest(sample=name, options=more):
                    self.check(self.forms("top", files[-1], *more, "-n", "0"), top_cells)

    def test_counters(self):
        self.write("steps.log", "".join("step %d rss: %d MB vms: %d MB\n" % (i, 100 + i, 200 + 2 * i) for i in range(12)))
        self.check(self.forms("diff", "steps.log", "-n", "0"), counter_cells)

    def test_gate(self):
        self.check(self.forms("gate", GO[0], GO[11], codes=(1,)), gate_cells, key="findings")

    def test_peek(self):
        forms = self.forms("peek", "main.leakBacklog", GO[0], GO[11])
        lines = {(line["relation"], line["other"]): line for line in csv.DictReader(io.StringIO(forms["csv"]))}
        function = forms["json"]["functions"][0]
        sides = [("flat", "", function["flat"]), ("cum", "", function["cum"])]
        sides += [("caller", row["function"], row) for row in function["callers"]]
        sides += [("callee", row["function"], row) for row in function["callees"]]
        self.assertEqual(len(lines), len(sides))
        for relation, other, side in sides:
            for column in ("baseline", "current", "growth"):
                self.assertEqual(int(lines[relation, other][column]), side[column])
            for form in ("text", "md"):
                wanted = re.compile(".*".join(re.escape(cell) for cell in growth_cells({**side, "growth_objects": None}, "bytes") + [other]))
                self.assertTrue(any(wanted.search(bare(line)) for line in forms[form].splitlines()), (form, relation))

    def test_the_page(self):
        rows = [row for row in self.forms("diff", GO[0], GO[11])["json"]["rows"] if self.changed(row)]
        self.run_it("render", "--html", GO[0], GO[11], "-o", "page.html", "--db", ":memory:")
        with open(os.path.join(self.folder, "page.html"), encoding="utf-8") as file:
            lines = [html.unescape(re.sub("<[^>]*>", " ", line)) for line in file if line.startswith('<tr><td><span class="leaf">')]
        self.check_lines(lines, rows, growth_cells, "bytes")

    @unittest.skipUnless(shutil.which("pdftotext"), "skipped: pdftotext is not installed")
    def test_the_document(self):
        rows = [row for row in self.forms("diff", GO[0], GO[11])["json"]["rows"] if self.changed(row)]
        done = self.run_any("render", "--pdf", GO[0], GO[11], "-o", "out.pdf", "--db", ":memory:")
        if done.returncode != 0 and b"libsnapdiff_draw" in done.stderr:
            self.skipTest("skipped: the drawing module is not built")
        text = subprocess.run(["pdftotext", "-layout", os.path.join(self.folder, "out.pdf"), "-"], capture_output=True, check=True).stdout.decode()
        cells = lambda row, unit: [amount(row["growth"], unit, True)]
        self.check_lines(text.splitlines(), [row for row in rows if row["growth"] >= 1 << 20], cells, "bytes")


if __name__ == "__main__":
    unittest.main()

"""Flame graphs and timelines of heaps: what came and what went, as PDF, SVG and PNG."""
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as ET

from heaps import EXAMPLES, INUSE, CliTest, pprof

SVG = "{http://www.w3.org/2000/svg}"
KIB = 1024


def profile(rows):
    """rows: {"root;...;leaf": bytes}."""
    return pprof(INUSE, [(stack.split(";")[::-1], [1, size]) for stack, size in rows.items()])


BEFORE = {"main;serve;parse": 10 * KIB, "main;serve": 4 * KIB, "main;load;read": 40 * KIB, "main;idle": 8 * KIB}
AFTER = {"main;serve;parse": 90 * KIB, "main;serve": 4 * KIB, "main;idle": 8 * KIB, "main;fresh;fill": 30 * KIB}


class Box:
    def __init__(self, group):
        self.title = group.find(SVG + "title").text
        self.name = self.title.split("\n")[0]
        self.texts = [text.text for text in group.iter(SVG + "text")]
        self.hatched = group.find(SVG + "clipPath") is not None or any(True for _ in group.iter(SVG + "clipPath"))
        xs, ys = [], []
        for path in group.findall(SVG + "path"):
            if path.get("fill") != "none":
                numbers = [float(n) for n in re.findall(r"-?[\d.]+", path.get("d"))]
                xs, ys = xs + numbers[0::2], ys + numbers[1::2]
        self.left, self.right, self.top = min(xs), max(xs), min(ys)

    def width(self):
        return self.right - self.left


class Flame(CliTest):
    def two(self):
        return self.write("a.pb.gz", profile(BEFORE)), self.write("b.pb.gz", profile(AFTER))

    def svg(self, *arguments):
        """The same bytes each time; well-formed."""
        out = self.run_it("render", *arguments, "--svg", "-o", "-", "--db", ":memory:", text=False)[0]
        self.assertEqual(out, self.run_it("render", *arguments, "--svg", "-o", "-", "--db", ":memory:", text=False)[0])
        return ET.fromstring(out.decode())

    def boxes(self, *arguments):
        root = self.svg(*arguments)
        return [Box(group) for group in root.iter(SVG + "g") if group.find(SVG + "title") is not None]

    def words(self, *arguments):
        return " ".join(text.text for text in self.svg(*arguments).iter(SVG + "text")).replace("\u00a0", " ").replace("\u2009", " ")

    def pdf_text(self, *arguments):
        if shutil.which("pdftotext") is None:
            self.skipTest("pdftotext is not installed")
        self.run_it("render", *arguments, "--pdf", "-o", "out.pdf", "--db", ":memory:")
        done = subprocess.run(["pdftotext", "-layout", "out.pdf", "-"], cwd=self.folder, capture_output=True, check=True)
        return done.stdout.decode().replace("\u00a0", " ").replace("\u2009", " ")

    def check_rows(self, boxes):
        """Boxes of a row do not overlap, and each lies below one box of the row above (there is a gap of 0.9 pt)."""
        rows = {}
        for box in boxes:
            rows.setdefault(box.top, []).append(box)
        above = None
        for top in sorted(rows):
            row = sorted(rows[top], key=lambda b: b.left)
            for a, b in zip(row, row[1:]):
                self.assertLessEqual(a.right, b.left + 0.05, (a.title, b.title))
            if above is not None:
                for box in row:
                    self.assertTrue(any(p.left - 0.05 <= box.left and box.right <= p.right + 1.2 for p in above), box.title)
            above = row
        self.assertEqual(len(rows[min(rows)]), 1)
        return rows

    def test_both_sides_are_in_one_picture(self):
        boxes = self.boxes("--flame", *self.two())
        self.check_rows(boxes)
        boxes = {box.name: box for box in boxes}
        self.assertEqual(set(boxes), {"all change", "main", "serve", "parse", "load", "read", "fresh", "fill"})
        everything = 80 + 40 + 30
        whole = boxes["all change"].width()
        for name, kib in (("main", 150), ("serve", 80), ("parse", 80), ("load", 40), ("read", 40), ("fresh", 30), ("fill", 30)):
            self.assertAlmostEqual((boxes[name].width() + 0.9) / (whole + 0.9), kib / everything, delta=0.003, msg=name)
        # Gone is hatched, left of what came.
        self.assertTrue(boxes["read"].hatched and boxes["main"].hatched and boxes["all change"].hatched)
        self.assertFalse(boxes["parse"].hatched or boxes["fill"].hatched)
        self.assertIn("10.0 KiB \u2192 90.0 KiB, +80.0 KiB\ngrew +80.0 KiB, shrank 0 B", boxes["parse"].title.replace("\u00a0", " "))

    def test_each_width_adds_up(self):
        a, b = self.two()
        for width, root, all_kib in ((), "all change", 150), (("--current",), "all after", 132):
            with self.subTest(width):
                boxes = self.boxes("--flame", *width, a, b)
                self.check_rows(boxes)
                boxes = {box.name for box in boxes}
                self.assertIn(root, boxes)
                self.assertEqual("idle" in boxes, width != ())
                self.assertEqual("read" in boxes, width == ())
                self.assertIn("fill", boxes)
                words = self.words("--flame", *width, a, b)
                self.assertIn("= total %d" % all_kib, words)
                self.assertIn("merged 0 B (0 frames)", words)

    def test_pages_say_it_in_words_and_figures(self):
        text = self.pdf_text("--flame", *self.two())
        for part in ("In-use bytes: 110 KiB added, 40.0 KiB freed", "Which parts are new, which are gone?",
                     "a net of +70.0 KiB does not hide 110 KiB that grew", "40.0 KiB that went", "How to read it",
                     "drawn to the end 150 KiB (7 frames) + merged 0 B (0 frames) = total 150 KiB of change",
                     "main \u203a serve \u203a parse", "main \u203a load \u203a read", "a.pb.gz", "b.pb.gz", "inuse_space"):
            self.assertIn(part, text)
        rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
        totals = [row for row in rows if row[0] == "TOTAL"]
        self.assertEqual(totals, [["TOTAL", "+70.0 KiB", "110 KiB", "40.0 KiB"]])

    def test_one_snapshot_has_its_values(self):
        boxes = {box.name: box for box in self.boxes("--flame", self.two()[1])}
        self.assertEqual(set(boxes), {"all", "main", "serve", "parse", "idle", "fresh", "fill"})
        self.assertIn("= total 132 KiB", self.words("--flame", self.two()[1]))
        self.assertIn("In-use bytes: 132 KiB", self.pdf_text("--flame", self.two()[1]))

    def test_the_same_bytes_each_time_in_every_form(self):
        a, b = self.two()
        for form, magic in (("pdf", b"%PDF-1."), ("svg", b"<?xml"), ("png", b"\x89PNG\r\n")):
            outputs = []
            for run in range(2):
                _, err = self.run_it("render", "--flame", a, b, "-o", "out%d.%s" % (run, form), "--db", ":memory:",
                                     env={"SOURCE_DATE_EPOCH": "1700000000"})
                self.assertIn("wrote out%d.%s" % (run, form), err)
                with open(os.path.join(self.folder, "out%d.%s" % (run, form)), "rb") as file:
                    outputs.append(file.read())
            self.assertTrue(outputs[0].startswith(magic))
            self.assertEqual(outputs[0], outputs[1])

    def test_what_was_last_compared_needs_no_operand(self):
        a, b = self.two()
        self.run_it(a, b)
        self.run_it("render", "--flame", "-o", "stored.svg")
        self.run_it("render", "--flame", "@1", "@2", "-o", "named.svg")
        with open(os.path.join(self.folder, "stored.svg")) as stored, open(os.path.join(self.folder, "named.svg")) as named:
            text = stored.read()
            self.assertEqual(text, named.read())
        self.assertTrue("parse" in text)

    def test_nothing_changed_is_said(self):
        a = self.two()[0]
        text = self.pdf_text("--flame", a, a)
        self.assertIn("no change", text)
        self.assertIn("No stack changed", text)

    def test_filters_and_hidden_frames_still_add_up(self):
        a, b = self.two()
        boxes = {box.name for box in self.boxes("--flame", "--focus", "serve", a, b)}
        self.assertTrue({"serve", "parse", "[filtered out]"} <= boxes, boxes)
        self.assertNotIn("load", boxes)
        boxes = {box.name for box in self.boxes("--flame", "--hide", "main|serve", a, b)}
        self.assertNotIn("main", boxes)
        self.assertTrue({"parse", "load"} <= boxes, boxes)

    def test_names_out_of_inputs_stay_texts(self):
        names = ["<script>alert(1)</script>", "a\"b'c&d", "\u202edrowkcab", "tab\tnew\nline\x1b[31m", "x" * 5000, "\u05d0\u05d1\u05d2", "]]>",
                 "name with \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")]
        before = {"main;" + name: 10 * KIB for name in names}
        after = {"main;" + name: 90 * KIB + i for i, name in enumerate(names)}
        a, b = self.write("a.pb.gz", profile(before)), self.write("b<&>.pb.gz", profile(after))
        root = self.svg("--flame", a, b)
        self.assertEqual({element.tag for element in root.iter()} - {SVG + tag for tag in (
            "svg", "title", "style", "rect", "path", "g", "text", "clipPath")}, set())
        titles = " ".join(element.text for element in root.iter(SVG + "title"))
        self.assertTrue("<script>alert(1)</script>" in titles)
        self.assertFalse("\u202e" in titles or "\x1b" in titles)
        self.assertTrue("script" in self.pdf_text("--flame", a, b))

    def test_narrow_boxes_are_merged_and_counted(self):
        before = {"main;worker_%03d;deep" % i: 100 for i in range(400)}
        after = dict(before, **{"main;worker_%03d;deep" % i: 100 + 10 * (i + 1) for i in range(400)})
        after["main;big"] = 400 * KIB
        a, b = self.write("a.pb.gz", profile(before)), self.write("b.pb.gz", profile(after))
        text = self.pdf_text("--flame", a, b)
        self.assertIn("main \u203a +800 frames", text)
        grown = 400 * KIB + sum(10 * (i + 1) for i in range(400))
        self.assertIn("merged %.0f KiB (800 frames) = total %.2f MiB of change" % ((grown - 400 * KIB) / KIB, grown / KIB / KIB), text)

    def test_deep_stacks_fit_a_page_and_nothing_is_lost(self):
        names = ["f%d" % i for i in range(200)]
        # A fork at each level: no run of single callees.
        before = {"main": 1}
        after = {";".join(["main"] + names[:n]): 1000 * KIB for n in range(1, 201)}
        a, b = self.write("a.pb.gz", profile(before)), self.write("b.pb.gz", profile(after))
        text = self.pdf_text("--flame", a, b)
        self.assertRegex(text, r"\+\d+ frames, \+\d+ levels")
        self.assertIn("levels deeper than the page", text)
        drawn, merged = [float(n) for n in re.search(r"drawn to the end ([\d.]+) MiB \(\d+ frames\) \+ merged ([\d.]+) MiB", text).groups()]
        self.assertAlmostEqual(drawn + merged, 200 * 1000 / 1024, delta=1)
        # One chain folds instead.
        a = self.write("c.pb.gz", profile({"main": 1}))
        b = self.write("d.pb.gz", profile({";".join(["main"] + names): 1000 * KIB, "main": 1}))
        text = self.pdf_text("--flame", a, b)
        self.assertIn("frames, one after the other", text)
        self.assertIn("in rows of single callees folded", text)
        self.assertNotIn("deeper than the page", text)

    def test_a_real_series(self):
        heaps = sorted(os.path.join(EXAMPLES, "go-queue", name) for name in os.listdir(os.path.join(EXAMPLES, "go-queue")) if name.endswith(".gz"))
        boxes = self.boxes("--flame", *heaps)
        self.assertTrue(any(box.name == "main.leakBacklog" for box in boxes))
        self.check_rows(boxes)
        total = self.run_it(heaps[0], heaps[-1], "--db", ":memory:", "--as", "csv")[0]
        self.assertTrue(total)
        self.assertIn("first and last of 12 snapshots", self.words("--flame", *heaps))

    def test_what_is_refused(self):
        a, b = self.two()
        self.assertIn("--dot has no flame graph", self.refused("render", "--flame", "--dot", a, b))
        self.assertIn("--flame", self.refused("render", "--current", a, b))
        self.assertIn("expected no other one", self.refused("render", "--flame", "--timeline", a, b))
        self.assertIn("expected no other one", self.refused("render", "--flame", "--retained", a))
        log = self.write("app.log", "".join("step %d rss=%d MB\n" % (i, 100 + i) for i in range(12)))
        self.assertIn("counters alone", self.refused("render", "--flame", log, "--db", ":memory:"))
        self.assertFalse(self.exists("snapdiff.pdf"))


class Timeline(CliTest):
    def series(self, values):
        names = []
        for i, kib in enumerate(values):
            rows = {"main;cache;fill": 100 * KIB, "main;leak": (i + 1) * kib * KIB if kib else 1}
            names.append(self.write("heap.%03d.pb.gz" % i, profile(rows)))
        return names

    def text(self, *arguments):
        if shutil.which("pdftotext") is None:
            self.skipTest("pdftotext is not installed")
        self.run_it("render", "--timeline", *arguments, "-o", "out.pdf", "--db", ":memory:")
        done = subprocess.run(["pdftotext", "-layout", "out.pdf", "-"], cwd=self.folder, capture_output=True, check=True)
        return done.stdout.decode().replace("\u00a0", " ").replace("\u2009", " ")

    def test_totals_bands_and_steps(self):
        text = self.text(*self.series([50] * 10))
        for part in ("In-use bytes grew from 150 to 600 KiB", "GROWING", "How did it come about, and when?", "Bands", "Snapshots",
                     "leak", "heap.003.pb.gz"):
            self.assertIn(part, text)
        totals = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip().startswith("TOTAL")]
        self.assertEqual(totals, [["TOTAL", "150 KiB", "600 KiB", "+450 KiB"], ["TOTAL", "600 KiB", "+450 KiB"]])
        self.assertEqual(text.count("+50.0 KiB"), 9 * 2)  # each step, and the stack that it came from

    def test_a_step_that_stands_out_is_marked(self):
        names = []
        for i in range(10):
            rows = {"main;steady": (100 + i) * KIB, "main;block": (400 if i >= 5 else 1) * KIB}
            names.append(self.write("heap.%03d.pb.gz" % i, profile(rows)))
        text = self.text(*names)
        self.assertEqual(text.count("+400 KiB"), 2)  # in the plot and in the table
        self.assertIn("+399 KiB", text)

    def test_long_series_say_what_is_left_out(self):
        names = []
        for i in range(150):
            names.append(self.write("heap.%03d.pb.gz" % i, profile({"main;leak": (100 + i * 10) * KIB})))
        text = self.text(*names)
        self.assertRegex(text, r"\[\d+ others\]")
        self.assertIn("heap.149.pb.gz", text)
        self.assertIn("first, last and those that changed most", text)

    def test_the_same_bytes_each_time_in_every_form(self):
        names = self.series([50] * 4)
        for form in ("pdf", "svg", "png"):
            first, second = (self.run_it("render", "--timeline", "--" + form, *names, "-o", "-", "--db", ":memory:", text=False)[0]
                             for _ in range(2))
            self.assertEqual(first, second)
        ET.fromstring(self.run_it("render", "--timeline", "--svg", *names, "-o", "-", "--db", ":memory:", text=False)[0].decode())

    def test_what_was_last_compared_and_two_snapshots(self):
        a, b = self.pair()
        self.run_it(a, b)
        self.run_it("render", "--timeline", "-o", "two.svg")
        with open(os.path.join(self.folder, "two.svg"), encoding="utf-8") as file:
            self.assertTrue("before and after" in file.read())
        self.assertIn("no trace", self.refused("render", "--timeline", a))


if __name__ == "__main__":
    unittest.main()

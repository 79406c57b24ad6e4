"""Every form of output says the same: headline, culprits in one order, verdicts."""
import glob
import html
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import unittest

import device_snapshots as cuda
from heaps import EXAMPLES, SCHEMAS, SOURCE, CliTest, INUSE, pprof

DATA = os.path.join(SOURCE, "tests", "data")
VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")
GO = sorted(glob.glob(os.path.join(EXAMPLES, "go-queue", "heap.*.pb.gz")))
TCMALLOC = sorted(glob.glob(os.path.join(EXAMPLES, "tcmalloc-svc", "svc.*.heap")))
CUDA = os.path.join(DATA, "torch_cuda", "cs336-sil-attention-small.pickle")
SERIES = {
    "go": GO, "go pair": GO[:2], "tcmalloc": TCMALLOC, "tcmalloc pair": TCMALLOC[:2],
    "tracemalloc": sorted(glob.glob(os.path.join(DATA, "postmortem", "figures", "*.gz"))),
    "cache": sorted(glob.glob(os.path.join(DATA, "postmortem", "cache", "*.*"))),
    "goroutines": sorted(glob.glob(os.path.join(DATA, "postmortem", "goroutines", "*.pb.gz"))),
    "cuda": [CUDA + "@10", CUDA + "@peak", CUDA],
    "tensorflow": sorted(glob.glob(os.path.join(DATA, "postmortem", "tensorflow-ops", "*.txt"))),
    "modules": sorted(glob.glob(os.path.join(DATA, "postmortem", "modules", "*.gz"))),
}


def flat(text):
    """Numbers as a terminal prints them: plain blanks, ASCII signs."""
    text = text.replace("\u2009", " ").replace("\u202f", " ").replace("\u00a0", " ").replace("\u2212", "-").replace("\u00b1", "+-")
    return re.sub(r"\s+", " ", text).strip()


def bare(text):
    """A number without blanks: thousands are set apart in some forms."""
    return re.sub(r"[\s\u2009\u202f\u00a0]", "", text.replace("\u2212", "-"))


class Story(CliTest):
    def forms(self, files, folder):
        self.run_it("postmortem", *files, "-o", folder, "--db", ":memory:")
        out = {}
        for form in ("json", "md", "html"):
            with open(os.path.join(self.folder, folder, "report." + form), encoding="utf-8") as file:
                out[form] = file.read()
        out["json"] = json.loads(out["json"])
        return out

    def pdf_text(self, path):
        return flat(subprocess.run(["pdftotext", "-l", "1", os.path.join(self.folder, path), "-"], capture_output=True,
                                   check=True).stdout.decode())

    def told(self, story):
        """(label, growth) of what was freed and of the culprits, in order."""
        out = []
        for culprit in story["freed"] + story["culprits"]:
            growth = culprit["growth"]
            label = "freed" if growth < 0 else culprit["verdict"] or ("NEW" if culprit["baseline"] == 0 else "growth")
            out.append((label, growth))
        return out

    def html_rows(self, page):
        section = page[page.index('<section id="culprits"'):]
        section = section[:section.index("</section>")]
        rows = re.findall(r"<tr>.*?</tr>", section)
        cells = [[flat(html.unescape(re.sub(r"<[^>]+>", "", cell))) for cell in re.findall(r"<td.*?</td>", row)] for row in rows]
        names = [flat(html.unescape(re.sub(r"<[^>]+>", "", re.search(r"<b>(.*?)</b>", row).group(1)))) for row in rows]
        return [(c[0], bare(c[2]), bare(c[3]), n) for c, n in zip(cells, names)]

    def markdown_rows(self, text):
        rows = []
        for line in text.split("\n\n**Find")[0].splitlines():
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)][1:-1]
            if len(cells) == 6 and re.match(r"[-+]?\d", cells[0].replace("\u2212", "-")):
                name = flat(html.unescape(re.sub(r"\\(.)", r"\1", cells[3])))
                rows.append((cells[2], bare(cells[0]), bare(html.unescape(cells[1])), name))
        return rows

    def test_all_forms_say_the_same(self):
        for number, (name, files) in enumerate(SERIES.items()):
            with self.subTest(name):
                forms = self.forms(files, "out%d" % number)
                story = forms["json"]["diff"]["story"]
                told = self.told(story)
                rows = self.html_rows(forms["html"])
                self.assertEqual([label for label, _ in told], [row[0] for row in rows])
                self.assertEqual(self.markdown_rows(forms["md"])[:len(rows)], rows)
                verdict = story["headline"]["verdict"]
                headline = flat(story["headline"]["text"])
                self.assertEqual(forms["json"]["verdict"], verdict)
                self.assertIn("### %s%s\n" % (headline, " (%s)" % verdict if verdict else ""), html.unescape(forms["md"]).replace("\\", ""))
                head = re.search(r"<h1>(.*?)</h1>(.*?)</div>", forms["html"])
                self.assertEqual(flat(html.unescape(re.sub(r"<[^>]+>", "", head.group(1)))), headline)
                self.assertEqual(re.sub(r"<[^>]+>", "", head.group(2)), verdict or "")
                other = json.loads(self.run_it("diff" if len(files) == 2 else "trend", *files, "--db", ":memory:", "--as", "json")[0])
                self.assertEqual(self.told(other["story"]), told)
                self.assertEqual(other["story"]["headline"], story["headline"])
                self.terminal_agrees(files, rows)
                if shutil.which("pdftotext"):
                    self.run_it("render", "--pdf", *files, "-o", "r%d.pdf" % number, "--db", ":memory:")
                    for path in ("out%d/report.pdf" % number, "r%d.pdf" % number):
                        self.page_agrees(self.pdf_text(path), story, headline, verdict, rows)

    def terminal_agrees(self, files, rows):
        text = self.run_it("diff" if len(files) == 2 else "trend", *files, "--db", ":memory:")[0]
        lines = [line for line in text.splitlines() if line.split(" ")[0] in {row[0] for row in rows}]
        shown = [line for line in lines if re.search(r"%", line)][:len(rows)]
        self.assertEqual(len(shown), len(rows), text)
        for line, (label, growth, share, _) in zip(shown, rows):
            self.assertTrue(line.startswith(label), line)
            self.assertIn(growth, bare(line))
            self.assertIn(share, bare(line))

    def page_agrees(self, page, story, headline, verdict, rows):
        self.assertIn(bare(headline), bare(page))
        if verdict:
            self.assertIn(verdict, page)
        at = 0
        for _, growth, share, _ in rows:
            found = bare(page).find(growth + share, at)
            self.assertGreaterEqual(found, at, growth + share + " in " + page)
            at = found + 1
        if story["next"]:
            self.assertIn(bare(story["next"])[:40], bare(page))

    def test_the_schema_holds_for_every_story(self):
        for name, files in SERIES.items():
            with self.subTest(name):
                document = json.loads(self.run_it("diff", *files, "--db", ":memory:", "--as", "json")[0])
                story = document.get("overall", document)["story"]
                path = self.write("story.json", json.dumps(story))
                done = subprocess.run([sys.executable, VALIDATE, os.path.join(SCHEMAS, "story.schema.json"), os.path.join(self.folder, path)],
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def profile(self, name, values):
        rows = [([leaf, caller, "main.main"], [max(size // 64, 1), size]) for leaf, caller, size in values]
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(pprof(INUSE, rows))
        return path

    def story(self, *files):
        document = json.loads(self.run_it("diff", *files, "--db", ":memory:", "--as", "json")[0])
        return document.get("overall", document)["story"]

    def test_the_net_hides_shrinkage_under_growth_in_the_pdf_too(self):
        if not shutil.which("pdftotext"):
            self.skipTest("pdftotext is not installed")
        a = self.profile("a.pb.gz", [("main.keep", "main.run", 8 << 20), ("main.leak", "main.run", 1 << 20)])
        b = self.profile("b.pb.gz", [("main.keep", "main.run", 6 << 20), ("main.leak", "main.run", 9 << 20)])
        self.run_it("render", "--pdf", a, b, "-o", "r.pdf", "--db", ":memory:")
        page = self.pdf_text("r.pdf")
        self.assertIn("the net hides -2.00 MiB of shrinkage under +8.00 MiB of growth", page)

    def test_what_shrank_is_freed_and_no_culprit(self):
        a = self.profile("a.pb.gz", [("main.keep", "main.run", 8 << 20), ("main.cache", "main.run", 6 << 20)])
        b = self.profile("b.pb.gz", [("main.keep", "main.run", 8 << 20), ("main.cache", "main.run", 1 << 20)])
        story = self.story(a, b)
        self.assertEqual(story["culprits"], [])
        self.assertEqual([c["name"] for c in story["freed"]], ["main.cache"])
        out, _ = self.run_it("postmortem", a, b, "-o", "out", "--db", ":memory:")
        self.assertEqual(out.splitlines()[1], "Freed by main.cache -5.00 MiB (100 % of the shrinkage).")
        with open(os.path.join(self.folder, "out", "report.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("Freed by main.cache", text)
        self.assertNotIn("What grew", text)
        self.assertNotRegex(out + text, "[Ss]uspect")
        with open(os.path.join(self.folder, "out", "report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page.count("<h2>Freed by</h2>"), 1)
        self.assertFalse("<dt>What grew" in page)
        self.assertTrue("<bdi>main.run</bdi>" in page)  # each caller by itself: right-to-left names keep their places
        self.assertNotIn("<h2>Culprits</h2>", page)

    def test_an_out_of_memory_event_comes_first(self):
        holes = [(15 * cuda.MIB, None), (10 * cuda.MIB, 10 * cuda.MIB), (15 * cuda.MIB, None)]
        segments = [cuda.segment(cuda.A, holes), cuda.segment(cuda.B, holes)]
        files = [self.write("%d.pickle" % n, pickle.dumps(cuda.failed(segments[:n], 20 * cuda.MIB, 5 * cuda.MIB), protocol=4)) for n in (1, 2)]
        forms = self.forms(files, "out")
        story = forms["json"]["diff"]["story"]
        self.assertEqual(story["events"][0]["kind"], "out-of-memory")
        self.assertTrue(forms["md"].startswith("**Out of memory"), forms["md"][:80])
        self.assertLess(forms["html"].index('class="event"'), forms["html"].index("<h1>"))

    def test_two_unrelated_programs_come_first(self):
        a = self.profile("a.pb.gz", [("a.%s" % name, "a.run", 1000003 * (i + 1)) for i, name in enumerate("parse read index sort flush cache join scan lex map fold emit".split())])
        b = self.profile("b.pb.gz", [("b.%s" % name, "b.%s" % name[::-1], 70001 * (i * i + 3)) for i, name in enumerate("render paint layout shape font glyph mesh light shadow tile blur mask scene".split())])
        self.assertEqual([e["kind"] for e in self.story(a, b)["events"]], ["unrelated"])
        text = self.run_it("diff", a, b, "--db", ":memory:")[0]
        self.assertTrue(text.startswith("warning"), text[:80])

    def test_binaries_are_asked_for_only_where_an_address_says_which(self):
        out, _ = self.run_it("top", os.path.join(DATA, "valgrind", "massif-pages-steps4.out"), "--db", ":memory:")
        self.assertIn("4 addresses without names: [no module] 4", out)
        self.assertNotIn("--symbols", out)
        out, _ = self.run_it("top", TCMALLOC[-1], "--db", ":memory:")
        self.assertIn("add --symbols DIR", " ".join(out.split()))

    def test_pages_of_a_small_series_are_few(self):
        if not shutil.which("pdfinfo"):
            self.skipTest("pdfinfo is not installed")

        def pages(path):
            info = subprocess.run(["pdfinfo", os.path.join(self.folder, path)], capture_output=True, text=True, check=True).stdout
            return int(re.search(r"Pages:\s+(\d+)", info).group(1))

        self.run_it("postmortem", *TCMALLOC, "-o", "small", "--db", ":memory:")
        self.run_it("render", "--pdf", *TCMALLOC, "-o", "r.pdf", "--db", ":memory:")
        self.assertIn(pages("small/report.pdf"), range(2, 5))
        self.assertIn(pages("r.pdf"), range(2, 5))


if __name__ == "__main__":
    unittest.main()

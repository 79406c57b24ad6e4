#!/usr/bin/env python3
"""The page as a reader uses it, in headless Chromium, from a file.

  test_page.py MAKE_PAGE SNAPDIFF [--keep FOLDER]

MAKE_PAGE writes pages, SNAPDIFF gives the numbers that they must show (diff --as json). With --keep, pages
and screenshots stay in FOLDER. Ends 77 (skipped) where no Chromium is installed.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

import browser
import hostile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GO = sorted(glob.glob(os.path.join(ROOT, "examples/go-queue/heap.*.pb.gz")))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "data")


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def equal(found, expected, what):
    check(found == expected, f"{what}: found {str(found)[:600]}, expected {str(expected)[:600]}")


class Test:
    def __init__(self, make_page, snapdiff, folder, path):
        self.make_page, self.snapdiff, self.folder = make_page, snapdiff, folder
        self.browser = browser.Browser(path)
        self.tab = self.browser.page()
        self.tab.size(1280, 900)

    # Tools ------------------------------------------------------------------------------------------

    def page(self, name, files, *options):
        path = os.path.join(self.folder, name + ".html")
        subprocess.run([self.make_page, path, *options, *files], check=True, timeout=300)
        check(os.path.getsize(path) <= 3 << 20, f"{name}: more than 3 MiB")
        return "file://" + path

    def diff(self, *files):
        out = subprocess.run([self.snapdiff, "diff", *files, "--as", "json", "-n", "0", "--db", ":memory:"], check=True,
                             timeout=300, capture_output=True).stdout
        report = json.loads(out)
        return report.get("overall", report)

    def quiet(self, url):
        """Nothing but the file itself was asked for, and nothing was logged."""
        self.tab.js("1")
        own = url.split("#")[0]
        others = [r for r in self.tab.requests if r.split("#")[0] != own and not r.startswith(("data:", "about:"))]
        equal(others, [], "requests that left the page")
        equal(self.tab.errors, [], "errors that were logged")
        self.tab.requests.clear()

    def sums(self):
        return self.tab.js("""Object.fromEntries(["others", "rest", "total"].map((id) => [id,
            [...document.querySelectorAll("#sum-" + id + " td[data-v]")].map((cell) => cell.dataset.v)]))""")

    def rows(self):
        """Of every row in the document: frames, and growth, before and after to the byte."""
        return self.tab.js("""[...document.querySelectorAll("#rows-body tr.row")].map((row) => [row.cells[0].title,
            ...[...row.querySelectorAll("td[data-v]")].map((cell) => cell.dataset.v)])""")

    def find(self, text):
        self.tab.js("document.getElementById('q').focus(), document.getElementById('q').select()")
        self.tab.type(text)
        self.tab.wait(f"location.hash.includes('q=')")

    def clear(self):
        self.tab.js("document.getElementById('reset').click()")
        equal(self.tab.js("document.getElementById('q').value"), "", "search after 'Show all'")

    def adds_up(self, what):
        rows, sums = self.rows(), self.sums()
        for place, column in enumerate(("growth", "before", "after")):
            total = sum(int(row[place + 1]) for row in rows) + int(sums["others"][place]) + int(sums["rest"][place])
            equal(total, int(sums["total"][place]), f"{what}: sum of the rows' {column}")

    def same_as_diff(self, report, what):
        sums = self.sums()
        total = report["total"]
        equal([int(v) for v in sums["total"]], [total["growth"], total["baseline"], total["current"]], f"{what}: total")
        equal(int(sums["rest"][0]), report["unattributed"]["growth"] + report["filtered"]["growth"], f"{what}: unattributed")
        # Stacks that neither side of a pair holds are rows of the series, and of no pair.
        expected = sorted((row["growth"], row["baseline"], row["current"]) for row in report["rows"])
        found = sorted(tuple(map(int, row[1:4])) for row in self.rows())
        found = [row for row in found if row[1] or row[2]]
        equal(found, [row for row in expected if row[1] or row[2]], f"{what}: rows")

    # Cases ------------------------------------------------------------------------------------------

    def numbers(self):
        """Rows and sums are those of diff --as json, for the whole series and for a pair inside it."""
        url = self.page("go", GO)
        self.tab.open(url)
        report = self.diff(*GO)
        self.same_as_diff(report, "first to last")
        self.adds_up("first to last")
        names = [row[0].split("\n")[0] for row in self.rows()]
        leaves = [row["stack"][0]["function"] for row in report["rows"]]
        equal(names, leaves, "order of the rows")
        self.tab.js("location.hash = '#from=3&to=7'")
        self.tab.wait("document.getElementById('table-h').textContent.includes('3 \\u2192 7')")
        self.same_as_diff(self.diff(GO[2], GO[6]), "3 to 7")
        self.adds_up("3 to 7")
        equal(self.tab.js("document.querySelector('#figure-growth dt').textContent"), "growth 3 \u2192 7", "key figure")
        self.quiet(url)

    def points(self):
        """The two points move by keys and by the pointer; table and flame graph follow."""
        url = self.page("go", GO)
        self.tab.open(url)
        before = self.tab.js("document.getElementById('flame-line').textContent")
        self.tab.js("document.querySelector('[data-side=from]').focus()")
        for _ in range(3):
            self.tab.key("ArrowRight")
        check("from=4" in self.tab.js("location.hash"), "three steps to the right choose snapshot 4")
        equal(self.tab.js("document.activeElement.getAttribute('aria-valuenow')"), "4", "value of the slider")
        check(self.tab.js("document.getElementById('flame-line').textContent") != before, "the flame graph follows")
        box = self.tab.js("""(() => { const b = document.querySelector('#plot svg').getBoundingClientRect();
            scrollTo(0, b.top + scrollY - 100); const c = document.querySelector('#plot svg').getBoundingClientRect();
            return [c.left + 46 + (c.width - 62) * 9 / 11, c.top + c.height / 2]; })()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.tab.call("Input.dispatchMouseEvent", {"type": kind, "x": box[0], "y": box[1], "button": "left", "clickCount": 1})
        check("to=10" in self.tab.js("location.hash"), f"a click chooses the nearer point: {self.tab.js('location.hash')}")
        self.same_as_diff(self.diff(GO[3], GO[9]), "4 to 10")
        self.quiet(url)

    def sorting(self):
        url = self.page("go", GO)
        self.tab.open(url)
        for column, place in (("growth", 1), ("before", 2), ("after", 3)):
            self.tab.js(f"document.querySelector('[data-sort={column}]').click()")
            once = [abs(int(row[place])) for row in self.rows()]
            self.tab.js(f"document.querySelector('[data-sort={column}]').click()")
            again = [abs(int(row[place])) for row in self.rows()]
            check(sorted([once == sorted(once), again == sorted(again)]) == [False, True], f"{column}: up once, down once")
            check(once == sorted(once, reverse=True) or again == sorted(again, reverse=True), f"{column}: down")
            self.adds_up("sorted by " + column)
        for column in ("name", "objects", "error", "verdict"):
            self.tab.js(f"document.querySelector('[data-sort={column}]').click()")
            equal(self.tab.js(f"document.querySelector('[data-sort={column}]').closest('th').getAttribute('aria-sort')"),
                  "descending", f"mark of {column}")
            self.adds_up("sorted by " + column)
        self.quiet(url)

    def searching(self):
        url = self.page("go", GO)
        self.tab.open(url)
        everything = self.rows()
        word = everything[0][0].split("\n")[0].split(".")[-1][:8].lower()
        self.tab.key("/", "/", "Slash")
        equal(self.tab.js("document.activeElement.id"), "q", "focus after /")
        self.find(word)
        found = self.rows()
        check(0 < len(found) < len(everything), f"rows with {word}: {len(found)} of {len(everything)}")
        check(all(word in row[0].lower() for row in found), "each row holds the word")
        self.adds_up("searched")
        check(self.tab.js("document.querySelectorAll('.box.hit').length") > 0, "the flame graph shows what was found")
        self.tab.js("document.activeElement.blur()")
        self.tab.key("Escape")
        equal(len(self.rows()), len(everything), "rows after Escape")
        words = self.tab.js("[...document.querySelectorAll('#filter option')].map((o) => o.value)")
        for value in [w for w in words if w]:
            self.tab.js(f"(() => {{ const f = document.getElementById('filter'); f.value = {json.dumps(value)}; "
                        "f.dispatchEvent(new Event('change')); })()")
            shown = self.tab.js("[...document.querySelectorAll('#rows-body tr.row')].map((r) => r.cells[7].textContent)")
            if value.isupper():
                check(all(v == value for v in shown), f"filter {value}")
            self.adds_up("filter " + value)
        self.tab.js("document.getElementById('reset').click()")
        self.quiet(url)

    def flame(self):
        """Boxes add up, zoom and come back."""
        url = self.page("go", GO)
        self.tab.open(url)
        boxes = "[...document.querySelectorAll('#flame-boxes [data-box]')]"
        count = self.tab.js(boxes + ".length")
        check(count > 5, "boxes")
        wide = self.tab.js(boxes + """.every((b, i, all) => { const w = (e) => parseFloat(e.style.width);
            return w(b) <= 100.001 && w(b) > 0; })""")
        check(wide, "each box has a width within the whole")
        equal(self.tab.js("document.querySelector('#flame-boxes [data-box=\"0\"]').getAttribute('aria-label').split(':')[0]"),
              "all change", "the lowest box")
        name = self.tab.js(boxes + "[2].getAttribute('aria-label')")
        self.tab.click("#flame-boxes [data-box=\"2\"]")
        self.tab.wait("!document.getElementById('crumbs').hidden")
        equal(self.tab.js(boxes + "[0].getAttribute('aria-label')"), name, "the box that was chosen fills the width")
        check("frame=" in self.tab.js("location.hash"), "the address says where")
        link = self.tab.js("location.href")
        self.tab.key("Escape")
        self.tab.key("Escape")
        self.tab.wait("document.getElementById('crumbs').hidden")
        equal(self.tab.js(boxes + ".length"), count, "boxes after Escape")
        self.tab.js("document.querySelector('#flame-boxes [data-box=\"0\"]').focus()")
        self.tab.key("ArrowDown")
        self.tab.key("ArrowDown")
        self.tab.key("Enter")
        self.tab.wait("!document.getElementById('crumbs').hidden")
        self.tab.open(link)
        equal(self.tab.js(boxes + "[0].getAttribute('aria-label')"), name, "the box that a link names")
        for width in ("union", "before", "after", "growth", "change"):
            self.tab.js(f"(() => {{ const s = document.getElementById('flame-width'); s.value = '{width}'; "
                        "s.dispatchEvent(new Event('change')); })()")
            check(self.tab.js(boxes + ".length") > 0, "boxes by " + width)
        self.quiet(link)

    def links(self):
        """A row opens by key, shows its whole stack, and its address opens it again."""
        url = self.page("go", GO)
        self.tab.open(url)
        self.tab.js("document.querySelector('#rows-body tr.row').focus()")
        self.tab.key("ArrowDown")
        self.tab.key("ArrowDown")
        place = self.tab.js("document.activeElement.dataset.place")
        equal(place, "2", "two rows down")
        frames = self.tab.js("document.activeElement.cells[0].title").split("\n")
        self.tab.key("Enter")
        shown = self.tab.js("[...document.querySelectorAll('.detail li code')].map((c) => c.textContent)")
        equal(shown[:40], frames, "frames of the open row")
        link = self.tab.js("document.querySelector('.detail a').href")
        self.tab.open(link)
        equal(self.tab.js("[...document.querySelectorAll('.detail li code')].map((c) => c.textContent)"), shown, "frames by link")
        equal(self.tab.js("document.querySelector('tr.row.open').dataset.place"), place, "row by link")
        self.tab.open(url + "#from=2&to=9&q=" + frames[0] + "&sort=after&up=1&theme=dark")
        equal(self.tab.js("[document.getElementById('from').value, document.getElementById('to').value, "
                          "document.getElementById('q').value, document.documentElement.dataset.theme]"),
              ["1", "8", frames[0], "dark"], "what an address says")
        self.quiet(url)

    def themes(self):
        url = self.page("go", GO)
        self.tab.open(url)
        paper = "getComputedStyle(document.body).backgroundColor"
        equal(self.tab.js(paper), "rgb(255, 255, 255)", "light paper")
        self.tab.js("document.getElementById('theme').click()")
        equal(self.tab.js(paper), "rgb(17, 23, 29)", "dark paper")
        self.tab.dark(True)
        self.tab.open(url)
        equal(self.tab.js(paper), "rgb(17, 23, 29)", "dark paper where the system is dark")
        self.tab.dark(False)
        self.tab.key("?", "?")
        check(self.tab.js("document.getElementById('help').open"), "? shows the keys")
        self.tab.js("document.getElementById('help').close()")
        self.quiet(url)

    def copying(self):
        """Copy as CSV: the rows that are left, and what is summed; the total is the total."""
        url = self.page("go", GO)
        self.tab.open(url)
        self.tab.js("document.execCommand = () => { window.copied = document.activeElement.value; return true; }; "
                    "Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        self.tab.js("document.getElementById('csv').click()")
        lines = self.tab.wait("window.copied").strip().split("\n")
        equal(lines[0].split(",")[:3], ["growth", "baseline", "current"], "head of the CSV")
        equal(sum(int(line.split(",")[0]) for line in lines[1:-1]), int(lines[-1].split(",")[0]), "sum of the CSV")
        self.quiet(url)

    def two(self):
        """Two snapshots: no trend, no points to choose, the same numbers."""
        url = self.page("two", [GO[0], GO[-1]])
        self.tab.open(url)
        self.same_as_diff(self.diff(GO[0], GO[-1]), "two snapshots")
        check(self.tab.js("document.querySelectorAll('#rows-body .badge').length") == 0, "no verdicts")
        self.quiet(url)

    def graph(self):
        url = self.page("go", GO)
        self.tab.open(url)
        name = self.tab.js("document.querySelector('#drawing .node').getAttribute('aria-label')")
        check(name, "boxes of the graph tell their name")
        self.tab.js("document.querySelectorAll('#drawing .node')[1].focus()")
        self.tab.key("Enter")
        check(self.tab.js("document.getElementById('q').value"), "a box of the graph searches the table")
        self.quiet(url)

    def names(self):
        """Names that try to be markup, script or another line stay text."""
        files = hostile.write(self.folder)
        url = self.page("hostile", files)
        self.tab.open(url)
        self.same_as_diff(self.diff(*files), "hostile names")
        equal(self.tab.js("[window.pwned, document.images.length, document.querySelectorAll('iframe,object,embed,base').length]"),
              [None, 0, 0], "what names have made")
        equal(self.tab.js("[...document.scripts].filter((s) => !s.type).length"), 1, "scripts that run")
        text = self.tab.js("document.body.textContent")
        for name in hostile.SHOWN:
            check(name in text or name in "\n".join(row[0] for row in self.rows()), f"shown as text: {name!r}")
        for bad in hostile.NEVER:
            check(bad not in text, f"never shown: {bad!r}")
        self.tab.js("document.querySelector('#rows-body tr.row').focus()")
        self.tab.key("Enter")
        self.find("script")
        self.adds_up("hostile names, searched")
        self.tab.js("document.querySelectorAll('#flame-boxes [data-box]').forEach((b) => b.dispatchEvent(new Event('pointerover', { bubbles: true })))")
        equal(self.tab.js("window.pwned"), None, "still nothing")
        refused = self.tab.js("(() => { try { document.body.innerHTML += ''; return false; } catch { return true; } })()")
        check(refused, "the page's policy refuses markup made of text")
        self.tab.take_events()
        self.tab.errors.clear()  # the refusal just above is logged
        self.quiet(url)

    def large(self):
        """Values that ordinary numbers of a browser cannot hold, to the last digit."""
        files = hostile.write_large(self.folder)
        url = self.page("large", files)
        self.tab.open(url)
        self.same_as_diff(self.diff(*files), "beyond 2^53")
        self.adds_up("beyond 2^53")
        self.quiet(url)

    def cut(self):
        """What does not fit is summed, said, and still adds up; the important rows stay."""
        files = hostile.write_many(self.folder, 4000)
        url = self.page("cut", files, "--most", "250000", "--no-graph")
        check(os.path.getsize(url[7:]) <= 250000, "size of the page")
        self.tab.open(url)
        report = self.diff(*files)
        sums = self.sums()
        equal([int(v) for v in sums["total"]],
              [report["total"][k] for k in ("growth", "baseline", "current")], "total of a page that was cut")
        kept = self.tab.js("document.getElementById('rows').getAttribute('aria-rowcount') - 1")
        check(100 < kept < len(report["rows"]), f"rows kept: {kept}")
        growth = [abs(row["growth"]) for row in report["rows"]]
        check(self.tab.js("document.querySelector('#rows-body td[data-v]').dataset.v") in
              (str(growth[0]), str(-growth[0])), "the largest change is kept")
        others = self.tab.js("document.querySelector('#sum-others th').textContent")
        check(str(len(report["rows"]) - kept) in others.replace("\u2009", ""), f"number of others: {others}")
        check(self.tab.js("document.getElementById('cut').textContent"), "the page says what was cut")
        check(self.tab.js("document.querySelectorAll('#rows-body tr.row').length") < 100, "only rows in sight are drawn")
        self.tab.js("document.getElementById('scroll').scrollTop = 1e7")
        self.tab.wait(f"document.querySelector('#rows-body tr.row:nth-last-child(1)')?.dataset.place == {kept - 1}")
        self.quiet(url)

    def narrow(self):
        url = self.page("go", GO)
        self.tab.size(400, 800)
        self.tab.open(url)
        check(self.tab.js("document.documentElement.scrollWidth") <= 400, "nothing is wider than a narrow screen")
        self.tab.size(1280, 900)
        self.quiet(url)

    def shared(self):
        """CUDA and tracemalloc series of the shared collection."""
        groups = {
            "tracemalloc": sorted(glob.glob(SHARED + "/trackers/tracemalloc/py3.11-nf10-step*.tracemalloc")),
            "cuda": [SHARED + "/pytorch/cs336-wl-medium-512-inference.pickle", SHARED + "/pytorch/cs336-wl-medium-512-training.pickle"],
            "tcmalloc": sorted(glob.glob(SHARED + "/pprof/series/tcmalloc-svc/*.heap")),
        }
        for name, files in groups.items():
            if len(files) < 2 or not all(map(os.path.exists, files)):
                print(f"skipped: {name}, the shared collection is not here")
                continue
            url = self.page(name, files)
            self.tab.open(url)
            total = self.diff(*files)["total"]
            equal([int(v) for v in self.sums()["total"]], [total[k] for k in ("growth", "baseline", "current")], name)
            self.quiet(url)


def main():
    arguments, path = browser.command_line(__doc__)
    keep = arguments[2] if len(arguments) > 2 else None
    folder = os.path.abspath(keep) if keep else tempfile.mkdtemp(prefix="page-")
    os.makedirs(folder, exist_ok=True)
    test = Test(arguments[0], arguments[1], folder, path)
    failed = 0
    only = os.environ.get("CASES", "").split()
    cases = ["numbers", "points", "sorting", "searching", "flame", "links", "themes", "copying", "two", "graph", "names",
             "large", "cut", "narrow", "shared"]
    try:
        for case in only or cases:
            try:
                getattr(test, case)()
                print("ok  ", case, flush=True)
            except Exception:
                failed += 1
                print("FAIL", case, flush=True)
                traceback.print_exc()
                test.tab.close()
                test.tab = test.browser.page()
                test.tab.size(1280, 900)
    finally:
        test.browser.close()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

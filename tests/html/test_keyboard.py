#!/usr/bin/env python3
"""The overview and a report by keyboard alone and on three widths of a screen, in headless Chromium, from a file.

  test_keyboard.py MAKE_PAGE SNAPDIFF [--keep FOLDER]

Keys are dispatched as a keyboard does it; nothing here clicks or focuses. With --keep, pages and screenshots stay in
FOLDER. Ends 77 (skipped) where no Chromium is installed.
"""

import os
import shutil
import subprocess
import tempfile

import browser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTHS = (400, 1280, 1920)
# What a reader may want to reach: in sight, not inside a closed dialog. Arrow keys lead to those with tabindex -1.
CONTROLS = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((e) =>
  !e.disabled && !e.closest("dialog:not([open])") && e.checkVisibility({ visibilityProperty: true }))"""
FOCUSED = """(() => { const e = document.activeElement;
  if (!e || e === document.body || e === document.documentElement) return null;
  const box = e.getBoundingClientRect();
  const marked = (part) => { const style = getComputedStyle(part);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || part.tagName === "circle" && style.strokeWidth === "4px"; };
  return { number: window.controls.indexOf(e), tag: e.tagName, text: (e.id || e.textContent).slice(0, 40),
    seen: [e, ...e.children].some(marked),
    inside: box.bottom > 0 && box.top < innerHeight }; })()"""


def check(condition, what):
    if not condition:
        raise AssertionError(what)


class Keyboard:
    def __init__(self, tab, url, ready):
        self.tab = tab
        tab.open(url, ready)
        tab.js(f"window.controls = {CONTROLS}, 0")

    def press(self, key, times=1, **options):
        for _ in range(times):
            self.tab.key(key, **options)

    def focused(self):
        return self.tab.js(FOCUSED)

    def walk(self, most=400):
        """What Tab leads to, from the start of the page until the page is left."""
        steps = []
        for _ in range(most):
            self.press("Tab")
            now = self.focused()
            if now is None or steps and now["number"] == steps[0]["number"] >= 0:
                return steps
            check(now["seen"], f"the focus on {now['tag']} {now['text']!r} is to be seen")
            check(now["inside"], f"{now['tag']} {now['text']!r} scrolls into sight")
            steps.append(now)
        raise AssertionError(f"Tab does not leave the page within {most} steps")

    def tab_to(self, condition, most=400):
        """Tab until `condition` of the focused element `e` holds."""
        for _ in range(most):
            self.press("Tab")
            if self.tab.js(f"(() => {{ const e = document.activeElement; return !!({condition}); }})()"):
                return
        raise AssertionError(f"Tab never leads to {condition}")

    def reaches_all(self, what):
        reached = {step["number"] for step in self.walk()}
        missing = self.tab.js(f"""window.controls.map((e, i) => [i, e]).filter(([i, e]) => e.tabIndex >= 0 && !{sorted(reached)}.includes(i))
            .map(([i, e]) => e.outerHTML.slice(0, 120))""")
        check(not missing, f"{what}: Tab never leads to {missing}")
        return len(reached)


def fits(tab, url, ready, name, keep):
    for width in WIDTHS:
        tab.size(width, 900)
        tab.open(url, ready)
        check(tab.js("document.documentElement.scrollWidth") <= width, f"{name}: wider than {width} px")
        if keep:
            tab.screenshot(os.path.join(keep, f"{name}-{width}.png"), whole=False)
    tab.size(1280, 900)


def overview(tab, url, series, keep):
    fits(tab, url, "document.readyState === 'complete'", "overview", keep)
    keys = Keyboard(tab, url, "document.readyState === 'complete'")
    reached = keys.reaches_all("overview")
    check(reached >= 2 * series, f"overview: {reached} links of {series} series, expected two each")
    # Each series has a link that leads to its section, and from there one back.
    keys = Keyboard(tab, url, "document.readyState === 'complete'")
    for number in range(1, series + 1):
        keys.tab_to(f"e.hash === '#s{number}'")
        keys.press("Enter")
        tab.wait(f"location.hash === '#s{number}' && document.querySelector(':target')?.id === 's{number}'")
        keys.press("Tab")
        keys.press("Enter")
        tab.wait("location.hash === '#top' && scrollY === 0")
    # A table wider than a narrow screen scrolls by arrows.
    tab.size(400, 900)
    keys = Keyboard(tab, url, "document.readyState === 'complete'")
    keys.tab_to("e.classList.contains('scroll')")
    if tab.js("document.activeElement.scrollWidth > document.activeElement.clientWidth + 1"):
        keys.press("ArrowRight", 3)
        tab.wait("document.activeElement.scrollLeft > 0")
    tab.size(1280, 900)


def report(tab, url, keep):
    ready = "document.documentElement?.dataset.ready"
    fits(tab, url, ready, "report", keep)
    keys = Keyboard(tab, url, ready)
    keys.reaches_all("report")
    row = "e.matches('#rows-body tr.row')"
    # Rows: down, open, close.
    keys = Keyboard(tab, url, ready)
    keys.tab_to(row)
    for place in range(1, tab.js("document.querySelectorAll('#rows-body tr.row').length")):
        keys.press("ArrowDown")
        check(tab.js("document.activeElement.dataset.place") == str(place), f"ArrowDown leads to row {place}")
    keys.press("Enter")
    tab.wait("!!document.querySelector('.detail')")
    keys.press("Escape")
    tab.wait("!document.querySelector('.detail')")
    # Boxes of the flame graph: arrows, zoom, back.
    keys = Keyboard(tab, url, ready)
    keys.tab_to("e.closest('#flame-boxes') && e.dataset.box !== undefined")
    keys.press("ArrowDown")
    keys.press("Enter")
    tab.wait("!document.getElementById('crumbs').hidden")
    keys.press("Escape")
    tab.wait("document.getElementById('crumbs').hidden")
    # Search, filter, sorting, points of the plot, theme, list of keys.
    keys.press("/", text="/")
    tab.wait("document.activeElement.id === 'q'")
    tab.type("main")
    tab.wait("location.hash.includes('q=main')")
    keys.press("Escape")
    keys = Keyboard(tab, url, ready)
    keys.tab_to("e.id === 'filter'")
    keys.press("ArrowDown")
    tab.wait("document.getElementById('filter').value !== ''")
    keys = Keyboard(tab, url, ready)
    keys.tab_to("e.closest('#table thead') && e.matches('button, th, a')")
    keys.press("ArrowRight")  # where headings are one stop, arrows lead to the next
    keys.press("Enter")
    tab.wait("location.hash.includes('sort=') || location.hash.includes('up=')")
    keys = Keyboard(tab, url, ready)
    keys.tab_to("e.dataset.side === 'from'")
    keys.press("ArrowRight", 2)
    tab.wait("document.getElementById('table-h').textContent.includes('3 \\u2192') && location.hash.includes('from=3')")
    keys = Keyboard(tab, url, ready)
    paper = tab.js("getComputedStyle(document.body).backgroundColor")
    keys.tab_to("e.id === 'theme'")
    keys.press("Enter")
    tab.wait(f"getComputedStyle(document.body).backgroundColor !== '{paper}'")
    keys.press("?", text="?")
    tab.wait("document.getElementById('help')?.open")
    keys.press("Escape")
    tab.wait("!document.getElementById('help').open")


def main():
    arguments, path = browser.command_line(__doc__)
    program, keep = arguments[1], os.path.abspath(arguments[2]) if len(arguments) > 2 else None
    folder = keep or tempfile.mkdtemp(prefix="keyboard-")
    one = browser.Browser(path)
    try:
        names = ["go-queue", "tcmalloc-svc"]
        for name in names:
            shutil.copytree(os.path.join(ROOT, "examples", name), os.path.join(folder, "heaps", name), dirs_exist_ok=True,
                            ignore=lambda _, files: [f for f in files if not f.endswith((".gz", ".heap"))])
        page = os.path.join(folder, "overview.html")
        subprocess.run([program, "overview", os.path.join(folder, "heaps"), "-o", page], check=True, timeout=60, stderr=subprocess.DEVNULL)
        tab = one.page()
        overview(tab, "file://" + page, len(names), keep)
        page = os.path.join(folder, "report.html")
        subprocess.run([program, "trend", os.path.join(folder, "heaps", names[0]), "--db", ":memory:", "-o", page], check=True,
                       timeout=60, stderr=subprocess.DEVNULL)
        report(tab, "file://" + page, keep)
        tab.js("1")
        check(not tab.errors, f"errors that were logged: {tab.errors}")
    finally:
        one.close()
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
    print("ok: every link and control by keyboard; widths", *WIDTHS)


if __name__ == "__main__":
    main()

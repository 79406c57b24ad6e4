#!/usr/bin/env python3
"""How fast a page opens and answers in headless Chromium. Prints, never fails for a time.

  page_speed.py PAGE.html
  page_speed.py --generate BENCH_GENERATE MAKE_PAGE [stacks=100000] [count=50]

A click's time runs from the event to the end of its handlers, and to the frame after it.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "html"))
import browser  # noqa: E402

ACTIONS = {
    "sort by after": "document.querySelector('[data-sort=after]').click()",
    "sort by name": "document.querySelector('[data-sort=name]').click()",
    "sort by growth": "document.querySelector('[data-sort=growth]').click()",
    "filter": "(() => { const f = document.getElementById('filter'); f.value = 'grew'; f.dispatchEvent(new Event('change')); })()",
    "no filter": "(() => { const f = document.getElementById('filter'); f.value = ''; f.dispatchEvent(new Event('change')); })()",
    "another pair": "document.querySelector('[data-side=from]').dispatchEvent(new KeyboardEvent('keydown', "
                    "{ key: 'ArrowRight', bubbles: true }))",
    "zoom": "document.querySelector('[data-box=\"3\"]').click()",
    "zoom out": "document.getElementById('flame-out').click()",
    "open a row": "document.querySelector('tr.row').click()",
    "search": "(() => { const q = document.getElementById('q'); q.value = 'f1'; q.dispatchEvent(new Event('input')); })()",
    "clear": "document.getElementById('reset').click()",
}


def measure(path):
    program = browser.find()
    if program is None:
        print("skipped: no Chromium is installed")
        return
    tab_browser = browser.Browser(program)
    try:
        tab = tab_browser.page()
        tab.size(1280, 900)
        tab.open("file://" + os.path.abspath(path), timeout=120)
        print(f"{os.path.getsize(path)} bytes, {tab.js('document.getElementById(`rows`).getAttribute(`aria-rowcount`) - 1')} rows")
        for name, at in tab.js("performance.getEntriesByType('paint').map((e) => [e.name, Math.round(e.startTime)])"):
            print(f"{name:24} {at:6} ms")
        print(f"{'all data unpacked':24} {round(tab.js('performance.getEntriesByName(`ready`)[0].startTime')):6} ms")
        for name, action in ACTIONS.items():
            times = []
            for _ in range(5):
                times.append(tab.js(f"""(async () => {{ const a = performance.now(); {action}; const b = performance.now();
                    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                    return [b - a, performance.now() - a]; }})()"""))
                if name == "search":
                    tab.js("new Promise((done) => setTimeout(done, 200))")
            done, painted = sorted(times)[2]
            print(f"{name:24} {done:6.0f} ms, painted {painted:6.0f} ms")
        if tab.errors:
            print("logged:", *tab.errors, sep="\n  ")
    finally:
        tab_browser.close()


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 1 and not arguments[0].startswith("-"):
        return measure(arguments[0])
    if len(arguments) < 3 or arguments[0] != "--generate":
        sys.exit(__doc__)
    generate, make_page, *numbers = arguments[1:]
    with tempfile.TemporaryDirectory() as folder:
        defaults = {"stacks": "100000", "count": "50"}
        defaults.update(n.split("=") for n in numbers)
        subprocess.run([generate, "series", folder, *(f"{k}={v}" for k, v in defaults.items())], check=True)
        page = os.path.join(folder, "page.html")
        files = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.startswith("s."))
        subprocess.run([make_page, page, "--no-graph", "--time", *files], check=True)
        measure(page)


if __name__ == "__main__":
    main()

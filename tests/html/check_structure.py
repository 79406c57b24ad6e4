#!/usr/bin/env python3
"""The page without a browser: its structure, its policy, and its data against diff --as json.

  check_structure.py MAKE_PAGE SNAPDIFF

Reads the data blocks with a decoder of its own (zlib, and the layout of analyzer/html/README.md).
"""

import base64
import glob
import hashlib
import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import zlib

import hostile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GO = sorted(glob.glob(os.path.join(ROOT, "examples/go-queue/heap.*.pb.gz")))
VOID = {"meta", "link", "br", "img", "input", "hr", "wbr", "rect", "path", "polyline", "circle"}


class Structure(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.problems, self.texts, self.links = [], set(), [], {}, []
        self.policy, self.plain = "", []

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        for name, value in attributes:
            if name.startswith("on") or name in ("style", "srcset", "action"):
                self.problems.append(f"<{tag} {name}>")
            if name in ("src", "data", "poster", "xlink:href"):
                self.problems.append(f"<{tag} {name}={value!r}>")
            if name == "href" and not (value.startswith("#") or value == "data:,"):
                self.problems.append(f"link to {value!r}")
        if names.get("http-equiv") == "Content-Security-Policy":
            self.policy = names["content"]
        if "id" in names:
            if names["id"] in self.ids:
                self.problems.append(f"id {names['id']} twice")
            self.ids.add(names["id"])
        if names.get("href", "").startswith("#") and "=" not in names["href"]:
            self.links.append(names["href"][1:])
        if tag not in VOID:
            self.open.append((tag, names.get("id", ""), names.get("type", "")))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.problems.append(f"</{tag}> inside {self.open[-3:]}")
            return
        self.open.pop()

    def handle_data(self, data):
        if not self.open:
            return
        tag, name, kind = self.open[-1]
        if tag in ("script", "style"):
            key = name or (tag if not kind else kind)
            self.texts[key] = self.texts.get(key, "") + data
        else:
            self.plain.append(data)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def difference(self):
        n = self.number()
        return n >> 1 if n % 2 == 0 else -((n + 1) >> 1)

    def numbers(self, count):
        return [self.number() for _ in range(count)]

    def block(self):
        size = self.number()
        self.at += size
        return self.data[self.at - size:self.at]


def signed(n):
    return (n + (1 << 63)) % (1 << 64) - (1 << 63)


def decode(page):
    """[(full names leaf first, values at each snapshot)] of the page's data."""
    stacks = Reader(zlib.decompress(base64.b64decode(page.texts["stacks-data"]), -15))
    stacks.number()
    texts = stacks.block().decode().split("\n")
    frames = stacks.number()
    name, full = stacks.numbers(frames), stacks.numbers(frames)
    for _ in range(4):
        stacks.numbers(frames)
    rows, nodes = stacks.number(), stacks.number()
    shared, added = stacks.numbers(rows), stacks.numbers(rows)
    path, out = [], []
    for row in range(rows):
        del path[shared[row]:]
        path += stacks.numbers(added[row])
        out.append([texts[name[f] if full[f] == 0 else full[f] - 1] for f in reversed(path)])
    assert stacks.at == len(stacks.data), "stacks: bytes are left"
    assert sum(added) == nodes, "stacks: number of nodes"
    values = Reader(zlib.decompress(base64.b64decode(page.texts["values-data"]), -15))
    values.numbers(values.number())
    series = Reader(values.block())
    length = json.loads(page.texts["facts"])["length"]
    divisors = series.numbers(rows)
    firsts = [series.difference() for _ in range(rows)]
    result = []
    for row in range(rows):
        multiples = [firsts[row]]
        for _ in range(length - 1):
            multiples.append(signed(multiples[-1] + series.difference()))
        result.append((out[row], [m * divisors[row] for m in multiples]))
    assert series.at == len(series.data), "values: bytes are left"
    return result


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def shown(text):
    """As the page writes a name: what the golden forms do too, by another hand. None where it is cut."""
    raw = text.encode("utf-8", "surrogateescape")
    return None if len(raw) > 1500 else text


def check(path, report, most=3 << 20):
    raw = open(path, "rb").read()
    assert len(raw) <= most, f"{len(raw)} bytes"
    text = raw.decode("utf-8")  # valid, or this throws
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text), "control characters"
    page = Structure()
    page.feed(text)
    page.close()
    assert page.problems == [], page.problems[:10]
    assert page.open == [], f"never closed: {page.open}"
    missing = [link for link in page.links if link not in page.ids]
    assert missing == [], f"links to nothing: {missing}"
    for want in ("default-src 'none'", hash_of(page.texts["script"]), hash_of(page.texts["style"])):
        assert want in page.policy, f"policy without {want}: {page.policy}"
    assert "unsafe" not in page.policy
    outside = [u for u in re.findall(r"https?://[^\s\"'<>]+", text) if not u.startswith("http://www.w3.org/")]
    assert all("example.invalid" in u for u in outside), outside
    facts = json.loads(page.texts["facts"])
    rows = decode(page)
    first, last = facts["steps"][facts["left"]], facts["steps"][-1]
    total = report["total"]
    assert (int(first[1]), int(last[1])) == (total["baseline"], total["current"]), "totals"
    for i in range(facts["length"]):
        whole = sum(values[i] for _, values in rows) + int(facts["rest"][i]) + int(facts["others"][1][i])
        assert whole == int(facts["steps"][facts["left"] + i][1]), f"snapshot {i + 1} does not add up"
    expected = sorted((row["baseline"], row["current"]) for row in report["rows"])
    found = sorted((values[0], values[-1]) for _, values in rows)
    if facts["others"][0] == 0:
        assert found == expected, "rows"
    else:
        assert len(found) + facts["others"][0] == len(expected), "number of rows"
        kept = {abs(b - a) for a, b in found}
        assert abs(report["rows"][0]["growth"]) in kept, "the largest change"
    plain = " ".join(page.plain)
    assert "TOTAL" in plain and "[unattributed]" in plain, "sums in plain HTML"
    return page


def main():
    make_page, snapdiff = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            "go": (GO, [], 3 << 20),
            "pair": ([GO[0], GO[-1]], ["--no-graph"], 3 << 20),
            "hostile": (hostile.write(folder), [], 3 << 20),
            "large": (hostile.write_large(folder), [], 3 << 20),
            "cut": (hostile.write_many(folder, 3000), ["--most", "230000", "--no-graph"], 230000),
        }
        for name, (files, options, most) in cases.items():
            pages = [os.path.join(folder, f"{name}.{i}.html") for i in range(2)]
            for path in pages:
                subprocess.run([make_page, path, *options, *files], check=True, timeout=300)
            assert open(pages[0], "rb").read() == open(pages[1], "rb").read(), f"{name}: two runs differ"
            out = subprocess.run([snapdiff, "diff", *files, "--as", "json", "-n", "0", "--db", ":memory:"], check=True,
                                 capture_output=True, timeout=300).stdout
            report = json.loads(out)
            page = check(pages[0], report.get("overall", report), most)
            print(f"ok   {name}: {os.path.getsize(pages[0])} bytes, {len(page.ids)} ids")
        for part, code in (("flame", 0), ("nowhere", 2)):
            done = subprocess.run([make_page, os.path.join(folder, "start.html"), "--start", part, *GO], capture_output=True)
            assert done.returncode == code, f"--start {part}: {done.returncode}"
        done = subprocess.run([make_page, os.path.join(folder, "small.html"), "--most", "1000", *GO], capture_output=True)
        assert done.returncode == 2 and b"limit" in done.stderr, "a limit that nothing fits in"


if __name__ == "__main__":
    main()

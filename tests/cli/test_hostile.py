"""Names out of files may hold anything. 56 hostile ones go through every field of a format that can carry them into every output:
what reaches a terminal is harmless, what a program reads is well formed, and a redacted report shows none of them."""
import csv
import io
import json
import os
import re
import unittest
import xml.etree.ElementTree as ElementTree

from heaps import CliTest, field, varint
from test_postmortem import drawn_text

SHOWN = "\x1b[31mred|\x1b]8;;http://evil.example\x07link|\x1b]0;title\x07|\x1bPq|\x1b[2J\x1b[H|\x9b31m|\x9d0;t\x9c|\x07bell|back\x08\x08\x08|" \
        "one\rtwo|one\ntwo|tab\ttab|\x00nul|\x7fdel|\x0bvt\x0c|\u202egnp.exe|\u2066iso\u2069|\u200bzero|a\u200db|a\u200cb|\ufeffbom|\u2028line|\u2029par|" \
        "\u061calm|\u200ertl\u200f|\ufff9anno\ufffb|\U000e0041tag|\u05d0\u05d1\u05d2|\u0627\u0644\u0639|e\u0301|\u4e2d\u6587|\U0001f468\u200d\U0001f469|" \
        "<script>alert(1)</script>|<img src=x onerror=alert(1)>|]]>|-->|&lt;b&gt;|\"quoted\"|it's|`tick`|$(touch pwned)|=cmd()|+1|-1|@here|" \
        "back\\slash|semi;colon|a,b|%s%n|{{x}}|../../etc/passwd|[x](javascript:alert(1))"
NAMES = [name.encode() for name in SHOWN.split("|")] + [b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", b"pipe|pipe"]
UNSAFE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")


def strings_of(names, *more):
    return [b"", *more, *names]


def hostile_pprof(factor, names=None, kind=b"inuse_space", unit=b"bytes", mark=b""):
    """A profile.proto with a hostile text in each of its fields."""
    names = names or NAMES
    extra = [kind, unit, mark + b"file", mark + b"module", mark + b"id", mark + b"key", mark + b"value", mark + b"comment", mark + b"doc", mark + b"drop"]
    table = strings_of(names, *extra)
    at = {text: index for index, text in enumerate(table)}
    body = field(1, field(1, at[kind]) + field(2, at[unit]))
    if mark:
        body += field(1, field(1, at[mark + b"key"]) + field(2, at[mark + b"value"]))
    for i, name in enumerate(names):
        body += field(2, field(1, varint(i + 1)) + field(2, varint(factor * 1000 * (i + 1)) + (varint(1) if mark else b""))
                      + field(3, field(1, at[mark + b"key"] if mark else at[name]) + field(2, at[name])))
        body += field(4, field(1, i + 1) + field(2, 1) + field(3, 4096 + i) + field(4, field(1, i + 1) + field(2, 10 + i)))
        body += field(5, field(1, i + 1) + field(2, at[name]) + field(3, at[name]) + field(4, at[mark + b"file"] if mark else at[name]))
    body += field(3, field(1, 1) + field(2, 4096) + field(3, 1 << 20) + field(5, at[mark + b"module"] if mark else at[names[0]])
                  + field(6, at[mark + b"id"] if mark else at[names[1]]) + field(7, 1))
    for text in table:
        body += field(6, text)
    body += field(13, at[mark + b"comment"] if mark else at[names[0]])
    if mark:
        body += field(7, at[mark + b"drop"]) + field(14, at[kind]) + field(15, at[mark + b"doc"])
    return body


def tracker(factor, names, mark=""):
    """Lines of snapdiff's own format, with a text in each field that takes one."""
    lines = [{"k": "header", "format": "snapdiff-tracker", "version": 1, "producer": mark + names[0], "producer_version": mark + names[1],
              "process": {"pid": 7, "host": mark + names[2], "cmdline": mark + names[3]}, "attrs": {mark + names[4]: mark + names[5]}},
             {"k": "snapshot", "id": mark + names[6], "label": mark + names[7], "attrs": {mark + "a": mark + names[8]}}]
    rows = 0
    for i, name in enumerate(names):
        lines.append({"k": "live", "stack": [mark + name + " (" + mark + "dir/" + mark + "x.py:3)", mark + "root"], "type": mark + name,
                      "bytes": factor * 1000 * (i + 1), "count": factor, "tags": {mark + "tag": mark + name}})
        lines.append({"k": "counter", "name": mark + name, "value": factor * 10 * (i + 1), "unit": mark + "unit", "tags": {mark + "t": mark + name}})
        rows += 2
    lines.append({"k": "end", "id": mark + names[6], "rows": rows})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "surrogatepass")


class Hostile(CliTest):
    def files(self):
        texts = [name.decode() for name in NAMES if name.isascii() or name.decode("utf-8", "ignore").encode() == name]
        self.write("p1.pb", hostile_pprof(1))
        self.write("p2.pb", hostile_pprof(3))
        self.write("m1.pb", hostile_pprof(1, kind=NAMES[0], unit=NAMES[5]))
        self.write("m2.pb", hostile_pprof(3, kind=NAMES[0], unit=NAMES[5]))
        self.write("t1.sdt.jsonl", tracker(1, texts))
        self.write("t2.sdt.jsonl", tracker(3, texts))
        return [["p1.pb", "p2.pb"], ["m1.pb", "m2.pb", "--metric", NAMES[0]], ["t1.sdt.jsonl", "t2.sdt.jsonl"]]

    def safe(self, raw, what, allowed=""):
        text = raw.decode("utf-8")  # strict: invalid bytes must not get through
        found = UNSAFE.search(text.translate({ord(c): None for c in allowed}))
        self.assertIsNone(found, "%s shows %r in %r" % (what, found and found.group(), found and text[max(0, found.start() - 40):found.end() + 20]))
        return text

    def told(self, *arguments, allowed="", codes=(0, 1)):
        done = self.run_any(*arguments)
        self.assertIn(done.returncode, codes, (arguments, done.stderr))
        self.safe(done.stderr, "stderr of %s" % (arguments,))
        return self.safe(done.stdout, "%s" % (arguments,), allowed)

    def test_the_names_are_all_different(self):
        self.assertEqual(len(set(NAMES)), 56)

    def test_nothing_hostile_reaches_a_terminal(self):
        for files in self.files():
            commands = [["diff", *files], ["diff", *files, "--by", "function"], ["diff", *files, "--by", "label:x"], ["diff", *files, "--by", "type"],
                        ["diff", *files, "--by", "file"], ["diff", *files, "--counters"], ["top", *files[1:]], ["peek", ".", *files],
                        ["trend", files[0], files[1], files[0], *files[2:]], ["info", *files[:2]], ["gate", *files, "--budget", "1KiB"],
                        ["export", "--folded", *files], ["export", "--csv", *files]]
            for command in commands:
                with self.subTest(command[:4]):
                    self.told(*command, "--db", ":memory:", codes=(0, 1, 2), allowed="\r" if "--csv" in command else "")

    def test_json_is_safe_to_print_and_csv_is_whole(self):
        for files in self.files():
            for form in ("json", "jsonl", "csv", "md"):
                for command in (["diff", *files], ["top", *files[1:]], ["trend", files[0], files[1], files[0], *files[2:]], ["peek", ".", *files]):
                    with self.subTest(command=command[:3], form=form):
                        text = self.told(*command, "--as", form, "--db", ":memory:", allowed="\r" if form == "csv" else "")
                        if form == "json":
                            json.loads(text)
                        if form == "csv":
                            rows = list(csv.reader(io.StringIO(text, newline="")))
                            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                            for row in rows[1:]:
                                for cell in row:
                                    self.assertFalse(cell[:1] in ("=", "@") or (cell[:1] in "+-" and not re.match(r"[+-]?[\d.]", cell) and cell), cell)
                        if form == "md":
                            self.assertNotIn("<script", text)
            json.loads(self.told("info", files[0], "--as", "json", "--db", ":memory:"))

    def test_the_store_and_sql(self):
        for files in self.files():
            self.told("import", *files[:2], "--series", "s\x1b[31m\u202e", "--label", "k\x07=v\x9b")
        self.told("list")
        json.loads(self.told("list", "--as", "json"))
        for query in ("SELECT * FROM string", "SELECT * FROM snapshot", "SELECT 1 AS \"\x1b[31mred\u202e\", 'a\x1b[2J|b' AS \"p|q\"",
                      "SELECT * FROM sample", "SELECT x'1b5b'"):
            for form in ("text", "json", "jsonl", "csv", "md"):
                with self.subTest(query=query[:30], form=form):
                    text = self.told("sql", "--as", form, query, allowed="\r" if form == "csv" else "")
                    if form == "json":
                        json.loads(text)
        self.told("sql", "SELECT \x1b[31m", codes=(2,))
        self.told("diff", "s\x1b[31m\u202e#1", "s\x1b[31m\u202e#2")
        self.told("list", "no\x1b[31m", codes=(2,))
        self.told("prune", "--keep", "1", "--series", "no\x9b", codes=(2,))

    def test_documents_are_well_formed(self):
        for files in self.files():
            with self.subTest(files[0]):
                view = files[2:]
                self.told("render", "--svg", *files, "-o", "g.svg", "--db", ":memory:")
                self.told("render", "--dot", *files, "-o", "g.dot", "--db", ":memory:")
                self.told("render", "--flame", "--svg", *files, "-o", "f.svg", "--db", ":memory:")
                self.told("postmortem", *files, "-o", "out", "--db", ":memory:")
                self.told("gate", *files[:2], *view, "--budget", "1KiB", "--junit", "g.xml", "--sarif", "g.sarif", "--db", ":memory:", codes=(0, 1, 2))
                for name in ("g.svg", "f.svg", "g.xml"):
                    ElementTree.parse(os.path.join(self.folder, name))
                self.safe(self.read("g.dot"), "DOT", allowed="\t")  # Graphviz indents with tabs
                json.loads(self.safe(self.read("g.sarif"), "SARIF"))
                json.loads(self.safe(self.read("out/report.json"), "report.json"))
                self.assertNotIn("<script", self.safe(self.read("out/report.md"), "report.md"))
                page = self.read("out/report.html").decode("utf-8")
                for tag in ("<script>alert", "<img src=x", "onerror=alert(1)>"):
                    self.assertNotIn(tag, page)
                self.told("export", "--speedscope", *files, "--db", ":memory:")
        self.assertFalse(self.exists("pwned"))

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()


class Redacted(CliTest):
    MARK = "zqmark"

    def test_no_text_of_any_field_is_in_a_redacted_report(self):
        names = ["%s%d" % (self.MARK, i) for i in range(12)]
        mark = self.MARK
        self.write("p1.pb", hostile_pprof(1, [n.encode() for n in names], kind=b"zqmark_space", unit=b"zqmark_unit", mark=mark.encode()))
        self.write("p2.pb", hostile_pprof(3, [n.encode() for n in names], kind=b"zqmark_space", unit=b"zqmark_unit", mark=mark.encode()))
        self.write("t1.sdt.jsonl", tracker(1, names, mark))
        self.write("t2.sdt.jsonl", tracker(3, names, mark))
        steps = "".join("[%s] step %d %s=%d MB\n" % (mark, i, "zqmarkname", 100 + i) for i in range(12))
        self.write("zqmark.log", steps)
        log = ["zqmark.log", "--pattern", r"(?P<name>zqmark\w+)=(?P<value>\d+)", "--group-by", r"\[(\w+)\]"]
        os.rename(os.path.join(self.folder, "p2.pb"), os.path.join(self.folder, "zqmark@zqpoint.pb"))
        for files in (["p1.pb", "zqmark@zqpoint.pb", "--metric", "zqmark_space"], ["t1.sdt.jsonl", "t2.sdt.jsonl"], log):
            with self.subTest(files[0]):
                plain = self.run_it("postmortem", *files, "-o", "plain", "--db", ":memory:")
                shown = drawn_text(self, "plain", packed_parts=0) + plain[0]
                self.assertIn("zq", shown)
                out, err = self.run_it("postmortem", "--redact", *files, "-o", "redacted", "--db", ":memory:")
                everything = {"stdout": out, "page and document": drawn_text(self, "redacted", packed_parts=0)}
                for name in ("report.json", "report.md"):
                    with open(os.path.join(self.folder, "redacted", name), encoding="utf-8") as file:
                        everything[name] = file.read()
                for name, text in everything.items():
                    at = text.find("zq")
                    self.assertEqual(at, -1, "%s: %r" % (name, text[max(0, at - 80):at + 60]))
                del err  # the words of this terminal are no part of the report


if __name__ == "__main__":
    unittest.main()

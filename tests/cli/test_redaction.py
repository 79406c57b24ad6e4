"""A redacted report holds no name of its input: a mark is put into every name of inputs of many formats, and looked for in
every byte of every output, inflated where it is packed."""
import base64
import gzip
import json
import lzma
import os
import re
import sys
import unittest
import zlib

from heaps import INUSE, SOURCE, CliTest, pprof

sys.path.insert(0, os.path.join(SOURCE, "tests", "corpus"))
sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
from lib import cases, languages, types  # noqa: E402
from samples import samples  # noqa: E402

ALL = os.environ.get("SNAPDIFF_REDACTION") == "all"
FORMATS = sorted(cases.FORMATS) if ALL else ["go-text", "heaptrack", "jvm-histogram", "pprof-rust", "tracemalloc", "v8"]
MARK = "zqxw"
TRIED = 12  # words of a sample that the mark is tried in
LATEST = ("leak_reports/umdh.log", "leak_reports/vld.txt", "pprof_text/heap.#.peek.txt", "goroutine_dump/goroutine.#.txt.gz", "folded_stacks/heaptrack-leaked.folded")


def read(path):
    """The bytes of a sample, unpacked."""
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else lzma.decompress(data) if data[:6] == b"\xfd7zXZ\0" else data


def unpacked(data):
    """The bytes, and what is deflated in them: base64 in pages, streams in PDF."""
    parts = [data]
    for text in re.findall(rb"[A-Za-z0-9+/=]{40,}", data):
        try:
            raw = base64.b64decode(text + b"=" * (-len(text) % 4))
        except ValueError:
            continue
        for window in (zlib.MAX_WBITS, -zlib.MAX_WBITS, zlib.MAX_WBITS | 16):
            try:
                parts.append(zlib.decompressobj(window).decompress(raw))
            except zlib.error:
                continue
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S):
        try:
            parts.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return b"\n".join(parts)


class Redaction(CliTest):
    def outputs(self, *operands, env=None):
        done = self.run_any("postmortem", *operands, "--redact", "-o", "out", env=env)
        if b"too few snapshots" in done.stderr:
            done = self.run_any("postmortem", *operands, *operands, "--redact", "-o", "out", env=env)
        self.assertIn(done.returncode, (0, 2), done.stderr)
        self.assertTrue(self.exists("out"), done.stderr)
        yield "stdout", done.stdout
        # What is written is named by its folder, which the user chose.
        yield "stderr", b"\n".join(line for line in done.stderr.splitlines() if not line.startswith(b"wrote "))
        for folder, folders, names in os.walk(os.path.join(self.folder, "out")):
            for name in folders + names:
                yield "name", name.encode()
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    yield name, unpacked(file.read())

    def look(self, *operands, marks=(MARK,)):
        seen = 0
        for name, data in self.outputs(*operands):
            low = data.lower()
            for mark in marks:
                at = low.find(mark.lower().encode())
                self.assertEqual(at, -1, (name, data[max(0, at - 80):at + 80]))
            seen += 1
        self.assertGreater(seen, 4)

    def test_names_of_every_format(self):
        nouns, verbs = languages.NOUNS, languages.VERBS
        self.addCleanup(setattr, languages, "NOUNS", nouns)
        languages.NOUNS = tuple(MARK + noun for noun in nouns)
        if hasattr(types, "NOUNS"):
            self.addCleanup(setattr, types, "NOUNS", types.NOUNS)
            types.NOUNS = tuple(MARK + noun for noun in types.NOUNS)
        for name in FORMATS:
            with self.subTest(format=name):
                folder = MARK + "folder." + name
                os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
                plan = cases.Plan("leak", name, 8, "linear", 1)
                cases.write_case(os.path.join(self.folder, folder), 1, plan)
                with open(os.path.join(self.folder, folder, "leak", "truth.json"), encoding="utf-8") as file:
                    text = file.read()
                self.assertIn(MARK, text.lower())
                self.look(*(os.path.join(folder, "leak", operand) for operand in json.loads(text)["operands"]))

    def test_every_string_of_a_profile(self):
        files = []
        for i in range(10):
            rows = [([(MARK + "_leak::put(" + MARK + "T)", "/srv/%s/src/%s.cc" % (MARK, MARK), 10), (MARK + "Main", MARK + ".cc", 2)],
                     [10 + i, 1000000 + 100000 * i], [(MARK + "_label", MARK + "value")]), ([MARK + ".keep"], [5, 500000])]
            files.append(self.write("%s.host-%s.%02d.pb.gz" % (MARK, MARK, i), pprof(INUSE, rows, time_ns=10 ** 18 + i * 10 ** 11)))
        self.look(*files)

    def test_a_folder_of_several_series(self):
        for service in ("api", "pay"):
            for i in range(8):
                rows = [(["%s.%s.leak" % (MARK, service), service + MARK], [1, 1000000 + 300000 * i]), ([service + ".keep" + MARK], [1, 3000000])]
                self.write("%s-%s.%03d.pb.gz" % (service, MARK, i), pprof(INUSE, rows, time_ns=10 ** 18 + i * 10 ** 11))
        self.look(".", marks=(MARK, "api-", "pay-"))
        self.write(MARK + ".log", "".join("2026-01-01T00:%02d:00Z rss=%dMiB\n" % (i, 100 + i) for i in range(10)))
        self.look(".", marks=(MARK, "api-", "pay-"))

    def marked(self, name, files):
        """The sample with a mark in one of its names, of equal length; None where no marked name is read."""
        data = [read(file) for file in files]
        done = self.run_any("top", files[-1], "--as", "json", "-n", "0", "--db", ":memory:")
        names = sorted(set(re.findall(r'"(?:function|file|module|name)":"([^"\\\\]{6,200})"', done.stdout.decode("utf-8", "replace"))), key=lambda one: (-len(one), one))
        words = [word for one in names for word in re.findall(r"[A-Za-z]{6,}", one)]
        for word in list(dict.fromkeys(words))[:TRIED]:
            written = []
            for number, one in enumerate(data):
                changed = one.replace(word.encode(), (MARK + word[len(MARK):]).encode())
                written.append(self.write("%s.%d.%s" % (name.replace("/", "."), number, os.path.basename(files[number]).split(".", 1)[-1]), changed))
            done = self.run_any("top", written[-1], "--as", "json", "-n", "0", "--db", ":memory:")
            if done.returncode == 0 and MARK.encode() in done.stdout:
                return written
        return None

    def test_samples_of_every_format(self):
        """A mark in a name of the samples of tests/data, read by every importer that names something."""
        seen = set()
        for name, files in samples():
            if not (ALL or name in LATEST):
                continue
            with self.subTest(sample=name):
                written = self.marked(name, files)
                if written:
                    seen.add(os.path.dirname(name))
                    self.look(*written)
        print("%d folders of samples with a mark: %s" % (len(seen), " ".join(sorted(seen))))
        self.assertGreater(len(seen), 30 if ALL else 3)

    def test_every_string_of_a_tracker(self):
        """Process, host, command line and pid, types, tags, counters, labels of snapshots."""
        process = {"pid": 987654, "host": MARK + "-host", "cmdline": "/srv/%s --%s=1" % (MARK, MARK)}
        lines = [{"k": "header", "format": "snapdiff-tracker", "version": 1, "producer": MARK + "er", "producer_version": MARK, "process": process}]
        for i in range(10):
            lines.append({"k": "snapshot", "id": MARK + str(i), "seq": i, "time": 1767225600 + 60 * i, "label": MARK, "attrs": {MARK: MARK}})
            lines.append({"k": "live", "stack": [MARK + "Put (%s.cs:31)" % MARK, MARK + "Main (%s.cs:2)" % MARK], "type": MARK + "Type",
                          "bytes": 100000 + 30000 * i, "count": 10 + i, "tags": {MARK + "key": MARK + "value"}})
            lines.append({"k": "live", "stack": [MARK + "Keep"], "bytes": 400000, "count": 3})
            lines.append({"k": "counter", "name": MARK + "_rss", "value": 1000000 + 50000 * i, "unit": "bytes", "tags": {MARK: MARK}})
            lines.append({"k": "end", "id": MARK + str(i), "rows": 3})
        name = self.write(MARK + ".sdt.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.look(name, marks=(MARK, "987654"))


if __name__ == "__main__":
    unittest.main()

"""Every sample of tests/data that gives a diff or a trend is asked on every path: files read beside a store, the store, a store
merged of two halves, pprof exported and read again, SQL, the C library; and however it is written: rows in another order, split
in two, values a thousand times as large, a constant beside them, operands mirrored. All say the same.

SNAPDIFF_EVERY_PATH=all takes all samples (minutes), else the smallest of each folder. Prints samples × answers."""
import collections
import gzip
import json
import os
import random
import re
import sys
import unittest

from heaps import SOURCE, CliTest, field, varint

sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
from samples import samples  # noqa: E402

ALL = os.environ.get("SNAPDIFF_EVERY_PATH") == "all"
LIBRARY = os.environ.get("SNAPDIFF_LIBRARY", "")
NAMES_OF_INPUTS = ("ref", "source", "sha256", "series", "next", "labels")
# What is not the same answer, and why.
NOT_THE_SAME = {
    ("library", "notes"): "the program puts the notes of its inputs beside those of the answer; a program that opens them has them already",
    ("store", "object graphs"): "a store keeps the rows of an object graph without its references: culprits are types where files name their "
                                "holder; rows, totals and verdicts are equal (test_same_answer)",
    ("moments", None): "a pair of files takes one moment of each, a series of the store holds all of them",
    ("pprof and SQL", "lists"): "a row that a list leaves out lies between two values; pprof and SQL have the rows that are listed",
    ("pprof", "without bytes"): "pprof is written in one metric; counters have no stacks",
}
CONSTANT = 1000
LISTS = re.compile(r"^tracemalloc/.*(lineno|traceback)\.txt")


def without_names(value):
    if isinstance(value, dict):
        kept = {key: without_names(inner) for key, inner in value.items() if key not in NAMES_OF_INPUTS}
        if "severity" in kept:  # a note of one input begins with what that is called
            kept["text"] = re.sub(r"^(/\S*|@\d+)(@\w+)?: ", "", kept["text"])
        return kept
    return [without_names(inner) for inner in value] if isinstance(value, list) else value


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        return [one for key in {**a, **b} for one in differences(a.get(key), b.get(key), "%s/%s" % (path, key))]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [one for i, pair in enumerate(zip(a, b)) for one in differences(*pair, "%s[%d]" % (path, i))]
    return [] if a == b else [(path, a, b)]


def frames(row):
    return tuple((frame["function"] or "", frame["file"] or "", frame["line"] or 0) for frame in row["stack"])


def said(found, factor=1, but=()):
    """Rows, matches, culprits, verdicts; values times `factor`; without the rows of the functions `but`."""
    rows = collections.defaultdict(list)
    for row in found["rows"]:
        if not any(frame["function"] in but for frame in row["stack"]):
            rows[frames(row)].append((factor * (row["baseline"] or 0), factor * row["current"], row.get("verdict")))
    total = found["total"]
    return {"rows": {key: sorted(values, key=repr) for key, values in rows.items()},
            "culprits": [(one["name"], factor * one["growth"], one.get("verdict")) for one in found["story"]["culprits"]],
            "headline": found["story"]["headline"]["verdict"], "growth": factor * total["growth"], "total's verdict": total.get("verdict")}


def message(data):
    """(number, payload) of the fields of a protobuf message: whole numbers and bytes."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        else:
            size = number()
            at += size
            yield key >> 3, data[at - size:at]


def packed(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value, shift = value | (byte & 127) << shift, shift + 7
        if byte < 128:
            values.append(value - (1 << 64) if value >> 63 else value)
            value = shift = 0
    return values


def rewritten(data, how, draw):
    """The pprof file with its samples changed: "order", "split", "thousand", or "constant", which adds a stack."""
    parts = list(message(gzip.decompress(data)))
    bodies = [[(number, packed(payload) if number == 2 else payload) for number, payload in message(body)] for key, body in parts if key == 2]

    def put(body, change):
        return field(2, b"".join(field(number, b"".join(varint(change(value)) for value in payload) if number == 2 else payload)
                                 for number, payload in body))

    if how == "order":
        draw.shuffle(bodies)
    changes = {"order": [lambda v: v], "constant": [lambda v: v], "split": [lambda v: v // 2, lambda v: v - v // 2], "thousand": [lambda v: 1000 * v]}[how]
    written = b"".join(put(body, change) for body in bodies for change in changes)
    if how == "constant":
        number = 1 << 40  # of the location and of its function
        counts = collections.Counter(key for key, _ in parts)
        parts += [(6, b"constant"), (5, field(1, number) + field(2, counts[6])), (4, field(1, number) + field(4, field(1, number)))]
        written += field(2, field(1, varint(number)) + field(2, b"".join(varint(CONSTANT) for _ in range(counts[1]))))
    # The samples first: fields may stand in any order.
    return gzip.compress(written + b"".join(field(key, payload) for key, payload in parts if key != 2), 1, mtime=0)


def chosen():
    """The smallest sample of each folder, of several files where there is one."""
    if ALL:
        return samples()
    best = {}
    for name, files in samples():
        key = (len(files) < 2, sum(map(os.path.getsize, files)))
        folder = os.path.dirname(name)
        if folder not in best or key < best[folder][0]:
            best[folder] = (key, name, files)
    return [(name, files) for _, name, files in best.values()]


class EveryPath(CliTest):
    def setUp(self):
        super().setUp()
        self.answers = collections.Counter()

    def ask(self, command, *operands, store=":memory:"):
        """The answer, or None where the command has none."""
        done = self.run_any(command, *operands, "--as", "json", "-n", "0", "--db", store)
        if done.returncode not in (0, 1) or not done.stdout.strip():
            return None
        found = json.loads(done.stdout)
        return None if found["schema"] == "snapdiff.top/1" else found

    def equal(self, expected, found, path):
        self.answers[path] += 1
        differing = differences(without_names(expected), without_names(found))
        self.assertEqual(differing[:3], [], "%s: %d differences" % (path, len(differing)))

    def test_every_sample(self):
        count = 0
        for number, (name, files) in enumerate(chosen()):
            command = "trend" if len(files) != 2 else "diff"
            expected = self.ask(command, *files)
            if not expected and command == "trend":
                command, expected = "diff", self.ask("diff", *files)
            if not expected:
                continue
            count += 1
            with self.subTest(sample=name):
                self.stored(command, files, expected, "%d" % number)
                if "story" in expected:
                    self.by_library(command, files, expected)
                if "story" in expected and len(files) > 1 and self.moments == len(files):
                    if not LISTS.search(name):
                        self.by_sql(command, expected, "%d.db" % number)
                    self.as_pprof(name, command, files, expected, "%d" % number)
        self.assertGreater(count, 20)
        print("%d samples, %d answers compared: %s" % (count, sum(self.answers.values()), dict(self.answers)))
        for (path, what), why in NOT_THE_SAME.items():
            print("not the same: %s%s: %s" % (path, " (%s)" % what if what else "", why))

    def stored(self, command, files, expected, tag):
        self.equal(expected, self.ask(command, *files, store=tag + ".files.db"), "files")
        self.run_it("import", *files, "--series", "s", "--db", tag + ".db")
        self.moments = int(self.run_it("sql", "SELECT count(*) FROM snapshot", "--as", "csv", "--db", tag + ".db")[0].split()[1])
        if len(files) > 1 and self.moments != len(files):
            return  # ("moments", None)
        self.equal(expected, self.ask(command, "s", store=tag + ".db"), "store")
        if len(files) > 1:
            # The later half is there first: times and numbers of names say what comes first.
            half = len(files) // 2
            self.run_it("import", *files[half:], "--series", "s", "--db", tag + ".b.db")
            self.run_it("import", *files[:half], "--series", "s", "--db", tag + ".a.db")
            self.run_it("merge", tag + ".a.db", "--db", tag + ".b.db")
            self.equal(expected, self.ask(command, "s", store=tag + ".b.db"), "merged store")

    def by_sql(self, command, expected, store):
        """SQL knows stacks as recorded: sums of all, and verdicts of a trend."""
        ids = self.run_it("sql", "SELECT id FROM snapshot ORDER BY id", "--as", "csv", "--db", store)[0].split()[1:]
        call, first, last = ("trend('s')", "first", "last") if command == "trend" else ("growth(%s)" % ", ".join(ids), "baseline", "current")
        query = "SELECT coalesce(sum(%s), 0) AS a, coalesce(sum(%s), 0) AS b FROM %s WHERE metric = '%s'" % (first, last, call, expected["metric"])
        text, _ = self.run_it("sql", query, "--as", "csv", "--db", store)
        self.answers["SQL"] += 1
        before, after = map(int, text.split()[1].split(","))
        self.assertEqual(after - before, expected["total"]["growth"], "SQL")

    def by_library(self, command, files, expected):
        if not os.path.exists(LIBRARY):
            return
        sys.path.insert(0, os.path.join(SOURCE, "analyzer", "python"))
        import snapdiff  # pylint: disable=import-outside-toplevel
        found = (snapdiff.series if command == "trend" else snapdiff.compare)(*files).json()
        for answer in (expected, found):
            answer.pop("notes", None)
        self.equal(expected, found, "library")

    def as_pprof(self, name, command, files, expected, tag):
        written = []
        for i, file in enumerate(files):
            written.append("%s.%03d.pb.gz" % (tag, i))
            if self.run_any("export", "--pprof", file, "-o", written[-1], "--db", ":memory:").returncode:
                return
        base = self.ask(command, *written)
        self.answers["pprof again"] += 1
        key = lambda found: (found["total"]["growth"], [(one["name"], one["growth"], one.get("verdict")) for one in found["story"]["culprits"]],
                             found["story"]["headline"]["verdict"])
        if not LISTS.search(name):
            self.assertEqual(key(base), key(expected), "pprof again")
        for how in ("order", "split", "thousand", "constant"):
            changed = []
            for i, file in enumerate(written):
                with open(os.path.join(self.folder, file), "rb") as one:
                    changed.append(self.write("%s.%s.%03d.pb.gz" % (tag, how, i), rewritten(one.read(), how, random.Random(i))))
            self.answers[how] += 1
            self.assertEqual(differences(said(base, 1000 if how == "thousand" else 1), said(self.ask(command, *changed), but=("constant",)))[:2], [], how)
        if command == "diff":
            self.mirrored(files, expected)

    def mirrored(self, files, expected):
        """A row is shown by its newer frames: names may differ, values may not."""
        back = self.ask("diff", *files[::-1])
        self.answers["mirrored"] += 1
        self.assertEqual(sorted((row["baseline"], row["current"]) for row in expected["rows"]),
                         sorted((row["current"], row["baseline"]) for row in back["rows"]), "mirrored")
        self.assertEqual(expected["total"]["growth"], -back["total"]["growth"], "mirrored")


if __name__ == "__main__":
    unittest.main()

"""The same answer on every path: files, a store in memory, a store, a merged one, pprof exported and read again, SQL; and
however the input is written: rows in another order, rows split in two, values a thousand times as large, operands mirrored.

The series are those of tests/corpus, drawn by seed: one for each of some formats. SNAPDIFF_SAME_ANSWER=all takes all
formats and more seeds (minutes)."""
import csv
import json
import os
import random
import sys
import unittest

from heaps import INUSE, SOURCE, CliTest, pprof

sys.path.insert(0, os.path.join(SOURCE, "tests", "corpus"))
from lib import cases  # noqa: E402

ALL = os.environ.get("SNAPDIFF_SAME_ANSWER") == "all"
FORMATS = sorted(cases.FORMATS) if ALL else ["dhat", "go-text", "heaptrack", "jvm-histogram", "pprof-go"]
SEEDS = range(1, 6) if ALL else [1]
GRAPHS = ("hprof", "objgraph", "v8")  # a store keeps no object graph: their culprits come in another order, without retained sizes
EXACT_WITHOUT_TIMES = ("dhat", "jvm-histogram", "dotnet", "memray")  # what SQL, which has no errors and times, judges alike


def frames(row):
    return tuple((frame["function"] or "", frame["file"] or "", frame["line"] or 0) for frame in row["stack"])


def rounded(number):
    return None if number is None else float("%.9g" % number)


def answer(text, names_only=False):
    """What a trend or diff says: rows, verdicts, culprits, totals; nothing of what inputs are called."""
    found = json.loads(text)
    rows = {}
    for row in found["rows"]:
        key = tuple(name for name, _, _ in frames(row)) if names_only else frames(row)
        said = (row["baseline"], row["current"], row.get("verdict"), rounded(row.get("slope")))
        rows.setdefault(key, []).append(said)
    culprits = [(one["name"], one["growth"], one.get("verdict"), rounded(one["share"])) for one in found["story"]["culprits"]]
    return {"rows": {key: sorted(map(repr, said)) for key, said in rows.items()}, "culprits": culprits, "headline": found["story"]["headline"]["verdict"],
            "total": (found["total"]["baseline"], found["total"]["current"], found["total"].get("verdict"))}


class SameAnswer(CliTest):
    def trend(self, *operands, store=":memory:", names_only=False, **more):
        return answer(self.run_it("trend", *operands, "--as", "json", "-n", "0", "--db", store, **more)[0], names_only)

    def same(self, expected, found, what, in_order=True):
        if not in_order:
            expected, found = ({**one, "culprits": sorted(map(repr, one["culprits"]))} for one in (expected, found))
        for part in expected:
            if isinstance(expected[part], dict):
                differing = [key for key in {**expected[part], **found[part]} if expected[part].get(key) != found[part].get(key)]
                self.assertEqual([(key, expected[part].get(key), found[part].get(key)) for key in differing[:2]], [], what)
            self.assertEqual(expected[part], found[part], (what, part))

    def case(self, name, seed):
        plan = cases.Plan("leak", name, 8, "linear", 1)
        cases.write_case(self.folder, seed, plan)
        with open(os.path.join(self.folder, "leak", "truth.json"), encoding="utf-8") as file:
            return [os.path.join("leak", operand) for operand in json.load(file)["operands"]]

    def test_every_path(self):
        compared = 0
        for seed in SEEDS:
            for name in FORMATS:
                with self.subTest(format=name, seed=seed):
                    compared += self.every_path(name, self.case(name, seed), "%s-%d" % (name, seed))
        print("%d answers compared, %d series" % (compared, len(FORMATS) * len(SEEDS)))

    def every_path(self, name, files, tag):
        expected = self.trend(*files)
        whole, halves = tag + ".db", [tag + ".a.db", tag + ".b.db"]
        self.run_it("import", *files, "--series", "s", "--db", whole)
        self.same(expected, self.trend("s", store=whole), "store", name not in GRAPHS)
        paths = 1
        if len(files) > 1:
            for half, part in zip(halves, (files[:4], files[4:])):
                self.run_it("import", *part, "--series", "s", "--db", half)
            self.run_it("merge", halves[1], "--db", halves[0])
            self.same(expected, self.trend("s", store=halves[0]), "merged store", name not in GRAPHS)
            paths += 1
        gate = json.loads(self.run_any("gate", *files, "--as", "json", "--db", ":memory:").stdout)
        stored = json.loads(self.run_any("gate", "s", "--as", "json", "--db", whole).stdout)
        self.assertEqual(gate, stored, "gate")
        if name in EXACT_WITHOUT_TIMES:
            self.by_sql(expected, whole)
            paths += 1
        if name in ("pprof-go", "dhat", "heaptrack"):
            again = []
            for number in range(8):
                again.append("%s.%d.pb.gz" % (tag, number))
                self.run_it("export", "--pprof", "s#%d" % (number + 1), "--db", whole, "-o", again[-1])
            read = self.trend(*again, names_only=True)
            self.assertEqual(self.trend(*files, names_only=True)["total"][:2], read["total"][:2], "pprof and again")
            paths += 1
        return paths + 1

    def by_sql(self, expected, store):
        """Stacks alone have verdicts there, without the folding of views: sums, and the words of all rows that grew."""
        text, _ = self.run_it("sql", "SELECT first, last, growth, verdict FROM trend('s')", "--as", "csv", "--db", store)
        rows = list(csv.DictReader(text.splitlines()))
        self.assertEqual(sum(int(row["first"] or 0) for row in rows), expected["total"][0], "sql")
        self.assertEqual(sum(int(row["last"] or 0) for row in rows), expected["total"][1], "sql")
        words = lambda word: sum(word in said for group in expected["rows"].values() for said in group)
        self.assertEqual(sum(row["verdict"] == "GROWING" for row in rows), words("GROWING"), "sql")


class HoweverItIsWritten(CliTest):
    def program(self, seed, factor=1):
        """Twelve snapshots: a leak, a cache, a step, turnover and a deep stack; rows as (stack, objects, bytes)."""
        draw = random.Random(seed)
        out = []
        for i in range(12):
            rows = [(["leak", "serve", "main"], 10 + i, 40000 + 3000 * i), (["fill", "cache", "main"], 5, 90000 - 80000 // (i + 1)),
                    (["load", "main"], 2, 30000 if i < 6 else 70000), (["keep", "main"], 50, 600000)]
            rows += [(["alloc%d" % k, "work", "main"], 3, 2000 + draw.randrange(500)) for k in range(12)]
            rows.append((["visit"] * 4 + ["walk", "main"], 4, 8000 + 10 * i))
            out.append([(stack, objects, value * factor) for stack, objects, value in rows])
        return out

    def written(self, tag, snapshots):
        names = []
        for i, rows in enumerate(snapshots):
            names.append("%s.%02d.pb.gz" % (tag, i))
            self.write(names[-1], pprof(INUSE, [(stack, [objects, value]) for stack, objects, value in rows], time_ns=10 ** 18 + i * 60 * 10 ** 9))
        return names

    def trend(self, files):
        found = answer(self.run_it("trend", *files, "--as", "json", "-n", "0", "--db", ":memory:")[0], True)
        return found

    def test_rows_in_another_order_or_split(self):
        for seed in (1, 2, 3):
            program = self.program(seed)
            expected = self.trend(self.written("a", program))
            draw = random.Random(seed)
            shuffled = [draw.sample(rows, len(rows)) for rows in program]
            # The numbers of lines follow the order in which functions are met: names alone are compared.
            self.assertEqual(self.trend(self.written("b", shuffled)), expected)
            split = [[half for stack, objects, value in rows for half in ((stack, objects // 2, value // 2),
                                                                         (stack, objects - objects // 2, value - value // 2))] for rows in program]
            self.assertEqual(self.trend(self.written("c", split)), expected)

    def test_values_a_thousand_times_as_large(self):
        expected = self.trend(self.written("a", self.program(4)))
        found = self.trend(self.written("b", self.program(4, 1000)))
        words = lambda said: {key: [row.split("'")[1] if "'" in row else "" for row in rows] for key, rows in said["rows"].items()}
        self.assertEqual(words(found), words(expected))
        self.assertEqual([(name, growth, word) for name, growth, word, _ in found["culprits"]],
                         [(name, 1000 * growth, word) for name, growth, word, _ in expected["culprits"]])
        self.assertEqual(found["total"][:2], tuple(1000 * value for value in expected["total"][:2]))

    def test_mirrored_operands(self):
        files = self.written("a", self.program(5))
        there = json.loads(self.run_it("diff", files[0], files[-1], "--as", "json", "-n", "0", "--db", ":memory:")[0])
        back = json.loads(self.run_it("diff", files[-1], files[0], "--as", "json", "-n", "0", "--db", ":memory:")[0])
        rows = lambda found, sign: sorted((frames(row), sign * row["growth"]) for row in found["rows"])
        self.assertEqual(rows(there, 1), rows(back, -1))
        self.assertEqual(there["total"]["growth"], -back["total"]["growth"])


if __name__ == "__main__":
    unittest.main()

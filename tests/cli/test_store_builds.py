"""Two builds of one program give the same answer whether their snapshots come out of files or out of a store, in which
frames that both builds name keep the module and the offset of the build that came first."""
import json
import re
import unittest

from heaps import CliTest, field, varint

MINUTE = 60 * 10**9
SITES = 8


def heap(build, number, build_id):
    """A C++ service whose third cache grows. In build 1 all code below `main` lies ten lines and a page further down."""
    strings = ["", "inuse_objects", "count", "inuse_space", "bytes", "/srv/app", build_id, "main", "serve", "app.cc", "cache.cc"]
    strings += ["Cache::put%d" % site for site in range(SITES)]
    body = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    body += field(3, field(1, 1) + field(2, 0x400000) + field(3, 0x480000 + build * 0x4000) + field(5, 5) + field(6, 6))
    functions, locations = [(7, 9), (8, 9)], [(1, 12, 0x400100), (2, 40 + 10 * build, 0x401000 + build * 0x1000)]
    for site in range(SITES):
        functions.append((11 + site, 10))
        locations.append((3 + site, 20 + 5 * site + 10 * build, 0x402000 + site * 0x40 + build * 0x1000))
        size = (site + 1) * 10_000 + (number * 20_000 if site == 3 else 0)
        body += field(2, field(1, varint(3 + site) + varint(2) + varint(1)) + field(2, varint(100) + varint(size)))
    for row, (function, line, address) in enumerate(locations, 1):
        body += field(4, field(1, row) + field(2, 1) + field(3, address) + field(4, field(1, function) + field(2, line)))
    for row, (name, file) in enumerate(functions, 1):
        body += field(5, field(1, row) + field(2, name) + field(3, name) + field(4, file))
    body += b"".join(field(6, text) for text in strings)
    return body + field(9, 1_760_000_000 * 10**9 + number * 10 * MINUTE)


class StoreBuilds(CliTest):
    def files(self, *build_ids):
        names = []
        for number in range(10):
            build = 0 if number < 5 else 1
            names.append(self.write("t%d.pb" % number, heap(build, number, build_ids[build])))
        return names

    def report(self, command, names, *operands):
        """The answer without how the snapshots and their series are named, the only difference there may be."""
        text, _ = self.run_it(command, *operands, "--as", "json")
        for number in range(len(names) - 1, -1, -1):
            text = re.sub(re.escape(names[number]) + r"(?=[\s\",])", "snapshot%d" % number, text)
        for number, file in enumerate(self.read):
            text = re.sub(re.escape(file) + r"(?=[\s\",])", "snapshot%d" % number, text)
        return json.loads(re.sub(r'"series": *("[^"]*"|null)', '"series": null', text))

    def refs(self, store, files):
        """How the store calls the snapshots of these files."""
        listed = json.loads(self.run_it("list", "--db", store, "--as", "json")[0])
        found = {snapshot["source"]: snapshot["ref"] for series in listed["series"] for snapshot in series["snapshots"]}
        return [found[file] for file in files]

    def check(self, command, files):
        """One answer from files and out of every kind of store."""
        self.read = files
        expected = self.report(command, files, *files, "--db", ":memory:")
        self.run_it("import", *files, "--db", "one.db", "--series", "web")
        for number, file in enumerate(files):
            self.run_it("import", file, "--db", "part%d.db" % (number % 2), "--series", "web")
        self.run_it("merge", "part0.db", "part1.db", "--db", "merged.db")
        self.run_it(*files, "--db", "compared.db")
        for store in ("one.db", "merged.db", "compared.db"):
            refs = self.refs(store, files)
            self.assertEqual(self.report(command, refs, *refs, "--db", store), expected, store)
        self.assertEqual(self.report(command, self.refs("compared.db", files), "--db", "compared.db"), expected)
        return expected

    def test_pair(self):
        files = self.files("a" * 40, "b" * 40)[4:6]
        report = self.check("diff", files)
        self.assertEqual(report["matched"]["unmatched"], 0)
        self.assertEqual([row["growth"] for row in report["rows"] if row["growth"]], [20_000])

    def test_pair_backwards(self):
        self.check("diff", self.files("a" * 40, "b" * 40)[5:3:-1])

    def test_series(self):
        report = self.check("trend", self.files("a" * 40, "b" * 40))
        self.assertEqual([step.get("other_build", False) for step in report["snapshots"]], [number == 5 for number in range(10)])

    def test_sql(self):
        """The same rows as diff has, also where each stack has other lines."""
        files = self.files("a" * 40, "b" * 40)[4:6]
        rows = self.check("diff", files)["rows"]
        query = "SELECT baseline, current, growth, class FROM growth(1, 2) WHERE metric = 'inuse_space'"
        found = json.loads(self.run_it("sql", query, "--db", "one.db", "--as", "json")[0])
        self.assertEqual(sorted((row["baseline"], row["current"]) for row in found), sorted((row["baseline"], row["current"]) for row in rows))
        self.assertEqual([row["class"] for row in found if row["growth"]], ["grew"])

    def test_without_build_ids(self):
        self.check("diff", self.files("", "")[4:6])


if __name__ == "__main__":
    unittest.main()

"""A series over two releases of one program: rows go on where lines moved and a function has another name."""
import json
import os
import unittest

from heaps import INUSE, CliTest, pprof

MINUTE = 60 * 10**9
START = 1_700_000_000 * 10**9
STEP = 64_000  # bytes that the leak grows by
OLD, NEW = 6, 6  # snapshots of each release


def release(number, moved, renamed):
    """Snapshot `number` of a build whose lines moved down by `moved`: one leak below a shared function, and work that is
    as large at all times."""
    put = "Store::insert" if renamed else "Cache::put"

    def at(name, line, file="server.cc"):
        return name, file, line + moved

    main, serve = at("main", 90, "main.cc"), at("serve", 40, "main.cc")
    leak = [at("Session::Session", 12), at(put, 31), at("open_session", 55), serve, main]
    rows = [(leak, [100 + 1000 * number, 6400 + STEP * number])]
    rows.append(([at("Entry::Entry", 18), at(put, 33), at("warm_up", 70), serve, main], [500, 48_000]))
    for i, name in enumerate(("parse", "route", "render", "compress", "encrypt", "log", "index", "flush")):
        rows.append(([at("Buffer::Buffer", 200), at(name, 100 + 10 * i), serve, main], [50 + i, 20_000 + 1000 * i]))
    return pprof(INUSE, rows, time_ns=START + number * MINUTE)


class Releases(CliTest):
    def setUp(self):
        super().setUp()
        self.files = [self.write("svc.%03d.pb.gz" % i, release(i, 0, False)) for i in range(OLD)]
        self.files += [self.write("svc.%03d.pb.gz" % i, release(i, 7, True)) for i in range(OLD, OLD + NEW)]

    def check(self, report):
        """One row that grows through both releases, and nothing that is new or gone."""
        growing = [row for row in report["rows"] if row["growth"] > 0]
        self.assertEqual([(row["growth"], row["verdict"]) for row in growing], [(STEP * (OLD + NEW - 1), "GROWING")])
        self.assertEqual(growing[0]["values"], [6400 + STEP * i for i in range(OLD + NEW)])
        self.assertIn("Store::insert", [frame["function"] for frame in growing[0]["stack"]])
        self.assertTrue(all(row["growth"] == 0 for row in report["rows"] if row is not growing[0]))
        self.assertEqual(report["story"]["headline"]["verdict"], "GROWING")
        first = report["story"]["culprits"][0]
        self.assertIn(first["name"], ("Session::Session", "Store::insert", "open_session"))
        self.assertEqual((first["verdict"], first["growth"]), ("GROWING", STEP * (OLD + NEW - 1)))
        marked = [i for i, snapshot in enumerate(report["snapshots"]) if snapshot.get("other_build")]
        self.assertEqual(marked, [OLD])

    def test_files(self):
        report = json.loads(self.run_it("trend", *self.files, "--as", "json")[0])
        self.check(report)

    def test_a_store(self):
        store = os.path.join(self.folder, "s.db")
        self.run_it("import", *self.files, "--db", store)
        report = json.loads(self.run_it("trend", "--db", store, "--as", "json")[0])
        self.check(report)

    def test_the_release_is_marked(self):
        text = self.run_it("trend", *self.files)[0]
        self.assertIn("another build from snapshot %d (svc.%03d.pb.gz) on" % (OLD + 1, OLD), text)
        self.assertNotIn("[NEW]", text)
        self.run_it("postmortem", *self.files, "-o", "report")
        with open(os.path.join(self.folder, "report/report.json"), encoding="utf-8") as file:
            inputs = json.load(file)["inputs"]
        self.assertEqual([i for i, one in enumerate(inputs) if one.get("other_build")], [OLD])
        with open(os.path.join(self.folder, "report/report.html"), encoding="utf-8") as file:
            self.assertIn("another build of the program", file.read())

    def test_one_build_has_no_mark(self):
        report = json.loads(self.run_it("trend", *self.files[:OLD], "--as", "json")[0])
        self.assertFalse(any("other_build" in snapshot for snapshot in report["snapshots"]))

    def test_the_gate_goes_on(self):
        """The growth of a row is judged across the release; nothing is new because its lines moved."""
        self.run_it("gate", *self.files, "--budget", "%d/step" % (STEP * 2))
        out = self.run_it("gate", *self.files, "--budget", "%d/step" % (STEP // 2), code=1)[0]
        self.assertIn("FAIL", out)
        self.run_it("gate", self.files[OLD - 1], self.files[OLD], "--budget", "%d" % (STEP * 2))
        out = self.run_it("gate", self.files[OLD - 1], self.files[OLD], "--budget", "%d" % (STEP // 2), code=1)[0]
        self.assertIn("FAIL", out)


if __name__ == "__main__":
    unittest.main()

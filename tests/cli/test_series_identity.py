"""What is one series: folder, stem and program. Two services are never one, and each can be named in every command."""
import json
import os
import unittest

from heaps import INUSE, KEEP, GROW, MAIN, CliTest, pprof, tcmalloc

OTHER_MAPS = """
MAPPED_LIBRARIES:
55d000000000-55d000001000 r--p 00000000 00:00 1  /srv/bin/%s
55d000001000-55d000009000 r-xp 00001000 00:00 1  /srv/bin/%s
"""


def service(name, step, base=1000000):
    """A dump of a service: its own program, a stack that grows and one that stays."""
    return tcmalloc([(step, 30000 * step, [GROW, MAIN]), (5, base, [KEEP, MAIN])], OTHER_MAPS % (name, name))


class Identity(CliTest):
    def dumps(self, folder, name, count=12, stem="heap", **more):
        os.makedirs(os.path.join(self.folder, folder), exist_ok=True)
        return [self.write("%s/%s.%03d" % (folder, stem, i), service(name, i, **more)) for i in range(1, count + 1)]

    def series(self, *more):
        out, _ = self.run_it("list", "--as", "json", *more)
        return {one["name"]: [os.path.normpath(s["source"]) for s in one["snapshots"]] for one in json.loads(out)["series"]}

    def refs(self, name, *more):
        out, _ = self.run_it("list", name, "--as", "json", *more)
        return [snapshot["ref"] for snapshot in json.loads(out)["series"][0]["snapshots"]]

    def judged(self, *command, **more):
        return [one["ref"] for one in json.loads(self.run_it(*command, "--as", "json", **more)[0])["snapshots"]]

    def sources(self, *command, **more):
        """The snapshots that a command looked at, by their file."""
        report = json.loads(self.run_it(*command, "--as", "json", **more)[0])
        first = report["steps"][0]["baseline"] if "steps" in report else report["baseline"]
        last = report["steps"][-1]["current"] if "steps" in report else report["current"]
        return first["source"], last["source"]

    def assert_named_everywhere(self, name, folder, report, store):
        """Twelve dumps, heap.001 to heap.012, by the name of their series in every command."""
        ends = "%s/heap.001" % folder, "%s/heap.012" % folder
        self.assertEqual(self.sources("diff", name, **store), ends)
        self.assertEqual(self.sources("diff", "--series", name, **store), ends)
        self.assertEqual(self.sources("diff", name + "#1..#12", **store), ends)
        self.assertEqual(self.sources("diff", name + "#2..#-2", **store), ("%s/heap.002" % folder, "%s/heap.011" % folder))
        self.assertEqual(self.judged("trend", name, **store), self.refs(name, "--db", "s.db"))
        self.run_it("gate", name, code=1, **store)
        self.run_it("gate", "--series", name, code=1, **store)
        top = json.loads(self.run_it("top", name, "--as", "json", **store)[0])
        self.assertEqual(top["snapshot"]["source"], ends[1])
        self.run_it("peek", "service|" + name, name, **store)
        self.assertIn("digraph", self.run_it("render", "--dot", "-o", "-", name, **store)[0])
        self.run_it("render", "--timeline", "--svg", "-o", "t.svg", name, **store)
        self.run_it("render", "--html", "-o", "t.html", name, **store)
        self.run_it("export", "--folded", name, **store)
        self.run_it("postmortem", name, "-o", report, **store)
        self.assertIn('"%s' % ends[0], self.run_it("list", name, "--as", "json", **store)[0])


class TwoServices(Identity):
    """Equal file names, in two folders."""

    def setUp(self):
        super().setUp()
        self.a, self.b = self.dumps("A", "api"), self.dumps("B", "web")

    def assert_apart(self, *more):
        for sources in self.series(*more).values():
            self.assertEqual(len({os.path.dirname(source) for source in sources}), 1, sources)

    def test_equal_bytes_are_told_without_a_store(self):
        """Files of different sizes are not hashed there."""
        first, second, other = self.dumps("a", "app", 2) + [self.write("c.heap", service("app", 111))]
        self.write("b.heap", service("app", 2))
        told = lambda one, two: "two snapshots come from equal bytes" in "".join(self.run_it(one, two, "--db", ":memory:"))
        self.assertTrue(told(second, "b.heap"))
        self.assertFalse(told(first, second))
        self.assertFalse(told(first, other))

    def test_compared_one_after_the_other(self):
        self.run_it(self.a[0], self.a[-1])
        self.run_it(self.b[0], self.b[-1])
        self.assertEqual(self.series(), {"heap": ["A/heap.001", "A/heap.012"], "B/heap": ["B/heap.001", "B/heap.012"]})
        # Without operands: what was last compared, and which that is.
        out, err = self.run_it("--as", "json", "diff")
        self.assertIn("snapdiff.db: last compared: B/heap, 2 snapshots", err)
        self.assertEqual(json.loads(out)["baseline"]["source"], "B/heap.001")
        self.run_it("diff", "heap")
        self.assertEqual(self.sources("diff"), ("A/heap.001", "A/heap.012"))

    def test_imported(self):
        self.run_it("import", "A")
        self.run_it("import", *self.b)
        self.assertEqual({name: len(sources) for name, sources in self.series().items()}, {"heap": 12, "B/heap": 12})
        self.assert_apart()
        # Again, in another order: nothing is added and nothing joined.
        self.run_it("import", "B", "A")
        self.assertEqual({name: len(sources) for name, sources in self.series().items()}, {"heap": 12, "B/heap": 12})
        self.dumps("A", "api", count=14)
        self.run_it("import", "A")
        self.assertEqual({name: len(sources) for name, sources in self.series().items()}, {"heap": 14, "B/heap": 12})

    def test_replicas_of_one_program_are_two_series(self):
        self.dumps("C", "api")
        self.run_it("import", "A", "C")
        self.assertEqual({name: len(sources) for name, sources in self.series().items()}, {"heap": 12, "C/heap": 12})

    def test_reading_commands_leave_nothing_that_a_later_one_takes(self):
        self.run_it(self.a[0], self.a[-1])
        before = self.series()
        self.run_it("trend", "B")
        self.run_it("gate", "B", code=1)
        self.run_it("postmortem", "B", "-o", "report")
        self.assertEqual(self.series(), before)
        _, err = self.run_it("diff")
        self.assertIn("last compared: heap, 2 snapshots", err)
        # A store that is named records what was compared: CI draws it afterwards.
        self.run_it("gate", "B", "--db", "ci.db", code=1)
        self.run_it("render", "--dot", "-o", "-", "--db", "ci.db")
        self.assert_apart("--db", "ci.db")

    def test_each_can_be_named_in_every_command(self):
        self.run_it("import", "A", "B", "--db", "s.db")
        store = {"env": {"SNAPDIFF_DB": "s.db"}}
        for name, folder in (("heap", "A"), ("B/heap", "B")):
            if name == "B/heap":
                os.rename(os.path.join(self.folder, "B"), os.path.join(self.folder, "moved"))
            self.assert_named_everywhere(name, folder, "report-" + folder, store)
        self.run_it("rm", "B/heap#1..#3", "--yes", **store)
        self.assertEqual({n: len(s) for n, s in self.series("--db", "s.db").items()}, {"heap": 12, "B/heap": 9})


class OneFolder(Identity):
    """Equal file names in one folder: one service after the other."""

    def test_another_program_under_the_same_names_is_another_series(self):
        self.dumps(".", "api", count=2)
        self.run_it("heap.001", "heap.002")
        for i in (1, 2):
            self.write("heap.%03d" % i, service("web", 10 + i))
        self.run_it("heap.001", "heap.002")
        self.assertEqual(sorted(len(sources) for sources in self.series().values()), [2, 2])
        self.run_it("import", "heap.001", "heap.002")
        self.assertEqual(sorted(len(sources) for sources in self.series().values()), [2, 2])
        # Unless the user says so.
        self.run_it("import", "heap.001", "heap.002", "--series", "heap")
        self.assertEqual(len(self.series()["heap"]), 4)

    def test_one_after_the_other_by_every_command(self):
        """The same names in the same folder, today of another service: two series, each with a name of its own."""
        store = {"env": {"SNAPDIFF_DB": "s.db"}}
        first = self.dumps("day", "api")
        self.run_it("import", "day", "--db", "s.db")
        self.dumps("day", "web", base=7000000)
        self.run_it(first[0], first[-1], "--db", "s.db")
        self.run_it("import", "day", "--db", "s.db")
        self.run_it("trend", "day", **store)
        self.run_it("gate", "day", code=1, **store)
        found = {name: len(sources) for name, sources in self.series("--db", "s.db").items()}
        self.assertEqual(found, {"heap": 12, "day/heap": 12})
        os.rename(os.path.join(self.folder, "day"), os.path.join(self.folder, "moved"))
        for number, name in enumerate(found):
            self.assert_named_everywhere(name, "day", "report%d" % number, store)

    def test_nothing_is_appended_of_which_less_than_a_tenth_matches(self):
        # No mappings, no producer: the stacks alone tell them apart.
        def go(names, size):
            return pprof(INUSE, [([name, "main"], [1, size]) for name in names])
        self.write("heap.1.pb.gz", go(["a", "b", "c"], 1000))
        self.write("heap.2.pb.gz", go(["a", "b", "c"], 2000))
        self.run_it("heap.1.pb.gz", "heap.2.pb.gz")
        self.write("heap.3.pb.gz", go(["x", "y", "z"], 3000))
        self.run_it("import", "heap.3.pb.gz")
        self.assertEqual(sorted(len(sources) for sources in self.series().values()), [1, 2])
        self.write("heap.4.pb.gz", go(["a", "q", "r", "s", "t"], 4000))
        self.run_it("import", "heap.4.pb.gz")
        self.assertEqual(len(self.series()["heap"]), 3)

    def test_a_small_heap_that_became_large_is_the_same_program(self):
        self.write("heap.1.pb.gz", pprof(INUSE, [(["init", "main"], [1, 1000])]))
        self.write("heap.2.pb.gz", pprof(INUSE, [(["init", "main"], [1, 1000]), (["leak", "main"], [9, 10**9])]))
        self.run_it("import", "heap.1.pb.gz", "heap.2.pb.gz")
        self.assertEqual(len(self.series()["heap"]), 2)

    def test_a_folder_of_two_kinds_is_not_compared_as_one(self):
        os.mkdir(os.path.join(self.folder, "mix"))
        for i in range(1, 4):
            self.write("mix/svc.%04d.heap" % i, service("svc", i))
            self.write("mix/web.%d.pb.gz" % i, pprof(INUSE, [(["work", "main"], [1, 1000 * i])]))
        for command in ("diff", "trend", "gate", "render"):
            err = self.refused(command, "mix")
            self.assertIn("2 series: found svc (3 gperftools), web (3 pprof)", err)
            self.assertIn("--series NAME", err)
        self.assertEqual(self.sources("diff", "mix", "--series", "web"), ("mix/web.1.pb.gz", "mix/web.3.pb.gz"))
        self.run_it("trend", "mix", "--series", "svc")
        _, err = self.run_it("postmortem", "mix", "-o", "report")
        self.assertIn("2 series: one report each", err)
        for name in ("svc", "web"):
            self.assertTrue(self.exists("report/%s/report.json" % name))
        # A single file of another kind is left out, and said.
        os.remove(os.path.join(self.folder, "mix/web.1.pb.gz"))
        os.remove(os.path.join(self.folder, "mix/web.2.pb.gz"))
        _, err = self.run_it("diff", "mix", "--db", ":memory:")
        self.assertIn("left out, since not of the series svc: web (1 pprof)", err)

    def test_a_folder_of_single_names_is_one_series(self):
        os.mkdir(os.path.join(self.folder, "days"))
        for i, day in enumerate(("a-monday", "b-tuesday", "c-friday"), 1):
            self.write("days/%s.heap" % day, service("svc", i))
        self.assertEqual(self.sources("diff", "days"), ("days/a-monday.heap", "days/c-friday.heap"))

    def test_two_programs_compared_on_purpose_are_warned_of_and_not_joined(self):
        self.write("a.heap", service("api", 1))
        self.write("b.pb.gz", pprof(INUSE, [(["work", "main"], [1, 1000])]))
        out, _ = self.run_it("a.heap", "b.pb.gz")
        self.assertRegex(out.splitlines()[0], "^warning +no stack in common: two different programs[?]$")
        self.assertEqual(sorted(self.series()), ["a", "b"])
        report = json.loads(self.run_it("a.heap", "b.pb.gz", "--as", "json")[0])
        self.assertIn("no stack in common: two different programs?", [note["text"] for note in report["notes"]])
        out, _ = self.run_it("gate", "a.heap", "b.pb.gz", "--budget", "culprit:5", code=1)
        self.assertIn("warning: no stack in common: two different programs?\n", out)
        self.assertNotIn("filtered", out)
        out, _ = self.run_it("a.heap", "a.heap")
        self.assertNotIn("different programs", out)


class Operands(Identity):
    def test_a_name_that_nothing_has(self):
        self.assertIn("no such file, and no store that could hold a series of that name: found no snapdiff.db", self.refused("trend", "web"))
        self.dumps("web-heaps", "web", stem="web")
        self.run_it("import", "web-heaps")
        for command in ("trend", "gate", "diff", "postmortem", "top", "render"):
            err = self.refused(command, "webb")
            self.assertIn("no file and no series of that name; series: web; did you mean web?", err)
        self.assertIn("no series of that name; series: web", self.refused("diff", "api#1", "api#2"))
        self.assertIn("the series has 12", self.refused("diff", "web#3..#13"))
        self.assertIn("no such file or directory", self.refused("import", "wbe"))
        out, _ = self.run_it("web", "--as", "json")  # as after a command's name
        self.assertEqual(len(json.loads(out)["steps"]), 11)

    def test_two_folders_are_two_sides(self):
        self.dumps("before", "svc", count=3)
        self.dumps("after", "svc", count=4)
        out, err = self.run_it("before", "after", "--as", "json")
        report = json.loads(out)
        self.assertEqual((report["baseline"]["source"], report["current"]["source"]), ("before/heap.003", "after/heap.004"))
        self.assertIn("before means its last snapshot, before/heap.003 of 3", err)
        self.run_it("gate", "before", "after")

    def test_a_label_over_several_series_is_not_one(self):
        for name in ("api", "web"):
            self.run_it("import", *self.dumps(name + "-heaps", name, stem=name), "--label", "env=prod")
        err = self.refused("trend", "label:env=prod")
        self.assertIn("2 series: found api (12 gperftools), web (12 gperftools)", err)
        self.assertEqual(self.judged("trend", "label:env=prod", "--series", "web"), self.refs("web"))
        _, err = self.run_it("postmortem", "label:env=prod", "-o", "report")
        self.assertIn("2 series: one report each", err)

    def test_an_import_after_a_comparison_is_the_newer_one(self):
        files = self.dumps("api-heaps", "api", stem="api")
        self.run_it(files[0], files[1])
        self.run_it("import", *self.dumps("web-heaps", "web", stem="web"))
        self.assertIn("newest series: web, 12 snapshots", self.run_it("trend")[1])
        self.assertEqual(self.judged("trend"), self.refs("web"))
        self.run_it("diff", "api#1", "api#2")
        self.assertEqual(self.sources("diff"), ("api-heaps/api.001", "api-heaps/api.002"))


if __name__ == "__main__":
    unittest.main()

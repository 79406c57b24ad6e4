"""One folder with inputs of several kinds, of one hour: one import, separate series, one axis of time."""
import calendar
import json
import os
import re
import shutil
import time
import unittest

import heaps
from heaps import CliTest, INUSE, SOURCE, pprof, tcmalloc

SHARED = os.path.normpath(os.path.join(SOURCE, "..", "shared", "data"))

STATISTICS = ("ThreadTotalLiveCount: %d; CreatedOutsideScopeCount: 0; DisposedOutsideScopeCount: 0; "
              "CreatedInScopeCount: %d; DisposedInScopeCount: %d; AttachedToScopeCount: 0; DetachedFromScopeCount: %d")


def ns(text):
    """"2026-07-12T16:40:00Z" in nanoseconds since 1970."""
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")) * 10**9


def torchsharp(times):
    """What DisposeScopeManager.Statistics prints, 148 more live tensors each time."""
    lines = []
    for number, stamp in enumerate(times, 1):
        lines.append("%s info: epoch %d" % (stamp, number))
        lines.append(STATISTICS % (148 * number, 350 * number, 202 * number, 148 * number))
    return "\n".join(lines) + "\n"


def heap(size):
    return tcmalloc([(10, size, [heaps.GROW, heaps.MAIN]), (5, 500, [heaps.KEEP, heaps.MAIN])])


def timed(size, at):
    return pprof(INUSE, [(["work", "main"], [1, size])], time_ns=ns(at) if at else 0)


class Mixed(CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(os.path.join(self.folder, "mix"))

    def small_folder(self):
        for number, size in enumerate((1000, 2000, 3000), 1):
            self.write("mix/svc.%04d.heap" % number, heap(size))
        self.write("mix/web.1.pb.gz", timed(7000, "2026-07-12T10:10:00Z"))
        self.write("mix/web.2.pb.gz", timed(9000, "2026-07-12T10:20:00Z"))
        self.write("mix/train.log", torchsharp(["2026-07-12 10:00:00", "2026-07-12 10:30:00", "2026-07-12 11:00:00"]))
        self.write("mix/README", "not a snapshot\n")

    def listed(self, *arguments):
        out, _ = self.run_it(*arguments, "list", "--as", "json")
        return {series["name"]: series for series in json.loads(out)["series"]}

    def times(self, series, key):
        return [snapshot[key] for snapshot in series["snapshots"]]


class MixedFolder(Mixed):
    def test_each_kind_is_a_series_of_its_own(self):
        self.small_folder()
        _, err = self.run_it("import", "mix")
        self.assertIn("series  3 series: svc (3), train (3), web (2)", err)
        self.assertIn("import  8 snapshots", err)
        series = self.listed()
        self.assertEqual(set(series), {"svc", "train", "web"})
        self.assertEqual(self.times(series["svc"], "taken_at"), [None] * 3)
        self.assertEqual(series["svc"]["order"], "sequence")
        self.assertEqual(self.times(series["train"], "taken_at"),
                         ["2026-07-12T10:00:00Z", "2026-07-12T10:30:00Z", "2026-07-12T11:00:00Z"])
        self.assertEqual([s["totals"]["inuse_space"] for s in series["svc"]["snapshots"]], [1500, 2500, 3500])

    def test_a_snapshot_without_a_time_has_none(self):
        self.small_folder()
        self.run_it("import", "mix")
        out, _ = self.run_it("list")
        self.assertIn("SERIES svc   3 snapshots, order: number in the name (no times in them)", out)
        out, _ = self.run_it("sql", "SELECT count(*) FROM snapshot_info WHERE series = 'svc' AND taken_at IS NULL",
                             "--as", "csv")
        self.assertEqual(out.split()[-1], "3")
        trend, _ = self.run_it("trend", "svc#1", "svc#2", "svc#3", "--as", "json")
        self.assertIsNone(json.loads(trend).get("step_seconds"))


class Chart(Mixed):
    def svg(self, *arguments):
        out, _ = self.run_it("render", "--timeline", "--svg", "-o", "-", *arguments)
        return out

    def words(self, svg):
        return " ".join(re.sub(r"\s+", " ", text) for text in re.findall(r">([^<>]+)</t", svg))

    def test_one_panel_for_each_series_with_times(self):
        self.small_folder()
        svg = self.svg("mix")
        words = self.words(svg)
        for part in ("2 series on one time axis", "train", "web", "10:00", "10:30", "11:00", "1 of 7 counters",
                     "svc: 3 of 3 snapshots are not drawn: they hold no time"):
            self.assertIn(part, words)
        self.assertEqual(svg, self.svg("mix"))

    def test_the_store_is_drawn_as_the_folder_is(self):
        self.small_folder()
        self.run_it("import", "mix")
        stored = self.words(self.svg())
        named = self.words(self.svg("svc", "train", "web"))
        by_ids = self.words(self.svg("@1..@8"))
        for words in (stored, named, by_ids):
            self.assertIn("2 series on one time axis", words)
            self.assertIn("svc: 3 of 3 snapshots are not drawn", words)
        self.assertIn("1 series on a time axis", self.words(self.svg("svc", "train")))

    def test_without_any_time_there_is_no_axis(self):
        for number in (1, 2):
            self.write("mix/svc.%d.heap" % number, heap(1000 * number))
            self.write("mix/api.%d.heap" % number, heap(1000 * number))
        self.assertIn("no snapshot of these 2 series holds a time", self.refused("render", "--timeline", "mix"))


@unittest.skipUnless(os.path.isdir(SHARED), "skipped: the shared samples are not here")
class RealFolder(Mixed):
    """CUDA pickles, tcmalloc dumps and a TorchSharp log of one hour, of the shared samples."""

    PICKLES = ("cs336-wl-medium-256-training", "cs336-wl-medium-512-inference", "cs336-wl-medium-512-training")
    # Newest event of each, read by Python's own pickle: device_traces[...]["time_us"].
    PICKLE_TIMES = ["2026-07-12T16:41:16.748Z", "2026-07-12T16:44:11.420Z", "2026-07-12T16:44:27.912Z"]

    def make(self):
        for number, name in enumerate(self.PICKLES, 1):
            shutil.copy(os.path.join(SHARED, "pytorch", name + ".pickle"),
                        os.path.join(self.folder, "mix", "gpu.%d.pickle" % number))
        dumps = os.path.join(SHARED, "pprof", "series", "tcmalloc-svc")
        for number, name in enumerate(sorted(os.listdir(dumps))[:11], 1):
            shutil.copy(os.path.join(dumps, name), os.path.join(self.folder, "mix", "svc.%04d.heap" % number))
        stamps = ["2026-07-12 16:%02d:00" % minute for minute in (40, 43, 45, 50)]
        self.write("mix/train.log", torchsharp(stamps))

    def test_one_command_and_all_are_series_on_one_axis(self):
        self.make()
        _, err = self.run_it("import", "mix")
        self.assertIn("3 series: gpu (3), svc (11), train (4)", err)
        series = self.listed()
        self.assertEqual(self.times(series["gpu"], "taken_at"), self.PICKLE_TIMES)
        self.assertEqual(self.times(series["train"], "taken_at"),
                         ["2026-07-12T16:%02d:00Z" % minute for minute in (40, 43, 45, 50)])
        # Each series is what it is when it is imported alone.
        for name, ending in (("gpu", "pickle"), ("svc", "heap"), ("train", "log")):
            files = sorted(os.path.join("mix", f) for f in os.listdir(os.path.join(self.folder, "mix"))
                           if f.endswith(ending))
            self.run_it("--db", name + ".db", "import", *files)
            alone = self.listed("--db", name + ".db")[name]
            self.assertEqual([s["totals"] for s in alone["snapshots"]], [s["totals"] for s in series[name]["snapshots"]])
            self.assertEqual([s["sha256"] for s in alone["snapshots"]], [s["sha256"] for s in series[name]["snapshots"]])
        out, _ = self.run_it("render", "--timeline", "--svg", "-o", "-")
        self.assertIn("2 series on one time axis", out)



class SeveralServices(Mixed):
    def test_each_series_has_a_report_of_its_own_and_nothing_is_added_up(self):
        """A service leaks, a larger one does not, two logs of two programs: heaps and logs cannot be compared, and are not."""
        for i in range(8):
            at = ns("2026-07-12T10:00:00Z") + i * 60 * 10 ** 9
            self.write("mix/api.%03d.pb.gz" % i, pprof(INUSE, [(["leak", "api.main"], [9, (44 << 20) + (i << 22)]), (["work", "api.main"], [1, 1 << 20])], time_ns=at))
            self.write("mix/worker.%03d.pb.gz" % i, pprof(INUSE, [(["pool", "worker.main"], [9, 1 << 30])], time_ns=at))
        self.write("mix/app.log", "".join("2026-07-12T10:%02d:00Z rss=%dMB\n" % (i, 501 + i) for i in range(8)))
        self.write("mix/db.log", "".join("2026-07-12T10:%02d:00Z rss=900MB\n" % i for i in range(8)))
        done = self.run_any("postmortem", "mix", "-o", "out")
        self.assertIn(b"4 series: one report each", done.stderr)
        reports = {}
        for name in ("api", "worker", "app", "db"):
            with open(os.path.join(self.folder, "out", name, "report.json"), encoding="utf-8") as file:
                reports[name] = json.load(file)
        self.assertNotIn(b"1.00 GiB to", done.stdout)
        self.assertIn(b"leak", done.stdout)
        text = done.stdout.decode()
        self.assertRegex(text, r"api:\nIn-use bytes grew from 45.0 to 73.0 MiB")
        self.assertNotIn("worker.main +", text)
        for command in ("diff", "trend", "gate"):
            self.assertIn("4 series: found api (8 pprof), app (8 metric-log), db (8 metric-log), worker (8 pprof)",
                          self.refused(command, "mix"))
            self.run_it(command, "mix", "--series", "api", code=1 if command == "gate" else 0)
        _, err = self.run_it("import", "mix")
        self.assertIn("4 series: api (8), app (8), db (8), worker (8)", err)


if __name__ == "__main__":
    unittest.main()

"""Each instance of a fleet is judged by itself: late starts, clocks that are off, two processes under one name, pods whose
names change."""
import json
import os
import unittest

import servers
from fleet_case import HOUR, FleetTest
from heaps import INUSE, pprof

START = 1_760_000_000
YEAR = 365 * 24 * HOUR


class Instances(FleetTest):
    def snapshot(self, name, leak, seconds, extra=0):
        rows = [(["cache_put", "serve", "main"], [100 + leak // 1000, 1_000_000 + leak]), (["parse", "main"], [10, 3_000_000 + extra])]
        self.write(name, pprof(INUSE, rows, time_ns=seconds * 10**9))
        return name

    def series(self, instance, times, leaks, version="1", offset=0):
        """Pushes one snapshot for each time: the leak grows by 100 kB a step of an hour since the first."""
        files = []
        for i, at in enumerate(times):
            grown = 100_000 * ((at - times[0]) // HOUR) if leaks else 0
            files.append(self.snapshot("%s.%04d.pb.gz" % (instance, i), grown, at + offset))
        self.push(*files, "--service", "api", "--instance", instance, "--version", version)
        for name in files:
            os.remove(os.path.join(self.folder, name))

    def gate(self, *words, code):
        return json.loads(self.fleet("gate", "--service", "api", "--as", "json", *words, code=code)[0])

    def test_one_that_starts_late_does_not_hide_the_others(self):
        """Five leak; the sixth is new and has three snapshots."""
        for i in range(5):
            self.series("h%02d" % i, [START + s * HOUR for s in range(10)], True)
        self.series("h05", [START + s * HOUR for s in (7, 8, 9)], True)
        found = self.gate(code=1)
        told = {one["name"]: one for one in found["instances"]}
        self.assertEqual({name for name, one in told.items() if one["result"] == "failed"}, {"h%02d" % i for i in range(5)})
        self.assertEqual(told["h05"]["result"], "unjudged")
        text, _ = self.fleet("gate", "--service", "api", code=1)
        self.assertIn("of 6 instances 5 broken, 0 held, 1 not judged", text)
        self.assertIn("on 5 of 6 instances", text)
        self.assertIn("cache_put", text)
        self.assertIn("not judged: h05 (", text)
        trend, _ = self.fleet("trend", "--service", "api")
        self.assertIn("GROWING on 5 of 6 instances", trend)
        self.assertIn("not judged (fewer than 8 snapshots) on 1 of 6 instances: h05", trend)

    def test_what_was_not_judged_is_not_passed(self):
        self.series("a", [START + s * HOUR for s in range(10)], False)
        self.series("b", [START + s * HOUR for s in range(3)], False)
        self.series("c", [START], False)
        out, err = self.fleet("gate", "--service", "api", code=2)
        self.assertIn("NOT JUDGED", out)
        self.assertIn("instances could not be judged", err)
        self.assertIn("c (one snapshot)", out)
        self.fleet("gate", "--service", "api", "--allow-unjudged", code=0)

    def test_a_snapshot_at_both_ends_loses_no_rows(self):
        """Steps of two hours; one instance has a single snapshot in the whole time: its first is its last."""
        for name, times in (("a", (0, 2, 4)), ("b", (0, 2, 4)), ("c", (0,))):
            self.series(name, [START + s * HOUR for s in times], False)
        out, err = self.fleet("trend", "--service", "api", "--step", "2h")
        self.assertNotIn("lost", out + err)
        self.assertNotIn("other rows than were pushed", out + err)

    def test_a_clock_that_is_off_is_named_and_left_out(self):
        for i in range(4):
            self.series("h%d" % i, [START + s * HOUR for s in range(10)], i == 1)
        self.series("h4", [START + s * HOUR for s in range(10)], False, offset=-15 * YEAR)
        text, err = self.fleet("gate", "--service", "api", code=1)
        self.assertIn("clock off", err)
        self.assertIn("h4 at 20", err)
        self.assertIn("broken on: h1", text)
        for command in ("diff", "trend"):
            out, err = self.fleet(command, "--service", "api")
            self.assertIn("h4 at 20", out + err, command)

    def test_pods_whose_names_change_with_each_deploy(self):
        for generation, leaks in ((1, False), (2, True)):
            begin = START + (generation - 1) * 12 * HOUR
            for pod in range(3):
                self.series("api-%d-%s" % (generation, "xyz"[pod]), [begin + s * HOUR for s in range(11)], leaks, version="1.%d" % generation)
        found = json.loads(self.fleet("diff", "--service", "api", "--as", "json")[0])
        self.assertEqual(found["total"]["growth"], 3 * 1_000_000)
        notes = " ".join(note["text"] for note in found["notes"])
        self.assertIn("no instance is there at both moments: 3 instances of 1.1 beside 3 of 1.2, at an age of 10 h", notes)
        told = {one["name"]: one["result"] for one in self.gate(code=1)["instances"]}
        self.assertEqual({name for name, result in told.items() if result == "failed"}, {"api-2-x", "api-2-y", "api-2-z"})
        text, _ = self.fleet("trend", "--service", "api")
        self.assertIn("GROWING on 3 of 6 instances", text)

    def test_two_processes_under_one_name(self):
        lines = []
        for pid, step in ((11, 0), (12, 500_000)):
            lines = [json.dumps({"k": "header", "format": "snapdiff-tracker", "version": 1, "process": {"pid": pid, "host": "h"}})]
            for s in range(10):
                lines += [json.dumps(line) for line in (
                    {"k": "snapshot", "id": str(s), "seq": s, "time": START + s * HOUR + pid},
                    {"k": "live", "stack": ["cache_put (a.c:1)", "main (a.c:2)"], "bytes": 9_000_000 * (pid - 10) + step * s, "count": 10},
                    {"k": "end", "id": str(s), "rows": 1})]
            self.write("p%d.sdt.jsonl" % pid, "\n".join(lines) + "\n")
            self.push("p%d.sdt.jsonl" % pid, "--service", "api", "--instance", "h")
        told = {one["name"]: one["result"] for one in self.gate(code=1)["instances"]}
        self.assertEqual(told, {"h (process 1 of 2)": "passed", "h (process 2 of 2)": "failed"})

    def test_a_fall_is_a_restart_where_the_function_leaks_elsewhere(self):
        """No process ids: h1 leaks for 12 hours, then for 10 again. By itself that may be a cache that is emptied at one level."""
        def restarted():
            self.series("h1", [START + s * HOUR for s in range(12)], True)
            self.series("h1", [START + s * HOUR for s in range(12, 22)], True)
        restarted()
        self.assertEqual([one["result"] for one in self.gate(code=0)["instances"]], ["passed"])
        self.series("h0", [START + s * HOUR for s in range(12)], True)
        self.series("h2", [START + s * HOUR for s in range(22)], False)
        told = {one["name"]: one["result"] for one in self.gate(code=1)["instances"]}
        self.assertEqual(told, {"h0": "failed", "h1": "failed", "h2": "passed"})

    def test_outliers_are_heaviest_first(self):
        for i, size in enumerate((5, 9, 2, 7)):
            self.write("x.pb.gz", pprof(INUSE, [(["f", "main"], [1, size * 1_000_000])], time_ns=START * 10**9))
            self.push("x.pb.gz", "--service", "api", "--instance", "h%d" % i)
        ranks = json.loads(self.fleet("outliers", "--service", "api", "--as", "json")[0])["ranks"]
        self.assertEqual([one["name"] for one in ranks], ["h1", "h3", "h0", "h2"])
        text, _ = self.fleet("outliers", "--service", "api", "-n", "2")
        self.assertIn("h3", text)
        self.assertIn("2 more", text)
        self.assertNotIn("h2", text.split("2 more")[0].split("rank", 2)[-1])

    def test_sql_reads_the_fleet_alone(self):
        self.small_fleet(instances=1, steps=2)
        for query in ("SELECT * FROM url('http://127.0.0.1:1/', CSV, 'x String')", "SELECT * FROM remote('127.0.0.1', system.one)",
                      "SELECT * FROM file('x', CSV, 'x String')"):
            _, err = self.fleet("sql", query, code=2)
            self.assertIn("fleet sql does not read", err)
        self.assertIn("2", self.fleet("sql", "SELECT count() AS n FROM %s.snapshot WHERE metric = 'inuse_space'" % self.database)[0])


if __name__ == "__main__":
    if servers.SKIP:
        print(servers.SKIP)
    unittest.main()

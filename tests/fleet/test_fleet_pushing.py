"""Snapshots of many machines in two ClickHouse servers: what is pushed counts once, and what went wrong is said."""
import json
import os
import re
import subprocess
import sys
import unittest

import servers
from fleet_case import HOUR, FleetTest
from heaps import INUSE, SCHEMAS, SOURCE, pprof


class Pushing(FleetTest):
    shards_listen = True

    def test_json_follows_the_schemas_of_files(self):
        self.small_fleet()
        for command, schema in (("diff", "diff"), ("trend", "trend"), ("outliers", "ranks"), ("gate", "gate")):
            done = self.run_any("fleet", command, "--service", "api", "--as", "json", "--url", self.first.url, "--database", self.database)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.write("x.json", done.stdout)
            checked = subprocess.run([sys.executable, os.path.join(SOURCE, "tests/unit/analyzer/report/validate_json.py"),
                                      os.path.join(SCHEMAS, schema + ".schema.json"),
                                      os.path.join(self.folder, "x.json")], capture_output=True, text=True, check=False)
            self.assertEqual(checked.returncode, 0, (command, checked.stdout + checked.stderr))

    def test_a_snapshot_stands_for_a_step_without_one(self):
        start = 1_760_000_000
        for i, steps in (("a", range(10)), ("b", [0, 1, 2, 3, 5, 6, 7, 8, 9])):
            for s in steps:
                self.heap("%s.%d.pb.gz" % (i, s), {"f": (1, 1000 + 10 * s)}, start + s * HOUR)
            self.push(*["%s.%d.pb.gz" % (i, s) for s in steps], "--service", "api", "--instance", i)
        found = json.loads(self.fleet("trend", "--service", "api", "--as", "json")[0])
        self.assertEqual([s["total"] for s in found["snapshots"]], [2000 + 20 * s - (10 if s == 4 else 0) for s in range(10)])

    def test_snapshots_of_one_second_are_told_apart(self):
        for s in range(3):
            self.write("x.%d.pb.gz" % s, pprof(INUSE, [(["f", "main"], [1, 100 + s])], time_ns=1_760_000_000 * 10**9 + s))
        self.push("x.0.pb.gz", "x.1.pb.gz", "x.2.pb.gz", "--service", "api", "--instance", "a")
        found = json.loads(self.fleet("diff", "--service", "api", "--as", "json")[0])
        self.assertEqual([found[side]["ref"] for side in ("baseline", "current")],
                         ["api/a at 2025-10-09 08:53:20 (x.0.pb.gz)", "api/a at 2025-10-09 08:53:20 (x.2.pb.gz)"])

    def test_a_step_without_any_snapshot_is_none(self):
        # Taken every hour, then nothing for an hour, in which the first and the last minute of each instance move.
        start = 1_760_000_000
        for i in ("a", "b"):
            for s in (0, 1, 2, 4, 5, 6, 7, 8, 9):
                self.heap("%s.%d.pb.gz" % (i, s), {"f": (1, 1000 + 10 * s)}, start + s * HOUR)
            self.push(*["%s.%d.pb.gz" % (i, s) for s in (0, 1, 2, 4, 5, 6, 7, 8, 9)], "--service", "api", "--instance", i)
        found = json.loads(self.fleet("trend", "--service", "api", "--as", "json")[0])
        self.assertEqual([s["total"] for s in found["snapshots"]], [2000 + 20 * s for s in (0, 1, 2, 4, 5, 6, 7, 8, 9)])

    def test_tables_of_another_version_are_refused(self):
        self.small_fleet(instances=2, steps=3)
        words = (("list",), ("info",), ("diff",), ("trend",), ("pull", "-o", "x.db"), ("init",))

        def refused(expected):
            for one in words:
                out, err = self.fleet(*one, code=2)
                self.assertEqual(out, "")
                self.assertRegex(err, "^error: server http[^\n]*" + expected + "[^\n]*\n$", one)
            _, err = self.push("h0/heap.0000.pb.gz", "--service", "other", "--instance", "x", code=2)
            self.assertRegex(err, expected)

        def numbered(server, number):
            server.query("DROP TABLE %s.schema_local" % self.database)
            server.query("CREATE VIEW %s.schema_local AS SELECT toUInt32(%d) AS number" % (self.database, number))
        last = self.cluster.servers[-1]
        for number, expected in ((2, "have schema 2, this snapdiff knows 1: expected a newer snapdiff"),
                                 (0, "made by an earlier snapdiff: found schema 0, expected schema 1")):
            numbered(self.first, number)
            refused(expected)
            if last is self.first:
                continue
            numbered(self.first, 1)  # and on the other server alone
            numbered(last, number)
            self.assertIn(expected, self.fleet("list", code=2)[1])
            self.assertIn(expected, self.fleet("init", url=self.cluster.urls, code=2)[1])
            numbered(last, 1)
        for server in self.cluster.servers:
            for table in ("schema", "schema_local"):
                server.query("DROP TABLE %s.%s" % (self.database, table))
        refused("earlier snapdiff: found no schema number, expected schema 1; 'snapdiff fleet init --database NAME'")
        self.database += "_new"
        self.assertIn("no tables in database '%s'; 'snapdiff fleet init' makes them" % self.database, self.fleet("list", code=2)[1])
        self.make_tables()
        self.make_tables()
        self.assertIn("no snapshot is there yet: 'snapdiff push", self.fleet("list", code=2)[1])
        self.push("h0/heap.0000.pb.gz", "--service", "api", "--instance", "h0")

    def test_a_cluster_that_is_not_configured_is_said_before_tables_are_made(self):
        self.database += "_other"
        _, err = self.fleet("init", "--cluster", "nowhere", code=2)
        self.assertRegex(err, r"^error: server http[^ ]*: no cluster 'nowhere' in its configuration: .* --cluster with one of: .*fleet")
        self.assertEqual(self.first.query("SELECT count() FROM system.databases WHERE name = '%s'" % self.database).strip(), "0")

    def test_two_moments_and_a_slice(self):
        self.small_fleet(instances=2, steps=10)
        found = json.loads(self.fleet("diff", "--service", "api", "--from", "@%d" % (1_760_000_000 + 2 * HOUR + 60), "--to", "+3h", "--as",
                                      "json")[0])
        self.assertEqual((found["total"]["baseline"], found["total"]["current"]), (2_100_001 + 200_000, 2_100_001 + 500_000))
        late = json.loads(self.fleet("diff", "--service", "api", "--since", "2025-10-09 13:53:20", "--as", "json")[0])
        self.assertEqual((late["total"]["baseline"], late["total"]["current"]), (2_100_001 + 500_000, 2_100_001 + 900_000))
        self.fleet("pull", "--service", "api", "-o", "all.db")
        listed = json.loads(self.run_it("list", "--db", "all.db", "--as", "json")[0])
        self.assertEqual({series["name"]: len(series["snapshots"]) for series in listed["series"]}, {"api/h0": 10, "api/h1": 10})

    def test_snapshots_are_pulled_in_their_order_whatever_metrics_they_have(self):
        both = [("alloc_space", "bytes"), *INUSE]
        self.write("a.pb.gz", pprof(INUSE, [(["f", "main"], [1, 100])], time_ns=1_760_000_000 * 10**9))
        self.write("b.pb.gz", pprof(both, [(["f", "main"], [700, 1, 110])], time_ns=1_760_003_600 * 10**9))
        self.push("a.pb.gz", "b.pb.gz", "--service", "api", "--instance", "h0")
        self.fleet("pull", "--service", "api", "-o", "all.db")
        series = json.loads(self.run_it("list", "--db", "all.db", "--as", "json")[0])["series"]
        self.assertEqual([one["ref"] for one in series[0]["snapshots"]], ["@1", "@2"])

    def test_twice_adds_nothing(self):
        self.small_fleet(instances=2, steps=3)
        before = self.sql("SELECT count(), sum(value) FROM @sample FORMAT TSV")
        _, err = self.push(os.path.join(self.folder, "h0"), "--service", "api", "--instance", "h0")
        self.assertIn("0 snapshots of api, h0, 3 pushed before", err)
        self.assertEqual(self.sql("SELECT count(), sum(value) FROM @sample FORMAT TSV"), before)

    def test_a_half_pushed_snapshot_counts_nowhere(self):
        self.small_fleet(instances=1, steps=3)
        whole = self.fleet("diff", "--service", "api", "--as", "json")[0]
        # Rows of a push that ended before its commit row, and a second whole push of the same. Numbers of one push follow
        # each other from a random one, so those of another one are far from them.
        self.sql("INSERT INTO @sample SELECT service, metric, hour, stack, instance, ts, label, push + 1000000, value, objects, known FROM @sample")
        self.assertEqual(self.fleet("diff", "--service", "api", "--as", "json")[0], whole)
        self.assertIn("6 rows are of pushes that were not finished", self.fleet("info")[1])
        self.sql("INSERT INTO @snapshot SELECT snapshot, push + 1000000, nth, service, metric, unit, instance, instance_name, version, keys, "
                 "vals, ts, ts_ns, restart, period, state, rows, total, objects, facts FROM @snapshot")
        self.assertEqual(self.fleet("diff", "--service", "api", "--as", "json")[0], whole)

    def test_missing_bytes_are_an_error(self):
        self.small_fleet(instances=2, steps=3)
        for server in self.cluster.servers:
            if server.query("SELECT count() FROM %s.sample_local" % self.database).strip() != "0":
                server.query("DROP TABLE %s.sample_local" % self.database)
                server.query("CREATE TABLE %s.sample_local AS %s.sample ENGINE = MergeTree PARTITION BY toDate(hour) ORDER BY "
                             "(service, metric, hour, stack, label, instance, ts)" % (self.database, self.database))
                break
        for words in (("diff",), ("trend",), ("pull", "-o", "x.db")):
            out, err = self.fleet(*words, "--service", "api", code=3)
            self.assertEqual(out, "")
            self.assertRegex(err, r"of \d+ rows, .* of \d+ of inuse_space")
            self.assertRegex(err, r"^error: server http")
            if self.shards_listen:
                self.assertRegex(err, r"rows per shard: .* has 0")

    def test_instances_that_come_and_go_are_a_line(self):
        self.small_fleet(instances=3, steps=10)
        self.heap("late.pb.gz", {"cache_put": (1, 7_000_000)}, 1_760_000_000 + 9 * HOUR)
        self.push("late.pb.gz", "--service", "api", "--instance", "h9")
        text, _ = self.fleet("diff", "--service", "api")
        self.assertIn("1 instance new (h9), 0 gone: +6.68 MiB, in no row", re.sub(r"\s+", " ", text))
        trend, _ = self.fleet("trend", "--service", "api")
        self.assertIn("1 instance without a snapshot at some step left out: h9; of 4", re.sub(r"\s+", " ", trend))

    def test_what_is_taken_out_counts_nowhere_until_it_is_pushed_again(self):
        self.small_fleet(instances=3, steps=4)
        right = self.fleet("diff", "--service", "api", "--as", "json")[0]
        start = 1_760_000_000
        _, err = self.fleet("rm", "--service", "api", "--instance", "h1", "--from", "@%d" % (start + 2 * HOUR))
        self.assertIn("2 snapshots of api, 1 instance, 2025-10-09 10:53:20 to 2025-10-09 11:53:20: taken out", err)
        listed = json.loads(self.fleet("list", "--instance", "h1", "--as", "json")[0])
        self.assertEqual([row["snapshots"] for row in listed], [2])
        without = json.loads(self.fleet("diff", "--service", "api", "--as", "json")[0])
        self.assertEqual(without["total"]["growth"], 300_000)
        for server in self.cluster.servers:  # merges may leave the newest rows alone
            server.query("OPTIMIZE TABLE %s.snapshot_local FINAL" % self.database)
        self.assertEqual(json.loads(self.fleet("diff", "--service", "api", "--as", "json")[0]), without)
        self.assertIn("4 rows are of pushes that were not finished, or were taken out", self.fleet("info")[1])
        _, err = self.push(os.path.join(self.folder, "h1"), "--service", "api", "--instance", "h1", "--version", "2.3")
        self.assertIn("2 snapshots of api, h1, 2 pushed before", err)
        self.assertEqual(self.fleet("diff", "--service", "api", "--as", "json")[0], right)
        self.fleet("rm", "--service", "api", "--to", "@%d" % start)
        self.assertEqual(json.loads(self.fleet("list", "--as", "json")[0])[-1]["first"], "2025-10-09 09:53:20")
        _, err = self.fleet("rm", code=2)
        self.assertIn("fleet rm needs --service NAME", err)
        _, err = self.fleet("rm", "--service", "api", "--instance", "none", code=2)
        self.assertIn("no snapshot of this service", err)

    def test_of_two_commit_rows_the_older_one_is_never_shown(self):
        self.small_fleet(instances=1, steps=3)
        start = 1_760_000_000
        # Two pushes at once, both committed; the newer one says another time and another version.
        self.sql("INSERT INTO @snapshot SELECT snapshot, push + 1000, nth + 1, service, metric, unit, instance, instance_name, '2.9', keys, vals, "
                 "ts + 86400, ts_ns + 86400000000000, restart, period, state, rows, total, objects, facts FROM @snapshot WHERE ts = toDateTime(%d)" % start)
        self.sql("INSERT INTO @sample SELECT service, metric, hour + 86400, stack, instance, ts + 86400, label, push + 1000, value, objects, known "
                 "FROM @sample WHERE ts = toDateTime(%d)" % start)

        def versions(*words):
            return [(row["version"], row["snapshots"]) for row in json.loads(self.fleet("list", *words, "--as", "json")[0])]

        self.assertEqual(versions(), [("2.2", 2), ("2.9", 1)])
        self.assertEqual(versions("--version", "2.2"), [("2.2", 2)])
        _, err = self.fleet("rm", "--service", "api", "--to", "@%d" % start, code=2)
        self.assertIn("no snapshot", err)
        self.fleet("rm", "--service", "api", "--from", "@%d" % (start + 86400))
        self.assertEqual(versions(), [("2.2", 2)])
        self.fleet("rm", "--service", "api", "--to", "@%d" % (start + HOUR))
        self.assertEqual(versions(), [("2.2", 1)])
        self.assertEqual(json.loads(self.fleet("list", "--as", "json")[0])[0]["first"], "2025-10-09 10:53:20")

    def test_what_is_known_is_not_sent_again(self):
        def blocks():
            # Parts as they were inserted; those that were merged are there for some minutes.
            one = "SELECT count() FROM system.parts WHERE database = '%s' AND min_block_number = max_block_number" % self.database
            return sum(int(server.query(one)) for server in self.cluster.servers)

        found = []
        for s in range(3):
            self.write("x.%d.pb.gz" % s, pprof(INUSE, [(["f", "main"], [1, 100 + s], [("pool", "small")])], time_ns=(1_760_000_000 + s) * 10**9))
            before = blocks()
            self.push("x.%d.pb.gz" % s, "--service", "api", "--instance", "a")
            found.append(blocks() - before)
        # Samples, snapshots and their hourly values; the first time a stack, its two frames and a label, too.
        self.assertEqual(found[1:], [4, 4])
        self.assertIn(found[0], (7, 8))

    def test_a_service_whose_rows_are_lost_is_taken_out_and_pushed_again(self):
        self.small_fleet(instances=2, steps=3)
        right = self.fleet("diff", "--service", "api", "--as", "json")[0]
        for server in self.cluster.servers:
            server.query("ALTER TABLE %s.sample_local DROP PARTITION '2025-10-09'" % self.database)
        self.fleet("diff", "--service", "api", code=3)
        self.fleet("rm", "--service", "api")
        for i in range(2):
            self.push(os.path.join(self.folder, "h%d" % i), "--service", "api", "--instance", "h%d" % i, "--version", "2.%d" % (3 - i))
        self.assertEqual(self.fleet("diff", "--service", "api", "--as", "json")[0], right)

    def test_a_restart_in_between_is_said(self):
        # The process id is in the name of a jemalloc dump.
        for instance, pids in (("h0", (7, 7, 9, 9)), ("h1", (5, 5, 5, 5))):
            for s, pid in enumerate(pids):
                name = "jeprof.%d.%d.i%d.heap" % (pid, s, s)
                self.write(name, "heap_v2/524288\n  t*: 2: %d [0: 0]\n@ 0x401000 0x402000\n  t*: 2: %d [0: 0]\n" % ((2000 + 100 * s,) * 2))
                os.utime(os.path.join(self.folder, name), (1_760_000_000 + s * HOUR,) * 2)
                self.push(name, "--service", "api", "--instance", instance)
        text, _ = self.fleet("diff", "--service", "api")
        self.assertIn("1 instance restarted in between (h0): growth there is of two processes", re.sub(r"\s+", " ", text))
        alone, _ = self.fleet("diff", "--service", "api", "--instance", "h1")
        self.assertNotIn("restarted", alone)

    def test_a_clock_that_is_off_is_said(self):
        self.heap("future.pb.gz", {"f": (1, 10)}, 4_000_000_000)
        _, err = self.push("future.pb.gz", "--service", "api", "--instance", "h0")
        self.assertIn("the clock was off: taken at 2096-10-02 07:06:40", err)

    def test_two_builds_of_one_service_are_said(self):
        self.small_fleet()
        text, _ = self.fleet("diff", "--service", "api")
        self.assertIn("2 versions are added up: 2.2, 2.3; --by version separates them", re.sub(r"\s+", " ", text))

    def test_hourly_values_are_those_of_the_samples(self):
        self.small_fleet()
        plain = self.sql("SELECT hour, hex(stack), instance, argMax(value, ts), min(value), max(value) FROM @sample GROUP BY hour, stack, "
                         "instance ORDER BY hour, stack, instance FORMAT TSV")
        rolled = self.sql("SELECT hour, hex(stack), instance, argMaxMerge(last), minMerge(least), maxMerge(most) FROM @sample_hour GROUP BY "
                          "hour, stack, instance ORDER BY hour, stack, instance FORMAT TSV")
        self.assertEqual(rolled, plain)
        self.assertGreater(len(plain.splitlines()), 50)

    def test_list_sql_and_errors(self):
        self.small_fleet(instances=2, steps=3)
        listed = json.loads(self.fleet("list", "--as", "json")[0])
        self.assertEqual([(row["service"], row["version"], row["instances"], row["snapshots"]) for row in listed],
                         [("api", "2.2", 1, 3), ("api", "2.3", 1, 3)])
        out, _ = self.fleet("sql", "SELECT count() AS n FROM %s.sample" % self.database, "--as", "json")
        self.assertEqual(json.loads(out), [{"n": 12}])
        _, err = self.fleet("sql", "DROP TABLE %s.sample" % self.database, code=2)
        self.assertIn("expected SELECT", err)
        _, err = self.fleet("diff", "--service", "none", code=2)
        self.assertRegex(err, r"^error: no snapshot of this service")


if __name__ == "__main__":
    if servers.SKIP:
        print(servers.SKIP)
    unittest.main()

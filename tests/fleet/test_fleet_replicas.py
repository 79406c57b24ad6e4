"""Two replicas of one shard, kept equal by ZooKeeper: either may be killed, or lose its disk, and the answers stay."""
import json
import time
import unittest

import servers
from fleet_case import HOUR, FleetTest

START = 1_760_000_000


@unittest.skipIf(servers.SKIP_REPLICAS, servers.SKIP_REPLICAS)
class Replicas(FleetTest):
    @classmethod
    def setUpClass(cls):
        cls.cluster = servers.Cluster(shards=1, replicas=2)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__, None, None, None)

    def make_tables(self):
        self.fleet("init", "--on-cluster")

    def restart(self, server):
        server.start()
        server.wait()

    def equal_on_both(self, seconds=30):
        """Waits until both replicas hold the same rows: what ZooKeeper has queued is done."""
        asked = ("SELECT count(), sum(value), groupBitXor(push), (SELECT sum(rows) FROM {0}.snapshot_local), "
                 "(SELECT uniqExact(stack) FROM {0}.stack_local), (SELECT uniqExact(frame) FROM {0}.frame_local), "
                 "(SELECT uniqExact(label) FROM {0}.label_local) FROM {0}.sample_local FORMAT TSV").format(self.database)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = [server.query(asked) for server in self.cluster.servers]
            if found[0] == found[1] and found[0].split()[0] == found[0].split()[3]:
                return found[0]
            time.sleep(0.1)
        self.fail("the replicas differ: %s" % found)

    def answer(self, url, word="diff"):
        return json.loads(self.fleet(word, "--service", "api", "--as", "json", url=url)[0])

    def test_each_replica_answers_alone_and_catches_up(self):
        first, second = self.cluster.servers
        self.assertIn("ReplicatedMergeTree", first.query("SHOW CREATE TABLE %s.sample_local FORMAT TSVRaw" % self.database))
        self.small_fleet(instances=3, steps=4)
        rows = self.equal_on_both()
        self.assertEqual(rows.split()[0], "24")
        right = self.answer(first.url)
        self.assertEqual(right["total"]["growth"], 2 * 300_000)
        self.assertEqual(self.answer(second.url), right)

        with self.subTest("one killed: the other answers and takes what is pushed"):
            second.kill()
            self.assertEqual(self.answer(first.url), right)
            self.heap("late.pb.gz", {"cache_put": (200, 1_900_000), "parse": (10, 50_000)}, START + 5 * HOUR)
            self.push("late.pb.gz", "--service", "api", "--instance", "h0", "--version", "2.3")
            _, err = self.fleet("list", url=second.url, code=2)
            self.assertIn(":%d" % second.http, err)
        with self.subTest("it comes back: it has caught up"):
            after = self.answer(first.url, "trend")
            self.restart(second)
            self.assertEqual(self.equal_on_both().split()[0], "26")
            first.kill()
            self.assertEqual(self.answer(second.url, "trend"), after)
            self.restart(first)
        with self.subTest("a disk is lost: a replica of another name takes its place"):
            first.lose_disk("r3")
            self.assertEqual(self.answer(second.url, "trend"), after)
            self.restart(first)
            _, err = self.fleet("list", url=first.url, code=2)
            self.assertIn("no tables in database '%s'; 'snapdiff fleet init' makes them" % self.database, err)
            self.make_tables()
            self.assertEqual(self.equal_on_both().split()[0], "26")
            second.kill()
            self.assertEqual(self.answer(first.url, "trend"), after)
            self.restart(second)

    def test_tables_of_their_own_on_replicas_are_refused(self):
        # Each replica would hold half of the rows, and none all.
        self.database += "_plain"
        _, err = self.fleet("init", url=self.cluster.urls, code=2)
        self.assertIn("--on-cluster", err)
        self.assertEqual(self.first.query("SELECT count() FROM system.tables WHERE database = '%s'" % self.database).strip(), "0")


del FleetTest

if __name__ == "__main__":
    if servers.SKIP_REPLICAS:
        print(servers.SKIP_REPLICAS)
    unittest.main()

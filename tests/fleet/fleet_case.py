"""What the tests of the fleet share: two servers, and commands that are asked of them."""
import os
import unittest

import servers
from heaps import INUSE, CliTest, pprof

HOUR = 3600


@unittest.skipIf(servers.SKIP, servers.SKIP)
class FleetTest(CliTest):
    """A pair of servers for all tests of a class; each test has a database of its own."""
    number = 0
    shards = 2

    @classmethod
    def setUpClass(cls):
        cls.cluster = servers.Cluster(cls.shards)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__, None, None, None)

    def setUp(self):
        super().setUp()
        FleetTest.number += 1
        self.database = "t%d" % FleetTest.number
        for server in self.cluster.servers:
            if server.process.poll() is not None:
                server.start()
                server.wait()
        self.make_tables()

    def make_tables(self):
        self.fleet("init", "--keep", "20000", "--keep-hourly", "20000", url=self.cluster.urls)

    @property
    def first(self):
        return self.cluster.servers[0]

    def fleet(self, *words, url=None, code=0, **more):
        return self.run_it("fleet", *words, "--url", url or self.first.url, "--database", self.database, code=code, **more)

    def push(self, *words, code=0, **more):
        return self.run_it("push", *words, "--url", self.first.url, "--database", self.database, code=code, **more)

    def sql(self, text):
        return self.first.query(text.replace("@", self.database + "."), self.database)

    def heap(self, name, rows, seconds):
        """rows: {function: (objects, bytes)}, each called by main."""
        return self.write(name, pprof(INUSE, [([function, "main"], list(values)) for function, values in rows.items()],
                                      time_ns=seconds * 10**9))

    def small_fleet(self, instances=4, steps=10, start=1_760_000_000, leaking=None):
        """api: every instance but the last leaks in cache_put; each snapshot an hour after the one before."""
        leaking = instances - 1 if leaking is None else leaking
        for i in range(instances):
            folder = os.path.join(self.folder, "h%d" % i)
            os.makedirs(folder, exist_ok=True)
            for s in range(steps):
                grown = 100_000 * s if i < leaking else 0
                self.heap("h%d/heap.%04d.pb.gz" % (i, s), {"cache_put": (100 + s, 1_000_000 + grown), "parse": (10, 50_000 + i)},
                          start + s * HOUR)
            self.push(folder, "--service", "api", "--instance", "h%d" % i, "--version", "2.%d" % (3 if i < leaking else 2))

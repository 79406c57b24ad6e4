"""The tables and questions on a current ClickHouse (from 22.8 on), where its library is installed:

  npm install -g @chdb/lib-linux-x64-gnu      or SNAPDIFF_LIBCHDB=/path/to/libchdb.so
"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import test_fleet_answers
import test_fleet_pushing

PLACES = ["/usr/lib/node_modules", "/usr/local/lib/node_modules"]
FOUND = [os.environ["SNAPDIFF_LIBCHDB"]] if os.environ.get("SNAPDIFF_LIBCHDB") else [
    path for place in PLACES for path in glob.glob(os.path.join(place, "@chdb/lib-linux-x64-gnu/libchdb.so"))]
SKIP = None if FOUND and os.path.isfile(FOUND[0]) else "skipped: libchdb is not installed (npm install -g @chdb/lib-linux-x64-gnu)"


class Library:
    """One server, with what tests ask of servers.Cluster."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="snapdiff-chdb-")
        self.process = subprocess.Popen([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "chdb_server.py"), FOUND[0],
                                         self._folder.name], stdout=subprocess.PIPE, text=True)
        self.url = self.urls = "http://127.0.0.1:%s" % self.process.stdout.readline().strip()
        self.servers = [self]

    def query(self, text, database=None):
        request = urllib.request.Request(self.url + ("/?database=%s" % database if database else "/"), data=text.encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as answer:
            return answer.read().decode()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self._folder.cleanup()


class OnLibrary:
    @classmethod
    def setUpClass(cls):
        cls.cluster = Library()
        cls.addClassCleanup(cls.cluster.end)


@unittest.skipIf(SKIP, SKIP)
class ModernAnswers(OnLibrary, test_fleet_answers.SameAsFiles):
    __unittest_skip__ = bool(SKIP)

    def test_the_level_is_the_modern_one(self):
        self.assertIn("modern level", self.fleet("init")[1])
        self.assertIn("Delta", self.sql("SELECT compression_codec FROM system.columns WHERE database = '%s' AND table = 'sample_local' AND "
                                        "name = 'value' FORMAT TSV" % self.database))
        self.assertIn("TTL", self.sql("SHOW CREATE TABLE @sample_local FORMAT TSVRaw"))


    def test_what_is_older_than_the_servers_keep_is_said(self):
        self.database += "_short"
        self.fleet("init", "--keep", "30")
        self.heap("old.pb.gz", {"f": (1, 10)}, 1_600_000_000)
        _, err = self.push("old.pb.gz", "--service", "api", "--instance", "h0")
        self.assertIn("1 snapshots are older than the servers keep", err)


@unittest.skipIf(SKIP, SKIP)
class ModernPushing(OnLibrary, test_fleet_pushing.Pushing):
    shards_listen = False
    __unittest_skip__ = bool(SKIP)


if __name__ == "__main__":
    if SKIP:
        print(SKIP)
    unittest.main()

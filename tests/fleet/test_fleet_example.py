"""The example: planted leaks are found, and the dashboard's queries run on the servers."""
import json
import os
import re
import subprocess
import sys
import unittest

import servers
from heaps import BINARY, SOURCE
from test_fleet import FleetTest

FOLDER = os.path.join(SOURCE, "examples", "fleet")


@unittest.skipIf(servers.SKIP, servers.SKIP)
class Example(unittest.TestCase):
    def test_planted_leaks_are_found(self):
        done = subprocess.run([sys.executable, os.path.join(FOLDER, "fleet.py"), BINARY, "--services", "2", "--snapshots", "12"],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"GROWING +cache_put .*on 19 of 20 instances")
        self.assertEqual(re.findall(r"^GROWING +(\w+)", done.stdout, re.MULTILINE), ["cache_put"])
        self.assertRegex(done.stdout, r"h07 differs most: .* in load_index")


class Dashboard(FleetTest):
    def test_queries_run_and_say_what_the_samples_say(self):
        self.small_fleet()
        with open(os.path.join(FOLDER, "grafana.json"), encoding="utf-8") as file:
            panels = json.load(file)["panels"]
        found = {}
        for panel in panels:
            query = panel["targets"][0]["rawSql"].replace("$service", "api").replace("snapdiff.", self.database + ".")
            query = query.replace("$__from", "1750000000000").replace("$__to", "1770000000000")
            self.assertNotIn("$", query)
            found[panel["title"]] = [line.split("\t") for line in self.first.query(query + " FORMAT TSV", self.database).splitlines()]
        self.assertEqual([int(row[1]) for row in found["In-use bytes of the service"]], [4_200_006 + 300_000 * s for s in range(10)])
        self.assertEqual([int(row[1]) for row in found["Instances with snapshots"]], [4] * 10)
        self.assertEqual(found["Stacks that grew most"][0], ["cache_put", "2700000", "3"])
        self.assertEqual(len(found["In-use bytes by version, per instance"]), 20)

    def test_the_timer_and_the_cron_line_use_options_that_exist(self):
        known = set(re.findall(r"--[a-z][a-z-]*", self.run_it("push", "--help")[0]))
        for name in ("snapdiff-push.service", "snapdiff-push.cron"):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                used = set(re.findall(r"(?<= )--[a-z][a-z-]*", file.read()))
            self.assertGreater(len(used), 2)
            self.assertLessEqual(used, known)


del FleetTest

if __name__ == "__main__":
    if servers.SKIP:
        print(servers.SKIP)
    unittest.main()

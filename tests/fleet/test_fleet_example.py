"""The example: planted leaks are found, and the dashboard's queries run on the servers."""
import json
import os
import re
import subprocess
import sys
import unittest

import servers
from heaps import BINARY, SOURCE
from fleet_case import FleetTest

FOLDER = os.path.join(SOURCE, "examples", "fleet")


@unittest.skipIf(servers.SKIP, servers.SKIP)
class Example(unittest.TestCase):
    def test_planted_leaks_are_found(self):
        done = subprocess.run([sys.executable, os.path.join(FOLDER, "fleet.py"), BINARY, "--services", "2", "--snapshots", "12"],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"GROWING +cache_put .*on 19 of 20 instances")
        self.assertRegex(done.stdout, r"growth +cache_put .*on 19 of 30 instances")
        self.assertRegex(done.stdout, r"\+(29\.[89]|30\.0) MiB .* 2\.3\n")  # 19 instances, 11 steps of 150 000 bytes: 29.9 MiB
        self.assertEqual(re.findall(r"^GROWING +(\w+)", done.stdout, re.MULTILINE), ["cache_put"])
        self.assertRegex(done.stdout, r"h07 differs most: .* in load_index")


class Dashboard(FleetTest):
    def test_queries_run_and_say_what_the_samples_say(self):
        self.small_fleet()
        with open(os.path.join(FOLDER, "grafana.json"), encoding="utf-8") as file:
            dashboard = json.load(file)

        def ask(query, start=1_760_000_000, end=1_770_000_000):
            for name, value in (("${service:sqlstring}", "'api'"), ("${metric:sqlstring}", "'inuse_space'"), ("snapdiff.", self.database + "."),
                                ("$__from", "%d000" % start), ("$__to", "%d000" % end)):
                query = query.replace(name, value)
            self.assertNotIn("$", query)
            return [line.split("\t") for line in self.first.query(query + " FORMAT TSV", self.database).splitlines()]

        variables = {one["name"]: one for one in dashboard["templating"]["list"]}
        self.assertEqual(ask(variables["service"]["query"]), [["api"]])
        self.assertEqual(ask(variables["metric"]["query"]), [["inuse_space"]])
        found, later = {}, {}
        for panel in dashboard["panels"]:
            target = panel["targets"][0]
            # As the data source reads them: 0 a series, whose first column is its time; 1 a table.
            self.assertEqual((target["queryType"], target["format"]), ("table", 1) if panel["type"] == "table" else ("timeseries", 0))
            self.assertEqual("AS time" in target["rawSql"].split(" FROM ", 1)[0], panel["type"] != "table")
            found[panel["title"]] = ask(target["rawSql"], start=1_759_990_000)
            # From the third hour on.
            later[panel["title"]] = ask(target["rawSql"], start=1_760_004_000)
        total, by_version, instances, functions = found
        self.assertEqual([int(row[1]) for row in found[total]], [4_200_006 + 300_000 * s for s in range(10)])
        self.assertEqual([int(row[1]) for row in later[total]], [4_200_006 + 300_000 * s for s in range(2, 10)])
        self.assertEqual([int(row[1]) for row in found[instances]], [4] * 10)
        self.assertEqual(found[functions][0], ["cache_put", "2700000", "3"])
        self.assertEqual(later[functions][0], ["cache_put", "2100000", "3"])
        self.assertEqual(len(found[by_version]), 20)

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

"""Verdicts on real series whose source says what leaks: the truth tables of the shared data.

Skips where that data is not there. Growth is not looked at here (test_naming.py does); what counts is
who is called GROWING and who is not.
"""
import glob
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from heaps import BINARY, SOURCE

SERIES = os.path.normpath(os.path.join(SOURCE, "..", "shared", "data", "pprof", "series"))

# Leaf and caller of the stacks that leak, and functions all of whose stacks do. svc_cache.cc and goq/main.go.
SVC_STACKS = {("alloc_body", "leak_sessions"), ("leak_sessions", "handle_request"), ("make_log_line", "leak_log"),
              ("leak_rec", "leak_rec")}
SVC_FUNCTIONS = {"leak_sessions", "make_log_line", "leak_rec"}
SVC_HARMLESS = {("alloc_body", "lru_touch"), ("background", "main"), ("churn", "handle_request")}
GO_STACKS = {("main.newBody", "main.leakBacklog"), ("main.newBody", "main.leakIndex"),
             ("main.newBody", "main.leakSubscribers"), ("main.leakBacklog", "main.main"),
             ("main.leakIndex", "main.main")}
GO_FUNCTIONS = {"main.leakBacklog", "main.leakIndex", "main.leakSubscribers"}
GO_HARMLESS = {("main.newBody", "main.ringWrite"), ("main.newBody", "main.burstLoad"),
               ("main.ringWrite", "main.main"), ("main.burstLoad", "main.main")}
NODE_STACKS = {("leakListeners", None), ("leakCache", None)}


def short(name):
    return name.split("(")[0] if not name.startswith("(") else name


@unittest.skipUnless(os.path.isdir(SERIES), "skipped: the shared series are not here")
class TruthSeries(unittest.TestCase):
    def trend(self, series, count, by="stack"):
        paths = sorted(glob.glob(os.path.join(SERIES, series, "*")))[:count]
        self.assertEqual(len(paths), count)
        command = [BINARY, "--db", ":memory:", "trend", *paths, "--by", by, "--symbols", os.path.join(SERIES, "bin"),
                   "--as", "json", "-n", "0"]
        return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=120).stdout)

    def by_site(self, report):
        """(leaf, caller) -> verdicts of all rows that start so."""
        found = {}
        for row in report["rows"]:
            names = [short(frame["function"] or "") for frame in row["stack"]]
            for caller in (names[1] if len(names) > 1 else None, None):
                found.setdefault((names[0], caller), set()).add(row["verdict"])
        return found

    def check(self, series, leaks, harmless, functions, count=12, words=frozenset({"GROWING"})):
        with self.subTest(series=series, snapshots=count):
            report = self.trend(series, count)
            self.assertEqual(report["left_out"], 0)
            verdicts = self.by_site(report)
            for site in leaks:
                self.assertTrue(verdicts.get(site) and verdicts[site] <= words, (site, verdicts.get(site)))
            for site in harmless:
                self.assertFalse(verdicts.get(site, set()) & {"GROWING", "RISING"}, (site, verdicts.get(site)))
            growing = {site for site, found in verdicts.items() if "GROWING" in found and site[1] is not None}
            self.assertLessEqual(growing, {s for s in verdicts if any(s[0] == leak[0] for leak in leaks)})
            by_function = {short(row["key"]): row["verdict"]
                           for row in self.trend(series, count, "function")["rows"]}
            for function in functions:
                self.assertIn(by_function[function], words, function)
            return report

    def test_exact_series_of_the_service(self):
        for series in ("tcmalloc-svc", "tcmalloc-svc-run2", "jemalloc-svc"):
            self.check(series, SVC_STACKS, SVC_HARMLESS, SVC_FUNCTIONS)

    def test_the_dump_at_exit_turns_no_leak_into_a_warm_up(self):
        for series in ("tcmalloc-svc", "tcmalloc-svc-run2"):
            report = self.check(series, SVC_STACKS, SVC_HARMLESS, SVC_FUNCTIONS, count=13)
            self.assertNotIn("SATURATING", [row["verdict"] for row in report["rows"]])

    def test_sampled_series_of_the_service(self):
        self.check("jemalloc-svc-s12", SVC_STACKS, SVC_HARMLESS, SVC_FUNCTIONS, words={"GROWING", "RISING"})

    def test_the_queue_in_go(self):
        self.check("go-queue", GO_STACKS, GO_HARMLESS, GO_FUNCTIONS)

    def test_the_cache_in_node(self):
        self.check("node-cache", NODE_STACKS, {("ringWrite", None)}, {"leakCache", "leakListeners"},
                   words={"GROWING", "RISING"})

    def test_the_queue_sampled_every_512_kib_gives_no_false_alarm(self):
        report = self.trend("go-queue-s512k", 12)
        verdicts = self.by_site(report)
        growing = {site for site, found in verdicts.items() if "GROWING" in found and site[1] is not None}
        self.assertLessEqual(growing, GO_STACKS)
        held = [site for site in GO_STACKS if verdicts.get(site, set()) & {"GROWING", "RISING"}]
        seen = [site for site in GO_STACKS if site in verdicts]
        print(f"go-queue-s512k: {len(growing)} of {len(seen)} leaking stacks that were sampled are GROWING, "
              f"{len(held)} GROWING or RISING")

    def test_few_snapshots_rank_the_leak_first_and_claim_nothing(self):
        for series, leaf in (("tcmalloc-svc", "alloc_body"), ("jemalloc-svc", "alloc_body"), ("go-queue", "main.newBody"),
                             ("node-cache", "leakListeners")):
            for count in (3, 5, 7):
                with self.subTest(series=series, snapshots=count):
                    report = self.trend(series, count)
                    self.assertFalse(report["judged"])
                    self.assertTrue(all(row["verdict"] is None for row in report["rows"]))
                    self.assertEqual(report["rows"][0]["stack"][0]["function"].split("(")[0], leaf)
                    self.assertGreater(report["rows"][0]["growth"], 0)

    def test_other_sqlite_programs_see_the_rows_of_the_diff(self):
        """The sqlite3 shell and Debian's python3 with the extension, against diff --as json, for each series."""
        extension = os.environ.get("SNAPDIFF_EXTENSION")
        if not extension:
            self.skipTest("skipped: SNAPDIFF_EXTENSION does not name the extension")
        loads = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"
        if shutil.which("sqlite3") is None or not os.path.exists("/usr/bin/python3") or subprocess.run(
                ["/usr/bin/python3", "-c", loads], capture_output=True, check=False).returncode != 0:
            self.skipTest("skipped: no sqlite3 shell, or no /usr/bin/python3 that loads extensions")
        compared = 0
        for series in sorted(os.listdir(SERIES)):
            paths = sorted(path for ending in ("*.heap", "*.pb.gz") for path in glob.glob(os.path.join(SERIES, series, ending)))
            if not paths:
                continue
            with self.subTest(series=series), tempfile.TemporaryDirectory() as folder:
                store = os.path.join(folder, "s.db")
                run = lambda *words, script=None: subprocess.run(words, input=script, capture_output=True, check=True,
                                                                 timeout=120, text=True).stdout
                run(BINARY, "--db", store, "import", *paths)
                report = json.loads(run(BINARY, "--db", store, "diff", "@1", f"@{len(paths)}", "--as", "json", "-n", "0",
                                        "--allocator-frames", "show", "--recursion", "show"))
                text = lambda frame: frame["function"] or f"{os.path.basename(frame['module'])}+{frame['offset']:#x}"
                wanted = sorted((" ‹ ".join(text(frame) for frame in row["stack"]), row["baseline"], row["current"],
                                 row["growth"]) for row in report["rows"] if row["baseline"] or row["current"])
                query = ("SELECT stack_text(stack), sum(baseline), sum(current), sum(growth) "
                         f"FROM growth(1, {len(paths)}) WHERE metric = '{report['metric']}' AND stack_text(stack) <> '[unattributed]' "
                         "AND (baseline <> 0 OR current <> 0) GROUP BY stack")
                shell = run("sqlite3", "-batch", store, script=f".load {extension}\n.mode json\n{query};\n")
                by_shell = sorted(tuple(row.values()) for row in json.loads(shell or "[]"))
                script = ("import json, sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\ndb.enable_load_extension(True)\n"
                          "db.load_extension(sys.argv[2])\nprint(json.dumps(db.execute(sys.argv[3]).fetchall()))")
                python = run("/usr/bin/python3", "-c", script, store, extension, query)
                by_python = sorted(tuple(row) for row in json.loads(python))
                self.assertGreater(len(wanted), 3)
                self.assertEqual(by_shell, wanted)
                self.assertEqual(by_python, wanted)
                compared += 1
        self.assertGreaterEqual(compared, 9)


if __name__ == "__main__":
    unittest.main()

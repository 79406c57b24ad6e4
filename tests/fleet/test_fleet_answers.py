"""Snapshots of many machines in two ClickHouse servers: the answers are those of the files."""
import glob
import json
import os
import re
import sys
import unittest

import servers
from fleet_case import HOUR, FleetTest
from heaps import INUSE, SOURCE, pprof

sys.path.insert(0, os.path.join(SOURCE, "tests", "support"))
from samples import samples  # noqa: E402

SERIES = os.path.normpath(os.path.join(SOURCE, "..", "shared", "data", "pprof", "series"))
CORPUS = os.environ.get("SNAPDIFF_FLEET_CORPUS")
EXAMPLE = os.path.join(SOURCE, "examples", "tcmalloc-svc")


def series_in(folders):
    """(name, files) of every folder that holds a series, oldest first, as a shell would list them."""
    found = []
    for folder in folders:
        if os.path.basename(folder) in ("bin", "src"):
            continue
        files = [path for path in sorted(glob.glob(os.path.join(folder, "*")))
                 if re.search(r"heap|\.pb\.gz$|\.pprof", os.path.basename(path)) and os.path.isfile(path)]
        if len(files) > 2:
            found.append((os.path.basename(folder), files))
    return found


def all_series():
    """Every series that is here; the example's name differs from that of the shared one."""
    return series_in(sorted(glob.glob(os.path.join(SERIES, "*")))) + [(name + "-example", files) for name, files in series_in([EXAMPLE])]


def corpus_cases():
    """(name, files, first moment, last moment) of each case that can be pushed: object graphs cannot, nor moments of a file."""
    found = []
    for path in sorted(glob.glob(os.path.join(os.path.abspath(CORPUS), "cases", "*", "truth.json"))):
        with open(path, encoding="utf-8") as file:
            truth = json.load(file)
        files = [os.path.join(os.path.dirname(path), name) for name in truth["operands"]]
        if truth["n"] < 3 or truth["format"] in ("hprof", "v8", "cuda", "objgraph") or not all(os.path.isfile(name) for name in files):
            continue
        ends = (files[0], files[-1]) if len(files) > 1 else (files[0] + "@first", files[0] + "@last")
        found.append((os.path.basename(os.path.dirname(path)), files, *ends))
    return found


def with_names_of_sides(found):
    """A diff whose notes of one side begin with which it is, not with how that is called."""
    notes = []
    for note in found["notes"]:
        text = note["text"]
        for side in ("baseline", "current"):
            if text.startswith(found[side]["ref"] + ": "):
                text = side + text[len(found[side]["ref"]):]
                break
        notes.append({**note, "text": text})
    return {**found, "notes": notes}


def without_refs(value):
    """A JSON answer without how snapshots are called and without the counts of instances, which files have not."""
    if isinstance(value, dict):
        return {key: without_refs(inner) for key, inner in value.items()
                if key not in ("ref", "series", "source", "instances", "next")}
    return [without_refs(inner) for inner in value] if isinstance(value, list) else value


class SameAsFiles(FleetTest):
    def test_every_series_gives_the_answers_of_its_files(self):
        series = all_series()
        self.assertTrue(series)
        for name, files in series:
            self.compare(name, files, files[0], files[-1], pushed="%d snapshots of svc, %s" % (len(files), name))

    @unittest.skipIf(CORPUS is None, "skipped: SNAPDIFF_FLEET_CORPUS names no folder that tests/corpus/build has made")
    def test_every_case_of_a_corpus_gives_the_answers_of_its_files(self):
        cases = corpus_cases()
        self.assertTrue(cases)
        for name, files, first, last in cases:
            # A frame is stored once for all services, with one of the paths of its module: cases that share frames have other paths.
            self.database = "corpus_" + name.replace("-", "_")
            self.make_tables()
            self.compare(name, files, first, last)
        print("%d cases of the corpus compared" % len(cases))

    def test_samples_give_the_answers_of_their_files(self):
        """The smallest series or pair of each folder of tests/data: one instance says what its files say."""
        best = {}
        for name, files in samples():
            folder, size = os.path.dirname(name), sum(map(os.path.getsize, files))
            if len(files) > 1 and (folder not in best or size < best[folder][0]):
                best[folder] = (size, name, files)
        compared = 0
        for number, (_, name, files) in enumerate(best.values()):
            command = "trend" if len(files) > 2 else "diff"
            done = self.run_any(command, *files, "--as", "json", "--db", ":memory:")
            if done.returncode or not done.stdout.strip() or "story" not in (expected := json.loads(done.stdout)):
                continue  # counters
            instance = "i%d" % number
            _, err = self.push(*files, "--service", "svc", "--instance", instance)
            if "%d snapshots of svc, %s" % (len(files), instance) not in err:
                continue  # files of several moments: a pair takes one of each
            with self.subTest(sample=name):
                found = json.loads(self.fleet(command, "--service", "svc", "--instance", instance, "--as", "json")[0])
                found["notes"] = [note for note in found["notes"] if not note["text"].startswith("1 instance")]
                if command == "diff":
                    found, expected = with_names_of_sides(found), with_names_of_sides(expected)
                self.assertEqual(without_refs(found), without_refs(expected))
                compared += 1
        print("%d samples compared" % compared)

    def compare(self, name, files, first, last, pushed=None):
        """What files say, what their instance says; the moments that a diff compares. `pushed`: what the push says of a series,
        whose diff has more than two rows."""
        _, err = self.push(*files, "--service", "svc", "--instance", name)
        self.assertIn(pushed or "of svc, " + name, err)
        chosen = ["--service", "svc", "--instance", name, "--as", "json"]
        with self.subTest(series=name, command="diff"):
            expected = json.loads(self.run_it("diff", first, last, "--as", "json", "--db", ":memory:")[0])
            found = json.loads(self.fleet("diff", *chosen)[0])
            self.assertGreaterEqual(len(found["rows"]), 3 if pushed else 1)
            found, expected = with_names_of_sides(found), with_names_of_sides(expected)
            self.assertEqual(without_refs(found), without_refs(expected))
        with self.subTest(series=name, command="trend"):
            expected = json.loads(self.run_it("trend", *files, "--as", "json", "--db", ":memory:")[0])
            found = json.loads(self.fleet("trend", *chosen)[0])
            if len(files) > 1:
                self.assertEqual(len(found["snapshots"]) + found["left_out"], len(files))
            self.assertEqual(without_refs(found), without_refs(expected))
        with self.subTest(series=name, command="pull, postmortem"):
            # Beside the same files imported into a store of their own: the same bytes.
            reports = []
            for part in ("pulled", "files"):
                os.makedirs(os.path.join(self.folder, part), exist_ok=True)
                store = os.path.join(part, name + ".db")
                if part == "pulled":
                    self.fleet("pull", "--service", "svc", "--instance", name, "-o", store)
                else:
                    self.run_it("import", *files, "--db", store, "--series", "svc/" + name)
                self.run_it("postmortem", "svc/" + name, "--db", store, "-o", os.path.join(part, name))
                with open(os.path.join(self.folder, part, name, "report.json"), encoding="utf-8") as file:
                    reports.append(file.read().replace(part + "/", ""))
            self.assertEqual(reports[0].split(","), reports[1].split(","))

    def test_sums_are_those_of_plain_sql(self):
        self.small_fleet()
        found = json.loads(self.fleet("diff", "--service", "api", "--as", "json")[0])
        first, last = [int(self.sql("SELECT sum(value) FROM @sample WHERE ts = (SELECT %s(ts) FROM @snapshot) FORMAT TSV" % end))
                       for end in ("min", "max")]
        self.assertEqual((found["total"]["baseline"], found["total"]["current"]), (first, last))
        self.assertEqual((first, last), (4 * 1_000_000 + 200_006, 4 * 1_000_000 + 3 * 900_000 + 200_006))
        rows = {row["stack"][0]["function"]: row for row in found["rows"]}
        self.assertEqual(rows["cache_put"]["growth"], 3 * 900_000)
        self.assertEqual(rows["cache_put"]["growth_objects"], 4 * 9)
        self.assertEqual(rows["cache_put"]["instances"], {"grew": 3, "shrank": 0, "of": 4})
        self.assertEqual(rows["parse"]["instances"], {"grew": 0, "shrank": 0, "of": 4})

    def test_trend_of_the_sum(self):
        self.small_fleet()
        found = json.loads(self.fleet("trend", "--service", "api", "--as", "json")[0])
        self.assertEqual([s["total"] for s in found["snapshots"]], [4_200_006 + 300_000 * s for s in range(10)])
        self.assertEqual({row["stack"][0]["function"]: row["verdict"] for row in found["rows"]}["cache_put"], "GROWING")
        text, _ = self.fleet("trend", "--service", "api")
        self.assertRegex(text, r"GROWING +cache_put.*on 3 of 4 instances")
        self.assertRegex(text, r"3/4 +cache_put")
        floored = json.loads(self.fleet("trend", "--service", "api", "--as", "json", "--floor", "1000")[0])
        names = {row["stack"][0]["function"]: row["values"] for row in floored["rows"]}
        self.assertEqual(names["[below threshold]"], [200_006] * 10)
        self.assertEqual([s["total"] for s in floored["snapshots"]], [s["total"] for s in found["snapshots"]])

    def test_by_version_and_one_version_alone(self):
        self.small_fleet()
        found = json.loads(self.fleet("diff", "--service", "api", "--by", "version", "--as", "json")[0])
        self.assertEqual({row["key"]: row["growth"] for row in found["rows"]}, {"2.3": 2_700_000, "2.2": 0})
        alone = json.loads(self.fleet("diff", "--service", "api", "--version", "2.3", "--as", "json")[0])
        self.assertEqual(alone["total"]["growth"], 2_700_000)
        self.assertEqual(alone["rows"][0]["instances"], {"grew": 3, "shrank": 0, "of": 3})

    def test_a_group_grew_on_the_instances_where_its_stacks_did(self):
        # On a both grow, on b one grows by what the other shrinks by, on c one grows, on d nothing does.
        changes = {"a": (10, 20), "b": (30, -30), "c": (5, 0), "d": (0, 0)}
        for instance, (grown, other) in changes.items():
            for s in range(2):
                rows = [(["alloc", "one", "main"], [1, 1000 + grown * s]), (["alloc", "two", "main"], [1, 1000 + other * s]),
                        (["rest", "main"], [1, 70 - s])]
                self.write("%s.%d.pb.gz" % (instance, s), pprof(INUSE, rows, time_ns=(1_760_000_000 + s * HOUR) * 10**9))
            self.push("%s.0.pb.gz" % instance, "%s.1.pb.gz" % instance, "--service", "api", "--instance", instance, "--version",
                      "2" if instance == "a" else "1")

        def counts(*words):
            rows = json.loads(self.fleet("diff", "--service", "api", *words, "--as", "json")[0])["rows"]
            return {row["key"]: (row["instances"]["grew"], row["instances"]["shrank"], row["instances"]["of"]) for row in rows}

        self.assertEqual(counts("--by", "function"),
                         {"alloc": (2, 0, 4), "one": (3, 0, 4), "two": (1, 1, 4), "rest": (0, 4, 4), "main": (2, 2, 4)})
        # Of the instances that have the version: a alone has 2.
        self.assertEqual(counts("--by", "version"), {"2": (1, 0, 1), "1": (1, 2, 3)})
        self.assertEqual(counts("--by", "instance"), {"a": (1, 0, 1), "b": (0, 1, 1), "c": (1, 0, 1), "d": (0, 1, 1)})
        self.assertEqual(counts("--by", "version", "--focus", "two"), {"2": (1, 0, 1), "1": (0, 1, 3)})
        self.assertEqual(counts("--by", "function", "--focus", "two"), {"alloc": (1, 1, 4), "two": (1, 1, 4), "main": (1, 1, 4)})
        self.assertIn("2/4", self.fleet("diff", "--service", "api", "--by", "function")[0])

    def test_a_label_of_samples_grew_on_the_instances_where_it_did(self):
        for instance, step in (("a", 7), ("b", 0), ("c", -2)):
            for s in range(2):
                rows = [(["f", "main"], [1, 100 + step * s], [("pool", "small")]), (["f", "main"], [1, 100 - step * s], [("pool", "large")])]
                self.write("%s.%d.pb.gz" % (instance, s), pprof(INUSE, rows, time_ns=(1_760_000_000 + s * HOUR) * 10**9))
            self.push("%s.0.pb.gz" % instance, "%s.1.pb.gz" % instance, "--service", "api", "--instance", instance)
        rows = json.loads(self.fleet("diff", "--service", "api", "--by", "label:pool", "--as", "json")[0])["rows"]
        self.assertEqual({row["key"]: row["instances"] for row in rows},
                         {"small": {"grew": 1, "shrank": 1, "of": 3}, "large": {"grew": 1, "shrank": 1, "of": 3}})

    def test_an_instance_with_another_version_at_the_end(self):
        for instance, versions in (("a", "11"), ("b", "12")):
            for s in range(2):
                self.heap("%s.%d.pb.gz" % (instance, s), {"f": (1, 1000 + s)}, 1_760_000_000 + s * HOUR)
                self.push("%s.%d.pb.gz" % (instance, s), "--service", "api", "--instance", instance, "--version", versions[s])
        rows = json.loads(self.fleet("diff", "--service", "api", "--by", "version", "--as", "json")[0])["rows"]
        self.assertEqual({row["key"]: (row["growth"], row["instances"]) for row in rows},
                         {"1": (-999, {"grew": 1, "shrank": 1, "of": 2}), "2": (1001, {"grew": 1, "shrank": 0, "of": 1})})

    def test_culprits_say_on_how_many_instances_whatever_the_rows_are(self):
        self.small_fleet()
        for by in ("stack", "version", "function", "file", "instance"):
            for command in ("diff", "trend"):
                culprits = json.loads(self.fleet(command, "--service", "api", "--by", by, "--as", "json")[0])["story"]["culprits"]
                self.assertEqual([(one["name"], one["instances"]) for one in culprits],
                                 [("cache_put", {"grew": 3, "shrank": 0, "of": 4})], (by, command))

    def test_instances_without_a_label_are_a_row(self):
        for instance, labels in (("a", ["--label", "region=eu"]), ("b", [])):
            for s in range(2):
                self.heap("%s.%d.pb.gz" % (instance, s), {"f": (1, 1000 + (7 if instance == "a" else -2) * s)}, 1_760_000_000 + s * HOUR)
            self.push("%s.0.pb.gz" % instance, "%s.1.pb.gz" % instance, "--service", "api", "--instance", instance, *labels)
        rows = json.loads(self.fleet("diff", "--service", "api", "--by", "label:region", "--as", "json")[0])["rows"]
        self.assertEqual({row["key"]: (row["growth"], row["instances"]) for row in rows},
                         {"eu": (7, {"grew": 1, "shrank": 0, "of": 1}), "[no label region]": (-2, {"grew": 0, "shrank": 1, "of": 1})})

    def test_where_to_go_from_an_answer(self):
        self.small_fleet()
        found = json.loads(self.fleet("diff", "--service", "api", "--as", "json")[0])
        self.assertEqual(found["story"]["next"], "snapdiff fleet trend --service api")
        self.assertIn("'snapdiff fleet trend' judges", self.fleet("diff", "--service", "api")[0])
        found = json.loads(self.fleet("trend", "--service", "api", "--as", "json")[0])
        self.assertEqual(found["story"]["next"], "snapdiff fleet pull --service api -o incident.db")
        self.run_it(*found["story"]["next"].split()[1:], "--url", self.first.url, "--database", self.database)

    def test_gate_and_outliers(self):
        self.small_fleet()
        out, _ = self.fleet("gate", "--service", "api", code=1)
        self.assertIn("cache_put", out)
        self.fleet("gate", "--service", "api", "--budget", "total:100MiB", code=0)
        found = json.loads(self.fleet("outliers", "--service", "api", "--as", "json")[0])
        text, _ = self.fleet("outliers", "--service", "api")
        self.assertIn("h3", text)
        self.assertEqual(len(found["ranks"]), 4)


if __name__ == "__main__":
    if servers.SKIP:
        print(servers.SKIP)
    unittest.main()

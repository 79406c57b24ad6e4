"""The report of a series: its forms, figures, tokens, and what it refuses."""
import base64
import glob
import gzip
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import unittest
import zlib

import device_snapshots as cuda
from heaps import EXAMPLES, GROW, INUSE, KEEP, MAIN, SCHEMAS, SOURCE, CliTest, pprof, tcmalloc

VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")
SHARED = os.path.join(os.path.dirname(SOURCE), "shared", "data")
DATA = os.path.join(SOURCE, "tests", "data")
GO = sorted(glob.glob(os.path.join(EXAMPLES, "go-queue", "heap.*.pb.gz")))
TCMALLOC = sorted(glob.glob(os.path.join(EXAMPLES, "tcmalloc-svc", "svc.*.heap")))
FIGURES = sorted(glob.glob(os.path.join(DATA, "postmortem", "figures", "*.gz")))
CUDA = [os.path.join(DATA, "torch_cuda", "cs336-sil-attention-small.pickle" + point) for point in ("@10", "@peak", "")]
SERIES = {"go": GO, "tcmalloc": TCMALLOC, "tracemalloc": FIGURES, "cuda": CUDA}
BANNED = ("retained by", "leak ", "leaked", "dangerous", "!")


def drawn_text(test, folder, packed_parts=1):
    """What the page and the document show: the page with its packed parts, the text of the PDF where a tool can read it."""
    with open(os.path.join(test.folder, folder, "report.html"), encoding="utf-8") as file:
        page = file.read()
    texts = [page]
    for packed in re.findall(r"[A-Za-z0-9+/=]{100,}", page):
        try:
            texts.append(zlib.decompress(base64.b64decode(packed), -15).decode("utf-8", "replace"))
        except (zlib.error, ValueError):
            pass  # a font
    test.assertGreaterEqual(len(texts), 1 + packed_parts)
    if shutil.which("pdftotext"):
        texts.append(subprocess.run(["pdftotext", os.path.join(test.folder, folder, "report.pdf"), "-"], capture_output=True, check=True)
                     .stdout.decode("utf-8", "replace"))
    return "\n".join(texts)


class Postmortem(CliTest):
    def report(self, *arguments, folder="out", **more):
        self.out, self.err = self.run_it("postmortem", *arguments, "-o", folder, "--db", ":memory:", **more)
        with open(os.path.join(self.folder, folder, "report.json"), encoding="utf-8") as file:
            return json.load(file)

    def markdown(self, folder="out"):
        with open(os.path.join(self.folder, folder, "report.md"), encoding="utf-8") as file:
            return file.read()

    def valid(self, schema, document):
        name = self.write("valid.json", json.dumps(document))
        done = subprocess.run([sys.executable, VALIDATE, os.path.join(SCHEMAS, schema + ".schema.json"), os.path.join(self.folder, name)],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def heaps(self, count, leak=1000):
        return [self.write("svc.%04d.heap" % (i + 1),
                           tcmalloc([(i + 1, (i + 1) * leak, [GROW, MAIN]), (5, 50000, [KEEP, MAIN])])) for i in range(count)]

    def test_figures_are_those_of_diff_and_trend(self):
        for name, files in SERIES.items():
            with self.subTest(name):
                report = self.report(*files, "-n", "0", folder=name)
                diff = json.loads(self.run_it("diff", *files, "--db", ":memory:", "--as", "json")[0])
                # Verdicts are those of trend, which knows the times; notes of the inputs stand beside the figures.
                verdicts = [(row.pop("verdict", None), row.pop("reason", None)) for row in report["diff"]["rows"]]
                for part in (report["diff"], diff["overall"]):
                    for row in part["rows"]:
                        row.pop("verdict", None), row.pop("reason", None)
                    part.pop("notes")
                self.assertEqual(report["diff"], diff["overall"])
                trend = json.loads(self.run_it("trend", *files, "--db", ":memory:", "--as", "json")[0])
                of_stack = {json.dumps(row["stack"]): row["verdict"] for row in trend["rows"]}
                if trend["judged"]:
                    self.assertEqual([v for v, _ in verdicts], [of_stack[json.dumps(row["stack"])] for row in report["diff"]["rows"]])
                for part in (report["trend"], trend):
                    part.pop("notes")
                self.assertEqual(report["trend"], trend)
                functions = json.loads(self.run_it("diff", files[0], files[-1], "--by", "function", "--db", ":memory:", "--as", "json")[0])
                self.assertEqual(report["by_function"]["rows"], functions["rows"])
                self.assertEqual([i["total"] for i in report["inputs"]], [s["total"] for s in diff["snapshots"]])

    def test_json_keeps_its_schemas(self):
        reports = [self.report(*files, folder=name) for name, files in SERIES.items()]
        reports.append(self.report(os.path.join(DATA, "metric_log", "constructed-loop.log"), folder="log"))
        reports.append(self.report(GO[0], GO[1], folder="two"))
        for report in reports:
            self.valid("postmortem", report)
            for part, schema in (("diff", "diff"), ("by_function", "diff"), ("trend", "trend"), ("counters", "counters"), ("pins", "pins")):
                if report[part] is not None:
                    self.valid(schema, report[part])
        self.assertIsNone(reports[-1]["trend"])
        self.assertIsNone(reports[-2]["diff"])
        self.assertIsNotNone(reports[3]["pins"])

    def test_numbers_in_sentences_come_from_the_figures(self):
        report = self.report(*TCMALLOC[:12])
        total = report["diff"]["total"]
        self.assertEqual((total["baseline"], total["current"]), (1064912, 7047568))
        self.assertEqual(report["headline"], "In-use bytes grew from 1.02 to 6.72 MiB")
        self.assertEqual(report["verdict"], "GROWING")
        texts = [finding["text"] for finding in report["findings"]]
        # 12 x 256 000 B below handle_request -> leak_sessions, 12 x 200 000 B below leak_log; TRUTH of the source: +4 MiB at 3, -4 MiB at 6.
        culprits = {s["growth"] for s in report["diff"]["story"]["culprits"]}
        self.assertLessEqual({11 * 256000, 11 * 200000}, culprits)
        self.assertIn("4.00 MiB allocated and freed again", " ".join(texts))
        passed = next(t for t in texts if "freed again" in t)
        self.assertRegex(passed, r"allocated at snapshot\s3 \(svc\.0003\.heap\), freed at snapshot\s6 \(svc\.0006\.heap\)")
        since = next(f["text"] for f in report["findings"] if f["kind"] == "since")
        self.assertRegex(since, r"rose at every step")

    def test_the_terminal_gets_five_lines(self):
        for name, files in SERIES.items():
            with self.subTest(name):
                report = self.report(*files, folder=name)
                self.assertEqual(len(report["in_short"]), 5)
                joined = " ".join(line.strip() for line in self.out.splitlines())
                for line in report["in_short"]:
                    self.assertIn(re.sub(r"\s+", " ", line), re.sub(r"\s+", " ", joined))
                self.assertRegex(self.err, r"wrote \S+report\.md \(.*\)\nwrote \S+report\.json ")

    def test_words_that_are_never_ours(self):
        for name, files in SERIES.items():
            report = self.report(*files, folder=name)
            for part in report["findings"] + report["hints"]:
                ours = "".join(span["text"] for span in part["spans"] if not span["name"])
                for word in BANNED:
                    self.assertNotIn(word, ours)

    def test_a_verdict_is_of_the_culprits(self):
        # The total is a step here, for four MiB came and went.
        report = self.report(*TCMALLOC)
        self.assertEqual(report["verdict"], "GROWING")
        self.assertNotEqual(report["trend"]["total"]["verdict"], "GROWING")

    def test_few_snapshots_claim_nothing(self):
        for count in (2, 3, 7):
            report = self.report(*self.heaps(count))
            self.assertIsNone(report["verdict"])
            text = " ".join(report["in_short"]) + " ".join(f["text"] for f in report["findings"])
            for word in ("GROWING", "RISING", "STEP"):
                self.assertNotIn(word, text)
            self.assertIn("8 or more are judged", text)

    def test_a_series_that_shrinks_and_one_that_does_not_change(self):
        report = self.report(*reversed(GO[:2]))
        self.assertIn("In-use bytes shrank from", report["headline"])
        report = self.report(GO[0], GO[0])
        self.assertEqual(report["headline"], "In-use bytes stayed at 1.79 MiB")
        self.assertIn("No stack changed", self.out)
        self.assertEqual(report["hints"], [])

    def test_metrics_in_counts(self):
        files = [self.write("c%02d.pb.gz" % i, pprof([("inuse_objects", "count")], [(["leak", "main"], [10 * (i + 1)]), (["keep", "main"], [500])]))
                 for i in range(9)]
        report = self.report(*files, "--metric", "inuse_objects")
        self.assertEqual(report["headline"], "In-use objects grew from 510 to 590")
        self.assertEqual(report["verdict"], "GROWING")

    def test_when_the_limit_is_met(self):
        report = self.report(*self.heaps(12), "--limit", "1MiB")
        limit = [f["text"] for f in report["findings"] if f["kind"] == "limit"]
        # 62 000 bytes at the end, 1000 a snapshot: (1 048 576 - 62 000) / 1000 = 986.6.
        self.assertEqual([re.sub(r"\s", " ", t) for t in limit], ["At this pace the total reaches 1.00 MiB in 987 snapshots (987 to 987)."])
        self.assertEqual(report["trend"]["forecast"]["kind"], "ahead")
        self.assertFalse([f for f in self.report(*self.heaps(12))["findings"] if f["kind"] == "limit"])

    def test_a_restart_is_told_and_not_compared_across(self):
        files = [self.write("r%02d.pb.gz" % i, pprof(INUSE, [(["leak", "main"], [1, 100000 + 10000 * (i % 6)]), (["keep", "main"], [1, 1000000 if i < 6 else 1000])],
                                                     time_ns=10**18 + i * 10**9)) for i in range(12)]
        report = self.report(*files)
        self.assertEqual((report["trend"]["left_out"], len(report["inputs"])), (6, 12))
        self.assertRegex(" ".join(f["text"] for f in report["findings"] if f["kind"] == "not"),
                         r"A restart is suspected before snapshot\s7 .* 6 snapshots before it are left out")

    def test_a_failed_allocation_leads(self):
        holes = [(15 * cuda.MIB, None), (10 * cuda.MIB, 10 * cuda.MIB), (15 * cuda.MIB, None)]
        full = self.write("1.pickle", pickle.dumps(cuda.failed([cuda.segment(cuda.A, holes)], 20 * cuda.MIB, 5 * cuda.MIB), protocol=4))
        more = self.write("2.pickle", pickle.dumps(cuda.failed([cuda.segment(cuda.A, holes), cuda.segment(cuda.B, holes)], 20 * cuda.MIB, 5 * cuda.MIB), protocol=4))
        report = self.report(full, more)
        self.assertEqual(report["failure"]["reason"], "fragmentation")
        self.assertRegex(report["in_short"][0], r"^An allocation of 20\.0 MiB failed on device 0: ")
        self.assertIn("pinned", " ".join(f["text"] for f in report["findings"] if f["kind"] == "what"))

    def test_counters_alone(self):
        report = self.report(os.path.join(DATA, "metric_log", "constructed-loop.log"))
        self.assertEqual(report["headline"], "live{level=total} grew from 148 to 592")
        self.assertIn("no stacks", " ".join(f["text"] for f in report["findings"] if f["kind"] == "where"))
        self.assertIn("detached", self.markdown())

    def test_a_short_log_says_once_that_it_is_not_judged(self):
        self.report(os.path.join(DATA, "metric_log", "constructed-loop.log"))
        self.assertEqual(self.out.count("too few to call it a trend"), 1, self.out)

    def test_two_runs_give_the_same_bytes(self):
        for name, files in SERIES.items():
            for arguments in ([], ["--redact"]):
                self.report(*files, *arguments, folder="one")
                self.report(*files, *arguments, folder="two")
                for form in ("report.md", "report.json", "report.html", "report.pdf"):
                    with open(os.path.join(self.folder, "one", form), "rb") as one, open(os.path.join(self.folder, "two", form), "rb") as two:
                        self.assertEqual(one.read(), two.read(), name)

    # --- tokens

    def names_of(self, report):
        """What must not get out: names of functions, files and modules, of the inputs and of their folders."""
        names = set()
        def frame(f):
            for text in (f["function"], f["file"], f["module"]):
                if text:
                    names.add(text)
                    names.update(part for part in re.split(r"[^A-Za-z0-9_]+", text))
        for part in (report["diff"], report["by_function"]):
            for row in part["rows"]:
                for f in row.get("stack", []):
                    frame(f)
                if "key" in row:
                    names.update([row["key"], *re.split(r"[^A-Za-z0-9_]+", row["key"])])
            for culprit in (part["story"] or {"culprits": []})["culprits"]:
                for f in culprit["path"]:
                    frame(f)
        for entry in report["inputs"]:
            names.update([entry["snapshot"]["ref"], entry["snapshot"]["source"], os.path.basename(entry["snapshot"]["source"])])
            names.update(os.path.dirname(entry["snapshot"]["source"]).split("/"))
        return {n for n in names if len(n) > 3 and not n.isdigit() and not re.fullmatch(r"[0-9a-f]+|0x.*|\[.*\]", n)}

    # Words of the report itself, and its file endings, that are names in some program too.
    OURS = {"main", "python", "native", "function", "file", "line", "name", "size", "value", "values", "step", "steps", "count", "text",
            "stack", "frame", "module", "total", "bytes", "growth", "snapshot", "object", "objects", "type", "types", "metric",
            "init", "impl", "call", "torch", "cuda", "CUDA", "memory", "device", "allocator", "segment", "pickle", "heap",
            "tracemalloc", "data", "tests", "node", "class", "alloc", "float", "matplotlib", "figure", "figures", "import", "runtime", "pool",
            "path", "with", "none", "over", "time", "detail", "empty", "void", "apply", "loop", "scale", "const", "char", "unsigned",
            "long", "signed", "Error", "List", "list", "from", "meta", "base", "local", "wrap", "blas", "graph", "queue", "through",
            "server", "service", "application", "more", "library", "libs", "share", "next", "this", "thread", "first", "last",
            "output", "input", "double", "bool", "functional", "reserved", "requested", "transforms", "patches", "artist", "text",
            "colors", "lines", "spines", "axis", "axes", "tight", "layout", "scale", "handle", "pinned", "common", "record",
            "snapdiff", "postmortem", "pprof", "details", "pyplot"}

    def test_no_name_gets_out(self):
        for name, files in SERIES.items():
            with self.subTest(name):
                names = self.names_of(self.report(*files, "-n", "0", folder="plain")) - self.OURS
                self.assertGreater(len(names), 8)
                redacted = self.report(*files, "-n", "0", "--redact", folder="redacted")
                self.assertTrue(redacted["redacted"])
                with open(os.path.join(self.folder, "redacted", "report.json"), encoding="utf-8") as file:
                    everything = self.out + self.markdown("redacted") + file.read()
                words = set(re.split(r"[^A-Za-z0-9_]+", everything))
                self.assertEqual(sorted(n for n in names if (n in words if re.fullmatch(r"\w+", n) else n in everything)), [])

    def test_no_name_is_drawn(self):
        for name, files in SERIES.items():
            with self.subTest(name):
                names = self.names_of(self.report(*files, "-n", "0", folder="plain")) - self.OURS
                # Words that only a program would use: a page's script and a glossary have their own.
                telling = {n for n in names if re.search(r"[^\w.]|_|[a-z][A-Z]", n) and len(n) > 6}
                shown = drawn_text(self, "plain")
                self.assertTrue([n for n in telling if n in shown])
                self.report(*files, "--redact", folder="redacted")
                shown = drawn_text(self, "redacted")
                words = set(re.split(r"\W+", shown))
                self.assertEqual(sorted(n for n in telling if (n in words if re.fullmatch(r"\w+", n) else n in shown)), [])

    def test_tokens_change_no_figure(self):
        plain, redacted = (self.report(*GO, "-n", "0", *more, folder=f) for more, f in (([], "a"), (["--redact"], "b")))
        for one, two in zip(plain["diff"]["rows"], redacted["diff"]["rows"]):
            for key in ("class", "growth", "baseline", "current", "values", "verdict", "reason", "growth_objects"):
                self.assertEqual(one[key], two[key])
            self.assertEqual(len(one["stack"]), len(two["stack"]))
            self.assertEqual([f["line"] for f in one["stack"]], [f["line"] for f in two["stack"]])
        self.assertEqual(plain["verdict"], redacted["verdict"])
        self.assertEqual([h["rule"] for h in plain["hints"]], [h["rule"] for h in redacted["hints"]])
        self.assertEqual([h["growth"] for h in plain["hints"]], [h["growth"] for h in redacted["hints"]])
        self.valid("postmortem", redacted)
        # The same name, the same token: in tables, culprits and sentences, in every series.
        token = {f["function"]: g["function"] for r, s in zip(plain["diff"]["rows"], redacted["diff"]["rows"])
                 for f, g in zip(r["stack"], s["stack"])}
        self.assertIn(token["main.leakBacklog"], " ".join(redacted["in_short"]))
        self.assertTrue(token["main.leakBacklog"].startswith("fn_"))
        other = self.report(GO[3], GO[9], "--redact", folder="c")
        self.assertIn(token["main.leakBacklog"], json.dumps(other))
        files = {f["file"] for r in redacted["diff"]["rows"] for f in r["stack"] if f["file"]}
        self.assertTrue(all(f.endswith((".go", ".s")) for f in files), files)

    def test_a_key_gives_other_tokens(self):
        self.write("key", "0123456789abcdef-a")
        self.write("other", "0123456789abcdef-b")
        tokens = [self.report(*GO[:2], *more)["diff"]["story"]["culprits"][0]["path"][-1]["function"]
                  for more in (["--redact"], ["--redact-key", "key"], ["--redact-key", "other"], ["--redact-key", "key"])]
        self.assertEqual(len(set(tokens)), 3)
        self.assertEqual(tokens[1], tokens[3])
        self.write("short", "secret")
        self.assertIn("short: too short a key: found 6 B, expected 16 or more", self.refused("postmortem", *GO[:2], "--redact-key", "short"))

    def test_names_in_notes_are_tokens(self):
        files = [self.write("secret-service.%d.pb.gz" % i, pprof(INUSE, [(["leakage", "main"], [1, 1000 * (i + 1)])])) for i in range(2)]
        self.report(*files, files[1], "--redact")
        self.assertNotIn("secret", self.out + self.markdown())

    # --- operands, options, refusals

    def test_kinds_that_cannot_be_compared_get_a_report_each(self):
        self.run_it("postmortem", *GO[:2], *TCMALLOC[:2], CUDA[2], "-o", "mixed", "--db", ":memory:")
        out, err = self.run_it("postmortem", GO[0], GO[1], *[os.path.join(DATA, "metric_log", "constructed-memory_stats-step%d.json" % i) for i in range(3)],
                               "-o", "kinds", "--db", ":memory:")
        self.assertIn("2 series: one report each", err)
        for kind in ("pprof", "metric-log-counters"):
            self.assertTrue(self.exists("kinds/%s/report.json" % kind), os.listdir(os.path.join(self.folder, "kinds")))
            self.assertIn(kind + ":\n", out)

    def test_the_store_remembers(self):
        self.run_it("postmortem", *GO, "-o", "out", "--db", "s.db")
        listed = json.loads(self.run_it("list", "--db", "s.db", "--as", "json")[0])
        self.assertEqual(sum(len(s["snapshots"]) for s in listed["series"]), 12)
        self.run_it("postmortem", "-o", "again", "--db", "s.db")
        with open(os.path.join(self.folder, "again", "report.json"), encoding="utf-8") as file:
            again = json.load(file)
        self.assertEqual(again["headline"], "In-use bytes grew from 1.79 to 10.2 MiB")

    def test_one_snapshot_is_described_by_what_it_holds(self):
        said = self.run_it("postmortem", GO[0], "-o", "one", "--db", ":memory:")[0]
        self.assertTrue(said.startswith("1.79 MiB in use"), said)
        self.assertNotIn("stayed at", said)
        with open(os.path.join(self.folder, "one", "report.json"), encoding="utf-8") as file:
            self.assertIn("main.leakBacklog", file.read())

    def test_refusals_are_one_line(self):
        self.assertIn("nowhere.heap", self.refused("postmortem", "nowhere.heap", GO[0], "--db", ":memory:"))
        self.assertIn("'many' is not a size", self.refused("postmortem", *GO[:2], "--limit", "many", "--db", ":memory:"))
        self.write("taken", "a file")
        out, err = self.run_it("postmortem", *GO[:2], "-o", "taken", "--db", ":memory:", code=2)
        self.assertEqual([line for line in err.splitlines() if line.startswith("error: ")][0].split(": ")[1], "taken")
        self.write("cut.pb.gz", gzip.compress(b"\x0a\x04")[:-9])
        self.refused("postmortem", "cut.pb.gz", GO[0], "--db", ":memory:")

    def test_bad_rules_are_one_line_with_their_place(self):
        for text, expected in (
                ('[[hint]]\nid = "a"\ntitle = "t"\nusually = "u"\nframes = ["("]\n', r"bad\.toml: line 5: 'frames': invalid regular expression '\(': .*expected the syntax of RE2"),
                ('[[hint]]\nid = "A b"\n', r"line 2: 'id': found 'A b', expected small letters, digits and -"),
                ('[[hint]]\nid = "a"\ntitle = "t"\nusually = "u"\n', r"line 1: hint 'a': found no condition, expected those of rows"),
                ('[[hint]]\nid = "a"\ntitle = "t"\nusually = "u"\nsteady = 1\n', r"line 5: 'steady': expected true or false"),
                ('[[hint]]\nid = "a"\ntitle = "t"\nusually = "u"\nverdicts = ["BAD"]\n', r"line 5: 'verdicts': found 'BAD', expected some of GROWING"),
                ('[[hint]]\nid = "a"\ntitle = "t"\nusually = "u"\ndevice = "x"\n', r"line 5: 'device': found 'x', expected one of fragmentation, pinned, private pools"),
                ('[[hint]]\nid = "a"\ntitle = "t"\nusually = "u"\nshare = 2\nsteady = true\n', r"line 5: 'share': expected a number from 0 to 1"),
                ('[[hint]]\ncolour = "red"\n', r"line 2: 'colour' is unknown: expected one of id, title"),
                ('[[rule]]\nid = "a"\n', r"line 1: 'rule' is unknown: expected \[\[hint\]\] entries"),
                ('[[hint]]\nid = \n', r"line 2: ")):
            self.write("bad.toml", text)
            self.assertRegex(self.refused("postmortem", *GO[:2], "--hints", "bad.toml", "--db", ":memory:"), expected)
        self.assertIn("none.toml: cannot read it", self.refused("postmortem", *GO[:2], "--hints", "none.toml", "--db", ":memory:"))

    def test_rules_of_ones_own(self):
        self.write("own.toml", '[[hint]]\nid = "our-backlog"\ntitle = "the backlog"\nusually = "Nobody reads the queue"\nsuggestion = "read it"\n'
                               "frames = ['^main\\.leakBacklog$']\n"
                               '[[hint]]\nid = "counted-leftovers"\ntitle = "another title"\nusually = "Replaced"\nsteady = true\nlast = true\n')
        report = self.report(*GO, "--hints", "own.toml")
        hints = {h["rule"]: h for h in report["hints"]}
        self.assertEqual(hints["our-backlog"]["title"], "the backlog")
        self.assertIn("Nobody reads the queue.", hints["our-backlog"]["evidence"])
        self.assertEqual(hints["counted-leftovers"]["title"], "another title")
        text, _ = self.run_it("postmortem", "--print-hints")
        self.write("all.toml", text)
        self.assertEqual(json.dumps(self.report(*GO, "--hints", "all.toml")["hints"]), json.dumps(self.report(*GO)["hints"]))

    def test_hostile_names_stay_text(self):
        evil = "</script><img src=x onerror=alert(1)>`|*_[x](javascript:y)\x1b[31m\u202e"
        files = [self.write("e%d.pb.gz" % i, pprof(INUSE, [([evil, "main"], [i + 1, 1000 * (i + 1)])])) for i in range(9)]
        report = self.report(*files)
        self.assertIn("onerror", json.dumps(report))
        text = self.markdown()
        self.assertNotIn("<img", text)
        self.assertNotIn("</script>", text)
        self.assertNotIn("\x1b", text + self.out)
        self.assertNotIn("\u202e", text + self.out)


if __name__ == "__main__":
    unittest.main()

"""Files that people have in hand: archives, one dump alone, text of an unknown kind, files of several kinds of one process."""
import io
import json
import os
import shutil
import subprocess
import tarfile
import unittest
import zipfile

from heaps import CliTest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(TESTS, "data")
SERIES = os.path.join(os.path.dirname(TESTS), "examples", "go-queue")


class Archives(CliTest):
    def setUp(self):
        super().setUp()
        self.incident = os.path.join(self.folder, "incident")
        os.mkdir(self.incident)
        for name in ("heap.001.pb.gz", "heap.002.pb.gz", "heap.003.pb.gz"):
            shutil.copy(os.path.join(SERIES, name), self.incident)
        with open(os.path.join(self.incident, ".hidden"), "w") as file:
            file.write("no snapshot")

    def rows(self, operand):
        out, _ = self.run_it(operand, "--as", "json")
        document = json.loads(out)
        return document["overall"]["total"], document["overall"]["rows"]

    def test_an_archive_says_what_its_folder_says(self):
        whole = self.rows(self.incident)
        for ending, mode in (("tar", "w"), ("tar.gz", "w:gz"), ("tar.xz", "w:xz")):
            path = os.path.join(self.folder, "bundle." + ending)
            with tarfile.open(path, mode) as archive:
                archive.add(self.incident, "incident")
            self.assertEqual(self.rows(path), whole, ending)
        path = os.path.join(self.folder, "bundle.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(os.listdir(self.incident)):
                archive.write(os.path.join(self.incident, name), "incident/" + name)
        self.assertEqual(self.rows(path), whole)
        out, _ = self.run_it("info", path + "/incident/heap.002.pb.gz")
        self.assertIn("inuse_space", out)

    def test_archives_that_are_cut_or_too_large_are_refused(self):
        path = os.path.join(self.folder, "bundle.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros", bytes(1 << 20))
        with open(path, "rb") as file:
            whole = file.read()
        for size in range(40, len(whole), 97):
            with open(path, "wb") as file:
                file.write(whole[:size])
            _, error = self.run_it("info", path, code=2)
            self.assertIn("archive", error)
        with open(path, "wb") as file:
            file.write(whole.replace((1 << 20).to_bytes(4, "little"), (1 << 31).to_bytes(4, "little")))
        _, error = self.run_it("info", path, code=2)
        self.assertIn("1 GiB", error)

    def test_a_file_that_the_archive_does_not_have(self):
        path = os.path.join(self.folder, "bundle.tar")
        with tarfile.open(path, "w") as archive:
            archive.addfile(tarfile.TarInfo("empty"), io.BytesIO())
        _, error = self.run_it("info", path + "/heap.1", code=2)
        self.assertIn("no such file in the archive", error)


class OneDump(CliTest):
    def test_stacks_of_libraries_alone_that_read_alike(self):
        """Their rows are told apart by frames of libraries; there is no own one."""
        for name in ("folded_stacks/fil.prof", "memray/v10.leaks.csv.gz"):
            out, _ = self.run_it(os.path.join(DATA, name), "--db", ":memory:")
            self.assertIn("TOTAL", out, name)

    def report(self, name):
        # Without the module that draws there is no PDF, and another exit code.
        return self.run_any("postmortem", os.path.join(DATA, name), "-o", "report").stdout.decode()

    def test_whatever_the_bytes_are_called(self):
        for name, held in (("process_table/kubectl-top.txt", "of memory"), ("proc_text/smaps.1", "resident"),
                           ("runtime_state/node-report.json", "used"), ("leak_reports/heap-checker.txt", "lost")):
            out = self.report(name)
            self.assertRegex(out.splitlines()[0], r"^[0-9.]+ [KMG]?i?B %s" % held, name)
            self.assertIn("one snapshot shows no growth", " ".join(out.split()))
            self.assertIn("snapdiff top", out)


class Waterfall(CliTest):
    def test_the_report_says_what_rss_consists_of(self):
        names = ["waterfall/" + name for name in ("status.1", "status.2", "malloc_info.1.xml", "malloc_info.2.xml")]
        self.run_any("postmortem", *[os.path.join(DATA, name) for name in names], "-o", "report")
        found = 0
        for folder, _, files in os.walk(os.path.join(self.folder, "report")):
            if "report.md" not in files:
                continue
            with open(os.path.join(folder, "report.md"), encoding="utf-8") as file:
                text = file.read()
            self.assertIn("#### Resident memory", text)
            self.assertIn("free, kept by glibc", text)
            self.assertIn("not a leak", text)
            with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
                resident = json.load(file)["resident"]
            alone, _ = self.run_it("waterfall", *[os.path.join(DATA, name) for name in names], "--as", "json")
            alone = json.loads(alone)
            self.assertEqual(resident, {key: value for key, value in alone.items() if key not in ("schema", "snapshots")})
            with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
                page = file.read()
            self.assertIn('<section id="resident"', page)
            self.assertIn("<b>free, kept by glibc</b>", page)
            pdf = os.path.join(folder, "report.pdf")
            if os.path.exists(pdf) and shutil.which("pdftotext"):
                drawn = subprocess.run(["pdftotext", "-layout", pdf, "-"], stdout=subprocess.PIPE, check=True).stdout.decode()
                self.assertIn("Parts of resident memory", drawn)
                self.assertIn("free, kept by glibc", drawn)
            found += 1
        self.assertGreater(found, 0)


JULIA = """        - function grow(n)
      320     kept = Vector{Any}()
        0     for i in 1:n
    80064         push!(kept, zeros(100))
        -     end
        - end
"""


class Refusals(CliTest):
    def refused(self, text):
        with open(os.path.join(self.folder, "text"), "w") as file:
            file.write(text)
        _, error = self.run_it("info", "text", code=2)
        return error

    def test_objects_as_a_console_prints_them(self):
        """console.log(process.memoryUsage()) breaks its object into lines; a service's answer is JSON over several."""
        usage = [{"rss": 50000000 + 1048576 * i, "heapTotal": 30000000, "heapUsed": 20000000 + 524288 * i} for i in range(10)]
        printed = {
            "node.txt": "".join("{\n%s\n}\n" % ",\n".join("  %s: %d" % item for item in one.items()) for one in usage),
            "curl.json": "".join(json.dumps({"memory": one, "status": "ok"}, indent=2) + "\n" for one in usage),
            "list.json": json.dumps([{"timestamp": 1700000000 + 10 * i, **one} for i, one in enumerate(usage)]),
            "ruby.log": "".join("[%d] {%s}\n" % (i, ", ".join(":%s=>%d" % item for item in one.items())) for i, one in enumerate(usage))}
        for name, text in printed.items():
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
            out, _ = self.run_it(name)
            self.assertRegex(out, r"(?m)^verdict +GROWING rss: \+1\.00 MiB per snapshot", name)
            self.assertRegex(out, r"GROWING heap_used: \+512 KiB per snapshot", name)

    def test_what_it_looks_like_and_a_pattern_that_fits(self):
        error = self.refused("25320\n31184\n34116\n")
        self.assertIn("bare numbers", error)
        self.assertIn("--pattern '^ *(?P<value>", error)
        error = self.refused("queue depth 17\nqueue depth 19\n")
        self.assertIn("--pattern 'queue +depth +(?P<value>", error)
        error = self.refused('{"queue": {"depth": 17, "workers": 4}}\n')
        self.assertIn("its first keys are queue, depth, workers", error)
        self.assertIn("--pattern '\"depth\": *(?P<value>", error)
        error = self.refused("NAME ITEMS AGE\na 5 9d\nb 7 9d\n")
        self.assertIn("it looks like a table", error)
        for text, says in ((JULIA, "Profile.take_heap_snapshot()"), ("\nTotal memory allocated:\n\t1.270MB\n\nPeak memory usage:\n\t182kB\n", "the recording itself (.bin)"),
                           ('{"recording": {"events": [{"type": "jdk.OldObjectSample"}]}}', "the recording itself (.jfr)"),
                           ('{"header": {}, "items": {"0x7f": {"type": "string", "symbol_name": "a", "is_root": true}}}', "php-meminfo"),
                           ("packet {\n  heap_graph {\n    pid: 2\n  }\n}\n", "perfetto"), ("<GCHeapDump>\n</GCHeapDump>\n", "dotnet-gcdump report")):
            self.assertIn(says, self.refused(text), text)
        for text in ("const kept = [];\nfunction grow(n) {\n  kept.push(n + 12);\n}\n", "fn grow() {\n    let n = 12;\n}\n", "<?php\n$n = 12;\n"):
            error = self.refused(text)
            self.assertIn("this is source code", error)
            self.assertNotIn("--pattern", error)
        with open(os.path.join(self.folder, "text"), "w") as file:
            file.write("25320\n31184\n34116\n")
        out, _ = self.run_it("info", "text", "--pattern", r"^ *(?P<value>[\d.,]+) *$")
        self.assertIn("= 25320", out)


if __name__ == "__main__":
    unittest.main()

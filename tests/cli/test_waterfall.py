"""What resident memory consists of, and which part grew. Four recorded programs are read a second time here, by other
means: each part lies within 2 % of what the kernel, the runtime or the JVM says of it."""
import collections
import gzip
import json
import os
import re
import unittest

from heaps import CliTest

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "waterfall")
MIB = 1 << 20
MOMENTS = ((1, "before"), (2, "after"))
Area = collections.namedtuple("Area", "begin mode path rss")


def resident(name):
    """The mappings of smaps with their resident bytes."""
    with gzip.open(os.path.join(DATA, name), "rt") as file:
        text = file.read()
    found = re.findall(r"^([0-9a-f]+)-[0-9a-f]+ (\S+) \S+ \S+ \d+ *(.*)\n(?:(?!Rss)\w+:.*\n)*Rss: +(\d+) kB", text, re.M)
    return [Area(int(begin, 16), mode, path, int(rss) << 10) for begin, mode, path, rss in found]


class Waterfall(CliTest):
    def waterfall(self, *names):
        out, _ = self.run_it("waterfall", *[os.path.join(DATA, name) for name in names], "--as", "json")
        return json.loads(out)

    def parts(self, document):
        self.assertEqual(document["schema"], "snapdiff.waterfall/1")
        for moment in ("before", "after"):
            amounts = [part[moment] for part in document["parts"]]
            if None not in amounts and document["rss"][moment] is not None:
                self.assertEqual(sum(amounts), document["rss"][moment], moment)
        return {part["name"]: part for part in document["parts"]}

    def near(self, found, told):
        self.assertLessEqual(abs(found - told), .02 * told, (found, told))

    def leads(self, document, name, percent):
        self.assertEqual(document["parts"][document["leader"]]["name"], name)
        self.assertGreaterEqual(document["share_percent"], percent)

    def mapped(self, parts, areas, moment):
        self.near(parts["mapped files"][moment],
                  sum(area.rss for area in areas if area.path.startswith("/") and not area.path.startswith("/dev/") or area.path.startswith("[v")))

    def test_free_pages_that_glibc_keeps_are_no_leak(self):
        """2048 blocks of 500 bytes stay: 1 MiB in use, 63 MiB free beside them."""
        files = ["%s.%d%s" % (stem, i, ending) for stem, ending in (("status", ""), ("malloc_info", ".xml"), ("smaps", ".gz")) for i in (1, 2)]
        document = self.waterfall(*files)
        parts = self.parts(document)
        free, used = parts["free, kept by glibc"], parts["in use (glibc)"]
        self.assertEqual(free["growth"], 66156384 - 56673)
        self.assertLess(abs(used["growth"] - 2048 * 512), 64 << 10)
        self.assertEqual(document["parts"][document["leader"]]["name"], "free, kept by glibc")
        self.assertGreaterEqual(document["share_percent"], 95)
        self.assertIn("not a leak: in use +1.0", document["says"])
        # malloc counts the array of pointers, 1 MiB, of which the first moment has touched nothing.
        self.assertLess(abs(parts["allocated, not resident"]["after"]), 0.02 * document["rss"]["after"])
        self.assertEqual(document["unseen"], [])
        text, _ = self.run_it("waterfall", *[os.path.join(DATA, name) for name in files])
        self.assertRegex(text.splitlines()[0], r"^RSS +3\.14 MiB → 68\.3 MiB  \(\+65\.1 MiB\)$")
        self.assertRegex(text.splitlines()[1], r"^grew +free, kept by glibc  \+63\.0 MiB  97 %$")

    def test_the_jvm_holds_direct_buffers(self):
        document = self.waterfall("jvm.status.1", "jvm.status.2", "jvm.nmt.1.txt", "jvm.nmt.2.txt")
        parts = self.parts(document)
        self.assertEqual(parts["direct buffers and other (JVM)"]["growth"], 6 * MIB)
        self.assertEqual(document["parts"][document["leader"]]["name"], "direct buffers and other (JVM)")
        self.assertIn("a leak or a growing cache", document["says"])
        self.assertTrue(any(line.startswith("free memory") for line in document["unseen"]))

    def test_go(self):
        document = self.waterfall(*["go/%s.%d%s" % (stem, n, ending) for stem, ending in (("heap", ".txt"), ("smaps", ".gz")) for n in (1, 2)])
        parts = self.parts(document)
        for n, moment in MOMENTS:
            with open(os.path.join(DATA, "go/memstats.%d.expected.txt" % n)) as file:
                told = json.load(file)  # right before the profile, which itself allocates some KiB
            self.near(parts["in use (Go)"][moment], told["HeapAlloc"])
            kept = told["HeapInuse"] + told["HeapIdle"] - told["HeapReleased"]
            self.near(parts["in use (Go)"][moment] + parts["free, kept by Go"][moment], kept)
            self.near(parts["Go's runtime and stacks"][moment], told["Sys"] - told["HeapSys"])
            # The heap's arenas begin at multiples of 4 MiB.
            areas = resident("go/smaps.%d.gz" % n)
            self.near(sum(area.rss for area in areas if not area.path and area.begin % (4 * MIB) == 0 and area.rss > MIB), kept)
            self.mapped(parts, areas, moment)
        self.leads(document, "in use (Go)", 95)

    def test_glibc_that_fragments(self):
        document = self.waterfall(*["%s.%d%s" % (stem, n, ending) for stem, ending in (("malloc_info", ".xml"), ("smaps", ".gz")) for n in (1, 2)])
        parts = self.parts(document)
        areas = resident("smaps.2.gz")
        heap = sum(area.rss for area in areas if area.path in ("[heap]", "") and "w" in area.mode)
        self.near(parts["in use (glibc)"]["after"] + parts["free, kept by glibc"]["after"], heap)
        self.mapped(parts, areas, "after")
        self.leads(document, "free, kept by glibc", 95)

    def test_jvm_that_keeps_class_loaders(self):
        names = ["jvm/%s.%d%s" % (stem, n, ending) for stem, ending in (("nmt", ".txt"), ("heap_info", ".txt"), ("smaps", ".gz")) for n in (1, 2)]
        document = self.waterfall(*names)
        parts = self.parts(document)
        for n, moment in MOMENTS:
            with open(os.path.join(DATA, "jvm/nmt.%d.txt" % n)) as file:
                text = file.read()
            committed = {name.strip(): int(size) << 10 for name, size in re.findall(r"^-?(.*?)[:(] ?\(?reserved=\d+KB, committed=(\d+)KB", text, re.M) if name.strip()}
            self.near(parts["classes (metaspace)"][moment], committed["Class"] + committed["Metaspace"])
            with open(os.path.join(DATA, "jvm/heap_info.%d.txt" % n)) as file:
                used = sum(int(size) << 10 for size in re.findall(r"generation +total \d+K, used (\d+)K", file.read()))
            self.assertEqual(parts["in use (Java heap)"][moment], used)
            areas = resident("jvm/smaps.%d.gz" % n)
            heap = sum(area.rss for area in areas if 0xfc000000 <= area.begin < 0x100000000)
            self.near(parts["in use (Java heap)"][moment] + parts["free, kept in the Java heap"][moment], heap)
            self.mapped(parts, areas, moment)
            self.assertLess(abs(parts["unexplained"][moment]), .02 * document["rss"][moment])
        self.leads(document, "classes (metaspace)", 75)

    def test_pytorch_that_keeps_pinned_memory(self):
        """The driver maps what it pins as shared pages of /dev/zero, its own beside them: 18 MiB at both moments."""
        document = self.waterfall(*["torch/%s.%d%s" % (stem, n, ending) for stem, ending in (("malloc_info", ".xml"), ("smaps", ".gz")) for n in (1, 2)])
        parts = self.parts(document)
        pinned = parts["host memory that GPU drivers pin"]
        told = []
        for n, moment in MOMENTS:
            with open(os.path.join(DATA, "torch/host_memory.%d.expected.txt" % n)) as file:
                told.append(json.load(file)["host"]["allocated_bytes.current"])
            areas = resident("torch/smaps.%d.gz" % n)
            self.assertEqual(pinned[moment], sum(area.rss for area in areas if area.path.startswith("/dev/zero")))
            self.near(parts["GPU drivers' mappings"][moment], sum(area.rss for area in areas if area.path.startswith("/dev/nvidia")))
            self.assertEqual(parts["shared memory"][moment], 0)
        self.assertEqual(pinned["growth"], told[1] - told[0])
        self.leads(document, "host memory that GPU drivers pin", 75)
        self.assertIn("GPU drivers map or pin", document["says"])

    def test_what_no_file_tells_is_said(self):
        document = self.waterfall("status.1", "status.2")
        self.assertEqual(document["parts"][document["leader"]]["kind"], "unexplained")
        self.assertIn("not sure", document["says"])
        self.assertTrue(any("malloc_info()" in line for line in document["unseen"]))
        only = self.waterfall("malloc_info.1.xml", "malloc_info.2.xml")
        self.assertIsNone(only["leader"])
        self.assertEqual(only["says"], "")
        self.assertTrue(only["unseen"][0].startswith("RSS: "))

    def test_a_part_that_is_known_at_one_moment_has_no_growth(self):
        document = self.waterfall("status.1", "status.2", "malloc_info.2.xml")
        parts = self.parts(document)
        self.assertIsNone(parts["in use (glibc)"]["growth"])
        self.assertIsNone(parts["unexplained"]["before"])
        self.assertIsNotNone(parts["unexplained"]["after"])

    def test_files_of_several_processes_are_noted(self):
        out, _ = self.run_it("waterfall", os.path.join(DATA, "status.1"), os.path.join(DATA, "jvm.status.2"))
        self.assertIn("processes: the parts may not belong together", out)

    def test_files_without_a_part_are_refused(self):
        path = self.write("meminfo", "MemTotal:       24684096 kB\nMemFree:          100000 kB\n")
        _, err = self.run_it("waterfall", path, code=2)
        self.assertIn("no part of a process's memory", err)
        self.run_it("waterfall", code=2)


if __name__ == "__main__":
    unittest.main()

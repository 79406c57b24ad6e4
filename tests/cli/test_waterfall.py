"""What resident memory consists of, and which part grew."""
import json
import os
import unittest

from heaps import CliTest

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "waterfall")
MIB = 1 << 20


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

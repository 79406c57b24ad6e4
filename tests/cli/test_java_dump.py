"""A heap dump of a JVM, against what the JVM itself said of its types."""
import gzip
import json
import os
import re
import unittest

from heaps import CliTest, SOURCE

FOLDER = os.path.join(SOURCE, "tests", "data", "java_dump")
DUMP = os.path.join(FOLDER, "aligned16.hprof.zst")
HIDDEN = re.compile(r"java\.lang\.Module$|ClassLoader$|Thread$|ReferenceHandler$")  # the virtual machine gives them fields that no dump has
PAGE, PAGES = 65536, 19  # SoftCache.java


def types_of_jmap():
    """Objects and bytes by type."""
    with gzip.open(os.path.join(FOLDER, "aligned16.histo.gz"), "rt", encoding="utf-8") as text:
        rows = [re.match(r" *\d+: +(\d+) +(\d+) +(\S+)", line) for line in text]
    return {row[3]: (int(row[1]), int(row[2])) for row in rows if row}


class JavaDump(CliTest):
    def test_sizes_of_objects_aligned_to_16_are_those_of_the_jvm(self):
        told = json.loads(self.run_it("retained", DUMP, "--db", ":memory:", "--as", "json", "-n", "0")[0])
        of_jvm, same = types_of_jmap(), 0
        for row in told["rows"]:
            name = row["type"].removesuffix(" (primitive array)").removesuffix(" (object array)")
            own = row["at"][0]["self"]
            if row["kind"] == "class" or HIDDEN.search(name) or of_jvm.get(name, (0, 0))[0] != own["objects"]:
                continue  # jmap counts what was made after the dump as well
            self.assertEqual(own["bytes"], of_jvm[name][1], name)
            same += own["objects"]
        self.assertGreater(same, 2500)
        self.assertIn("objects aligned to 16", self.run_it("info", DUMP)[0])

    def test_what_soft_references_keep_is_given_back_before_memory_runs_out(self):
        heap = json.loads(self.run_it("retained", DUMP, "--db", ":memory:", "--as", "json")[0])["heaps"][0]
        pages = PAGES * (PAGE + 16)
        self.assertTrue(pages <= heap["soft"]["bytes"] < 1.02 * pages, heap)
        text = self.run_it("retained", DUMP, "--db", ":memory:")[0]
        self.assertRegex(text, r"held by +no strong reference: 1\.21 MiB in 470 objects\nsoft +1\.19 MiB in 54 objects of these: collected before")


if __name__ == "__main__":
    unittest.main()

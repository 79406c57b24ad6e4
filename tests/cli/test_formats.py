"""The list of formats, and the table of the guide that is made from it."""
import json
import os
import unittest

from heaps import SOURCE, CliTest


class Formats(CliTest):
    def test_guide_has_the_table(self):
        table = self.run_it("formats", "--as", "md")[0]
        with open(os.path.join(SOURCE, "examples", "guide.md"), encoding="utf-8") as guide:
            section = guide.read().split("\n## Formats\n")[1].split("\n## ")[0]
        self.assertIn("\n" + table + "\n", section, "put what `snapdiff formats --as md` prints into examples/guide.md")

    def test_all_forms_list_the_same(self):
        listed = json.loads(self.run_it("formats", "--as", "json")[0])
        rows = self.run_it("formats", "--as", "md")[0].splitlines()[2:]
        self.assertGreater(len(rows), 30)
        self.assertEqual([row.split(" | ")[0] for row in rows], ["| " + format["name"] for format in listed])
        text = self.run_it("formats")[0]
        for format in listed:
            self.assertIn(f"{format['name']:<14}", text)


if __name__ == "__main__":
    unittest.main()

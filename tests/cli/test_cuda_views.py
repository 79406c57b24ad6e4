"""Views of CUDA snapshots by module and by role, as tables and as pictures, against the run that made the file."""
import json
import os
import pickle
import re
import sys
import unittest

from heaps import SOURCE, CliTest

sys.path.insert(0, os.path.join(SOURCE, "tests", "cuda"))
import training_run
from allocator_model import rounded

HEAP = "heap profile: 1: 1024 [1: 1024] @ heapprofile\n1: 1024 [1: 1024] @ 0x1200 0x1100\n"
ATTENTION = os.path.join(SOURCE, "tests", "data", "torch_cuda", "cs336-sil-attention-small.pickle")


def calls_of(frames):
    """The lines that call modules, outermost first."""
    python = [frame for frame in frames if frame["filename"].endswith(".py")]
    lines = []
    for inner, outer in zip(python, python[1:]):
        line = "%s:%d" % (os.path.basename(outer["filename"]), outer["line"])
        if "call_impl" in inner["name"] and "call_impl" not in outer["name"] and line not in lines:
            lines.append(line)
    return " \u203a ".join(reversed(lines)) or "[no module call]"


def blocks_at(run, events):
    """Size, requested size, stack and role of what is in use after so many events."""
    final = {b["address"]: b["size"] for s in run.d.segments for b in s["blocks"] if b["state"] != "inactive"}
    last = {entry["addr"]: number for number, entry in enumerate(run.d.trace) if entry["action"] == "alloc"}
    live = {}
    for number, entry in enumerate(run.d.trace[:events]):
        if entry["action"] == "alloc":
            stays = last[entry["addr"]] == number and entry["addr"] in final
            live[entry["addr"]] = (final[entry["addr"]] if stays else max(512, rounded(entry["size"])), entry["size"], entry["frames"], run.roles[number])
        elif entry["action"] == "free_completed":
            live.pop(entry["addr"], None)
    return list(live.values())


def sums(pairs):
    out = {}
    for key, size in pairs:
        out[key] = out.get(key, 0) + size
    return out


def shown(size):
    mib = size / (1 << 20)
    return "%.*f MiB" % (0 if mib >= 100 else 1 if mib >= 10 else 2, mib)


class Views(CliTest):
    def make(self, name, *arguments):
        run = training_run.Run(training_run.parse(list(arguments)))
        run.run()
        self.write(name, pickle.dumps(run.snapshot(), protocol=4))
        return run

    def json(self, *arguments):
        return json.loads(self.run_it(*arguments, "--as", "json", "--db", ":memory:")[0])

    def drawing(self, *arguments):
        return self.run_it("render", *arguments, "--svg", "-o", "-", text=False)[0].decode().replace("\u00a0", " ")


class ByModule(Views):
    def rows(self, *arguments):
        report = self.json("top", *arguments, "--by", "module", "-n", "0")
        rows = {row["key"]: row["flat"] for row in report["rows"]}
        self.assertEqual(sum(rows.values()), report["total"])
        return rows

    def test_rows_are_the_calls_of_modules_with_their_bytes(self):
        for stacks in ("all", "python"):
            run = self.make("run.pickle", "--iterations", "2", "--batch", "32", "--stacks", stacks)
            peak = run.fullest()
            wanted = sums((calls_of(frames), size) for size, _, frames, _ in blocks_at(run, peak))
            self.assertIn("train.py:52 \u203a model.py:66 \u203a model.py:31", wanted)
            self.assertEqual(self.rows("run.pickle@%d" % peak), wanted)

    def test_the_end_of_a_file_and_its_growth_add_up(self):
        before, after = self.make("a.pickle", "--iterations", "2"), self.make("b.pickle", "--iterations", "2", "--leak", "hook")
        for name, run in (("a.pickle", before), ("b.pickle", after)):
            self.assertEqual(self.rows(name), sums((calls_of(frames), size) for size, _, frames, _ in blocks_at(run, len(run.d.trace))))
        report = self.json("diff", "a.pickle", "b.pickle", "--by", "module", "-n", "0")
        grown = {row["key"]: row["growth"] for row in report["rows"]}
        self.assertEqual(sum(grown.values()), report["total"]["growth"])
        self.assertEqual(grown["train.py:52 \u203a model.py:66"], sum(kept["bytes"] for kept in after.leaked()))

    def test_a_series_has_a_row_for_each_path(self):
        run = self.make("run.pickle", "--iterations", "9", "--leak", "hook")
        report = self.json("trend", "run.pickle@steps", "--by", "module")
        first = next(row for row in report["rows"] if row["key"] == "train.py:52 \u203a model.py:66")
        self.assertEqual(first["values"][-1] - first["values"][0], sum(kept["bytes"] for kept in run.leaked()[1:]))

    def test_other_programs_have_shared_objects(self):
        self.write("a.heap", HEAP)
        self.assertEqual([row["key"] for row in self.json("top", "a.heap", "--by", "module")["rows"]], ["[no module]"])


class ByRole(Views):
    def test_a_file_as_it_was_saved_has_roles(self):
        run = self.make("run.pickle", "--iterations", "3")
        report = self.json("top", "run.pickle", "--by", "role", "-n", "0")
        wanted = sums((role, size) for size, _, _, role in blocks_at(run, len(run.d.trace)))
        found = {row["key"]: row["flat"] for row in report["rows"]}
        self.assertEqual(sum(found.values()), sum(wanted.values()))
        self.assertGreaterEqual(sum(min(found.get(role, 0), size) for role, size in wanted.items()), 0.95 * sum(wanted.values()))

    def test_flame_graphs_have_a_part_for_each_role(self):
        self.make("run.pickle", "--iterations", "2", "--batch", "32")
        for operand in ("run.pickle@peak", "run.pickle"):
            rows = self.json("top", operand, "--by", "role", "-n", "0")["rows"]
            drawing = self.drawing(operand, "--flame", "--by", "role")
            for row in rows:
                self.assertRegex(drawing, re.escape(row["key"]) + r", [0-9.]+ [KMG]?i?B", operand)
            self.assertRegex(drawing, r"unknown, (0 B|32\.0 KiB)", operand)

    def test_segments_are_coloured_by_role_with_the_bytes_of_each(self):
        run = self.make("run.pickle", "--iterations", "2", "--batch", "32")
        drawing = self.drawing("run.pickle@peak", "--segments", "--by", "role")
        self.assertIn("coloured by role", drawing)
        wanted = sums((role, asked) for _, asked, _, role in blocks_at(run, run.fullest()))
        for role in ("activation", "parameter", "optimizer state"):
            self.assertRegex(drawing, r">%s</text>\n<text[^>]*>%s<" % (role, re.escape(shown(wanted[role]))))
        # The orange of activations, as on every other chart.
        self.assertRegex(drawing, r"(?i)#e08a4f|rgb\(87\.8[0-9]*%, 54\.1[0-9]*%, 30\.9[0-9]*%\)")
        self.assertIn("coloured by who pins", self.drawing("run.pickle@peak", "--segments"))

    def test_a_real_file_has_them_too(self):
        drawing = self.drawing(ATTENTION + "@peak", "--flame", "--by", "role")
        self.assertIn("autograd detail, 2.50 GiB", drawing)

    def test_a_flame_graph_of_two_snapshots_has_both_sides_of_each_role(self):
        self.make("run.pickle", "--iterations", "2", "--batch", "32")
        drawing = self.drawing("run.pickle@peak", "run.pickle@end", "--flame", "--by", "role", "--current").replace("\u00a0", " ")
        by_role = lambda operand: {row["key"]: row["flat"] for row in self.json("top", operand, "--by", "role", "-n", "0")["rows"]}
        before, after = by_role("run.pickle@peak"), by_role("run.pickle@end")
        for role in (role for role, size in after.items() if size > 0):
            sides = [shown(side.get(role, 0)) if side.get(role, 0) >= (1 << 20) else "[0-9.]+ (B|KiB)" for side in (before, after)]
            self.assertEqual(len(re.findall(r">%s, %s \u2192 %s<" % (role, *sides), drawing)), 1, role)
        self.assertIn("Width is the value after. Colour is the role.", drawing)

    def test_a_flame_graph_by_role_is_of_snapshots_with_roles(self):
        self.make("a.pickle", "--iterations", "1")
        self.write("a.heap", HEAP)
        for operands in (["a.heap"], ["a.heap", "a.pickle"]):
            self.run_it("render", "--flame", "--by", "role", *operands, "--svg", code=2)
        self.assertIn("no roles in this snapshot", self.run_it("render", "--flame", "--by", "role", "a.heap", "--svg", code=2)[1])

    def test_a_store_keeps_them(self):
        self.make("run.pickle", "--iterations", "2", "--batch", "32")
        for operand in ("run.pickle", "run.pickle@peak"):
            self.run_it("import", operand, "--db", "roles.db")
        colours = lambda drawing: sorted(re.findall(r'fill="[^"]*"', drawing))
        for stored, operand in (("@1", "run.pickle"), ("@1@peak", "run.pickle@peak"), ("@2", "run.pickle@peak")):
            for picture in ("--segments", "--flame"):
                drawn = [self.run_it("render", picture, "--by", "role", name, "--db", "roles.db", "--svg", "-o", "-", text=False)[0].decode()
                         for name in (stored, operand)]
                self.assertEqual(colours(drawn[0]), colours(drawn[1]), (stored, picture))


if __name__ == "__main__":
    unittest.main()

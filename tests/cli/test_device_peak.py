"""A snapshot with the trace of less than two iterations: what fills the device at its fullest moment."""
import json
import os
import pickle
import re
import subprocess
import sys
import unittest

from heaps import SCHEMAS, SOURCE, CliTest

sys.path.insert(0, os.path.join(SOURCE, "tests", "cuda"))
import training_run

ATTENTION = os.path.join(SOURCE, "tests", "data", "torch_cuda", "cs336-sil-attention-small.pickle")
OOM = os.path.join(SOURCE, "tests", "data", "torch_cuda", "flexgen-oom-history.pickle")
VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")
MIB = 1 << 20
SHARE = 512 * MIB   # of one matrix of attention: what custom_softmax keeps, and what each node of autograd makes


class Plain(pickle.Unpickler):
    """Data only: no global is looked up."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError("no globals: %s.%s" % (module, name))


class DevicePeak(CliTest):
    def valid(self, schema, document):
        path = os.path.join(self.folder, "valid.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        done = subprocess.run([sys.executable, VALIDATE, os.path.join(SCHEMAS, schema), path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def top(self, *arguments):
        return json.loads(self.run_it("top", ATTENTION, *arguments, "--as", "json", "--db", ":memory:")[0])

    def test_the_peak_adds_up_and_is_the_moment_of_that_name(self):
        whole, moment = self.top(), json.loads(self.run_it("top", ATTENTION + "@peak", "--by", "role", "--as", "json", "--db", ":memory:")[0])
        self.valid("top.schema.json", whole)
        peak = whole["peak"]
        self.assertEqual(peak["bytes"], moment["total"])
        self.assertEqual(sum(role["bytes"] for role in peak["roles"]), peak["bytes"])
        self.assertEqual({role["role"]: role["bytes"] for role in peak["roles"]}, {row["key"]: row["flat"] for row in moment["rows"]})
        self.assertEqual(peak["at_end"], whole["total"])
        self.assertEqual(peak["at_start"], 0)
        self.assertEqual(peak["during"], "backward")
        self.assertNotIn("peak", moment)

    def test_its_heaviest_lines_are_the_programs_own(self):
        first, second, third = self.top()["peak"]["parts"]
        self.assertEqual((first["name"].split("(")[0], first["role"], first["bytes"]), ("torch::autograd::generated::DivBackward0::apply", "autograd detail", 4 * SHARE))
        self.assertIn("autograd    DivBackward0  ", self.run_it(ATTENTION, "--db", ":memory:")[0])
        self.assertEqual((second["name"], os.path.basename(second["file"]), second["line"], second["role"], second["bytes"]),
                         ("custom_softmax", "trace_peak_memory.py", 7, "activation", SHARE))
        self.assertEqual((third["role"], third["bytes"]), ("autograd detail", SHARE))

    def test_the_first_screen_begins_with_it(self):
        lines = self.run_it(ATTENTION, "--db", ":memory:")[0].splitlines()
        self.assertRegex(lines[0], r"^peak +3\.03 GiB at the peak, 83 % autograd detail$")
        self.assertTrue(any(line.startswith("activation  custom_softmax  ") for line in lines), lines)
        self.assertTrue(any(line.startswith("next") and line.endswith("@peak --by role") for line in lines), lines)

    def test_a_report_is_about_it_and_judges_nothing(self):
        self.run_it("postmortem", ATTENTION, "-o", "report")
        with open(os.path.join(self.folder, "report", "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        story = report["diff"]["story"] if "diff" in report else report["story"]
        self.valid("story.schema.json", story)
        self.assertEqual(story["headline"], {"text": "3.03 GiB at the peak, 83 % autograd detail", "verdict": None})
        self.assertEqual((story["culprits"], story["freed"], story["passing"], story["no_culprit"]), ([], [], [], None))
        self.assertEqual(story["peak"]["bytes"], self.top()["peak"]["bytes"])
        with open(os.path.join(self.folder, "report", "report.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("### 3.03 GiB at the peak, 83 % autograd detail\n"), text[:80])
        for word in ("GROWING", "STEP", "restart", "shrank"):
            self.assertNotIn(word, text.split("reserved grew")[0])
        with open(os.path.join(self.folder, "report", "report.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("<h2>At the peak</h2>", page)
        self.assertNotIn("<h2>Culprits</h2>", page)

    def test_names_of_the_program_are_redacted(self):
        self.run_it("postmortem", ATTENTION, "-o", "report", "--redact")
        for form in ("md", "html", "json"):
            with open(os.path.join(self.folder, "report", "report." + form), encoding="utf-8") as file:
                text = file.read()
            self.assertNotIn("custom_softmax", text)
            self.assertNotIn("trace_peak_memory", text)


class OneTrace(CliTest):
    def test_its_moments_are_of_one_build(self):
        """Other lines of the same functions: between two files they would be a build whose lines moved."""
        run = training_run.Run(training_run.parse(["--stacks", "python"]))
        main = ("main", "/run/main.py", 5)
        allocate = lambda first: [run.alloc(MIB, "temporary", ("work%d" % (i % 8), "/run/model.py", first + i), main) for i in range(40)]
        before = allocate(10)
        middle = len(run.d.trace)
        allocate(210)
        for block in before:
            run.free(block, main)
        with open(os.path.join(self.folder, "run.pickle"), "wb") as file:
            pickle.dump(run.snapshot(), file)
        report = json.loads(self.run_it("diff", "run.pickle@%d" % middle, "run.pickle@end", "-n", "0", "--as", "json", "--db", ":memory:")[0])
        self.assertEqual(sorted(row["growth"] for row in report["rows"]), 40 * [-MIB] + 40 * [MIB])

    def test_what_was_there_before_it_asks_for_an_earlier_recording(self):
        run = training_run.Run(training_run.parse(["--inference", "--iterations", "1", "--batch", "1"]))
        run.build()
        built = len(run.d.trace)
        for block in run.forward(75, 64, keep=False):
            run.free(block, *run.main(76))
        run.d.trace = run.d.trace[built:]
        snapshot = run.snapshot()
        for block in (block for segment in snapshot["segments"] for block in segment["blocks"]):
            block["frames"] = []
        with open(os.path.join(self.folder, "run.pickle"), "wb") as file:
            pickle.dump(snapshot, file)
        before = sum(block["size"] for segment in snapshot["segments"] for block in segment["blocks"] if block["state"] == "active_allocated")
        peak = json.loads(self.run_it("top", "run.pickle", "--as", "json", "--db", ":memory:")[0])["peak"]
        self.assertEqual(sum(role["bytes"] for role in peak["roles"] if role["role"] == "before trace"), before)
        self.assertEqual(peak["advice"][-1], "7.00 MiB were there before the trace: torch.cuda.memory._record_memory_history() before the model is made "
                         "tells what they are")


class WithoutHistory(CliTest):
    """A snapshot whose trace has no events of memory: saved at an out-of-memory, or by a recorder that keeps the state only."""

    def walk(self):
        """What the file holds, counted without the program: in use, free beside blocks in use, in segments without any."""
        with open(OOM, "rb") as file:
            segments = Plain(file).load()["segments"]
        used = sum(b["size"] for s in segments for b in s["blocks"] if b["state"] == "active_allocated")
        beside = whole = 0
        for segment in segments:
            free = sum(b["size"] for b in segment["blocks"] if b["state"] == "inactive")
            if any(b["state"] != "inactive" for b in segment["blocks"]):
                beside += free
            else:
                whole += free
        return used, beside, whole

    def test_it_is_titled_by_what_it_holds(self):
        top = json.loads(self.run_it("top", OOM, "--as", "json", "--db", ":memory:")[0])
        self.valid_top(top)
        peak = top["peak"]
        self.assertFalse(peak["has_history"])
        self.assertEqual((peak["bytes"], peak["fragments"], peak["releasable"]), self.walk())
        self.assertEqual([role["role"] for role in peak["roles"]], ["parameter"])
        lines = self.run_it(OOM, "--db", ":memory:")[0].splitlines()
        self.assertRegex(lines[0], r"^peak +11\.0 GiB in use, 100 % parameter$")
        self.run_it("postmortem", OOM, "-o", "report")
        with open(os.path.join(self.folder, "report", "report.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(text.startswith("### 11.0 GiB in use, 100 % parameter\n"), text[:80])
        self.assertNotIn("stayed at", text)
        self.assertIn("no history was recorded", text)

    def test_without_any_trace_it_is_the_same(self):
        with open(OOM, "rb") as file:
            snapshot = Plain(file).load()
        snapshot["device_traces"] = []
        with open(os.path.join(self.folder, "state.pickle"), "wb") as file:
            pickle.dump(snapshot, file, protocol=4)
        said = self.run_it("postmortem", "state.pickle", "-o", "report")[0]
        self.assertTrue(said.startswith("11.0 GiB in use, 100 % parameter"), said)

    def valid_top(self, document):
        path = os.path.join(self.folder, "valid.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        done = subprocess.run([sys.executable, VALIDATE, os.path.join(SCHEMAS, "top.schema.json"), path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Modules(CliTest):
    """Bytes below calls of modules, against the generator's own count."""

    def test_the_layers_are_counted_by_their_line(self):
        layers = 6
        training_run.make(os.path.join(self.folder, "run.pickle"), "--iterations", "1", "--layers", str(layers), "--stacks", "python", "--batch", "32")
        peak = json.loads(self.run_it("top", "run.pickle", "--as", "json", "--db", ":memory:")[0])["peak"]
        with open(os.path.join(self.folder, "run.pickle"), "rb") as file:
            trace = Plain(file).load()["device_traces"][0]
        live = {}
        for entry in trace[:peak["event"]]:
            if entry["action"] == "alloc":
                live[entry["addr"]] = entry
            elif entry["action"] == "free_completed":
                live.pop(entry["addr"], None)
        calls = lambda entry: [b["line"] for a, b in zip(entry["frames"], entry["frames"][1:]) if "call_impl" in a["name"] and "call_impl" not in b["name"]]
        below = [entry for entry in live.values() if 66 in calls(entry)]
        found = [module for module in peak["modules"] if module["path"][-1]["line"] == 66]
        self.assertEqual(len(found), 1, peak["modules"])
        self.assertEqual((found[0]["blocks"], found[0]["calls"]), (len(below), layers))
        self.assertAlmostEqual(found[0]["bytes"], sum(entry["size"] for entry in below), delta=512 * len(below))
        self.assertEqual([os.path.basename(line["file"]) for line in found[0]["path"]], ["train.py", "model.py"])
        self.assertEqual(sum(role["bytes"] for role in peak["kept"] if role["role"] == "optimizer state") > 0, True)


class TimelineByRole(CliTest):
    def test_bands_are_roles_with_their_bytes_at_the_peak_and_their_colours(self):
        truth = training_run.make(os.path.join(self.folder, "run.pickle"), "--iterations", "2", "--batch", "32")
        done = self.run_it("render", "--timeline", "--by", "role", "run.pickle", "--svg", "-o", "-", text=False)[0]
        drawing = done.decode().replace("\u00a0", " ")
        peak = json.loads(self.run_it("top", "run.pickle@peak", "--by", "role", "--as", "json", "--db", ":memory:")[0])
        self.assertEqual(peak["total"], sum(next(iter(truth["roles"].values())).values()))
        for row in peak["rows"]:
            self.assertIn(row["key"], drawing)
        # Orange of activations, as on every other chart; nothing is named by its stack.
        self.assertRegex(drawing, r"(?i)#e08a4f|rgb\(87\.8[0-9]*%, 54\.1[0-9]*%, 30\.9[0-9]*%\)")
        self.assertNotIn("model.py", drawing)
        self.assertIn("role, from the top of the chart down", drawing)


class Colours(unittest.TestCase):
    def test_roles_have_the_same_colours_on_paper_and_in_the_page(self):
        with open(os.path.join(SOURCE, "analyzer", "render", "paint", "style.hpp"), encoding="utf-8") as file:
            table = file.read().split("kRoles = {", 1)[1].split(";", 1)[0]
        with open(os.path.join(SOURCE, "analyzer", "html", "assets", "pictures.css"), encoding="utf-8") as file:
            rules = re.findall(r"\.band-role(\d)\{fill:#([0-9a-f]{6});background:#([0-9a-f]{6})\}", file.read())
        paper = [colour.lower() for colour in re.findall(r"0x([0-9A-F]{6})", table)]
        self.assertEqual([(str(i), colour, colour) for i, colour in enumerate(paper)], rules)
        self.assertEqual(len(set(paper)), 10)


class TwoRuns(CliTest):
    """The same model at the end of an iteration; what its peaks differ by is what a person asks for."""

    def story(self, before, after):
        for name, arguments in (("before.pickle", before), ("after.pickle", after)):
            training_run.make(os.path.join(self.folder, name), "--iterations", "2", "--stacks", "python", *arguments)
        return json.loads(self.run_it("before.pickle", "after.pickle", "--as", "json", "--db", ":memory:")[0])["story"]

    def test_activations_that_double_are_another_batch_size(self):
        story = self.story(["--batch", "32"], ["--batch", "64"])
        self.assertRegex(story["also"][0], r"^at the peak .*: activation [0-9.]+ MiB \S+ [0-9.]+ MiB \(\S+ 2\.00\).*, all else alike: another batch size")
        self.assertEqual(story["next"], "snapdiff before.pickle@peak after.pickle@peak")
        text = " ".join(self.run_it("before.pickle", "after.pickle", "--db", ":memory:")[0].split())
        self.assertIn("length of sequence? (snapdiff before.pickle@peak after.pickle@peak)", text)

    def test_another_model_is_no_batch_size(self):
        story = self.story(["--hidden", "256"], ["--hidden", "512"])
        self.assertIn("optimizer state ", story["also"][0])
        self.assertNotIn("batch", story["also"][0])

    def test_equal_peaks_are_not_told(self):
        story = self.story([], [])
        self.assertFalse([line for line in story["also"] if "peak" in line], story["also"])


if __name__ == "__main__":
    unittest.main()

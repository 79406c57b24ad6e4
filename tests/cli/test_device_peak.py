"""A snapshot with the trace of less than two iterations: what fills the device at its fullest moment."""
import json
import os
import subprocess
import sys
import unittest

from heaps import SOURCE, CliTest

sys.path.insert(0, os.path.join(SOURCE, "tests", "cuda"))
import training_run

ATTENTION = os.path.join(SOURCE, "tests", "data", "torch_cuda", "cs336-sil-attention-small.pickle")
SCHEMAS = os.path.join(SOURCE, "analyzer", "report", "schema")
VALIDATE = os.path.join(SOURCE, "tests", "unit", "analyzer", "report", "validate_json.py")
MIB = 1 << 20
SHARE = 512 * MIB   # of one matrix of attention: what custom_softmax keeps, and what each node of autograd makes


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

    def test_another_model_is_no_batch_size(self):
        story = self.story(["--hidden", "256"], ["--hidden", "512"])
        self.assertIn("optimizer state ", story["also"][0])
        self.assertNotIn("batch", story["also"][0])

    def test_equal_peaks_are_not_told(self):
        story = self.story([], [])
        self.assertFalse([line for line in story["also"] if "peak" in line], story["also"])


if __name__ == "__main__":
    unittest.main()

"""The recorded real leaks of cases/: the score stays at its floor."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Floor(unittest.TestCase):
    def test_score_of_the_recorded_leaks(self):
        floor = json.loads((HERE / "floor.json").read_text(encoding="utf-8"))
        done = subprocess.run([sys.executable, str(HERE / "score"), "--snapdiff", os.environ["SNAPDIFF"], "--as", "json"],
                              check=True, capture_output=True)
        report = json.loads(done.stdout)
        self.assertEqual([(r["case"], wrong) for r in report["cases"] for wrong in r["foreign"]], [], "first culprits that no user wrote")
        first = {r["case"]: r["leak"]["first"] for r in report["cases"] if "leak" in r}
        for case, least in floor["first"].items():
            words = ("wrong", "step away", "right")
            self.assertGreaterEqual(words.index(first[case]), words.index(least), case)
        for name, least in floor["at_least"].items():
            self.assertGreaterEqual(report["sums"][name], least, name)
        for name, least in floor["unseen"].items():
            self.assertGreaterEqual(report["halves"]["unseen"][name], least, f"unseen: {name}")
        for name, most in floor["at_most"].items():
            self.assertLessEqual(report["sums"][name], most, name)


if __name__ == "__main__":
    unittest.main()

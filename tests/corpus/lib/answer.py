"""Runs a build on a case and reads its answer: culprits in order, the headline's verdict, the judged rows.
"""
import dataclasses
import json
import subprocess


@dataclasses.dataclass
class Named:
    """One culprit that the answer gives."""
    function: str
    file: str
    line: int
    verdict: str = None
    growth: int = 0
    held: str = ""  # the type of what `function`, a field, holds


@dataclasses.dataclass
class Row:
    """One judged row: frames as (function, file, line), leaf first."""
    frames: tuple
    verdict: str
    values: list

    def growth(self):
        known = [v for v in self.values if v is not None]
        return known[-1] - known[0] if len(known) > 1 else 0


@dataclasses.dataclass
class Answer:
    culprits: list
    headline: str
    rows: list
    error: str = ""


def run_json(snapdiff, arguments, folder):
    done = subprocess.run([snapdiff, "--db", ":memory:", *arguments, "--as", "json"], cwd=folder, capture_output=True, timeout=120, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr.decode("utf-8", "replace").strip().split("\n")[0] or f"exit code {done.returncode}")
    return json.loads(done.stdout)


def frame_of(frame):
    return (frame.get("function") or "", frame.get("file") or "", frame.get("line"))


def read_rows(trend):
    rows = []
    for row in trend.get("rows", ()):
        frames = tuple(frame_of(f) for f in row.get("stack") or ()) or ((row.get("key") or row.get("name") or "", "", None),)
        values = row.get("values") or [row.get("baseline"), row.get("current")]
        rows.append(Row(frames, row.get("verdict"), values))
    return rows


def from_story(story):
    culprits = [Named(c.get("name") or "", c.get("file") or "", c.get("line"), c.get("verdict"), c.get("growth") or 0, c.get("type") or "") for c in story.get("culprits", ())]
    return culprits, (story.get("headline") or {}).get("verdict")


def ask(snapdiff, case, folder):
    """The Answer of a build to a case whose files lie in `folder`."""
    try:
        diff = run_json(snapdiff, [*case["operands"], "-n", "0"], folder)
        trend = run_json(snapdiff, ["trend", *case["operands"], "-n", "0"], folder) if case["n"] > 2 else diff
    except (ValueError, OSError, subprocess.TimeoutExpired) as error:
        return Answer([], None, [], str(error))
    rows = read_rows(trend)
    overall = diff.get("overall") or diff
    story = diff.get("story") or overall.get("story") or trend.get("story")
    culprits, headline = from_story(story) if story else ([], None)
    return Answer(culprits, headline, rows)

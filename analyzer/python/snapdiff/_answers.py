"""Answers: what grew, how sure, and where, as objects of Python."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _native, _notebook
from ._tables import Table

Path = Union[str, "os.PathLike[str]"]

_OPEN_OPTIONS = {"store", "series", "format", "max_input_bytes", "strict", "pattern", "group_by", "decimal_units", "symbols",
                 "sysroot", "demangle"}


@dataclasses.dataclass(frozen=True)
class Culprit:
    """A function of the user's own code below which memory was allocated that belongs together.

    name, file, line   "main.leakBacklog", "/src/main.go", 33; file and line are None without debug information
    label              the verdict's word, else "growth", "NEW" or "freed"
    before, after, growth   in the metric's unit (bytes); growth is exact
    objects_growth     count, None if the inputs count no objects
    share              of all growth, 0 to 1
    error              one standard deviation of the growth by sampling; 0 is exact, None unknown
    verdict            GROWING, RISING, STEP, ...; None below eight snapshots
    p                  odds of the verdict, 0 to 1; None without one
    slope, slope_low, slope_high   unit a snapshot, with its 95 % interval; None without a verdict
    path               the user's own functions from the root to the culprit
    values             one a snapshot, in the metric's unit
    kind               "culprit", "levelled" (grew, no longer rises) or "freed"
    """

    kind: str
    label: str
    name: str
    file: Optional[str]
    line: Optional[int]
    via: str
    before: int
    after: int
    growth: int
    objects_before: Optional[int]
    objects_after: Optional[int]
    objects_growth: Optional[int]
    share: float
    error: Optional[float]
    verdict: Optional[str]
    p: Optional[float]
    slope: Optional[float]
    slope_low: Optional[float]
    slope_high: Optional[float]
    reason: Optional[str]
    pace: str
    path: List[str]
    values: List[int]

    @property
    def place(self) -> str:
        """"main.go:33", or "" without a file."""
        return f"{os.path.basename(self.file)}:{self.line}" if self.file and self.line else os.path.basename(self.file or "")


class Snapshots:
    """Opened snapshots. Any number of answers can be asked of them; they never change."""

    def __init__(self, operands: Sequence[Path], options: Dict[str, Any]):
        self._store = {key: options[key] for key in ("store", "series") if key in options}
        self._handle = _native.open_snapshots(operands, options)

    def __len__(self) -> int:
        return _native.snapshot_count(self._handle)

    def compare(self, **view: Any) -> "Comparison":
        """Growth from the first snapshot to the last."""
        return Comparison(self, "compare", view)

    def series(self, limit: Optional[int] = None, **view: Any) -> "Series":
        """Growth with a verdict for each row. `limit`, in the metric's unit, asks when the total will meet it."""
        return Series(self, "judge", dict(view, limit=limit))

    def gate(self, budgets: Sequence[str] = (), *, budget_file: Optional[Path] = None, allowance_file: Optional[Path] = None,
             allow_unjudged: bool = False, **view: Any) -> "Gate":
        """Holds growth against budgets: "10MiB", "total:5%", "100KiB/step", "culprit:0/step"."""
        return Gate(self, "gate", dict(view, budget=list(budgets), budget_file=budget_file, allowance_file=allowance_file,
                                       allow_unjudged=allow_unjudged))

    def report(self, folder: Path, *, limit: Optional[int] = None, rows: Optional[int] = None, redact: Optional[str] = None,
               letter: bool = False, **view: Any) -> List[str]:
        """Writes report.html, report.md, report.json and report.pdf into `folder` and returns their names.

        The PDF is left out without the module that draws (the Debian package snapdiff-draw)."""
        return _native.report(self._handle, folder, dict(view, limit=limit, rows=rows, redact=redact, letter=letter))

    def draw(self, form: str = "pdf", kind: str = "growth", *, max_nodes: Optional[int] = None, letter: bool = False,
             **view: Any) -> bytes:
        """A picture as the bytes of a file. `form` is pdf, html, svg, png or dot; `kind` is growth, flame or timeline."""
        return _native.draw(self._handle, dict(view, form=form, kind=kind, max_nodes=max_nodes, letter=letter))

    def record(self, store: Optional[Path] = None, series: Optional[str] = None) -> List[int]:
        """Stores the snapshots and returns their numbers, as in "@3"."""
        return _native.record(self._handle, dict(self._store, **{k: v for k, v in (("store", store), ("series", series)) if v}))


class Answer:
    """What a comparison, a series or a gate says. Created by compare(), series() and Answer.gate().

    headline, figures   "In-use bytes grew from 1.79 to 10.2 MiB", "+8.44 MiB, +33742 objects"
    before, after, growth   totals in `unit`; growth is exact and the sum of rows' growth
    objects_before, objects_after, objects_growth   counts, None if the inputs count no objects
    verdict             the gravest verdict of the culprits, "" without one; `no_verdict` says why
    metric, unit        "inuse_space", "bytes"
    rows                table: one row a stack, with before, after, growth, verdict
    trend               table: one row a snapshot
    """

    def __init__(self, snapshots: Snapshots, kind: str, options: Dict[str, Any]):
        self.snapshots = snapshots
        self._view = {key: value for key, value in options.items() if key not in _NOT_OF_THE_VIEW}
        self._handle = _native.answer(kind, snapshots._handle, options)
        self.rows = Table(self._handle, "rows")
        self.trend = Table(self._handle, "trend")
        self._culprits: Optional[List[Culprit]] = None

    headline = property(lambda self: _native.text(self._handle, "headline"))
    figures = property(lambda self: _native.text(self._handle, "figures"))
    verdict = property(lambda self: _native.text(self._handle, "verdict"))
    no_verdict = property(lambda self: _native.text(self._handle, "no_verdict"))
    no_culprit = property(lambda self: _native.text(self._handle, "no_culprit"))
    metric = property(lambda self: _native.text(self._handle, "metric"))
    unit = property(lambda self: _native.text(self._handle, "unit"))
    restart = property(lambda self: _native.text(self._handle, "restart"))
    before = property(lambda self: _native.number(self._handle, "before"))
    after = property(lambda self: _native.number(self._handle, "after"))
    growth = property(lambda self: _native.number(self._handle, "growth"))
    objects_before = property(lambda self: _native.number(self._handle, "objects_before"))
    objects_after = property(lambda self: _native.number(self._handle, "objects_after"))
    objects_growth = property(lambda self: _native.number(self._handle, "objects_growth"))

    @property
    def left_out(self) -> int:
        """Damaged inputs that the answer is without; `notes` names them."""
        return _native.number(self._handle, "left_out") or 0

    def _all_culprits(self) -> List[Culprit]:
        if self._culprits is None:
            self._culprits = [Culprit(**row) for row in Table(self._handle, "culprits")]
        return self._culprits

    @property
    def culprits(self) -> List[Culprit]:
        """What has to be explained, gravest first, at most five. Empty if nothing grew: `no_culprit` says why."""
        return [one for one in self._all_culprits() if one.kind == "culprit"]

    @property
    def levelled(self) -> List[Culprit]:
        """What grew and no longer rises."""
        return [one for one in self._all_culprits() if one.kind == "levelled"]

    @property
    def freed(self) -> List[Culprit]:
        """What shrank, where that outweighs the growth."""
        return [one for one in self._all_culprits() if one.kind == "freed"]

    @property
    def matched(self) -> Dict[str, float]:
        """Share of both sides' bytes by what they were matched by; the shares add up to 1."""
        return {row["by"]: row["share"] for row in Table(self._handle, "matched")}

    @property
    def notes(self) -> List[Dict[str, Any]]:
        """Remarks on inputs and comparison: severity (info, warning, data loss), text, count."""
        return Table(self._handle, "notes").to_list()

    def json(self) -> Dict[str, Any]:
        """Everything, as `snapdiff --as json` prints it."""
        return json.loads(_native.json_bytes(self._handle))

    def gate(self, budgets: Sequence[str] = (), **options: Any) -> "Gate":
        """Snapshots.gate() with this answer's view."""
        return self.snapshots.gate(budgets, **dict(self._view, **options))

    def report(self, folder: Path, **options: Any) -> List[str]:
        """Snapshots.report() with this answer's view."""
        return self.snapshots.report(folder, **dict(self._view, **options))

    def draw(self, form: str = "pdf", kind: str = "growth", **options: Any) -> bytes:
        """Snapshots.draw() with this answer's view."""
        return self.snapshots.draw(form, kind, **dict(self._view, **options))

    def _repr_html_(self) -> str:
        return _notebook.html(self)

    def __repr__(self) -> str:
        lines = [f"{self.headline}: {self.figures}"]
        lines += [f"  {one.label:<8} {one.name}  {one.place}  {_notebook.size(one.growth, self.unit)}  {one.share:.0%}" for one in self.culprits]
        return "\n".join(lines + [f"  {text}" for text in (self.no_culprit, self.no_verdict) if text])


_NOT_OF_THE_VIEW = {"limit", "budget", "budget_file", "allowance_file", "allow_unjudged"}


class Comparison(Answer):
    """Growth between two snapshots."""


class Series(Answer):
    """Growth over a series of snapshots, with verdicts from eight snapshots on."""


class Gate(Answer):
    """Growth held against budgets. True if they were kept.

    result     "passed", "unjudged" (a budget could not be judged) or "failed"
    findings   table: one row a budget and stack, with measured, allowed and outcome
    """

    def __init__(self, snapshots: Snapshots, kind: str, options: Dict[str, Any]):
        super().__init__(snapshots, kind, options)
        self.findings = Table(self._handle, "findings")

    result = property(lambda self: _native.text(self._handle, "result"))

    @property
    def broken(self) -> List[Dict[str, Any]]:
        """Findings that broke their budget, most over it first."""
        return [row for row in self.findings if row["outcome"] == "broken"]

    def __bool__(self) -> bool:
        return self.result == "passed"

    def __repr__(self) -> str:
        lines = [f"gate {self.result}"]
        lines += [f"  {row['outcome']:<8} {row['budget']}: {row['name']}" + (f"  {row['file']}:{row['line']}" if row["file"] else "")
                  for row in self.findings]
        return "\n".join(lines)


def _split(options: Dict[str, Any]) -> Any:
    opening = {key: value for key, value in options.items() if key in _OPEN_OPTIONS}
    return opening, {key: value for key, value in options.items() if key not in _OPEN_OPTIONS}


def open(*operands: Path, **options: Any) -> Snapshots:  # noqa: A001 - snapdiff.open reads as it should
    """Opens files, folders, moments ("run.pickle@peak") and stored references ("@3", "web#2..#9").

    One operand gives all snapshots in it; of several, each gives its last one. Options are those of the program:
    store, series, format, strict, pattern, group_by, symbols, sysroot, demangle, max_input_bytes, decimal_units."""
    return Snapshots(operands, options)


def compare(*operands: Path, **options: Any) -> Comparison:
    """Growth from the first snapshot to the last.

    Options of open(), and of the view: metric, by ("stack", "function", "file", "line", "module", "type", "label:KEY"),
    sort, focus, ignore, hide, show, own, library (RE2), frames, allocator_frames, fold_recursion, match_strictly.
    Raises a SnapdiffError with code, subject, offset, found and expected."""
    opening, view = _split(options)
    return Snapshots(operands, opening).compare(**view)


def series(*operands: Path, limit: Optional[int] = None, **options: Any) -> Series:
    """Growth over three snapshots or more, with a verdict for each row from eight on. Options as of compare()."""
    opening, view = _split(options)
    return Snapshots(operands, opening).series(limit=limit, **view)

#!/usr/bin/env python3
"""Compares snapdiff's diffs with subtractions by the oracle, and with pprof's where it is installed.

  compare_diffs.py SNAPDIFF [--pprof all|some|none] [--zero A B]... FOLDER...

A folder with numbered files (svc.0001.heap, heap.002.pb.gz) is a series: each file is compared
with the one before, and the last with the first. Checked per pair, in the default metric:
  - totals of every metric, and baseline, current and growth of the one compared
  - rows + others + unattributed + filtered add up to the growth
  - flat and cumulative growth of every function against the oracle's own subtraction
  - the same against `go tool pprof -top -diff_base` (profile.proto files)
and per series that A against A shows no growth and B against A the mirror of A against B.
--zero names two files without any growth, in no stack: two runs that allocate the same.
Ends 1 on a difference.
"""

import argparse
import os
import re
import shutil
import sys

import pprof_oracle
from check_oracle import pprof_top
from compare_with_oracle import expected_functions
from heap_files import heap_files, rounds
from snapdiff_runner import Failed, Snapdiff, is_named

NUMBERED = re.compile(r"(.*?)\.(\d+|before|after)\.(?:heap|pb\.gz|[a-z]\d*\.heap)$")


def series_in(folders):
    """[(name, [paths in order])] of at least two files each."""
    groups = {}
    for path in heap_files(folders):
        name = NUMBERED.match(path)
        if name:
            place = int(name[2]) if name[2].isdigit() else name[2] == "after"
            groups.setdefault(name[1], []).append((place, path))
    return [(name, [path for _, path in sorted(members)]) for name, members in sorted(groups.items()) if len(members) > 1]


def subtract(before, after):
    """{function: (flat growth, cumulative growth)}, zero rows left out."""
    out = {}
    for name in before.keys() | after.keys():
        old, new = before.get(name, (0, 0)), after.get(name, (0, 0))
        growth = (new[0] - old[0], new[1] - old[1])
        if growth != (0, 0):
            out[name] = growth
    return out


def differing(expected, found, who):
    lines = []
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            lines.append(f"{name!r}: {who} {expected.get(name)}, snapdiff {found.get(name)}")
    return lines


def check_sums(report):
    out = []
    growth = sum(row["growth"] if "growth" in row else row["flat"]["growth"] for row in report["rows"])
    rest = report["others"]["growth"] + report["unattributed"]["growth"] + report["filtered"]["growth"]
    total = report["total"]
    if growth + rest != total["growth"]:
        out.append(f"rows {growth} + rest {rest} != growth {total['growth']}")
    if total["current"] - total["baseline"] != total["growth"]:
        out.append("current - baseline != growth")
    if total["grew"] + total["shrank"] != total["growth"]:
        out.append("grew + shrank != growth")
    return out


class Pair:
    def __init__(self, snapdiff, baseline, current):
        self.snapdiff, self.paths = snapdiff, (baseline, current)
        self.profiles = [pprof_oracle.read_path(path) for path in self.paths]

    def diff(self, *options, swap=False):
        paths = self.paths[::-1] if swap else self.paths
        return self.snapdiff.json("diff", *paths, "-n", "0", "--allocator-frames", "show", *options)

    def check(self, with_pprof):
        out = []
        report = self.diff()
        metric = report["metric"]
        totals = [profile.totals() for profile in self.profiles]
        for side, expected in zip(("baseline", "current"), totals):
            if report[side]["totals"] != expected:
                out.append(f"{side} totals: oracle {expected}, snapdiff {report[side]['totals']}")
            if report["total"][side] != expected[metric]:
                out.append(f"{side} {metric}: oracle {expected[metric]}, snapdiff {report['total'][side]}")
        out += check_sums(report)
        by_function = self.diff("--by", "function")
        out += check_sums(by_function)
        found = {row["key"]: (row["flat"]["growth"], row["cum"]["growth"]) for row in by_function["rows"]
                 if is_named(row["key"])}
        found = {name: growth for name, growth in found.items() if growth != (0, 0)}
        expected = subtract(*[expected_functions(profile, metric) for profile in self.profiles])
        out += differing(expected, found, "oracle")
        if with_pprof and all(profile.kind == "profile.proto" and not profile.drop_frames for profile in self.profiles):
            index = self.profiles[1].types.index(metric)
            theirs = {name: (int(flat), int(cum)) for name, (flat, cum) in
                      pprof_top(self.paths[1], index, base=self.paths[0]).items() if (flat, cum) != (0, 0)}
            out += differing(theirs, found, "pprof")
        return out

    def check_mirror(self):
        out = []
        forth, back = self.diff(), self.diff(swap=True)
        if forth["total"]["growth"] != -back["total"]["growth"]:
            out.append("the growth of B against A is not the mirror of A against B")
        growth = [sorted(sign * row["growth"] for row in report["rows"]) for sign, report in ((1, forth), (-1, back))]
        if growth[0] != growth[1]:
            out.append("the rows of B against A are not the mirror of those of A against B")
        same = self.snapdiff.json("diff", self.paths[0], self.paths[0], "-n", "0")
        if same["total"]["growth"] != 0 or any(row["growth"] != 0 for row in same["rows"]):
            out.append("A against A grows")
        return out


def check_zero(snapdiff, baseline, current):
    report = snapdiff.json("diff", os.path.abspath(baseline), os.path.abspath(current), "-n", "0")
    grown = [row for row in report["rows"] if row["growth"] != 0 or row.get("growth_objects")]
    return [f"{len(grown)} of {len(report['rows'])} rows grow, none should"] if grown or not report["rows"] else []


def pairs_of(paths):
    return list(zip(paths, paths[1:])) + ([(paths[0], paths[-1])] if len(paths) > 2 else [])


def main():
    parser = argparse.ArgumentParser(description="Compares diffs with the oracle's.")
    parser.add_argument("--pprof", choices=("all", "some", "none"), default="some",
                        help="which pairs go tool pprof checks too: some = the first of each series (default)")
    parser.add_argument("--zero", nargs=2, action="append", default=[], metavar=("A", "B"), help="two files without growth")
    parser.add_argument("snapdiff")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    if arguments.pprof != "none" and not shutil.which("go"):
        print("skipped: go is not installed, no comparison with go tool pprof")
        arguments.pprof = "none"
    for folder in arguments.folders:
        if not os.path.exists(folder):
            print(f"skipped: {folder} is not there")
    snapdiff = Snapdiff(arguments.snapdiff)
    passed = failed = 0

    def count(baseline, current, differences):
        nonlocal passed, failed
        passed += not differences
        failed += bool(differences)
        if differences:
            print(f"differs  {baseline} -> {current}")
            for line in differences[:10]:
                print(f"         {line}")

    for baseline, current in arguments.zero:
        if os.path.exists(baseline) and os.path.exists(current):
            try:
                count(baseline, current, check_zero(snapdiff, baseline, current))
            except (Failed, KeyError) as error:
                count(baseline, current, [f"{type(error).__name__}: {error}"])
        else:
            print(f"skipped: {baseline} is not there")
    for name, paths in series_in([folder for folder in arguments.folders if os.path.exists(folder)]):
        # A series is of one format and one program: its later pairs run the code of the first ones.
        pairs = rounds(pairs_of([os.path.abspath(path) for path in paths]), 2, "pairs of " + name)
        for number, (baseline, current) in enumerate(pairs):
            try:
                pair = Pair(snapdiff, baseline, current)
                with_pprof = arguments.pprof == "all" or (arguments.pprof == "some" and number == 0)
                differences = pair.check(with_pprof) + (pair.check_mirror() if number == 0 else [])
            except pprof_oracle.Refused:
                continue
            except (Failed, KeyError) as error:
                differences = [f"{type(error).__name__}: {error}"]
            count(baseline, current, differences)
        print(f"series   {name}: {len(paths)} snapshots")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

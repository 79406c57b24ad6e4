#!/usr/bin/env python3
"""Compares what snapdiff reads with what the oracle reads, to the byte.

  compare_with_oracle.py SNAPDIFF FOLDER...

For every heap profile under the folders: the totals of every sample type, the number of distinct
stacks, and per function flat and cumulative values of every metric (all of them, frames without a
name as module+0xoffset, and the order of the top 20: by size of the value, ties by name). Files that the oracle refuses have to end in exit
code 2 with one line on stderr and nothing on stdout. Prints one line per file and a sum; ends 1 on
a difference.
"""

import argparse
import os
import sys

import pprof_oracle
from heap_files import SANITIZED, heap_files
from snapdiff_runner import Failed, Snapdiff, is_named, printable

TOP = 20


def check_refused(snapdiff, path, reason):
    result = snapdiff.run("info", path, "--as", "json")
    words = result.stderr.decode(errors="replace")
    out = []
    if result.returncode != 2:
        out.append(f"exit {result.returncode}, expected 2 ({reason})")
    if words.count("\n") != 1 or not words.endswith("\n"):
        out.append(f"stderr is not one line: {words!r}")
    if result.stdout:
        out.append("something on stdout")
    return out


def expected_functions(profile, metric):
    table = {}
    for name, (flat, cum) in profile.by_function(metric, unnamed=True).items():
        old = table.get(printable(name), (0, 0))
        table[printable(name)] = (old[0] + flat, old[1] + cum)
    return {name: values for name, values in table.items() if values != (0, 0)}


def check_functions(snapdiff, path, profile, metric):
    expected = expected_functions(profile, metric)
    report = snapdiff.json("top", path, "--by", "function", "--metric", metric, "-n", "0", "--allocator-frames", "show")
    found = {row["key"]: (row["flat"], row["cum"]) for row in report["rows"] if is_named(row["key"])}
    found = {name: values for name, values in found.items() if values != (0, 0)}
    out = []
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            out.append(f"{metric} {name!r}: oracle {expected.get(name)}, snapdiff {found.get(name)}")
    for column, what in ((0, "flat"), (1, "cum")):
        if pprof_oracle.ranked(expected, column, TOP) != pprof_oracle.ranked(found, column, TOP):
            out.append(f"{metric}: the top {TOP} by {what} differ")
    return out


def check_file(snapdiff, path, with_functions):
    """(kind, differences) of one file."""
    try:
        profile = pprof_oracle.read_path(path)
        totals = profile.totals()
    except pprof_oracle.Refused as reason:
        return "refused", check_refused(snapdiff, path, reason)
    out = []
    try:
        info = snapdiff.json("info", path)
        if info["totals"] != totals:
            out.append(f"totals: oracle {totals}, snapdiff {info['totals']}")
        if info["stacks"] != profile.stack_count():
            out.append(f"stacks: oracle {profile.stack_count()}, snapdiff {info['stacks']}")
        for metric in profile.types if with_functions else ():
            if metric in info["totals"]:
                out += check_functions(snapdiff, path, profile, metric)
    except (Failed, KeyError) as error:
        out.append(f"{type(error).__name__}: {error}")
    return profile.kind, out


def main():
    parser = argparse.ArgumentParser(description="Compares snapdiff with the oracle.")
    parser.add_argument("snapdiff")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    missing = [folder for folder in arguments.folders if not os.path.exists(folder)]
    for folder in missing:
        print(f"skipped: {folder} is not there")
    snapdiff = Snapdiff(arguments.snapdiff)
    passed = failed = left_out = 0
    seen = {}
    for path in heap_files(folder for folder in arguments.folders if folder not in missing):
        try:
            # Sanitized: every file is read, and of those of one folder and ending two are summed by function.
            like = os.path.dirname(path), os.path.splitext(path)[1]
            seen[like] = seen.get(like, 0) + 1
            with_functions = not SANITIZED or seen[like] <= 2
            left_out += not with_functions
            kind, differences = check_file(snapdiff, os.path.abspath(path), with_functions)
        except NotImplementedError as reason:
            print(f"skipped  {path}: {reason}")
            continue
        passed += not differences
        failed += bool(differences)
        print(f"{'differs' if differences else 'same':8} {kind:18} {path}")
        for line in differences[:10]:
            print(f"         {line}")
        if len(differences) > 10:
            print(f"         and {len(differences) - 10} more")
    if left_out:
        print(f"sanitized: totals alone of {left_out} files")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks the oracle itself against the tools that exist, on the files of the given folders.

  check_oracle.py FOLDER...

profile.proto files: flat and cum of every function against `go tool pprof -top -unit=bytes`, for
every metric (files of a series: for the last). Texts of exact or sampled heaps: the total against
`google-pprof` (tcmalloc) and `jeprof` (jemalloc), which sum fractions where the oracle cuts them off
row by row: they may differ by one byte a row. Golden decodes *.expected.txt: every value.
Ends 0, also when a tool is missing (it says so), and 1 on a difference.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import pprof_oracle
from heap_files import heap_files

NEVER_EXISTS = os.path.join(tempfile.gettempdir(), "no-binaries-here")


def pprof_top(path, metric_index, base=None):
    """{function: (flat, cum)} as go tool pprof prints it, zero rows left out."""
    command = ["go", "tool", "pprof", "-top", "-unit=bytes", "-trim=false", "-nodecount=1000000", "-symbolize=none",
               f"-sample_index={metric_index}"]
    if base:
        command.append(f"-diff_base={base}")
    environment = dict(os.environ, PPROF_BINARY_PATH=NEVER_EXISTS, PPROF_TMPDIR=tempfile.gettempdir())
    result = subprocess.run(command + [path], capture_output=True, env=environment, check=True)
    text = result.stdout.decode("utf-8", "surrogateescape")
    rows = {}
    for line in text.split("\n"):
        row = re.match(r"\s*(-?[0-9.]+)([a-zA-Z]*)\s+\S+%\s+\S+%\s+(-?[0-9.]+)([a-zA-Z]*)\s+\S+%\s\s(.*)$", line)
        if row:
            name = row[5].removesuffix(" (inline)").removesuffix(" (partial-inline)")
            rows[name] = (float(row[1]), float(row[3]))
    return rows


def compare_functions(path):
    """Differences between the oracle and pprof on one profile.proto, as lines of text."""
    profile = pprof_oracle.read_path(path)
    if profile.drop_frames or any(name.endswith(("cpu", "time")) for name in profile.types):
        return None
    out = []
    columns = list(enumerate(profile.types))
    if re.search(r"\.\d+\.pb\.gz$", path):  # one of many of a series: its last metric alone
        columns = columns[-1:]
    for index, metric in columns:
        theirs = pprof_top(path, index)
        for name, (flat, cum) in profile.by_function(metric).items():
            if (flat, cum) == (0, 0):
                continue
            if theirs.get(name) != (flat, cum):
                out.append(f"{metric} {name!r}: oracle {flat} / {cum}, pprof {theirs.get(name)}")
    return out


def reference_total(tool, path):
    result = subprocess.run([tool, "--text", "--show_bytes", "/bin/true", path], capture_output=True, check=False)
    total = re.search(rb"Total: (\d+) B", result.stdout)
    return int(total[1]) if total else None


def compare_golden(path, golden):
    expected = []
    with open(golden, encoding="utf-8") as file:
        for line in file:
            row = re.match(r"\s*(\d+)\s+(\d+): ", line)
            if row:
                expected.append([int(row[1]), int(row[2])])
    found = [values for _, values in pprof_oracle.read_path(path).samples]
    return [] if found == expected else [f"{len(expected)} rows expected, {len(found)} found, or their values differ"]


def check(path, tools):
    """(tool, differences), or None where nothing can be compared."""
    golden = path + ".expected.txt"
    if os.path.exists(golden):
        return "golden", compare_golden(path, golden)
    try:
        profile = pprof_oracle.read_path(path)
    except pprof_oracle.Refused:
        return None
    if profile.kind == "profile.proto" and tools["go"]:
        differences = compare_functions(path)
        return None if differences is None else ("go tool pprof", differences)
    tool = {"text heapprofile": "google-pprof", "jemalloc heap_v2": "jeprof"}.get(profile.kind)
    if tool and tools[tool] and path.endswith(".heap") and not any("differ" in note for note in profile.notes):
        theirs, ours = reference_total(tool, path), profile.totals()["inuse_space"]
        near = theirs is not None and abs(theirs - ours) <= len(profile.samples)
        return tool, [] if near else [f"inuse_space: oracle {ours}, {tool} {theirs}"]
    return None


def main():
    parser = argparse.ArgumentParser(description="Checks the oracle against other tools.")
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    tools = {name: shutil.which(name) for name in ("go", "google-pprof", "jeprof")}
    for name, found in tools.items():
        if not found:
            print(f"skipped: {name} is not installed")
    passed = failed = 0
    for path in heap_files(arguments.folders):
        result = check(path, tools)
        if result is None:
            continue
        tool, differences = result
        passed += not differences
        failed += bool(differences)
        if differences:
            print(f"{path}: differs from {tool}")
            for line in differences[:10]:
                print(f"    {line}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares snapdiff's rows of heaptrack, massif and DHAT files with those of the oracle, to the byte and the frame.

  compare_trackers.py SNAPDIFF FOLDER...

heaptrack: the end, the peak, and cuts at every 10 ms; every snapshot of a massif file that has a tree; both states of
a DHAT file. Prints one line per file; ends 1 on a difference.
"""

import os
import sys

import tracker_oracle
from snapdiff_runner import Failed, Snapdiff


def rows_of(report, with_blocks):
    """{stack: [value, blocks]} of a JSON report of `top`."""
    out = {}
    for row in report["rows"]:
        frames = []
        for frame in row["stack"]:
            function = frame["function"] or ""
            if function == "[no stack recorded]":
                continue
            if function.startswith("["):
                frames.append((function, "", 0))
            elif function:
                frames.append((function, frame["file"] or "", frame["line"] or 0))
            else:
                frames.append(("", os.path.basename(frame["module"] or ""), 0))
        key = tuple(frames)
        old = out.get(key, [0, 0])
        out[key] = [old[0] + row["value"], old[1] + (row["objects"] if with_blocks else 0)]
    return out


def expected_rows(rows, with_blocks):
    """The same of the oracle: a nameless frame is its module's base name."""
    out = {}
    for stack, values in rows.items():
        values = values if isinstance(values, list) else [values]
        key = tuple(f if f[0] else ("", os.path.basename(f[1]), 0) for f in stack)
        old = out.get(key, [0, 0])
        out[key] = [old[0] + values[0], old[1] + (values[1] if with_blocks else 0)]
    return {stack: row for stack, row in out.items() if row != [0, 0]}


def compare(snapdiff, operand, rows, with_blocks, metric="inuse_space"):
    report = snapdiff.json("top", operand, "-n", "0", "--metric", metric, "--allocator-frames", "show", "--recursion", "show",
                           "--demangle", "none")
    found, expected = rows_of(report, with_blocks), expected_rows(rows, with_blocks)
    # A row without bytes is not listed, though it may have blocks of size 0.
    expected = {stack: row for stack, row in expected.items() if row[0] != 0}
    out = [f"{operand}: total {report['total']}, expected {sum(row[0] for row in expected.values())}"
           ] if report["total"] != sum(row[0] for row in expected.values()) else []
    for stack in sorted(found.keys() | expected.keys()):
        if found.get(stack) != expected.get(stack):
            out.append(f"{operand}: {stack}: snapdiff {found.get(stack)}, oracle {expected.get(stack)}")
    return out


def check_heaptrack(snapdiff, path, data):
    recording = tracker_oracle.Heaptrack(data)
    if not recording.events:
        return []
    end = len(recording.events)
    moments = [("", end), ("@peak", recording.peak()[0])]
    moments += [(f"@{events}", events) for events in recording.times(10)[:-1]]
    out = []
    for point, events in moments:
        out += compare(snapdiff, path + point, recording.by_stack(recording.after(events)), True)
    totals = snapdiff.json("info", path)["totals"]
    made = recording.made()
    for name, value in (("alloc_objects", sum(made.values())), ("temporary_objects", recording.temporary()),
                        ("alloc_space", sum(recording.sizes[a][0] * n for a, n in made.items()))):
        if totals[name] != value:
            out.append(f"{path}: {name} {totals[name]}, expected {value}")
    return out


def check_massif(snapdiff, path, data):
    out = []
    pages = b"(page allocation syscalls)" in data
    for number, (_, rows) in enumerate(tracker_oracle.massif(data), 1):
        if rows:
            out += compare(snapdiff, f"{path}@{number}", rows, False, "mapped_space" if pages else "inuse_space")
    return out


def check(snapdiff, path):
    """(kind, differences), or None for a file of another kind."""
    data = tracker_oracle.decompressed(path)
    if data[:2] == b"v ":
        return "heaptrack", check_heaptrack(snapdiff, path, data)
    if data[:5] == b"desc:":
        return "massif", check_massif(snapdiff, path, data)
    if data[:18] == b'{"dhatFileVersion"' and b'"bklt":true' in data:
        return "dhat", (compare(snapdiff, path, tracker_oracle.dhat(data, False), True) +
                        compare(snapdiff, path + "@peak", tracker_oracle.dhat(data, True), True))
    return None


def main():
    snapdiff, folders = Snapdiff(sys.argv[1]), sys.argv[2:]
    passed = failed = 0
    for folder in folders:
        if not os.path.exists(folder):
            print(f"skipped: {folder} is not there")
            continue
        for base, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.abspath(os.path.join(base, name))
                try:
                    result = check(snapdiff, path)
                except Failed as error:
                    result = ("failed", [str(error)])
                if result is None:
                    continue
                passed += not result[1]
                failed += bool(result[1])
                print(f"{'differs' if result[1] else 'same':8} {result[0]:10} {path}")
                for line in result[1][:10]:
                    print(f"         {line[:400]}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

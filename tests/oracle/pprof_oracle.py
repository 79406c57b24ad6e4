#!/usr/bin/env python3
"""An independent reader of the pprof family of heap profiles, for checking snapdiff.

Standard library only. Written from the format definitions, not from snapdiff's sources, and kept
simple rather than fast: every file becomes a list of (stack, values), and everything else is sums.

  pprof_oracle.py FILE...        prints one JSON object per file
  pprof_oracle.py --top N FILE   with the N heaviest functions per metric (default 20, 0 = all)

The object: file, kind, error (null, or what a reader has to refuse the file for), totals {metric:
value} under canonical names, stacks (distinct, with a value), notes, and top {metric: {flat, cum}}
as lists of [function, value], sorted by size of the value, then by name.
"""

import argparse
import gzip
import json
import shutil
import struct
import subprocess
import sys
import zlib

from heap_text_oracle import read_text
from oracle_profile import Refused
from proto_oracle import read_proto


def inflate(data):
    """Peels gzip (every member) and zstd until something else shows."""
    if not data:
        raise Refused("empty input file")
    for _ in range(4):
        if data[:2] == b"\x1f\x8b":
            try:
                data = gzip.decompress(data)
            except (EOFError, OSError, zlib.error) as error:
                raise Refused(f"decompressing profile: {error}") from error
        elif data[:4] == b"\x28\xb5\x2f\xfd":
            if not shutil.which("zstd"):
                raise NotImplementedError("the zstd tool is not installed")
            result = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=False)
            if result.returncode != 0:
                raise Refused("decompressing profile: damaged zstd frame")
            data = result.stdout
        else:
            return data
        if not data:
            raise Refused("empty input file")
    raise Refused("compressed more than four times")


def is_legacy_cpu(data):
    for code in ("<", ">"):
        for word, size in (("Q", 8), ("I", 4)):
            if len(data) >= 5 * size:
                words = struct.unpack_from(code + "5" + word, data)
                if words[0] == 0 and words[1] == 3 and words[2] in (0, 1) and words[3] > 0 and words[4] == 0:
                    return True
    return False


def read(data):
    """The profile in `data`. Raises Refused."""
    data = inflate(data)
    if is_legacy_cpu(data):
        raise Refused("this is a CPU profile")
    return read_text(data) or read_proto(data)


def read_path(path):
    with open(path, "rb") as file:
        return read(file.read())


def ranked(table, column, limit):
    rows = [(name, values[column]) for name, values in table.items() if values[column] != 0]
    rows.sort(key=lambda row: (-abs(row[1]), row[0]))
    return rows[:limit] if limit else rows


def describe(path, top):
    out = {"file": path, "kind": None, "error": None}
    try:
        profile = read_path(path)
        out["kind"] = profile.kind
        out["totals"] = profile.totals()
        out["stacks"] = profile.stack_count()
        out["notes"] = profile.notes
        out["top"] = {}
        for metric in profile.types:
            table = profile.by_function(metric)
            out["top"][metric] = {"flat": ranked(table, 0, top), "cum": ranked(table, 1, top)}
    except Refused as error:
        out["error"] = str(error)
    return out


def main():
    parser = argparse.ArgumentParser(description="Reads heap profiles independently of snapdiff.")
    parser.add_argument("--top", type=int, default=20, help="functions per metric, 0 = all (default %(default)s)")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    for path in arguments.files:
        print(json.dumps(describe(path, arguments.top), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

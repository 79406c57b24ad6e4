#!/usr/bin/env python3
"""Makes a series with leaky-service/make-series.sh and checks that snapdiff finds what it leaks.

check_leaky_service.py SNAPDIFF SCRIPT tcmalloc|go          ends 77 where the tools are not installed
"""

import json
import os
import subprocess
import sys
import tempfile

ROUNDS = 4
LEAKED = {"tcmalloc": (2000, 264_000), "go": (2000, 272_000)}  # blocks and bytes a round, in size classes for Go
FUNCTIONS = {"tcmalloc": "make_token", "go": "main.makeToken"}


def main():
    snapdiff, script, kind = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["sh", script, kind, folder, str(ROUNDS)], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print(made.stderr)
            return made.returncode
        # The first rounds of a Go process also allocate for its own start and for writing profiles.
        names = {"tcmalloc": "leaky.{:04}.heap", "go": "heap.{:03}.pb.gz"}[kind]
        paths = [os.path.join(folder, names.format(round)) for round in (ROUNDS - 1, ROUNDS)]
        named = [path.replace("leaky.0", "named/leaky.0") for path in paths]
        if all(os.path.exists(path) for path in named):
            paths = named
        command = [snapdiff, "--db", ":memory:", "diff", *paths, "--as", "json", "-n", "0"]
        report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        blocks, size = LEAKED[kind]
        rows = [row for row in report["rows"] if row["growth_objects"] == blocks // 2]
        growth = sum(row["growth"] for row in rows)
        print(f"growth {report['total']['growth']}, of it {growth} in {len(rows)} stacks of {blocks // 2} blocks each")
        if len(rows) != 2 or growth != size or (kind == "tcmalloc" and report["total"]["growth"] != size):
            print(f"expected {size} in 2 stacks")
            return 1
        if not any(FUNCTIONS[kind] in json.dumps(row["stack"]) for row in rows) and (paths == named or kind == "go"):
            print(f"no stack names {FUNCTIONS[kind]}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

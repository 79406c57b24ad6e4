#!/usr/bin/env python3
"""Roles of CUDA blocks against the tensors that the recorded programs held.

  check_roles.py --snapdiff SNAPDIFF [--least COUNT] [FOLDER ...]

A folder holds set-ups, each with snapshot.pickle.gz and roles.json: bytes by role, found by the addresses of the program's
own tensors. A set-up is right if each role is within 1 % of the total. Default: tests/data/cuda_roles. Ends 1 below COUNT.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROLES = {"parameter": "parameter", "gradient": "gradient", "optimizer": "optimizer state", "input": "input"}
WITHIN = 0.01  # of the total
DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "cuda_roles"


def wrong_roles(snapdiff, folder):
    """What of a set-up is wrong: one text for each role."""
    truth = json.loads((folder / "roles.json").read_text(encoding="utf-8"))
    command = [snapdiff, "--db", ":memory:", "top", str(next(folder.glob("snapshot.pickle*"))), "--by", "role", "-n", "50", "--as", "json"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    found = {row["key"]: row["flat"] for row in answer["rows"]}
    return [f"{role}: {found.get(name, 0)}, expected {truth[role]}" for role, name in ROLES.items()
            if abs(found.get(name, 0) - truth[role]) > WITHIN * truth["total"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--snapdiff", required=True)
    parser.add_argument("--least", type=int, default=0, help="set-ups that have to be right")
    parser.add_argument("folders", nargs="*", type=pathlib.Path, default=[DATA])
    arguments = parser.parse_args()
    setups = sorted(path.parent for folder in arguments.folders for path in folder.glob("*/roles.json"))
    right = 0
    for setup in setups:
        wrong = wrong_roles(arguments.snapdiff, setup)
        right += not wrong
        print(f"{setup.name:20} {'; '.join(wrong) or 'right'}")
    print(f"{right} of {len(setups)} right")
    return 0 if setups and right >= arguments.least else 1


if __name__ == "__main__":
    sys.exit(main())

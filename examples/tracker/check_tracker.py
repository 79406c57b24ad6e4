#!/usr/bin/env python3
"""Runs a writer of this folder and checks its file: valid, each line as the schema says, and its leak in the diff.

check_tracker.py SNAPDIFF SCHEMA python|c|csharp [CC]          ends 77 where the language is not installed
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Key of the leaking row, objects and bytes a step; bytes None: they differ from version to version.
LEAKS = {"python": ("__main__.Job", 25, None), "c": ("make_session", 10, 640), "csharp": ("byte[]", 10, 10_000)}
STEPS = 8


def write_series(kind, compiler, folder, path):
    """Runs the writer; None, or the name of the tool that is not here."""
    if kind == "python":
        subprocess.run([sys.executable, os.path.join(HERE, "leaky_types.py"), path], check=True)
    elif kind == "c":
        if shutil.which(compiler) is None:
            return compiler
        program = os.path.join(folder, "leaky_blocks")
        subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-o", program, os.path.join(HERE, "leaky_blocks.c")], check=True)
        subprocess.run([program, path], check=True)
    else:
        if shutil.which("dotnet") is None:
            return "dotnet"
        project = os.path.join(folder, "LeakyArrays")
        subprocess.run(["dotnet", "new", "console", "-o", project], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(os.path.join(HERE, "LeakyArrays.cs"), os.path.join(project, "Program.cs"))
        subprocess.run(["dotnet", "run", "--project", project, "--", path], check=True)
    return None


def check_schema(schema_path, path):
    try:
        import jsonschema
    except ImportError:
        print("skipped: lines against the schema, python3-jsonschema is not installed")
        return True
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = True
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            for error in validator.iter_errors(json.loads(line)):
                print(f"line {number}: {error.message}")
                good = False
    return good


def check_growth(snapdiff, kind, path):
    name, objects, size = LEAKS[kind]
    good = True
    for metric, a_step in (("inuse_objects", objects), ("inuse_space", size)):
        command = [snapdiff, "--db", ":memory:", "diff", f"{path}@first", f"{path}@last", "--metric", metric, "-n", "0",
                   "--by", "function", "--as", "json"]
        report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        [row] = [row for row in report["rows"] if row["key"] == name]
        growth = row["flat"]["current"] - row["flat"]["baseline"]
        print(f"{name}: {metric} {growth:+}")
        good = good and (growth > 0 if a_step is None else growth == a_step * (STEPS - 1))
    return good


def main():
    snapdiff, schema, kind = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "leaky.sdt.jsonl")
        missing = write_series(kind, sys.argv[4] if len(sys.argv) > 4 else "cc", folder, path)
        if missing is not None:
            print(f"skipped: {missing} is not installed")
            return 77
        with open(os.path.join(HERE, {"python": "leaky_types.py", "c": "leaky_blocks.c", "csharp": "LeakyArrays.cs"}[kind]),
                  encoding="utf-8") as file:
            short = len(file.readlines()) <= 20
        checked = subprocess.run([snapdiff, "info", "--validate", path], capture_output=True, text=True, check=False)
        print(checked.stdout + checked.stderr, end="")
        valid = checked.returncode == 0 and f"valid, {STEPS} snapshots\n" in checked.stdout
        return 0 if short and valid and check_schema(schema, path) and check_growth(snapdiff, kind, path) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs the commands that a README shows and compares what they print.

  check_readme.py [--update] SNAPDIFF README...

A block that starts with "```text" and a line "$ command" is a command with its output. It runs in a
copy of the README's folder, with snapdiff on the PATH. --update writes the output into the page.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```text\n\$ (.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)


def run(command, folder, snapdiff):
    """What a user sees of `command`, both streams."""
    with tempfile.TemporaryDirectory() as scratch:
        there = os.path.join(scratch, "here")
        # Of the whole project only the examples: a build folder beside them is large.
        whole = os.path.exists(os.path.join(folder, "CMakePresets.json"))
        shutil.copytree(os.path.join(folder, "examples") if whole else folder, os.path.join(there, "examples") if whole else there)
        programs = os.path.join(scratch, "bin")
        os.mkdir(programs)
        os.symlink(os.path.abspath(snapdiff), os.path.join(programs, "snapdiff"))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SNAPDIFF")}
        environment.update(PATH=f"{programs}:{environment['PATH']}", LC_ALL="C.UTF-8", COLUMNS="80")
        result = subprocess.run(["bash", "-c", command], cwd=there, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        text = result.stdout.decode("utf-8", "replace")
        return text if result.returncode == 0 else text + f"(exit {result.returncode})\n"


def main():
    parser = argparse.ArgumentParser(description="Compares the commands shown in README files with their output.")
    parser.add_argument("--update", action="store_true", help="write the output into the page")
    parser.add_argument("snapdiff")
    parser.add_argument("pages", nargs="+")
    arguments = parser.parse_args()
    failed = commands = 0
    for page in arguments.pages:
        with open(page, encoding="utf-8") as file:
            text = file.read()

        def block(match):
            nonlocal failed, commands
            commands += 1
            output = run(match[1], os.path.dirname(os.path.abspath(page)), arguments.snapdiff)
            if output != match[2] and not arguments.update:
                failed += 1
                print(f"{page}: $ {match[1]}")
                sys.stdout.writelines(difflib.unified_diff(match[2].splitlines(True), output.splitlines(True), "page", "now"))
            return f"```text\n$ {match[1]}\n{output}```"

        updated = BLOCK.sub(block, text)
        if arguments.update and updated != text:
            with open(page, "w", encoding="utf-8") as file:
                file.write(updated)
    print(f"{commands} commands, {failed} with other output")
    return 1 if failed or commands == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

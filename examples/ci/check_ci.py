#!/usr/bin/env python3
"""Runs the shell steps of the pipelines here as their servers do, on a series that leaks and on one that does not.
check_ci.py BUILD SERIES: a build folder to install from, a folder with dumps of a leaking service."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SERIES = (os.path.abspath(path) for path in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))
SOAK = """#!/bin/sh
set -eu
[ "$1 $2 $3" = "--rounds 12 --dumps" ]
mkdir -p "$4"
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do cp "$DUMPS/svc.00$%s.heap" "$4/svc.00$i.heap"; done
"""


def github_steps(text):
    """(name, script, always) of the steps with a script."""
    for step in re.split(r"^      - ", text, flags=re.MULTILINE)[1:]:
        block = re.search(r"^ *run: \|\n((?:          .*\n)+)", step, re.MULTILINE)
        line = re.search(r"^ *run: ([^|\n].*)$", step, re.MULTILINE)
        if block or line:
            script = re.sub(r"^          ", "", block[1], flags=re.MULTILINE) if block else line[1]
            yield step.splitlines()[0], script, "if: always()" in step


def gitlab_scripts(text):
    return {name: re.findall(r"^    - (.*)$", lines, re.MULTILINE)
            for name, lines in re.findall(r"^  (\w+):\n((?:    - .*\n)+)", text, re.MULTILINE)}


def folder_for(scratch, leaks):
    """A checkout with a soak test, and a clone of this repository beside it as far as the steps need one."""
    os.makedirs(os.path.join(scratch, "home"))
    os.symlink(os.path.dirname(os.path.dirname(HERE)), os.path.join(scratch, "snapdiff"))
    with open(os.path.join(scratch, "soak-test"), "w", encoding="utf-8") as file:
        file.write(SOAK % ("i" if leaks else "{i%%*}12"))
    os.chmod(os.path.join(scratch, "soak-test"), 0o755)
    return dict(os.environ, HOME=os.path.join(scratch, "home"), DUMPS=SERIES, SNAPDIFF_BUILD=BUILD, LC_ALL="C.UTF-8",
                GITHUB_PATH=os.path.join(scratch, "path"), GITHUB_STEP_SUMMARY=os.path.join(scratch, "summary.md"))


def run(script, scratch, environment):
    done = subprocess.run(["bash", "-e", "-c", script], cwd=scratch, env=environment, capture_output=True, text=True,
                          timeout=300, check=False)
    sys.stdout.write(f"$ {script}\n{done.stdout}{done.stderr}")
    return done.returncode


def check_github(leaks):
    with open(os.path.join(HERE, "github-actions.yml"), encoding="utf-8") as file:
        steps = list(github_steps(file.read()))
    assert [name for name, _, _ in steps][0] == "name: install snapdiff" and len(steps) == 4, steps
    with tempfile.TemporaryDirectory() as scratch:
        environment = folder_for(scratch, leaks)
        failed = False
        for name, script, always in steps:
            if failed and not always:
                continue
            code = run(script, scratch, environment)
            assert code == (1 if leaks and name == "name: gate" else 0), (name, code)
            failed = failed or code != 0
            if os.path.exists(environment["GITHUB_PATH"]):
                with open(environment["GITHUB_PATH"], encoding="utf-8") as file:
                    environment["PATH"] = file.read().strip() + ":" + os.environ["PATH"]
        assert failed == leaks
        left = set(os.listdir(scratch))
        assert {"leaks.db", "growth.pdf", "gate.sarif", "gate.junit.xml"} <= left, left
        with open(environment["GITHUB_STEP_SUMMARY"], encoding="utf-8") as file:
            assert ("FAIL" if leaks else "PASS") in file.read()


def check_gitlab(leaks):
    with open(os.path.join(HERE, "gitlab-ci.yml"), encoding="utf-8") as file:
        scripts = gitlab_scripts(file.read())
    with tempfile.TemporaryDirectory() as scratch:
        environment = folder_for(scratch, leaks)
        prefix = os.path.join(scratch, "usr")
        environment["PATH"] = prefix + "/bin:" + environment["PATH"]
        clone, install = scripts["before_script"]
        assert clone.startswith('git clone --depth 1 "$SNAPDIFF_REPOSITORY" snapdiff')
        assert run(install.replace("/usr/local", prefix), scratch, environment) == 0
        codes = [run(line, scratch, environment) for line in scripts["script"]]
        assert codes == [0, 1 if leaks else 0], codes
        assert [run(line, scratch, environment) for line in scripts["after_script"]] == [0]
        assert {"leaks.db", "growth.pdf", "gate.junit.xml"} <= set(os.listdir(scratch))


if shutil.which("bash") is None:
    sys.exit(77)
for is_leaking in (True, False):
    check_github(is_leaking)
    check_gitlab(is_leaking)
print("ok")

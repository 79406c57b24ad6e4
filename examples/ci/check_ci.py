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


# Installs packages into a folder, as apt does into the system; sudo is not needed for that.
APT = """#!/bin/sh
set -eu
[ "$1" = install ]
for word; do case $word in *.deb) dpkg-deb -x "$word" "$INSTALLED" ;; esac; done
"""


def steps_of(text, indent):
    """The steps of a workflow or an action: as text, with the shell script, None where the step has none."""
    for step in re.split(r"^ {%d}- " % indent, text, flags=re.MULTILINE)[1:]:
        block = re.search(r"^ *run: \|\n((?: {%d}.*\n)+)" % (indent + 4), step, re.MULTILINE)
        line = re.search(r"^ *run: ([^|\n].*)$", step, re.MULTILINE)
        script = re.sub(r"^ {%d}" % (indent + 4), "", block[1], flags=re.MULTILINE) if block else line[1] if line else None
        yield step, script


def github_steps(workflow, action):
    """(what, script, always, environment) of all steps with a script, those of the action in its place."""
    for step, script in steps_of(workflow, 6):
        if "uses: OWNER/snapdiff/examples/ci/action@" in step:
            inputs = dict(re.findall(r"^  (\w+):\n(?:    .*\n)*?    default: (.*)$", action, re.MULTILINE))
            inputs = {name: value.strip('"') for name, value in inputs.items()}
            inputs.update(re.findall(r"(\w+): ([^,} ]+)", step.split("with:")[1]))
            for part, inner in steps_of(action, 4):
                values = {name: inputs[key] for name, key in re.findall(r'(\w+): "\$\{\{ inputs\.(\w+) \}\}"', part)}
                yield part.splitlines()[0], inner, "if: always()" in part, values
        elif script is not None:
            yield step.splitlines()[0], script, "if: always()" in step, {}


def gitlab_scripts(text):
    return {name: re.findall(r"^    - (.*)$", lines, re.MULTILINE)
            for name, lines in re.findall(r"^  (\w+):\n((?:    - .*\n)+)", text, re.MULTILINE)}


def read(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return file.read()


def write_program(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def folder_for(scratch, leaks):
    """A checkout with a soak test, a clone of this repository beside it, and where packages are installed."""
    os.makedirs(os.path.join(scratch, "home"))
    os.symlink(os.path.dirname(os.path.dirname(HERE)), os.path.join(scratch, "snapdiff"))
    write_program(os.path.join(scratch, "soak-test"), SOAK % ("i" if leaks else "{i%%*}12"))
    write_program(os.path.join(scratch, "bin", "apt-get"), APT)
    write_program(os.path.join(scratch, "bin", "sudo"), '#!/bin/sh\nexec "$@"\n')
    installed = os.path.join(scratch, "installed")
    path = ":".join([os.path.join(scratch, "bin"), os.path.join(installed, "usr", "bin"), os.environ["PATH"]])
    return dict(os.environ, HOME=os.path.join(scratch, "home"), DUMPS=SERIES, SNAPDIFF_BUILD=BUILD, LC_ALL="C.UTF-8",
                PATH=path, INSTALLED=installed, GITHUB_ACTION_PATH=os.path.join(HERE, "action"),
                GITHUB_STEP_SUMMARY=os.path.join(scratch, "summary.md"))


def run(script, scratch, environment):
    done = subprocess.run(["bash", "-e", "-c", script], cwd=scratch, env=environment, capture_output=True, text=True,
                          timeout=300, check=False)
    sys.stdout.write(f"$ {script}\n{done.stdout}{done.stderr}")
    return done.returncode


def check_github(leaks):
    steps = list(github_steps(read("github-actions.yml"), read("action/action.yml")))
    assert [name for name, _, _, _ in steps] == ["name: soak test, a heap dump per round", "name: install snapdiff", "name: gate"], steps
    with tempfile.TemporaryDirectory() as scratch:
        environment = folder_for(scratch, leaks)
        failed = False
        for name, script, always, values in steps:
            if failed and not always:
                continue
            dumps = {} if name == "name: gate" else {"DUMPS": SERIES}
            code = run(script, scratch, {**environment, **values, **dumps})
            assert code == (1 if leaks and name == "name: gate" else 0), (name, code)
            failed = failed or code != 0
        assert failed == leaks
        left = set(os.listdir(scratch))
        assert {"leaks.db", "growth.pdf", "gate.sarif", "gate.junit.xml"} <= left, left
        with open(environment["GITHUB_STEP_SUMMARY"], encoding="utf-8") as file:
            assert ("FAIL" if leaks else "PASS") in file.read()


def check_gitlab(leaks):
    scripts = gitlab_scripts(read("gitlab-ci.yml"))
    with tempfile.TemporaryDirectory() as scratch:
        environment = folder_for(scratch, leaks)
        clone, install = scripts["before_script"]
        assert clone.startswith('git clone --depth 1 "$SNAPDIFF_REPOSITORY" snapdiff')
        assert run(install, scratch, environment) == 0
        codes = [run(line, scratch, environment) for line in scripts["script"]]
        assert codes == [0, 1 if leaks else 0], codes
        assert {"leaks.db", "growth.pdf", "gate.junit.xml"} <= set(os.listdir(scratch))


if any(shutil.which(tool) is None for tool in ("bash", "dpkg-deb", "dpkg-shlibdeps")):
    sys.exit(77)
for is_leaking in (True, False):
    check_github(is_leaking)
    check_gitlab(is_leaking)
print("ok")

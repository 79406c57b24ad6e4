#!/usr/bin/env python3
"""Installs the build into a scratch folder and builds the example against it.
check_library.py BUILD CMAKE GENERATOR COMPILER [FLAGS]"""

import os
import re
import subprocess
import sys
import tempfile

build, cmake, generator, compiler = sys.argv[1:5]
flags = sys.argv[5] if len(sys.argv) > 5 else ""
here = os.path.dirname(os.path.abspath(__file__))
series = os.path.join(here, "..", "go-queue")
files = sorted(os.path.join(series, name) for name in os.listdir(series) if name.endswith(".pb.gz"))
with tempfile.TemporaryDirectory() as scratch:
    prefix = os.path.join(scratch, "prefix")
    subprocess.run([cmake, "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    runpath = os.path.join(here, "..", "..", "tests", "layering", "check_runpath.py")
    subprocess.run([sys.executable, runpath, prefix], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "-G", generator, "-S", here, "-B", scratch + "/build", "-DCMAKE_PREFIX_PATH=" + prefix,
                    "-DCMAKE_CXX_COMPILER=" + compiler, "-DCMAKE_CXX_FLAGS=" + flags, "-DCMAKE_C_FLAGS=" + flags], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "--build", scratch + "/build"], check=True, stdout=subprocess.DEVNULL)
    program = scratch + "/build/watch_growth"

    def run(*words, code=0, error=""):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, cwd=scratch)
        assert done.returncode == code and error in done.stderr, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    # The leaks of the truth table, by the function of the user's own code.
    text = run(*files)
    assert text.startswith("In-use bytes grew from "), text
    assert re.search(r"GROWING main\.leakBacklog at \S*main\.go:33: 6072064 bytes, 5\d{5} a snapshot", text), text
    assert "GROWING main.leakIndex" in text and "GROWING main.leakSubscribers" in text, text
    assert "burstLoad" not in text, text
    assert run(series) == text, "a folder is the series in it"
    two = run(files[0], files[-1])
    assert "growth main.leakBacklog" in two and "GROWING" not in two and "a snapshot" not in two, two
    unnamed = os.path.join(here, "..", "tcmalloc-svc")
    text = run(*(os.path.join(unnamed, f"svc.{i:04}.heap") for i in range(1, 13)))
    assert "GROWING svc_cache+0x" in text, text
    run(__file__, code=2, error="unsupported")
    run(files[0], code=2, error="expected at least 3")
    run("@3", code=2, error="no store here")
    assert "over budget total:1%" in run("--budget", "total:1%", *files, code=1)
    run("--budget", "total:1000%", *files)
    run("--budget", "a lot", *files, code=2, error="a lot")

    # The C interface, as a C11 program sees it.
    answer = subprocess.run([scratch + "/build/first_answer", *files], capture_output=True, text=True, check=False)
    assert answer.returncode == 1 and re.search(r"main\.leakBacklog at \S*main\.go:33: \+6072064 bytes\n", answer.stdout), answer
    answer = subprocess.run([scratch + "/build/first_answer", __file__], capture_output=True, text=True, check=False)
    assert answer.returncode == 2 and "unsupported" in answer.stderr, answer

    # Pictures and the report, drawn by the module that is installed beside the library.
    kinds = {"growth.pdf": b"%PDF-", "flame.svg": b"<?xml", "timeline.pdf": b"%PDF-", "growth.png": b"\x89PNG", "growth.dot": b"digraph",
             "growth.html": b"<!DOCTYPE html>", "report/report.pdf": b"%PDF-", "report/report.html": b"<!DOCTYPE html>",
             "report/report.md": b"### ", "report/report.json": b"{"}
    pictures = [word for name in kinds if "/" not in name for word in ("--picture", name)]
    run(*pictures, "--report", "report", *files)
    for name, begin in kinds.items():
        with open(os.path.join(scratch, name), "rb") as file:
            head = file.read(64).lstrip()
        assert head[:len(begin)].lower() == begin.lower(), (name, head)
print("ok")

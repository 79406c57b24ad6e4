#!/usr/bin/env python3
"""Installs the build into a scratch folder and builds the example against it.
check_library.py BUILD CMAKE GENERATOR COMPILER [FLAGS]"""

import os
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
                    "-DCMAKE_CXX_COMPILER=" + compiler, "-DCMAKE_CXX_FLAGS=" + flags], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "--build", scratch + "/build"], check=True, stdout=subprocess.DEVNULL)
    program = scratch + "/build/watch_growth"
    text = subprocess.run([program, *files], check=True, capture_output=True, text=True).stdout
    # The leak of the truth table that every step of the series shows: 512 000 bytes a step.
    assert "5632000 bytes main.newBody: +" in text, text
    assert "burstLoad" not in text, text
    unnamed = os.path.join(here, "..", "tcmalloc-svc")
    text = subprocess.run([program, *(os.path.join(unnamed, f"svc.{i:04}.heap") for i in range(1, 13))], check=True,
                          capture_output=True, text=True).stdout
    assert "bytes svc_cache+0x" in text, text
    bad = subprocess.run([program, __file__], capture_output=True, text=True, check=False)
    assert bad.returncode == 2 and "unsupported" in bad.stderr, bad.stderr
    few = subprocess.run([program, *files[:2]], capture_output=True, text=True, check=False)
    assert few.returncode == 2 and "expected at least 3" in few.stderr, few.stderr
print("ok")

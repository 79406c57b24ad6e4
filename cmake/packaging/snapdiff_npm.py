#!/usr/bin/env python3
"""Makes the npm tarballs of snapdiff: snapdiff_npm.py PROGRAM FOLDER.

snapdiff-VERSION.tgz is JavaScript alone; snapdiff-linux-x64-VERSION.tgz carries PROGRAM, which is to be the static one. The
first names the second as an optional dependency, so that npm takes the one that fits. Equal inputs give equal bytes.
"""
import gzip
import io
import json
import os
import sys
import tarfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from snapdiff_wheel import ROOT, version

PACKAGE = os.path.join(ROOT, "analyzer", "node")
PLATFORM = "snapdiff-linux-x64"


def write(path, files):
    """files: {name: (bytes, executable)}, below package/ as npm wants it."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (data, executable) in sorted(files.items()):
            entry = tarfile.TarInfo("package/" + name)
            entry.size, entry.mode, entry.mtime = len(data), 0o755 if executable else 0o644, 499162500  # npm's own date
            archive.addfile(entry, io.BytesIO(data))
    with open(path, "wb") as file:
        file.write(gzip.compress(raw.getvalue(), 9, mtime=0))
    return path


def content(path):
    with open(path, "rb") as file:
        return file.read()


def make(program, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(PACKAGE, "package.json"), encoding="utf-8") as file:
        facts = json.load(file)
    facts["version"] = version()
    facts["optionalDependencies"] = {PLATFORM: version()}
    files = {"package.json": (json.dumps(facts, indent=2).encode() + b"\n", False), "README.md": (content(os.path.join(PACKAGE, "README.md")), False)}
    for name in ("index.js", "index.d.ts", "program.js", "bin/snapdiff.js"):
        files[name] = (content(os.path.join(PACKAGE, name)), name.startswith("bin/"))
    platform = {"name": PLATFORM, "version": version(), "description": "The program of snapdiff for Linux on x86-64", "os": ["linux"], "cpu": ["x64"]}
    return [write(os.path.join(folder, f"snapdiff-{version()}.tgz"), files),
            write(os.path.join(folder, f"{PLATFORM}-{version()}.tgz"),
                  {"package.json": (json.dumps(platform, indent=2).encode() + b"\n", False), "snapdiff": (content(program), True)})]


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: snapdiff_npm.py PROGRAM FOLDER")
    print("\n".join(make(sys.argv[1], sys.argv[2])))

#!/usr/bin/env python3
"""Writes what the files of a release hold, as CycloneDX 1.5: snapdiff_sbom.py FOLDER [OUT].

Components are the libraries that snapdiff is built with, at the versions installed here, and every file of FOLDER with its
SHA-256. Without dpkg the versions are those of README.md. Equal inputs give equal bytes.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from snapdiff_wheel import version

# Debian's package: name, licence (SPDX), which files hold it.
LIBRARIES = {
    "libsqlite3-dev": ("SQLite", "blessing"), "libzstd-dev": ("zstd", "BSD-3-Clause"), "liblz4-dev": ("lz4", "BSD-2-Clause"),
    "libprotozero-dev": ("protozero", "BSD-2-Clause"), "libcli11-dev": ("CLI11", "BSD-3-Clause"), "libre2-dev": ("RE2", "BSD-3-Clause"),
    "zlib1g-dev": ("zlib", "Zlib"), "libcurl4-openssl-dev": ("libcurl", "curl"), "libdeflate-dev": ("libdeflate", "MIT"),
    "libexpat1-dev": ("expat", "MIT"), "libtoml11-dev": ("toml11", "MIT"), "liblzma-dev": ("liblzma", "0BSD"),
    "nettle-dev": ("nettle", "LGPL-3.0-or-later OR GPL-2.0-or-later"), "libdw-dev": ("elfutils", "LGPL-3.0-or-later OR GPL-2.0-or-later"),
    "libcairo2-dev": ("cairo", "LGPL-2.1-only OR MPL-1.1"), "libpango1.0-dev": ("pango", "LGPL-2.0-or-later"),
    "libgraphviz-dev": ("Graphviz", "EPL-1.0"), "libboost-dev": ("Boost", "BSL-1.0"),
}
OWN = {"SHA256SUMS", "snapdiff.cdx.json"}


def installed(package):
    if shutil.which("dpkg-query") is None:
        return ""
    return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True, check=False).stdout


def documented(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "README.md"), encoding="utf-8") as file:
        found = re.search(re.escape(name) + r" ([\d.]+)", file.read(), re.IGNORECASE)
    return found[1] if found else "unknown"


def library(package, name, licence):
    number = installed(package)
    out = {"type": "library", "name": name, "version": number or documented(name), "licenses": [{"expression": licence}]}
    if number:
        out["purl"] = f"pkg:deb/debian/{package}@{number}"
    return out


def artefact(path):
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return {"type": "file", "name": os.path.basename(path), "version": version(), "hashes": [{"alg": "SHA-256", "content": digest}]}


def bill(folder):
    names = sorted(name for name in os.listdir(folder) if name not in OWN)
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "snapdiff", "version": version()}},
            "components": [library(package, *facts) for package, facts in LIBRARIES.items()] + [artefact(os.path.join(folder, name)) for name in names]}


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: snapdiff_sbom.py FOLDER [OUT]")
    with open(sys.argv[2] if len(sys.argv) == 3 else os.path.join(sys.argv[1], "snapdiff.cdx.json"), "w", encoding="utf-8") as target:
        json.dump(bill(sys.argv[1]), target, indent=1)
        target.write("\n")

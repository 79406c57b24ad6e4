#!/usr/bin/env python3
"""Bytes that an agent reads until it knows the culprit: mcp_bytes.py --snapdiff PATH DIR...

A DIR holds cases of tests/real (NAME/truth.json, NAME/leak/). For each case the server is asked for `trend` (`diff` where that
asks for more snapshots), then for `culprit`; counted is what it printed up to the end of the line with the name of the planted
leak, and of the line with its file and line where the format has them. Prints a row a case and the median, beside what
`snapdiff trend --as json` prints.
"""
import argparse
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PLACE = re.compile(r"[\w.<>$-]+\.\w+:\d+")


def real_cases():
    loader = importlib.machinery.SourceFileLoader("real_score", str(HERE.parent / "real" / "score"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("real_score", loader))
    loader.exec_module(module)
    return module


class Server:
    def __init__(self, snapdiff, folder):
        self.process = subprocess.Popen([snapdiff, "mcp", folder], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.printed = ""
        self.failed = False

    def call(self, tool, **arguments):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())["result"]
        self.failed = result["isError"]
        text = result["content"][0]["text"]
        self.printed += text + "\n"
        return text


def bytes_until(text, site, has_place):
    """Bytes up to the end of the first line that names the leak; of the first such line with a place where there are places."""
    total, named = 0, None
    for line in text.split("\n"):
        total += len(line.encode()) + 1
        if any(re.search(one, line) for one in site):
            named = named or total
            if not has_place or PLACE.search(line):
                return total
        elif named and has_place and PLACE.search(line):
            return total
    return None if has_place else named


def measure(snapdiff, folder, score):
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as scratch:
        case = pathlib.Path(scratch) / folder.name
        shutil.copytree(folder, case)
        for archive in case.glob("*.tar.xz"):
            subprocess.run(["tar", "xf", archive.name], cwd=case, check=True)
        words = score.operands(case, truth, "leak")
        if not words or not (truth.get("leak") or {}).get("site") or any(word.startswith("-") for word in words):
            return None
        whole = subprocess.run([snapdiff, "--db", ":memory:", "trend", *words, "--as", "json"], capture_output=True, text=True, check=False).stdout
        story = (json.loads(whole).get("story") or {}) if whole else {}
        has_place = any(one.get("file") and one.get("line") for one in story.get("culprits") or [])
        server = Server(snapdiff, str(case))
        server.call("trend", paths=words)
        if server.failed:
            server.call("diff", paths=words)
        count = bytes_until(server.printed, truth["leak"]["site"], has_place)
        if count is None:
            server.call("culprit", of="r1")
            count = bytes_until(server.printed, truth["leak"]["site"], has_place)
        server.process.stdin.close()
        server.process.wait()
        server.process.stdout.close()
        return {"case": folder.name, "bytes": count, "place": has_place, "json": len(whole.encode())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapdiff", required=True, type=os.path.abspath)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    score, rows = real_cases(), {}
    for folder in sorted({one.parent for top in arguments.folders for one in top.resolve().glob("*/truth.json")}, key=lambda one: one.name):
        row = None if folder.name in rows else measure(arguments.snapdiff, folder, score)
        if row:
            rows[folder.name] = row
            print(f"{row['case']:<48} {row['bytes'] or 'not named':>9}  {'name, file, line' if row['place'] else 'name':<16}  JSON {row['json']:>8}", flush=True)
    counts = [row["bytes"] or float("inf") for row in rows.values()]
    print(f"{len(counts)} cases: median {statistics.median(counts)} bytes, JSON {statistics.median(row['json'] for row in rows.values())}; "
          f"not named {counts.count(float('inf'))}")


if __name__ == "__main__":
    main()

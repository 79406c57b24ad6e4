#!/usr/bin/env python3
"""snapdiff against Python's own tracemalloc, stack by stack.

  compare_tracemalloc.py SNAPDIFF FOLDER...

Every *.tracemalloc file below the folders, each pair of neighbours of a series, and dumps of made-up traces in all
layouts and pickle protocols. Folders that are absent are skipped with a line. Ends 1 at the first difference.
"""
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tracemalloc_oracle as oracle
from heap_files import rounds


class Failed(Exception):
    pass


def run(binary, *arguments):
    command = [binary, "--db", ":memory:", "--allocator-frames", "show", *arguments, "--as", "json", "-n", "0"]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout.decode("utf-8", "replace"))


def shown(name):
    """A name as it comes out of JSON: surrogates are no UTF-8, and are replaced byte by byte."""
    return name.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def key_of(frames, cut):
    return tuple((shown(file), line) for file, line in frames) + ((("[stack cut]", 0),) if cut else ())


def place(frame):
    return (frame["file"] or frame["function"], frame["line"] or 0)


def by_stack(sums):
    """Domains together, as rows by stack are."""
    out = {}
    for (_, frames, cut), (blocks, size) in sums.items():
        entry = out.setdefault(key_of(frames, cut) or (("[no stack recorded]", 0),), [0, 0])
        entry[0] += blocks
        entry[1] += size
    return out


def expect(what, found, wanted):
    if found == wanted:
        return
    for key in sorted(set(found) | set(wanted), key=str):
        if found.get(key) != wanted.get(key):
            raise Failed(f"{what}: {key}: found {found.get(key)}, expected {wanted.get(key)}")


def check_file(binary, path, count=1):
    dumps = oracle.read(path)
    if len(dumps) != count:
        raise Failed(f"{path}: the oracle finds {len(dumps)} dumps")
    for number, sums in enumerate(dumps):
        operand = path if count == 1 else f"{path}@{number + 1}"
        if not sums:
            continue
        report = run(binary, "top", operand, "--recursion", "show")
        found = {tuple(place(frame) for frame in row["stack"]): [row["objects"], row["value"]] for row in report["rows"]}
        expect(path, found, by_stack(sums))
        if report["total"] != sum(size for _, size in sums.values()):
            raise Failed(f"{path}: total {report['total']}")
        if not any("native memory" in note["text"] for note in report["notes"]):
            raise Failed(f"{path}: no word about native memory")
        domains = {}
        for (domain, _, _), (_, size) in sums.items():
            domains[domain] = domains.get(domain, 0) + size
        by_label = run(binary, "top", operand, "--by", "label:domain")
        found = {}
        for row in by_label["rows"]:
            found[int(row["key"]) if row["key"].isdigit() else 0] = row["flat"]
        expect(path + " by domain", found, domains)
    lines = oracle.by_line(path) if count == 1 else None
    if lines:
        report = run(binary, "top", path, "--by", "line")
        found = {row["key"]: row["flat"] for row in report["rows"] if row["flat"] != 0}
        wanted = {shown(file) + (f":{line}" if line else ""): size for (file, line), (_, size) in lines.items() if size != 0}
        unknown = wanted.pop("<unknown>", 0)
        if unknown:
            wanted["[no stack recorded]"] = wanted.get("[no stack recorded]", 0) + unknown
        found.pop("[stack cut]", None)
        expect(path + " by line", found, wanted)


def check_pair(binary, before, after):
    a, b = by_stack(oracle.read(before)[0]), by_stack(oracle.read(after)[0])
    report = run(binary, "diff", before, after, "--recursion", "show")
    found = {}
    for row in report["rows"]:
        found[tuple(place(frame) for frame in row["stack"])] = [row["growth_objects"], row["growth"]]
    wanted = {}
    for key in set(a) | set(b):
        wanted[key] = [b.get(key, [0, 0])[i] - a.get(key, [0, 0])[i] for i in (0, 1)]
    moved = {key: value for key, value in wanted.items() if value[1] != 0}
    expect(f"{before} -> {after}", {key: value for key, value in found.items() if value[1] != 0}, moved)
    if not any("native memory" in note["text"] for note in report["notes"]):
        raise Failed(f"{after}: the comparison has no word about native memory")


def made_up(rng, layout):
    files = ["a.py", "/srv/app/b.py", "C:\\app\\c.py", "<frozen x>", "/srv/\udcff.py", "/srv/é.py", "/" + "long/" * 60 + "d.py"]
    # Tracebacks are shared between traces, frames are not: as the real ones.
    tracebacks = [tuple((rng.choice(files), rng.choice([1, 2, 300, 70000])) for _ in range(rng.randint(1, 30)))
                  for _ in range(rng.randint(1, 20))] + [(("<unknown>", 0),)]
    traces = []
    for _ in range(rng.choice([0, 1, 2, 999, 1000, 1001, 2500])):
        frames = rng.choice(tracebacks)
        size = rng.choice([0, 1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**40])
        domain = rng.choice([0, 0, 0, 0, 389047, 7])
        total = len(frames) + rng.choice([0, 0, 0, 5])
        traces.append({2: (size, frames), 3: (domain, size, frames), 4: (domain, size, frames, total)}[layout])
    return traces


def main():
    binary, folders = os.path.abspath(sys.argv[1]), sys.argv[2:]
    files = 0
    for folder in folders:
        if not os.path.isdir(folder):
            print(f"skipped: no {folder}")
            continue
        series = {}
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.tracemalloc"), recursive=True)):
            check_file(binary, path)
            files += 1
            series.setdefault(re.sub(r"step\d+", "", path), []).append(path)
        for paths in series.values():
            for before, after in rounds(zip(paths, paths[1:]), 1, "pairs of a series"):
                check_pair(binary, before, after)
    rng = random.Random(20)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made-up.tracemalloc")
        for layout in (2, 3, 4):
            for protocol in (2, 3, 4, 5):
                for _ in rounds(range(2), 1, "dumps of a layout"):
                    oracle.write(path, made_up(rng, layout), protocol=protocol)
                    check_file(binary, path)
                    files += 1
        oracle.write(path, tuple(made_up(rng, 4)))
        check_file(binary, path)
        oracle.write(path, made_up(rng, 3)[:900] + [(0, 1, (("a.py", 1),))])
        oracle.write(path, made_up(rng, 4)[:900] + [(0, 1, (("a.py", 1),), 1)], mode="ab")
        check_file(binary, path, count=2)
    print(f"{files} dumps agree with Python's tracemalloc")


if __name__ == "__main__":
    try:
        main()
    except Failed as failed:
        print(f"FAILED: {failed}")
        sys.exit(1)

"""By hand: snapdiff beside memray itself, for each version that is given.

    compare_memray.py SNAPDIFF PYTHON [PYTHON…]     each PYTHON has one version of memray; or DIR of `pip install --target DIR memray==VERSION`
For plain, --native, --aggregate and both: what is in use at the end equals `transform csv --leaks` and `flamegraph --leaks`, what was allocated equals
`stats --json` (which refuses aggregated files). Times of one run of each reader over the largest recording are printed beside."""
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile

WORK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "memray", "work.py")
MODES = {"plain": [], "native": ["--native"], "aggregated": ["--aggregate"], "both": ["--native", "--aggregate"]}


def run(command, **more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(snapdiff, python):
    where = {**os.environ}
    if os.path.isdir(python):
        where["PYTHONPATH"], python = python, sys.executable
    memray = [python, "-m", "memray"]
    version = run(memray + ["--version"], env=where)[0].stdout.decode().split()[-1]
    equal, wrong = 0, []
    for mode, options in MODES.items():
        with tempfile.TemporaryDirectory() as folder:
            at = lambda name: os.path.join(folder, name)
            run(memray + ["run", "-q", *options, "-o", at("x.bin"), WORK, "600"], env=where)
            told, own = run([snapdiff, "info", at("x.bin"), "--as", "json"])
            totals = json.loads(told.stdout)["snapshots"][0]["totals"] if told.returncode == 0 else {}
            _, theirs = run(memray + ["transform", "csv", "--leaks", "-o", at("x.csv"), at("x.bin")], env=where)
            with open(at("x.csv"), encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            leaks = sum(int(row["size"]) for row in rows), sum(int(row["num_allocations"]) for row in rows)
            counts = not {"--aggregate"} & set(options)  # its CSV counts one object for each sum of an aggregated file
            figures = [(totals.get("inuse_space"), leaks[0])] + ([(totals.get("inuse_objects"), leaks[1])] if counts else [])
            run(memray + ["flamegraph", "--leaks", "-o", at("x.html"), at("x.bin")], env=where)
            with open(at("x.html"), encoding="utf-8") as file:
                page = json.loads(re.search(r"const packed_data = (\{.*?\});\n", file.read(), re.S).group(1))
            figures.append((totals.get("inuse_space"), page["nodes"]["value"][0]))
            if counts:
                run(memray + ["stats", "--json", "-o", at("x.json"), at("x.bin")], env=where)
                with open(at("x.json"), encoding="utf-8") as file:
                    stats = json.load(file)
                figures += [(totals.get("alloc_space"), stats["total_bytes_allocated"]), (totals.get("alloc_objects"), stats["total_num_allocations"])]
            wrong += [(mode, *pair) for pair in figures if pair[0] != pair[1]]
            equal += len(figures)
            if mode == "native":
                times = "CPU seconds of one reading: %.2f, memray %.2f" % (own, theirs)
    print(version, "%d figures, %d differ;" % (equal, len(wrong)), times, *wrong)
    return not wrong


if __name__ == "__main__":
    results = [compare(sys.argv[1], python) for python in sys.argv[2:]]
    sys.exit(0 if all(results) else 1)

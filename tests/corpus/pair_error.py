#!/usr/bin/env python3
"""How often the ± of a culprit's growth covers the truth, on two live profiles of one sampled Go process seconds apart.

  tests/corpus/pair_error.py --snapdiff PATH [--runs 200] [--seed 1] [--growth MIB ...]

Each run draws a program with one leaking line and much that stays or comes and goes, samples it at 512 KiB, and compares
the profiles. Printed for each size of the leak: how often growth ± 1.96 standard deviations holds the true growth (a right
± covers it in 90 to 99 %), how often the leak is named first, how often nothing is named.
"""
import argparse
import json
import math
import multiprocessing
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib import cases, languages, names, scoring, write_profiles  # noqa: E402
from lib.answer import from_story, run_json  # noqa: E402
from lib.heap import Recorded  # noqa: E402
from lib.program import Program, Scale  # noqa: E402

RATE = 524288
MIB = 1 << 20


def draw(rng, growth):
    """A program whose leak grows by `growth` bytes between two snapshots beside 200 to 800 MiB of other things."""
    heap = rng.uniform(200, 800) * MIB
    program = Program(rng, languages.Go(rng), range(2), Scale(heap))
    program.leak("linear", "single", growth)
    for what in ("churn", "constant", "slow_turnover"):
        program.harmless(what, heap * rng.uniform(0.05, 0.2))
    program.background(heap * rng.uniform(0.4, 0.8))
    return program


def true_growth(program):
    return sum(c.count * c.size for site in program.sites if site.leak == 0 for c in site.cohorts if c.born == 1)


def estimate(diff, truth):
    """(growth, one standard deviation) of the leak: of the named culprit where the story gives both, else of its rows."""
    story = diff.get("story") or {}
    for culprit in story.get("culprits", ()):
        error = culprit.get("error", culprit.get("growth_error"))
        if error is not None and names.culprit_of(culprit.get("name"), culprit.get("file"), culprit.get("line"), truth) == 0:
            return culprit["growth"], error
    growth = variance = 0
    for row, json_row in zip(read_rows(diff), diff["rows"]):
        if scoring.leak_of_row(row, truth) == 0:
            growth, variance = growth + json_row["growth"], variance + (json_row.get("error") or 0) ** 2
    return growth, math.sqrt(variance)


def one(job):
    snapdiff, seed, growth = job
    rng = random.Random(f"pair:{seed}:{growth}")
    program = draw(rng, growth * MIB)
    recorded = [r for r in (Recorded(site, 2, RATE, rng) for site in program.sites) if r.ever()]
    run = cases.Run(range(2), RATE, 3.0, recorded)
    truth = dict(cases.stack_truth(program, recorded), family="stacks", by_line=False)
    with tempfile.TemporaryDirectory() as folder:
        diff = run_json(snapdiff, [*write_profiles.write_go(run, folder), "-n", "0"], folder)
    found, error = estimate(diff, truth)
    if not truth["culprits"][0]["accepted"]:  # not one sample of it
        return {"covered": covers(found, error, program), "first": False, "nothing": True, "ratio": 0.0}
    named, _ = from_story(diff.get("story") or {})
    first = bool(named) and names.culprit_of(named[0].function, named[0].file, named[0].line, truth) == 0
    return {"covered": covers(found, error, program), "first": first, "nothing": not named, "ratio": error / true_growth(program)}


def covers(found, error, program):
    return abs(found - true_growth(program)) <= 1.96 * error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--snapdiff", default=os.environ.get("SNAPDIFF", "snapdiff"))
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--growth", type=float, nargs="+", default=[4.0, 16.0, 64.0], help="MiB")
    parser.add_argument("--as", dest="form", choices=("text", "json"), default="text")
    options = parser.parse_args()
    snapdiff = os.path.abspath(options.snapdiff) if os.sep in options.snapdiff else shutil.which(options.snapdiff)
    out = {}
    with multiprocessing.Pool() as pool:
        for growth in options.growth:
            results = pool.map(one, [(snapdiff, f"{options.seed}:{i}", growth) for i in range(options.runs)], chunksize=4)
            out[growth] = {key: scoring.share(r[key] for r in results) for key in ("covered", "first", "nothing")}
            out[growth]["error"] = sum(r["ratio"] for r in results) / len(results)
    if options.form == "json":
        print(json.dumps(out, indent=1))
        return
    print(f"{options.runs} pairs of profiles for each size of the leak, sampled every 512 KiB; shares with Wilson 95 % intervals")
    for growth, figures in out.items():
        shares = ", ".join(f"{label} {100 * figures[key]['share']:.0f} % [{100 * figures[key]['low']:.0f}, {100 * figures[key]['high']:.0f}]"
                           for label, key in (("± covers the truth", "covered"), ("named first", "first"), ("nothing named", "nothing")))
        print(f"  leak of {growth:g} MiB ({growth * MIB / RATE:.0f} samples): {shares}; mean ± {100 * figures['error']:.0f} % of the growth")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes pairs of builds, compares them and scores the joining. See README.md beside this file."""

import argparse
import concurrent.futures
import json
import pathlib
import random
import shutil
import sys
import tempfile
import time

import edits
import languages as lang
import program as programs
import score as scores
import stages

OFTEN = "comment_top lines_inside lines_between lines_gone swap_sites reorder rename move_function split_helper " \
        "inline_callee parameter move_files rename_files middleware release".split()


def plan():
    """(language, edit) -> old build, new build, edit of the source, whether the new one lies elsewhere, and the module that
    makes the program and edits it."""
    out = {}

    def add(name, edit, old, new, change="nothing", elsewhere=False, kind=edits):
        out[name, edit] = (old, new, change, elsewhere, kind)

    for edit in OFTEN + ["rename_space", "rename_type"]:
        add("C++", edit, lang.Cpp(), lang.Cpp(), edit)
        add("Go", edit, lang.Go(), lang.Go(), edit)
        add("Node", edit, lang.Node(), lang.Node(), edit)
        add("Rust", edit, lang.Rust(), lang.Rust(), edit)
        if edit != "rename_type":
            add("Python", edit, lang.Python(), lang.Python(), edit)
    for level in ("-O0", "-O3"):
        for edit in ("lines_inside", "release"):
            add("C++", f"{edit} {level}", lang.Cpp(level=level), lang.Cpp(level=level), edit)
    for edit in ("comment_top", "lines_inside", "rename", "release", "nothing", "elsewhere"):
        add("C++ text", edit, lang.CppText(), lang.CppText(), edit if edit in edits.SOURCE else "nothing",
            edit == "elsewhere")
    add("C++", "-O0 to -O2", lang.Cpp(level="-O0"), lang.Cpp())
    add("C++", "-O1 to -O2", lang.Cpp(level="-O1"), lang.Cpp())
    add("C++", "-O2 to -O3", lang.Cpp(), lang.Cpp(level="-O3"))
    add("C++", "g++ to clang++", lang.Cpp(), lang.Cpp("clang++"))
    add("C++", "clang++ release", lang.Cpp("clang++"), lang.Cpp("clang++"), "release")
    add("C++", "-flto", lang.Cpp(), lang.Cpp(lto=True))
    add("Go", "without inlining", lang.Go(["-gcflags=-l"]), lang.Go())
    add("Go", "-trimpath", lang.Go(), lang.Go(["-trimpath"]))
    add("Node", "bundled", lang.Node(), lang.Node(bundled=True))
    add("Node", "bundled release", lang.Node(bundled=True), lang.Node(bundled=True), "release")
    add("Rust", "opt-level 1 to 3", lang.Rust("1"), lang.Rust("3"))
    for make, name in ((lang.Cpp, "C++"), (lang.Go, "Go"), (lang.Node, "Node"), (lang.Python, "Python"),
                       (lang.Rust, "Rust")):
        add(name, "nothing", make(), make())
        add(name, "elsewhere", make(), make(), "nothing", True)
    for make in (lang.StagesGo, lang.StagesNode, lang.StagesPython):
        for edit in stages.EDITS + ["nothing"]:
            add(make.name, edit, make(), make(), edit, kind=stages)
    return out


class Maker:
    """Builds and runs programs below one folder."""

    def __init__(self, folder, kept=None):
        self.folder, self.kept = folder, kept

    def profile(self, language, program, table, key, place):
        """(profile, arguments) of a run; the program stands at `place` while it is built and run."""
        if self.kept:
            keep = self.kept / key
            binary = keep / "prog"
            return next(keep.glob("heap*")), [str(binary)] if binary.exists() else []
        keep = self.folder / "kept" / key
        keep.mkdir(parents=True, exist_ok=True)
        stand = self.folder / place / "app"
        shutil.rmtree(stand, ignore_errors=True)
        stand.parent.mkdir(parents=True, exist_ok=True)
        language.emit(program, stand)
        language.build(stand)
        out = language.profile(stand, table, keep / "heap")
        symbols = []
        if language.arguments(stand):
            shutil.copy(stand / "prog", keep / "prog")
            symbols = [str(keep / "prog")]
        return out, symbols


def planted_table(table, new_site, sibling, seed):
    """The table of the new run: 5 % of the heap more at one path, and one new leak of as much."""
    rng = random.Random(seed)
    again = programs.run_again(table, seed + 1)
    other_size = {p.steps[-1] for p in again if rng.random() < 0.12}  # objects of a release have new members
    for path in again:
        path.size += 40 if path.steps[-1] in other_size else 0
    total = sum(p.size * p.count for p in again)
    grown = rng.choice([p for p in again if p.size > 100])
    grown.count += max(1, round(total * 0.05 / grown.size))
    beside = rng.choice([p for p in again if p.steps[-1] == sibling])
    leak = programs.Path(beside.steps[:-1] + (new_site,), 640, max(1, round(total * 0.05 / 640)))
    return programs.tell_apart(again + [leak]), [grown.steps, leak.steps]


def kept_at(keep, name, edit, seed):
    return pathlib.Path(keep) / f"{name}.{edit}.{seed}".replace(" ", "_")


class Names:
    """What joining by names alone gives, kept beside the profiles: it does not change with the program under test."""

    def __init__(self, shares):
        self.kept = shares

    def shares(self):
        return self.kept


def by_names(target, snapdiff, a, b, symbols, old, new):
    kept = target / "names.json" if target else None
    if kept and kept.exists():
        return Names(json.loads(kept.read_text()))
    shares = scores.by_names(snapdiff, a, b, symbols, old, new).shares()
    if kept:
        kept.write_text(json.dumps(shares))
    return Names(shares)


def one_pair(task):
    name, edit, seed, snapdiff, keep, verbose = task
    old_build, new_build, change, elsewhere, kind = plan()[name, edit]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="builds-"))
    try:
        program = kind.make(seed)
        table = kind.paths(program, seed)
        rng = random.Random(f"{seed} {edit} {name}")
        other = program.copy()
        planted = []
        again = programs.run_again(table, seed + 1)
        if change != "nothing":
            site, sibling = kind.grow(other, rng, {p.steps[-1] for p in table})
            again, planted = planted_table(table, site, sibling, seed)
            getattr(kind, change)(other, rng)
        target = kept_at(keep, name, edit, seed) if keep else None
        maker = Maker(folder, target if target and target.exists() else None)
        a, symbols_a = maker.profile(old_build, program, table, "old", "build")
        b, symbols_b = maker.profile(new_build, other, again, "new", "other/place" if elsewhere else "build")
        old = scores.Truth(program, table, old_build)
        new = scores.Truth(other, again, new_build)
        symbols = symbols_a + symbols_b
        if target and not target.exists():  # whatever comes of them: a pair that cannot be compared is to be looked at
            shutil.copytree(folder / "kept", target)
        begin = time.time()
        score, places, culprit = scores.compare(snapdiff, a, b, symbols, old, new, planted)
        took = time.time() - begin
        names = by_names(target, snapdiff, a, b, symbols, old, new)
        return name, edit, seed, score, places + [culprit] if planted else [], names, took, None
    except lang.Missing as missing:
        return name, edit, seed, None, None, None, 0, f"{missing} is not installed"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def line(title, score, names, places=None, verbose=False):
    right, wrong, unmatched = score.shares()
    n_right, n_wrong, _ = names.shares()
    tiers = " ".join(f"{t} {100 * v / score.all:.0f}" for t, v in sorted(score.tiers.items()))
    text = (f"{title:36} {100 * right:6.2f} {100 * wrong:6.2f} {100 * unmatched:6.2f} {100 * score.merged / score.all:7.1f}"
            f" {100 * score.unresolved / score.all:7.1f} {100 * score.false_growth():7.2f}   {100 * n_right:6.1f}"
            f" {100 * n_wrong:5.1f}   {'/'.join(map(str, places or []))}  {tiers}")
    print(text)


class Mean:
    """The mean of several pairs, each counting alike."""

    def __init__(self):
        self.n, self.sum = 0, [0.0] * 8

    def add(self, score, names):
        right, wrong, unmatched = score.shares()
        n_right, n_wrong, _ = names.shares()
        values = [right, wrong, unmatched, score.merged / score.all, score.unresolved / score.all,
                  score.false_growth(), n_right, n_wrong]
        self.n += 1
        self.sum = [a + b for a, b in zip(self.sum, values)]

    def print(self, title):
        v = [100 * x / self.n for x in self.sum]
        print(f"{title + f' ({self.n})':36} {v[0]:6.2f} {v[1]:6.2f} {v[2]:6.2f} {v[3]:7.1f} {v[4]:7.1f} {v[5]:7.2f}"
              f"   {v[6]:6.1f} {v[7]:5.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("snapdiff")
    parser.add_argument("--seeds", default="1", help="e.g. 5 or 5,6,7")
    parser.add_argument("--languages", default="", help="e.g. C++,Go; all without")
    parser.add_argument("--edits", default="", help="e.g. rename,release; all without")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", help="a folder for the profiles; those in it are used again")
    parser.add_argument("--kept", action="store_true", help="only pairs whose profiles are there: minutes instead of hours")
    parser.add_argument("--floors", help="NAME:RIGHT:WRONG in percent, comma-separated; exit 1 below or above them")
    parser.add_argument("-v", "--verbose", action="store_true", help="what was joined wrongly or not at all")
    options = parser.parse_args()
    languages = set(filter(None, options.languages.split(",")))
    wanted = set(filter(None, options.edits.split(",")))
    tasks = [(name, edit, int(seed), options.snapdiff, options.keep, options.verbose)
             for seed in options.seeds.split(",") for name, edit in plan()
             if (not languages or name in languages) and (not wanted or edit in wanted)
             and (not options.kept or kept_at(options.keep, name, edit, seed).exists())]
    head = f"{'':36}  right  wrong  unm.    merged unsolved  false    names wrong   planted; tiers"
    means, per_edit, skipped, worse, culprits = {}, {}, {}, [], []
    print(head)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for name, edit, seed, score, places, names, took, missing in pool.map(one_pair, tasks):
            if missing:
                skipped[name] = missing
                continue
            line(f"{name}, {edit} #{seed}", score, names, places)
            sys.stdout.flush()
            means.setdefault(name, Mean()).add(score, names)
            per_edit.setdefault(edit, Mean()).add(score, names)
            if score.shares()[0] + 1e-9 < names.shares()[0] or score.shares()[1] > 0.005:
                worse.append(f"{name}, {edit} #{seed}")
            culprits += places[-1:]
            if options.verbose:
                for size, tier, label, path in sorted(score.mistakes, reverse=True)[:6]:
                    print(f"    wrong {100 * size / score.all:.2f} % {tier} {path} {label[:300]}")
                for size, path, label in sorted(score.lost, reverse=True)[:8]:
                    print(f"    lost  {100 * size / score.all:.2f} % {path} {label[:300]}")
    print()
    print(head)
    for edit, mean in sorted(per_edit.items()):
        mean.print(edit)
    print()
    for name, mean in means.items():
        mean.print(name)
    if culprits:
        print(f"the first culprit is what was planted in {culprits.count(1)} of {len(culprits)} pairs, one of them in "
              f"{sum(place != scores.NOWHERE for place in culprits)}")
    for name, why in skipped.items():
        print(f"{name}: skipped, {why}")
    print(f"worse than names alone, or more than 0.5 % wrong: {len(worse)} pairs: {'; '.join(worse)}")
    return floors_hold(options.floors, means)


def floors_hold(floors, means):
    status = 0
    for floor in filter(None, (floors or "").split(",")):
        name, right, wrong = floor.replace("_", " ").split(":")
        if name not in means:
            continue
        mean = means[name]
        if 100 * mean.sum[0] / mean.n < float(right) or 100 * mean.sum[1] / mean.n > float(wrong):
            print(f"{name}: below its floor of {right} % right, or above {wrong} % wrong")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

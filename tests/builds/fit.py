#!/usr/bin/env python3
"""Fits the weights of analyzer/diff/rebuild: how much the objects of two stacks say for one site (score.cpp), and how much
calls and places say for two lines of one function (score.hpp).

Pairs are labelled by the numbers of the programs, never by names: a path of the old run with the same path of the new one, or
with another path that ends in the same function; a line of the old build with the same line of the new one, or with another
line of its function. The weights are those of a logistic regression on programs of program.py; the programs of stages.py are
held out. Prints the tables with standard errors. One in 50 of the same is taken to hold anything: a recorded heap varies more
than these programs do.
"""

import collections
import math
import random

import edits
import program as programs
import run
import stages

SIZES = ["equal", "grown", "other"]
TIMES = [0.12, 0.25]  # of the logarithm of the number of objects: upper ends
FEW = 2  # objects: as many more or less say little
GROWN = 0.25  # of the smaller size
ANYTHING = 0.02
EDITS = ["lines_inside", "lines_gone", "swap_sites", "split_helper", "inline_callee", "release"]


def cell(old, new):
    """The places of the two features of a pair that are 1."""
    change = abs(old.size - new.size)
    size = 0 if change == 0 else 1 if change <= GROWN * min(old.size, new.size) else 2
    times = abs(math.log((new.count + FEW) / (old.count + FEW)))
    return size, len(SIZES) + sum(times > end for end in TIMES)


def labelled(kind, seeds):
    """Cell -> how many pairs of others and of the same."""
    cells = collections.defaultdict(lambda: [0.0, 0.0])
    for seed in seeds:
        program = kind.make(seed)
        table = kind.paths(program, seed)
        site, sibling = (edits if kind is programs else kind).grow(program, random.Random(seed), {p.steps[-1] for p in table})
        again, _ = run.planted_table(table, site, sibling, seed)
        owner = {s.uid: f.uid for f in program.functions() for s in f.steps}
        by_leaf = collections.defaultdict(list)
        for path in again:
            by_leaf[owner[path.steps[-1]]].append(path)
        for old in table:
            for new in by_leaf[owner[old.steps[-1]]]:
                cells[cell(old, new)][old.steps == new.steps] += 1
    return cells


def with_anything(cells):
    others, same = (sum(c[label] for c in cells.values()) for label in (0, 1))
    return {k: [c[0], c[1] * (1 - ANYTHING) + c[0] / others * same * ANYTHING] for k, c in cells.items()}


def solve(matrix, columns):
    """Gauss and Jordan: matrix^-1 * columns."""
    n = len(matrix)
    rows = [list(a) + list(b) for a, b in zip(matrix, columns)]
    for i in range(n):
        best = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[best] = rows[best], rows[i]
        rows[i] = [v / rows[i][i] for v in rows[i]]
        for r in range(n):
            if r != i:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i])]
    return [row[n:] for row in rows]


def fit(samples, ridge=0.1, rounds=25):
    """Weights and standard errors of (features, label, weight)."""
    n = len(samples[0][0])
    w = [0.0] * n
    for _ in range(rounds):
        hessian = [[ridge * (i == j) for j in range(n)] for i in range(n)]
        meat = [[0.0] * n for _ in range(n)]
        gradient = [-ridge * v for v in w]
        for x, label, weight in samples:
            p = 1 / (1 + math.exp(-sum(a * b for a, b in zip(w, x))))
            for i in range(n):
                if x[i] == 0:
                    continue
                gradient[i] += weight * (label - p) * x[i]
                for j in range(n):
                    hessian[i][j] += weight * p * (1 - p) * x[i] * x[j]
                    meat[i][j] += weight * (label - p) ** 2 * x[i] * x[j]
        step = solve(hessian, [[g] for g in gradient])
        w = [a + max(-2.0, min(2.0, b[0])) for a, b in zip(w, step)]
    bread = solve(hessian, [[float(i == j) for j in range(n)] for i in range(n)])
    spread = [sum(bread[k][i] * meat[i][j] * bread[k][j] for i in range(n) for j in range(n)) for k in range(n)]
    return w, [math.sqrt(v) for v in spread]


def of_cells(cells):
    """Both labels weigh alike, so that the sum of the weights is a log-likelihood ratio."""
    n = len(SIZES) + len(TIMES) + 1
    sums = [sum(c[label] for c in cells.values()) for label in (0, 1)]
    return [([float(i in places) for i in range(n)], label, count * sum(sums) / 2 / sums[label])
            for places, counts in cells.items() for label, count in enumerate(counts) if count]


def lines_of(program, used):
    """Function -> its lines that paths go through: (number, place, what it calls; -1 where it allocates)."""
    return {f.uid: [(s.uid, k, s.callee or -1) for k, s in enumerate(f.steps) if s.uid in used] for f in program.functions()}


def labelled_lines(kind, seeds):
    """(features, label, weight) of pairs of lines of one function; both labels weigh alike."""
    cells = collections.defaultdict(lambda: [0.0, 0.0])
    for seed in seeds:
        old = kind.make(seed)
        used = {uid for path in kind.paths(old, seed) for uid in path.steps}
        for edit in EDITS if kind is programs else kind.EDITS:
            new, rng = old.copy(), random.Random(f"{seed} {edit}")
            getattr(edits if kind is programs else kind, edit)(new, rng)
            before, after = lines_of(old, used), lines_of(new, used)
            for function in before.keys() & after.keys():
                there = {uid: k for uid, k, _ in after[function]}
                last = None  # the pair before, which is the same line
                for uid, k, callee in before[function]:
                    for other, at, other_callee in after[function]:
                        alike = last is not None and at - last[1] == k - last[0]
                        cells[float(callee == other_callee), float(alike), 1.0][uid == other] += 1
                    if uid in there:
                        last = k, there[uid]
    cells = with_anything(cells)
    sums = [sum(c[label] for c in cells.values()) for label in (0, 1)]
    return [(x, label, count * sum(sums) / 2 / sums[label]) for x, counts in cells.items() for label, count in enumerate(counts)]


def table_of(names, weights, errors):
    for name, value, error in zip(names, weights, errors):
        print(f"    {name:14} {value:6.2f} +- {error:.2f}")


def tell(w, samples, what):
    """How many pairs it has on the right side of 0."""
    right, all_of = [0.0, 0.0], [1e-9, 1e-9]
    for x, label, weight in samples:
        all_of[label] += weight
        right[label] += weight if (sum(a * b for a, b in zip(w, x)) > 0) == bool(label) else 0
    print(f"    {what}: {100 * right[1] / all_of[1]:.1f} % of the same, {100 * right[0] / all_of[0]:.1f} % of the others")


def main():
    w, errors = fit(of_cells(with_anything(labelled(programs, range(1, 41)))))
    table_of([f"size {s}" for s in SIZES] + [f"count <= {t}" for t in TIMES] + ["count more"], w, errors)
    for kind in (programs, stages):
        tell(w, of_cells(labelled(kind, range(1001, 1021))), kind.__name__)
    w, errors = fit(labelled_lines(programs, range(1, 41)))
    table_of(["same call", "moved alike", "(any pair)"], w, errors)
    for kind in (programs, stages):
        tell(w, labelled_lines(kind, range(1001, 1021)), kind.__name__)


if __name__ == "__main__":
    main()

"""Rules that need no model, on the same rows: what they would put first, and on which series they would raise an alarm."""
import math

FLOOR = 0.002  # of the last total: below it no rule looks


def known(row):
    return [v for v in row.values if v is not None]


def strictly_monotone(values):
    return all(b > a for a, b in zip(values, values[1:]))


def mann_kendall(values):
    """One-sided p < 0.05 by the normal approximation with ties."""
    n = len(values)
    s = sum((b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1:])
    ties = [values.count(v) for v in set(values)]
    variance = (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties)) / 18
    return variance > 0 and s > 0 and 0.5 * math.erfc((s - 1) / math.sqrt(variance) / math.sqrt(2)) < 0.05


def r_squared(values):
    n = len(values)
    mean_t, mean = (n - 1) / 2, sum(values) / n
    sxy = sum((i - mean_t) * (v - mean) for i, v in enumerate(values))
    syy = sum((v - mean) ** 2 for v in values)
    return syy > 0 and sxy > 0 and sxy * sxy / (syy * sum((i - mean_t) ** 2 for i in range(n))) > 0.8


RULES = {"strictly monotone": strictly_monotone, "Mann-Kendall p < 0.05": mann_kendall, "R² > 0.8": r_squared}


def flagged(rule, rows):
    """Rows past the floor that the rule calls growth, largest growth first."""
    total = sum(known(row)[-1] for row in rows if known(row))
    chosen = [row for row in rows if len(known(row)) >= 3 and row.growth() >= max(1, FLOOR * total) and RULES[rule](known(row))]
    return sorted(chosen, key=lambda row: -row.growth())


def largest_flat(rows):
    """The leaf function with the largest growth, as pprof -top -diff_base shows it: (function, file, line)."""
    sums = {}
    for row in rows:
        leaf = row.frames[0]
        growth, example = sums.get(leaf[0], (0, leaf))
        sums[leaf[0]] = (growth + row.growth(), example)
    best = max(sums.values(), key=lambda pair: pair[0], default=None)
    return best[1] if best and best[0] > 0 else None

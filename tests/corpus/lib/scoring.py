"""Scores one case, and adds scores up with Wilson intervals."""
import json
import math
import os

from lib import names, plain_rules
from lib.answer import ask

JUDGED = 8  # snapshots from which a verdict is given
LONG = 16   # snapshots from which nearly every leak is to be seen


def leak_of_row(row, truth):
    """Number of the culprit that this row is part of, or None."""
    if truth["family"] == "types":
        for number, culprit in enumerate(truth["culprits"]):
            if any(names.normal_type(row.frames[0][0]) == names.normal_type(name) for name in culprit["grows"]):
                return number
        return None
    for function, file, line in row.frames:
        number = names.culprit_of(function, file, line, truth)
        if number is not None:
            return number
    return None


def shape_of_row(row, truth):
    for function, file, _ in row.frames:
        kind = names.wrong_kind(function, file, truth)
        if kind.startswith("harmless"):
            return kind[len("harmless "):]
    return "unknown"


def score_case(job):
    """All that is counted of one case, as plain data. job = (snapdiff, folder of the case)."""
    snapdiff, folder = job
    with open(os.path.join(folder, "truth.json"), encoding="utf-8") as file:
        truth = json.load(file)
    answer = ask(snapdiff, truth, folder)
    named = [names.culprit_of(c.function, c.file, c.line, truth, c.held) for c in answer.culprits]
    out = {key: truth[key] for key in ("id", "format", "family", "kind", "spread", "n", "rate", "harmless", "slow", "source", "uneven")}
    out.update(error=answer.error, headline=answer.headline, judged=truth["n"] >= JUDGED,
               named=[c.function for c in answer.culprits[:5]])
    growing = [row for row in answer.rows if row.verdict == "GROWING"]
    leaks = [leak_of_row(row, truth) for row in growing]
    out["growing_rows"], out["rows"] = len(growing), len(answer.rows)
    out["growing_harmless"] = sum(leak is None for leak in leaks)
    said = [number for number, c in zip(named, answer.culprits) if c.verdict == "GROWING"]
    out["said_growing"], out["said_harmless"] = len(said), sum(number is None for number in said)
    out["alarms"] = [shape_of_row(row, truth) for row, leak in zip(growing, leaks) if leak is None]
    if not truth["harmless"]:
        out["wrong_first"] = "nothing named" if not named else "" if named[0] is not None else \
            names.wrong_kind(answer.culprits[0].function, answer.culprits[0].file, truth)
        out["first"], out["top3"] = bool(named) and named[0] is not None, any(n is not None for n in named[:3])
        out["culprits"] = [{"weak": c["weak"], "samples_a_step": (c["samples"] or 0) / max(1, truth["n"] - 1), "shape": c["shape"], "spread": c["spread"], "row_growing": number in leaks, "named": number in named,
                            "said_growing": any(k == number and a.verdict == "GROWING" for k, a in zip(named, answer.culprits))}
                           for number, c in enumerate(truth["culprits"])]
    out["plain"] = plain_scores(answer.rows, truth)
    return out


def plain_scores(rows, truth):
    """rule -> {first: right or not, alarm: whether a harmless row is flagged}."""
    flat = plain_rules.largest_flat(rows)
    scores = {"largest flat (pprof -top)": {"first": flat is not None and names.culprit_of(*flat, truth) is not None, "alarm": None}}
    largest = max(rows, key=lambda row: row.growth(), default=None)
    scores["row of largest growth"] = {"first": largest is not None and leak_of_row(largest, truth) is not None, "alarm": None}
    if rows:
        scores["first row of trend"] = {"first": leak_of_row(rows[0], truth) is not None, "alarm": None}
    for rule in plain_rules.RULES:
        flagged = plain_rules.flagged(rule, rows)
        scores[rule] = {"first": bool(flagged) and leak_of_row(flagged[0], truth) is not None,
                        "alarm": any(leak_of_row(row, truth) is None for row in flagged)}
    return scores


def wilson(hits, of):
    """95 % interval of a share."""
    if not of:
        return (0.0, 1.0)
    z, p = 1.96, hits / of
    middle, half = p + z * z / (2 * of), z * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return ((middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of))


def share(flags):
    """A list of booleans as {hits, of, share, low, high}."""
    flags = list(flags)
    hits, of = sum(map(bool, flags)), len(flags)
    low, high = wilson(hits, of)
    return {"hits": hits, "of": of, "share": hits / of if of else None, "low": low, "high": high}


def found(culprit):
    """Whether a leak was called GROWING anywhere: one of its rows, or the culprit itself."""
    return culprit["row_growing"] or culprit["said_growing"]


def may_be_asked(culprit):
    """Whether a sampled leak has a sample a step, and nothing else against a verdict."""
    few_samples = culprit["weak"].endswith(" samples a step")
    return culprit["samples_a_step"] >= 1 and (not culprit["weak"] or few_samples)


def by(rows, key, value):
    groups = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return {str(name): value(group) for name, group in sorted(groups.items(), key=lambda pair: str(pair[0]).rjust(40))}


def counts(words):
    out = {}
    for word in words:
        if word:
            out[word] = out.get(word, 0) + 1
    return dict(sorted(out.items(), key=lambda pair: (-pair[1], pair[0])))


def first_and_top(cases):
    return {"first": share(c["first"] for c in cases), "top3": share(c["top3"] for c in cases)}


def summary(results):
    """All figures of a list of case scores."""
    leaks, quiet = [r for r in results if not r["harmless"]], [r for r in results if r["harmless"]]
    long_leaks, pairs = [r for r in leaks if r["judged"]], [r for r in leaks if not r["judged"]]
    culprits = [dict(c, n=r["n"], rate=r["rate"], format=r["format"], family=r["family"]) for r in long_leaks for c in r["culprits"]]
    clear = [c for c in culprits if not c["weak"]]
    sampled = [c for c in culprits if c["rate"] and c["n"] >= LONG and may_be_asked(c)]
    clear_cases = [r for r in long_leaks if not all(c["weak"] for c in r["culprits"])]
    slow, fast = [r for r in quiet if r["slow"]], [r for r in quiet if not r["slow"]]
    out = {
        "cases": len(results), "leak_cases": len(leaks), "harmless_cases": len(quiet), "formats": len({r["format"] for r in results}),
        "errors": [f"{r['id']}: {r['error']}" for r in results if r["error"]],
        "answer": {"all": first_and_top(leaks), "series": first_and_top(long_leaks), "clear": first_and_top(clear_cases), "pairs": first_and_top(pairs),
                   "stacks": first_and_top([r for r in long_leaks if r["family"] == "stacks"]), "types": first_and_top([r for r in long_leaks if r["family"] == "types"]),
                   "by_format": by(leaks, lambda r: r["format"], first_and_top), "by_n": by(leaks, lambda r: r["n"], first_and_top),
                   "by_shape": by(long_leaks, lambda r: r["kind"], first_and_top), "by_spread": by(leaks, lambda r: r["spread"], first_and_top),
                   "by_times": by(long_leaks, lambda r: "uneven" if r["uneven"] else "even", first_and_top), "by_source": by(leaks, lambda r: r["source"], first_and_top),
                   "every_culprit": share(c["named"] for r in leaks for c in r["culprits"]), "wrong_first": counts(r["wrong_first"] for r in leaks)},
        "growing": {"recall": share(found(c) for c in clear), "recall_with_weak": share(found(c) for c in culprits),
                    "recall_said": share(c["said_growing"] for c in clear), "recall_by_n": by(clear, lambda c: c["n"], lambda g: share(found(c) for c in g)),
                    "recall_long": share(found(c) for c in clear if c["n"] >= LONG),
                    "recall_long_sampled": share(found(c) for c in sampled),
                    "recall_by_shape": by(clear, lambda c: c["shape"], lambda g: share(found(c) for c in g)),
                    "precision": share([True] * sum(r["growing_rows"] - r["growing_harmless"] for r in long_leaks) + [False] * sum(r["growing_harmless"] for r in long_leaks)),
                    "precision_said": share([True] * sum(r["said_growing"] - r["said_harmless"] for r in long_leaks) + [False] * sum(r["said_harmless"] for r in long_leaks))},
        "harmless": {"uneven_series_with_growing_row": share(r["growing_harmless"] > 0 for r in quiet if r["uneven"]), "series_with_growing_culprit": share(r["said_growing"] > 0 for r in quiet), "series_with_growing_row": share(r["growing_harmless"] > 0 for r in fast), "slow_turnover_series": share(r["growing_harmless"] > 0 for r in slow),
                     "rows": share([True] * sum(r["growing_harmless"] for r in quiet) + [False] * sum(r["rows"] - r["growing_harmless"] for r in quiet)),
                     "by_kind": by(quiet, lambda r: r["kind"], lambda g: share(r["growing_harmless"] > 0 for r in g)),
                     "alarms_by_shape": counts(shape for r in results for shape in r["alarms"])},
        "headline": {"growing_on_clear_leaks": share(r["headline"] == "GROWING" for r in clear_cases),
                     "growing_and_right": share(r["headline"] == "GROWING" and r["first"] for r in clear_cases),
                     "growing_on_harmless": share(r["headline"] == "GROWING" for r in quiet),
                     "rising_on_harmless": share(r["headline"] == "RISING" for r in quiet)},
    }
    rules = {rule for r in results for rule in r["plain"]}
    out["plain"] = {rule: {"first": share(r["plain"].get(rule, {}).get("first") for r in leaks),
                           "first_series": share(r["plain"].get(rule, {}).get("first") for r in long_leaks),
                           "alarm": None if rule not in plain_rules.RULES else share(r["plain"].get(rule, {}).get("alarm") for r in quiet)} for rule in sorted(rules)}
    return out

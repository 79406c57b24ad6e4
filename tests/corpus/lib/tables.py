"""The figures of a score as text."""


def percent(figure):
    if figure is None or figure["share"] is None:
        return "-"
    return f"{100 * figure['share']:.0f} % [{100 * figure['low']:.0f}, {100 * figure['high']:.0f}]  ({figure['hits']}/{figure['of']})"


def block(title, rows, columns=()):
    """A heading (with those of the columns) and its rows (name, figures ...)."""
    width = max([len(title)] + [len(name) + 2 for name, *_ in rows])
    out = [f"{title:<{width}}  " + "  ".join(f"{column:<28}" for column in columns)]
    return out + ["  " + f"{name:<{width}}" + "  ".join(f"{value:<28}" for value in values) for name, *values in rows]


def pairs(figures):
    return [(name, percent(f["first"]), percent(f["top3"])) for name, f in figures.items()]


def singles(figures):
    return [(name, percent(f)) for name, f in figures.items()]


def text(figures):
    answer, growing, quiet, head = (figures[key] for key in ("answer", "growing", "harmless", "headline"))
    out = [f"{figures['cases']} cases ({figures['leak_cases']} with leaks, {figures['harmless_cases']} harmless), {figures['formats']} formats, seed {figures['seed']}; "
           "shares with Wilson 95 % intervals"]
    out += [f"  skipped: {text}" for text in figures["skipped"]] + [f"  error: {text}" for text in figures["errors"][:10]]
    out += block("ANSWER", pairs({
        "all leaks": answer["all"], "8 snapshots and more": answer["series"], "  of these clear ones": answer["clear"], "  stack formats": answer["stacks"],
        "  type formats": answer["types"], "2 to 5 snapshots": answer["pairs"]}), ("first culprit right", "in the top three"))
    out += [f"  every culprit named: {percent(answer['every_culprit'])}", "  wrong first: " + ", ".join(f"{k} {v}" for k, v in answer["wrong_first"].items())]
    out += block("GROWING", [("recall, clear leaks", percent(growing["recall"])), ("recall, weak ones too", percent(growing["recall_with_weak"])),
                             ("named and called GROWING", percent(growing["recall_said"])), ("precision of rows, leaking series", percent(growing["precision"])),
                             ("precision of named culprits", percent(growing["precision_said"]))])
    out += block("recall by n", singles(growing["recall_by_n"]) + [
        ("16 and more", percent(growing["recall_long"])),
        ("16 and more, sampled, a sample a step or more", percent(growing["recall_long_sampled"]))]) + block("recall by shape", singles(growing["recall_by_shape"]))
    out += block("HARMLESS", [("series with a GROWING row", percent(quiet["series_with_growing_row"])), ("slow turnover", percent(quiet["slow_turnover_series"])), ("uneven times", percent(quiet["uneven_series_with_growing_row"])),
                              ("rows GROWING", percent(quiet["rows"])), ("series with a GROWING culprit", percent(quiet["series_with_growing_culprit"])), ("headline GROWING", percent(head["growing_on_harmless"])), ("headline RISING", percent(head["rising_on_harmless"]))])
    out += block("series with a GROWING row, by what they are about", singles({k: v for k, v in quiet["by_kind"].items() if v["hits"]}))
    out += ["  false GROWING rows by shape: " + ", ".join(f"{k} {v}" for k, v in quiet["alarms_by_shape"].items())]
    out += block("HEADLINE", [("GROWING on clear leaks", percent(head["growing_on_clear_leaks"])), ("and the right one first", percent(head["growing_and_right"]))])
    out += block("PLAIN RULES", [
        (name, percent(f["first"]), percent(f["first_series"]), percent(f["alarm"])) for name, f in figures["plain"].items()],
                 ("first right, all leaks", "first right, n >= 8", "alarm on harmless series"))
    for title, key in (("by format", "by_format"), ("by n", "by_n"), ("by shape", "by_shape"), ("by spread", "by_spread"), ("by times", "by_times"), ("by source", "by_source")):
        out += block(title, pairs(answer[key]), ("first culprit right", "in the top three"))
    return "\n".join(line.rstrip() for line in out)


def wrong(results):
    out = ["", "WRONG FIRST"]
    for r in results:
        if not r["harmless"] and not r["first"]:
            out.append(f"  {r['id']:<26} n={r['n']:<3} {r['kind']:<15} {r['spread']:<10} {r['headline']} {r['wrong_first']}: {r['named'][:3]}{' ' + r['error'] if r['error'] else ''}")
    out.append("FALSE ALARMS")
    for r in results:
        if r["growing_harmless"]:
            out.append(f"  {r['id']:<26} n={r['n']:<3} {r['format']:<16} {r['growing_harmless']} of {r['rows']} rows: {', '.join(r['alarms'][:4])}")
    return "\n".join(out)

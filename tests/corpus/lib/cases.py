"""Plans and writes the generated cases: which leak, in which format, over how many snapshots, beside what."""
import dataclasses
import json
import math
import os
import random

from lib import languages, shapes, types, write_profiles, write_trackers, write_types
from lib.heap import Recorded, total
from lib.program import SPREADS, Program, Scale

MIB = 1 << 20


@dataclasses.dataclass
class Format:
    """How a format is written, in which language its programs are, and what its files can bear."""
    write: object
    language: object = None
    rates: tuple = (0,)           # mean sampling distances, 0 records everything
    heap: tuple = (2, 60)         # MiB of the last heap, exact files; sampled ones are as large as their rate asks for
    most_objects: int = 0         # of one site
    block: int = 1
    plain: bool = False           # leaf lines only: no library chains, no wrappers
    leaks_only: bool = False      # lists nothing but leaks
    timed: bool = False           # holds times, so that uneven ones can be seen
    longest: int = 0              # rows that a list holds at most
    threshold: float = 0.0        # share of the heap below which a stack is not listed
    least: float = 0.004          # share of the heap that a leak must have to be in the file and above the floor
    platform: object = None       # of a type format
    items: int = 0


STACKS = {
    "pprof-go": Format(write_profiles.write_go, languages.Go, (524288, 524288, 65536, 0), timed=True),
    "go-text": Format(write_profiles.write_go_text, languages.Go, (524288, 65536, 0)),
    "pprof-node": Format(write_profiles.write_node, languages.Node, (524288, 32768), timed=True),
    "pprof-rust": Format(write_profiles.write_rust, languages.Rust, (524288, 0), timed=True),
    "gperftools": Format(write_profiles.write_gperftools, languages.Cpp, (0, 524288)),
    "jemalloc": Format(write_profiles.write_jemalloc, languages.Cpp, (524288, 16384, 0)),
    "tracemalloc": Format(write_trackers.write_tracemalloc, languages.Python, heap=(2, 20), most_objects=900),
    "tracemalloc-list": Format(write_trackers.write_tracemalloc_list, languages.Python, heap=(2, 20), plain=True, least=0.04, longest=25),
    "massif": Format(write_trackers.write_massif, languages.Cpp, timed=True, least=0.04, threshold=0.012),
    "dhat": Format(write_trackers.write_dhat, languages.Rust),
    "heaptrack": Format(write_trackers.write_heaptrack, languages.Cpp, heap=(2, 20), most_objects=1500, timed=True),
    "tracker-lines": Format(write_trackers.write_tracker_lines, languages.Go, timed=True),
    "memcheck": Format(write_trackers.write_memcheck, languages.Cpp),
    "lsan": Format(write_trackers.write_lsan, languages.Cpp, leaks_only=True),
    "bcc": Format(write_trackers.write_bcc, languages.Cpp, least=0.02, longest=30),
    "memray": Format(write_trackers.write_memray, languages.Python),
    "cuda": Format(write_trackers.write_cuda, languages.Torch, heap=(200, 4000), most_objects=60, block=512),
}
TYPES = {
    "jvm-histogram": Format(write_types.write_jvm_histogram, platform=types.JVM, items=60000),
    "dotnet": Format(write_types.write_dotnet, platform=types.DOTNET, items=40000),
    "objgraph": Format(write_types.write_objgraph, platform=types.PY, items=20000),
    "v8": Format(write_types.write_v8, platform=types.V8, items=1500),
    "hprof": Format(write_types.write_hprof, platform=types.JVM, items=1500),
}
FORMATS = {**STACKS, **TYPES}
LONG = (8, 12, 16, 20, 30)
SHORT = (2, 3, 5)
JUDGED = 8  # snapshots from which a verdict is given


@dataclasses.dataclass
class Plan:
    id: str
    format: str
    n: int
    kind: str                # shape of the leak, or of the harmless rise that the series is about
    leaks: int = 0           # culprits; 0: harmless
    spread: str = "single"


class Run:
    """What a writer needs: the recorded sites (or groups of types), how many snapshots, when, at which rate."""

    def __init__(self, moments, rate, step, recorded=(), groups=()):
        self.moments, self.n = moments, len(moments)
        self.rate, self.step, self.recorded, self.groups = rate, step, list(recorded), list(groups)

    def since_start(self, t):
        """Seconds from the first snapshot to the t-th."""
        return self.step * self.moments[t]

    def time(self, t):
        return 1_767_225_600 + self.since_start(t)


def log_uniform(rng, low, high):
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def plans(seed, size):
    """All cases of a corpus; size is 'small', 'normal' or 'full'."""
    rng, out = random.Random(f"plan:{seed}"), []
    long_leaks, pairs, per_shape = {"small": (1, 0.35, 2), "normal": (4, 2, 11), "full": (8, 4, 24)}[size]
    leak_shapes, spreads = list(shapes.LEAKS), list(SPREADS)
    turn = rng.randrange(len(LONG))
    for number, name in enumerate(FORMATS):
        rng.shuffle(leak_shapes)
        rng.shuffle(spreads)
        for i in range(long_leaks):
            leaks = {2: 3, 3: 2}.get((i + number) % 4, 1)
            out.append(Plan(f"leak-{name}-{i}", name, LONG[(turn + number + i) % len(LONG)], leak_shapes[i % len(leak_shapes)], leaks, spreads[i % len(spreads)]))
        for i in range(math.ceil(pairs) if pairs >= 1 else int(rng.random() < pairs)):
            out.append(Plan(f"pair-{name}-{i}", name, SHORT[(turn + number + i) % 3], "linear", 1 + (i % 3 == 2), spreads[-1 - i % len(spreads)]))
    for i in range(3 if size != "small" else 1):
        out.append(Plan(f"pair-seconds-{i}", "pprof-go", 2, "seconds", 1))
    bearable = [name for name in FORMATS if not FORMATS[name].leaks_only]
    for shape in shapes.HARMLESS:
        for i in range(per_shape):
            out.append(Plan(f"quiet-{shape}-{i}", bearable[rng.randrange(len(bearable))], LONG[(turn + i) % len(LONG)], shape))
    for i in range(per_shape):
        out.append(Plan(f"quiet-replaced-{i}", rng.choice([f for f in STACKS if not STACKS[f].leaks_only]), LONG[(turn + i) % len(LONG)], "replaced"))
        out.append(Plan(f"quiet-mixed-{i}", rng.choice(bearable), LONG[(turn + i) % len(LONG)], "mixed"))
    return out


def draw_moments(plan, form, rng):
    """Steps of the program at which the snapshots are taken: in a quarter of the timed series uneven ones."""
    if not form.timed or plan.n < JUDGED or rng.random() > 0.25:
        return list(range(plan.n))
    last = int(plan.n * rng.uniform(1.3, 1.9))
    return [0, *sorted(rng.sample(range(1, last), plan.n - 2)), last]


def make_program(plan, form, rng, rate, moments):
    """Draws the program of a stack case."""
    heap = log_uniform(rng, *form.heap) * MIB if not rate else rate * log_uniform(rng, 250, 2500)
    language = form.language(rng)
    if form.plain:
        language.chains = ()
    program = Program(rng, language, moments, Scale(heap, form.most_objects, form.block))
    if form.plain:
        program.wrappers = []
    if plan.leaks:
        add_leaks(plan, form, rng, rate, program, heap)
    else:
        quiet(plan, rng, program, heap)
    return program


def add_leaks(plan, form, rng, rate, program, heap):
    low, high = (form.least * plan.leaks, 0.6) if not rate else (min(0.2, max(form.least * plan.leaks, 2.0 * plan.n * rate / heap)), 0.6)
    share = log_uniform(rng, low, high)
    if plan.kind == "seconds":
        share = rng.uniform(0.05, 0.15)
    growth, others = heap * share, list(shapes.NEIGHBOURS)
    spread = "single" if form.plain and plan.spread == "inlined" else plan.spread
    if plan.leaks > 1 and rng.random() < 0.5:
        spread = "main"
    parts = [rng.uniform(0.5, 1) for _ in range(plan.leaks)]
    for i, part in enumerate(parts):
        kind = plan.kind if i == 0 and plan.kind != "seconds" else rng.choice(("linear", "irregular"))
        program.leak(kind, spread if i == 0 or spread == "main" else rng.choice(SPREADS), growth * part / sum(parts))
    if form.leaks_only:
        # All bytes of these lists are lost: where the series is short, what was lost once must be less than the leak.
        program.harmless("one_off", growth / len(parts) * rng.uniform(0.02, 0.3) if plan.n in SHORT else heap * 0.1)
        program.harmless("constant", heap * 0.1)
        return
    if plan.n in SHORT:  # one difference cannot tell a leak from a larger load, so the leak is the largest growth here
        for _ in range(rng.randint(0, 4)):
            program.harmless(rng.choice(("one_off", "reload", "churn", "burst", "shrinking")), growth / len(parts) * rng.uniform(0.02, 0.3))
        if plan.kind != "seconds" and rng.random() < 0.5:
            program.harmless("shrinking", growth * rng.uniform(0.2, 1.5))
    else:
        for what in rng.sample(others, rng.randint(2, 6)):
            program.harmless(what, heap * log_uniform(rng, 0.01, 0.4))
        if rng.random() < 0.3:
            program.replaced(heap * log_uniform(rng, 0.02, 0.3))
    # Two snapshots show one step: what came by chance must be less than the leak, or nobody could tell them apart.
    program.background(max(heap * 0.1, heap - growth) * rng.uniform(0.4, 1), growth / len(parts) * 0.3 if plan.n == 2 else math.inf)


def quiet(plan, rng, program, heap):
    """A series without a leak, about one shape or a mix."""
    if plan.kind == "mixed":
        for what in rng.sample(list(shapes.HARMLESS), 6):
            program.harmless(what, heap * log_uniform(rng, 0.01, 0.3))
    elif plan.kind == "replaced":
        program.replaced(heap * rng.uniform(0.1, 0.5))
        program.harmless(rng.choice(shapes.NEIGHBOURS), heap * 0.05)
    else:
        for _ in range(rng.randint(1, 4)):
            program.harmless(plan.kind, heap * log_uniform(rng, 0.03, 0.4))
    program.background(heap * rng.uniform(0.2, 0.9))


def make_types(plan, form, rng):
    program = types.TypeProgram(rng, form.platform, plan.n, form.items)
    if plan.leaks:
        growth = form.items * log_uniform(rng, 0.01 * plan.leaks, 0.5)
        for i in range(plan.leaks):
            kind = plan.kind if i == 0 else rng.choice(("linear", "irregular"))
            program.leak(kind, growth / plan.leaks, rng.random() < 0.85)
        if plan.n in SHORT:
            for _ in range(rng.randint(0, 2)):
                program.harmless(rng.choice(("one_off", "churn", "burst")), growth / plan.leaks * rng.uniform(0.02, 0.3))
        else:
            for what in rng.sample(shapes.NEIGHBOURS, rng.randint(2, 5)):
                program.harmless(what, form.items * log_uniform(rng, 0.01, 0.4))
    elif plan.kind == "mixed":
        for what in rng.sample(list(shapes.HARMLESS), 5):
            program.harmless(what, form.items * log_uniform(rng, 0.01, 0.3))
    else:
        for _ in range(rng.randint(1, 3)):
            program.harmless(plan.kind, form.items * log_uniform(rng, 0.03, 0.4))
    program.background(form.items * 0.4)
    return program


def place(frame):
    return {"name": frame.name, "file": frame.file}


def stack_truth(program, recorded):
    """What a person would have to change, and what shall not be named, of a stack program."""
    culprits = []
    for number, culprit in enumerate(program.culprits):
        wanted = {(f.name, f.file) for f in culprit["accepted"]}
        accepted, first, last, samples = {}, 0, 0, 0
        for r in recorded:
            if r.site.leak != number:
                continue
            first, last = first + total(r.live[0])[1], last + total(r.live[-1])[1]
            samples += sum(r.live[-1].values()) - sum(r.live[0].values())
            for frame in r.site.stack:
                if (frame.name, frame.file) in wanted:
                    accepted.setdefault((frame.name, frame.file), set()).add(frame.line)
        culprits.append({"accepted": [{"name": n, "file": f, "lines": sorted(lines)} for (n, f), lines in sorted(accepted.items())],
                         "growth": culprit["growth"], "seen_growth": last - first, "samples": samples,
                         "shape": culprit["shape"], "spread": culprit["spread"]})
    common = {(f.name, f.file) for path in (*program.roots, *program.handlers, program.wrappers) for f in path}
    own = {}
    for r in recorded:
        for frame in r.site.stack:
            if frame.own and (frame.name, frame.file) not in common:
                own.setdefault((frame.name, frame.file), r.site.what if r.site.leak is None else "leak")
    return {"culprits": culprits,
            "wrappers": [place(f) for f in program.wrappers],
            "entries": [place(f) for root in program.roots for f in root],
            "shared": [place(f) for f in sorted({f for h in program.handlers for f in h if f.own}, key=lambda f: (f.name, f.file))],
            "library": [place(f) for f in sorted({f for r in recorded for f in r.site.stack if not f.own}, key=lambda f: (f.name, f.file))],
            "quiet": [{"name": n, "file": f, "what": what} for (n, f), what in sorted(own.items()) if what != "leak"]}


def holder_of(form, group, number):
    """What the writer of an object graph puts the items of a group in, as a reader of the graph would call it."""
    if form == "hprof":
        return f"Registry.GROUP_{number}"
    if form == "v8":
        return f"global.object{number} (Object)" if group.holder == "Object" else f"{group.holder}.items"
    return ""


def type_truth(program, container, form):
    """The same of a type program; `container` is the type of the arrays that the writer holds items in, if any.

    A culprit of an object graph has a `holder` as well: the field that the writer puts the items of this group in."""
    culprits = []
    for number, culprit in enumerate(program.culprits):
        at, group = next((i, g) for i, g in enumerate(program.groups) if g.leak == number)
        culprits.append({"accepted": [{"name": n, "file": "", "lines": []} for n in culprit["accepted"]], "grows": sorted({*culprit["grows"], *container}),
                         "holder": holder_of(form, group, at),
                         "growth": culprit["growth"], "seen_growth": culprit["growth"], "samples": group.counts[-1] - group.counts[0],
                         "shape": culprit["shape"], "spread": culprit["spread"]})
    return {"culprits": culprits, "wrappers": [], "entries": [], "shared": [], "library": [{"name": p.type, "file": ""} for g in program.groups for p in g.parts if not p.own],
            "quiet": [{"name": p.type, "file": "", "what": g.what} for g in program.groups if g.leak is None for p in g.parts if p.own]}


def plain_places(truth, recorded):
    """For lists of leaf lines: what a culprit's allocation lines are called there."""
    for number, culprit in enumerate(truth["culprits"]):
        leaves = {(r.site.stack[0].name, r.site.stack[0].file, r.site.stack[0].line) for r in recorded if r.site.leak == number}
        culprit["accepted"] = [{"name": n, "file": f, "lines": [line]} for n, f, line in sorted(leaves)]


def listed(form, recorded, t):
    """Numbers of the culprits that have a row in the file at snapshot t."""
    rows = sorted(((total(r.live[t])[1], i, r.site.leak) for i, r in enumerate(recorded)), reverse=True)
    least = form.threshold * sum(size for size, *_ in rows)
    return {leak for size, _, leak in rows[:form.longest or None] if size and size >= least}


def judge_visible(truth, form, plan, rate, heap, recorded):
    """Whether a verdict GROWING can be asked for: enough snapshots, samples, rows and growth."""
    seen = [listed(form, recorded, t) for t in range(plan.n)]
    for number, culprit in enumerate(truth["culprits"]):
        rows = sum(number in leaks for leaks in seen)
        per_step = culprit["samples"] / (plan.n - 1)
        weak = ("not listed" if number not in seen[-1] else "fewer than 8 snapshots" if plan.n < JUDGED else "listed in fewer than 8 snapshots" if rows < JUDGED else f"{per_step:.1f} samples a step" if rate and per_step < 2 else
                "below 0.4 % of the heap" if culprit["seen_growth"] < 0.004 * heap and not rate else "few big objects" if culprit["shape"] == "few" and plan.n < 16 else
                "starts midway" if culprit["shape"] == "midway" and plan.n < 12 else "")
        culprit["weak"] = weak


def share_of_objects(program):
    """What leaks, of all objects at the end: for lists that count objects and know no bytes."""
    grown = sum(len(g.parts) * (g.counts[-1] - g.counts[0]) for g in program.groups if g.leak is not None)
    return grown / max(1, sum(len(g.parts) * g.counts[-1] for g in program.groups))


def draw_case(seed, plan, attempt):
    """The run of a case with its truth. The rate of a pair seconds apart is that of a live Go service."""
    rng, form = random.Random(f"{seed}:{plan.id}:{attempt}"), FORMATS[plan.format]
    rate, step = (524288, 3.0) if plan.kind == "seconds" else (rng.choice(form.rates), rng.choice((10.0, 60.0, 300.0)))
    if form.platform:
        program = make_types(plan, form, rng)
        run = Run(range(plan.n), 0, step, [Recorded(site, plan.n, 0, rng) for site in program.sites()], program.groups)
        truth = type_truth(program, {"v8": ["(array)"], "hprof": ["[Ljava.lang.Object;"]}.get(plan.format, []), plan.format)
        heap = sum(g.counts[-1] * max(1, sum(p.size for p in g.parts)) for g in program.groups)
    else:
        moments = draw_moments(plan, form, rng)
        program = make_program(plan, form, rng, rate, moments)
        run = Run(moments, rate, step, [r for r in (Recorded(site, plan.n, rate, rng) for site in program.sites) if r.ever()])
        truth = stack_truth(program, run.recorded)
        if form.plain:
            plain_places(truth, run.recorded)
        heap = sum(total(r.live[-1])[1] for r in run.recorded)
    judge_visible(truth, form, plan, rate, heap, run.recorded)
    truth["leak_share"] = share_of_objects(program) if plan.format == "objgraph" else sum(c["seen_growth"] for c in truth["culprits"]) / max(1, heap)
    return run, truth


def write_case(folder, seed, plan):
    """Writes one case with its truth.json below `folder`. The same seed and plan give the same bytes. A leak of which the
    files would hold nothing is drawn again."""
    for attempt in range(8):
        run, truth = draw_case(seed, plan, attempt)
        if not plan.leaks or any(c["weak"] != "not listed" for c in truth["culprits"]):
            break
    form, where = FORMATS[plan.format], os.path.join(folder, plan.id)
    os.makedirs(where, exist_ok=True)
    operands = form.write(run, where)
    truth = {"id": plan.id, "source": "generated", "format": plan.format, "family": "types" if form.platform else "stacks", "kind": plan.kind,
             "spread": plan.spread if plan.leaks else "", "n": plan.n, "rate": run.rate, "seed": seed, "harmless": plan.leaks == 0,
             "uneven": list(run.moments) != list(range(plan.n)), "slow": plan.kind == "slow_turnover",
             "by_line": plan.format in ("tracemalloc", "tracemalloc-list"), "operands": operands, **truth}
    with open(os.path.join(where, "truth.json"), "w", encoding="utf-8") as out:
        json.dump(truth, out, indent=1)
    return plan.id

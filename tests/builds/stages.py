"""Programs of another kind: an event loop runs stages that hand items on. Few methods with many sites each; every stage has
the same few short names; callbacks, tables of methods, recursion, and several calls in one line.

Nothing of program.make() and edits.py is used, so that what suits those programs alone shows here.
"""

import random

from program import File, Function, Path, Program, Step, run_again, tell_apart  # noqa: F401 (run.py takes them from here)

METHODS = "run handle next flush push close visit emit build read".split()
OTHER_NAMES = {"run": "process", "handle": "on_item", "next": "advance", "flush": "drain", "push": "add", "close": "stop",
               "visit": "walk", "emit": "send", "build": "make", "read": "load"}
STAGES = "Source Decoder Filter Grouper Joiner Sorter Sink Batcher Mapper".split()
HOW = ["plain", "plain", "plain", "each", "table", "beside"]  # how a call is written; "beside": in the line of the one before
SITES = 4  # ways to allocate


def make(seed, stages=5):
    rng = random.Random(f"stages {seed}")
    program = Program([], [], 0)
    for name in rng.sample(STAGES, stages):
        file = File("flow", name.lower(), "flow", name, [], head=rng.randint(1, 6))
        for method in rng.sample(METHODS, rng.randint(2, 4)):
            file.functions.append(Function(program.fresh(), method, [], gap=1))
        program.files.append(file)
    for at, file in enumerate(program.files):
        later = [f for other in program.files[at + 1:at + 3] for f in other.functions]
        for function in file.functions:
            for _ in range(rng.randint(3, 9) if not later or rng.random() < 0.6 else 1):
                function.steps.append(site(program, rng))
            for callee in rng.sample(later, min(len(later), rng.randint(1, 3))):
                function.steps.append(call(program, rng, callee))
            if rng.random() < 0.3:
                function.steps.append(call(program, rng, function))  # a tree is walked
            rng.shuffle(function.steps)
    program.roots = [call(program, rng, f) for f in program.files[0].functions + program.files[1].functions[:1]]
    return program


def site(program, rng):
    return Step("site", program.fresh(), flavour=rng.randrange(SITES))


def call(program, rng, callee):
    step = Step("call", program.fresh(), callee.uid)
    step.how = rng.choice(HOW)
    return step


def paths(program, seed, most=90):
    """Sites of a loop make many small objects, others few large ones."""
    rng = random.Random(f"paths {seed}")
    found, queue = [], [((root.uid,), root.callee) for root in program.roots]
    while queue:
        way, callee = queue.pop()
        for step in program.function(callee).steps:
            if step.kind == "site":
                found.append(way + (step.uid,))
            elif way.count(step.uid) < 2 and len(way) < 12:
                queue.append((way + (step.uid,), step.callee))
    rng.shuffle(found)
    found.sort(key=len)
    shallow = found[:most // 2]
    chosen = shallow + rng.sample(found[most // 2:], min(len(found) - len(shallow), most - len(shallow)))
    sizes = {}
    return tell_apart([Path(way, sizes.setdefault(way[-1], int(2 ** rng.uniform(5, 11.5))), int(2 ** rng.uniform(1.5, 7)))
                       for way in sorted(chosen)])


def grow(program, rng, run):
    """One new site in a method that has some that are `run`; its number and that of one of those."""
    function, beside = rng.choice([(f, s) for f in program.functions() for s in f.steps if s.uid in run])
    new = site(program, rng)
    function.steps.insert(rng.randint(0, len(function.steps)), new)
    return new.uid, beside.uid


# Edits: each takes a copy of the program and a source of chance. Numbers of steps stay.

def notice(program, rng):
    """A longer notice at the top of each file."""
    for file in program.files:
        file.head += 11


def logging(program, rng, share=0.6):
    """Lines between the statements."""
    for function in program.functions():
        for at in range(len(function.steps), 0, -1):
            if rng.random() < share / 2:
                function.steps.insert(at - 1, Step("comment"))


def other_names(program, rng, share=0.2):
    for function in program.functions():
        if rng.random() < share:
            function.name = OTHER_NAMES.get(function.name, function.name + "_now")


def other_classes(program, rng, share=0.3):
    """A class has another name, and its file with it."""
    for file in program.files:
        if rng.random() < share:
            file.type = rng.choice(["Fast", "Base", "Async"]) + file.type
            file.base = file.type.lower()


def wrap(program, rng, share=0.15):
    """A call is made through a function that takes a closure, or directly instead."""
    for function in program.functions():
        for step in function.steps:
            if step.kind == "call" and rng.random() < share:
                step.how = "plain" if step.how == "each" else "each"


def tables(program, rng, share=0.3):
    """What was called becomes an entry of a table."""
    for function in program.functions():
        if rng.random() < share:
            for step in function.steps:
                if step.kind == "call":
                    step.how = "table"


def extract(program, rng, share=0.2):
    """A method's first sites become a method of their own."""
    for file in program.files:
        for function in list(file.functions):
            taken = [s for s in function.steps if s.kind == "site"][:rng.randint(2, 4)]
            if len(taken) < 2 or rng.random() > share:
                continue
            at = function.steps.index(taken[0])
            function.steps = [s for s in function.steps if s not in taken]
            part = Function(program.fresh(), f"prepare_{function.name}", taken)
            function.steps.insert(min(at, len(function.steps)),
                                  Step("helper", program.fresh(), part.uid, covers=[s.uid for s in taken]))
            file.functions.append(part)


def split_class(program, rng):
    """The second half of a class becomes a class of another file."""
    for file in list(program.files):
        half = len(file.functions) // 2
        if half and rng.random() < 0.4:
            new = File(file.directory, file.base + "_rest", file.space, file.type + "Rest", file.functions[half:])
            file.functions = file.functions[:half]
            program.files.append(new)


def sort_methods(program, rng):
    for file in program.files:
        file.functions.sort(key=lambda f: f.name)


def sort_sites(program, rng, share=0.25):
    """The statements of a method in another order."""
    for function in program.functions():
        if rng.random() < share:
            rng.shuffle(function.steps)


def upgrade(program, rng):
    """A release: some of everything, and new sites."""
    notice(program, rng)
    logging(program, rng, 0.3)
    other_names(program, rng, 0.06)
    other_classes(program, rng, 0.1)
    wrap(program, rng, 0.05)
    extract(program, rng, 0.06)
    sort_sites(program, rng, 0.04)
    for function in program.functions():
        if rng.random() < 0.1:
            function.steps.insert(rng.randint(0, len(function.steps)), site(program, rng))


def nothing(program, rng):
    pass


EDITS = ("notice logging other_names other_classes wrap tables extract split_class sort_methods sort_sites upgrade").split()

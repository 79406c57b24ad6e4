"""What a release does to a program: each edit takes a copy of it and a source of chance. Numbers of steps stay."""

from program import Function, Step, make, paths  # noqa: F401 (run.py takes the last two from here)


def comment_top(program, rng):
    for file in program.files:
        file.head += 1


def lines_inside(program, rng, share=0.7):
    for function in program.functions():
        if rng.random() < share:
            for _ in range(5):
                function.steps.insert(rng.randint(0, len(function.steps)), Step("comment"))


def lines_between(program, rng):
    for function in program.functions():
        function.gap += rng.randint(0, 7)


def lines_gone(program, rng):
    for function in program.functions():
        function.steps = [s for s in function.steps if s.kind != "comment" or rng.random() < 0.4]


def swap_sites(program, rng, share=0.4):
    for function in program.functions():
        places = [i for i, s in enumerate(function.steps) if s.kind != "comment"]
        if len(places) > 1 and rng.random() < share:
            k = rng.randrange(len(places) - 1)
            i, j = places[k], places[k + 1]
            function.steps[i], function.steps[j] = function.steps[j], function.steps[i]


def reorder(program, rng):
    for file in program.files:
        rng.shuffle(file.functions)


def rename(program, rng, share=0.15):
    for function in program.functions():
        if rng.random() < share:
            verb, noun = function.name.split("_", 1)
            function.name = rng.choice([f"{verb}_all_{noun}", f"do_{verb}_{noun}", f"insert_{noun}_{function.uid}",
                                        f"{verb}_{noun}_v2"])


def rename_space(program, rng):
    for file in program.files:
        file.space = "v2" + file.space


def rename_type(program, rng):
    for file in program.files:
        if rng.random() < 0.4:
            file.type += "Impl"


def move_function(program, rng, share=0.15):
    for file in list(program.files):
        for function in list(file.functions):
            if rng.random() < share and len(file.functions) > 1:
                file.functions.remove(function)
                rng.choice([f for f in program.files if f is not file]).functions.append(function)


def split_helper(program, rng, share=0.25):
    for file in program.files:
        for function in list(file.functions):
            steps = [s for s in function.steps if s.kind != "comment"]
            if len(steps) < 2 or rng.random() > share:
                continue
            taken = steps[len(steps) // 2:]
            helper = Function(program.fresh(), function.name + "_rest", taken)
            at = function.steps.index(taken[0])
            function.steps = [s for s in function.steps if s not in taken]
            function.steps.insert(at, Step("helper", program.fresh(), helper.uid, covers=[s.uid for s in taken]))
            file.functions.append(helper)


def inline_callee(program, rng, share=0.1):
    calls = {}
    for function in program.functions():
        for step in function.steps:
            if step.kind == "call":
                calls.setdefault(step.callee, []).append(step)
    for uid, steps in sorted(calls.items()):
        if rng.random() < share and all(s.kind in ("site", "call") and not s.body
                                        for s in program.function(uid).steps if s.kind != "comment"):
            steps[0].body = [s for s in program.function(uid).steps if s.kind != "comment"]


def parameter(program, rng, share=0.2):
    for function in program.functions():
        function.parameter = function.parameter or rng.random() < share


def move_files(program, rng):
    for file in program.files:
        if rng.random() < 0.6:
            file.directory = rng.choice(["engine", "lib"])


def rename_files(program, rng):
    for file in program.files:
        if rng.random() < 0.4:
            file.base += "_impl"


def middleware(program, rng, share=0.12):
    for function in program.functions():
        for step in function.steps:
            if step.kind == "call" and rng.random() < share:
                step.through = True


def sites_come_and_go(program, rng):
    for function in program.functions():
        if rng.random() < 0.06:
            function.steps.insert(rng.randint(0, len(function.steps)), Step("site", program.fresh()))


def release(program, rng):
    """What a release is made of: some of everything."""
    comment_top(program, rng)
    lines_inside(program, rng, 0.3)
    swap_sites(program, rng, 0.06)
    rename(program, rng, 0.05)
    parameter(program, rng, 0.06)
    split_helper(program, rng, 0.06)
    middleware(program, rng, 0.03)
    move_function(program, rng, 0.04)
    sites_come_and_go(program, rng)


def nothing(program, rng):
    pass


SOURCE = {name: globals()[name] for name in
          ("comment_top lines_inside lines_between lines_gone swap_sites reorder rename rename_space rename_type "
           "move_function split_helper inline_callee parameter move_files rename_files middleware release").split()}


def grow(program, rng, run):
    """Puts one new site beside one of those that are `run`; gives its number and that of the other."""
    function, sibling = rng.choice([(f, s) for f in program.functions() for s in f.steps if s.uid in run])
    site = Step("site", program.fresh())
    function.steps.insert(rng.randint(0, len(function.steps)), site)
    return site.uid, sibling.uid

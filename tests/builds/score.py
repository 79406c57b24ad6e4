"""How well a comparison of two builds joined their stacks: the truth is in bytes and objects, never in names."""

import itertools
import json
import pathlib
import re
import subprocess

NOWHERE = 999


class Truth:
    """One side: what each path holds, and which paths a row of (bytes, objects) can be."""

    def __init__(self, program, table, language):
        self.bytes, self.objects, self.group = {}, {}, {}
        self.names = {}  # of the functions of a path; where only files are known, theirs
        steps = {s.uid: s for f in program.functions() for s in f.steps}
        steps.update({s.uid: s for s in program.roots})
        owner = {s.uid: f.uid for f in program.functions() for s in f.steps}
        name = {f.uid: f.name if language.named else file.base for file in program.files for f in file.functions}
        for path in table:
            flavour = steps[path.steps[-1]].flavour if path.steps[-1] in steps else 0
            self.bytes[path.steps] = language.real_size(path.size, flavour) * path.count
            self.objects[path.steps] = path.count
            self.group[path.steps] = tuple(owner.get(uid, 0) for uid in path.steps)
            self.names[path.steps] = [name[uid] for uid in self.group[path.steps] if uid in name]
            self.names[path.steps] += [language.helpers[flavour]] if flavour in language.helpers else []
        self.single, self.sequence, self.leaf = {}, {}, {}
        self.closure = {}  # a site may be one of its function: the paths to it of one run
        for path, size in self.bytes.items():
            self.single.setdefault((size, self.objects[path]), path)
            self.sequence.setdefault(self.group[path], []).append(path)
            self.leaf.setdefault(self.group[path][-1], []).append(path)
            self.closure.setdefault((self.group[path], path[-1]), []).append(path)
        self.known, self.ambiguous = {}, set()

    def amount(self, paths):
        paths = list(paths)
        return sum(self.bytes[p] for p in paths), sum(self.objects[p] for p in paths)

    def find(self, size, objects):
        """The paths of this sum: one, those of one or two runs of functions, or a few that end in one function; or None."""
        if size == 0:
            return frozenset()
        key = (size, objects)
        if key not in self.known:
            self.known[key] = self.search(key)
        return self.known[key]

    def search(self, key):
        if key in self.single:
            return frozenset([self.single[key]])
        for paths in itertools.chain(self.sequence.values(), self.leaf.values()):
            if self.amount(paths) == key:
                return frozenset(paths)
        for paths in itertools.chain(self.sequence.values(), self.leaf.values()):
            found = subsets_of(paths, key, self.amount)
            if found:
                if len(found) > 1:
                    self.ambiguous.add(key)
                return frozenset(found[0])
        return self.two_of([[p] for p in self.bytes], key) or self.two_of([*self.sequence.values(), *self.closure.values()], key)

    def two_of(self, sets, key):
        """Two of these sets of paths that hold `key` together, or None."""
        one = {self.amount(paths): paths for paths in sets}
        for (size, objects), paths in one.items():
            other = one.get((key[0] - size, key[1] - objects))
            if other and not set(other) & set(paths):
                return frozenset([*paths, *other])
        return None


def subsets_of(paths, key, amount, most=24):
    """Up to two of the sets of paths that hold `key`: halves of all subsets, met in the middle. Of more than `most` paths
    the first ones."""
    paths = sorted(paths)[:most]
    half = len(paths) // 2
    sums, found = {}, []
    for chosen in subsets(paths[:half]):
        sums.setdefault(amount(chosen), chosen)
    for chosen in subsets(paths[half:]):
        rest = sums.get(tuple(whole - part for whole, part in zip(key, amount(chosen))))
        if rest is not None:
            found.append(rest + chosen)
            if len(found) > 1:
                break
    return found


def subsets(paths):
    return (c for n in range(len(paths) + 1) for c in itertools.combinations(paths, n))


class Score:
    """Sums in bytes of both sides."""

    def __init__(self, old, new):
        self.old, self.new = old, new
        self.all = sum(old.bytes.values()) + sum(new.bytes.values())
        self.right = self.wrong = self.merged = self.unresolved = 0
        self.tiers, self.shown, self.mistakes, self.lost = {}, 0, [], []
        self.seen_old, self.seen_new = set(), set()  # the paths of rows that are explained
        self.unexplained = []

    def add(self, row, tier, label=""):
        """`row`: bytes and objects of both sides."""
        before, after = self.old.find(*row[:2]), self.new.find(*row[2:])
        if before is None or after is None:
            ours = bool(before or after)  # else it may be what the language allocates itself
            self.unexplained.append((row, tier, label, ours))
            return
        self.shown += abs(row[2] - row[0])
        # Sums may have two explanations; one that holds on both sides is the likelier.
        if before != after and before and self.new.amount(p for p in before if p in self.new.bytes) == row[2:]:
            after = frozenset(p for p in before if p in self.new.bytes)
        elif before != after and after and self.old.amount(p for p in after if p in self.old.bytes) == row[:2]:
            before = frozenset(p for p in after if p in self.old.bytes)
        elif before != after and before and after:
            explained = self.of_one_run(row)
            if not explained and (row[:2] in self.old.ambiguous or row[2:] in self.new.ambiguous):
                self.unresolved += row[0] + row[2]  # many sets of paths hold as much: which one says nothing
                return
            before, after = explained or (before, after)
        self.count(before, after, tier, label)

    def add_the_rest(self):
        """Call after all rows: what a row holds may be told by the paths that are in no other one. Of calls that all
        are jumps a stack has a root alone, and any paths below it are one."""
        while self.explain_one():
            pass
        for row, _, _, ours in self.unexplained:
            self.unresolved += row[0] + row[2] if ours else 0
            self.shown += abs(row[2] - row[0]) if ours else 0

    def explain_one(self):
        """Whether the same paths of those left over hold on both sides what a row holds, and no others do; the row is
        then counted."""
        old, new = self.old.bytes.keys() - self.seen_old, self.new.bytes.keys() - self.seen_new

        def amount(chosen):
            return (*self.old.amount(p for p in chosen if p in old), *self.new.amount(p for p in chosen if p in new))
        for place, (row, tier, label, _) in enumerate(self.unexplained):
            found = [old | new] if amount(old | new) == row else subsets_of(old | new, row, amount)
            if len(found) == 1:
                del self.unexplained[place]
                self.shown += abs(row[2] - row[0])
                self.count(frozenset(found[0]) & old, frozenset(found[0]) & new, tier, label)
                return True
        return False

    def count(self, before, after, tier, label):
        """A row of these paths."""
        self.seen_old |= before
        self.seen_new |= after
        joined = bool(before) and bool(after)
        for mine, theirs, here, there in ((before, after, self.old, self.new), (after, before, self.new, self.old)):
            for path in mine:
                size = here.bytes[path]
                exists = path in there.bytes
                if joined and (path in theirs or (not exists and before & after)):
                    self.right += size
                    self.merged += size if len(before) + len(after) > 2 else 0
                    self.tiers[tier] = self.tiers.get(tier, 0) + size
                elif joined:
                    self.wrong += size
                    self.mistakes.append((size, tier, label, path))
                elif not exists:
                    self.right += size
                else:
                    self.lost.append((size, path, label))

    def of_one_run(self, row):
        """Paths of one run of functions, or a few that end in one function, that hold what the row holds on both
        sides; or None."""
        def amount(chosen):
            return (*self.old.amount(p for p in chosen if p in self.old.bytes),
                    *self.new.amount(p for p in chosen if p in self.new.bytes))
        for runs_old, runs_new in ((self.old.sequence, self.new.sequence), (self.old.leaf, self.new.leaf)):
            for run, paths in runs_old.items():
                found = subsets_of({*paths, *runs_new.get(run, [])}, row, amount, 30)
                if found:
                    return tuple(frozenset(p for p in found[0] if p in side.bytes) for side in (self.old, self.new))
        return None

    def false_growth(self):
        paths = set(self.old.bytes) | set(self.new.bytes)
        true = sum(abs(self.new.bytes.get(p, 0) - self.old.bytes.get(p, 0)) for p in paths)
        return max(0, self.shown - true) / max(1, sum(self.old.bytes.values()))

    def shares(self):
        right, wrong = self.right / self.all, self.wrong / self.all
        return right, wrong, max(0.0, 1 - right - wrong)


def tell(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def ask(command):
    return json.loads(tell(command))


def text_of(stack):
    return " < ".join(f"{f['function'] or f['module']}:{f['line']}" for f in stack)


def compare(snapdiff, a, b, more, old, new, planted=()):
    """Score of the program under test; the places of the planted paths among the growing rows; and that of the first
    culprit that names what was planted."""
    operands = [str(a), str(b)]
    if more:  # each with its own binary: of two of one name a single call cannot say which is whose
        store = str(pathlib.Path(a).parent / "named.db")
        pathlib.Path(store).unlink(missing_ok=True)
        for file, binary in zip(operands, more):
            tell([snapdiff, "import", file, "--symbols", binary, "--db", store])
        operands = ["@1", "@2", "--db", store]
    answer = ask([snapdiff, "diff", *operands, "--metric", "inuse_space", "--as", "json", "-n", "0"])
    score = Score(old, new)
    places = {}
    rows = sorted(answer["rows"], key=lambda r: -r["growth"])
    for place, row in enumerate(rows, 1):
        amounts = (row["baseline"], row["baseline_objects"], row["current"], row["current_objects"])
        score.add(amounts, row["tier"], text_of(row["stack"]))
        for path in planted:
            if path in (new.find(*amounts[2:]) or ()):
                places.setdefault(path, place)
    score.add_the_rest()
    return score, [places.get(path, NOWHERE) for path in planted], place_of_culprit(answer, old, new, planted)


def place_of_culprit(answer, old, new, planted):
    """The place of the first culprit that a planted path goes through and most of whose growth is of such paths."""
    for place, culprit in enumerate(answer["story"]["culprits"], 1):
        said = words(culprit["name"])
        if culprit["name"].startswith("(anonymous"):  # printed with the function that it is written in
            said |= set().union(*(words(f["function"]) for f in culprit["path"][-2:-1]
                                  if f["function"] and f["file"] == culprit["file"]))
        through = [p for p in planted if any(words(name) & said for name in new.names[p])]
        if sum(new.bytes[p] - old.bytes.get(p, 0) for p in through) * 2 >= culprit["growth"] and through:
            return place
    return NOWHERE


def words(name):
    """The parts of a name, as all languages write them: fetch_record, FetchRecord and fetchRecord are one."""
    return {part.replace("_", "").lower() for part in re.split(r"\W+", name)} - {""}


def by_names(snapdiff, a, b, more, old, new):
    """What joining by the names of functions alone (by files, where there are no names) gives."""
    rows = {}
    for side, file in ((0, a), (2, b)):
        options = ["--symbols", more[side // 2]] if more else []
        answer = ask([snapdiff, "top", str(file), "--metric", "inuse_space", "--as", "json", "-n", "0", *options])
        for row in answer["rows"]:
            key = tuple(f["function"] or f["file"] or f"{f['module']}+{f['offset']}" for f in row["stack"])
            sums = rows.setdefault(key, [0, 0, 0, 0])
            sums[side] += row["value"]
            sums[side + 1] += row["objects"]
    score = Score(old, new)
    for amounts in rows.values():
        score.add(tuple(amounts), "names")
    score.add_the_rest()
    return score

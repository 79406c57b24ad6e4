"""The samples of tests/data that one question is asked about: series of files, pairs, and files that hold several moments."""
import os
import re

DATA = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data"))
NO_INPUT = re.compile(r"(^readme|\.md$|\.(sh|py|go|c|cc|cpp|java|mod|expected\.txt|csv\.gz)$|\.(c|cpp)\.txt$|^make_|^(expected|profile-made)\.json$)", re.I)
SIDES = {"before": "0", "after": "1"}


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def stem(name):
    """A name without the number that tells it from the others of its series: the last one, or that of the compression's own."""
    name = re.sub(r"\b(before|after)\b", lambda found: SIDES[found.group()], name)
    return re.sub(r"\d+(?!.*\d)", "#", name)


def samples(root=DATA):
    """(name, files), oldest first: every group of files of one folder that differ by a number, and each file that is alone."""
    found = []
    for folder, folders, names in os.walk(root):
        folders.sort()
        groups = {}
        for name in names:
            if not NO_INPUT.search(name):
                groups.setdefault(stem(name), []).append(name)
        for key, group in sorted(groups.items()):
            order = sorted(group, key=lambda name: natural(re.sub(r"\b(before|after)\b", lambda side: SIDES[side.group()], name)))
            found.append((os.path.relpath(os.path.join(folder, key), root), [os.path.join(folder, name) for name in order]))
    return found

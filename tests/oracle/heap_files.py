"""Which files under a folder are heap profiles, or look like some."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from rounds import SANITIZED, rounds  # pylint: disable=unused-import; for the comparisons

ENDINGS = (".heap", ".pb.gz", ".pb", ".heap.gz", ".pb.zst", ".heap.zst", ".bin", ".pprof", ".symbolized", ".growth", ".prof")
FOREIGN_FOLDERS = {"src", "bin", "corpus", "memray", "folded_stacks"}  # the last two: tests of their readers have the truth


def heap_files(folders):
    """Paths, sorted; symbolic links are not followed."""
    out = []
    for folder in folders:
        if os.path.isfile(folder):
            out.append(folder)
        for base, names, files in os.walk(folder):
            names[:] = sorted(name for name in names if name not in FOREIGN_FOLDERS)
            out += [os.path.join(base, file) for file in files if file.endswith(ENDINGS)]
    return sorted(out)

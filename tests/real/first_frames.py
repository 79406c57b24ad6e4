"""No first culprit is a frame that no user wrote while the stack has own code: generated code, allocators, profilers,
runtimes, entry points. What is whose is said here on its own, by names that the producers document, and not asked of the
program. As a script: tests/real/first_frames.py --snapdiff PATH CORPUS ... asks every series of generated corpora."""
import argparse
import json
import os
import pathlib
import re
import sys

NEVER = {
    "generated": (r"\$\$?Lambda\b|\$\$(EnhancerBy|FastClassBy|SpringCGLIB)|(^|\.)\$Proxy\d+|GeneratedMethodAccessor|^\[?(jit|JIT|Interpreter)\]?$",
                  r"torchinductor|^<eval_with_key>|^<string>|^<attrs generated|^<lambdifygenerated|perf-\d+\.map"),
    "allocator": (r"(^|[\w:])(malloc|calloc|realloc|zalloc|strn?dup|memdup|posix_memalign|aligned_alloc)$|^operator new|mallocgc|new_allocator|_M_allocate"
                  r"|^__rust_(re)?alloc|^(alloc|core|hashbrown)::|^<[^: ]+ as (alloc|core|std)::|^_rjem_", r"/include/c\+\+/|library/(alloc|core|std)/src|/rustc/"),
    "profiler": (r"^runtime/pprof\.|prof_backtrace|heaptrack_", r"(^|/)(tracemalloc|linecache)\.py$"),
    "runtime": (r"^runtime\.|^std::|^__cxxabiv1::|^_Py[A-Z_]|^PyEval_", r"^<frozen|^node:"),
    "entry point": (r"^(_start|__libc_start_\w+|start_thread|clone3?|main|main\.main|runtime\.(goexit|main)|<module>|\(root\)|Thread\.run)$",
                    r"asyncio/(runners|base_events|events)\.py$|/threading\.py$|/runpy\.py$"),
}
OTHERS = re.compile(r"site-packages/|dist-packages/|node_modules/|/pkg/mod/|@v\d|\.cargo/registry|^/usr/|/lib/python3|/vendor/|torch/")


def kind_of(name, file):
    """Which of these a frame is, or None."""
    for kind, (names, files) in NEVER.items():
        if re.search(names, name or "") or re.search(files, file or ""):
            return kind
    return None


def is_own(frame):
    name, file = frame.get("function"), frame.get("file")
    return bool(name and file) and not OTHERS.search(file) and kind_of(name, file) is None


def broken(report):
    """What the first culprit is that it may not be, with its name; None where all is well."""
    overall = report.get("overall") or report
    first = next(iter((report.get("story") or overall.get("story") or {}).get("culprits") or []), None)
    if first is None:
        return None
    kind = kind_of(first.get("name"), first.get("file"))
    if kind is None:
        return None
    def place(frame):
        return frame.get("function"), frame.get("file")
    leaves = {place(site["frame"]) for site in first.get("sites") or []}
    stacks = [row["stack"] for row in overall.get("rows") or [] if row.get("stack") and place(row["stack"][0]) in leaves]
    through = [s for s in stacks if (first.get("name"), first.get("file")) in map(place, s)]
    return f"{kind}: {first.get('name')} {first.get('file')}" if any(is_own(f) for s in through for f in s) else None


def main():
    here = pathlib.Path(__file__).resolve().parent
    sys.path.insert(0, str(here.parent / "corpus"))
    from lib import answer
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--snapdiff", default=os.environ.get("SNAPDIFF", "snapdiff"))
    options = parser.parse_args()
    found = asked = 0
    for folder in (pathlib.Path(root) / "cases" / name for root in options.corpora for name in json.loads((pathlib.Path(root) / "corpus.json").read_text())["cases"]):
        truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
        wrong = broken(answer.run_json(options.snapdiff, truth["operands"], folder)) if truth["family"] == "stacks" else None
        asked += truth["family"] == "stacks"
        found += wrong is not None
        if wrong:
            print(f"{folder}: {wrong}")
    print(f"{found} of {asked}")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()

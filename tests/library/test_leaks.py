#!/usr/bin/env python3
"""Calls of the library leave nothing: series of tracemalloc and of jemalloc, judged by snapdiff itself.

  test_leaks.py [CALLS]        120 unless given; 100000 takes a quarter of an hour

SNAPDIFF_LIBRARY is the library, PYTHONPATH has analyzer/python. jemalloc is preloaded from SNAPDIFF_JEMALLOC or where
Debian puts it, and skipped where it is not. A call is one comparison with its tables, an error, or a series with its gate."""
import ctypes
import gc
import glob
import os
import subprocess
import sys
import tempfile

import snapdiff

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
FILES = sorted(glob.glob(os.path.join(ROOT, "examples", "go-queue", "heap.*.pb.gz")))
JEMALLOC = os.environ.get("SNAPDIFF_JEMALLOC", "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
STEPS = 12  # snapshots; a verdict needs eight
LEAST = 8  # bytes a call: half of the smallest object of either allocator
SAMPLE = 12  # jemalloc samples each 2^12 bytes: each allocation would cost thirty times as much
OPENED = snapdiff.open(*FILES)


def call(number):
    """One of three: a comparison and its tables, an error, a series."""
    if number % 3 == 0:
        d = OPENED.compare()
        d.rows.to_list(3), d.culprits, d.trend.to_dict(), d.rows.__arrow_c_stream__(), d.json()
    elif number % 3 == 1:
        try:
            OPENED.compare(focus="(")
        except snapdiff.UsageError:
            return
        raise AssertionError("an invalid pattern was taken")
    else:
        s = OPENED.series(limit=1 << 30)
        s.culprits, s.trend.to_list(), OPENED.gate(["total:10GiB"]).result


def run(calls, take):
    """Calls in rounds, take() after each; the first round fills caches."""
    for round_ in range(STEPS + 1):
        for number in range(calls // STEPS):
            call(number)
        gc.collect()
        if round_:
            take()


def judge(folder, calls, sample=0):
    """Prints what grew and returns whether that is a leak. `sample`: bytes that one sample stands for."""
    allowed = LEAST * (calls // STEPS)
    in_all = max(allowed * STEPS, 16 * sample, 4096)  # samples of what is live by chance; the paths of the snapshots
    opened = snapdiff.open(*sorted(glob.glob(os.path.join(folder, "*"))))
    gate = opened.gate([f"culprit:{allowed}B/step", f"total:{in_all}B"], allowance_file=os.devnull)
    series = opened.series()
    print(f"  {STEPS} snapshots of {calls} calls: {series.before} to {series.after} bytes, {gate.result}; allowed {LEAST} bytes a call, {in_all} in all")
    for row in gate.broken:
        print(f"  {row['budget']}: {row['name']} {row['file'] or ''} {row['measured']}")
    return gate.result == "failed"


def tracemalloc(calls):
    with tempfile.TemporaryDirectory() as folder:
        with snapdiff.capture.tracemalloc(folder, frames=8) as snapshots:
            run(calls, snapshots.take)
        return judge(folder, calls)


def jemalloc(calls):
    """In a process of its own, into which jemalloc is preloaded; it dumps by name."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {"LD_PRELOAD": JEMALLOC, "MALLOC_CONF": f"prof:true,lg_prof_sample:{SAMPLE},prof_final:false,prof_prefix:{folder}/heap"}
        subprocess.run([sys.executable, __file__, "--dump", folder, str(calls)], check=True, env={**os.environ, **settings})
        return judge(folder, calls, 1 << SAMPLE)


def dump(folder, calls):
    mallctl = ctypes.CDLL(None).mallctl
    names = iter(range(1, STEPS + 1))

    def take():
        name = ctypes.c_char_p(os.path.join(folder, f"heap.{next(names):04}.heap").encode())
        if mallctl(b"prof.dump", None, None, ctypes.byref(name), ctypes.c_size_t(ctypes.sizeof(name))):
            raise OSError("jemalloc dumps nothing: it was built without profiling")
    run(calls, take)


def main():
    if sys.argv[1:2] == ["--dump"]:
        return dump(sys.argv[2], int(sys.argv[3]))
    calls = int(sys.argv[1]) if sys.argv[1:] else 120
    print("tracemalloc")
    leaks = tracemalloc(calls)
    if os.path.exists(JEMALLOC):
        print("jemalloc")
        leaks |= jemalloc(calls)
    else:
        print(f"skipped: no {JEMALLOC}")
    return int(leaks)


if __name__ == "__main__":
    sys.exit(main())

"""Runs a drive under a profiler of Python: record.py tracemalloc|tracemalloc1|tracemalloc-running|memray DRIVE OUT STEPS PER_STEP leak|control"""
import gc
import gzip
import importlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tracemalloc


def with_tracemalloc(drive, out, steps, per_step):
    """A drive's `warm_up`: steps that replace what stood before the trace, by the same line and without a dump."""
    for step in range(1 - getattr(drive, "warm_up", 0), steps + 1):
        drive.run(per_step)
        gc.collect()
        if step < 1:
            continue
        with tempfile.NamedTemporaryFile() as plain:
            tracemalloc.take_snapshot().dump(plain.name)
            (out / f"snap.{step:03}.tracemalloc.gz").write_bytes(gzip.compress(pathlib.Path(plain.name).read_bytes(), 9, mtime=0))


def with_memray(name, out, steps, per_step, mode):
    """One run a step, each longer than the one before: what memray says is still live at the end of it."""
    for step in range(1, steps + 1):
        work = pathlib.Path(tempfile.mkdtemp(dir="."))
        subprocess.run([sys.executable, "-m", "memray", "run", "-q", "-o", str(work / "run.bin"), "record.py", "once", name, "-",
                        str(step), str(per_step), mode], check=True)
        subprocess.run([sys.executable, "-m", "memray", "transform", "speedscope", "--leaks", "-f", "-o", str(work / "live.json"), str(work / "run.bin")],
                       check=True, stdout=subprocess.DEVNULL)
        (out / f"live.{step:03}.speedscope.json.gz").write_bytes(gzip.compress((work / "live.json").read_bytes(), 9, mtime=0))
        shutil.rmtree(work)


def main():
    profiler, name, out, steps, per_step, mode = sys.argv[1:7]
    if profiler == "memray":
        return with_memray(name, pathlib.Path(out), int(steps), int(per_step), mode)
    drive = importlib.import_module(name)
    if profiler == "tracemalloc-running":  # switched on in a service that has started
        drive.prepare(mode)
        tracemalloc.start(25)
    else:
        if profiler != "once":
            tracemalloc.start(1 if profiler == "tracemalloc1" else 25)
        drive.beside.__init__()
        drive.prepare(mode)
    if profiler == "once":
        for _ in range(int(steps)):
            drive.run(int(per_step))
        gc.collect()
        return None
    return with_tracemalloc(drive, pathlib.Path(out), int(steps), int(per_step))


if __name__ == "__main__":
    main()

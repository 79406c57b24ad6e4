"""What a dump of tracemalloc holds, by Python's own unpickler and tracemalloc module.

  read(path)              -> list of {(domain, ((file, line), ...), cut): [blocks, bytes]}, one for each dump in the
                             file; stacks most recent call first
  write(path, traces, ...)   a dump of made-up traces by the real pickler

Only for files that this project or its tests have written: unpickling runs what a file says.
"""
import pickle
import tracemalloc


def read(path):
    out = []
    with open(path, "rb") as file:
        while file.peek(1) if hasattr(file, "peek") else True:
            snapshot = pickle.load(file)
            sums = {}
            for trace in snapshot.traces._traces:
                total = None
                if len(trace) == 2:
                    domain, (size, frames) = 0, trace
                elif len(trace) == 3:
                    domain, size, frames = trace
                else:
                    domain, size, frames, total = trace
                if tuple(frames) == (("<unknown>", 0),):
                    frames = ()
                cut = total is not None and total > len(trace[-2]) and bool(frames)
                entry = sums.setdefault((domain, tuple(frames), cut), [0, 0])
                entry[0] += 1
                entry[1] += size
            out.append(sums)
    return out


def by_line(path):
    """{(file, line): [blocks, bytes]} as Snapshot.statistics('lineno') of the running Python says, or None where it
    does not understand the dump's version."""
    snapshot = tracemalloc.Snapshot.load(path)
    if any(len(trace) != 4 for trace in snapshot.traces._traces):
        return None
    return {(s.traceback[0].filename, s.traceback[0].lineno): [s.count, s.size] for s in snapshot.statistics("lineno")}


def snapshot_of(traces, limit=25):
    return tracemalloc.Snapshot(traces, limit)


def write(path, traces, limit=25, protocol=pickle.HIGHEST_PROTOCOL, mode="wb"):
    with open(path, mode) as file:
        pickle.dump(snapshot_of(traces, limit), file, protocol)

"""Series in the native tracker format, made of stacks that a real run recorded.

usage: torch_series.py SNAPSHOT.pickle OUT

The stacks are those of a training step of PyTorch's memory snapshot (its Python frames, paths below the environment);
the counts over the series are made: what a program that keeps its losses, or its outputs, would leave behind in
each of ten steps, and what an optimizer allocates in the first one. The pickle is read without any global."""
import json
import os
import pickle
import sys


class Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("no globals: " + module + "." + name)


def short(path):
    for mark in ("site-packages/", "assignment2-systems/", "lib/python3.12/"):
        if mark in path:
            return path.split(mark)[-1]
    return os.path.basename(path)


def python_frames(event):
    return [(f["name"], short(f["filename"]), f["line"]) for f in event.get("frames", []) if f["filename"].endswith(".py")]


def find(events, wanted, unwanted=()):
    """The largest allocation whose stack holds all these."""
    best = None
    for event in events:
        if event["action"] != "alloc":
            continue
        frames = python_frames(event)
        text = " ".join(name + " " + path for name, path, _ in frames)
        if all(w in text for w in wanted) and not any(u in text for u in unwanted) and (
                best is None or event["size"] > best[1]):
            best = (frames, event["size"])
    return best


def write(path, steady, leaking, steps=10):
    with open(path, "w") as out:
        def line(**fields):
            out.write(json.dumps(fields) + "\n")
        line(k="header", format="snapdiff-tracker", version=1, producer="torch_series.py")
        ids = {}
        for frames, *_ in steady + leaking:
            for frame in frames:
                if frame not in ids:
                    ids[frame] = len(ids) + 1
                    line(k="frame", id=ids[frame], fn=frame[0], file=frame[1], line=frame[2])
        for number, (frames, *_) in enumerate(steady + leaking, 1):
            line(k="stack", id=number, frames=[ids[f] for f in frames])
        for step in range(steps):
            line(k="snapshot", id=f"step-{step}", seq=step)
            rows = 0
            for number, (_, size, count) in enumerate(steady + leaking, 1):
                blocks = count(step)
                if blocks:
                    line(k="live", stack=number, bytes=size * blocks, count=blocks)
                    rows += 1
            line(k="end", id=f"step-{step}", rows=rows)


def main(source, folder):
    with open(source, "rb") as file:
        events = [e for trace in Plain(file).load()["device_traces"] for e in trace]
    forward = find(events, ["model.py", "torch/nn/modules/module.py"])
    loss = find(events, ["cross_entropy"])
    optimizer = find(events, ["torch/optim/optimizer.py"])
    print("forward", forward[1], "loss", loss[1], "optimizer", optimizer and optimizer[1], file=sys.stderr)
    level = (*forward, lambda step: 24)
    # The graph of each kept loss keeps its step's activations.
    write(f"{folder}/torch-loss.sdt.jsonl", [], [(loss[0], 512, lambda step: step + 1), (*forward, lambda step: 24 + step)])
    write(f"{folder}/torch-outputs.sdt.jsonl", [(*loss, lambda step: 1)], [(*forward, lambda step: 24 + step)])
    if optimizer:
        write(f"{folder}/torch-first-step.sdt.jsonl", [level], [(*optimizer, lambda step: 2 if step else 0)])


main(sys.argv[1], sys.argv[2])

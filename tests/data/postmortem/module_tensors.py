"""The tensors that live after each step of a loop, with the Python stack that made each, in the native tracker format.

usage: module_tensors.py loop|once > FILE.sdt.jsonl

loop: a layer is made anew in every step and kept; once: one layer, whose outputs alone are made in the loop."""
import gc
import json
import os
import sys
import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode

MADE = {}  # address of the data: (stack, bytes)


class Recorder(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not any(isinstance(a, torch.Tensor) and a.data_ptr() == result.data_ptr() for a in args):
            frames = [f for f in reversed(traceback.extract_stack()[:-1]) if "dispatch" not in f.filename]
            MADE[result.data_ptr()] = (tuple((f.name, short(f.filename), f.lineno) for f in frames), result.storage().nbytes())
        return result


def short(path):
    return path.split("dist-packages/")[-1] if "dist-packages/" in path else os.path.basename(path)


def make_layer(size):
    return torch.nn.Linear(size, size)


def train_step(layer, batch):
    return layer(batch).sum().item()


def write(number):
    gc.collect()
    live = {o.data_ptr() for o in gc.get_objects() if isinstance(o, torch.Tensor)}
    rows = [MADE[address] for address in sorted(live & MADE.keys())]
    print(json.dumps({"k": "snapshot", "id": "step%d" % number, "seq": number}))
    for stack, size in sorted(rows):
        print(json.dumps({"k": "live", "stack": ["%s (%s:%d)" % f for f in stack], "bytes": size, "count": 1}))
    print(json.dumps({"k": "end", "id": "step%d" % number, "rows": len(rows)}))


def main(where):
    print(json.dumps({"k": "header", "format": "snapdiff-tracker", "version": 1, "producer": "module_tensors.py"}))
    layers, batch = [], torch.ones(4, 64)
    with Recorder():
        for step in range(8):
            if where == "loop" or not layers:
                layers.append(make_layer(64))
            train_step(layers[-1], batch)
            write(step)


main(sys.argv[1])

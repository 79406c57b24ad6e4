"""A layer made anew, and hooked, in every step of a loop that keeps it: one tracemalloc snapshot after five steps.

usage: modules.py FOLDER loop|once"""
import gc
import sys
import tracemalloc

import torch

KEPT = []


def hooked_layer(size):
    layer = torch.nn.Linear(size, size)
    layer.register_forward_hook(lambda module, inputs, output: KEPT.append(output.shape))
    return layer


def train_step(layer, batch):
    return layer(batch).sum().item()


def main(folder, where):
    batch = torch.ones(4, 8)
    layers = [hooked_layer(8)]
    train_step(layers[0], batch)  # what the library loads when first used
    KEPT.clear()
    gc.collect()
    tracemalloc.start(12)
    for snapshot in range(10):
        for _ in range(5):
            if where == "loop":
                layers.append(hooked_layer(8))
            train_step(layers[-1], batch)
        gc.collect()
        tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, __file__, all_frames=True)]).dump(
            f"{folder}/modules-{snapshot:02}.tracemalloc")


main(sys.argv[1], sys.argv[2])

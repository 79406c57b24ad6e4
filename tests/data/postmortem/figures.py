"""Figures opened in a loop and never closed: one tracemalloc snapshot after every three of them."""
import gc
import sys
import tracemalloc

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["figure.max_open_warning"] = 0
import matplotlib.pyplot as plt


def plot_step(step):
    figure = plt.figure(figsize=(2, 2), dpi=50)
    axes = figure.add_subplot()
    axes.plot([step, step + 1])
    figure.canvas.draw()


def main(folder, frames):
    plot_step(0)  # fonts and caches, once
    plt.close("all")
    gc.collect()
    tracemalloc.start(frames)
    for snapshot in range(10):
        for step in range(3):
            plot_step(step)
        gc.collect()
        tracemalloc.take_snapshot().filter_traces(
            [tracemalloc.Filter(True, "*pyplot.py", all_frames=True)]).dump(f"{folder}/figures-{snapshot:02}.tracemalloc")


main(sys.argv[1], int(sys.argv[2]))

"""matplotlib: a figure for each report. The control closes it, as the documentation of pyplot.figure asks."""
import io

import matplotlib
from beside import Beside

matplotlib.use("svg")
import matplotlib.pyplot as plt

beside = Beside()
closes = False


def prepare(mode):
    global closes
    closes = mode == "control"
    plt.rcParams["figure.max_open_warning"] = 0


def chart(values):
    figure, axes = plt.subplots(figsize=(3, 2))
    axes.plot(values)
    out = io.BytesIO()
    figure.savefig(out)
    if closes:
        plt.close(figure)
    return out.getbuffer().nbytes


def run(number):
    for _ in range(number):
        chart([beside.random.random() for _ in range(30)])
        for _ in range(20):
            beside.request()

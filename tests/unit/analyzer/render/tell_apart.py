#!/usr/bin/env python3
"""Checks on pixels that growth and shrinkage can be told apart without their colours.

  tell_apart.py GRAPH.ppm FLAME.ppm     ends 1 and says what is not so

GRAPH is the page of a growth graph with a growing and a shrinking branch, FLAME one of a flame graph of the same,
both at 150 pixels an inch. Looked at in grey (as a printer makes it) and as somebody with deuteranopia sees them
(G. Machado, M. Oliveira, L. Fernandes: A physiologically-based model for simulation of color vision deficiency, 2009;
the matrix of severity 1.0, applied to linear values).
"""

import sys

DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
# Fills apart by at least this under deuteranopia; the palest tint, alone, would have 16.
LEAST_DISTANCE = 20.0
# Neither colour may look like more in grey.
MOST_LIGHTNESS = 6.0


def read_ppm(path):
    with open(path, "rb") as file:
        data = file.read()
    fields, at = [], 0
    while len(fields) < 4:
        while data[at:at + 1].isspace():
            at += 1
        end = at
        while not data[end:end + 1].isspace():
            end += 1
        fields.append(data[at:end])
        at = end
    if fields[0] != b"P6" or fields[3] != b"255":
        raise ValueError(path + ": expected a PPM of 8 bits")
    return int(fields[1]), int(fields[2]), data[at + 1:]


def linear(value):
    value /= 255
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def seen(rgb):
    """Linear values as somebody with deuteranopia sees them."""
    return tuple(min(1.0, max(0.0, sum(m * v for m, v in zip(row, rgb)))) for row in DEUTERANOPIA)


def lab(rgb):
    r, g, b = rgb
    xyz = ((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047, 0.2126 * r + 0.7152 * g + 0.0722 * b,
           (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883)
    f = [v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def grey(pixel):
    return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]


def kind(pixel):
    """'grow' for orange, 'shrink' for blue, '' for what has little colour."""
    difference = pixel[0] - pixel[2]
    return "grow" if difference > 24 else "shrink" if difference < -24 else ""


def pixel_at(image, x, y):
    at = 3 * (y * image[0] + x)
    return image[2][at], image[2][at + 1], image[2][at + 2]


def main_fills(image):
    """The colour that covers most, by kind."""
    counts = {"grow": {}, "shrink": {}}
    width, height, data = image
    for at in range(0, 3 * width * height, 3):
        pixel = (data[at], data[at + 1], data[at + 2])
        name = kind(pixel)
        if name:
            counts[name][pixel] = counts[name].get(pixel, 0) + 1
    return {name: max(sorted(found), key=found.get) if found else None for name, found in counts.items()}


def longest_run(image, name):
    """The longest unbroken vertical run of an edge of this kind: at least five pixels wide, so that no border of a box
    is taken for one, and darker than the fills of boxes."""
    width, height, _ = image
    rows = [[False] * width for _ in range(height)]
    for y in range(height):
        row = rows[y]
        for x in range(width):
            pixel = pixel_at(image, x, y)
            row[x] = kind(pixel) == name and grey(pixel) < 192
    longest = 0
    for x in range(2, width - 2):
        run = 0
        for y in range(height):
            row = rows[y]
            run = run + 1 if row[x - 2] and row[x - 1] and row[x] and row[x + 1] and row[x + 2] else 0
            longest = max(longest, run)
    return longest


def roughness(image, name):
    """Median, over small windows of one kind, of how much their grey varies: hatching has strokes."""
    width, height, _ = image
    size, found = 10, []
    for top in range(0, height - size, size):
        for left in range(0, width - size, size):
            window = [pixel_at(image, left + i, top + j) for j in range(size) for i in range(size)]
            if any(min(p) > 250 or max(p) < 90 for p in window):
                continue
            mean = tuple(sum(p[c] for p in window) / len(window) for c in range(3))
            if kind(mean) != name:
                continue
            tones = [grey(p) for p in window]
            middle = sum(tones) / len(tones)
            found.append((sum((t - middle) ** 2 for t in tones) / len(tones)) ** 0.5)
    return sorted(found)[len(found) // 2] if found else None


def check(graph, flame):
    faults = []
    fills = main_fills(graph)
    if None in fills.values():
        return ["expected growth and shrinkage on the graph page: found " + str(fills)]
    colours = {name: tuple(linear(v) for v in fill) for name, fill in fills.items()}
    grow, shrink = (lab(seen(colours[name])) for name in ("grow", "shrink"))
    distance = sum((a - b) ** 2 for a, b in zip(grow, shrink)) ** 0.5
    if distance < LEAST_DISTANCE:
        faults.append("fills under deuteranopia: expected a distance of %.0f, found %.1f" % (LEAST_DISTANCE, distance))
    lightness = abs(lab(colours["grow"])[0] - lab(colours["shrink"])[0])
    if lightness > MOST_LIGHTNESS:
        faults.append("fills in grey: expected lightness within %.0f, found %.1f" % (MOST_LIGHTNESS, lightness))
    solid, dashed = longest_run(graph, "grow"), longest_run(graph, "shrink")
    if solid < 40:
        faults.append("edges of growth: expected unbroken lines, the longest has %d pixels" % solid)
    if dashed == 0 or dashed > solid / 2:
        faults.append("edges of shrinkage: expected dashes, the longest run has %d pixels of %d" % (dashed, solid))
    plain, hatched = roughness(flame, "grow"), roughness(flame, "shrink")
    if plain is None or hatched is None:
        faults.append("flame graph: expected both kinds, found %s and %s" % (plain, hatched))
    elif hatched < plain + 4:
        faults.append("flame graph: expected hatching on one kind only, grey varies by %.1f and %.1f" % (hatched, plain))
    print("distance %.1f, lightness %.1f, runs of %d and %d pixels, grey varies by %s and %s" %
          (distance, lightness, solid, dashed, plain, hatched))
    return faults


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    faults = check(read_ppm(sys.argv[1]), read_ppm(sys.argv[2]))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


sys.exit(main())

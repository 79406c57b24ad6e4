#!/usr/bin/env python3
"""Writes two heaptrack recordings of one made-up program, a and b, as heaptrack 1.4 writes them (file version 3, zstd).

  big_heaptrack.py FOLDER MEGABYTES      of text in each, before compression

Some 40 000 stacks 8 to 40 calls deep that share their outer part, 60 000 sizes; nearly half of all events are blocks
freed at once. b has other addresses (address randomisation) and holds more from some of the stacks. Prints what each
holds at the end and at its peak, as JSON.
"""

import json
import os
import random
import subprocess
import sys

STACKS = 40_000
ALLOCATIONS = 60_000
FUNCTIONS = 6_000


def tables(shift, scale):
    """Lines of strings, pointers, traces and allocations; and the size of each allocation."""
    pick = random.Random(1)
    modules = [f"/usr/lib/libservice{i}.so.1" for i in range(40)]
    lines, count = [], 0
    for name in modules:
        lines.append(f"s {len(name):x} {name}")
    functions = max(50, int(FUNCTIONS * scale))
    for i in range(functions):
        name = f"service::module{i % 97}::Handler<std::vector<int, std::allocator<int> > >::step{i}(Request const&)"
        file = f"/src/service/module{i % 97}/handler{i // 7}.cpp"
        lines += [f"s {len(name):x} {name}", f"s {len(file):x} {file}"]
    pointers = functions * 3
    for i in range(pointers):
        function = len(modules) + 1 + 2 * (i % functions)
        text = f"i {0x7f0000000000 + shift + i * 16:x} {i % len(modules) + 1:x} {function:x} {function + 1:x} {i % 900 + 1:x}"
        if i % 5 == 0:  # inlined into another one
            outer = len(modules) + 1 + 2 * ((i * 7 + 3) % functions)
            text += f" {outer:x} {outer + 1:x} {i % 700 + 1:x}"
        lines.append(text)
    nodes = [(0, 0)]
    for _ in range(max(100, int(STACKS * scale))):
        # Leaves a known stack somewhere in its outer half and goes its own way from there.
        at, depth = nodes[pick.randrange(len(nodes))] if pick.random() < 0.9 else (0, 0)
        depth = min(depth, 30)
        for _ in range(pick.randint(1, 4) if depth else pick.randint(8, 12)):
            count += 1
            lines.append(f"t {pick.randrange(pointers) + 1:x} {at:x}")
            at, depth = count, depth + 1
        nodes.append((at, depth))
    sizes = []
    for i in range(max(150, int(ALLOCATIONS * scale))):
        sizes.append(pick.choice((8, 16, 24, 32, 48, 64, 100, 256, 1024, 4096, 70_000)) + pick.randrange(8))
        lines.append(f"a {sizes[-1]:x} {nodes[1 + i % (len(nodes) - 1)][0]:x}")
    return lines, sizes


def write(path, megabytes, seed):
    lines, sizes = tables(seed << 20, min(1.0, megabytes / 20))
    rng = random.Random(seed)
    uniform, total, live, now, peak = rng.random, 0, [], 0, 0
    plus, minus = [f"+ {i:x}" for i in range(len(sizes))], [f"- {i:x}" for i in range(len(sizes))]
    with subprocess.Popen(["zstd", "-q", "-f", "-3", "-o", path], stdin=subprocess.PIPE) as packer:
        head = ["v 10400 3", "X ./service --port 80", "I 1000 1e8480"] + lines
        out, time = head, 0
        while total < megabytes * 1_000_000:
            for _ in range(20_000):
                dice = uniform()
                which = int(uniform() ** 3 * len(sizes))
                if dice < 0.45:
                    out.append(plus[which])
                    out.append(minus[which])
                    peak = max(peak, now + sizes[which])
                elif dice < 0.74 + seed * 0.01 or not live:
                    out.append(plus[which])
                    live.append(which)
                    now += sizes[which]
                    peak = max(peak, now)
                else:
                    at = int(uniform() * len(live))
                    live[at], live[-1] = live[-1], live[at]
                    which = live.pop()
                    out.append(minus[which])
                    now -= sizes[which]
            time += 10
            out += [f"c {time:x}", f"R {now // 4096 + 9000:x}", ""]
            text = "\n".join(out).encode()
            total += len(text)
            packer.stdin.write(text)
            out = []
        packer.stdin.close()
    return {"bytes": total, "live": now, "blocks": len(live), "peak": peak}


def main():
    folder, megabytes = sys.argv[1], float(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    print(json.dumps({name: write(os.path.join(folder, f"{name}.zst"), megabytes, seed)
                      for seed, name in ((1, "a"), (2, "b"))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

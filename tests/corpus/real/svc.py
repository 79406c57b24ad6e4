"""A service whose parts are chosen on the command line: svc.py OUT STEPS SEED KIND NAME...

KIND is dump (tracemalloc), list (its 25 largest lines), or types (how many objects of each type, as objgraph prints).
"""
import collections
import copy
import gc
import json
import os
import random
import sys
import tracemalloc


class Session:
    def __init__(self, number):
        self.number, self.body, self.tags = number, bytes(300), {"k": number}


class Row:
    def __init__(self, values):
        self.values = values


SESSIONS, JOURNAL, LISTENERS, CACHE, RING, TABLE, BURST, QUEUE = {}, [], [], {}, collections.deque(maxlen=100), [], [], collections.deque()
TEMPLATE = {"name": "x", "values": list(range(20))}


def make_buffer(size):
    return bytearray(size)


def track_session():
    for _ in range(60):
        SESSIONS[len(SESSIONS)] = Session(len(SESSIONS))


def keep_journal():
    for i in range(40):
        JOURNAL.append(json.loads(json.dumps({"line": "y" * 200, "i": i + len(JOURNAL)})))


def add_listener():
    for _ in range(50):
        body = make_buffer(400)
        LISTENERS.append(lambda body=body: len(body))


def clone_rows():
    for _ in range(15):
        JOURNAL.append(Row(copy.deepcopy(TEMPLATE)))


def warm_cache():
    for _ in range(80):
        key = int(random.expovariate(1 / 30))
        if key not in CACHE:
            CACHE[key] = make_buffer(1500)


def touch_ring():
    for _ in range(40):
        RING.append(make_buffer(700))


def load_table(step):
    if step == 2:
        TABLE.extend(str(i) * 5 for i in range(6000))


def burst_load(step):
    if step == 3:
        BURST.extend(make_buffer(50000) for _ in range(20))
    elif step == 5:
        BURST.clear()


def run_queue():
    for _ in range(random.randrange(60)):
        QUEUE.append(make_buffer(300))
    for _ in range(min(len(QUEUE), random.randrange(62))):
        QUEUE.popleft()


def handle(names, step):
    for name in names:
        if name == "session":
            track_session()
        elif name == "journal":
            keep_journal()
        elif name == "listener":
            add_listener()
        elif name == "rows":
            clone_rows()
        elif name == "cache":
            warm_cache()
        elif name == "ring":
            touch_ring()
        elif name == "table":
            load_table(step)
        elif name == "burst":
            burst_load(step)
        elif name == "queue":
            run_queue()


def main():
    out, steps, seed, kind, names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5:]
    random.seed(seed)
    lists = [open(os.path.join(out, f"step{step + 1:02}.txt"), "w", encoding="utf-8") for step in range(steps if kind == "list" else 0)]
    if kind != "types":
        tracemalloc.start(10 if kind == "dump" else 1)
    for step in range(1, steps + 1):
        handle(names, step)
        gc.collect()
        if kind == "dump":
            tracemalloc.take_snapshot().dump(os.path.join(out, f"step{step:02}.tracemalloc"))
        elif kind == "list":
            with lists[step - 1] as file:  # opened before, so that the recorder's own memory does not grow
                for statistic in tracemalloc.take_snapshot().statistics("lineno")[:25]:
                    print(statistic, file=file)
        else:
            counts = collections.Counter(type(o).__name__ for o in gc.get_objects())
            with open(os.path.join(out, f"step{step:02}.txt"), "w", encoding="utf-8") as file:
                width = max(len(name) for name, _ in counts.most_common(40))
                for name, count in counts.most_common(40):
                    print(f"{name:<{width}} {count}", file=file)


if __name__ == "__main__":
    main()

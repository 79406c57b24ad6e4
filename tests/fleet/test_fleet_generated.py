"""Generated fleets with known leaking hosts: each of them is named and no other one, by `fleet gate` and by `fleet sql`.

Hosts start late, leave gaps, have clocks that are minutes off, restart with and without ids of their processes (a leaking
one leaks again), run two processes under one name, or are deployed under new names. Harmless ones fill caches, take bursts
and collect garbage.

SNAPDIFF_FLEETS=40 draws so many fleets of 3 to 60 instances (minutes); else a few small ones. SNAPDIFF_FLEET_SEED=N draws
others."""
import collections
import json
import os
import random
import unittest

import servers
from fleet_case import HOUR, FleetTest
from heaps import INUSE, pprof

FLEETS = int(os.environ.get("SNAPDIFF_FLEETS", "0"))
SEED = int(os.environ.get("SNAPDIFF_FLEET_SEED", "0"))
START = 1_760_000_000
KINDS = ("plain", "plain", "gap", "skewed", "restart", "restart with ids", "deploy", "two processes")


class Host:
    """A program with a large steady heap, something harmless that moves, and perhaps a leak."""

    def __init__(self, draw, leaks):
        self.draw = draw
        self.rate = draw.randrange(60_000, 150_000) if leaks else 0
        self.moves = draw.choice(("nothing", "cache", "burst", "garbage"))
        self.height = draw.randrange(100_000, 1_000_000)
        self.at = draw.randrange(1, 9)

    def harmless(self, step):
        if self.moves == "cache":
            return int(self.height * (1 - 0.5 ** (step + 1)))
        if self.moves == "burst":
            return self.height if self.at <= step < self.at + 2 else 0
        return self.height * (step % 3) // 2 if self.moves == "garbage" else 0

    def rows(self, step):
        """{function: (objects, bytes)} so many hours after the start of a process."""
        leaked = self.rate * step + (self.draw.randrange(self.rate // 3) if self.rate else 0)
        rows = {"cache_put": (100 + leaked // 1000, 1_000_000 + leaked), "parse": (10, 3_000_000 + self.draw.randrange(20_000))}
        if self.moves != "nothing":
            rows["index"] = (20, 200_000 + self.harmless(step))
        return rows


class GeneratedFleets(FleetTest):
    shards = 1 if FLEETS else 2

    def push_heaps(self, host, name, times, version="1"):
        """A life that records no process id: one heap profile for each time."""
        files = []
        for i, at in enumerate(times):
            rows = [([function, "serve", "main"], list(values)) for function, values in host.rows(round((at - times[0]) / HOUR)).items()]
            files.append("%s.%d.pb.gz" % (name, i))
            self.write(files[-1], pprof(INUSE, rows, time_ns=at * 10**9))
        self.push(*files, "--service", "api", "--instance", name, "--version", version)
        for file in files:
            os.remove(os.path.join(self.folder, file))

    def push_tracker(self, host, name, times, pid):
        """A life of a process whose id is known."""
        lines = [{"k": "header", "format": "snapdiff-tracker", "version": 1, "process": {"pid": pid, "host": name}}]
        for s, at in enumerate(times):
            rows = host.rows(round((at - times[0]) / HOUR))
            lines.append({"k": "snapshot", "id": str(s), "seq": s, "time": at})
            lines += [{"k": "live", "stack": [function + " (a.c:1)", "serve (a.c:2)", "main (a.c:3)"], "bytes": size, "count": count}
                      for function, (count, size) in rows.items()]
            lines.append({"k": "end", "id": str(s), "rows": len(rows)})
        file = self.write("%s.%d.sdt.jsonl" % (name, pid), "".join(json.dumps(line) + "\n" for line in lines))
        self.push(file, "--service", "api", "--instance", name)
        os.remove(os.path.join(self.folder, file))

    def draw_host(self, draw, name, leaks):
        """Pushes what one host did; returns its kind, the instances that it has, and those of them that leak."""
        host, kind = Host(draw, leaks), draw.choice(KINDS)
        begin = START + draw.choice((0, 0, 0, HOUR * draw.randrange(8)))
        if kind == "skewed":
            begin += draw.randrange(-1800, 1800)

        def life(first):
            return [first + s * HOUR + draw.randrange(60) for s in range(draw.randint(10, 16))]

        times = life(begin)
        later = life(times[-1] + HOUR)
        instances = [name]
        if kind == "two processes":
            self.push_tracker(Host(draw, False), name, times, 11)
            self.push_tracker(host, name, [at + 1 for at in times], 12)
            return kind, [name + " (process 1 of 2)", name + " (process 2 of 2)"], [name + " (process 2 of 2)"] if leaks else []
        if kind == "restart with ids":
            self.push_tracker(host, name, times, 11)
            self.push_tracker(host, name, later, 12)
        elif kind == "deploy":  # the name changes with the version
            instances = [name + "-1", name + "-2"]
            self.push_heaps(host, instances[0], times)
            self.push_heaps(host, instances[1], later, version="2")
        else:
            if kind == "gap":
                del times[4:6]
            self.push_heaps(host, name, times)
            if kind == "restart":
                self.push_heaps(host, name, later)
        return kind, instances, instances if leaks else []

    def draw_fleet(self, number, most):
        draw = random.Random(SEED * 1000 + number)
        kinds, leaking = {}, set()
        for i in range(3 + int((most - 2) * draw.random() ** 2)):
            kind, its, leaks = self.draw_host(draw, "h%02d" % i, draw.random() < 0.35)
            kinds.update((name, kind) for name in its)
            leaking.update(leaks)
        return kinds, leaking

    def risen_by_sql(self):
        """Hosts on which a stack rose by more than 20 kB in four of five steps, each process by itself."""
        text, _ = self.fleet("sql", """SELECT DISTINCT instance_name FROM (
            SELECT instance_name, stack, restart, groupArray(value) AS v FROM (
              SELECT instance_name, stack, restart, ts, value FROM %s.sample GLOBAL ANY INNER JOIN (
                SELECT instance, ts, push, restart, instance_name FROM %s.snapshot WHERE metric = 'inuse_space'
              ) USING instance, ts, push WHERE metric = 'inuse_space' ORDER BY ts
            ) GROUP BY instance_name, stack, restart
          ) WHERE arrayCount((a, b) -> b > a + 20000, arrayPopBack(v), arrayPopFront(v)) > 0.8 * (length(v) - 1)
          ORDER BY instance_name""" % (self.database, self.database), "--as", "csv")
        return {line.strip('"') for line in text.split()[1:]}

    def test_generated_fleets(self):
        whole, missed, blamed = collections.Counter(), collections.Counter(), collections.Counter()
        for number in range(FLEETS or 2):
            with self.subTest(fleet=number):
                self.database = "f%d" % number
                self.make_tables()
                kinds, leaking = self.draw_fleet(number, 60 if FLEETS else 6)
                found = json.loads(self.fleet("gate", "--service", "api", "--as", "json", code=1 if leaking else 0)[0])
                told = {one["name"]: one["result"] for one in found["instances"]}
                wrong = {name: result for name, result in told.items() if result != ("failed" if name in leaking else "passed")}
                by_sql = self.risen_by_sql() ^ {name.split(" ")[0] for name in leaking}
                missed.update(kinds.get(name) for name in wrong if name in leaking)
                blamed.update(kinds.get(name) for name in wrong if name not in leaking)
                print("fleet %d: %d instances, %d leak, wrong: %s, by SQL: %s" % (number, len(told), len(leaking), wrong, by_sql), flush=True)
                whole.update(fleets=1, instances=len(kinds), leaking=len(leaking))
                whole.update(kinds.values())
                self.assertEqual((set(told), wrong, by_sql), (set(kinds), {}, set()))
        print(dict(whole), "missed:", dict(missed), "blamed:", dict(blamed))


if __name__ == "__main__":
    if servers.SKIP:
        print(servers.SKIP)
    unittest.main()

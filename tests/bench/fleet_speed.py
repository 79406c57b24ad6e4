#!/usr/bin/env python3
"""What a fleet costs: push beside 'snapdiff import' and a plain clickhouse-client, bytes a row, seconds a question.

  fleet_speed.py SNAPDIFF [--rows 1000000 10000000] [--shards 1 2]

Heaps of 5000 stacks of depth 12 are generated; of each stack one value in five changes from snapshot to snapshot. An instance
pushes 100 snapshots. Prints one line for each size and number of shards.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fleet"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples", "fleet"))
import servers  # noqa: E402
from fleet import field, varint  # noqa: E402

STACKS, DEPTH, SNAPSHOTS = 5000, 12, 100


def heaps(folder):
    """One instance's snapshots, an hour in all."""
    seed = random.Random(3)
    strings = ["", "inuse_objects", "count", "inuse_space", "bytes"]
    functions = b""
    for number in range(1, 2001):
        strings.append("function_%d" % number)
        functions += field(4, field(1, number) + field(4, field(1, number) + field(2, number)))
        functions += field(5, field(1, number) + field(2, 4 + number) + field(4, 5 + 2000))
    strings.append("service.cc")
    table = functions + b"".join(field(6, text) for text in strings)
    types = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    stacks = [field(1, b"".join(varint(seed.randrange(1, 2001)) for _ in range(DEPTH))) for _ in range(STACKS)]
    values = [seed.randrange(1, 1_000_000) for _ in range(STACKS)]
    for step in range(SNAPSHOTS):
        for number in range(STACKS):
            if seed.random() < 0.2:
                values[number] += seed.randrange(0, 5000)
        body = b"".join(field(2, stack + field(2, varint(value // 64 + 1) + varint(value))) for stack, value in zip(stacks, values))
        with open(os.path.join(folder, "heap.%04d.pb" % step), "wb") as file:
            file.write(types + body + table + field(9, (1_790_000_000 + 36 * step) * 10**9))


def timed(*words, env):
    start = time.monotonic()
    done = subprocess.run(words, capture_output=True, env=env, check=False)
    if done.returncode not in (0, 1):
        sys.exit("%s: %s" % (words, done.stderr.decode()))
    return time.monotonic() - start


def measure(binary, folder, rows, shards, env):
    instances = max(1, rows // (STACKS * SNAPSHOTS))
    with servers.Cluster(shards) as cluster:
        first = cluster.servers[0]
        env = {**env, "SNAPDIFF_FLEET_URL": first.url}
        timed(binary, "fleet", "init", "--url", cluster.urls, env=env)
        push = sum(timed(binary, "push", folder, "--service", "api", "--instance", "h%03d" % i, env=env) for i in range(instances))
        pushed = int(first.query("SELECT count() FROM snapdiff.sample"))
        for server in cluster.servers:
            server.query("OPTIMIZE TABLE snapdiff.sample_local FINAL")
        stored = sum(int(server.query("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'sample_local'"))
                     for server in cluster.servers)
        client = ["clickhouse-client", "--port", str(first.tcp), "--query"]
        dump = os.path.join(folder, "..", "rows.native")
        with open(dump, "wb") as file:
            subprocess.run([*client, "SELECT * FROM snapdiff.sample LIMIT 1000000 FORMAT Native"], stdout=file, check=True)
        first.query("CREATE TABLE snapdiff.plain AS snapdiff.sample_local ENGINE = MergeTree ORDER BY (service, stack, ts)")
        with open(dump, "rb") as file:
            start = time.monotonic()
            subprocess.run([*client, "INSERT INTO snapdiff.plain FORMAT Native"], stdin=file, check=True)
            plain = min(pushed, 1_000_000) / (time.monotonic() - start)
        diff = timed(binary, "fleet", "diff", "--service", "api", env=env)
        trend = timed(binary, "fleet", "trend", "--service", "api", env=env)
        floored = timed(binary, "fleet", "trend", "--service", "api", "--floor", "200KiB", env=env)
    print("| %.0e | %d | %.0f k | %.0f k | %.2f | %.2f | %.2f | %.2f |" %
          (pushed, shards, pushed / push / 1000, plain / 1000, stored / pushed, diff, trend, floored), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("snapdiff")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--shards", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.snapdiff)
    if servers.SKIP:
        print(servers.SKIP)
        return 77
    env = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="snapdiff-speed-") as top:
        folder = os.path.join(top, "heaps")
        os.makedirs(folder)
        heaps(folder)
        seconds = timed(binary, "import", folder, "--db", os.path.join(top, "s.db"), "--series", "a", env=env)
        print("snapdiff import: %.0f k rows/s" % (STACKS * SNAPSHOTS / seconds / 1000))
        print("| rows | shards | push, rows/s | clickhouse-client, rows/s | bytes a row | diff, s | trend, s | trend --floor, s |")
        print("|---|---|---|---|---|---|---|---|")
        for rows in arguments.rows:
            for shards in arguments.shards:
                measure(binary, folder, rows, shards, env)
    return 0


if __name__ == "__main__":
    sys.exit(main())

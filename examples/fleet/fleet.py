#!/usr/bin/env python3
"""A fleet on one machine: two ClickHouse servers, services whose heaps are generated, two leaks among them.

  fleet.py [SNAPDIFF] [--services 10] [--instances 20] [--snapshots 48] [--keep]

Starts two servers on loopback (Debian's clickhouse-server), pushes the heaps of every instance, asks four questions and
prints the answers. SNAPDIFF is the program, by default the one that is installed or that was built in this clone. --keep
leaves the servers running until Enter is pressed, for questions of one's own.

Planted: version 2.3 of `api` leaks in cache_put on all of its instances but one (its cache is switched off), while half as many
instances still run 2.2, which does not; one host of `search`, h07, leaks in load_index.
"""
import argparse
import glob
import gzip
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tests", "fleet"))
import servers  # noqa: E402  (finds heaps, too)
from heaps import field, varint  # noqa: E402

SERVICES = ["api", "search", "auth", "billing", "cart", "images", "mail", "orders", "stock", "users"]
STEP = 1800
FUNCTIONS = ["parse_request", "json_encode", "open_session", "read_config", "tls_handshake", "route", "log_line", "query_plan",
             "thread_stack", "metrics_add"]


def profile(rows, seconds):
    """A profile.proto of in-use bytes. rows: {(leaf, caller): (objects, bytes)}"""
    strings, functions = ["", "inuse_objects", "count", "inuse_space", "bytes"], {}
    body = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4))
    for stack, (objects, size) in rows.items():
        for name in (*stack, "main"):
            functions.setdefault(name, len(functions) + 1)
        body += field(2, field(1, b"".join(varint(functions[name]) for name in (*stack, "main"))) + field(2, varint(objects) + varint(size)))
    for name, number in functions.items():
        strings.append(name)
        at = len(strings) - 1
        body += field(4, field(1, number) + field(4, field(1, number) + field(2, 10 + number)))
        body += field(5, field(1, number) + field(2, at) + field(4, 5 + len(functions)))
    strings.append("service.cc")
    body += b"".join(field(6, text) for text in strings)
    return gzip.compress(body + field(9, seconds * 10**9), 1, mtime=0)


def heap(service, instance, version, step, seed):
    """What is live on one instance at one moment: steady parts that wander, and what was planted."""
    rows = {}
    for number, name in enumerate(FUNCTIONS):
        size = 200_000 * (number + 1) + seed.randrange(-4000, 4000)
        rows[(name, "handle_" + service)] = (max(size // 512, 1), size)
    filled = 4_000_000
    if version == "2.3" and instance != 19:
        filled += 150_000 * step
    rows[("cache_put", "handle_" + service)] = (filled // 1000, filled)
    if service == "search":
        size = 3_000_000 + (90_000 * step if instance == 7 else 0)
        rows[("load_index", "refresh")] = (size // 4096, size)
    return rows


def versions_of(service, instances):
    """The version of each instance. A new one of `api` is being rolled out."""
    if service == "api":
        return ["2.3"] * instances + ["2.2"] * (instances // 2)
    return ["1.1" if instance < instances // 2 else "1.0" for instance in range(instances)]


def find_program():
    """The program that is installed, else the newest that was built here."""
    built = sorted(glob.glob(os.path.join(TOP, "build", "*", "analyzer", "cli", "snapdiff")), key=os.path.getmtime)
    return shutil.which("snapdiff") or (built[-1] if built else sys.exit("no snapdiff is installed or built here: give its path"))


def run(binary, *words, show=True):
    if show:
        print("$ snapdiff " + " ".join(word if word.replace("-", "").replace(".", "").isalnum() else "'" + word + "'" for word in words), flush=True)
    done = subprocess.run([binary, *words], capture_output=True, text=True, check=False)
    if show:
        print(done.stdout + done.stderr)
    elif done.returncode != 0:
        sys.exit("snapdiff %s: %s" % (" ".join(words), done.stderr))
    return done


def push_all(binary, folder, arguments):
    seed = random.Random(5)
    # The last one is of now: servers may drop what is a month old.
    start = (int(time.time()) // STEP - arguments.snapshots + 1) * STEP
    for service in SERVICES[:arguments.services]:
        versions = versions_of(service, arguments.instances)
        for instance, version in enumerate(versions):
            here = os.path.join(folder, service, "h%02d" % instance)
            os.makedirs(here)
            for step in range(arguments.snapshots):
                with open(os.path.join(here, "heap.%04d.pb.gz" % step), "wb") as file:
                    file.write(profile(heap(service, instance, version, step, seed), start + STEP * step))
            run(binary, "push", here, "--service", service, "--instance", "h%02d" % instance, "--version", version, show=False)
        print("pushed %s: %d instances, %d snapshots each" % (service, len(versions), arguments.snapshots), file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("snapdiff", nargs="?", help="the program (the one that is installed, or was built here)")
    parser.add_argument("--services", type=int, default=10)
    parser.add_argument("--instances", type=int, default=20)
    parser.add_argument("--snapshots", type=int, default=48)
    parser.add_argument("--keep", action="store_true", help="leave the servers running until Enter is pressed")
    arguments = parser.parse_args()
    binary = os.path.abspath(arguments.snapdiff or find_program())
    if servers.SKIP:
        print(servers.SKIP)
        return 77
    with servers.Cluster() as cluster, tempfile.TemporaryDirectory(prefix="snapdiff-heaps-") as folder:
        os.environ["SNAPDIFF_FLEET_URL"] = cluster.servers[0].url
        run(binary, "fleet", "init", "--url", cluster.urls, show=False)
        push_all(binary, folder, arguments)
        run(binary, "fleet", "list")
        run(binary, "fleet", "diff", "--service", "api", "--by", "version")
        run(binary, "fleet", "trend", "--service", "api", "--version", "2.3")
        run(binary, "fleet", "outliers", "--service", "search")
        if arguments.keep:
            input("export SNAPDIFF_FLEET_URL=%s\nEnter ends the servers " % cluster.servers[0].url)
    return 0


if __name__ == "__main__":
    sys.exit(main())

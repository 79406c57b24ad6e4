#!/usr/bin/env python3
"""What a fleet costs: the figures of tests/fleet/README.md, with ClickHouse servers on this machine.

  fleet_speed.py SNAPDIFF [--only PART...] [--shards N...] [--rows N...] [--series FOLDER...] [--runs N]

  push      what two instances' hours cost the pusher and the servers, and bytes a row;
            beside it `snapdiff import` and a plain clickhouse-client
  grown     the same rows copied on the servers to 10 hours and --rows: growth of two moments, trend, trend with a floor
  wide      trend of 100 000 stacks x 48 snapshots, with and without a floor, as JSON, and of the files
  series    bytes a row of real heaps in --series and in folders below, each as one instance and as 20: as they were taken, and
            as cron would have taken them

Generated heaps have 5000 stacks of depth 12; of each one value in five changes from snapshot to snapshot. An instance pushes
100 snapshots of an hour. Seconds are of CPU where nothing else is said, so that other programs matter little: of a command
by wait4, of all servers together by /proc. A command's peak below some 30 MiB cannot be seen: that is this script. An older
SNAPDIFF gives the figures of before. Never fails for a time: it prints, a person judges.
"""
import argparse
import glob
import gzip
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from measured_run import Run

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fleet"))
import servers  # noqa: E402
from test_fleet_answers import series_in  # noqa: E402; finds tests/cli, too
from heaps import field, varint  # noqa: E402

PARTS = ("push", "grown", "wide", "series")
DEPTH, SNAPSHOTS, INSTANCES, HOURS = 12, 100, 2, 10
WIDE_SNAPSHOTS, SERIES_INSTANCES = 48, 20
START, STEP, HOUR = 1_790_000_000, 36, 3600
MINUTE, JITTER = 60, 5  # of cron: seconds that a snapshot comes early or late
CLIENT_ROWS = 1_000_000
PATIENCE = 3600
TICKS = os.sysconf("SC_CLK_TCK")


def heaps(folder, stacks, snapshots):
    """One instance's snapshots."""
    os.makedirs(folder)
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
    paths = [field(1, b"".join(varint(seed.randrange(1, 2001)) for _ in range(DEPTH))) for _ in range(stacks)]
    values = [seed.randrange(1, 1_000_000) for _ in range(stacks)]
    for step in range(snapshots):
        for number in range(stacks):
            if seed.random() < 0.2:
                values[number] += seed.randrange(0, 5000)
        body = b"".join(field(2, path + field(2, varint(value // 64 + 1) + varint(value))) for path, value in zip(paths, values))
        with open(os.path.join(folder, "heap.%04d.pb" % step), "wb") as file:
            file.write(types + body + table + field(9, (START + STEP * step) * 10**9))


def make_heaps(folder, stacks, snapshots):
    """In a process of its own: the peak of a command is never below what its parent held."""
    child = multiprocessing.get_context("fork").Process(target=heaps, args=(folder, stacks, snapshots))
    child.start()
    child.join()
    if child.exitcode != 0:
        sys.exit("no heaps were made")
    return folder


def spread(values, form="%.2f"):
    low, high = form % min(values), form % max(values)
    return low if low == high else low + " to " + high


def say(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def head(*cells):
    print()
    say(*cells)
    print("|" + "---|" * len(cells), flush=True)


def command(words, scratch, env):
    run = Run(words, scratch, env)
    if run.code not in (0, 1):
        sys.exit("%s: exit %d: %s" % (" ".join(words), run.code, run.words))
    return run


class Fleet:
    """Servers of their own with empty tables, as a context."""

    def __init__(self, options, shards):
        self.options, self.shards = options, shards
        self.cluster = servers.Cluster(shards)
        self.first = self.cluster.servers[0]
        self.env = {**options.env, "SNAPDIFF_FLEET_URL": self.first.url}

    def __enter__(self):
        self.cluster.__enter__()
        try:
            # Generated heaps are of a fixed day, which is never too old.
            self.run("fleet", "init", "--url", self.cluster.urls, "--keep", "20000", "--keep-hourly", "20000")
        except BaseException:
            self.cluster.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error):
        self.cluster.__exit__(*error)

    def run(self, *words):
        return command([self.options.snapdiff, *words], self.options.scratch, self.env)

    def push(self, service, instance, *files):
        return self.run("push", *files, "--service", service, "--instance", instance)

    def everywhere(self, text):
        """One statement on all servers at once: their answers."""
        with ThreadPoolExecutor(self.shards) as pool:
            return list(pool.map(lambda server: server.query(text, timeout=PATIENCE), self.cluster.servers))

    def cpu(self):
        """Seconds that all servers have used."""
        ticks = 0
        for server in self.cluster.servers:
            with open("/proc/%d/stat" % server.process.pid, encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])  # utime, stime
        return ticks / TICKS

    def wait_for_merges(self):
        end = time.monotonic() + PATIENCE
        while sum(map(int, self.everywhere("SELECT count() FROM system.merges"))) > 0 and time.monotonic() < end:
            time.sleep(1)

    def stored(self):
        """(rows, bytes a row) of samples after all merges."""
        self.everywhere("OPTIMIZE TABLE snapdiff.sample_local FINAL")
        parts = self.everywhere("SELECT sum(rows), sum(bytes_on_disk) FROM system.parts WHERE active AND table = 'sample_local'")
        rows, size = (sum(numbers) for numbers in zip(*(map(int, part.split()) for part in parts)))
        return rows, size / rows

    def question(self, what, *words):
        """Asks --runs times; a line of a table, and the least seconds of the servers."""
        used, runs = [], []
        for _ in range(self.options.runs):
            before = self.cpu()
            runs.append(self.run("fleet", *words))
            used.append(self.cpu() - before)
        say_runs(what, spread(used), runs)
        return min(used)


def head_of_questions(of):
    head(of, "servers, s", "snapdiff, s", "clock, s", "snapdiff holds, MiB")


def say_runs(what, used, runs):
    say(what, used, spread([run.cpu for run in runs]), spread([run.wall for run in runs]), spread([run.peak for run in runs], "%.0f"))


def measure_push(options, shards):
    with Fleet(options, shards) as fleet:
        rows = options.stacks * SNAPSHOTS
        head("pushing %d rows, shards: %d" % (rows, shards), "pusher, s", "servers, s", "clock, s",
             "rows/s a core: pusher alone", "servers alone", "both")
        for number in range(INSTANCES):
            before = fleet.cpu()
            run = fleet.push("api", "b%d" % number, options.heaps)
            time.sleep(3)  # the first merges belong to it
            used = fleet.cpu() - before
            say("instance %d" % (number + 1), "%.2f" % run.cpu, "%.2f" % used, "%.2f" % run.wall,
                *("%.0f k" % (rows / max(seconds, 1 / TICKS) / 1000) for seconds in (run.cpu, used, run.cpu + used)))
        print("\nbytes a row of generated heaps, after merges: %d rows, %.2f" % fleet.stored())
        print("clickhouse-client, by the clock: %.0f k rows/s" % (client_speed(fleet) / 1000))
        store = os.path.join(options.scratch, "import-%d.db" % shards)
        run = command([options.snapdiff, "import", options.heaps, "--db", store, "--series", "a"], options.scratch, options.env)
        print("snapdiff import: %.0f k rows/s by the clock, %.0f k rows/s of CPU" % (rows / run.wall / 1000, rows / run.cpu / 1000))


def client_speed(fleet):
    """Rows/s of the engine's own client, which inserts the same rows from the engine's own format."""
    client = ["clickhouse-client", "--port", str(fleet.first.tcp), "--query"]
    dump = os.path.join(fleet.options.scratch, "rows.native")
    with open(dump, "wb") as file:
        subprocess.run([*client, "SELECT * FROM snapdiff.sample LIMIT %d FORMAT Native" % CLIENT_ROWS], stdout=file, check=True)
    fleet.first.query("CREATE TABLE snapdiff.plain AS snapdiff.sample_local ENGINE = MergeTree ORDER BY (service, stack, ts)")
    with open(dump, "rb") as file:
        start = time.monotonic()
        subprocess.run([*client, "INSERT INTO snapdiff.plain FORMAT Native"], stdin=file, check=True)
        seconds = time.monotonic() - start
    return int(fleet.first.query("SELECT count() FROM snapdiff.plain")) / seconds


def grow(fleet, rows):
    """Copies the pushed hour to HOURS hours and as many instances as make so many rows. A copy stays on its server, as a stack
    does; it has pushes and commit rows of its own, so that readers check it as they check what was pushed."""
    instances = fleet.first.query("SELECT DISTINCT instance FROM snapdiff.snapshot").split()
    pushed = "WHERE instance IN (%s) AND ts < toDateTime(%d)" % (",".join(instances), START + HOUR)
    copies = rows // (fleet.options.pushed * HOURS)
    fleet.everywhere("DROP TABLE snapdiff.sample_hour_view")  # no question reads what it fills
    for hour in range(HOURS):
        for copy in range(copies):
            if hour == 0 and copy == 0:
                continue
            later = HOUR * hour
            push = "bitOr(sipHash64(push, %d, %d), bitShiftLeft(toUInt64(1), 63))" % (copy, hour)
            instance, name = ("sipHash64(instance, %d)" % copy, "concat(instance_name, '-%d')" % copy) if copy else ("instance", "instance_name")
            fleet.everywhere(f"INSERT INTO snapdiff.sample_local SELECT service, metric, hour + {later}, stack, {instance}, ts + {later}, label, "
                             f"{push}, value, objects, known FROM snapdiff.sample_local {pushed} SETTINGS max_threads = 1")
            fleet.everywhere(f"INSERT INTO snapdiff.snapshot_local SELECT sipHash128(concat(toString(snapshot), '-{copy}-{hour}')), {push}, "
                             f"nth + {hour * SNAPSHOTS}, service, metric, unit, {instance}, {name}, version, keys, vals, ts + {later}, "
                             f"ts_ns + {later * 10**9}, restart, period, state, rows, total, objects, facts FROM snapdiff.snapshot_local {pushed}")
    found = int(fleet.first.query("SELECT count() FROM snapdiff.sample", timeout=PATIENCE))
    if found != rows:
        sys.exit("%d rows instead of %d" % (found, rows))


def measure_grown(options, shards, rows):
    with Fleet(options, shards) as fleet:
        for number in range(INSTANCES):
            fleet.push("api", "b%d" % number, options.heaps)
        before, start = fleet.cpu(), time.monotonic()
        grow(fleet, rows)
        print("\n%d rows grown to %d, shards: %d: %.0f s by the clock, %.0f s of CPU of the servers" %
              (options.pushed, rows, shards, time.monotonic() - start, fleet.cpu() - before), flush=True)
        fleet.wait_for_merges()
        # Copied hours are equal: half an hour apart within them, so that stacks grew.
        moments = [START + HOUR, START + HOUR * (HOURS - 2) + HOUR // 2]
        instances = INSTANCES * rows // (options.pushed * HOURS)
        head_of_questions("%d instances, %d rows, shards: %d" % (instances, rows, shards))
        seconds = fleet.question("`diff` of two moments", "diff", "--service", "api", "--from", "@%d" % moments[0], "--to", "@%d" % moments[1])
        fleet.question("`trend` of 200 steps", "trend", "--service", "api")
        fleet.question("the same with `--floor 200KiB`", "trend", "--service", "api", "--floor", "200KiB")
        hours = ",".join("toDateTime(%d)" % (moment // HOUR * HOUR) for moment in moments)
        read = int(fleet.first.query("SELECT count() FROM snapdiff.sample WHERE hour IN (%s)" % hours, timeout=PATIENCE))
        print("\n`diff`: %.0f ns of the servers for each of the %d rows of its two hours" % (seconds / read * 1e9, read))


def measure_wide(options, shards):
    with Fleet(options, shards) as fleet:
        folder = options.wide
        fleet.push("api", "b0", folder)
        fleet.wait_for_merges()
        head_of_questions("%d stacks x %d snapshots, shards: %d" % (options.wide_stacks, WIDE_SNAPSHOTS, shards))
        fleet.question("`trend`", "trend", "--service", "api")
        fleet.question("the same with `--floor 100KiB`", "trend", "--service", "api", "--floor", "100KiB")
        fleet.question("`trend --as json`", "trend", "--service", "api", "--as", "json")
        for form in ("text", "json"):
            runs = [fleet.run("trend", folder, "--as", form, "--db", ":memory:") for _ in range(options.runs)]
            say_runs("`snapdiff trend --as %s` of the files" % form, "", runs)


def read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return number, at


def retimed(profile, time_ns):
    """A profile.proto of another time: its field 9 is replaced."""
    kept, at = [], 0
    while at < len(profile):
        tag, end = read_varint(profile, at)
        if tag & 7 == 2:
            size, end = read_varint(profile, end)
            end += size
        else:
            end = read_varint(profile, end)[1]
        if tag >> 3 != 9:
            kept.append(profile[at:end])
        at = end
    return b"".join(kept) + field(9, time_ns)


def taken_by_cron(folder, files, seed):
    """Copies of a series, a snapshot a minute, each some seconds early or late, at a second of the host's own."""
    os.makedirs(folder)
    phase, copies = seed.uniform(JITTER, MINUTE - JITTER), []
    for number, path in enumerate(files):
        time_ns = int((START + MINUTE * number + phase + seed.uniform(-JITTER, JITTER)) * 1e9)
        with open(path, "rb") as file:
            data = file.read()
        if data.startswith(b"\x1f\x8b"):
            data = gzip.compress(retimed(gzip.decompress(data), time_ns), 1)
        elif not data.startswith(b"heap"):
            data = retimed(data, time_ns)  # a text has the time of its file
        copies.append(os.path.join(folder, os.path.basename(path)))
        with open(copies[-1], "wb") as file:
            file.write(data)
        os.utime(copies[-1], ns=(time_ns, time_ns))
    return copies


def measure_series(options, shards, by_cron):
    seed = random.Random(7)
    with Fleet(options, shards) as fleet, tempfile.TemporaryDirectory(dir=options.scratch) as copies:
        head("%d series of real heaps, %s, shards: %d" % (len(options.series), "a minute ± %d s apart" % JITTER if by_cron else "as taken", shards),
             "rows", "bytes a row")
        for first, last in ((0, 1), (1, SERIES_INSTANCES)):
            for instance in range(first, last):
                for number, (name, files) in enumerate(options.series):
                    if by_cron:
                        files = taken_by_cron(os.path.join(copies, "%d-%d" % (instance, number)), files, seed)
                    fleet.push("%s-%d" % (name, number), "h%d" % instance, *files)
            rows, size = fleet.stored()
            say("each pushed as %s" % ("one instance" if last == 1 else "%d instances" % last), str(rows), "%.2f" % size)


def options_of(parser):
    parser.add_argument("snapdiff")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART", help="push, grown, wide, series (all)")
    parser.add_argument("--shards", type=int, nargs="+", default=[1], metavar="N", help="servers (1)")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000], metavar="N", help="grown: so many rows (10000000)")
    parser.add_argument("--series", nargs="+", default=[], metavar="FOLDER", help="series: real heaps")
    parser.add_argument("--runs", type=int, default=2, metavar="N", help="times that a question is asked (2)")
    parser.add_argument("--stacks", type=int, default=5000, metavar="N", help="push, grown: stacks of a heap (5000)")
    parser.add_argument("--wide-stacks", type=int, default=100_000, metavar="N", help="wide: stacks of a heap (100000)")
    options = parser.parse_args()
    if min(options.shards + options.rows + [options.runs, options.stacks, options.wide_stacks]) < 1:
        parser.error("numbers are 1 or more")
    options.pushed = options.stacks * SNAPSHOTS * INSTANCES
    if "grown" in options.only and any(rows % (options.pushed * HOURS) for rows in options.rows):
        parser.error("--rows: a multiple of %d, which is %d hours of %d rows" % (options.pushed * HOURS, HOURS, options.pushed))
    if "series" in options.only and options.only is not PARTS and not options.series:
        parser.error("series: needs --series FOLDER")
    options.snapdiff = os.path.abspath(options.snapdiff)
    tops = [os.path.abspath(folder) for folder in options.series]
    options.series = series_in(found for top in tops for found in (top, *sorted(glob.glob(os.path.join(top, "*")))))
    if tops and not options.series:
        parser.error("--series: no folder there holds three snapshots")
    options.env = {name: value for name, value in os.environ.items() if name != "SNAPDIFF_DB"}
    return options


def main():
    options = options_of(argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0]))
    if servers.SKIP:
        print(servers.SKIP)
        return 77
    with tempfile.TemporaryDirectory(prefix="snapdiff-speed-") as options.scratch:
        if {"push", "grown"} & set(options.only):
            options.heaps = make_heaps(os.path.join(options.scratch, "heaps"), options.stacks, SNAPSHOTS)
        if "wide" in options.only:
            options.wide = make_heaps(os.path.join(options.scratch, "wide"), options.wide_stacks, WIDE_SNAPSHOTS)
        for shards in options.shards:
            if "push" in options.only:
                measure_push(options, shards)
            if "grown" in options.only:
                for rows in options.rows:
                    measure_grown(options, shards, rows)
            if "wide" in options.only:
                measure_wide(options, shards)
            if "series" in options.only and options.series:
                for by_cron in (False, True):
                    measure_series(options, shards, by_cron)
    return 0


if __name__ == "__main__":
    sys.exit(main())

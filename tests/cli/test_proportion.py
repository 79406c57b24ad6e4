"""Time and memory stay in proportion to an input, whatever it holds: n log n, within 64 times its bytes and 256 MiB.

SNAPDIFF_PROPORTION=1 adds inputs of 10 MB. Prints what each command took.
"""
import glob
import gzip
import math
import multiprocessing
import os
import resource
import subprocess
import unittest

import crafted
from heaps import BINARY, EXAMPLES, SANITIZED, CliTest

SMALL, LARGE, HUGE = 100_000, 1_000_000, 10_000_000
COMMANDS = (("info",), ("--db", ":memory:"), ("import", "--db", "s.db"))
PEAK = ("top", "--db", ":memory:")
STEPS = ("trend", "--metric", "inuse_space", "--db", ":memory:")
WRITTEN = (("--as", "json", "--db", ":memory:"), ("--as", "csv", "--db", ":memory:"),
           ("export", "--folded", "--db", ":memory:"))
MOMENT = {PEAK: "@peak", STEPS: "@steps"}
# Of inputs in which each of many snapshots has rows of its own: a square of values that are nearly all 0.
SERIES = (("trend", "--db", ":memory:"), ("trend", "--by", "function", "--db", ":memory:"),
          ("trend", "--as", "json", "-n", "0", "--db", ":memory:"), ("gate", "--db", ":memory:"))
READ = (crafted.sanitizer_reports, crafted.massif_rows, crafted.tracker_series)
ALLOWED_BYTES = 256 << 20
ALLOWED_FACTOR = 64
# Of a time against n log n: caches, and a machine that does other things. Unoptimised, a square up to a limit of the trend
# stands out as well; a reader in proportion to the square of its input takes 100 times as long, and is still found.
SLACK = 5 if os.environ.get("SNAPDIFF_UNOPTIMISED") else 3
UNMEASURED_SECONDS = 0.3
# All pairs of functions with all their letters, and all of the lines beside each pair of lines, took 20 to 50.
PAIR_SECONDS = 30 if os.environ.get("SNAPDIFF_UNOPTIMISED") else 8


def measured(arguments, folder):
    """(exit code, CPU seconds, bytes of memory at the most)"""
    with subprocess.Popen([BINARY, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Proportion(CliTest):
    def crafted(self, make, size):
        """(name, bytes when unfolded) of a written input. A process of its own makes it: a child that is measured would
        begin with the memory of the one that started it."""
        def write():
            name, content = make(size)
            self.write(name, content)
            return name, len(gzip.decompress(content)) if name.endswith(".gz") else len(content)

        reader, writer = multiprocessing.Pipe(duplex=False)
        maker = multiprocessing.get_context("fork").Process(target=lambda: writer.send(write()))
        maker.start()
        writer.close()
        made = reader.recv()
        maker.join()
        return made

    def check(self, make, commands):
        sizes = [SMALL, LARGE] + ([HUGE] if os.environ.get("SNAPDIFF_PROPORTION") else [])
        before = {}
        for size in sizes:
            name, unfolded = self.crafted(make, size)
            # What a sanitizer makes of times and memory says nothing: there the large one goes the main way alone.
            for command in commands[1:2] if SANITIZED and size > SMALL else commands:
                operand = name + MOMENT.get(command, "")
                if self.exists("s.db"):
                    os.unlink(os.path.join(self.folder, "s.db"))
                code, seconds, memory = measured([*command, operand], self.folder)
                words = " ".join(word for word in command if word not in ("--db", ":memory:", "s.db", "-o", "report"))
                print("%-18s %-22s %9d B %8.2f s %7.1f MiB  exit %d" % (
                    make.__name__, words or "diff", unfolded, seconds, memory / (1 << 20), code), flush=True)
                with self.subTest(input=make.__name__, command=command[0], size=size):
                    self.assertIn(code, (0,) if make in READ and command[0] != "gate" else (0, 1, 2))
                    if not SANITIZED:
                        self.assertLess(memory, ALLOWED_BYTES + ALLOWED_FACTOR * unfolded)
                    if command in before and not SANITIZED:
                        small_bytes, small_seconds = before[command]
                        ratio = unfolded / small_bytes * math.log(unfolded) / math.log(small_bytes)
                        self.assertLess(seconds, UNMEASURED_SECONDS + SLACK * ratio * max(small_seconds, 0.02))
                before[command] = (unfolded, seconds)

    def test_an_input_of_each_kind(self):
        for make in crafted.ALL:
            more = {crafted.dominator_chain: (("retained",),), crafted.alike_addresses: (PEAK,),
                    crafted.object_types: (("retained", "--as", "json"), ("paths", "T1")),
                    crafted.long_names_deep: WRITTEN, crafted.long_name_in_rows: WRITTEN,
                    crafted.cuda_devices: (("ranks", "--db", ":memory:"),),
                    crafted.cuda_steps: (STEPS,), crafted.cuda_long_file: (("pins",),)}
            more.update({series: SERIES for series in READ + (crafted.counters_once, crafted.profiled_devices)})
            self.check(make, COMMANDS + more.get(make, ()))

    def test_two_builds_of_each_kind(self):
        """Matching compares what a pair of functions or lines has in common: at most so many of these."""
        for make in crafted.PAIRS:
            for size in (SMALL, SMALL if SANITIZED else LARGE):
                files = make(size)
                for name, content in files:
                    self.write(name, content)
                code, seconds, memory = measured([*(name for name, _ in files), "--db", ":memory:"], self.folder)
                unfolded = sum(len(content) for _, content in files)
                print("%-18s %-22s %9d B %8.2f s %7.1f MiB  exit %d" % (
                    make.__name__, "diff", unfolded, seconds, memory / (1 << 20), code), flush=True)
                with self.subTest(input=make.__name__, size=size):
                    self.assertEqual(code, 0)
                    if not SANITIZED:
                        self.assertLess(seconds, PAIR_SECONDS)
                        self.assertLess(memory, ALLOWED_BYTES + ALLOWED_FACTOR * unfolded)

    def test_the_whole_report(self):
        """Small ones of every kind; larger ones of those that are long series, which have to be written."""
        for make in crafted.ALL:
            sizes = [SMALL // 4]
            if make in READ and not SANITIZED:
                sizes += [LARGE] + ([HUGE] if os.environ.get("SNAPDIFF_PROPORTION") else [])
            for size in sizes:
                name, unfolded = self.crafted(make, size)
                code, seconds, memory = measured(["postmortem", name, "-o", "report.%s.%d" % (make.__name__, size)], self.folder)
                print("%-18s %-10s %9d B %8.2f s %7.1f MiB  exit %d" % (
                    make.__name__, "postmortem", unfolded, seconds, memory / (1 << 20), code), flush=True)
                with self.subTest(input=make.__name__, size=size):
                    self.assertIn(code, (0,) if make in READ else (0, 2))
                    if not SANITIZED:
                        self.assertLess(memory, ALLOWED_BYTES + ALLOWED_FACTOR * unfolded)

    def test_a_folder_is_imported_in_the_memory_of_a_part_of_it(self):
        rows = 40000
        rest = gzip.compress("".join("1: 64 [1: 64] @ 0x%x 0x1100\n" % (0x2000 + 16 * n) for n in range(rows)).encode(), 1)
        os.mkdir(os.path.join(self.folder, "heaps"))

        def dump(i):
            total = "%d: %d [%d: %d]" % (rows + 1, 64 * rows + i, rows + 1, 64 * rows + i)
            head = "heap profile: %s @ heapprofile\n1: %d [1: %d] @ 0x1200 0x1100\n" % (total, i, i)
            self.write("heaps/svc.%04d.heap.gz" % i, gzip.compress(head.encode()) + rest)

        memory = {}
        few, many = (3, 6) if SANITIZED else (100, 220)  # there memory says nothing
        for count in (few, many):
            for i in range(1, count + 1):
                if not self.exists("heaps/svc.%04d.heap.gz" % i):
                    dump(i)
            store = "s%d.db" % count
            code, seconds, memory[count] = measured(["import", "heaps", "--db", store], self.folder)
            print("import of %d files of %d stacks %8.2f s %7.1f MiB" % (count, rows, seconds, memory[count] / (1 << 20)))
            self.assertEqual(code, 0)
            out, _ = self.run_it("sql", "SELECT count(*), max(total) - min(total) FROM snapshot_total WHERE metric = 'inuse_space'",
                                 "--db", store, "--as", "csv")
            self.assertEqual(out.splitlines()[-1], "%d,%d" % (count, count - 1))
        if not SANITIZED:
            self.assertLess(memory[many] - memory[few], 40 << 20)  # the rows of the others are 110 MiB

    @unittest.skipIf(SANITIZED, "a sanitizer has an allocator of its own")
    def test_columns_are_not_paid_for_page_by_page(self):
        """One heap that is never given back in between; where a limit is set, however large, none is reserved."""
        rows = 40000
        for name, count in (("a.heap", 1), ("b.heap", 2)):
            lines = "".join("%d: %d [%d: %d] @ 0x%x 0x1100\n" % (count, 64 * count, count, 64 * count, 0x2000 + 16 * n)
                            for n in range(rows))
            total = (count * rows, 64 * count * rows)
            self.write(name, ("heap profile: %d: %d [%d: %d] @ heapprofile\n" % (total + total) + lines).encode())

        def faults(limit):
            with subprocess.Popen([BINARY, "a.heap", "b.heap", "--db", ":memory:"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return usage.ru_minflt

        together, apart = faults(resource.RLIM_INFINITY), faults(1 << 46)
        print("page faults: %d, with a limit %d" % (together, apart))
        self.assertLess(together, apart)

    @unittest.skipIf(SANITIZED, "a sanitizer reserves more addresses than any limit leaves")
    def test_without_memory_it_says_so(self):
        """Whatever fails to be allocated, in our code or in a library's: one line, exit 2, no signal."""
        series = sorted(glob.glob(os.path.join(EXAMPLES, "go-queue", "heap.*.pb.gz")))

        def run(limit, *arguments):
            return subprocess.run([BINARY, *arguments], cwd=self.folder, capture_output=True, check=False,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20)))

        start = next(limit for limit in range(16, 2048, 4) if run(limit, "--version").returncode == 0)
        codes = []
        for more in (2, 4, 6, 8, 12, 16, 20, 26, 34, 44, 60, 80, 110, 160, 240, 400):
            done = run(start + more, "postmortem", *series, "-o", "limited", "--db", ":memory:")
            codes.append(done.returncode)
            with self.subTest(limit_mib=start + more):
                self.assertIn(done.returncode, (0, 2), done.stderr)
                if done.returncode == 2:
                    errors = [line for line in done.stderr.decode().splitlines() if line.startswith("error: ")]
                    self.assertEqual(len(errors), 1, done.stderr)
        self.assertIn(2, codes)


if __name__ == "__main__":
    unittest.main()

"""Inputs as people bring them: lists that leave rows out, logs and documents that look like logs, leak checks."""
import json
import os
import re
import unittest

from heaps import CliTest, pprof

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
MIB = 1 << 20


def massif(snapshots):
    """snapshots: lists of (bytes, label), the rest of the list last."""
    out = ["desc: (none)", "cmd: ./shop", "time_unit: i"]
    for number, rows in enumerate(snapshots):
        total = sum(size for size, _ in rows)
        out += ["#-----------", "snapshot=%d" % number, "#-----------", "time=%d" % (number * 1000),
                "mem_heap_B=%d" % total, "mem_heap_extra_B=0", "mem_stacks_B=0", "heap_tree=detailed",
                "n%d: %d (heap allocation functions) malloc/new/new[], --alloc-fns, etc." % (len(rows), total)]
        out += [" n0: %d %s" % row for row in rows]
    return "\n".join(out) + "\n"


REST = "in 3 places, all below massif's threshold (1.00%)"


class RealInputs(CliTest):
    def test_a_snapshot_of_nothing_says_where_to_look(self):
        """Not a table of zeros alone: all was freed before the end, or the process allocated nothing."""
        freed = os.path.join(DATA, "valgrind", "dhat-all-freed.json")
        empty = os.path.join(DATA, "nothing_left", "empty.pickle")
        out, _ = self.run_it("top", freed)
        self.assertIn("Nothing is in use at this moment", out)
        self.assertIn("1.96 MiB was allocated and is freed again", out)
        self.assertIn("dhat-all-freed.json@peak", out)
        self.assertIn("1.00 MiB in 1 object", self.run_it("top", freed + "@peak")[0])
        self.assertIn("the process has allocated nothing on a device so far", self.run_it("top", empty)[0])
        for file in (freed, empty):
            out, _ = self.run_it("postmortem", file, "-o", "r.md", "--db", ":memory:")
            self.assertTrue(out.startswith("Nothing is in use at this moment"), out)
            self.assertNotIn("2 snapshots", out)

    def text(self, name, text):
        return self.write(name, text.encode())

    def story(self, *operands):
        document = json.loads(self.run_it("diff", *operands, "--db", ":memory:", "--as", "json")[0])
        return document.get("overall", document)

    def trend(self, *operands):
        return self.run_it("trend", *operands, "--db", ":memory:")[0]

    def test_the_recorded_total_of_a_massif_file_is_the_total(self):
        """Not "977 KiB -> 1.05 MiB": a stack that the first list leaves out held at most the rest of that list."""
        path = self.text("massif.out.1", massif([
            [(900000, "0x1001: cart_put (cart.c:42)"), (100000, REST)],
            [(7900000, "0x2001: index_add (index.c:9)"), (1000000, "0x1001: cart_put (cart.c:42)"), (100000, REST)]]))
        report = self.story(path)
        self.assertEqual([report["total"][key] for key in ("baseline", "current", "growth")], [1000000, 9000000, 8000000])
        self.assertEqual([c["name"] for c in report["story"]["culprits"]], ["index_add"])
        rows = {row["stack"][0]["function"]: row for row in report["rows"]}
        self.assertEqual(rows["index_add"]["error"], 100000)
        self.assertNotIn("listed_once", report)
        self.run_it("gate", path, "--db", ":memory:", "--budget", "total:1MiB", code=1)

    def test_a_massif_series_begins_where_the_program_allocates(self):
        """Not "NEW, not there before snapshot 2" and "100 % unmatched" for the empty heap of the start."""
        path = self.text("massif.out.2", massif([[]] + [
            [(500000, "0x1: warm (a.c:1)"), (100000 + 30000 * i, "0x2: leak (a.c:2)"), (5000, REST)] for i in range(12)]))
        out = self.trend(path)
        self.assertRegex(out, r"in use +591 KiB → 913 KiB .* over 12 snapshots")
        self.assertRegex(out, r"GROWING +leak +a.c:2 +\+322 KiB +100 %")
        self.assertIn("matched   100 % of bytes by function", out)
        self.assertNotIn("NEW", out)

    def test_a_row_that_passes_the_threshold_of_its_list_is_not_new(self):
        """It grew below the threshold before: nothing says that it was not there."""
        series = []
        for i in range(20):
            leak = 3000 * (i + 1)
            rows = [(1000000, "0x1: base (a.c:1)")]
            if leak > 10000:
                rows += [(leak, "0x2: leak (a.c:2)"), (15000, REST)]
            else:
                rows.append((15000 + leak, REST))
            series.append(rows)
        out = self.trend(self.text("massif.out.3", massif(series)))
        self.assertRegex(out, r"GROWING +leak")
        self.assertNotRegex(out, r"NEW +leak")

    def counters(self, *operands):
        """Name -> (first, last) of each counter."""
        document = json.loads(self.run_it("trend", *operands, "--db", ":memory:", "--as", "json")[0])
        return {c["name"]: (c["values"][0], c["values"][-1]) for c in document["rows"]}

    def refusal(self, name, text):
        return self.run_it("info", self.text(name, text), code=2)[1]

    def test_documents_are_no_logs(self):
        """Not "reserved 128 MiB -> 82.0 KiB": a word that is used again for another thing is no series."""
        nmt = ("29644:\n\nNative Memory Tracking:\n\nTotal: reserved=1574011KB, committed=141943KB\n\n"
               "-                 Java Heap (reserved=131072KB, committed=78848KB)\n"
               "                            (mmap: reserved=131072KB, committed=78848KB)\n\n"
               "-                    Thread (reserved=20533KB, committed=877KB)\n"
               "                            (stack: reserved=20480KB, committed=824KB)\n")
        self.assertIn("jvm-nmt", self.run_it("info", self.text("nmt.txt", nmt))[0])
        manifest = "kind: Pod\nspec:\n  resources:\n    limits:\n      memory: 512Mi\n    requests:\n      memory: 256Mi\n"
        self.assertIn("text of an unknown kind", self.refusal("pod.yaml", manifest))
        table = "heap by size\n 8m: 2, used=16.0 MB\n 4m: 1, used=4.0 MB\n 2m: 7, used=14.0 MB\n 1m: 5, used=5.0 MB\nend\n"
        self.assertIn("text of an unknown kind", self.refusal("table.txt", table))
        for log in ("rss: 5 MB\nrss: 6 MB\n", "# Memory\nused_memory:5\nx:1\n# Memory\nused_memory:6\nx:1\n",
                    "before load: RSS 5 MB\nafter load: RSS 6 MB\n", "step 1\n  rss 5 MB\nother\nstep 2\n  rss 6 MB\n"):
            report = json.loads(self.run_it("diff", self.text("real.log", log), "--db", ":memory:", "--as", "json")[0])
            self.assertEqual(len(report["rows"]), 1, log)

    def test_every_value_of_a_line_is_read_with_what_it_is_of(self):
        """Not the first process of each line alone: FLAT for one that grew by 220 MiB."""
        lines = [json.dumps({"ts": 1777429252.5 + 5 * i, "records": [
            {"pid": 100, "command": "sh", "rss_kb": 2704}, {"pid": 101, "command": "shopd", "rss_kb": 102400 + 20480 * i}]})
            for i in range(12)]
        out = self.counters(self.text("processes.jsonl", "\n".join(lines) + "\n"))
        self.assertEqual(out, {"rss{command=sh,pid=100}": (2704 * 1024,) * 2,
                               "rss{command=shopd,pid=101}": (100 * MIB, 320 * MIB)})
        out = self.counters(self.text("two.log", "".join("step %d rss=%dMB heap=%dMB\n" % (i, 500 + i, 300 + i) for i in range(3))))
        self.assertEqual(out, {"rss": (500 * MIB, 502 * MIB), "heap": (300 * MIB, 302 * MIB)})
        out = self.counters(self.text("same.log", "".join("step %d rss 1 MB, rss %d MB\n" % (i, i + 1) for i in range(3))))
        self.assertEqual(out, {"rss": (MIB, MIB), "rss{n=2}": (MIB, 3 * MIB)})

    def test_units_in_words_are_units_and_others_are_no_bytes(self):
        def values(line):
            return self.counters(self.text("units.log", "".join(line % (100 + i) + "\n" for i in range(3))))
        self.assertEqual(values("Maximum resident set size (kbytes): %d"), {"rss": (100 * 1024, 102 * 1024)})
        self.assertEqual(values("rss: %d megabytes"), {"rss": (100 * MIB, 102 * MIB)})
        self.assertEqual(values("ru_maxrss=%d"), {"peak_rss": (100 * 1024, 102 * 1024)})
        for line in ("rss: %d pages", "rss (pages): %d"):
            self.assertEqual(values(line), {"rss": (100, 102)})
            self.assertNotIn(" B", self.trend("units.log"))

    def test_numbers_with_a_unit_or_a_word_of_memory_are_counters(self):
        megatron = "".join("[Rank 0] (after %d iterations) memory (MB) | allocated: %d.0 | max allocated: 2000.0\n" % (i, 100 * i)
                           for i in range(1, 4))
        self.assertEqual(self.counters(self.text("megatron.log", megatron)),
                         {"allocated": (100 * MIB, 300 * MIB), "max_allocated": (2000 * MIB,) * 2})
        deepspeed = "".join("MA %d.0 GB         Max_MA 9.0 GB         CA 4.0 GB\n[step=%d] CPU Virtual Memory:  used = 8.0 GB, percent = 5%%\n"
                            % (i, i) for i in range(1, 4))
        out = self.counters(self.text("deepspeed.log", deepspeed))
        self.assertEqual(out["ma"], (1 << 30, 3 << 30))
        self.assertEqual(set(out), {"ma", "max_ma", "ca", "used"})
        dotnet = "".join("    GC Heap Size (MB)                     %d\n" % (10 * i) for i in range(1, 4))
        self.assertEqual(self.counters(self.text("dotnet.log", dotnet)), {"gc_heap_size": (10 * MIB, 30 * MIB)})
        info = self.run_it("info", self.text("part.log", "hello\nrss: 5 MB\nloss 0.5\nrss: 6 MB\nbye\n"))[0]
        self.assertIn("lines without a number that is read (3 times), first at byte 0", info)

    def test_a_refused_text_gets_a_pattern_that_reads_it(self):
        text = "started\nworker: pool size is 12.5 MB (of 40)\nidle\nworker: other 7\nworker: pool size is 13.5 MB (of 40)\nworker: pool size is 14.5 MB\nx\ny\nz\n"
        error = self.refusal("unknown.txt", "one\n" * 9 + text)
        pattern = re.search("--pattern '([^']+)'", error)
        self.assertTrue(pattern, error)
        out = json.loads(self.run_it("trend", "unknown.txt", "--pattern", pattern.group(1), "--db", ":memory:", "--as", "json")[0])
        self.assertEqual(out["rows"][0]["values"], [13107200, 14155776, 15204352])
        self.assertIn("text of an unknown kind", self.refusal("bracket.txt", "[INFO] hello\n[INFO] world\n"))

    def test_memcheck_counts_what_is_lost_with_a_record(self):
        """The default output lists no indirect records: "24 direct, 376,384 indirect" had no culprit."""
        check = ("==7== %s (24 direct, %s indirect) bytes in 1 blocks are definitely lost in loss record 1 of 2\n"
                 "==7==    at 0x48417B4: malloc (in /usr/lib/vgpreload_memcheck.so)\n"
                 "==7==    by 0x10: make_tree (tree.c:9)\n==7== \n==7== LEAK SUMMARY:\n"
                 "==7==    definitely lost: 24 bytes in 1 blocks\n==7==    indirectly lost: %s bytes in 9 blocks\n"
                 "==7==      possibly lost: 0 bytes in 0 blocks\n==7==    still reachable: %s bytes in 5 blocks\n"
                 "==7==         suppressed: 0 bytes in 0 blocks\n==7== \n")
        path = self.text("memcheck.txt", "".join(check % ("{:,}".format(24 + lost), "{:,}".format(lost), "{:,}".format(lost),
                                                          "{:,}".format(reachable))
                                                 for lost, reachable in ((1000, 9000000), (376384, 5000000))))
        report = self.story(path)
        self.assertEqual(report["metric"], "lost_space")
        self.assertEqual([report["total"][key] for key in ("baseline", "current")], [1024, 376408])
        self.assertEqual([c["name"] for c in report["story"]["culprits"]], ["make_tree"])
        self.assertIn("most stacks end before main, at 2 frames: record with --num-callers=40",
                      self.run_it("diff", path, "--db", ":memory:")[0])
        report = json.loads(self.run_it("diff", path, "--metric", "inuse_space", "--db", ":memory:", "--as", "json")[0])
        self.assertEqual(report["total"]["growth"], 376384 - 1000 - 4000000)

    def test_goroutines_of_go_are_read(self):
        def profile(leaked):
            return ("goroutine profile: total %d\n%d @ 0x489ace 0x41a5ae 0x6b04c5 0x4911c1\n"
                    "#\t0x6b04c4\tlumberjack.(*Logger).millRun+0x44\t/go/lumberjack.go:379\n\n"
                    "1 @ 0x448cb1 0x64f8b0 0x4911c1\n#\t0x64f8af\tmain.main+0x1\t/go/main.go:20\n" % (leaked + 1, leaked))
        report = self.story(self.text("goroutine.1.txt", profile(450)), self.text("goroutine.2.txt", profile(1800)))
        self.assertEqual((report["metric"], report["total"]["growth"]), ("goroutine", 1350))
        self.assertEqual(report["rows"][0]["stack"][0]["function"], "lumberjack.(*Logger).millRun")
        self.assertEqual(len(report["rows"][0]["stack"]), 1)
        lost = self.run_it("info", self.text("goroutine.3.txt", profile(450)[:150]))[0]
        self.assertIn("dropped", lost)

    def test_show_growth_of_objgraph_keeps_what_it_does_not_list(self):
        """Not "objects 0 -> 0" where 300 became 500."""
        log = ("function  5148  +5148\nlist  3257  +3257\n=== step 1\nlist  6473  +3216\nPattern  300  +100\n"
               "=== step 2\nPattern  400  +100\n=== step 3\nPattern  500  +100\nJob  3  +3\n")
        report = self.story(self.text("growth.txt", log))
        rows = {row["stack"][0]["function"]: (row["baseline"], row["current"]) for row in report["rows"]}
        self.assertEqual(rows, {"function": (5148, 5148), "list": (3257, 6473), "Pattern": (200, 500), "Job": (0, 3)})

    def test_logs_of_garbage_collectors_are_read(self):
        """What is live after a collection of the whole heap; figures of the lines."""
        logs = {
            "[0.1s][info][gc] GC(%d) Pause Full (System.gc()) 30M->%dM(64M) 19.4ms\n[0.1s][info][gc,heap] GC(1) Eden regions: 1->0(1)\n": "heap_after_full_gc",
            "[2026-11-26T14:46:57.%d+0000][0.5s][info][gc   ] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 48M->%dM(64M) 1ms\n": "heap_after_gc",
            "[0.4s][info][gc] GC(%d) Garbage Collection (Warmup) 60M(9%%)->%dM(3%%)\n": "heap_after_full_gc",
            "%d.1: [Full GC (Ergonomics) [PSYoungGen: 9K->0K(7K)] [ParOldGen: 8K->5K(2K)] 90M->%dM(64M), [Metaspace: 3K->3K(9K)], 0.03 secs]\n": "heap_after_full_gc",
            "[47:0x4f]   3%d2 ms: Mark-Compact 97.1 (28.2) -> %d.0 (64.0) MB, 7.30 / 0.00 ms\n": "heap_after_full_gc",
            "gc %d @0.046s 0%%: 0.2+5.0+0.009 ms clock, 0.5+0/0.3/0.1+0.01 ms cpu, 3->14->%d MB, 4 MB goal, 0 MB stacks, 2 P\n": "heap_after_full_gc"}
        for line, name in logs.items():
            out = self.counters(self.text("gc.log", "".join(line % (i, 10 * i) for i in range(1, 4))))
            self.assertEqual(out[name], (10 * MIB, 30 * MIB), line)
            self.assertEqual(set(out) - {name, "heap_total"}, set(), line)
            self.assertEqual(out.get("heap_total", (64 * MIB,) * 2), (64 * MIB,) * 2, line)

    def test_names_of_metrics_say_what_is_in_use(self):
        """heapprofd's names, a file with one metric, and allocations, which never are in use."""
        def report(*types):
            stack = ["f", "main"]
            files = [self.write("p%d.pb.gz" % i, pprof(list(types), [(stack, [i * 1000 + n for n in range(len(types))])])) for i in (1, 2)]
            return self.story(*files)
        heapprofd = report(("Unreleased malloc count", "count"), ("Unreleased malloc size", "bytes"), ("Total malloc size", "bytes"))
        self.assertEqual((heapprofd["metric"], heapprofd["total"]["growth"]), ("inuse_space", 1000))
        self.assertEqual(report(("goroutine", "count"))["metric"], "goroutine")
        allocations = report(("allocations", "bytes"))
        self.assertEqual(allocations["metric"], "alloc_space")
        self.assertIn("growth here is no leak", json.dumps(allocations["notes"]))


if __name__ == "__main__":
    unittest.main(verbosity=2)

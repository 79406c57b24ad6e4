"""First screens that said something untrue, or two things that contradict each other, and what they say now."""
import glob
import os
import re
import tarfile
import unittest

from heaps import CliTest, INUSE, SOURCE, pprof

DATA = os.path.join(SOURCE, "tests", "data")
MASSIF_HEAD = "desc: (none)\ncmd: ./svc\ntime_unit: i\n"


def massif(*snapshots):
    """Each snapshot: [(bytes, [frame, leaf first])]."""
    out = MASSIF_HEAD
    for number, stacks in enumerate(snapshots):
        total = sum(size for size, _ in stacks)
        out += f"#-----------\nsnapshot={number}\n#-----------\ntime={number * 1000}\nmem_heap_B={total}\nmem_heap_extra_B=0\n" \
               f"mem_stacks_B=0\nheap_tree=detailed\nn{len(stacks)}: {total} (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
        for size, stack in stacks:
            for depth, frame in enumerate(stack):
                out += f"{' ' * (depth + 1)}n{int(depth + 1 < len(stack))}: {size} {frame}\n"
    return out


def histogram(*rows):
    lines = "".join(f"{i + 1:4d}: {count:12d} {size:12d}  {name}\n" for i, (name, count, size) in enumerate(rows))
    return f" num     #instances         #bytes  class name (module)\n{'-' * 55}\n{lines}" \
           f"Total {sum(r[1] for r in rows):10d} {sum(r[2] for r in rows):12d}\n"


class FirstScreens(CliTest):
    def screen(self, *arguments):
        """Of one line each, whatever the width."""
        return re.sub(r"\n {8,}", " ", self.run_it(*arguments, "--db", ":memory:")[0])

    def pair(self, before, after):
        return self.screen("diff", self.write("a.pb.gz", pprof(INUSE, before)), self.write("b.pb.gz", pprof(INUSE, after)))

    def test_what_a_header_of_a_shared_library_inlined_is_not_the_programs(self):
        def stacks(size):
            library = ["0x487AEB2: YAML::detail::memory::create_node() (in /usr/lib/x86_64-linux-gnu/libyaml-cpp.so.0.7.0)",
                       "0x10EFBB: void YAML::Node::Assign<int>(int const&) (impl.h:227)", "0x10C7A4: operator=<int> (impl.h:205)"]
            own = ["0x4F0001: operator new(unsigned long) (in /usr/lib/x86_64-linux-gnu/libstdc++.so.6)", "0x10E000: Cart::put<int>(int) (cart.h:12)"]
            return [(size, [*library, "0x10C7A4: save_progress (svc.cpp:10)", "0x10D000: main (svc.cpp:22)"]),
                    (2 * size, [*own, "0x10D100: serve (svc.cpp:30)", "0x10D200: main (svc.cpp:23)"])]
        path = self.write("massif.out", massif(stacks(10_000), stacks(500_000)))
        out = self.screen("diff", path + "@first", path + "@last")
        self.assertEqual(re.findall(r"^growth +(\S+) +(\S+:\d+)", out, re.M), [("Cart::put<int>", "cart.h:12"), ("save_progress", "svc.cpp:10")])

    def test_a_rate_is_that_of_the_snapshots_that_grow(self):
        out = self.screen("trend", os.path.join(DATA, "valgrind", "massif-vgseries-final.out"))
        self.assertRegex(out, r"GROWING mem_heap: \+1\.\d\d KiB per snapshot, .*first there at snapshot 2")

    def test_snapshots_that_do_not_list_a_stack_are_not_counted_as_all(self):
        out = self.screen("trend", *glob.glob(os.path.join(SOURCE, "tests", "real", "cases", "native-glib-variant-loop", "leak", "*")))
        self.assertIn("steady over the 18 snapshots that list it", out)
        self.assertRegex(out, r"-16\.0 KiB +██_+ +call_init")  # listed twice: no slope

    def test_types_are_matched_by_type(self):
        before, after = [("app.Order", 10, 240), ("[B", 4000, 96000)], [("app.Order", 5000, 120000), ("[B", 4000, 96000)]
        out = self.screen("diff", self.write("1.histo", histogram(*before)), self.write("2.histo", histogram(*after)))
        self.assertIn("matched   100 % of bytes by type; exact", out)
        for screen in (out, self.screen("trend", "1.histo", "2.histo", "2.histo"), self.screen("2.histo")):
            self.assertRegex(screen, r" type\n")
            self.assertNotIn("stack", screen)

    def test_nothing_that_both_have_is_not_a_match(self):
        out = self.pair([(["old"], [1, 5 << 20])], [(["new"], [1, 6 << 20])])
        self.assertIn("matched   nothing: all is new or gone; sampling not known", out)

    def test_growth_that_is_dead_space_of_the_collector_is_said(self):
        filler = "jdk.internal.vm.FillerElement[]"
        before, after = [("[B", 4000, 96000), (filler, 1, 1000)], [("[B", 4100, 98400), (filler, 5, 901000)]
        out = self.screen("diff", self.write("1.histo", histogram(*before)), self.write("2.histo", histogram(*after)))
        self.assertIn("Most of the growth is dead space of the collector: +879 KiB of +881 KiB, >99 %", out)

    def test_what_moved_to_another_stack_of_the_function_was_not_freed(self):
        thread, main = ["load_page", "worker"], ["load_page", "worker", "run"]
        out = self.pair([(thread, [9, 9 << 20]), (["once"], [4, 4 << 20])], [(main, [8, 8 << 20])])
        self.assertRegex(out, r"freed +once +app\.go:\d+ +-4\.00 MiB")
        self.assertNotRegex(out, r"freed +load_page")

    def test_a_jump_is_told_by_the_snapshot_of_the_series(self):
        out = self.screen("trend", *sorted(glob.glob(os.path.join(SOURCE, "tests", "real", "cases", "go-ristretto-expiration-map", "leak", "*"))))
        self.assertRegex(out, r"STEP +main\.saveSession .* one jump of 4\.58 MiB at snapshot 12\n")

    def test_no_stack_is_growing_where_its_function_only_moved(self):
        def heap(step):
            inlined = [(["work", "serve"], [step + 1, (step + 1) << 20])]
            return inlined + [(["make", "work", "serve"], [20 - step, (20 - step) << 20]), (["rest"], [1, 1 << 20])]
        out = self.screen("trend", *[self.write(f"{step:02}.pb.gz", pprof(INUSE, heap(step))) for step in range(12)])
        self.assertIn("culprits  none: stacks grew by what others of the same function lost", out)
        self.assertNotIn("GROWING", out)

    def test_owners_hold_no_more_than_all_growth(self):
        with tarfile.open(os.path.join(SOURCE, "tests", "real", "cases", "node-inflight-lookups", "series.tar.xz")) as archive:
            archive.extractall(self.folder)
        out = self.screen("trend", *sorted(glob.glob(os.path.join(self.folder, "control", "*"))))
        shares = [int(share) for share in re.findall(r"^(?:growth|NEW) .* (\d+) %  keeps", out, re.M)]
        self.assertEqual(len(shares), 5)
        self.assertLessEqual(sum(shares), 100)
        self.assertNotIn("(synthetic)", out)

    def test_nothing_is_said_of_an_hour_where_no_figure_is_an_hours(self):
        out = self.screen("trend", *sorted(glob.glob(os.path.join(SOURCE, "tests", "real", "cases", "go-pond-groups", "leak", "*"))))
        self.assertRegex(out, r"times +snapshots were taken at uneven times: judged by their order\n")

    def test_a_line_that_is_new_in_a_printed_comparison_grew_from_nothing(self):
        """compare_to() of tracemalloc prints all of it as growth: "nothing changed" was said, and "not listed before"."""
        one = self.write("a.txt", "a.py:40: size=62.5 KiB (+62.5 KiB), count=1000 (+1000), average=64 B\n"
                                  "b.py:9: size=528 B (+428 B), count=3 (+2), average=176 B\n")
        out = self.screen(one)
        self.assertRegex(out, r"^in use +100 B . 63\.0 KiB  \(\+62\.9 KiB")
        self.assertRegex(out, r"\nNEW +a\.py:40  \+62\.5 KiB")
        self.assertNotIn("not listed", out)

    def test_less_reserved_than_in_use_is_no_figure(self):
        out = self.screen("top", os.path.join(DATA, "torch_cuda", "mosaic-random-output.pickle"))
        self.assertIn("2.10 GiB at the peak", out)
        self.assertNotIn("reserved", out.split("mosaic-random-output.pickle   ")[0])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Nothing wrong is joined between two builds: each case is a pair of real builds. Truth is in bytes and objects."""

import pathlib
import random
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import edits
import languages as lang
import program as programs
import score as scores
from run import Maker, planted_table

SNAPDIFF = sys.argv[1] if len(sys.argv) > 1 else "snapdiff"
MOST_WRONG = 0.005  # of the bytes of both sides


class Harm(unittest.TestCase):
    def pair(self, language, change, seed, new_language=None, chance=None):
        """Score of one pair of builds. `chance`: what steers the edits, the seed without."""
        with tempfile.TemporaryDirectory(prefix="builds-") as folder:
            program = programs.make(seed)
            table = programs.paths(program, seed)
            rng = random.Random(chance or seed)
            other = program.copy()
            site, sibling = edits.grow(other, rng, {p.steps[-1] for p in table})
            again, _ = planted_table(table, site, sibling, seed)
            change(other, rng)
            maker = Maker(pathlib.Path(folder))
            try:
                a, old_symbols = maker.profile(language, program, table, "old", "build")
                b, new_symbols = maker.profile(new_language or language, other, again, "new", "build")
            except lang.Missing as missing:
                self.skipTest(f"{missing} is not installed")
            old = scores.Truth(program, table, language)
            new = scores.Truth(other, again, language)
            return scores.compare(SNAPDIFF, a, b, old_symbols + new_symbols, old, new)[0]

    def check(self, score, most_wrong=MOST_WRONG):
        right, wrong, _ = score.shares()
        self.assertLessEqual(wrong, most_wrong, score.mistakes[:3])
        return right

    def test_another_build_with_mappings_of_equal_size(self):
        """Go writes no build ids, and a small edit leaves the number of pages: it passed for one build."""
        self.assertGreater(self.check(self.pair(lang.Go(), edits.comment_top, 21)), 0.9)

    def test_offsets_of_another_build_without_build_ids(self):
        """Addresses named afterwards: an equal offset is other code, and its name is that of the binary it ran."""
        self.assertGreater(self.check(self.pair(lang.CppText(), edits.lines_inside, 22)), 0.9)

    def test_names_of_another_build_without_build_ids(self):
        """No line moved: only the functions' names say that the binary of the second import is another one."""
        self.assertGreater(self.check(self.pair(lang.CppText(), edits.rename, 41)), 0.9)

    def test_what_is_inlined_in_another_build_without_build_ids(self):
        """One address in fifty is of the same line, into which a call is inlined no more: its names were the old ones."""
        score = self.pair(lang.CppText(), edits.rename, 1330117863, chance="1330117863 rename C++ text")
        self.assertGreater(self.check(score), 0.95)

    def test_sources_that_lie_elsewhere(self):
        """All names and lines are the same, and no file is where it was."""
        self.assertGreater(self.check(self.pair(lang.Rust(), edits.move_files, 41)), 0.9)

    def test_a_new_site_in_the_line_of_an_old_one(self):
        """The old site moved down, its objects have grown, and the new one leaks where it stood: merged, not mistaken."""
        self.check(self.pair(lang.Cpp(), edits.rename_files, 42))

    def test_a_leak_in_the_line_of_a_site_that_moved(self):
        """The old site has about as many objects of about its size two lines further down."""
        self.check(self.pair(lang.Go(), edits.move_files, 20261125, chance="20261125 move_files Go"))

    def test_a_leak_where_a_part_of_a_function_was_split_off(self):
        """What the function calls last is a jump, so that the old site has another function's frame now."""
        self.check(self.pair(lang.CppText(), edits.release, 1019813889, chance="1019813889 release C++ text"))

    def test_a_leak_in_the_line_of_a_site_that_moved_where_files_alone_are_known(self):
        """Lines of functions that have no counterpart are part of the line that calls them, the equal one as well."""
        self.check(self.pair(lang.Python(), edits.middleware, 20261125, chance="20261125 middleware Python"))

    def test_a_leak_in_the_line_of_a_site_that_moved_and_whose_objects_grew(self):
        """What the old site held stands two lines further down, each object 40 bytes larger."""
        self.check(self.pair(lang.Python(), edits.swap_sites, 20261231, chance="20261231 swap_sites Python"))

    def test_calls_that_change_places_where_the_last_one_is_a_jump(self):
        """A leak is behind one of them; rows of one side alone beside it say which call became a jump."""
        for seed in (71006, 71009):
            with self.subTest(seed=seed):
                self.check(self.pair(lang.Cpp(), edits.swap_sites, seed, chance=f"{seed} swap_sites C++"))

    def test_lines_that_change_places_under_callers_that_jump(self):
        """Few stacks run through the same functions in both builds: other calls are the last ones of their functions."""
        for seed in (1795609003, 1815865382):
            with self.subTest(seed=seed):
                pair = self.pair(lang.Cpp(), edits.swap_sites, seed, chance=f"{seed} swap_sites C++")
                self.assertGreater(self.check(pair, 0.01), 0.9)

    def test_a_part_split_off_that_is_jumped_to(self):
        """Its caller's frame is missing: the two calls of `encode_session` were merged, then one of them mistaken."""
        self.check(self.pair(lang.Cpp("clang++"), edits.release, 20261126, chance="20261126 clang++ release C++"))

    def test_closures_that_only_their_number_tells_apart(self):
        """Two closures of a function changed places, and have each other's names now."""
        self.check(self.pair(lang.Rust(), edits.swap_sites, 20261128, chance="20261128 swap_sites Rust"))
        self.check(self.pair(lang.Go(), edits.swap_sites, 20261203, chance="20261203 swap_sites Go"))

    def test_closures_of_functions_that_changed_files(self):
        """Two files have one closure without a name each, and in the new build that of another function."""
        self.assertGreater(self.check(self.pair(lang.Node(), edits.move_function, 20270125,
                                                chance="20270125 move_function Node")), 0.95)

    def test_a_function_inlined_beside_a_site_that_no_line_separates(self):
        """Two lines allocate where one did, and what the callee held is a row of its own before."""
        self.check(self.pair(lang.Go(), edits.inline_callee, 20270208, chance="20270208 inline_callee Go"))

    def test_a_part_split_off_that_is_taken_for_the_whole(self):
        """Most of a function went into the part, and a call that stayed behind lacks its frame."""
        self.check(self.pair(lang.Python(), edits.release, 71004, chance="71004 release Python"))

    def test_calls_that_are_tail_calls_in_one_build_only(self):
        """Frames that the optimiser leaves out make two ways look like one."""
        self.check(self.pair(lang.Cpp(level="-O1"), edits.nothing, 41, lang.Cpp()))

    def test_a_renamed_namespace_leaves_the_lines_alone(self):
        """No line moves, so nothing but what is left over says that it is another build."""
        self.assertGreater(self.check(self.pair(lang.Cpp(), edits.rename_space, 23)), 0.9)

    def test_lines_inside_functions_do_not_pair_siblings(self):
        """Old line 11 is new line 11 and another call; two sites of one function are alike."""
        for language in (lang.Cpp(), lang.Go()):
            with self.subTest(language.name):
                self.check(self.pair(language, edits.lines_inside, 24))

    def test_swapped_sites_are_not_taken_for_each_other(self):
        """The lines of two sites changed places, and nothing but the sizes of their objects says so. In C++ some of the
        calls around them become jumps besides, and nothing at all says so: to come down. Of seed 45 a quarter was wrong
        before rows that exchanged what they hold were merged."""
        for language, seed, most_wrong in ((lang.Cpp(), 25, 0.1), (lang.Go(), 42, MOST_WRONG),
                                           (lang.Go(), 45, MOST_WRONG), (lang.Go(), 13809, 0.04),
                                           (lang.Python(), 45, 0.05)):
            with self.subTest(language.name, seed=seed):
                self.check(self.pair(language, edits.swap_sites, seed), most_wrong)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])

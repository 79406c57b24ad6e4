"""Drawing is a module that is opened on demand: what works without it, what is said then, and which file is opened."""
import os
import shutil
import subprocess
import tempfile
import unittest

import heaps
from heaps import BINARY, CliTest

MODULE = "libsnapdiff_draw.so"
COMPILER = os.environ.get("SNAPDIFF_CXX", "c++")
# Leaves a file behind when it is opened at all.
MARK = '#include <cstdio>\n__attribute__((constructor)) static void mark() { std::fclose(std::fopen("%s", "w")); }\n'
STAMP = 'extern "C" const char* snapdiff_drawing_stamp() { return "snapdiff 0.0.0, of somebody else"; }\n'
FUNCTIONS = 'extern "C" const void* snapdiff_drawing_functions() { return nullptr; }\n'


class Drawing(CliTest):
    def setUp(self):
        super().setUp()
        alone = tempfile.TemporaryDirectory()
        self.addCleanup(alone.cleanup)
        self.alone = alone.name
        self.mark = os.path.join(self.alone, "opened")
        self.pair()

    def program_alone(self):
        """A copy of the program without the module beside it."""
        path = os.path.join(self.alone, "snapdiff")
        shutil.copy(BINARY, path)
        self.addCleanup(setattr, heaps, "BINARY", heaps.BINARY)
        heaps.BINARY = path

    def plant(self, folder, text):
        source = os.path.join(self.alone, "planted.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(MARK % self.mark + text)
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", os.path.join(folder, MODULE), source], check=True)

    def refused_drawing(self, **more):
        out, err = self.run_it("render", "--pdf", "a.heap", "b.heap", code=2, **more)
        self.assertEqual(out, "")
        self.assertEqual(err.count("\n"), 1, err)
        self.assertIn("install the package snapdiff-draw", err)
        self.assertFalse(self.exists("snapdiff.pdf"))
        return err

    def test_the_program_is_linked_with_nothing_that_draws(self):
        needed = subprocess.run(["ldd", BINARY], check=True, capture_output=True, text=True).stdout
        self.assertIn("libc.so", needed)
        for library in ("cairo", "pango", "gvc", "cgraph", "fontconfig", "glib", "freetype", "X11"):
            self.assertNotIn("lib" + library, needed)

    def test_without_the_module_all_else_works(self):
        with_module, _ = self.run_it("a.heap", "b.heap", "--db", ":memory:")
        self.program_alone()
        self.assertEqual(self.run_it("a.heap", "b.heap")[0], with_module)
        self.run_it("top", "b.heap", "--as", "json")
        self.assertIn("a.heap", self.run_it("list")[0])
        self.run_it("sql", "SELECT * FROM growth(1, 2)")
        self.run_it("export", "--folded", "a.heap", "b.heap")

    def test_without_the_module_pictures_name_the_package(self):
        self.program_alone()
        self.assertIn("not found", self.refused_drawing())
        for form in ("--svg", "--png", "--dot", "--flame", "--timeline"):
            with self.subTest(form):
                self.assertIn("snapdiff-draw", self.run_it("render", form, "a.heap", "b.heap", code=2)[1])

    def test_without_the_module_a_report_lacks_only_its_pdf(self):
        self.program_alone()
        _, err = self.run_it("postmortem", "a.heap", "b.heap", code=2)
        self.assertIn("no report.pdf", err)
        self.assertIn("install the package snapdiff-draw", err)
        left = sorted(os.listdir(os.path.join(self.folder, "postmortem")))
        self.assertEqual(left, ["report.html", "report.json", "report.md", "snapdiff.db"])

    def test_without_the_module_the_page_lacks_only_its_graph(self):
        _, silent = self.run_it("render", "--html", "a.heap", "b.heap", "-o", "with.html")
        self.assertNotIn("no graph", silent)
        self.program_alone()
        _, err = self.run_it("render", "--html", "a.heap", "b.heap", "-o", "without.html")
        self.assertIn("warning: the page has no graph", err)
        self.assertTrue(self.exists("without.html"))

    def test_a_module_in_the_working_directory_or_the_environment_is_not_opened(self):
        self.program_alone()
        self.plant(self.folder, STAMP + FUNCTIONS)
        environment = {"LD_LIBRARY_PATH": self.folder, "SNAPDIFF_MODULE_FOLDER": self.folder}
        self.assertIn("not found", self.refused_drawing(env=environment))
        self.assertFalse(os.path.exists(self.mark))

    def test_a_module_of_another_build_is_refused(self):
        self.program_alone()
        self.plant(self.alone, STAMP + FUNCTIONS)
        self.assertIn("found 'snapdiff 0.0.0, of somebody else', expected 'snapdiff ", self.refused_drawing())
        self.assertTrue(os.path.exists(self.mark))
        self.plant(self.alone, FUNCTIONS)
        self.assertIn("no stamp", self.refused_drawing())

    def test_a_module_that_others_can_change_is_not_opened(self):
        self.program_alone()
        self.plant(self.alone, STAMP + FUNCTIONS)
        module = os.path.join(self.alone, MODULE)
        os.chmod(module, 0o777)
        self.assertIn("everybody may write to it", self.refused_drawing())
        if os.geteuid() == 0:
            os.chmod(module, 0o755)
            os.chown(module, 54321, -1)
            self.assertIn("belongs to another user", self.refused_drawing())
        self.assertFalse(os.path.exists(self.mark))

    def test_a_module_that_lacks_a_library_says_which(self):
        self.program_alone()
        with open(os.path.join(self.alone, MODULE), "wb") as file:
            file.write(b"\x7fELF")
        os.chmod(os.path.join(self.alone, MODULE), 0o755)
        self.assertIn("cannot be opened", self.refused_drawing())


if __name__ == "__main__":
    unittest.main()

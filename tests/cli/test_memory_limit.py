"""Object graphs with less memory than their columns take: what passes --memory lies in a file, the answers are the same."""
import os
import resource
import subprocess
import sys
import unittest

from heaps import SANITIZED, CliTest

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench")


@unittest.skipIf(SANITIZED, "skipped: a sanitizer has an allocator of its own")
class MemoryLimit(CliTest):
    def make(self, script, name):
        subprocess.run([sys.executable, os.path.join(BENCH, script), os.path.join(self.folder, name), "8000000"], check=True, stdout=subprocess.DEVNULL)
        return name

    def both(self, *arguments):
        """The same is printed with and without memory to spare; returns the note of the second."""
        free, quiet = self.run_it(*arguments)
        spilled, told = self.run_it(*arguments, "--memory", "1MiB")
        self.assertNotIn("--memory", quiet)
        self.assertEqual(free, spilled)
        return told

    def test_retained_sizes_and_paths_are_the_same(self):
        for script, name in (("make_v8.py", "a.heapsnapshot"), ("make_hprof.py", "a.hprof")):
            path = self.make(script, name)
            for arguments in (("retained", path, "--as", "json"), ("paths", "Session", path), ("top", path, "--db", ":memory:")):
                with self.subTest(arguments):
                    told = self.both(*arguments)
                    if arguments[0] == "retained":
                        self.assertRegex(told, r"note: [0-9.]+ MiB beyond --memory 1.00 MiB lay in a file in ")

    def test_the_file_lies_beside_the_store_and_is_gone_afterwards(self):
        path = self.make("make_v8.py", "a.heapsnapshot")
        os.mkdir(os.path.join(self.folder, "stores"))
        told = self.run_it("diff", path, path, "--db", "stores/x.db", "--memory", "1MiB")[1]
        self.assertIn("lay in a file in stores", told)
        self.assertEqual([name for name in os.listdir(os.path.join(self.folder, "stores")) if not name.startswith("x.db")], [])

    def test_a_folder_without_room_is_told_in_one_line(self):
        """A file may not grow beyond 1 MiB here, as on a full disk."""
        path = self.make("make_v8.py", "a.heapsnapshot")
        error = self.refused("retained", path, "--memory", "1MiB", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
        self.assertRegex(error, r"no room for [0-9.]+ MiB of memory beyond 1.00 MiB")


if __name__ == "__main__":
    unittest.main()

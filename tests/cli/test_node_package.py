"""The npm package: its tests, and its tarballs as npm unpacks them."""
import os
import shutil
import subprocess
import sys
import tarfile
import unittest

from heaps import BINARY, EXAMPLES, SOURCE, CliTest, kept_environment

PACKAGE = os.path.join(SOURCE, "analyzer", "node")


class NodePackage(CliTest):
    def setUp(self):
        super().setUp()
        if shutil.which("node") is None:
            self.skipTest("skipped: node is not installed")
        version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        if int(version[1:].split(".")[0]) < 18:
            self.skipTest("skipped: node is %s, expected 18 or later" % version.strip())

    def node(self, *words, **environment):
        return subprocess.run(["node", *words], cwd=self.folder, env={**kept_environment(), **environment}, capture_output=True, text=True, timeout=300, check=False)

    def test_its_own_tests(self):
        done = self.node("--test", os.path.join(PACKAGE, "test", "growth.test.js"), SNAPDIFF=BINARY, TMPDIR=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("# pass 5", done.stdout.replace("ℹ", "#"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_tarballs(self):
        subprocess.run([sys.executable, os.path.join(SOURCE, "cmake", "packaging", "snapdiff_npm.py"), BINARY, self.folder], check=True, capture_output=True)
        for name in sorted(os.listdir(self.folder)):
            with tarfile.open(os.path.join(self.folder, name)) as archive:
                archive.extractall(os.path.join(self.folder, "node_modules", name.rsplit("-", 1)[0]), members=[self.renamed(one) for one in archive.getmembers()])
        command = os.path.join(self.folder, "node_modules", "snapdiff", "bin", "snapdiff.js")
        queue = [os.path.join(EXAMPLES, "go-queue", "heap.%s.pb.gz" % number) for number in ("001", "012")]
        done = self.node(command, *queue, "--db", ":memory:")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("main.leakBacklog", done.stdout)
        self.assertEqual(self.node(command, "gate").returncode, 2)
        shutil.rmtree(os.path.join(self.folder, "node_modules", "snapdiff-linux-x64"))
        done = self.node(command, "--version")
        if "error" in done.stderr:  # unless one is in PATH
            self.assertIn("no snapdiff program: found no package snapdiff-linux-x64", done.stderr)

    @staticmethod
    def renamed(member):
        member.name = member.name.split("/", 1)[1]
        return member


if __name__ == "__main__":
    unittest.main()

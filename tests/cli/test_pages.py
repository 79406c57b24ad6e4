"""Manual pages and completions say what the help says."""
import os
import re
import shutil
import subprocess
import unittest

from heaps import CliTest

PAGES = os.environ["SNAPDIFF_PAGES"]


def page(name):
    with open(os.path.join(PAGES, name), encoding="utf-8") as file:
        return file.read()


class Pages(CliTest):
    def commands(self):
        """Names out of the program's own overview."""
        overview, _ = self.run_it("help", "--all")
        listed = re.findall(r"^  ([a-z]+(?:, [a-z]+)*) ", overview, re.MULTILINE)
        names = {name for group in listed for name in group.split(", ")} - {"snapdiff"}
        self.assertGreater(len(names), 15)
        return sorted(names)

    def options(self, command):
        """Names of options in the help of a command."""
        return re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)(?=,| |$)", "\n".join(
            line[:27] if len(line) > 27 and line[26] == " " else line
            for line in self.run_it(command, "--help")[0].split("\n\nexamples")[0].splitlines() if line.startswith("  -")))

    def bash(self, *words):
        script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _snapdiff; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, os.path.join(PAGES, "snapdiff.bash"), *words], check=True, cwd=self.folder,
                              capture_output=True, text=True)
        return done.stdout.split()

    def test_every_option_of_the_help_is_in_all_of_them(self):
        bash, zsh, fish = page("snapdiff.bash"), page("_snapdiff"), page("snapdiff.fish")
        for command in self.commands():
            options = self.options(command)
            self.assertIn("--help", options)
            manual = page("snapdiff-%s.1" % command).replace("\\-", "-")
            self.assertIn("snapdiff-%s (1)" % command, page("snapdiff.1").replace("\\-", "-"))
            offered = self.bash("snapdiff", command, "-")
            in_zsh = zsh.split("\n  %s)\n" % command)[1].split(";;")[0]
            for option in options:
                with self.subTest(command=command, option=option):
                    self.assertRegex(manual, r"\.B .*(?<![\w-])%s(?![\w-])" % re.escape(option))
                    self.assertIn(option, offered)
                    self.assertIn("'*%s[" % option, in_zsh)
                    self.assertRegex(fish, r" -%s( |$)" % ("l " + option[2:] if option.startswith("--") else "s " + option[1:]))
        self.assertIn("complete -F _snapdiff", bash.replace("-o filenames ", ""))

    def test_bash_offers_commands_files_options_and_words(self):
        self.write("heap.1", "x")
        self.assertEqual(self.bash("snapdiff", "rend"), ["render"])
        self.assertEqual(self.bash("snapdiff", "he"), ["heap.1"])
        self.assertEqual(self.bash("snapdiff", "top", "he"), ["heap.1"])
        self.assertEqual(self.bash("snapdiff", "diff", "--as", ""), ["text", "json", "jsonl", "csv", "md"])
        self.assertEqual(self.bash("snapdiff", "retained", "--sort", "det"), ["detached"])
        self.assertEqual(self.bash("snapdiff", "--sort", "gr"), ["growth"])
        self.assertEqual(self.bash("snapdiff", "render", "--max"), ["--max-nodes", "--max-input"])
        self.assertEqual(self.bash("snapdiff", "list", "--flam"), [])

    @unittest.skipIf(shutil.which("zsh") is None, "zsh is not installed")
    def test_zsh_reads_its_file(self):
        subprocess.run(["zsh", "-n", os.path.join(PAGES, "_snapdiff")], check=True)

    @unittest.skipIf(shutil.which("fish") is None, "fish is not installed")
    def test_fish_offers_commands_options_and_words(self):
        def fish(line):
            script = "source %s/snapdiff.fish; complete -C '%s'" % (PAGES, line)
            done = subprocess.run(["fish", "--no-config", "-c", script], check=True, cwd=self.folder, capture_output=True, text=True,
                                  env={**os.environ, "HOME": self.folder})
            self.assertEqual(done.stderr, "")
            return [line.split("\t")[0] for line in done.stdout.splitlines()]

        self.assertEqual(fish("snapdiff rend"), ["render"])
        self.assertIn("--max-nodes", fish("snapdiff render --max"))
        self.assertEqual(fish("snapdiff list --flam"), [])
        self.assertEqual(fish("snapdiff retained --sort det"), ["detached"])
        self.assertIn("--by", fish("snapdiff --b"))

    @unittest.skipIf(shutil.which("man") is None, "man is not installed")
    def test_manual_pages_are_set_without_a_warning(self):
        names = sorted(name for name in os.listdir(PAGES) if name.endswith(".1"))
        self.assertEqual(len(names), len(self.commands()) + 1)
        for name in names:
            with self.subTest(name):
                done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", os.path.join(PAGES, name)], check=True,
                                      capture_output=True, text=True, env={**os.environ, "MANWIDTH": "80", "MANROFFSEQ": "", "LC_ALL": "C.UTF-8"})
                self.assertEqual(done.stderr, "")
                self.assertIn("\nNAME\n", re.sub(".\b", "", done.stdout))


if __name__ == "__main__":
    unittest.main()

"""Runs the snapdiff binary the way a script would: in an empty folder, JSON out, nothing stored."""

import json
import os
import subprocess
import tempfile


class Snapdiff:
    def __init__(self, binary):
        self.binary = os.path.abspath(binary)
        self.folder = tempfile.TemporaryDirectory(prefix="snapdiff-oracle-")
        self.environment = dict(os.environ, SNAPDIFF_DB=":memory:", NO_COLOR="1", LC_ALL="C.UTF-8")

    def run(self, *arguments, timeout=300):
        """The finished process; stdout and stderr are bytes."""
        return subprocess.run([self.binary, *arguments], capture_output=True, cwd=self.folder.name,
                              env=self.environment, stdin=subprocess.DEVNULL, timeout=timeout, check=False)

    def json(self, *arguments):
        """The JSON object on stdout. Raises Failed when the command does."""
        result = self.run(*arguments, "--as", "json")
        if result.returncode != 0:
            raise Failed(f"{' '.join(arguments)}: exit {result.returncode}: {result.stderr.decode(errors='replace').strip()}")
        try:
            return json.loads(result.stdout.decode("utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise Failed(f"{' '.join(arguments)}: stdout is no JSON: {error}") from error


class Failed(Exception):
    """A command that should have succeeded did not."""


def is_named(key):
    """Whether a row's key is a function; pseudo rows and unsymbolized ones are in brackets."""
    return not key.startswith("[")


def printable(name):
    """A function name as machine output shows it: bytes that are no UTF-8 replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

"""Small heap profiles written by hand, and a way to run the program on them."""
import gzip
import os
import pty
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from protobuf import field, varint  # for the tests as well
from rounds import SANITIZED, rounds  # pylint: disable=unused-import; for the tests

BINARY = os.environ.get("SNAPDIFF", "snapdiff")
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(SOURCE, "examples")
SCHEMAS = os.path.join(os.path.dirname(BINARY), "..", "report", "schema")  # the build writes them

MAPS = """
MAPPED_LIBRARIES:
55d000000000-55d000001000 r--p 00000000 00:00 1  /srv/bin/service
55d000001000-55d000009000 r-xp 00001000 00:00 1  /srv/bin/service
55d000009000-55d00000a000 rw-p 00009000 00:00 1  /srv/bin/service
"""


def tcmalloc(rows, maps=MAPS):
    """rows: (objects, bytes, [file offsets, leaf first]). An exact gperftools dump; alloc = in use."""
    # Return addresses: one past the call, so the stored frame offset is the offset given here.
    lines, objects, size = [], 0, 0
    for count, total, stack in rows:
        addresses = " ".join("0x%x" % (0x55D000000000 + offset + 1) for offset in stack)
        lines.append("%6d: %8d [%6d: %8d] @ %s" % (count, total, count, total, addresses))
        objects, size = objects + count, size + total
    head = "heap profile: %6d: %8d [%6d: %8d] @ heapprofile" % (objects, size, objects, size)
    return "\n".join([head] + lines) + "\n" + maps


MAIN, GROW, KEEP, GONE = 0x1100, 0x1200, 0x1300, 0x1400
BEFORE = tcmalloc([(10, 1000, [GROW, MAIN]), (5, 5000, [KEEP, MAIN]), (1, 64, [GONE, MAIN])])
AFTER = tcmalloc([(30, 4096, [GROW, MAIN]), (5, 5000, [KEEP, MAIN])])
TOTAL_BEFORE, TOTAL_AFTER = 6064, 9096


def pprof(sample_types, samples, time_ns=0, compress=True, default=""):
    """sample_types: [(type, unit)]; samples: [([function, ...] leaf first, [values])], and [(label, text)] where there are
    labels; a function is a name or (name, file, line)."""
    strings, functions, body = [""], {}, b""

    def text(value):
        if value not in strings:
            strings.append(value)
        return strings.index(value)

    for kind, unit in sample_types:
        body += field(1, field(1, text(kind)) + field(2, text(unit)))
    for stack, values, *labels in samples:
        for name in stack:
            functions.setdefault(name, len(functions) + 1)
        body += field(2, field(1, b"".join(varint(functions[name]) for name in stack))
                      + field(2, b"".join(varint(value) for value in values))
                      + b"".join(field(3, field(1, text(key)) + field(2, text(value))) for one in labels for key, value in one))
    for frame, number in functions.items():
        name, file, line = (frame, "app.go", 10 + number) if isinstance(frame, str) else frame
        body += field(4, field(1, number) + field(4, field(1, number) + field(2, line)))
        body += field(5, field(1, number) + field(2, text(name)) + field(4, text(file)))
    if default:
        body += field(14, text(default))
    body += b"".join(field(6, value) for value in strings)
    if time_ns:
        body += field(9, time_ns)
    return gzip.compress(body, mtime=0) if compress else body


INUSE = [("inuse_objects", "count"), ("inuse_space", "bytes")]


def kept_environment():
    """What a command needs of the tester's own environment: where programs are, and how sanitizers are set."""
    names = ("PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
    return {name: os.environ[name] for name in names if name in os.environ}


class CliTest(unittest.TestCase):
    """Each test runs in an empty folder of its own."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name
        self.addCleanup(self._folder.cleanup)

    def write(self, name, content):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        return name

    def pair(self):
        return self.write("a.heap", BEFORE), self.write("b.heap", AFTER)

    def run_any(self, *arguments, env=None, stdin=None, **more):
        """The finished process, whatever its exit code; output as bytes."""
        environment = {**kept_environment(), "LC_ALL": "C.UTF-8", "HOME": self.folder, **(env or {})}
        return subprocess.run([BINARY, *arguments], cwd=self.folder, env=environment, input=stdin,
                              capture_output=True, timeout=120, check=False, **more)

    def run_it(self, *arguments, code=0, text=True, **more):
        done = self.run_any(*arguments, **more)
        out = done.stdout.decode("utf-8", "surrogateescape") if text else done.stdout
        err = done.stderr.decode("utf-8", "surrogateescape")
        self.assertEqual(done.returncode, code, "exit code of %s\nstdout: %s\nstderr: %s" % (arguments, out, err))
        return out, err

    def shown_on_a_terminal(self, *arguments, **environment):
        """What it writes where its standard output is a terminal, as bytes."""
        try:
            master, slave = pty.openpty()
        except OSError as error:
            self.skipTest("skipped: no pseudo-terminal here: %s" % error)
        self.addCleanup(os.close, master)
        with subprocess.Popen([BINARY, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.DEVNULL,
                              env={**kept_environment(), "LC_ALL": "C.UTF-8", "TERM": "xterm", **environment}) as process:
            os.close(slave)
            seen = b""
            while True:
                try:
                    piece = os.read(master, 65536)
                except OSError:
                    break  # the other end is closed
                if not piece:
                    break
                seen += piece
            process.wait(60)
        self.assertEqual(process.returncode, 0)
        return seen

    def refused(self, *arguments, **more):
        """Exit 2, nothing on stdout, exactly one line that starts with error (advice may follow)."""
        out, err = self.run_it(*arguments, code=2, **more)
        lines = err.splitlines()
        self.assertEqual(out, "")
        self.assertTrue(lines and lines[0].startswith("error: "), err)
        self.assertTrue(all(line.startswith("       ") for line in lines[1:]), err)
        return lines[0]

    def exists(self, name):
        return os.path.exists(os.path.join(self.folder, name))

"""A command with what it took: time, processor time, memory."""

import os
import signal
import time

PEER_LIMIT_SECONDS = 1800


class Run:
    """One finished command: seconds until its last byte of output (answer), until its end (wall) and
    of CPU; peak memory in MiB of the largest process."""

    def __init__(self, command, folder, environment):
        reader, writer = os.pipe()
        errors = os.path.join(folder, "stderr")
        begin = time.monotonic()
        child = os.fork()
        if child == 0:
            become(command, folder, environment, writer, errors)
        os.close(writer)
        self.answer = 0.0
        while os.read(reader, 1 << 16):
            self.answer = time.monotonic() - begin
        os.close(reader)
        # Of the command and of the children it waited for (`go tool pprof` runs pprof).
        _, status, usage = os.wait4(child, 0)
        self.wall = time.monotonic() - begin
        self.cpu, self.peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024
        self.code = os.waitstatus_to_exitcode(status)
        with open(errors, encoding="utf-8", errors="replace") as err:
            self.words = err.read().strip()


def become(command, folder, environment, out, errors):
    """Turns this forked process into the command. Does not return."""
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
        os.chdir(folder)
        signal.alarm(PEER_LIMIT_SECONDS)
        os.execvpe(command[0], command, environment)
    finally:
        os._exit(127)

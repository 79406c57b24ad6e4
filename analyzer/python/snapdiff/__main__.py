"""The command `snapdiff` of the wheel: becomes the program beside this file."""

import os
import sys

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "snapdiff-program")


def main() -> int:
    if not os.path.exists(_PROGRAM):
        print("snapdiff: the program is not installed with this package; install the wheel", file=sys.stderr)
        return 2
    os.execv(_PROGRAM, ["snapdiff", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

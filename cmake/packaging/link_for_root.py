#!/usr/bin/env python3
"""Links for an older glibc: link_for_root.py ROOT COMMAND...   (SNAPDIFF_WHEEL_ROOT puts it before every link of a wheel).

ROOT is a Debian root with an older glibc. Objects are those of this machine; what they are linked with is ROOT's: its glibc,
and its shared libraries of the same soname. Of those that are too old there, this machine's archive is taken (ARCHIVES).
libstdc++ is linked in; old_glibc.c has what it asks a newer glibc for. Links in ROOT that name a path from "/" are
made relative, since that path is ROOT's only inside of it.
"""
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
ARCHIVES = {"libsqlite3"}  # SQLite 3.40 is asked for; its archive has no code that depends on where it is loaded


def keep_inside(root):
    """The linker follows links as this machine does."""
    for link in glob.glob(f"{root}{LIBRARIES}/*.so*") + glob.glob(f"{root}/lib64/*.so*"):
        if os.path.islink(link) and os.readlink(link).startswith("/"):
            target = os.path.relpath(root + os.readlink(link), os.path.dirname(os.path.realpath(root + "/lib64") + "/x" if "/lib64/" in link else link))
            os.symlink(target, f"{link}.{os.getpid()}")
            os.replace(f"{link}.{os.getpid()}", link)


def soname(path):
    found = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    return re.search(r"SONAME\s+(\S+)", found)[1]


def of_root(root, path):
    """The library of ROOT that stands for `path` of this machine."""
    name = os.path.basename(path).split(".so", 1)[0]
    if name in ARCHIVES:
        return os.path.join(LIBRARIES, name + ".a")
    wanted = soname(path)
    found = glob.glob(f"{root}{LIBRARIES}/{wanted}") + glob.glob(f"{root}/lib/x86_64-linux-gnu/{wanted}") + glob.glob(f"{root}{LIBRARIES}/*/{wanted}")
    return found[0] if found else path


def main():
    root, command = os.path.realpath(sys.argv[1]), sys.argv[2:]
    if os.path.basename(command[0]) not in ("c++", "g++", "cc", "gcc"):
        os.execvp(command[0], command)
    keep_inside(root)
    words = [of_root(root, word) if re.fullmatch(LIBRARIES + r"/.*\.so(\.\d+)*", word) else word for word in command]
    # g++ knows the folders of this machine by their own path: ROOT's come before them.
    places = [root + LIBRARIES, root + "/lib/x86_64-linux-gnu"]
    words += [f"--sysroot={root}", *("-B" + place for place in places), *("-L" + place for place in places), "-static-libstdc++",
              "-x", "c", os.path.join(HERE, "old_glibc.c"), "-x", "none", "-pthread", "-ldl",
              "-Wl,-rpath-link," + ":".join([*places, LIBRARIES]), "-Wl,--no-undefined,--allow-shlib-undefined"]
    os.execvp(words[0], words)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes the wheel of snapdiff: the Python package, the library with the C functions alone, the program, the module that draws.

    snapdiff_wheel.py BUILD FOLDER    packs what a build folder configured with -DSNAPDIFF_WHEEL=ON holds
    pip install .                     builds that first; this file is the build backend that pyproject.toml names

One wheel serves every Python from 3.9 on: the package calls the library through ctypes. Shared libraries that are not a part
of every Linux (POLICY) are put into snapdiff/libs under names of their own, so that those of the process stay apart. Needs
patchelf for that; without it the wheel works on this machine alone, and its tag says so. With -DSNAPDIFF_WHEEL_ROOT=ROOT, a
Debian root with an older glibc, the build links with ROOT's libraries (link_for_root.py), and those are the ones put in.
"""
import argparse
import base64
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
PACKAGE = os.path.join(ROOT, "analyzer", "python")
# What PEP 600 lets a wheel take from the system.
POLICY = re.compile(r"(ld-linux.*|libc|libm|libdl|libpthread|librt|libresolv|libutil|libstdc\+\+|libgcc_s)\.so\.\d+")
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all entries: equal builds give equal wheels


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(snapdiff VERSION ([\d.]+)", file.read())[1]


def metadata():
    with open(os.path.join(PACKAGE, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return (f"Metadata-Version: 2.1\nName: snapdiff\nVersion: {version()}\nSummary: What grew between heap snapshots, and whether it is a leak\n"
            f"Requires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n{readme}")


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def found_in(name, roots):
    """A shared library in the first of `roots` that has it."""
    for root in roots:
        for place in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/graphviz"):
            if os.path.exists(path := os.path.join(root, place, name)):
                return path
    sys.exit(f"{name}: not found in {' and '.join(roots)}")


def needed(binary, root):
    """{name: path} of all libraries that `binary` is loaded with and that the system need not have; those of `root` first."""
    if not root:
        found = re.findall(r"^\s+(\S+) => (\S+)", run("ldd", binary), re.MULTILINE)
        return {name: path for name, path in found if path.startswith("/") and not POLICY.fullmatch(name)}
    found, waiting = {}, [binary]
    while waiting:
        for name in run("patchelf", "--print-needed", waiting.pop()).split():
            if name not in found and not POLICY.fullmatch(name):
                found[name] = found_in(name, (root, "/"))
                waiting.append(found[name])
    return found


def copyright_of(path, root):
    """(package, file) with the licence of a library of Debian's; None elsewhere."""
    if shutil.which("dpkg-query") is None:
        return None
    inside = root if root and path.startswith(root + "/") else ""
    query = ["dpkg-query", *([f"--admindir={inside}/var/lib/dpkg"] if inside else []), "-S", "*/lib" + path[len(inside):].split("/lib", 1)[1]]
    package = subprocess.run(query, capture_output=True, text=True, check=False).stdout.split(":", 1)[0]
    file = f"{inside}/usr/share/doc/{package}/copyright"
    return (package, file) if package and os.path.exists(file) else None


def root_of(build):
    """SNAPDIFF_WHEEL_ROOT of a build folder, "" without one."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(r"^SNAPDIFF_WHEEL_ROOT:PATH=(.+)$", file.read(), re.MULTILINE)
    return os.path.realpath(found[1]) if found else ""


def graft(folder, binaries, root):
    """Copies what `binaries` need into folder/libs, with its licences, and points them there."""
    libs = os.path.join(folder, "libs")
    os.makedirs(libs)
    names, placed = {}, {}
    for binary in binaries:
        for name, path in needed(binary, root).items():
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()[:8]
            stem, ending = name.split(".so", 1)
            names[name] = f"{stem}-{digest}.so{ending}"
            placed[names[name]] = path
    os.makedirs(os.path.join(libs, "licences"))
    for name, path in placed.items():
        shutil.copyfile(path, os.path.join(libs, name))
        licence = copyright_of(os.path.realpath(path), root)
        if licence is not None:
            shutil.copyfile(licence[1], os.path.join(libs, "licences", licence[0]))
        os.chmod(os.path.join(libs, name), 0o755)
        run("patchelf", "--set-soname", name, os.path.join(libs, name))
    for binary, origin in [(one, "$ORIGIN/libs") for one in binaries] + [(os.path.join(libs, name), "$ORIGIN") for name in placed]:
        direct = set(run("patchelf", "--print-needed", binary).split())
        replaced = [word for name in sorted(direct & set(names)) for word in ("--replace-needed", name, names[name])]
        # In one call, patchelf 0.14 writes a name where the path belongs, and the loader finds what this machine has.
        run("patchelf", *replaced, binary)
        run("patchelf", "--force-rpath", "--set-rpath", origin, binary)
        left = set(run("patchelf", "--print-needed", binary).split()) & set(names)
        if left or run("patchelf", "--print-rpath", binary).strip() != origin:
            sys.exit(f"{binary}: patchelf left {' '.join(left) or 'a wrong path'}")


def required_glibc(folder):
    """(2, 36): the newest version of glibc's symbols that an ELF file below `folder` asks for."""
    newest = (2, 17)
    for base, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(base, name), "rb") as file:
                if file.read(4) != b"\x7fELF":
                    continue
            symbols = run("objdump", "-T", os.path.join(base, name))
            newest = max([newest] + [tuple(map(int, one)) for one in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)])
    return newest


def collect(build, folder):
    """The package as it is installed, in folder/snapdiff; returns the tag of the platform."""
    package = os.path.join(folder, "snapdiff")
    shutil.copytree(os.path.join(PACKAGE, "snapdiff"), package, ignore=shutil.ignore_patterns("__pycache__"))
    parts = {"libsnapdiff.so": os.path.join(build, "lib", "libsnapdiff.so"), "snapdiff-program": os.path.join(build, "analyzer", "cli", "snapdiff"),
             "libsnapdiff_draw.so": os.path.join(build, "analyzer", "cli", "libsnapdiff_draw.so")}
    binaries = []
    for name, source in parts.items():
        binaries.append(os.path.join(package, name))
        shutil.copyfile(os.path.realpath(source), binaries[-1])
        os.chmod(binaries[-1], 0o755)
        run("strip", "--strip-unneeded", binaries[-1])
    machine = platform.machine()
    if shutil.which("patchelf") is None:
        print("patchelf was not found: the wheel works on this machine alone", file=sys.stderr)
        return f"linux_{machine}"
    graft(package, binaries, root_of(build))
    return "manylinux_{}_{}_{}".format(*required_glibc(package), machine)


def write_wheel(folder, tag, out):
    """Zips `folder` with its metadata and returns the name of the wheel."""
    name = f"snapdiff-{version()}-py3-none-{tag}.whl"
    info = f"snapdiff-{version()}.dist-info"
    texts = {f"{info}/METADATA": metadata(),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: snapdiff_wheel\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n",
             f"{info}/entry_points.txt": "[console_scripts]\nsnapdiff = snapdiff.__main__:main\n\n[pytest11]\nsnapdiff = snapdiff.pytest_plugin\n"}
    files = sorted(os.path.relpath(os.path.join(base, file), folder) for base, _, names in os.walk(folder) for file in names)
    record = ""
    os.makedirs(out, exist_ok=True)
    with zipfile.ZipFile(os.path.join(out, name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files + sorted(texts) + [f"{info}/RECORD"]:
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o644
            if path in texts:
                data = texts[path].encode()
            elif path.endswith("/RECORD"):
                data = (record + f"{path},,\n").encode()
            else:
                with open(os.path.join(folder, path), "rb") as file:
                    data = file.read()
                mode = os.stat(os.path.join(folder, path)).st_mode & 0o755 | 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
    return name


def pack(build, out):
    with tempfile.TemporaryDirectory() as folder:
        return write_wheel(folder, collect(build, folder), out)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    build = os.path.join(ROOT, "build", "wheel")
    subprocess.run(["cmake", "--preset", "user", "-B", build, "-DSNAPDIFF_WHEEL=ON"], cwd=ROOT, check=True)
    subprocess.run(["cmake", "--build", build, "--target", "snapdiff", "snapdiff_library", "snapdiff_draw"], cwd=ROOT, check=True)
    return pack(build, wheel_directory)


def main():
    parser = argparse.ArgumentParser(description="Packs a build folder as a wheel.")
    parser.add_argument("build")
    parser.add_argument("folder")
    arguments = parser.parse_args()
    print(os.path.join(arguments.folder, pack(arguments.build, arguments.folder)))


if __name__ == "__main__":
    main()

"""When a name that a report gives is one that the truth accepts.

Strict: the whole function must be the same. Only what compilers and printers add is taken off: template arguments,
parameter lists, "const", clone suffixes, Rust's hash, a return type, the directory part of a Go import path. A file, where both have
one, must agree in as many trailing path components as both give. Where a format has no functions (tracemalloc), file and
line decide.
"""
import functools
import re

JAVA_ARRAYS = {"[B": "byte[]", "[C": "char[]", "[I": "int[]", "[J": "long[]", "[S": "short[]", "[Z": "boolean[]", "[F": "float[]", "[D": "double[]"}


def strip_templates(name):
    """Cuts <...> groups that follow a word; "<module>" and "<T as Trait>::f" stay."""
    out, depth = [], 0
    for i, c in enumerate(name):
        if c == "<" and (depth or (i and (name[i - 1].isalnum() or name[i - 1] == "_") and not name[:i].endswith("operator"))):
            depth += 1
        elif c == ">" and depth and name[i - 1] != "-":
            depth -= 1
        elif not depth:
            out.append(c)
    return "".join(out)


def strip_arguments(name):
    """Cuts a parameter list at the end: not "(*Store).Put" of Go, not "(anonymous)", not "operator()"."""
    name = re.sub(r" \[clone [^]]*\]$", "", name.strip())
    name = re.sub(r"( const| noexcept|&&?)$", "", name)
    if not name.endswith(")"):
        return name
    depth = 0
    for i in range(len(name) - 1, -1, -1):
        depth += (name[i] == ")") - (name[i] == "(")
        if depth == 0:
            if i == 0 or name[i - 1] in "./ " or name[:i].endswith("operator"):
                return name
            return name[:i]
    return name


@functools.lru_cache(maxsize=65536)
def normal_function(name):
    name = strip_arguments(strip_templates(re.sub(r"::h[0-9a-f]{16}$", "", name or "")))
    if " " in name and not name.startswith("<") and "operator" not in name and "(anonymous" not in name:
        name = name.rsplit(" ", 1)[-1]
    return name.rsplit("/", 1)[-1] if "(" in name or "." in name else name


@functools.lru_cache(maxsize=65536)
def normal_type(name):
    name = re.sub(r" \((closure|object|array|native|class)\)$", "", name or "")
    if name in JAVA_ARRAYS:
        return JAVA_ARRAYS[name]
    array = re.fullmatch(r"\[L(.*);", name)
    return array.group(1).replace("/", ".") + "[]" if array else name


def same_file(a, b):
    """True where one of them is unknown, or the shorter path ends the longer one."""
    if not a or not b or a == "??" or b == "??":
        return True
    a, b = a.split("/"), b.split("/")
    length = min(len(a), len(b))
    return a[-length:] == b[-length:]


def accepts(place, function, file, line, truth):
    """Whether `function` in `file`:`line` is the accepted place (a dict with name, file, lines) of a case."""
    if truth["family"] == "types":
        return normal_type(place["name"]) == normal_type(function)
    if truth["by_line"]:
        if not file and function:
            match = re.search(r"^(.*?):(\d+)$", function)
            file, line = (match.group(1), int(match.group(2))) if match else ("", None)
        return bool(file) and same_file(place["file"], file) and (not place["lines"] or line in place["lines"])
    return normal_function(place["name"]) == normal_function(function) and same_file(place["file"], file)


def culprit_of(function, file, line, truth, held=""):
    """The number of the culprit that this names, or None. A field that holds objects of type `held` is right if it holds
    the culprit's and their type is the accepted one."""
    for number, culprit in enumerate(truth["culprits"]):
        holder = culprit.get("holder")
        if held and holder and function not in (held, holder):
            continue
        if any(accepts(place, held or function, file, line, truth) for place in culprit["accepted"]):
            return number
    return None


def wrong_kind(function, file, truth):
    """What a wrong name is: 'library', 'wrapper', 'entry point', 'shared caller' (a handler of many), 'harmless SHAPE', 'other'."""
    normal = normal_type if truth["family"] == "types" else normal_function

    def is_it(place):
        if truth["by_line"]:
            return bool(file) and same_file(place["file"], file)
        return normal(place["name"]) == normal(function) and same_file(place["file"], file)
    for kind, word in (("wrappers", "wrapper"), ("entries", "entry point"), ("shared", "shared caller"), ("library", "library")):
        if any(map(is_it, truth[kind])):
            return word
    return next(("harmless " + place["what"] for place in truth["quiet"] if is_it(place)), "other")

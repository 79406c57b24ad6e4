#!/usr/bin/env python3
"""check_growth.py LEAKING HARMLESS: so many generated bodies of each kind for the pytest plugin; prints what is judged wrongly.

Every second one calls a package of PyPI, those that are installed. Slow, outside ctest. SNAPDIFF_LIBRARY is the library,
PYTHONPATH has analyzer/python."""
import os
import re
import sys
import tempfile

from snapdiff.pytest_plugin import MemoryGrowth, check_growth

# Each leaves BYTES or more a round, on the line with LEAK.
LEAKS = [
    "KEPT = []\ndef body(): KEPT.append(bytearray(BYTES))  # LEAK",
    "KEPT = {}\ndef body(): KEPT[len(KEPT)] = 'x' * BYTES + str(len(KEPT))  # LEAK",
    "KEPT = set()\ndef body(): KEPT.add(('a' * BYTES + str(len(KEPT)), 1))  # LEAK",
    "class Node:\n    def __init__(self, load, next): self.load, self.next = load, next\nHEAD = [None]\ndef body():\n    HEAD[0] = Node(bytes(BYTES), HEAD[0])  # LEAK",
    "import functools\n@functools.lru_cache(maxsize=None)\ndef made(n):\n    return [n] * (BYTES // 8)  # LEAK\nN = iter(range(10**9))\ndef body(): made(next(N))",
    "CALLS = []\ndef body():\n    load = bytes(BYTES)  # LEAK\n    CALLS.append(lambda: load)",
    "import threading\nLOCAL = threading.local()\nLOCAL.rows = []\ndef body(): LOCAL.rows.extend([bytes(BYTES // 4) for _ in range(4)])  # LEAK",
    "import collections\nQUEUE = collections.deque()\ndef body(): QUEUE.append({'rows': list(range(1000, 1000 + BYTES // 8))})  # LEAK",
]
HARMLESS = [
    "import json\ndef body(): json.loads(json.dumps([{'a': 1}] * (BYTES // 8)))",
    "CACHE = {}\nN = iter(range(10**9))\ndef body(): CACHE[next(N) % 4] = bytes(BYTES)",
    "import functools\n@functools.lru_cache(maxsize=4)\ndef made(n): return [n] * (BYTES // 8)\nN = iter(range(10**9))\ndef body(): made(next(N))",
    "import collections\nRING = collections.deque(maxlen=8)\ndef body(): RING.append(bytes(BYTES))",
    "import re\ndef body(): re.sub('b+', 'd', 'abc' * BYTES)",
    "import io, gzip\ndef body(): gzip.decompress(gzip.compress(bytes(BYTES)))",
    "import threading\ndef body():\n    one = threading.Thread(target=lambda: bytes(BYTES))\n    one.start()\n    one.join()",
    "import asyncio\nasync def work():\n    await asyncio.sleep(0)\n    return bytes(BYTES)\ndef body(): asyncio.run(work())",
    "class Node: pass\ndef body():\n    a, b = Node(), Node()\n    a.b, b.a, a.load = b, a, bytes(BYTES)",
    "import weakref\nclass Node: pass\nSEEN = weakref.WeakSet()\ndef body():\n    one = Node()\n    SEEN.add(one)",
    "import logging\ndef body(): logging.getLogger('made').info('%s', 'x' * BYTES)",
    "LAST = [None]\ndef body(): LAST[0] = [i for i in range(BYTES)]",
]
PACKAGED_LEAKS = [
    "import numpy\nKEPT = []\ndef body(): KEPT.append(numpy.zeros(BYTES // 8))  # LEAK",
    "import pandas\nKEPT = []\ndef body(): KEPT.append(pandas.DataFrame({'a': range(BYTES // 8)}).to_dict())  # LEAK",
    "import jinja2\nENV = jinja2.Environment(cache_size=-1, loader=jinja2.FunctionLoader(lambda name: '{{ a }}' * 40 + name))\nN = iter(range(10**9))\ndef body():\n    ENV.get_template(str(next(N)))  # LEAK",
    "import bs4\nKEPT = []\ndef body(): KEPT.append(bs4.BeautifulSoup('<p>x</p>' * (BYTES // 64), 'html.parser'))  # LEAK",
    "import attr\n@attr.s\nclass One:\n    load = attr.ib()\nKEPT = []\ndef body(): KEPT.append(One(bytes(BYTES)))  # LEAK",
]
PACKAGED_HARMLESS = [
    "import numpy\ndef body(): numpy.linalg.inv(numpy.eye(32) + BYTES).sum()",
    "import pandas\ndef body(): pandas.DataFrame({'a': [1, 2, 3] * 20}).groupby('a').size().sum()",
    "import jinja2\nT = jinja2.Template('{% for i in x %}{{ i }}{% endfor %}')\ndef body(): T.render(x=range(BYTES // 8))",
    "import bs4\ndef body(): bs4.BeautifulSoup('<p>x</p>' * (BYTES // 64), 'html.parser').get_text()",
    "import jsonschema\ndef body(): jsonschema.validate({'a': 'x' * BYTES}, {'type': 'object', 'properties': {'a': {'type': 'string'}}})",
    "import pygments, pygments.lexers, pygments.formatters\ndef body(): pygments.highlight('a = 1\\n' * (BYTES // 64), pygments.lexers.PythonLexer(), pygments.formatters.HtmlFormatter())",
    "import pyarrow\ndef body(): pyarrow.array(range(BYTES // 8)).to_pylist()",
    "import mistune\ndef body(): mistune.html('*a* ' * (BYTES // 64))",
]


def usable(sources):
    """Those whose package is installed; names the others."""
    found = []
    for source in sources:
        module = re.match(r"import (\w+)", source)[1]
        try:
            __import__(module)
            found.append(source)
        except ImportError:
            print(f"skipped: {module} is not installed")
    return found


def said_of(source, size, folder, number):
    """The message of the plugin, "" where the body passes, and the line that leaks."""
    text = source.replace("BYTES", str(size))
    path = os.path.join(folder, f"made_{number}.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")
    space = {}
    exec(compile(text, path, "exec"), space)  # pylint: disable=exec-used; a test's own text
    line = next((i for i, one in enumerate(text.split("\n"), 1) if "# LEAK" in one), 0)
    try:
        check_growth(space["body"])
        return "", f"{path}:{line}"
    except MemoryGrowth as failure:
        return str(failure), f"{path}:{line}"


def main():
    leaking, harmless = map(int, sys.argv[1:3])
    packaged, quiet, wrong = usable(PACKAGED_LEAKS), usable(PACKAGED_HARMLESS), 0

    def pick(own, theirs, number):
        return theirs[number // 2 % len(theirs)] if number % 2 and theirs else own[number // 2 % len(own)]

    with tempfile.TemporaryDirectory() as folder:
        for number in range(leaking):
            source = pick(LEAKS, packaged, number)
            said, place = said_of(source, [1024, 1536, 2048, 4096, 8192][number % 5], folder, number)
            if f"{place}  " not in said:
                wrong += 1
                print(f"leak {number} ({source!r}): {said or 'passed'}", flush=True)
        for number in range(harmless):
            source = pick(HARMLESS, quiet, number)
            said, _ = said_of(source, 512 << number % 6, folder, 1000 + number)
            if said:
                wrong += 1
                print(f"harmless {number} ({source!r}): {said}", flush=True)
    print(f"{leaking} leaking, {harmless} harmless: {wrong} judged wrongly")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

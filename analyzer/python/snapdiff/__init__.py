"""snapdiff: what grew between heap snapshots, where it was allocated, and whether it is a leak.

    import snapdiff
    d = snapdiff.compare("a.heap", "b.heap")
    d.culprits[0].name, d.culprits[0].growth          # "main.leakBacklog", 6072064
    d.rows.to_pandas()                                # one row a stack
    s = snapdiff.series("heaps/"); s.verdict; s.gate(["total:5%"]); s.report("incident/")
"""

from . import capture
from ._answers import Answer, Comparison, Culprit, Gate, Series, Snapshots, compare, open, series
from ._native import (IncompatibleError, InputOutputError, InternalError, LimitError, MalformedError, SnapdiffError, UnsupportedError,
                      UsageError, version)
from ._tables import Table


def __getattr__(name: str) -> str:
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'snapdiff' has no attribute {name!r}")


__all__ = ["Answer", "Comparison", "Culprit", "Gate", "IncompatibleError", "InputOutputError", "InternalError", "LimitError",
           "MalformedError", "Series", "SnapdiffError", "Snapshots", "Table", "UnsupportedError", "UsageError", "capture", "compare",
           "open", "series", "version"]

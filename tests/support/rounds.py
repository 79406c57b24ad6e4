"""Rounds that a sanitized run does fewer of.

A sanitized process takes ten times as long to start and to run, and the tests start several thousand. What is left out there
are rounds that run no code which those before them did not run; each says so in the test's output. A build without a
sanitizer does all.
"""
import os

SANITIZED = bool(os.environ.get("SNAPDIFF_SANITIZED"))


def rounds(items, few, what):
    """`items`, as a list; in a sanitized run the first `few`."""
    items = list(items)
    if SANITIZED and len(items) > few:
        print(f"sanitized: {few} of {len(items)} {what}", flush=True)
        return items[:few]
    return items

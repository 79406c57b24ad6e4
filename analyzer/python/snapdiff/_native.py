"""The C interface (include/snapdiff/snapdiff.h) through ctypes. Every call releases the GIL."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Tuple

_HERE = os.path.dirname(os.path.abspath(__file__))


class SnapdiffError(Exception):
    """A failure of snapdiff.

    code      "input/output", "unsupported", "malformed", "limit", "incompatible", "usage" or "internal"
    subject   the file, store or operand; "" if the failure is about none
    offset    byte of the decompressed input, or None
    found, expected   the two sides of the complaint; "" if it has none
    message   one line with all of the above
    """

    code = "internal"

    def __init__(self, message: str, subject: str = "", offset: Optional[int] = None, found: str = "", expected: str = ""):
        super().__init__(message)
        self.message, self.subject, self.offset, self.found, self.expected = message, subject, offset, found, expected


class InputOutputError(SnapdiffError, OSError):
    """The operating system refused: missing file, full disk."""
    code = "input/output"


class UnsupportedError(SnapdiffError):
    """Readable, but not a heap profile."""
    code = "unsupported"


class MalformedError(SnapdiffError, ValueError):
    """The bytes break the grammar of their format."""
    code = "malformed"


class LimitError(SnapdiffError):
    """A bound that protects the reader was passed, or memory ran out."""
    code = "limit"


class IncompatibleError(SnapdiffError, ValueError):
    """Each input is fine, together they are not."""
    code = "incompatible"


class UsageError(SnapdiffError, ValueError):
    """Unknown operand, option or table; invalid value."""
    code = "usage"


class InternalError(SnapdiffError):
    """One of snapdiff's own checks failed."""
    code = "internal"


_ERRORS = (InternalError, InputOutputError, UnsupportedError, MalformedError, LimitError, IncompatibleError, UsageError, InternalError)


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int32), ("has_offset", c_int32), ("offset", c_uint64), ("subject", c_char_p), ("found", c_char_p),
                ("expected", c_char_p), ("message", c_char_p), ("private_data", c_void_p)]


class _Bytes(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t), ("private_data", c_void_p)]


class _Option(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class ArrowArrayStream(ctypes.Structure):
    """The struct of the Arrow C stream interface. `release` is an address: 0 after the release."""


_STREAM = POINTER(ArrowArrayStream)
ArrowArrayStream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, _STREAM, c_void_p)),
                             ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, _STREAM, c_void_p)),
                             ("get_last_error", ctypes.CFUNCTYPE(c_char_p, _STREAM)),
                             ("release", c_void_p), ("private_data", c_void_p)]
_RELEASE = ctypes.CFUNCTYPE(None, _STREAM)


def _load() -> ctypes.CDLL:
    """$SNAPDIFF_LIBRARY, else the library beside this file, else the one that the system's loader finds."""
    beside = os.path.join(_HERE, "libsnapdiff.so")
    path = os.environ.get("SNAPDIFF_LIBRARY") or (beside if os.path.exists(beside) else "libsnapdiff.so.0")
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"cannot load {path}: {error}; install the wheel, or set SNAPDIFF_LIBRARY") from error


_OPTIONS, _TO_ERROR = POINTER(_Option), POINTER(_Error)
_SIGNATURES = {
    "snapdiff_version": (c_char_p, []),
    "snapdiff_interface_version": (c_int32, []),
    "snapdiff_error_clear": (None, [_TO_ERROR]),
    "snapdiff_bytes_clear": (None, [POINTER(_Bytes)]),
    "snapdiff_open": (c_int32, [POINTER(c_char_p), c_size_t, _OPTIONS, POINTER(c_void_p), _TO_ERROR]),
    "snapdiff_snapshot_count": (c_size_t, [c_void_p]),
    "snapdiff_snapshots_free": (None, [c_void_p]),
    "snapdiff_record": (c_int32, [c_void_p, _OPTIONS, POINTER(_Bytes), _TO_ERROR]),
    "snapdiff_compare": (c_int32, [c_void_p, _OPTIONS, POINTER(c_void_p), _TO_ERROR]),
    "snapdiff_judge": (c_int32, [c_void_p, _OPTIONS, POINTER(c_void_p), _TO_ERROR]),
    "snapdiff_gate": (c_int32, [c_void_p, _OPTIONS, POINTER(c_void_p), _TO_ERROR]),
    "snapdiff_answer_free": (None, [c_void_p]),
    "snapdiff_text": (c_char_p, [c_void_p, c_char_p]),
    "snapdiff_number": (c_int32, [c_void_p, c_char_p, POINTER(c_int64)]),
    "snapdiff_table": (c_int32, [c_void_p, c_char_p, _STREAM, _TO_ERROR]),
    "snapdiff_json": (c_int32, [c_void_p, POINTER(_Bytes), _TO_ERROR]),
    "snapdiff_draw": (c_int32, [c_void_p, _OPTIONS, POINTER(_Bytes), _TO_ERROR]),
    "snapdiff_report": (c_int32, [c_void_p, c_char_p, _OPTIONS, POINTER(_Bytes), _TO_ERROR]),
}


class _Library:
    """Functions of the library, which is loaded at the first call: pytest imports this package for its plugin alone."""

    def __getattr__(self, name: str) -> Any:
        library = _load()
        for function, (result, arguments) in _SIGNATURES.items():
            found = getattr(library, function)
            found.restype, found.argtypes = result, arguments
            setattr(self, function, found)
        return self.__dict__[name]


_library = _Library()


def _text(value: Optional[bytes]) -> str:
    return (value or b"").decode("utf-8", "replace")


def _check(code: int, error: _Error) -> None:
    if code == 0:
        return
    kind = _ERRORS[code] if code < len(_ERRORS) else InternalError
    failure = kind(_text(error.message), _text(error.subject), error.offset if error.has_offset else None,
                   _text(error.found), _text(error.expected))
    _library.snapdiff_error_clear(error)
    raise failure


def _call(function: str, *arguments: Any) -> None:
    error = _Error()
    _check(getattr(_library, function)(*arguments, ctypes.byref(error)), error)


def _value(value: Any) -> bytes:
    return (b"1" if value else b"0") if isinstance(value, bool) else os.fsencode(value) if isinstance(value, os.PathLike) else str(value).encode("utf-8", "surrogateescape")


def _options(options: Mapping[str, Any]) -> Any:
    """A list for C. None is left out; a list or tuple gives the option several times."""
    pairs: List[Tuple[bytes, bytes]] = []
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None:
                pairs.append((name.encode(), _value(one)))
    array = (_Option * (len(pairs) + 1))()
    for place, (name_bytes, value_bytes) in zip(array, pairs):
        place.name, place.value = name_bytes, value_bytes
    return array


def _take(data: _Bytes) -> bytes:
    try:
        return ctypes.string_at(data.data, data.size) if data.size else b""
    finally:
        _library.snapdiff_bytes_clear(ctypes.byref(data))


class _Handle:
    """Owner of a pointer that one C function frees."""

    __slots__ = ("pointer", "_free", "__weakref__")

    def __init__(self, pointer: Optional[int], free: Any):
        self.pointer, self._free = pointer, free

    def __del__(self) -> None:
        if self.pointer:
            self._free(self.pointer)
            self.pointer = None


def version() -> str:
    """Version of the library, "0.1.0"."""
    return _text(_library.snapdiff_version())


def open_snapshots(operands: Sequence[Any], options: Mapping[str, Any]) -> _Handle:
    texts = (c_char_p * max(len(operands), 1))(*[os.fsencode(one) for one in operands])
    out = c_void_p()
    _call("snapdiff_open", texts, len(operands), _options(options), ctypes.byref(out))
    return _Handle(out.value, _library.snapdiff_snapshots_free)


def snapshot_count(snapshots: _Handle) -> int:
    return int(_library.snapdiff_snapshot_count(snapshots.pointer))


# One text a name: Python keeps each text that an attribute was looked up by, up to thousands of them.
_ANSWERS = {"compare": "snapdiff_compare", "judge": "snapdiff_judge", "gate": "snapdiff_gate"}


def answer(kind: str, snapshots: _Handle, options: Mapping[str, Any]) -> _Handle:
    """`kind` is compare, judge or gate."""
    out = c_void_p()
    _call(_ANSWERS[kind], snapshots.pointer, _options(options), ctypes.byref(out))
    return _Handle(out.value, _library.snapdiff_answer_free)


def text(handle: _Handle, name: str) -> str:
    return _text(_library.snapdiff_text(handle.pointer, name.encode()))


def number(handle: _Handle, name: str) -> Optional[int]:
    value = c_int64()
    return value.value if _library.snapdiff_number(handle.pointer, name.encode(), ctypes.byref(value)) else None


def stream(handle: _Handle, name: str) -> ArrowArrayStream:
    """A table as a stream that the caller has to release()."""
    out = ArrowArrayStream()
    _call("snapdiff_table", handle.pointer, name.encode(), ctypes.byref(out))
    return out


def release(one: ArrowArrayStream, _release: Any = _RELEASE, _reference: Any = ctypes.byref) -> None:
    if one.release:
        _release(one.release)(_reference(one))


def json_bytes(handle: _Handle) -> bytes:
    data = _Bytes()
    _call("snapdiff_json", handle.pointer, ctypes.byref(data))
    return _take(data)


def draw(snapshots: _Handle, options: Mapping[str, Any]) -> bytes:
    data = _Bytes()
    _call("snapdiff_draw", snapshots.pointer, _options(options), ctypes.byref(data))
    return _take(data)


def lines(function: str, *arguments: Any) -> Iterable[str]:
    """What snapdiff_report() or snapdiff_record() lists."""
    data = _Bytes()
    _call(function, *arguments, ctypes.byref(data))
    return _take(data).decode("utf-8", "replace").split("\n")[:-1]


def report(snapshots: _Handle, folder: Any, options: Mapping[str, Any]) -> List[str]:
    return list(lines("snapdiff_report", snapshots.pointer, os.fsencode(folder), _options(options)))


def record(snapshots: _Handle, options: Mapping[str, Any]) -> List[int]:
    return [int(line) for line in lines("snapdiff_record", snapshots.pointer, _options(options))]

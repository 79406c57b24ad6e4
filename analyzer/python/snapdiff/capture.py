"""Snapshots of this process, written as plain files that the command line reads as well.

    with snapdiff.capture.tracemalloc("heaps/", every=30):        # seconds; a thread takes them
        serve()
    with snapdiff.capture.torch("run/", every=100) as snapshots:  # steps of training
        for batch in loader:
            train(batch); snapshots.step()
    snapdiff.series("heaps/")
"""

from __future__ import annotations

import gc
import os
import threading
from typing import Any, List, Optional, Union

Path = Union[str, "os.PathLike[str]"]


class _Capture:
    """Writes numbered files into a folder: NAME.0001.ENDING, NAME.0002.ENDING, ..."""

    ending = ""

    def __init__(self, folder: Path, every: Optional[float], name: str):
        self.folder, self.every, self.name = os.fspath(folder), every, name
        self.files: List[str] = []  # in the order of time
        self._steps = 0

    def _write(self, path: str) -> None:
        raise NotImplementedError

    def take(self) -> str:
        """Writes a snapshot now and returns its path. A file appears whole or not at all."""
        path = os.path.join(self.folder, f"{self.name}.{len(self.files) + 1:04}{self.ending}")
        self._write(path + ".part")
        os.replace(path + ".part", path)
        self.files.append(path)
        return path

    def step(self) -> None:
        """Counts a step; every `every` steps it takes a snapshot."""
        self._steps += 1
        if self.every and self._steps % self.every == 0:
            self.take()

    def __enter__(self) -> Any:
        os.makedirs(self.folder, exist_ok=True)
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def _without_ours(module: Any, snapshot: Any, root: Optional[str]) -> Any:
    """The snapshot without what taking snapshots allocated, and without the frames from the file `root` on.

    A trace is (domain, bytes, frames with the leaf first, depth): filter_traces() would build objects of each, at a
    hundred times the cost."""
    ours = {module.__file__, threading.__file__, __file__, root}
    kept = []
    for trace in snapshot.traces._traces:
        frames = trace[2]
        if frames[0][0] in ours or any(frame[0] == __file__ for frame in frames):
            continue
        if root is not None:
            frames = next((frames[:i] for i, frame in enumerate(frames) if frame[0] == root), frames)
        kept.append(trace if frames is trace[2] else (trace[0], trace[1], frames, len(frames)))
    return module.Snapshot(tuple(kept), snapshot.traceback_limit)


class tracemalloc(_Capture):  # noqa: N801 - named as the module whose snapshots it takes
    """Snapshots of Python's own allocations.

    every    seconds between snapshots, taken by a thread; None: only take() does
    frames   frames of each stack
    Tracing starts with the block and ends with it, unless it was on before."""

    ending = ".tracemalloc"

    def __init__(self, folder: Path, every: Optional[float] = None, *, frames: int = 25, name: str = "heap"):
        super().__init__(folder, every, name)
        import tracemalloc as module
        self._module, self._frames = module, frames
        self._stop = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._started = False
        self._root: Optional[str] = None  # file of the frame that called the code under test
        self._guard = threading.Lock()

    def _write(self, path: str) -> None:
        gc.collect()
        _without_ours(self._module, self._module.take_snapshot(), self._root).dump(path)

    def take(self) -> str:
        with self._guard:
            return super().take()

    def _run(self) -> None:
        while not self._stop.wait(self.every):
            self.take()

    def __enter__(self) -> Any:
        super().__enter__()
        self._started = not self._module.is_tracing()
        if self._started:
            self._module.start(self._frames)
        if self.every:
            self._thread = threading.Thread(target=self._run, name="snapdiff.capture", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self.take()
        if self._started:
            self._module.stop()


class torch(_Capture):  # noqa: N801
    """Memory of CUDA devices, as torch.cuda.memory._dump_snapshot() writes it, with the trace of allocations.

    every    steps between snapshots: call step() after each
    entries  allocations and releases that the trace holds"""

    ending = ".pickle"

    def __init__(self, folder: Path, every: Optional[int] = None, *, entries: int = 100_000, name: str = "cuda"):
        super().__init__(folder, every, name)
        import torch as module
        self._memory, self._entries = module.cuda.memory, entries

    def _write(self, path: str) -> None:
        self._memory._dump_snapshot(path)

    def __enter__(self) -> Any:
        super().__enter__()
        self._memory._record_memory_history(max_entries=self._entries)
        return self

    def __exit__(self, *_: Any) -> None:
        self._memory._record_memory_history(enabled=None)


class jax(_Capture):  # noqa: N801
    """Memory of JAX's devices by Python stack, as jax.profiler.save_device_memory_profile() writes it.

    every    steps between snapshots: call step() after each"""

    ending = ".pb.gz"

    def __init__(self, folder: Path, every: Optional[int] = None, *, name: str = "device"):
        super().__init__(folder, every, name)
        import jax.profiler as module
        self._profiler = module

    def _write(self, path: str) -> None:
        self._profiler.save_device_memory_profile(path)

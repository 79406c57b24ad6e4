"""On PYTHONPATH by `snapdiff run`: a thread writes a tracemalloc snapshot every SNAPDIFF_RUN_EVERY seconds."""
import os
import sys


def capture(folder, every):
    import atexit
    import threading
    import tracemalloc
    own = [tracemalloc.Filter(False, __file__, all_frames=True), tracemalloc.Filter(False, tracemalloc.__file__)]
    lock = threading.Lock()
    state = {"number": 0}

    def take():
        with lock:
            if not tracemalloc.is_tracing():
                return
            snapshot = tracemalloc.take_snapshot().filter_traces(own)
            state["number"] += 1
            path = os.path.join(folder, "heap-%d.%04d.tracemalloc" % (os.getpid(), state["number"]))
            snapshot.dump(path + ".part")
            os.replace(path + ".part", path)

    def beat(stop):
        while not stop.wait(every):
            try:
                take()
            except Exception as failure:  # a full disk must not end the program
                sys.stderr.write("snapdiff run: no snapshot: %s\n" % failure)
                return

    def start():
        stop = state["stop"] = threading.Event()
        state["thread"] = threading.Thread(target=beat, args=(stop,), name="snapdiff-run", daemon=True)
        state["thread"].start()

    def end():
        state["stop"].set()
        take()

    def forked():
        state["number"] = 0
        start()

    tracemalloc.start(25)
    start()
    atexit.register(end)
    os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lambda: (lock.release(), forked()))


def hand_on(here):
    """The sitecustomize that would have been imported without this one."""
    from importlib.machinery import PathFinder
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if os.path.abspath(path) != here])
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec
        spec.loader.exec_module(module_from_spec(spec))


if os.environ.get("SNAPDIFF_RUN_FOLDER") and sys.version_info >= (3, 9):
    capture(os.environ["SNAPDIFF_RUN_FOLDER"], float(os.environ["SNAPDIFF_RUN_EVERY"]))
hand_on(os.path.dirname(os.path.abspath(__file__)))

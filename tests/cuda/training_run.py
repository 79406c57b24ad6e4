#!/usr/bin/env python3
"""Imitates training runs on a caching allocator and writes their CUDA memory snapshot with what is true of it: where each
iteration ends (at the end of the loop's body; evaluation comes after it), what a leak keeps of each, and what each block is
for. Frames are those of real files: native ones down to
the interpreter, Python frames among them, a part of these behind `_start`; backward has a thread of its own and none.

  training_run.py --out FILE.pickle [--iterations 12] [--leak loss_list|hook|optimizer_copies|cache] [--stacks all|python]
                  [--zero-grad start|end|never] [--accumulate N] [--evaluate N] [--vary] [--graphs] [--bounded N]
                  [--oom forward|backward|step] [--in-place] [--inference] [--late] [--replay] [--autotune] [--checkpoint]
                  [--annotations optimizer|profiler|own]

Prints the truth as JSON. Standard library only; it knows nothing of snapdiff's code.
"""
import argparse
import json
import os
import pickle
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from allocator_model import Device, rounded  # noqa: E402
from native_frames import END, ENGINE, FREE, MALLOC  # noqa: E402

SITE = "/opt/venv/lib/python3.12/site-packages/torch/"
TRAIN, MODEL, CACHE, DATA = "/home/user/run/train.py", "/home/user/run/model.py", "/home/user/run/cache.py", "/home/user/run/data.py"
DEVICE_FREE = 3 << 20
LEAKS = ["loss_list", "hook", "optimizer_copies", "cache"]


class OutOfMemory(Exception):
    pass


class Run:
    def __init__(self, a):
        self.a, self.rng = a, random.Random(a.seed)
        self.d = Device(self.rng, 0, False)
        self.made, self.stacks, self.born = {}, {}, {}
        self.ends, self.roles, self.kept, self.annotations = [], {}, [], []
        self.params, self.grads, self.state, self.held, self.bounded = [], [], [], [], []
        self.fail_at = self.failure = None
        self.captured = False

    # -- stacks ----------------------------------------------------------------
    def frame(self, name, file, line=0):
        return self.made.setdefault((name, file, line), {"name": name, "filename": file, "line": line})

    def stack(self, native, *python):
        """python: (name, file, line), the innermost first; without any, autograd's thread."""
        key = (tuple(native), python)
        if key not in self.stacks:
            if not python:
                frames = [self.frame(*f) for f in list(native) + ENGINE] if self.a.stacks == "all" else []
            elif self.a.stacks == "python":
                frames = [self.frame(*f) for f in python]
            else:
                frames = [self.frame(*f) for f in native]
                inside = max(1, len(python) - 2)    # the rest comes behind _start, as in real files
                for f in python[:inside]:
                    frames += [self.frame(*f), self.frame("_PyEval_EvalFrameDefault", "??")]
                frames += [self.frame(*f) for f in END] + [self.frame(*f) for f in python[inside:]]
            self.stacks[key] = frames
        return list(self.stacks[key])

    def alloc(self, size, role, *python, op="at::_ops::empty::call(at::Tensor const&)", pool=(0, 0)):
        if self.fail_at is not None:
            self.fail_at -= 1
            if self.fail_at < 0:
                self.fail(self.stack(MALLOC + [(op, "??")], *python))
        block = self.d.malloc(size, self.stack(MALLOC + [(op, "??")], *python), pool=pool)
        self.roles[len(self.d.trace) - 1] = role
        self.born[block["address"]] = len(self.d.trace) - 1
        return block

    def fail(self, frames):
        """More than all that is reserved and that the device has, whatever is free of it."""
        reserved = sum(s["size"] for s in self.d.segments)
        busy = [b for s in self.d.segments for b in s["blocks"] if b["state"] != "inactive"]
        idle = [s for s in self.d.segments if all(b["state"] == "inactive" for b in s["blocks"])]
        self.failure = {"asked": rounded(reserved + DEVICE_FREE), "device_free": DEVICE_FREE, "reserved": reserved, "blocks": len(busy),
                        "allocated": sum(b["size"] for b in busy), "requested": sum(b["req"] for b in busy),
                        "can_go_back": sum(s["size"] for s in idle)}
        self.d.record("oom", DEVICE_FREE, self.failure["asked"], 0, (0, 0), frames)
        raise OutOfMemory

    def free(self, block, *python):
        frames = self.stack(FREE, *python)
        self.d.request_free(block, frames)
        self.d.complete_free(block, frames)

    # -- where things are called from ------------------------------------------
    def main(self, line):
        return (("train", TRAIN, line), ("main", TRAIN, 95), ("<module>", TRAIN, 120))

    def module(self, *inner):
        """Frames of nested module calls: forward of each, with nn.Module's own between."""
        out = ()
        for line in inner:
            out += (("forward", MODEL, line), ("_call_impl", SITE + "nn/modules/module.py", 1790),
                    ("_wrapped_call_impl", SITE + "nn/modules/module.py", 1779))
        return out

    # -- the program -----------------------------------------------------------
    def build(self):
        a = self.a
        for layer in range(a.layers):
            for line, size in ((21, 12 * a.hidden * a.hidden), (22, 4 * a.hidden), (23, 16 * a.hidden * a.hidden)):
                self.params.append(self.alloc(size, "parameter", ("__init__", SITE + "nn/modules/linear.py", 106), ("__init__", MODEL, line),
                                              ("__init__", MODEL, 60), *self.main(40)))

    def autotune(self, line):
        """In its first pass cuDNN tries algorithms with workspaces of many sizes, and cuBLAS takes one for good."""
        inner, caller = self.module(12), self.module(31, 66) + self.main(line)
        passing = "workspace" if self.a.stacks == "all" else "temporary"     # native frames tell it
        for size in (24 << 20, 7 << 20, 40 << 20):
            self.free(self.alloc(size, passing, *inner, *caller, op="at::native::raw_cudnn_convolution_forward_out()"), *inner, *caller)
        self.alloc(8519680, "workspace", *inner, *caller, op="at::cuda::getNewWorkspace()")

    def layer(self, size, role, *caller):
        """One layer's activations, the output last."""
        saved, block = [], self.module(31, 66)
        for inner, factor in ((11, 3), (12, 1)):
            saved.append(self.alloc(size * factor, role, *self.module(inner), *block, *caller, op="at::_ops::linear::call()"))
        temporary = self.alloc(size * 2, "temporary", ("softmax", SITE + "nn/functional.py", 2140), *self.module(13), *block, *caller)
        self.free(temporary, *self.module(13), *block, *caller)
        saved.append(self.alloc(size, role, *self.module(14), *self.module(32, 66), *caller, op="at::_ops::gelu::call()"))
        return saved

    def forward(self, line, seq, keep=True):
        """The activations that backward needs; temporaries come and go, as all does in evaluation. With checkpoints only the
        layers' outputs stay."""
        a, saved, caller, role = self.a, [], self.main(line), "activation" if keep else "temporary"
        size = a.batch * seq * a.hidden * 4
        x = self.alloc(size, role, ("embedding", SITE + "nn/functional.py", 2551), *self.module(65), *caller)
        saved.append(x)
        for _ in range(a.layers):
            if keep and a.checkpoint:
                inside = (("checkpoint", SITE + "utils/checkpoint.py", 503),)
                made = self.layer(size, role, *inside, *self.module(67), *caller)
                for block_ in made[:-1]:
                    self.free(block_, *inside, *self.module(67), *caller)
                saved.append(made[-1])
                continue
            saved += self.layer(size, role, *caller)
            if not keep:                            # without gradients only the last one is held
                for block_ in saved[:-1]:
                    self.free(block_, *self.module(32, 66), *caller)
                saved = saved[-1:]
        return saved

    def backward(self, saved, line):
        a, caller = self.a, self.main(line)
        ones = self.alloc(4, "autograd detail", ("_make_grads", SITE + "autograd/__init__.py", 231), ("backward", SITE + "autograd/__init__.py", 374),
                          ("backward", SITE + "_tensor.py", 631), *caller)
        if a.checkpoint:
            self.backward_again(saved)
            saved = []
        for i, block in enumerate(reversed(saved)):
            grad = self.alloc(block["req"], "autograd detail", op="torch::autograd::generated::MmBackward0::apply()")
            if i < len(self.params) and len(self.grads) < len(self.params):
                self.grads.append(self.alloc(self.params[i]["req"], "gradient", op="torch::autograd::AccumulateGrad::apply()"))
            self.free(grad)
            if not self.keeps_graph:
                self.free(block)
        while len(self.grads) < len(self.params):
            self.grads.append(self.alloc(self.params[len(self.grads)]["req"], "gradient", op="torch::autograd::AccumulateGrad::apply()"))
        self.free(ones, ("backward", SITE + "_tensor.py", 631), *caller)

    def backward_again(self, saved):
        """Of each layer, the last one first: its forward again in autograd's thread, then its gradients. The gradient of what
        a layer got is there until the layer before it is done."""
        again = (("recompute_fn", SITE + "utils/checkpoint.py", 1400), ("unpack_hook", SITE + "utils/checkpoint.py", 1130))
        size, coming = saved[0]["req"], None
        for block in reversed(saved[1:]):
            made = self.layer(size, "activation", *again)
            for inner in reversed(made):
                grad = self.alloc(inner["req"], "autograd detail", op="torch::autograd::generated::MmBackward0::apply()")
                self.free(inner)
                self.free(grad)
            if len(self.grads) < len(self.params):
                for param in self.params[len(self.grads):len(self.grads) + 3]:
                    self.grads.append(self.alloc(param["req"], "gradient", op="torch::autograd::AccumulateGrad::apply()"))
            grad = self.alloc(size, "autograd detail", op="torch::autograd::generated::AddBackward0::apply()")
            if coming is not None:
                self.free(coming)
            coming = grad
            if not self.keeps_graph:
                self.free(block)
        self.free(coming)
        if not self.keeps_graph:
            self.free(saved[0])

    @property
    def keeps_graph(self):
        return self.a.leak == "loss_list"

    def step(self, line):
        wrapped = (("wrapper", SITE + "optim/optimizer.py", 533), *self.main(line))
        inner = (("_multi_tensor_adamw", SITE + "optim/adamw.py", 560), ("step", SITE + "optim/adamw.py", 243), *wrapped)
        self.annotate("optimizer", "Optimizer.step#AdamW.step", "START")
        try:
            self.update(inner, wrapped)
        finally:                                    # a context manager: it ends when memory runs out, too
            self.annotate("optimizer", "Optimizer.step#AdamW.step", "END")
        self.stepped = len(self.d.trace)

    def update(self, inner, wrapped):
        if not self.state:
            for param in self.params:
                for at in (150, 155):
                    self.state.append(self.alloc(param["req"], "optimizer state", ("_init_group", SITE + "optim/adamw.py", at),
                                                 ("step", SITE + "optim/adamw.py", 232), *wrapped))
        if self.a.in_place:
            return
        for param in self.params[:6]:
            temporary = self.alloc(param["req"], "temporary", *inner, op="at::_ops::_foreach_sqrt::call()")
            self.free(temporary, *wrapped)

    def zero_grad(self, line):
        if self.a.zero_grad == "never" or self.captured:
            return
        for grad in self.grads:
            self.free(grad, ("zero_grad", SITE + "optim/optimizer.py", 1002), *self.main(line))
        self.grads = []

    def keep(self, blocks):
        """What the leak keeps of this iteration, as the allocator counts it."""
        self.kept += [(self.born[b["address"]], b["size"]) for b in blocks]

    def leaked(self):
        """What the leak keeps of each iteration, by where these end."""
        out = [{"bytes": 0, "blocks": 0} for _ in self.ends]
        for birth, size in self.kept:
            iteration = next((i for i, end in enumerate(self.ends) if birth < end), None)
            if iteration is not None and birth >= 0:
                out[iteration]["bytes"] += size
                out[iteration]["blocks"] += 1
        return out

    def annotate(self, kind, name, stage):
        """A mark between two events, as the profiler's record_function leaves it."""
        if self.a.annotations != kind:
            return
        self.annotations.append({"name": name, "stage": stage, "device": 0, "time_us": self.d.time + 1})
        self.d.time += 2

    def iteration(self, number):
        a = self.a
        seq = self.rng.choice([a.seq // 2, a.seq, a.seq * 3 // 4]) if a.vary else a.seq
        failing = a.oom if number == a.iterations + 1 else None
        self.annotate("profiler", "ProfilerStep#%d" % number, "START")
        self.annotate("own", "train step %d" % number, "START")
        if a.zero_grad == "start" and number > 1:
            self.zero_grad(49)
        fresh = []
        for micro in range(a.accumulate):
            batch = self.alloc(a.batch * seq * 8, "input", ("to_device", DATA, 12), *self.main(50))
            self.release_held()
            if failing == "forward":
                self.fail_at = 5
            if self.captured:
                self.replay([batch])
                continue
            if a.autotune and number == 1 and micro == 0:
                self.autotune(52)
            saved = self.forward(52, seq)
            if a.leak == "hook":
                fresh.append(self.alloc(a.batch * seq * a.hidden * 4, "activation", ("save_output", MODEL, 81), *self.module(32, 66),
                                        *self.main(52)))
            loss = self.alloc(4, "activation", ("cross_entropy", SITE + "nn/functional.py", 3494), *self.main(53))
            if failing == "backward":
                self.fail_at = 4
            self.backward(saved, 54)
            if self.keeps_graph:
                fresh += saved + [loss]
                self.held = [batch]
            else:
                self.held = [batch, loss]           # until the loop's variables name the next ones
        if failing == "step":
            self.fail_at = 2
        self.step(55)
        if a.zero_grad == "end":
            self.zero_grad(56)
        if a.leak == "optimizer_copies":
            fresh += [self.alloc(s["req"], "unknown", ("__deepcopy__", SITE + "_tensor.py", 140), ("deepcopy", "/usr/lib/python3.12/copy.py", 162),
                                 ("remember_state", TRAIN, 71), *self.main(57)) for s in self.state[:8]]
        if a.leak == "cache":
            fresh += [self.alloc(a.batch * 4096, "unknown", ("put", CACHE, line), *self.main(58)) for line in (33, 34)]
        if a.bounded:
            self.bounded.append(self.alloc(a.batch * 2048, "unknown", ("push", CACHE, 44), *self.main(59)))
            if len(self.bounded) > a.bounded:
                self.free(self.bounded.pop(0), ("push", CACHE, 45), *self.main(59))
        if a.leak:
            self.keep(fresh)
        self.annotate("profiler", "ProfilerStep#%d" % number, "END")
        self.annotate("own", "train step %d" % number, "END")
        self.ends.append(self.stepped if a.annotations == "optimizer" else len(self.d.trace))
        if a.evaluate and number % a.evaluate == 0:
            for block in self.forward(75, a.seq, keep=False):
                self.free(block, *self.main(76))

    def release_held(self):
        for block in self.held:
            self.free(block, *self.main(50))
        self.held = []

    def replay(self, held):
        """A graph's kernels write to blocks that were there when it was captured."""
        self.held = held

    def capture_pass(self):
        """A pass as torch.cuda.make_graphed_callables captures it: its blocks are those of a private pool and stay there."""
        caller = (("make_graphed_callables", SITE + "cuda/graphs.py", 356), *self.main(46))
        size = self.a.batch * self.a.seq * self.a.hidden * 4
        for _ in range(self.a.layers):
            for inner, factor in ((11, 3), (12, 1), (14, 1)):
                self.alloc(size * factor, "workspace", *self.module(inner), *self.module(31, 66), *caller, pool=(0, 1))
        self.captured = True

    def capture(self):
        for _ in range(3):
            self.alloc(6 << 20, "workspace", ("capture_end", SITE + "cuda/graphs.py", 84), ("__exit__", SITE + "cuda/graphs.py", 186), *self.main(45),
                       pool=(0, 1))

    def run(self):
        a = self.a
        self.build()
        if a.graphs:
            self.capture()
        if a.replay:
            for param in self.params:               # gradients of a captured pass are there for good
                self.grads.append(self.alloc(param["req"], "workspace", ("make_graphed_callables", SITE + "cuda/graphs.py", 356), *self.main(46), pool=(0, 1)))
            self.capture_pass()
        if a.inference:
            for _ in range(a.iterations):
                for block in self.forward(75, a.seq, keep=False):
                    self.free(block, *self.main(76))
            return
        start = None
        try:
            for number in range(1, a.iterations + 1 + (1 if a.oom else 0)):
                if a.late and number == 3:
                    start = len(self.d.trace)
                self.iteration(number)
        except OutOfMemory:
            pass
        if start is not None:                       # the recorder was switched on, or its ring was full
            self.d.trace = self.d.trace[start:]
            self.ends = [end - start for end in self.ends if end > start]
            self.kept = [(birth - start, size) for birth, size in self.kept]
            self.roles = {event - start: role for event, role in self.roles.items() if event >= start}

    def snapshot(self):
        segments = []
        for s in sorted(self.d.segments, key=lambda s: s["address"]):
            busy = [b for b in s["blocks"] if b["state"] != "inactive"]
            segments.append({"device": 0, "address": s["address"], "total_size": s["size"], "allocated_size": sum(b["size"] for b in busy),
                             "active_size": sum(b["size"] for b in busy), "requested_size": sum(b["req"] for b in busy), "stream": s["stream"],
                             "segment_type": "small" if s["small"] else "large", "segment_pool_id": s["pool"], "is_expandable": False,
                             "frames": s["ctx"] or [],
                             "blocks": [{"address": b["address"], "size": b["size"], "requested_size": b["req"], "state": b["state"],
                                         "frames": b["frames"]} for b in s["blocks"]]})
        return {"segments": segments, "device_traces": [self.d.trace], "allocator_settings": {"expandable_segments": False},
                "external_annotations": self.annotations}

    def roles_at(self, events):
        """Bytes by role after so many events; blocks from before the trace have none of ours. The file tells what a block really
        takes only of those that are there at the end."""
        final = {b["address"]: b["size"] for s in self.d.segments for b in s["blocks"] if b["state"] != "inactive"}
        last = {entry["addr"]: number for number, entry in enumerate(self.d.trace) if entry["action"] == "alloc"}
        live, sums = {}, {}
        for number, entry in enumerate(self.d.trace[:events]):
            if entry["action"] == "alloc":
                stays = last[entry["addr"]] == number and entry["addr"] in final
                live[entry["addr"]] = (self.roles[number], final[entry["addr"]] if stays else max(512, rounded(entry["size"])))
            elif entry["action"] == "free_completed":
                live.pop(entry["addr"], None)
        for role, size in live.values():
            sums[role] = sums.get(role, 0) + size
        return sums

    def fullest(self):
        live = most = at = 0
        for number, entry in enumerate(self.d.trace):
            live += {"alloc": entry["size"], "free_completed": -entry["size"]}.get(entry["action"], 0)
            if live > most:
                most, at = live, number + 1
        return at

    def truth(self):
        moments = [self.fullest()] + self.ends[-1:]
        return {"roles": {moment: self.roles_at(moment) for moment in moments}, "ends": self.ends, "leaked": self.leaked(), "failure": self.failure,
                "losses": self.a.accumulate, "events": len(self.d.trace), "warm_up": 0 if self.a.late else 1}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out")
    parser.add_argument("--iterations", type=int, default=12)
    parser.add_argument("--leak", choices=LEAKS)
    parser.add_argument("--stacks", choices=["all", "python"], default="all")
    parser.add_argument("--zero-grad", choices=["start", "end", "never"], default="start")
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--evaluate", type=int, default=0)
    parser.add_argument("--bounded", type=int, default=0, help="a cache that keeps the last N tensors")
    parser.add_argument("--vary", action="store_true", help="another sequence length each time")
    parser.add_argument("--graphs", action="store_true", help="blocks of a private pool, captured before the loop")
    parser.add_argument("--oom", choices=["forward", "backward", "step"])
    parser.add_argument("--in-place", action="store_true", help="the optimizer allocates in its first step only")
    parser.add_argument("--inference", action="store_true")
    parser.add_argument("--late", action="store_true", help="the trace begins with the third iteration")
    parser.add_argument("--replay", action="store_true", help="forward and backward are a captured graph, zero_grad is left out")
    parser.add_argument("--autotune", action="store_true", help="workspaces in the first pass")
    parser.add_argument("--checkpoint", action="store_true", help="torch.utils.checkpoint around each layer")
    parser.add_argument("--annotations", choices=["optimizer", "profiler", "own"])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def make(path, *arguments):
    """Writes the snapshot and gives its truth."""
    run = Run(parse(list(arguments)))
    run.run()
    with open(path, "wb") as out:
        pickle.dump(run.snapshot(), out, protocol=4)
    return run.truth()


def main():
    arguments = sys.argv[1:]
    print(json.dumps(make(parse(arguments).out, *arguments)))


if __name__ == "__main__":
    main()

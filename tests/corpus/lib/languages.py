"""Names as compilers and runtimes write them: user functions, entry points, shared wrappers and library chains.

Library chains are leaf first. Everything here is invented or is the public name of a library function; a case draws from
it by its own random generator, so two seeds give two different programs.
"""
from lib.heap import Frame

NOUNS = ("session", "order", "tile", "index", "route", "ticket", "frame", "batch", "event", "lease", "probe", "shard",
         "packet", "track", "quota", "invoice", "cursor", "peer", "glyph", "schema", "report", "filter", "journal", "metric")
VERBS = ("track", "put", "register", "build", "load", "append", "resolve", "parse", "ingest", "render", "open", "collect",
         "merge", "expand", "decode", "attach", "record", "prepare", "fetch", "watch", "compile", "stage", "apply", "index")


def camel(word):
    return word[0].upper() + word[1:]


class Language:
    """Base: draws distinct own functions and gives library frames; a subclass says how they are spelled."""
    roots = ()       # chains from the root: (name, file, own)
    chains = ()      # library chains, leaf first: (name, file)
    wrappers = ()    # own helpers that everybody calls: (name, file)
    module = "/srv/app/bin/service"

    def __init__(self, rng):
        self.rng, self.used = rng, set()

    def words(self):
        while True:
            pair = (self.rng.choice(VERBS), self.rng.choice(NOUNS))
            if pair not in self.used:
                self.used.add(pair)
                return pair

    def own(self):
        verb, noun = self.words()
        name, file = self.spell(verb, noun)
        return Frame(name, file, self.rng.randint(12, 480), module=self.module)

    def root(self):
        chain = self.rng.choice(self.roots)
        return tuple(Frame(name, file, 20 + 3 * i, own, module=self.module) for i, (name, file, own) in enumerate(chain))

    def chain(self):
        if not self.chains:
            return ()
        return tuple(self.library(name, file) for name, file in self.rng.choice(self.chains))

    def library(self, name, file):
        return Frame(name, file, 40 + len(name) % 300, False, module="/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"
                     if "." not in file else self.module)

    def wrapper(self):
        name, file = self.rng.choice(self.wrappers)
        return Frame(name, file, 31, module=self.module)


class Cpp(Language):
    roots = (
        (("main", "/srv/app/src/main.cc", True), ("app::Server::run()", "/srv/app/src/server.cc", True)),
        (("main", "/srv/app/src/main.cc", True),),
        (("start_thread", "./nptl/pthread_create.c", False),
         ("std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (app::Worker::*)(), app::Worker*> > >::_M_run()",
          "/usr/include/c++/12/bits/std_thread.h", False), ("app::Worker::loop()", "/srv/app/src/worker.cc", True)),
    )
    chains = (
        (),
        (("operator new(unsigned long)", "new_op"),),
        (("__gnu_cxx::new_allocator<char>::allocate(unsigned long, void const*)", "/usr/include/c++/12/bits/new_allocator.h"),
         ("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, unsigned long)",
          "/usr/include/c++/12/bits/basic_string.tcc"),
         ("std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::reserve(unsigned long)",
          "/usr/include/c++/12/bits/basic_string.tcc")),
        (("std::_Vector_base<float, std::allocator<float> >::_M_allocate(unsigned long)", "/usr/include/c++/12/bits/stl_vector.h"),
         ("std::vector<float, std::allocator<float> >::_M_default_append(unsigned long)", "/usr/include/c++/12/bits/vector.tcc"),
         ("std::vector<float, std::allocator<float> >::resize(unsigned long)", "/usr/include/c++/12/bits/stl_vector.h")),
        (("std::__detail::_Hashtable_alloc<std::allocator<std::__detail::_Hash_node<std::pair<int const, long>, false> > >::_M_allocate_node()",
          "/usr/include/c++/12/bits/hashtable_policy.h"),
         ("std::unordered_map<int, long, std::hash<int>, std::equal_to<int>, std::allocator<std::pair<int const, long> > >::operator[](int const&)",
          "/usr/include/c++/12/bits/unordered_map.h")),
        (("boost::container::dtl::flat_tree<int>::insert(int&&)", "/usr/include/boost/container/detail/flat_tree.hpp"),),
        (("std::make_shared<app::Body>()", "/usr/include/c++/12/bits/shared_ptr.h"),),
    )
    wrappers = (("xmalloc", "/srv/app/src/util/xmalloc.c"), ("app::Buffer::alloc(unsigned long)", "/srv/app/src/buffer.cc"),
                ("app::Arena::take(unsigned long)", "/srv/app/src/arena.cc"), ("make_blob", "/srv/app/src/util/blob.cc"))

    def spell(self, verb, noun):
        kind, file = self.rng.randrange(5), f"/srv/app/src/{noun}.cc"
        spelled = (f"{verb}_{noun}", f"app::{camel(noun)}::{verb}(app::Request const&)", f"{noun}_{verb}(char const*, int)",
                   f"app::detail::{camel(noun)}Pool<app::{camel(noun)}, 64>::{verb}()",
                   f"app::{camel(noun)}Store::{verb}{camel(noun)}(std::basic_string_view<char>)")[kind]
        return spelled, file


class Rust(Language):
    roots = (
        (("main", "src/main.rs", False), ("std::rt::lang_start::{{closure}}", "library/std/src/rt.rs", False),
         ("svc::main", "src/main.rs", True)),
        (("std::sys::unix::thread::Thread::new::thread_start", "library/std/src/sys/unix/thread.rs", False),
         ("tokio::runtime::scheduler::multi_thread::worker::run", "/home/ci/.cargo/registry/src/index.crates.io-6f17d22bba15001f/tokio-1.35.1/src/runtime/scheduler/multi_thread/worker.rs", False),
         ("svc::serve::{{closure}}", "src/serve.rs", True)),
    )
    chains = (
        (("alloc::alloc::alloc", "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/alloc/src/alloc.rs"),
         ("alloc::raw_vec::RawVec<T,A>::allocate_in", "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/alloc/src/raw_vec.rs"),
         ("alloc::vec::Vec<T>::with_capacity", "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/alloc/src/vec/mod.rs")),
        (("hashbrown::raw::RawTable<T,A>::reserve_rehash", "/home/ci/.cargo/registry/src/index.crates.io-6f17d22bba15001f/hashbrown-0.14.3/src/raw/mod.rs"),
         ("std::collections::hash::map::HashMap<K,V,S>::insert", "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/std/src/collections/hash/map.rs")),
        (("<alloc::string::String as core::clone::Clone>::clone", "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/alloc/src/string.rs"),),
        (("alloc::boxed::Box<T>::new", "/rustc/9fc6b43126469e3858e2fe86cafb4f0fd5068869/library/alloc/src/boxed.rs"),),
    )
    wrappers = (("svc::util::blob", "src/util.rs"), ("svc::pool::Pool<T>::take", "src/pool.rs"))

    def spell(self, verb, noun):
        return (f"svc::{noun}::{verb}", f"<svc::{noun}::{camel(noun)} as svc::Stage>::{verb}", f"svc::{noun}::{camel(noun)}Store::{verb}",
                f"svc::{noun}::{verb}::{{{{closure}}}}")[self.rng.randrange(4)], f"src/{noun}.rs"


class Go(Language):
    roots = (
        (("runtime.main", "/usr/local/go/src/runtime/proc.go", False), ("main.main", "/srv/app/main.go", True)),
        (("net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go", False),
         ("net/http.serverHandler.ServeHTTP", "/usr/local/go/src/net/http/server.go", False),
         ("github.com/acme/svc/api.(*Mux).ServeHTTP", "/srv/app/api/mux.go", True)),
        (("main.main.func1", "/srv/app/main.go", True),),
        (("golang.org/x/sync/errgroup.(*Group).Go.func1", "/home/ci/go/pkg/mod/golang.org/x/sync@v0.3.0/errgroup/errgroup.go", False),
         ("github.com/acme/svc/worker.(*Pool).run", "/srv/app/worker/pool.go", True)),
    )
    chains = (
        (), (), (("bytes.makeSlice", "/usr/local/go/src/bytes/buffer.go"), ("bytes.(*Buffer).grow", "/usr/local/go/src/bytes/buffer.go"),
                 ("bytes.(*Buffer).Write", "/usr/local/go/src/bytes/buffer.go")),
        (("strings.(*Builder).grow", "/usr/local/go/src/strings/builder.go"), ("strings.Join", "/usr/local/go/src/strings/strings.go")),
        (("encoding/json.(*decodeState).literalStore", "/usr/local/go/src/encoding/json/decode.go"),
         ("encoding/json.Unmarshal", "/usr/local/go/src/encoding/json/decode.go")),
        (("runtime.mapassign_faststr", "/usr/local/go/src/runtime/map_faststr.go"),),
        (("google.golang.org/protobuf/proto.UnmarshalOptions.unmarshal", "/home/ci/go/pkg/mod/google.golang.org/protobuf@v1.31.0/proto/decode.go"),),
    )
    wrappers = (("github.com/acme/svc/util.NewBody", "/srv/app/util/body.go"), ("main.newBuffer", "/srv/app/buffer.go"))

    def spell(self, verb, noun):
        kind = self.rng.randrange(5)
        return (f"main.{verb}{camel(noun)}", f"github.com/acme/svc/{noun}.(*Store).{camel(verb)}", f"main.(*{camel(noun)}).{verb}",
                f"github.com/acme/svc/{noun}.{camel(verb)}.func1", f"github.com/acme/svc/internal/{noun}.{verb}{camel(noun)}")[kind], \
            f"/srv/app/{noun}/{noun}.go" if kind not in (0, 2) else f"/srv/app/{noun}.go"


class Python(Language):
    module = ""
    roots = (
        (("<module>", "/srv/app/main.py", True), ("main", "/srv/app/main.py", True)),
        (("_bootstrap", "/usr/lib/python3.11/threading.py", False), ("run", "/usr/lib/python3.11/threading.py", False),
         ("worker_loop", "/srv/app/worker.py", True)),
        (("<module>", "/srv/app/main.py", True), ("run_until_complete", "/usr/lib/python3.11/asyncio/base_events.py", False),
         ("serve", "/srv/app/serve.py", True)),
    )
    chains = (
        (), (), (("loads", "/usr/lib/python3.11/json/__init__.py"),),
        (("_read", "/srv/venv/lib/python3.11/site-packages/pandas/io/parsers/readers.py"), ("read_csv", "/srv/venv/lib/python3.11/site-packages/pandas/io/parsers/readers.py")),
        (("copy", "/usr/lib/python3.11/copy.py"), ("deepcopy", "/usr/lib/python3.11/copy.py")),
        (("zeros_like", "/srv/venv/lib/python3.11/site-packages/numpy/core/numeric.py"),),
    )
    wrappers = (("make_buffer", "/srv/app/util.py"), ("clone_row", "/srv/app/rows.py"))

    def spell(self, verb, noun):
        return (f"{verb}_{noun}", verb, f"{verb}_{noun}s", "<lambda>" if self.rng.random() < 0.1 else f"_{verb}")[self.rng.randrange(4)], \
            f"/srv/app/{noun}s/{verb}.py"


class Node(Language):
    module = ""
    roots = (
        (("(root)", "", False), ("processTicksAndRejections", "node:internal/process/task_queues", False), ("onTick", "/srv/app/src/loop.js", True)),
        (("(root)", "", False), ("Module._compile", "node:internal/modules/cjs/loader", False), ("(anonymous)", "/srv/app/src/server.js", True)),
        (("(root)", "", False), ("parserOnIncoming", "node:_http_server", False), ("handle", "/srv/app/node_modules/express/lib/router/layer.js", False),
         ("dispatch", "/srv/app/src/dispatch.js", True)),
    )
    chains = (
        (), (), (("allocate", "node:buffer"), ("from", "node:buffer")),
        (("cloneDeep", "/srv/app/node_modules/lodash/cloneDeep.js"),), (("map", ""),),
    )
    wrappers = (("makeBody", "/srv/app/src/util.js"), ("freeze", "/srv/app/src/util.js"))

    def spell(self, verb, noun):
        return (f"{verb}{camel(noun)}", f"{camel(noun)}Store.{verb}", verb, f"{camel(noun)}.{verb}{camel(noun)}")[self.rng.randrange(4)], \
            f"/srv/app/src/{noun}.js"


class Torch(Python):
    roots = ((("<module>", "/srv/train/train.py", True), ("main", "/srv/train/train.py", True), ("train_epoch", "/srv/train/loop.py", True)),
             (("<module>", "/srv/train/serve.py", True), ("main", "/srv/train/serve.py", True)))
    op = (("torch::unwind::unwind()", "??"), ("torch::CapturedTraceback::gather(bool, bool, bool)", "??"),
          ("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, unsigned long, CUstream_st*)", "CUDACachingAllocator.cpp"),
          ("at::detail::empty_cuda(c10::ArrayRef<long>, c10::TensorOptions const&)", "??"))
    chains = tuple(
        Torch_op + tail for Torch_op in (op,) for tail in (
            (("at::(anonymous namespace)::wrapper_CUDA_mul_Tensor(at::Tensor const&, at::Tensor const&)", "RegisterCUDA.cpp"),
             ("at::_ops::mul_Tensor::call(at::Tensor const&, at::Tensor const&)", "??")),
            (("at::native::clone(at::Tensor const&)", "??"), ("at::_ops::clone::call(at::Tensor const&)", "??")),
            (("at::_ops::addmm::call(at::Tensor const&, at::Tensor const&)", "??"),
             ("forward", "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py"),
             ("_call_impl", "/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py")),
            (("at::_ops::cat::call(at::ITensorListRef const&, long)", "??"),)))
    wrappers = (("to_device", "/srv/train/util.py"), ("as_tensor", "/srv/train/util.py"))

    def spell(self, verb, noun):
        return (f"{verb}_{noun}", f"{verb}_{noun}s", "forward", f"_{verb}_{noun}")[self.rng.randrange(4)], f"/srv/train/{noun}_{verb}.py"

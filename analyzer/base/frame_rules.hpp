#pragma once

#include <cstddef>
#include <string_view>

#include "analyzer/base/frame_kind.hpp"

/// The tables of frame_kind(), one for each language. Of a name the first rule that fits decides, of a file as well; a
/// name outweighs its file, but for those of kind start.
namespace snapdiff::frame_rules {

/// Which part of a frame a rule compares.
enum class Where : unsigned char {
  name,
  name_start,
  file_start,
  file_part,
  file_end,
  file_base,
  module_base,
  module_start
};
inline constexpr std::size_t kWheres = static_cast<std::size_t>(Where::module_start) + 1;

struct Rule {
  Where where;
  FrameKind kind;
  std::string_view text;
};

using enum Where;
using enum FrameKind;

// --- C, C++ and the C library

inline constexpr Rule kNative[] = {
    {name, root, "_start"},
    {name, root, "__libc_start_main"},
    {name, root, "__libc_start_main_impl"},
    {name, root, "__libc_start_call_main"},
    {name, root, "start_thread"},
    {name, root, "thread_start"},
    {name, root, "clone"},
    {name, root, "__clone"},
    {name, root, "clone3"},
    {name, root, "__clone3"},
    {name, root, "BaseThreadInitThunk"},
    {name, root, "RtlUserThreadStart"},
    {name, loop, "execute_native_thread_routine"},
    {name, start, "main"},
    {name, start, "_main"},
    {name_start, loop, "boost::asio::io_context::run"},
    {name_start, loop, "QCoreApplication::exec"},
    {name, loop, "uv_run"},
    {name, loop, "event_base_loop"},
    {name, loop, "g_main_loop_run"},
    {name_start, plumbing, "std::"},
    {name_start, plumbing, "__gnu_cxx::"},
    {name_start, plumbing, "__cxxabiv1::"},
    {name_start, plumbing, "__gnu_debug::"},
    {name_start, dependency, "boost::"},
    {name_start, dependency, "absl::"},
    {name_start, dependency, "folly::"},
    {name_start, dependency, "google::protobuf::"},
    {name_start, library, "pthread_"},
    {name_start, library, "__pthread_"},
    {name_start, library, "__libc_"},
    {file_part, dependency, "/_deps/"},
    {file_part, dependency, "/third_party/"},
    {file_start, dependency, "third_party/"},
    {file_start, dependency, "external/"},
    {file_part, dependency, "/Pods/"},
    {file_part, plumbing, "/include/c++/"},
    {file_part, plumbing, "/libstdc++-v3/"},
    {file_start, plumbing, "bits/"},
    {file_start, plumbing, "ext/"},
    {file_start, plumbing, "c++/"},
    {file_part, library, "/glibc"},
    {file_part, library, "/sysdeps/"},
    {file_start, library, "../sysdeps/"},
    {file_start, library, "./malloc/"},
    {file_start, library, "./nptl/"},
    {file_start, library, "../csu/"},
    {file_start, library, "./csu/"},
    // Headers of libstdc++ and libc++ where folders are not recorded.
    {file_base, plumbing, "new_allocator.h"},
    {file_base, plumbing, "alloc_traits.h"},
    {file_base, plumbing, "allocator.h"},
    {file_base, plumbing, "stl_vector.h"},
    {file_base, plumbing, "stl_tree.h"},
    {file_base, plumbing, "stl_list.h"},
    {file_base, plumbing, "stl_deque.h"},
    {file_base, plumbing, "stl_map.h"},
    {file_base, plumbing, "basic_string.h"},
    {file_base, plumbing, "basic_string.tcc"},
    {file_base, plumbing, "hashtable.h"},
    {file_base, plumbing, "hashtable_policy.h"},
    {file_base, plumbing, "vector.tcc"},
    {file_base, plumbing, "deque.tcc"},
    {file_base, plumbing, "list.tcc"},
    {file_base, plumbing, "shared_ptr_base.h"},
    {file_base, plumbing, "shared_ptr.h"},
    {file_base, plumbing, "unique_ptr.h"},
    {file_base, plumbing, "unordered_map.h"},
    {file_base, plumbing, "std_function.h"},
};

// --- Rust

inline constexpr Rule kRust[] = {
    {name, root, "__rust_begin_short_backtrace"},
    {name_start, loop, "std::rt::lang_start"},
    {name_start, loop, "tokio::runtime::"},
    {name_start, plumbing, "core::"},
    {name_start, plumbing, "alloc::"},
    {name_start, plumbing, "hashbrown::"},
    {name_start, plumbing, "<core::"},
    {name_start, plumbing, "<alloc::"},
    {name_start, plumbing, "<std::"},
    {name_start, plumbing, "<hashbrown::"},
    {name_start, plumbing, "__rust_"},
    {name_start, plumbing, "std["},
    {name_start, plumbing, "core["},
    {name_start, plumbing, "alloc["},
    {name_start, dependency, "tokio::"},
    {name_start, dependency, "<tokio::"},
    {file_part, dependency, "/.cargo/registry/"},
    {file_part, dependency, "/cargo/registry/"},
    {file_part, dependency, "/.cargo/git/checkouts/"},
    {file_part, plumbing, "library/alloc/src/"},
    {file_part, plumbing, "library/core/src/"},
    {file_part, plumbing, "library/std/src/"},
    {file_start, plumbing, "alloc/src/"},
    {file_start, plumbing, "std/src/"},
    {file_part, plumbing, "/rustc/"},
    {file_part, plumbing, "/.rustup/toolchains/"},
};

/// Below "core/src/": a crate of the program may be called core as well.
inline constexpr std::string_view kRustCore[] = {"alloc/",    "any.rs", "array/",    "cell",  "char/",  "clone.rs",
                                                 "convert",   "fmt/",   "future/",   "hash/", "iter/",  "mem/",
                                                 "num/",      "ops/",   "option.rs", "panic", "pin.rs", "ptr/",
                                                 "result.rs", "slice/", "str/",      "sync/", "task/"};

// --- Go

inline constexpr Rule kGo[] = {
    {name, root, "runtime.goexit"},
    {name, root, "runtime.main"},
    {name, start, "main.main"},
    {name_start, start, "main.main.func"},
    {name_start, start, "main.main.gowrap"},
    {name_start, plumbing, "runtime."},
    {name_start, plumbing, "runtime/"},
    {name_start, plumbing, "type.."},
    {name_start, plumbing, "sync.(*"},
    {name_start, plumbing, "reflect."},
    {file_part, dependency, "/pkg/mod/"},
    {file_part, library, "/usr/local/go/src/"},
    {file_part, library, "/libexec/src/"},
};

/// First elements of the import paths of Go's standard library: those that make what others keep, and the rest.
inline constexpr std::string_view kGoPlumbing[] = {
    "bufio",  "bytes",    "cmp",     "compress", "container", "context", "encoding", "errors",  "fmt",
    "hash",   "internal", "io",      "iter",     "maps",      "math",    "path",     "reflect", "runtime",
    "slices", "sort",     "strconv", "strings",  "sync",      "text",    "unicode",  "unique",  "unsafe"};
inline constexpr std::string_view kGoPackages[] = {
    "archive", "crypto", "database", "debug", "embed",  "expvar", "flag",    "go",      "html", "image", "index",
    "log",     "mime",   "net",      "os",    "plugin", "regexp", "syscall", "testing", "time", "vendor"};

// --- Python

inline constexpr Rule kPython[] = {
    {name, start, "<module>"},
    {name, start, "_bootstrap"},
    {name, start, "_bootstrap_inner"},
    {name, start, "runpy"},
    {name_start, library, "builtins."},
    {name_start, plumbing, "_Py"},
    {name_start, plumbing, "PyObject_"},
    {name_start, plumbing, "PyEval_"},
    {name_start, plumbing, "method_vectorcall_"},
    {name_start, plumbing, "importlib."},
    {name_start, plumbing, "collections."},
    {name_start, dependency, "numpy."},
    // Event loops, executors, servers and command lines, in Python and in packages for it.
    {file_end, loop, "asyncio/runners.py"},
    {file_end, loop, "asyncio/base_events.py"},
    {file_end, loop, "asyncio/events.py"},
    {file_end, loop, "concurrent/futures/thread.py"},
    {file_end, loop, "multiprocessing/process.py"},
    {file_end, loop, "multiprocessing/pool.py"},
    {file_end, loop, "wsgiref/simple_server.py"},
    {file_end, loop, "/threading.py"},
    {file_end, loop, "/socketserver.py"},
    {file_end, loop, "<frozen runpy>"},
    {file_end, loop, "/runpy.py"},
    {file_end, loop, "uvicorn/main.py"},
    {file_end, loop, "uvicorn/server.py"},
    {file_end, loop, "werkzeug/serving.py"},
    {file_end, loop, "aiohttp/web.py"},
    {file_end, loop, "tornado/ioloop.py"},
    {file_end, loop, "trio/_core/_run.py"},
    {file_end, loop, "anyio/_core/_eventloop.py"},
    {file_end, loop, "celery/worker/worker.py"},
    {file_end, loop, "click/core.py"},
    {file_part, loop, "/gunicorn/"},
    {file_part, loop, "/waitress/"},
    {file_part, loop, "/hypercorn/"},
    {file_part, dependency, "/site-packages/"},
    {file_start, dependency, "site-packages/"},
    {file_part, dependency, "/dist-packages/"},
    // dataclasses, namedtuple, attrs
    {file_start, plumbing, "<string>"},
    {file_start, plumbing, "<attrs generated"},
    {file_start, plumbing, "<frozen"},
    {file_start, plumbing, "<__array_function__"},
    {file_start, plumbing, "<built-in"},
    {file_part, library, "/python-3."},
    {file_part, library, "/Python-3."},
    {file_part, library, "/lib/python2"},
    {file_part, library, "/lib/python3"},
    {file_part, library, "/lib64/python3"},
    {file_part, library, "/Lib/"},
    {file_part, library, "\\Lib\\"},
};

/// Files whose work a program does for tracemalloc, beside its own.
inline constexpr std::string_view kPythonProfiler[] = {"linecache.py", "tokenize.py"};

// --- PyTorch: operators, their dispatcher, and what its compiler writes

inline constexpr Rule kTorch[] = {
    {name_start, plumbing, "c10::"},
    {name_start, plumbing, "at::detail::"},
    {name_start, plumbing, "at::TensorBase at::detail::"},
    {name_start, plumbing, "at::(anonymous namespace)::create_out"},
    {name_start, plumbing, "at::empty"},
    {name_start, plumbing, "at::_ops::empty"},
    {name_start, plumbing, "at::native::empty"},
    {name_start, plumbing, "at::TensorBase at::native::empty"},
    {name_start, plumbing, "at::TensorBase at::(anonymous namespace)::create_out"},
    {name_start, plumbing, "unwind::unwind"},
    {name_start, plumbing, "CapturedTraceback::"},
    {name_start, plumbing, "gather_with_cpp"},
    {name_start, plumbing, "torch::unwind::unwind"},
    {name_start, plumbing, "torch::CapturedTraceback::"},
    {name_start, plumbing, "torch::gather_with_cpp"},
    {name_start, library, "at::"},
    {name_start, library, "torch::"},
    {name_start, library, "caffe2::"},
    {name_start, library, "ATen::"},
    {name_start, library, "torch."},
    {name_start, plumbing, "THPVariable_"},
    {file_part, library, "torch/nn/modules/"},
    {file_part, library, "torch/autograd/"},
    {file_part, library, "torch/optim/"},
    {file_part, library, "torch/_"},
    {file_part, library, "/aten/src/"},
    {file_start, library, "torch/"},
    {file_part, library, "torchinductor"},
    {file_start, library, "<eval_with_key>"},
};

// --- JVM and .NET

inline constexpr Rule kManaged[] = {
    {name, loop, "Thread.run"},
    {name, loop, "java.lang.Thread.run"},
    {name_start, loop, "java.util.concurrent.ThreadPoolExecutor."},
    {name, loop, "org.springframework.boot.SpringApplication.run"},
    {name_start, library, "java."},
    {name_start, library, "javax."},
    {name_start, library, "jdk."},
    {name_start, library, "sun."},
    {name_start, library, "com.sun."},
    {name_start, library, "kotlin."},
    {name_start, library, "kotlinx."},
    {name_start, library, "scala."},
    {name_start, library, "java/"},
    {name_start, library, "javax/"},
    {name_start, library, "jdk/"},
    {name_start, library, "sun/"},
    {name_start, library, "kotlin/"},
    {name_start, library, "scala/"},
    {name_start, library, "System."},
    {name_start, library, "Microsoft."},
};

// --- JavaScript

inline constexpr Rule kScript[] = {
    {name, start, "(root)"},
    {name, start, "root"},
    {name, start, "(program)"},
    {name, start, "(anonymous top level)"},
    // Node calls the top level of a script by where it begins.
    {name_start, start, "(anonymous:L#1:C#1"},
    {name_start, library, "system / "},
    {name_start, library, "blink::"},
    {name_start, library, "cppgc::"},
    {name_start, library, "Node / "},
    {file_part, dependency, "/node_modules/"},
    {file_start, dependency, "node_modules/"},
    {file_start, library, "node:"},
    {file_start, library, "internal/"},
    {file_start, library, "native "},
};

// --- Whatever the language: names that are not known, and where the packages of a system are

inline constexpr Rule kSystem[] = {
    {name, unknown, "<unknown>"},
    {name, unknown, "[unknown]"},
    {name, unknown, "(unknown)"},
    {name, unknown, "unknown"},
    {name, unknown, "??"},
    {name, unknown, "???"},
    {file_part, dependency, "/vendor/bundle/"},
    {file_start, library, "/usr/include/"},
    {file_start, library, "/usr/lib/"},
    {file_start, library, "/usr/lib64/"},
    {file_start, library, "/usr/local/go/"},
    {file_start, library, "/usr/share/"},
    {module_base, plumbing, "ld-linux"},
    {module_base, plumbing, "ld-2"},
    {module_base, plumbing, "libc.so"},
    {module_base, plumbing, "libc-2"},
    {module_base, plumbing, "libstdc++"},
    {module_base, plumbing, "libc++"},
    {module_base, plumbing, "libgcc_s"},
    {module_base, plumbing, "libm.so"},
    {module_base, plumbing, "libm-2"},
    {module_base, plumbing, "libpthread"},
    {module_base, plumbing, "libdl"},
    {module_base, plumbing, "librt"},
    {module_base, plumbing, "libtcmalloc"},
    {module_base, plumbing, "libjemalloc"},
    {module_base, plumbing, "libmimalloc"},
    {module_base, plumbing, "libasan"},
    {module_base, plumbing, "libtsan"},
    {module_base, plumbing, "libheaptrack"},
    {module_base, library, "libtorch"},
    {module_base, library, "libc10"},
    {module_base, library, "libcud"},
    {module_base, library, "libpython"},
    {module_base, library, "libjvm"},
    {module_base, library, "libnode"},
    {module_base, library, "libcoreclr"},
    {module_base, library, "libclrjit"},
    {module_base, dependency, "libssl"},
    {module_base, dependency, "libcrypto"},
    {module_start, dependency, "/lib/"},
    {module_start, dependency, "/lib64/"},
    {module_start, dependency, "/lib32/"},
    {module_start, dependency, "/usr/lib/"},
    {module_start, dependency, "/usr/lib64/"},
    {module_start, dependency, "/usr/lib32/"},
    {module_start, dependency, "/usr/local/lib/"},
    {module_start, dependency, "/nix/store/"},
    {module_start, dependency, "/snap/"},
    {module_start, plumbing, "[v"},
};

}  // namespace snapdiff::frame_rules

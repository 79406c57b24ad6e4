#include "analyzer/base/frame_kind.hpp"

#include <catch2/catch.hpp>

#include "analyzer/base/function_name.hpp"

using namespace snapdiff;

namespace {

bool is_library(std::string_view function, std::string_view file = {}) {
  const FrameKind kind = frame_kind(function, file);
  return kind != FrameKind::own && kind != FrameKind::start;
}

}  // namespace

TEST_CASE("frame kinds: names of standard libraries, runtimes and frameworks") {
  for (const char* name :
       {"std::vector<int>::push_back(int&&)", "void std::__introsort_loop<int*>(int*)", "runtime.mallocgc",
        "java.util.HashMap.put", "alloc::vec::Vec<T>::reserve", "<alloc::string::String as core::clone::Clone>::clone",
        "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem", "at::_ops::mul_Tensor::call(at::Tensor const&)",
        "[B", "byte[]", "[Ljava.lang.String;", "System.String"})
    CHECK(is_library(name));
  for (const char* name :
       {"main", "stdlib_user", "std_cache_fill", "com.acme.Session", "[Lcom.acme.Session;", "Acme.Order",
        "<svc::Order as core::clone::Clone>::clone", "img::Worker::convolve", "main.leak", "runtime_config_load"})
    CHECK(!is_library(name));
}

TEST_CASE("frame kinds: files by where they are") {
  for (const char* file :
       {"/usr/include/c++/12/bits/stl_vector.h", "/srv/venv/lib/python3.11/site-packages/requests/api.py",
        "/usr/lib/python3.11/json/decoder.py", "/app/node_modules/express/lib/router.js", "node:internal/timers",
        "/home/me/go/pkg/mod/github.com/x/y@v1.2.0/z.go", "<frozen importlib._bootstrap>", "stl_vector.h",
        "/rustc/9fc6b431/library/alloc/src/vec/mod.rs"})
    CHECK(is_library("f", file));
  for (const char* file :
       {"/srv/app/src/main.cc", "leak.cc", "/home/me/project/library/cache.py", "train.py", "src/index.js"})
    CHECK(!is_library("f", file));
}

TEST_CASE("frame kinds: a package that somebody else wrote, however its path was shortened") {
  for (const char* file :
       {"github.com/golang/snappy@v0.0.4/decode.go", "example.com/shop/vendor/github.com/golang/snappy/decode.go",
        "vendor/golang.org/x/net/http2/frame.go", "csv-1.3.0/src/reader.rs",
        "/root/.cargo/registry/src/x/serde-1.0.188/src/de.rs", "external/com_google_absl/absl/strings/str_cat.cc",
        "/b/_deps/fmt-src/include/fmt/core.h", "/x/Pods/A/b.m",
        "/srv/app/vendor/bundle/ruby/3.2.0/gems/rack-2.2.8/lib/rack.rb",
        "/venv/lib/python3.11/site-packages/aiohttp/web_app.py"})
    CHECK(frame_kind("f", file) == FrameKind::dependency);
  for (const char* file : {"/srv/app/vendor/orders.go", "src/vendor/models.py", "core/src/lib.rs",
                           "shop-api/src/cart.rs", "user@vpn/main.go", "shop/api/http.go"})
    CHECK(frame_kind("f", file) == FrameKind::own);
}

TEST_CASE("frame kinds: parts of a standard library that allocate for others") {
  CHECK(frame_kind("box_new_uninit", "alloc/src/boxed.rs") == FrameKind::plumbing);
  CHECK(frame_kind("{closure#0}", "core/src/ops/function.rs") == FrameKind::plumbing);
  CHECK(frame_kind("bufio.NewReaderSize", "/usr/local/go/src/bufio/bufio.go") == FrameKind::plumbing);
  CHECK(frame_kind("net/http.(*Transport).dialConn", "/usr/local/go/src/net/http/transport.go") == FrameKind::library);
  CHECK(frame_kind("c10::CachingAllocator::raw_alloc", "") == FrameKind::plumbing);
  CHECK(frame_kind("at::native::add(at::Tensor const&)", "") == FrameKind::library);
  CHECK(is_tensor_plumbing("at::TensorBase at::detail::empty_cuda(c10::ArrayRef<long>)"));
  CHECK(!is_tensor_plumbing("std::vector<int>::push_back(int&&)"));
}

TEST_CASE("frame kinds: what starts a program, and what only runs it") {
  CHECK(frame_kind("main.main", "/srv/app/main.go") == FrameKind::start);
  CHECK(frame_kind("main.main.func1", "/srv/app/main.go") == FrameKind::start);
  CHECK(frame_kind("<module>", "/srv/app/run.py") == FrameKind::start);
  CHECK(frame_kind("<module>", "/venv/lib/python3.11/site-packages/uvicorn/__main__.py") == FrameKind::dependency);
  CHECK(frame_kind("asyncio/runners.py:190", "/usr/lib/python3.11/asyncio/runners.py") == FrameKind::loop);
  CHECK(frame_kind("std::thread::_State::run", "") == FrameKind::plumbing);
  CHECK(frame_kind("execute_native_thread_routine", "") == FrameKind::loop);
  CHECK(frame_kind("runtime.goexit", "") == FrameKind::root);
  CHECK(frame_kind("<unknown>", "") == FrameKind::unknown);
}

TEST_CASE("frame kinds: code that a compiler wrote at run time") {
  const char* const cached = "/tmp/torchinductor_me/5g/c5g6mdcjwwyvllppgoefshjt.py";
  CHECK(frame_kind("call", cached) == FrameKind::library);
  CHECK(is_generated_file(cached));
  CHECK(frame_kind("__init__", "<string>") == FrameKind::plumbing);
}

TEST_CASE("frame kinds: Go's own packages by path, not by a name alone") {
  CHECK(is_library("net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go"));
  CHECK(is_library("strconv.FormatInt", "strconv/itoa.go"));
  CHECK(is_library("net/http.(*conn).serve", ""));
  CHECK(!is_library("main.leak", "/srv/app/main.go"));
  CHECK(!is_library("time.Keep", "/srv/app/internal/time/keep.go"));
  CHECK(!is_library("github.com/acme/svc/net.Dial", "/srv/app/net/dial.go"));
}

TEST_CASE("frame kinds: modules") {
  CHECK(module_kind("/usr/lib/x86_64-linux-gnu/libz.so.1") == FrameKind::dependency);
  CHECK(module_kind("libc.so.6") == FrameKind::plumbing);
  CHECK(module_kind("[vdso]") == FrameKind::plumbing);
  CHECK(module_kind("/usr/lib/postgresql/15/bin/postgres") == FrameKind::own);
  CHECK(module_kind("/srv/app/libapp.so") == FrameKind::own);
  CHECK(
      module_kind("/venv/lib/python3.11/site-packages/numpy/_core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so") ==
      FrameKind::dependency);
  CHECK(module_kind("/usr/lib/python3.11/lib-dynload/_json.cpython-311-x86_64-linux-gnu.so") == FrameKind::library);
}

TEST_CASE("frame kinds: types of Ruby's machine") {
  for (const char* type : {"iseq (imemo)", "ObjectTracing/allocation_info_tracer (data)", "(hash)", "Hash", "String"})
    CHECK(is_runtime_type(type));
  for (const char* type : {"Order", "Audit (class)", "singleton of Audit (class)"}) CHECK(!is_runtime_type(type));
}

TEST_CASE("frame kinds: memory of the profiler itself") {
  CHECK(is_profiler("python3.11/tracemalloc.py:558", "/usr/lib/python3.11/tracemalloc.py"));
  CHECK(is_profiler("python3.11/linecache.py:137", "/usr/lib/python3.11/linecache.py"));
  CHECK(!is_profiler("getlines", "/usr/lib/python3.11/linecache.py"));  // of another profiler
  CHECK(is_profiler("runtime/pprof.(*profileBuilder).build", "/usr/local/go/src/runtime/pprof/proto.go"));
  CHECK(!is_profiler("runtime/pprof.Do", "/usr/local/go/src/runtime/pprof/runtime.go"));
}

TEST_CASE("words: what a library call is called beside the culprit") {
  CHECK(via_name("std::vector<float, std::allocator<float> >::push_back(float const&)") == "vector<float>");
  CHECK(via_name("strings.(*Builder).grow") == "strings.(*Builder).grow");
  CHECK(via_name("std::make_shared<Tile>()") == "make_shared<Tile>");
}

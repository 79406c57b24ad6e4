#include <catch2/catch.hpp>

#include "analyzer/diff/library_code.hpp"
#include "snapdiff/function_name.hpp"

using namespace snapdiff;
using namespace snapdiff::diff;

TEST_CASE("library code: names of standard libraries, runtimes and frameworks") {
  for (const char* name :
       {"std::vector<int>::push_back(int&&)", "void std::__introsort_loop<int*>(int*)", "runtime.mallocgc",
        "java.util.HashMap.put", "alloc::vec::Vec<T>::reserve", "<alloc::string::String as core::clone::Clone>::clone",
        "at::_ops::mul_Tensor::call(at::Tensor const&)", "[B", "byte[]", "[Ljava.lang.String;", "System.String"})
    CHECK(is_library_name(name));
  for (const char* name : {"main", "stdlib_user", "std_cache_fill", "com.acme.Session", "[Lcom.acme.Session;",
                           "Acme.Order", "img::Worker::convolve", "main.leak", "runtime_config_load"})
    CHECK(!is_library_name(name));
}

TEST_CASE("library code: files by where they are") {
  for (const char* file :
       {"/usr/include/c++/12/bits/stl_vector.h", "/srv/venv/lib/python3.11/site-packages/requests/api.py",
        "/usr/lib/python3.11/json/decoder.py", "/app/node_modules/express/lib/router.js", "node:internal/timers",
        "/home/me/go/pkg/mod/github.com/x/y@v1.2.0/z.go", "<frozen importlib._bootstrap>", "stl_vector.h",
        "/rustc/9fc6b431/library/alloc/src/vec/mod.rs"})
    CHECK(is_library_file(file));
  for (const char* file :
       {"/srv/app/src/main.cc", "leak.cc", "/home/me/project/library/cache.py", "train.py", "src/index.js"})
    CHECK(!is_library_file(file));
}

TEST_CASE("library code: Go's own packages by path, not by a name alone") {
  CHECK(is_go_library("net/http.(*conn).serve", "/usr/local/go/src/net/http/server.go"));
  CHECK(is_go_library("strconv.FormatInt", "strconv/itoa.go"));
  CHECK(is_go_library("net/http.(*conn).serve", ""));
  CHECK(!is_go_library("main.leak", "/srv/app/main.go"));
  CHECK(!is_go_library("time.Keep", "/srv/app/internal/time/keep.go"));
  CHECK(!is_go_library("github.com/acme/svc/net.Dial", "/srv/app/net/dial.go"));
}

TEST_CASE("library code: modules") {
  CHECK(is_library_module("/usr/lib/x86_64-linux-gnu/libz.so.1"));
  CHECK(is_library_module("libc.so.6"));
  CHECK(is_library_module("[vdso]"));
  CHECK(!is_library_module("/usr/lib/postgresql/15/bin/postgres"));
  CHECK(!is_library_module("/srv/app/libapp.so"));
}

TEST_CASE("words: what a library call is called beside the culprit") {
  CHECK(via_name("std::vector<float, std::allocator<float> >::push_back(float const&)") == "vector<float>");
  CHECK(via_name("strings.(*Builder).grow") == "strings.(*Builder).grow");
  CHECK(via_name("std::make_shared<Tile>()") == "make_shared<Tile>");
}

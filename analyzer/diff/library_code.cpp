#include "analyzer/diff/library_code.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "snapdiff/function_name.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::diff {
namespace {

using Texts = std::span<const std::string_view>;

/// Beginnings of short function names and of type names.
constexpr std::string_view kNamePrefixes[] = {
    // C++
    "std::", "__gnu_cxx::", "__cxxabiv1::", "boost::", "absl::", "folly::", "google::protobuf::", "__gnu_debug::",
    // Rust
    "core::", "alloc::", "hashbrown::", "tokio::", "<core::", "<alloc::", "<std::", "<hashbrown::", "<tokio::",
    "__rust_", "std[", "core[", "alloc[",
    // Go
    "runtime.", "runtime/", "type..", "sync.(*", "reflect.",
    // JVM
    "java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "kotlinx.", "scala.", "java/", "javax/", "jdk/", "sun/",
    "kotlin/", "scala/",
    // .NET
    "System.", "Microsoft.",
    // PyTorch's own operators and its Python
    "at::", "c10::", "torch::", "caffe2::", "ATen::", "torch.", "THPVariable_",
    // CPython
    "builtins.", "_Py", "PyObject_", "PyEval_", "importlib.", "collections.", "numpy.", "method_vectorcall_",
    // the C library and threads, by nearest symbol too
    "pthread_", "__pthread_", "__libc_", "execute_native_thread_routine", "__clone",
    // V8: what the engine keeps for itself
    "system / "};

/// Whole names: types that a runtime makes on behalf of others, frames without a function of the program's own.
constexpr std::string_view kNames[] = {"/",
                                       "(root)",
                                       "root",
                                       "(program)",
                                       "(idle)",
                                       "(garbage collector)",
                                       "(native)",
                                       "(BUILTIN)",
                                       "(V8 API)",
                                       "(array)",
                                       "(string)",
                                       "(system)",
                                       "(code)",
                                       "(compiled code)",
                                       "(closure)",
                                       "(concatenated string)",
                                       "(sliced string)",
                                       "(number)",
                                       "(regexp)",
                                       "(symbol)",
                                       "(bigint)",
                                       "(object shape)",
                                       "(object elements)",
                                       "(hidden)",
                                       "(synthetic)",
                                       "Object",
                                       "Array",
                                       "Function",
                                       "Map",
                                       "Set",
                                       "WeakMap",
                                       "WeakSet",
                                       "WeakRef",
                                       "Promise",
                                       "ArrayBuffer",
                                       "SharedArrayBuffer",
                                       "Uint8Array",
                                       "Int8Array",
                                       "Uint16Array",
                                       "Int16Array",
                                       "Uint32Array",
                                       "Int32Array",
                                       "Float32Array",
                                       "Float64Array",
                                       "Buffer",
                                       "FastBuffer",
                                       "Date",
                                       "Error",
                                       "RegExp",
                                       "Symbol",
                                       "Generator",
                                       "AsyncGenerator",
                                       "DataView",
                                       "String",
                                       "Number",
                                       "Boolean",
                                       "dict",
                                       "list",
                                       "tuple",
                                       "str",
                                       "bytes",
                                       "bytearray",
                                       "int",
                                       "float",
                                       "complex",
                                       "bool",
                                       "set",
                                       "frozenset",
                                       "cell",
                                       "code",
                                       "function",
                                       "method",
                                       "module",
                                       "type",
                                       "object",
                                       "property",
                                       "frame",
                                       "traceback",
                                       "generator",
                                       "coroutine",
                                       "NoneType",
                                       "slice",
                                       "range",
                                       "memoryview",
                                       "weakref",
                                       "ReferenceType",
                                       "wrapper_descriptor",
                                       "method_descriptor",
                                       "getset_descriptor",
                                       "member_descriptor",
                                       "builtin_function_or_method",
                                       "classmethod_descriptor",
                                       "method-wrapper",
                                       "mappingproxy",
                                       "staticmethod",
                                       "classmethod",
                                       "Free",
                                       "ndarray",
                                       "clone",
                                       "clone3"};

/// Parts of a path.
constexpr std::string_view kFileParts[] = {"/include/c++/",
                                           "/python-3.",
                                           "/Python-3.",
                                           "/site-packages/",
                                           "/dist-packages/",
                                           "/node_modules/",
                                           "/pkg/mod/",
                                           "/.cargo/registry/",
                                           "/rustc/",
                                           "/.rustup/toolchains/",
                                           "/lib/python2",
                                           "/lib/python3",
                                           "/Lib/",
                                           "\\Lib\\",
                                           "/lib64/python3",
                                           "/libstdc++-v3/",
                                           "library/std/src/",
                                           "library/core/src/",
                                           "library/alloc/src/",
                                           "/glibc",
                                           "/sysdeps/",
                                           "torch/nn/modules/",
                                           "torch/autograd/",
                                           "torch/optim/",
                                           "torch/_",
                                           "/aten/src/",
                                           "/usr/local/go/src/",
                                           "/libexec/src/"};

/// Beginnings of a path.
constexpr std::string_view kFilePrefixes[] = {
    "/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/go/",      "/usr/share/", "/rustc/",
    "node:",         "internal/", "<frozen",     "<__array_function__", "<built-in",   "torch/",
    "bits/",         "ext/",      "c++/",        "../sysdeps/",         "./malloc/",   "./nptl/",
    "../csu/",       "./csu/",    "native ",     "site-packages/"};

/// Base names: headers of libstdc++ and libc++ where folders are not recorded.
constexpr std::string_view kFileNames[] = {
    "new_allocator.h",   "alloc_traits.h",     "allocator.h",  "stl_vector.h",    "stl_tree.h",
    "stl_list.h",        "stl_deque.h",        "stl_map.h",    "basic_string.h",  "basic_string.tcc",
    "hashtable.h",       "hashtable_policy.h", "vector.tcc",   "deque.tcc",       "list.tcc",
    "shared_ptr_base.h", "shared_ptr.h",       "unique_ptr.h", "unordered_map.h", "std_function.h"};

constexpr std::string_view kModulePrefixes[] = {"/lib/",       "/lib64/",     "/lib32/",         "/usr/lib/",
                                                "/usr/lib64/", "/usr/lib32/", "/usr/local/lib/", "/nix/store/",
                                                "/snap/",      "[v"};

/// Base names of modules that are libraries wherever they are.
constexpr std::string_view kModuleNames[] = {
    "libc.so",  "libc-2",  "libstdc++",  "libgcc_s",    "libm.so",     "libm-2",      "libpthread", "ld-linux",
    "ld-2",     "libdl",   "librt",      "libtcmalloc", "libjemalloc", "libmimalloc", "libasan",    "libtsan",
    "libtorch", "libc10",  "libcuda",    "libcud",      "libcublas",   "libpython",   "libc++",     "libheaptrack",
    "libjvm",   "libnode", "libcoreclr", "libclrjit",   "libssl",      "libcrypto"};

/// First elements of the import paths of Go's standard library.
constexpr std::string_view kGoPackages[] = {
    "archive", "bufio",    "bytes",  "cmp",     "compress", "container", "context", "crypto",  "database", "debug",
    "embed",   "encoding", "errors", "expvar",  "flag",     "fmt",       "go",      "hash",    "html",     "image",
    "index",   "internal", "io",     "log",     "maps",     "math",      "mime",    "net",     "os",       "path",
    "plugin",  "reflect",  "regexp", "runtime", "slices",   "sort",      "strconv", "strings", "sync",     "syscall",
    "testing", "text",     "time",   "unicode", "unsafe",   "vendor",    "iter",    "unique"};

constexpr std::string_view kEntries[] = {"main.main",
                                         "<module>",
                                         "(root)",
                                         "root",
                                         "execute_native_thread_routine",
                                         "std::rt::lang_start",
                                         "(program)",
                                         "Thread.run",
                                         "java.lang.Thread.run",
                                         "_bootstrap",
                                         "_bootstrap_inner",
                                         "runpy",
                                         "std::rt::lang_start_internal",
                                         "(anonymous top level)"};

bool starts_with_any(std::string_view text, Texts prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

bool is_any(std::string_view text, Texts known) { return std::find(known.begin(), known.end(), text) != known.end(); }

/// "[B", "[[I", "byte[]", "[Ljava.lang.String;": an array is of whom its elements are.
bool is_library_array(std::string_view name) {
  std::string of_jvm;
  if (name.starts_with('[')) name = of_jvm = short_function_name(name);
  if (!name.ends_with("[]")) return false;
  while (name.ends_with("[]")) name.remove_suffix(2);
  constexpr std::string_view kPrimitive[] = {"byte", "char", "double", "float", "int", "long", "short", "boolean"};
  return is_any(name, kPrimitive) || is_library_name(name);
}

/// "net/http" of "net/http.(*conn).serve"; "" where the name is not of that shape.
std::string_view go_package(std::string_view function) {
  const std::size_t slash = function.rfind('/', function.find('('));
  const std::size_t dot = function.find('.', slash == std::string_view::npos ? 0 : slash);
  if (dot == std::string_view::npos || function.find("::") != std::string_view::npos) return {};
  return function.substr(0, dot);
}

}  // namespace

bool is_library_name(std::string_view function) {
  if (function.empty()) return false;
  if (is_library_array(function)) return true;
  // Backward has no Python frames: its nodes are what a person knows of it.
  if (!autograd_node(function).empty()) return false;
  if (starts_with_any(function, kNamePrefixes)) return true;
  // A return type is before the name of a template.
  if (function.find(' ') == std::string_view::npos) return false;
  return starts_with_any(short_function_name(function), kNamePrefixes);
}

bool is_runtime_type(std::string_view name) { return is_any(name, kNames); }

bool is_library_file(std::string_view file) {
  if (file.empty()) return false;
  if (starts_with_any(file, kFilePrefixes)) return true;
  const auto holds = [&](std::string_view part) { return file.find(part) != std::string_view::npos; };
  if (std::any_of(std::begin(kFileParts), std::end(kFileParts), holds)) return true;
  return is_any(base_name(file), kFileNames);
}

bool is_go_library(std::string_view function, std::string_view file) {
  if (!file.empty() && !file.ends_with(".go") && !file.ends_with(".s")) return false;
  const std::string_view package = go_package(function);
  const std::string_view first = package.substr(0, package.find('/'));
  if (!is_any(first, kGoPackages)) return false;
  if (file.empty())
    return package.find('/') != std::string_view::npos || function.find(".(*") != std::string_view::npos;
  // The program may have a package of its own called "time": then the path goes on differently.
  const std::size_t slash = file.rfind('/');
  if (slash == std::string_view::npos) return true;
  const std::string_view folder = file.substr(0, slash);
  if (folder == package) return true;
  return folder.ends_with(std::string("/src/").append(package));
}

bool is_library_module(std::string_view module) {
  if (module.empty()) return false;
  const std::string_view name = base_name(module);
  if (starts_with_any(name, kModuleNames)) return true;
  const bool shared = name.find(".so") != std::string_view::npos || name.starts_with('[');
  return shared && starts_with_any(module, kModulePrefixes);
}

bool is_entry_function(std::string_view function) {
  // Node calls the top level of a script by where it begins.
  return is_entry_point(function) || is_any(function, kEntries) || function.starts_with("(anonymous:L#1:C#1");
}

}  // namespace snapdiff::diff

#include "analyzer/base/frame_kind.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/frame_rules.hpp"
#include "analyzer/base/function_name.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff {
namespace {

using frame_rules::Rule;
using frame_rules::Where;
using Texts = std::span<const std::string_view>;

// PyTorch before Python: its package is one among those of site-packages.
constexpr std::array<std::span<const Rule>, 8> kTables{
    frame_rules::kTorch,   frame_rules::kPython, frame_rules::kRust,   frame_rules::kGo,
    frame_rules::kManaged, frame_rules::kScript, frame_rules::kNative, frame_rules::kSystem};

/// Whole names: types that a runtime makes on behalf of others, frames without a function of the program's own.
constexpr std::string_view kRuntimeTypes[] = {
    // frames and types of JavaScript
    "/", "(root)", "root", "(program)", "(idle)", "(garbage collector)", "(native)", "(BUILTIN)", "(V8 API)", "(array)",
    "(string)", "(system)", "(code)", "(compiled code)", "(closure)", "(concatenated string)", "(sliced string)",
    "(number)", "(regexp)", "(symbol)", "(bigint)", "(object shape)", "(object elements)", "(hidden)", "(synthetic)",
    "dead space of the collector", "(anonymous)", "Object", "Array", "Function", "Map", "Set", "WeakMap", "WeakSet",
    "WeakRef", "Promise", "ArrayBuffer", "SharedArrayBuffer", "Uint8Array", "Int8Array", "Uint16Array", "Int16Array",
    "Uint32Array", "Int32Array", "Float32Array", "Float64Array", "Buffer", "FastBuffer", "Date", "Error", "RegExp",
    "Symbol", "Generator", "AsyncGenerator", "DataView", "String", "Number", "Boolean",
    // types of Python
    "dict", "list", "tuple", "str", "bytes", "bytearray", "int", "float", "complex", "bool", "set", "frozenset", "cell",
    "code", "function", "method", "module", "type", "object", "property", "frame", "traceback", "generator",
    "coroutine", "NoneType", "slice", "range", "memoryview", "weakref", "ReferenceType", "wrapper_descriptor",
    "method_descriptor", "getset_descriptor", "member_descriptor", "builtin_function_or_method",
    "classmethod_descriptor", "method-wrapper", "mappingproxy", "staticmethod", "classmethod", "ndarray",
    // types of Ruby
    "(hash)", "(object)", "(data)", "(class)", "(module)", "(struct)", "(file)", "(float)", "Hash", "Proc", "Regexp",
    "MatchData", "Integer", "Float",
    // of .NET, and of the C library by nearest symbol
    "Free", "clone", "clone3"};

bool is_any(std::string_view text, Texts known) { return std::find(known.begin(), known.end(), text) != known.end(); }
bool starts_with_any(std::string_view text, Texts known) {
  return std::any_of(known.begin(), known.end(), [&](std::string_view k) { return text.starts_with(k); });
}

/// All rules in the order in which they decide, found by one byte of their text: each text is compared with a few.
class RuleIndex {
 public:
  RuleIndex() {
    for (const std::span<const Rule> table : kTables) {
      for (const Rule& rule : table) {
        of(rule.where, rule.text[key_of(rule)]).push_back(static_cast<std::uint16_t>(rules_.size()));
        rules_.push_back(&rule);
      }
    }
  }

  /// The kind that the first rule gives which fits and is one of `wanted`.
  std::optional<FrameKind> find(std::string_view text, std::initializer_list<Where> wanted) const {
    if (text.empty()) return std::nullopt;
    std::size_t best = rules_.size();
    for (const Where where : wanted) {
      switch (where) {
        case Where::name: look(where, text.front(), best, [&](std::string_view rule) { return text == rule; }); break;
        case Where::name_start:
        case Where::file_start:
        case Where::module_start:
          look(where, text.front(), best, [&](std::string_view rule) { return text.starts_with(rule); });
          break;
        case Where::file_end:
          look(where, text.back(), best, [&](std::string_view rule) { return text.ends_with(rule); });
          break;
        case Where::file_base:
          if (const std::string_view base = base_name(text); !base.empty())
            look(where, base.front(), best, [&](std::string_view rule) { return base == rule; });
          break;
        case Where::module_base:
          if (const std::string_view base = base_name(text); !base.empty())
            look(where, base.front(), best, [&](std::string_view rule) { return base.starts_with(rule); });
          break;
        case Where::file_part:
          for (std::size_t i = 1; i < text.size(); ++i)
            look(where, text[i], best, [&](std::string_view rule) {
              return rule.front() == text[i - 1] && text.substr(i - 1).starts_with(rule);
            });
          break;
      }
    }
    if (best == rules_.size()) return std::nullopt;
    return rules_[best]->kind;
  }

 private:
  using Numbers = std::vector<std::uint16_t>;

  /// The byte that tells most: parts of a path all begin with a slash.
  static std::size_t key_of(const Rule& rule) {
    if (rule.where == Where::file_end) return rule.text.size() - 1;
    return rule.where == Where::file_part ? 1 : 0;
  }
  static std::size_t place(Where where, char key) {
    return static_cast<std::size_t>(where) * 256 + static_cast<unsigned char>(key);
  }
  Numbers& of(Where where, char key) { return by_byte_[place(where, key)]; }

  template <class Fits>
  void look(Where where, char key, std::size_t& best, Fits fits) const {
    for (const std::uint16_t number : by_byte_[place(where, key)]) {
      if (number >= best) return;
      if (fits(rules_[number]->text)) best = number;
    }
  }

  std::vector<const Rule*> rules_;
  std::array<Numbers, frame_rules::kWheres * 256> by_byte_;
};

std::optional<FrameKind> find(std::string_view text, std::initializer_list<Where> wanted) {
  static const RuleIndex index;
  return index.find(text, wanted);
}

std::optional<FrameKind> kind_of_name(std::string_view function);

/// "[B", "[[I", "byte[]", "[Ljava.lang.String;": an array is of whom its elements are.
std::optional<FrameKind> kind_of_array(std::string_view name) {
  std::string of_jvm;
  if (name.starts_with('[')) name = of_jvm = short_function_name(name);
  if (!name.ends_with("[]")) return std::nullopt;
  while (name.ends_with("[]")) name.remove_suffix(2);
  constexpr std::string_view kPrimitive[] = {"byte", "char", "double", "float", "int", "long", "short", "boolean"};
  if (is_any(name, kPrimitive)) return FrameKind::library;
  return kind_of_name(name);
}

std::optional<FrameKind> kind_of_name(std::string_view function) {
  if (function.empty()) return std::nullopt;
  if (function.front() == '[' || function.ends_with("[]")) {
    if (const auto kind = kind_of_array(function)) return kind;
  }
  // Backward has no Python frames: its nodes are what a person knows of it.
  if (!autograd_node(function).empty()) return FrameKind::own;
  const auto known = [](std::string_view name) { return find(name, {Where::name, Where::name_start}); };
  if (const auto kind = known(function)) return kind;
  // "<u8 as alloc::vec::spec_from_elem::SpecFromElem>::from_elem": a type without a path is Rust's own.
  const std::size_t as = function.front() == '<' ? function.find(" as ") : std::string_view::npos;
  if (as != std::string_view::npos && function.substr(0, as).find("::") == std::string_view::npos) {
    if (const auto kind = known(function.substr(as + 4))) return kind;
  }
  // "__libc_start_main@@GLIBC_2.34"
  const std::size_t at = function.find('@');
  if (at != std::string_view::npos && at > 0) {
    if (const auto kind = known(function.substr(0, at))) return kind;
  }
  // A return type is before the name of a template.
  if (function.find(' ') == std::string_view::npos) return std::nullopt;
  return known(short_function_name(function));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "serde-1.0.188/src/de.rs": the folder of a Rust package, wherever it is.
bool is_in_crate(std::string_view file) {
  for (std::size_t src = file.find("/src/"); src != std::string_view::npos; src = file.find("/src/", src + 1)) {
    const std::size_t slash = file.rfind('/', src - 1);
    const std::size_t begin = src == 0 || slash == std::string_view::npos ? 0 : slash + 1;
    const std::string_view folder = file.substr(begin, src - begin);
    for (std::size_t dash = folder.find('-'); dash != std::string_view::npos; dash = folder.find('-', dash + 1)) {
      std::size_t i = dash + 1;
      while (i < folder.size() && is_digit(folder[i])) ++i;
      if (i > dash + 1 && i + 1 < folder.size() && folder[i] == '.' && is_digit(folder[i + 1])) return true;
    }
  }
  return false;
}

/// "github.com/golang/snappy@v0.0.4/decode.go", "svc/vendor/github.com/golang/snappy/decode.go": a Go module.
bool is_in_go_module(std::string_view file) {
  const std::size_t version = file.find("@v");
  if (version != std::string_view::npos && version + 2 < file.size() && is_digit(file[version + 2]) &&
      file.find('/', version) != std::string_view::npos)
    return true;
  constexpr std::string_view kVendor = "vendor/";
  for (std::size_t at = file.find(kVendor); at != std::string_view::npos; at = file.find(kVendor, at + 1)) {
    if (at > 0 && file[at - 1] != '/') continue;
    // Modules have a domain first; another folder of that name has not.
    const std::string_view rest = file.substr(at + kVendor.size());
    const std::string_view domain = rest.substr(0, rest.find('/'));
    if (domain.size() < rest.size() && domain.find('.') != std::string_view::npos) return true;
  }
  return false;
}

std::optional<FrameKind> kind_of_file(std::string_view file) {
  if (file.empty()) return std::nullopt;
  if (const auto kind = find(file, {Where::file_start, Where::file_part, Where::file_end, Where::file_base}))
    return kind;
  if (is_in_go_module(file) || is_in_crate(file)) return FrameKind::dependency;
  constexpr std::string_view kCore = "core/src/";
  if (file.starts_with(kCore) && starts_with_any(file.substr(kCore.size()), frame_rules::kRustCore))
    return FrameKind::plumbing;
  return std::nullopt;
}

/// "net/http" of "net/http.(*conn).serve"; "" where the name is not of that shape.
std::string_view go_package(std::string_view function) {
  const std::size_t slash = function.rfind('/', function.find('('));
  const std::size_t dot = function.find('.', slash == std::string_view::npos ? 0 : slash);
  if (dot == std::string_view::npos || function.find("::") != std::string_view::npos) return {};
  return function.substr(0, dot);
}

/// Of Go's standard library: the function's package has to be the one that the path of its file names, since a program
/// may have a package of its own called "time".
std::optional<FrameKind> kind_of_go(std::string_view function, std::string_view file) {
  if (!file.empty() && !file.ends_with(".go") && !file.ends_with(".s")) return std::nullopt;
  const std::string_view package = go_package(function);
  const std::string_view first = package.substr(0, package.find('/'));
  const bool plumbing = is_any(first, frame_rules::kGoPlumbing);
  if (!plumbing && !is_any(first, frame_rules::kGoPackages)) return std::nullopt;
  const std::size_t slash = file.rfind('/');
  const std::string_view folder = file.substr(0, slash == std::string_view::npos ? 0 : slash);
  const bool is_standard =
      file.empty() ? package.find('/') != std::string_view::npos || function.find(".(*") != std::string_view::npos
                   : folder.empty() || folder == package || folder.ends_with(std::string("/src/").append(package));
  if (!is_standard) return std::nullopt;
  return plumbing ? FrameKind::plumbing : FrameKind::library;
}

}  // namespace

FrameKind frame_kind(std::string_view function, std::string_view file) {
  const std::optional<FrameKind> by_name = kind_of_name(function);
  if (by_name && *by_name != FrameKind::start) return *by_name;
  if (const auto by_file = kind_of_file(file)) {
    // The folder of Go says "library"; its package says more.
    if (*by_file != FrameKind::library) return *by_file;
    return kind_of_go(function, file).value_or(*by_file);
  }
  if (by_name) return *by_name;
  return kind_of_go(function, file).value_or(FrameKind::own);
}

FrameKind module_kind(std::string_view module) {
  if (module.empty()) return FrameKind::own;
  if (const auto kind = find(module, {Where::module_base})) return *kind;
  const std::string_view name = base_name(module);
  const bool shared = name.find(".so") != std::string_view::npos || name.starts_with('[');
  if (!shared) return FrameKind::own;
  // An extension of a package lies in the package's folder.
  return find(module, {Where::module_start, Where::file_part}).value_or(FrameKind::own);
}

bool is_runtime_type(std::string_view name) {
  // Of C++ objects below JavaScript only elements of a page mean something to its author.
  if (name.ends_with(" (native)") && !name.starts_with('<') && !name.starts_with("Detached <")) return true;
  // Ruby's machine: nodes of its own, and data of extensions that have no class.
  if (name.ends_with(" (imemo)") || name.ends_with(" (iclass)") || name.ends_with(" (data)")) return true;
  return is_any(name, kRuntimeTypes);
}

bool is_entry_point(std::string_view function) {
  const std::size_t at = function.find('@');  // __libc_start_main@@GLIBC_2.34
  const std::string_view name = function.substr(0, at == 0 ? std::string_view::npos : at);
  if (name == "main" || name == "_main") return true;
  return find(name, {Where::name}) == FrameKind::root;
}

bool is_tensor_plumbing(std::string_view function) {
  for (const Rule& rule : frame_rules::kTorch) {
    if (rule.where == Where::name_start && function.starts_with(rule.text)) return rule.kind == FrameKind::plumbing;
  }
  return false;
}

bool is_profiler(std::string_view function, std::string_view file) {
  // Labels are set for the program's own work.
  if (function.starts_with("runtime/pprof.")) return !function.starts_with("runtime/pprof.Do");
  if (!file.ends_with(".py")) return false;
  const std::string_view name = base_name(file);
  if (name == "tracemalloc.py") return true;
  // It reads the sources of what it prints. Its frames have no functions: other recorders' stacks end elsewhere.
  return is_any(name, frame_rules::kPythonProfiler) && function.find(name) != std::string_view::npos;
}

bool is_generated_file(std::string_view file) {
  return file.find("torchinductor") != std::string_view::npos || file.starts_with("<eval_with_key>");
}

}  // namespace snapdiff

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "analyzer/base/function_name.hpp"
#include "analyzer/symbols/demangle.hpp"
#include "analyzer/symbols/rust_demangle.hpp"
#include "analyzer/symbols/symbols.hpp"

namespace snapdiff::symbols {
namespace {

// __cxa_demangle itself refuses names of more than about 1000 characters, and recurses on shorter
// ones no deeper than they are long.
constexpr std::size_t kMaxCxxName = 4096;
// Each reference to an earlier part can repeat all before it: a name of 210 characters came out with
// 35 MB. The growth is at most the cube root of 3 for each reference (`T<S_,S_>` takes three), so
// this many give at most some megabytes. Of 38055 names of libLLVM 14 three have more, of libclang's
// 28955 none.
constexpr std::size_t kMaxReferences = 40;
constexpr std::size_t kMaxCxxOutput = 1U << 16;

std::size_t references(std::string_view name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < name.size(); ++i) {
    const char c = name[i + 1];
    const bool number = c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
    if ((name[i] == 'S' || name[i] == 'T') && number) ++count;
  }
  return count;
}

std::string demangle_cxx(std::string_view name, std::uint64_t& written) {
  if (name.size() > kMaxCxxName || references(name) > kMaxReferences) return {};
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  int status = 0;
  const std::unique_ptr<char, Free> text(abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status));
  if (status != 0 || text == nullptr) return {};
  std::string out(text.get());
  written += out.size();
  return out.size() > kMaxCxxOutput ? std::string() : out;
}

/// "std::vector<int>::push_back" -> "std::vector::push_back"; "operator<" and "<impl X>::f" stay.
std::string without_templates(std::string_view name) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool is_operator = out.ends_with("operator") || out.ends_with("operator<") || out.ends_with("operator>") ||
                             out.ends_with("operator-") || out.ends_with("operator<=");
    if (c == '<' && (depth > 0 || (!is_operator && !out.empty() && out.back() != ' ' && out.back() != '{'))) {
      if (depth++ == 0 && out.ends_with("::")) out.resize(out.size() - 2);  // Rust: f::<T>
    } else if (c == '>' && depth > 0) {
      if (name[i - 1] != '-' && name[i - 1] != '=') --depth;
    } else if (depth == 0) {
      out += c;
    }
  }
  return depth == 0 ? out : std::string(name);
}

}  // namespace

std::string demangle(std::string_view linker_name, Demangle how) {
  std::uint64_t ignored = 0;
  return demangle(linker_name, how, ignored);
}

std::string demangle(std::string_view linker_name, Demangle how, std::uint64_t& written) {
  std::string name(linker_name);
  if (how == Demangle::none) return name;
  if (std::optional<std::string> rust = demangle_rust_v0(linker_name, written)) {
    name = *std::move(rust);
  } else if (rust = demangle_rust_legacy(linker_name); rust) {
    name = *std::move(rust);
  } else if (linker_name.starts_with("_Z") || linker_name.starts_with("__Z")) {
    std::string cxx = demangle_cxx(linker_name.substr(linker_name[1] == '_' ? 1 : 0), written);
    if (!cxx.empty()) name = std::move(cxx);
  }
  if (how == Demangle::simple && name != linker_name) name = without_templates(short_function_name(name));
  return name.empty() ? std::string(linker_name) : name;
}

}  // namespace snapdiff::symbols

#include "analyzer/diff/rebuild/code.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "analyzer/base/frame_kind.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/build_match.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/disjoint_sets.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// "(anonymous:L#37:C#12)" -> "(anonymous)": V8's agents number such functions by their place.
std::string without_place(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous:L#";
  const std::size_t at = name.find(kAnonymous);
  if (at == std::string_view::npos) return std::string(name);
  const std::size_t end = name.find(')', at);
  return std::string(name.substr(0, at)) + "(anonymous" +
         std::string(end == std::string_view::npos ? ")" : name.substr(end));
}

}  // namespace

bool says_only_lines(std::string_view name, std::string_view file, std::int32_t line) {
  if (name.empty() || file.empty() || !is_digit(name.back())) return false;
  const std::string number = std::to_string(line);  // short: no memory of its own
  if (!name.ends_with(number)) return false;
  name.remove_suffix(number.size());
  return name.ends_with(':') && name.substr(0, name.size() - 1).ends_with(base_name(file));
}

std::string last_parts_of(std::string_view name, int parts) {
  std::string plain;
  plain.reserve(name.size());
  int depth = 0;
  for (const char c : name) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (depth == 0) plain += c;
    if ((c == '>' || c == ')' || c == ']') && depth > 0) --depth;
  }
  std::size_t at = plain.size();
  for (int i = 0; i < parts && at != std::string::npos && at > 0; ++i) at = plain.find_last_of(".:", at - 1);
  return at == std::string::npos || at == 0 ? plain : plain.substr(at + 1);
}

std::string_view end_of_path(std::string_view path, int parts) {
  std::size_t at = path.size();
  for (int i = 0; i < parts && at != std::string_view::npos && at > 0; ++i) at = path.find_last_of("/\\", at - 1);
  return at == std::string_view::npos || at == 0 ? path : path.substr(at + 1);
}

bool is_library_frame(std::string_view function, std::string_view file, std::string_view module) {
  constexpr std::array<std::string_view, 10> kFiles{"/usr/include/", "/usr/lib/",         "/rustc/", "library/core/",
                                                    "library/std/",  "library/alloc/",    "node:",   "../csu/",
                                                    "../sysdeps/",   "/usr/local/go/src/"};
  for (const std::string_view prefix : kFiles) {
    if (file.starts_with(prefix)) return true;
  }
  const FrameKind kind = frame_kind(function, {});
  if (kind == FrameKind::start) return false;
  const std::string_view base = base_name(module);
  if (base.starts_with("libc.so") || base.starts_with("libstdc++") || base.starts_with("libc++")) return true;
  return kind >= FrameKind::dependency && kind != FrameKind::unknown;
}

namespace {

/// Lines between a closure and the line that calls it where it is written.
constexpr std::int32_t kLongestClosure = 100;
constexpr std::size_t kDeepestInlined = 8;  // functions inlined into one another, between a closure and its caller

/// "main.run" of "main.run.func2" and "main.run.func2.1"; "" of what is no closure of Go.
std::string_view closure_owner(std::string_view name) {
  const std::size_t at = name.find(".func");
  if (at == std::string_view::npos || at + 5 >= name.size()) return {};
  const std::string_view number = name.substr(at + 5);
  const bool is_closure = std::all_of(number.begin(), number.end(), [](char c) { return c == '.' || is_digit(c); });
  return is_closure && is_digit(number.front()) ? name.substr(0, at) : std::string_view();
}

}  // namespace

std::string_view Code::keep(std::string_view text) {
  const std::span<const char> kept = texts_.keep(text);
  return {kept.data(), kept.size()};
}

void Code::set_names(Function& of, std::string_view plain, std::string_view shown) {
  const std::string base = normalise(plain);
  const bool same = !shown.empty() && base == plain;
  const std::string shorter = same ? last_parts_of(shown, 2) : last_parts_of(short_function_name(base), 2);
  of.plain = keep(plain);
  of.base = base == plain ? of.plain : keep(base);
  of.shorter = keep(shorter);
  of.last = keep(last_parts_of(shorter, 1));
}

Code::Code(const Side& side) : side_(side), d_(*side.ref.snapshot->dictionary) {
  name_functions();
  join_lines();
  join_inlined_closures();
}

/// What is known of a function of the dictionary.
struct Code::Known {
  enum class State : std::uint8_t { unseen, unnamed, program, library } state = State::unseen;
  bool may_say_lines = false;  ///< its name may only repeat the line of a frame
  bool is_part = false;
  std::uint32_t function = kNone, way = 0;
};

/// Whether the frame's function is the program's, and which; looked at once.
void Code::name_function(Known& known, std::size_t frame) {
  const FunctionId id = d_.frames.function[frame];
  const std::string_view name = this->name(id), file = this->file(id);
  const std::string_view module = d_.strings[d_.modules.name[index_of(d_.frames.module[frame])]];
  const std::string shown = short_function_name(name);
  if (is_library_frame(shown, file, module)) {
    known.state = Known::State::library;
    functions_of_library.push_back(id);
    known.way = static_cast<std::uint32_t>(hash_bytes(last_parts_of(shown, 2)).low) | 1U;
    return;
  }
  known.state = Known::State::program;
  const std::string_view whole = without_clone_suffixes(name);
  known.is_part = name.size() != whole.size();
  const auto [entry, added] =
      numbers_.try_emplace(hash_bytes(whole, hash_bytes(file).low), static_cast<std::uint32_t>(functions.size()));
  known.function = entry->second;
  if (!added) return;
  Function made;
  made.name = name;
  made.file = file;
  const std::string plain = without_place(name);
  set_names(made, plain, plain == name ? shown : std::string());
  functions.push_back(made);
}

void Code::name_functions() {
  const std::size_t frames = d_.frames.size();
  function.assign(frames, kNone);
  line = d_.frames.line;
  nameless_.assign(frames, 0);
  kind_.assign(frames, Kind::left_out);
  way_.assign(frames, 0);
  std::vector<Known> functions_known(d_.functions.size());
  // Not all of the dictionary: sides that share it do not share their functions, and what is hidden is not looked at.
  const UsedFrames used = UsedFrames::of(side_, d_);
  for (std::size_t k = 0; k < used.size(); ++k) {
    const std::size_t i = used[k];
    const std::size_t f = index_of(d_.frames.function[i]);
    if (f == 0 || (d_.frames.flags[i] & kFramePseudo) != 0) {
      any_left_out_ = true;
      const std::string_view module = d_.strings[d_.modules.name[index_of(d_.frames.module[i])]];
      const bool address = f == 0 && (d_.frames.flags[i] & kFramePseudo) == 0;
      if (address && module_kind(module) == FrameKind::own) kind_[i] = Kind::unresolved;
      continue;
    }
    Known& known = functions_known[f];
    if (known.state == Known::State::unseen) {
      known.state = Known::State::unnamed;
      const std::string_view name = this->name(d_.frames.function[i]);
      known.may_say_lines = !name.empty() && is_digit(name.back()) && name.find(':') != std::string_view::npos;
    }
    if (known.may_say_lines && says_only_lines(name(d_.frames.function[i]), file(d_.frames.function[i]), line[i])) {
      nameless_[i] = 1;
      continue;
    }
    if (known.state == Known::State::unnamed) name_function(known, i);
    if (known.state == Known::State::library) {
      any_left_out_ = true;
      way_[i] = known.way;
      continue;
    }
    function[i] = known.function;
    kind_[i] = known.is_part ? Kind::part : Kind::whole;
    any_left_out_ = any_left_out_ || known.is_part;
  }
  numbers_ = {};
}

void Code::join_lines() {
  if (std::find(nameless_.begin(), nameless_.end(), 1) == nameless_.end()) return;
  DisjointSets sets;
  std::vector<std::uint32_t> node(nameless_.size(), kNone);
  for (std::size_t i = 0; i < nameless_.size(); ++i) {
    if (nameless_[i] != 0) node[i] = sets.add();
  }
  const auto file_of = [&](FrameId frame) {
    return index_of(d_.functions.file[index_of(d_.frames.function[index_of(frame)])]);
  };
  // What one call line calls in one file is one function.
  std::unordered_map<std::uint64_t, std::uint32_t> called;
  for (std::size_t entry = 0; entry < side_.stack.size(); ++entry) {
    const std::span<const FrameId> stack = side_.frames(entry).frames();
    for (std::size_t k = 0; k < stack.size(); ++k) {
      const std::uint32_t own = node[index_of(stack[k])];
      if (own == kNone) continue;
      const std::uint64_t caller = k + 1 < stack.size() ? index_of(stack[k + 1]) + 1 : 0;
      const auto [found, added] = called.try_emplace(caller << 32U | file_of(stack[k]), own);
      if (!added) sets.join(found->second, own);
    }
  }
  std::vector<std::uint32_t> of_set(nameless_.size(), kNone);
  for (std::size_t i = 0; i < nameless_.size(); ++i) {
    if (node[i] == kNone) continue;
    std::uint32_t& made = of_set[sets.find(node[i])];
    const std::string_view file = d_.strings[d_.functions.file[index_of(d_.frames.function[i])]];
    if (made == kNone) {
      if (is_library_frame({}, file, {})) {
        any_left_out_ = true;
        continue;
      }
      made = static_cast<std::uint32_t>(functions.size());
      functions.push_back({{}, file, {}, {}, {}, {}});
    }
    function[i] = made;
    kind_[i] = Kind::whole;
  }
}

/// Go names a closure after the function that its own one was inlined into: "FlushFrame.func1" is of
/// AssembleSession where FlushFrame calls that and that the closure. In a build that does not inline it, and wherever
/// else it is inlined, it has another name: here it is AssembleSession's everywhere.
void Code::join_inlined_closures() {
  std::vector<std::string_view> of(functions.size());  // of closures, the function in their name
  bool any = false;
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (!functions[f].file.ends_with(".go")) continue;
    of[f] = closure_owner(functions[f].name);
    any = any || !of[f].empty();
  }
  if (!any) return;
  struct Seen {
    std::uint32_t caller = kNone;
    std::int32_t line = std::numeric_limits<std::int32_t>::max();
    bool other = false;  ///< its name is right, or it has several callers
  };
  std::vector<Seen> seen(functions.size());
  std::vector<std::uint8_t> is_closure(function.size(), 0);  // per FrameId
  for (std::size_t i = 0; i < function.size(); ++i)
    is_closure[i] = function[i] != kNone && !of[function[i]].empty() ? 1 : 0;
  std::vector<FrameId> scratch;
  const auto calls = [this](std::span<const FrameId> callers, std::string_view name) {
    return std::any_of(callers.begin(),
                       callers.begin() + static_cast<std::ptrdiff_t>(std::min(callers.size(), kDeepestInlined)),
                       [&](FrameId frame) { return functions[function[index_of(frame)]].name == name; });
  };
  for (std::size_t entry = 0; entry < side_.stack.size(); ++entry) {
    const std::span<const FrameId> stack = frames(entry, scratch);
    for (std::size_t k = 0; k < stack.size(); ++k) {
      if (is_closure[index_of(stack[k])] == 0) continue;
      const std::uint32_t own = function[index_of(stack[k])];
      Seen& closure = seen[own];
      closure.line = std::min(closure.line, line[index_of(stack[k])]);
      const std::uint32_t caller = k + 1 < stack.size() ? function[index_of(stack[k + 1])] : kNone;
      const bool inlined = caller != kNone && functions[caller].name != of[own] &&
                           functions[caller].file == functions[own].file &&
                           std::abs(line[index_of(stack[k])] - line[index_of(stack[k + 1])]) <= kLongestClosure &&
                           calls(stack.subspan(k + 1), of[own]);
      if (!inlined || (closure.caller != kNone && closure.caller != caller)) closure.other = true;
      closure.caller = caller;
    }
  }
  // Those of one function at one line are one.
  std::map<std::pair<std::string_view, std::int32_t>, std::uint32_t> closures;
  std::vector<std::uint32_t> joined(functions.size());
  std::iota(joined.begin(), joined.end(), 0U);
  for (std::uint32_t f = 0; f < functions.size(); ++f) {
    if (!of[f].empty() && (seen[f].other || seen[f].caller == kNone)) closures.try_emplace({of[f], seen[f].line}, f);
  }
  for (std::uint32_t f = 0; f < functions.size(); ++f) {
    if (of[f].empty() || seen[f].other || seen[f].caller == kNone) continue;
    const Function& owner = functions[seen[f].caller];
    joined[f] = closures.try_emplace({owner.name, seen[f].line}, f).first->second;
    if (joined[f] != f) continue;
    set_names(functions[f], std::string(owner.plain) + ".func1", {});
  }
  for (std::uint32_t& own : function) {
    if (own != kNone) own = joined[own];
  }
}

std::span<const FrameId> Code::frames(std::size_t entry, std::vector<FrameId>& scratch) const {
  const std::span<const FrameId> all = side_.frames(entry).frames();
  if (!any_left_out_) return all;
  if (scratch.size() < all.size()) scratch.resize(all.size());
  std::size_t kept = 0;
  std::uint32_t part_of = kNone;
  for (const FrameId frame : all) {
    const Kind kind = kind_[index_of(frame)];
    if (kind == Kind::left_out) continue;
    if (kind == Kind::unresolved) {
      if (kept == 0) return {};
      continue;
    }
    if (kind == Kind::part || part_of != kNone) {
      const std::uint32_t own = function[index_of(frame)];
      const bool whole_of_part = own == part_of && kind == Kind::whole;
      part_of = kind == Kind::part ? own : kNone;
      if (whole_of_part) continue;
    }
    scratch[kept++] = frame;
  }
  return std::span<const FrameId>(scratch).first(kept);
}

std::uint32_t Code::way(std::size_t entry) const {
  if (functions_of_library.empty()) return 0;
  std::uint32_t outermost = 0;
  for (const FrameId frame : side_.frames(entry).frames()) {
    if (way_[index_of(frame)] == 0) break;
    outermost = way_[index_of(frame)];
  }
  return outermost;
}

std::vector<std::uint32_t> first_alike(const Code& code) {
  std::unordered_map<Hash128, std::uint32_t> first;
  std::vector<std::uint32_t> out(code.functions.size());
  for (std::uint32_t f = 0; f < out.size(); ++f) {
    const std::uint64_t file = hash_bytes(code.functions[f].file).low;
    out[f] = first.try_emplace(hash_bytes(code.functions[f].base, file), f).first->second;
  }
  return out;
}

std::vector<std::uint64_t> hashes_of_functions(const Code& code) {
  std::vector<std::int32_t> first(code.functions.size(), std::numeric_limits<std::int32_t>::max());
  for (std::size_t i = 0; i < code.function.size(); ++i) {
    if (code.function[i] != kNone) first[code.function[i]] = std::min(first[code.function[i]], code.line[i]);
  }
  std::vector<std::uint64_t> out;
  out.reserve(first.size());
  for (std::size_t f = 0; f < first.size(); ++f) {
    const std::uint64_t file = hash_bytes(code.functions[f].file).low;
    out.push_back(hash_bytes(code.functions[f].name, file).low ^ mix64(static_cast<std::uint64_t>(first[f])));
  }
  return out;
}

std::pair<Code, Code> read_code(const Side& before, const Side& after) {
  std::array<std::optional<Code>, 2> made;
  for_each_parallel(2, before.stack.size() + after.stack.size(),
                    [&](std::size_t side) { side == 0 ? made[0].emplace(before) : made[1].emplace(after); });
  return {std::move(*made[0]), std::move(*made[1])};
}

}  // namespace snapdiff::diff::rebuild

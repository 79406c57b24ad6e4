#include "analyzer/diff/rebuild/code.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "analyzer/base/frame_kind.hpp"
#include "analyzer/base/function_name.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/build_match.hpp"
#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/disjoint_sets.hpp"
#include "analyzer/diff/rebuild/score.hpp"

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

/// The name without the number of a closure, which is its place in the function, and another closure's in another
/// build; "" where it is none.
std::string numbered_closure(std::string_view name) {
  if (name.find("closure") == std::string_view::npos && name.find(".func") == std::string_view::npos) return {};
  const std::string base = normalise(name);
  for (const std::string_view closure : {"{{closure}}", "_$u7b$$u7b$closure$u7d$$u7d$", ".func"}) {
    if (base.find(closure) != std::string::npos) return base;
  }
  return {};
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

std::string last_of(std::string_view name) {
  return last_parts_of(short_function_name(normalise(without_place(name))), 1);
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

std::string_view Code::keep(std::string_view text) {
  const std::span<const char> kept = texts_.keep(text);
  return {kept.data(), kept.size()};
}

Code::Code(const Side& side) : side_(side), d_(*side.ref.snapshot->dictionary) {
  name_functions();
  join_lines();
  name_closures();
}

/// The number of the frame's function; kNone where it is the library's.
std::uint32_t Code::name_function(std::size_t frame) {
  const std::size_t id = index_of(d_.frames.function[frame]);
  const std::string_view name = d_.strings[d_.functions.name[id]], file = d_.strings[d_.functions.file[id]];
  const std::string_view module = d_.strings[d_.modules.name[index_of(d_.frames.module[frame])]];
  if (is_library_frame(short_function_name(name), file, module)) return kNone;
  const Hash128 whole = hash_bytes(without_clone_suffixes(name), hash_bytes(file).low);
  const auto [entry, added] = numbers_.try_emplace(whole, static_cast<std::uint32_t>(functions.size()));
  if (!added) return entry->second;
  const std::string plain = without_place(name), closure = numbered_closure(plain);
  Function made{name, file, {}};
  made.is_numbered = !closure.empty();
  made.plain = made.is_numbered ? keep(closure) : plain == name ? name : keep(plain);
  made.is_closure = plain == "(anonymous)" || (plain.starts_with('<') && plain.ends_with('>') && plain != "<module>");
  functions.push_back(made);
  return entry->second;
}

void Code::name_functions() {
  const std::size_t frames = d_.frames.size();
  function.assign(frames, kNone);
  line = d_.frames.line;
  nameless_.assign(frames, 0);
  unresolved_.assign(frames, 0);
  constexpr std::uint32_t kUnseen = kNone - 1;
  std::vector<std::uint32_t> number(d_.functions.size(), kUnseen);
  // Not all of the dictionary: sides that share it do not share their functions, and what is hidden is not looked at.
  const UsedFrames used = UsedFrames::of(side_, d_);
  for (std::size_t k = 0; k < used.size(); ++k) {
    const std::size_t i = used[k];
    const std::size_t f = index_of(d_.frames.function[i]);
    if (f == 0 || (d_.frames.flags[i] & kFramePseudo) != 0) {
      any_left_out_ = true;
      const std::string_view module = d_.strings[d_.modules.name[index_of(d_.frames.module[i])]];
      const bool address = f == 0 && (d_.frames.flags[i] & kFramePseudo) == 0;
      unresolved_[i] = address && module_kind(module) == FrameKind::own ? 1 : 0;
      continue;
    }
    if (says_only_lines(d_.strings[d_.functions.name[f]], d_.strings[d_.functions.file[f]], line[i])) {
      nameless_[i] = 1;
      continue;
    }
    if (number[f] == kUnseen) number[f] = name_function(i);
    function[i] = number[f];
    any_left_out_ = any_left_out_ || function[i] == kNone;
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
      functions.push_back({{}, file, {}});
    }
    function[i] = made;
  }
}

/// The only closure of a file is another one where its function moved away and one with a closure came. So a closure is
/// called after its owner: the next function of its file above it that has a name, where all stacks have the same one.
void Code::name_closures() {
  if (std::none_of(functions.begin(), functions.end(), [](const Function& f) { return f.is_closure; })) return;
  constexpr std::uint32_t kSeveral = kNone - 1;
  std::vector<std::uint32_t> owner(functions.size(), kNone);
  std::vector<FrameId> scratch;
  std::unordered_map<std::string_view, std::uint32_t>
      named;  // per file the last function with a name, from the root on
  for (std::size_t entry = 0; entry < side_.stack.size(); ++entry) {
    named.clear();
    const std::span<const FrameId> stack = frames(entry, scratch);
    for (std::size_t k = stack.size(); k-- > 0;) {
      const std::uint32_t own = function[index_of(stack[k])];
      if (!functions[own].is_closure) {
        named[functions[own].file] = own;
        continue;
      }
      const auto found = named.find(functions[own].file);
      if (found != named.end() && owner[own] != found->second)
        owner[own] = owner[own] == kNone ? found->second : kSeveral;
    }
  }
  for (std::size_t f = 0; f < functions.size(); ++f) {
    if (owner[f] >= kSeveral) continue;
    functions[f].plain = keep(std::string(functions[owner[f]].plain) + "/" + std::string(functions[f].plain));
  }
}

std::span<const FrameId> Code::frames(std::size_t entry, std::vector<FrameId>& scratch) const {
  const std::span<const FrameId> all = side_.frames(entry).frames();
  if (!any_left_out_) return all;
  if (scratch.size() < all.size()) scratch.resize(all.size());
  std::size_t kept = 0;
  for (const FrameId frame : all) {
    if (unresolved_[index_of(frame)] != 0 && kept == 0) return {};
    if (function[index_of(frame)] != kNone) scratch[kept++] = frame;
  }
  return std::span<const FrameId>(scratch).first(kept);
}

bool Code::lines_tell() const {
  struct Seen {
    std::int32_t line = 0;
    std::uint32_t callee = kNone;
    bool lines = false, calls = false;
  };
  std::vector<Seen> seen(functions.size());
  std::vector<FrameId> scratch;
  for (std::size_t entry = 0; entry < side_.stack.size(); ++entry) {
    if (side_.recorded_identity(entry).low % (1 + side_.stack.size() / kManyStacks) != 0) continue;
    std::uint32_t callee = kNone - 1;  // the allocation
    for (const FrameId frame : frames(entry, scratch)) {
      const std::uint32_t own = function[index_of(frame)];
      Seen& of = seen[own];
      of.lines = of.lines || (of.callee != kNone && of.line != line[index_of(frame)]);
      of.calls = of.calls || (of.callee != kNone && of.callee != callee);
      of.line = line[index_of(frame)];
      of.callee = callee;
      callee = own;
    }
  }
  std::size_t several = 0, told = 0;
  for (const Seen& of : seen) {
    several += of.calls ? 1 : 0;
    told += of.calls && of.lines ? 1 : 0;
  }
  return told * 2 >= several;
}

std::pair<Code, Code> read_code(const Side& before, const Side& after) {
  std::array<std::optional<Code>, 2> made;
  for_each_parallel(2, before.stack.size() + after.stack.size(),
                    [&](std::size_t side) { side == 0 ? made[0].emplace(before) : made[1].emplace(after); });
  return {std::move(*made[0]), std::move(*made[1])};
}

}  // namespace snapdiff::diff::rebuild

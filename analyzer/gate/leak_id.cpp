#include "analyzer/gate/leak_id.hpp"

#include <algorithm>

#include "analyzer/base/function_name.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/printable.hpp"
#include "snapdiff/hash.hpp"

namespace snapdiff::gate {
namespace {

constexpr std::size_t kNamed = 4;

std::string stable_name(const FrameView& frame) {
  if (!frame.function.empty()) return short_function_name(frame.function);
  return std::string(base_name(frame.module)) + "+" + hex_text(frame.offset);
}

/// What is called when a program or a thread starts says nothing, and changes with the C library.
bool is_start(const FrameView& frame) {
  if (!frame.function.empty()) return is_entry_point(frame.function);
  const std::string_view module = base_name(frame.module);
  return module.starts_with("libc.so") || module.starts_with("libc-") || module.starts_with("ld-linux");
}

/// Calls `visit(name)` for each frame, leaf first; how deep a function recurses is no other leak.
template <class Visit>
void each_name(std::span<const FrameView> leaf_first, Visit visit) {
  std::string last;
  for (const FrameView& frame : leaf_first) {
    if (is_start(frame)) continue;
    std::string name = stable_name(frame);
    if (name == last) continue;
    visit(name);
    last = std::move(name);
  }
}

std::string id_of(const SequenceHasher& hasher) {
  const std::uint64_t hash = hasher.finish().high;
  std::string out;
  for (unsigned shift = 56; shift > 8; shift -= 8) append_hex(out, static_cast<char>(hash >> shift));
  return out;
}

std::string id_of_key(GroupBy by, std::string_view key) {
  SequenceHasher hasher;
  hasher.add(hash_bytes(to_text(by)));
  hasher.add(hash_bytes(key));
  return id_of(hasher);
}

/// What the first build calls a function; as it is where none renamed it.
std::string_view former_name(const GrowthReport& report, std::string_view function) {
  const auto found = std::find_if(report.renamed.begin(), report.renamed.end(),
                                  [&](const RenamedFunction& one) { return one.after == function; });
  return found == report.renamed.end() ? function : std::string_view(found->before);
}

std::string other_than(const std::string& id, const std::string& known) { return id == known ? std::string() : id; }

}  // namespace

std::string former_leak_id(const TrendReport& trend, std::uint32_t row) {
  const GrowthReport& overall = trend.series.overall;
  const GroupBy by = overall.options.by;
  const std::string id = leak_id(trend, row);
  if (by == GroupBy::function)
    return other_than(id_of_key(by, former_name(overall, overall.keys[overall.rows[row].key])), id);
  const Counterpart* const before = by == GroupBy::stack ? overall.counterpart(overall.rows[row].key) : nullptr;
  if (before == nullptr) return {};
  std::vector<FrameView> frames;
  overall.view->frames(before->before, frames);
  return other_than(leak_id(frames), id);
}

std::string former_leak_id(const TrendReport& trend, std::span<const FrameView> leaf_first,
                           std::span<const std::uint32_t> rows) {
  const GrowthReport& overall = trend.series.overall;
  const std::string id = leak_id(leaf_first);
  std::vector<FrameView> frames, former;
  for (const std::uint32_t row : rows) {
    const Counterpart* const before = overall.counterpart(overall.rows[row].key);
    if (before == nullptr) continue;
    overall.frames(overall.rows[row], frames);
    overall.view->frames(before->before, former);
    if (frames.size() != former.size() || frames.size() < leaf_first.size()) continue;
    const auto above = static_cast<std::ptrdiff_t>(leaf_first.size());
    const bool is_below = std::equal(leaf_first.begin(), leaf_first.end(), frames.end() - above, frames.end(),
                                     [](const FrameView& a, const FrameView& b) { return a.function == b.function; });
    if (is_below) return other_than(leak_id(std::span(former).last(leaf_first.size())), id);
  }
  frames.assign(leaf_first.begin(), leaf_first.end());
  for (FrameView& frame : frames) frame.function = former_name(overall, frame.function);
  return other_than(leak_id(frames), id);
}

std::string leak_id(const TrendReport& trend, std::uint32_t row) {
  const GrowthReport& overall = trend.series.overall;
  if (overall.options.by != GroupBy::stack) return id_of_key(overall.options.by, overall.keys[overall.rows[row].key]);
  std::vector<FrameView> frames;
  overall.frames(overall.rows[row], frames);
  return leak_id(frames);
}

std::string leak_id(std::span<const FrameView> leaf_first) {
  SequenceHasher hasher;
  each_name(leaf_first, [&](const std::string& name) { hasher.add(hash_bytes(name)); });
  return id_of(hasher);
}

std::string leak_id(std::string_view name) { return id_of_key(GroupBy::type, name); }

std::string leak_id(const Budget& budget) {
  SequenceHasher hasher;
  for (const std::string* part : {&budget.name, &budget.owner, &budget.function, &budget.file, &budget.module})
    hasher.add(hash_bytes(*part));
  return id_of(hasher);
}

std::string leak_name(std::span<const FrameView> leaf_first) {
  std::string text;
  std::size_t named = 0;
  each_name(leaf_first, [&](const std::string& name) {
    if (named < kNamed) text += (named > 0 ? " ‹ " : "") + name;
    if (named++ == kNamed) text += " ‹ …";
  });
  if (!text.empty()) return text;
  return leaf_first.empty() ? "[filtered out]" : stable_name(leaf_first.front());  // where a program starts
}

}  // namespace snapdiff::gate

#include <algorithm>
#include <tuple>
#include <utility>

#include "analyzer/diff/make_report.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::diff {
namespace {

bool is_address(const Dictionary& d, std::size_t frame) {
  return d.frames.offset[frame] != kNoOffset && (d.frames.flags[frame] & (kFramePseudo | kFrameInlined)) == 0;
}

bool is_unnamed(const Dictionary& d, std::size_t frame) {
  return is_address(d, frame) && d.frames.function[frame] == FunctionId{};
}

void add_saturated(std::int64_t& sum, std::int64_t value) {
  if (!checked_add(sum, value, sum)) sum = value < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace

Unnamed find_unnamed(const Side& side, const Dictionary& d) {
  bool any = false;
  for (std::size_t frame = 0; frame < d.frames.size() && !any; ++frame) any = is_unnamed(d, frame);
  if (!any) return {};
  Unnamed out;
  std::vector<UnnamedModule> modules(d.modules.size());
  std::vector<std::uint8_t> seen(d.frames.size(), 0);
  std::vector<std::uint32_t> unnamed_here;  // modules of an entry's unnamed frames
  const auto look_at = [&](std::size_t frame) {
    if (!is_address(d, frame)) return;
    const bool unnamed = is_unnamed(d, frame);
    const auto module = static_cast<std::uint32_t>(d.frames.module[frame]);
    if (std::exchange(seen[frame], 1) == 0) {
      ++out.addresses;
      out.unnamed += unnamed ? 1 : 0;
      modules[module].addresses += unnamed ? 1 : 0;
    }
    if (unnamed && std::find(unnamed_here.begin(), unnamed_here.end(), module) == unnamed_here.end())
      unnamed_here.push_back(module);
  };
  for (std::size_t entry = 0; entry < side.stack.size(); ++entry) {
    unnamed_here.clear();
    for (const FrameId frame : side.frames(entry).frames()) look_at(index_of(frame));
    if (unnamed_here.empty()) continue;
    add_saturated(out.value, side.value[entry]);
    for (const std::uint32_t module : unnamed_here) add_saturated(modules[module].value, side.value[entry]);
  }
  for (std::size_t m = 0; m < modules.size(); ++m) {
    if (modules[m].addresses == 0) continue;
    modules[m].module = d.strings[d.modules.name[m]];
    out.modules.push_back(modules[m]);
  }
  std::sort(out.modules.begin(), out.modules.end(), [](const UnnamedModule& a, const UnnamedModule& b) {
    return std::tie(b.value, a.module) < std::tie(a.value, b.module);
  });
  return out;
}

}  // namespace snapdiff::diff

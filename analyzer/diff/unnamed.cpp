#include <algorithm>
#include <tuple>

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

/// Walks the entries once.
class AddressCount {
 public:
  AddressCount(const Side& side, const Dictionary& dictionary)
      : side_(side), d_(dictionary), modules_(d_.modules.size()), seen_(d_.frames.size(), 0) {}

  Unnamed count() {
    for (std::size_t entry = 0; entry < side_.stack.size(); ++entry) {
      unnamed_here_.clear();
      for (const FrameId frame : side_.frames(entry).frames()) look_at(frame);
      if (unnamed_here_.empty()) continue;
      add_saturated(out_.value, side_.value[entry]);
      for (const std::uint32_t module : unnamed_here_) add_saturated(modules_[module].value, side_.value[entry]);
    }
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      if (modules_[m].addresses == 0) continue;
      modules_[m].module = d_.strings[d_.modules.name[m]];
      out_.modules.push_back(modules_[m]);
    }
    std::sort(out_.modules.begin(), out_.modules.end(), [](const UnnamedModule& a, const UnnamedModule& b) {
      return std::tie(b.value, a.module) < std::tie(a.value, b.module);
    });
    return std::move(out_);
  }

 private:
  void look_at(FrameId id) {
    const std::size_t frame = index_of(id);
    if (!is_address(d_, frame)) return;
    const bool unnamed = is_unnamed(d_, frame);
    const auto module = static_cast<std::uint32_t>(d_.frames.module[frame]);
    if (seen_[frame] == 0) {
      seen_[frame] = 1;
      ++out_.addresses;
      out_.unnamed += unnamed ? 1 : 0;
      modules_[module].addresses += unnamed ? 1 : 0;
    }
    if (unnamed && std::find(unnamed_here_.begin(), unnamed_here_.end(), module) == unnamed_here_.end())
      unnamed_here_.push_back(module);
  }

  const Side& side_;
  const Dictionary& d_;
  std::vector<UnnamedModule> modules_;
  std::vector<std::uint8_t> seen_;           // by frame
  std::vector<std::uint32_t> unnamed_here_;  // modules of this entry's unnamed frames
  Unnamed out_;
};

}  // namespace

Unnamed find_unnamed(const Side& side, const Dictionary& dictionary) {
  for (std::size_t frame = 0; frame < dictionary.frames.size(); ++frame) {
    if (is_unnamed(dictionary, frame)) return AddressCount(side, dictionary).count();
  }
  return {};
}

}  // namespace snapdiff::diff

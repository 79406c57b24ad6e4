#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::test {

/// Stacks kept as they are given: stack id = index.
class FakeStacks : public StackView {
 public:
  void frames(StackRef stack, std::vector<FrameView>& out) const override {
    out = stacks_[static_cast<std::size_t>(stack.stack)];
  }
  StackRef add(std::vector<FrameView> leaf_first) {
    stacks_.push_back(std::move(leaf_first));
    return {static_cast<StackId>(stacks_.size() - 1), 1};
  }
  std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }

 private:
  std::vector<std::vector<FrameView>> stacks_;
  std::deque<std::string> texts_;
};

/// Writes a by-stack report in readable lines: row("main;parse;alloc", 100, 250) is a stack, root
/// side first, that went from 100 to 250 bytes. A frame is "name", "name@file.cc:12" or
/// "+lib.so:0x1234" for an unsymbolized one, "[...]" for a pseudo frame.
class FakeReport {
 public:
  FakeReport() {
    report_.metric = "inuse_space";
    report_.unit = "bytes";
    report_.objects_metric = "inuse_objects";
    report_.has_objects = true;
    report_.exact = true;
    report_.rule_set.assign(1, '1');  // gcc 12 warns of an overlap in operator=("1") that cannot be
    report_.view = stacks_;
    report_.matched[static_cast<std::size_t>(MatchTier::function_line)] = 1;
  }

  FakeReport& row(std::string_view stack, std::int64_t baseline, std::int64_t current,
                  std::int64_t objects_baseline = 0, std::int64_t objects_current = 0) {
    GrowthRow row;
    row.value = {baseline, current};
    row.objects = {objects_baseline, objects_current};
    const std::int64_t growth = current - baseline;
    row.grew = growth > 0 ? growth : 0;
    row.shrank = growth < 0 ? growth : 0;
    row.key = static_cast<std::uint32_t>(report_.stacks.size());
    row.row_class = growth == 0     ? RowClass::same
                    : baseline == 0 ? RowClass::added
                    : current == 0  ? RowClass::gone
                    : growth > 0    ? RowClass::grew
                                    : RowClass::shrank;
    row.tier = MatchTier::function_line;
    report_.stacks.push_back(stacks_->add(frames(stack)));
    report_.rows.push_back(row);
    report_.total.baseline += baseline;
    report_.total.current += current;
    report_.total_objects.baseline += objects_baseline;
    report_.total_objects.current += objects_current;
    report_.grew += row.grew;
    report_.shrank += row.shrank;
    return *this;
  }
  FakeReport& series(std::initializer_list<std::int64_t> values) {
    report_.series_length = values.size();
    report_.series.push_row(std::span(values.begin(), values.size()));
    return *this;
  }
  FakeReport& unattributed(std::int64_t baseline, std::int64_t current) {
    report_.unattributed = {baseline, current};
    add_to_total(baseline, current);
    return *this;
  }
  FakeReport& filtered(std::int64_t baseline, std::int64_t current) {
    report_.filtered = {baseline, current};
    add_to_total(baseline, current);
    return *this;
  }
  FakeReport& culprit(std::string_view path, std::int64_t growth, double share, std::vector<std::uint32_t> rows = {}) {
    Culprit culprit;
    culprit.path = frames(path);
    for (std::size_t i = 0; i < culprit.path.size() / 2; ++i)
      std::swap(culprit.path[i], culprit.path[culprit.path.size() - 1 - i]);
    culprit.value = {0, growth};
    culprit.share = share;
    culprit.rows = std::move(rows);
    for (const std::uint32_t row : culprit.rows) {
      std::vector<FrameView> stack;
      report_.frames(report_.rows[row], stack);
      culprit.sites.push_back({stack.front(), report_.rows[row].value.growth(), report_.rows[row].objects.growth()});
    }
    told_.culprits.push_back(std::move(culprit));
    report_.story = std::make_shared<Story>(told_);
    return *this;
  }
  GrowthReport& get() { return report_; }

  /// Leaf first.
  std::vector<FrameView> frames(std::string_view text) {
    std::vector<FrameView> out;
    while (!text.empty()) {
      const std::size_t end = text.find(';');
      out.insert(out.begin(), frame(text.substr(0, end)));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return out;
  }

 private:
  FrameView frame(std::string_view text) {
    FrameView out;
    if (text.front() == '+') {
      const std::size_t colon = text.rfind(':');
      out.module = stacks_->keep(text.substr(1, colon - 1));
      out.offset = std::stoull(std::string(text.substr(colon + 1)), nullptr, 16);
      return out;
    }
    const std::size_t at = text.rfind('@');
    out.function = stacks_->keep(text.substr(0, at));
    out.pseudo = text.front() == '[';
    if (at == std::string_view::npos) return out;
    const std::size_t colon = text.rfind(':');
    out.file = stacks_->keep(text.substr(at + 1, colon - at - 1));
    out.line = std::stoi(std::string(text.substr(colon + 1)));
    return out;
  }
  void add_to_total(std::int64_t baseline, std::int64_t current) {
    report_.total.baseline += baseline;
    report_.total.current += current;
    (current > baseline ? report_.grew : report_.shrank) += current - baseline;
  }

  std::shared_ptr<FakeStacks> stacks_ = std::make_shared<FakeStacks>();
  GrowthReport report_;
  Story told_;
};

}  // namespace snapdiff::test

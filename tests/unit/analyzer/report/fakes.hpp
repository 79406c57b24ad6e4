#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/trend/verdict.hpp"
#include "snapdiff/growth.hpp"

/// Reports made by hand: the report module is tested without the diff engine.
namespace snapdiff::fakes {

/// Stacks written as text, leaf first: "alloc_body@svc_cache.cc:24 < leak_sessions < main". A part
/// "!module+1a2b" is an unsymbolized frame, "[...]" a pseudo frame.
class FakeStacks : public StackView {
 public:
  StackRef add(std::string_view text) {
    stacks_.push_back(parse(text));
    return {StackId{static_cast<std::uint32_t>(stacks_.size() - 1)}, 1};
  }
  StackRef add(std::vector<FrameView> frames) {
    for (const FrameView& frame : frames) number(frame);
    stacks_.push_back(std::move(frames));
    return {StackId{static_cast<std::uint32_t>(stacks_.size() - 1)}, 1};
  }
  void frames(StackRef stack, std::vector<FrameView>& out) const override { out = stacks_[index_of(stack.stack)]; }

  // Own code is what is no entry point, no address and not of the standard library.
  void own_path(StackRef stack, std::vector<std::uint32_t>& out) const override {
    out.clear();
    const std::vector<FrameView>& frames = stacks_[index_of(stack.stack)];
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
      if (frame->library || frame->function == "main") continue;
      const std::uint32_t number = numbers_.at(name_of(*frame));
      if (std::find(out.begin(), out.end(), number) == out.end()) out.push_back(number);
    }
    if (out.empty() && !frames.empty()) out.push_back(numbers_.at(name_of(frames.front())));
  }
  std::size_t function_count() const override { return functions_.size(); }
  FrameView function(std::uint32_t number) const override { return functions_[number]; }

  std::vector<FrameView> parse(std::string_view text) {
    std::vector<FrameView> frames;
    while (!text.empty()) {
      const std::size_t end = text.find(" < ");
      frames.push_back(frame(text.substr(0, end)));
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 3);
    }
    return frames;
  }
  std::string_view keep(std::string_view text) { return texts_.emplace_back(text); }

 private:
  FrameView frame(std::string_view text) {
    FrameView view;
    if (text[0] == '!') {
      const std::size_t plus = text.rfind('+');
      view.module = keep(text.substr(1, plus - 1));
      view.offset = std::stoull(std::string(text.substr(plus + 1)), nullptr, 16);
      view.library = view.module.find("libc.so") != std::string_view::npos;
      return number(view);
    }
    view.pseudo = text[0] == '[';
    const std::size_t at = text.rfind('@');
    view.function = keep(text.substr(0, at));
    if (at == std::string_view::npos || at == 0) {
      view.function = keep(text);
      view.library = view.function.starts_with("std::") || view.function == "_start";
      return number(view);
    }
    view.library = view.function.starts_with("std::");
    const std::size_t colon = text.rfind(':');
    view.file = keep(text.substr(at + 1, colon - at - 1));
    view.line = std::stoi(std::string(text.substr(colon + 1)));
    return number(view);
  }
  static std::string name_of(const FrameView& frame) {
    if (!frame.function.empty()) return std::string(frame.function);
    return std::string(frame.module).append("+").append(std::to_string(frame.offset));
  }
  FrameView number(const FrameView& frame) {
    if (numbers_.try_emplace(name_of(frame), static_cast<std::uint32_t>(functions_.size())).second)
      functions_.push_back(frame);
    return frame;
  }

  std::deque<std::string> texts_;
  std::map<std::string, std::uint32_t> numbers_;
  std::vector<FrameView> functions_;
  std::vector<std::vector<FrameView>> stacks_;
};

inline std::shared_ptr<const Snapshot> snapshot_named(const std::string& name, std::int64_t bytes = 0,
                                                      std::int64_t objects = 0) {
  SnapshotBuilder builder;
  builder.facts().source.name = name;
  builder.facts().source.sha256 = "40ca30c3";
  builder.facts().format = "gperftools";
  builder.facts().sampling = Sampling::exact;
  builder.add_column({"inuse_objects", "count"});
  builder.add_column({"inuse_space", "bytes"});
  const std::int64_t values[] = {objects, bytes};
  builder.add_row(builder.pseudo_stack(kNoStackRecorded), LabelSetId{}, values);
  auto snapshot = builder.finish();
  return std::make_shared<const Snapshot>(std::move(snapshot).value());
}

inline SnapshotRef ref_named(const std::string& name, std::int64_t bytes = 0, std::int64_t objects = 0) {
  return {snapshot_named("dir/" + name, bytes, objects), name, ""};
}

/// Adds rows and keeps every sum of the report right.
class DiffMaker {
 public:
  DiffMaker() : stacks_(std::make_shared<FakeStacks>()) {
    report_.metric = "inuse_space";
    report_.unit = "bytes";
    report_.objects_metric = "inuse_objects";
    report_.has_objects = true;
    report_.exact = true;
    report_.view = stacks_;
    report_.rule_set = "1";
    report_.matched[0] = 1;
    report_.baseline = ref_named("a.heap");
    report_.current = ref_named("b.heap");
  }

  FakeStacks& stacks() { return *stacks_; }
  GrowthReport& report() { return report_; }

  DiffMaker& by(GroupBy group) {
    report_.options.by = group;
    return *this;
  }

  std::uint32_t row(std::string_view stack, Change value, Change objects = {}, double error = 0) {
    report_.stacks.push_back(stacks_->add(stack));
    return add(value, objects, error, report_.stacks.size() - 1);
  }
  std::uint32_t row(std::vector<FrameView> frames, Change value, Change objects = {}) {
    report_.stacks.push_back(stacks_->add(std::move(frames)));
    return add(value, objects, 0, report_.stacks.size() - 1);
  }
  std::uint32_t key_row(const std::string& key, Change flat, Change cumulative, Change objects = {}) {
    report_.keys.push_back(key);
    CumulativeChange cum;
    cum.value = cumulative;
    cum.objects = objects;
    cum.grew = std::max<std::int64_t>(0, cumulative.growth());
    cum.shrank = std::min<std::int64_t>(0, cumulative.growth());
    report_.cumulative.push_back(cum);
    return add(flat, objects, 0, report_.keys.size() - 1);
  }
  void unattributed(Change value) {
    report_.unattributed = value;
    sum(value, {});
  }
  void filtered(Change value) {
    report_.filtered = value;
    sum(value, {});
  }

  /// What story::tell() makes of the rows so far.
  void tell() { story::tell(report_); }

 private:
  static RowClass class_of(const Change& value) {
    if (value.growth() == 0) return RowClass::same;
    if (value.baseline == 0) return RowClass::added;
    if (value.current == 0) return RowClass::gone;
    return value.growth() > 0 ? RowClass::grew : RowClass::shrank;
  }
  std::uint32_t add(Change value, Change objects, double error, std::size_t key) {
    GrowthRow row;
    row.value = value;
    row.objects = objects;
    row.error = error;
    row.grew = std::max<std::int64_t>(0, value.growth());
    row.shrank = std::min<std::int64_t>(0, value.growth());
    row.key = static_cast<std::uint32_t>(key);
    row.row_class = class_of(value);
    row.tier = MatchTier::build_id;
    report_.rows.push_back(row);
    sum(value, objects);
    return static_cast<std::uint32_t>(report_.rows.size() - 1);
  }
  void sum(const Change& value, const Change& objects) {
    report_.total.baseline += value.baseline;
    report_.total.current += value.current;
    report_.total_objects.baseline += objects.baseline;
    report_.total_objects.current += objects.current;
    (value.growth() > 0 ? report_.grew : report_.shrank) += value.growth();
  }

  std::shared_ptr<FakeStacks> stacks_;
  GrowthReport report_;
};

/// The tcmalloc sample series svc_cache as its truth table has it: eight stacks, twelve snapshots.
struct SvcStack {
  std::string_view stack;
  std::int64_t values[12];
  std::int64_t objects[12];
};
inline constexpr std::string_view kTail = " < main@svc_cache.cc:51 < !/usr/lib/libc.so.6+271ca < _start";

inline std::vector<SvcStack> svc_stacks() {
  std::vector<SvcStack> stacks{
      {"alloc_body@svc_cache.cc:24 < leak_sessions@svc_cache.cc:26 < handle_request@svc_cache.cc:39", {}, {}},
      {"make_log_line@svc_cache.cc:28 < leak_log@svc_cache.cc:29 < background@svc_cache.cc:44", {}, {}},
      {"leak_rec@svc_cache.cc:34 < leak_rec@svc_cache.cc:35 < leak_rec@svc_cache.cc:35 < background@svc_cache.cc:45",
       {},
       {}},
      {"std::vector<char*, std::allocator<char*> >::_M_realloc_insert(char**, char* const&)@vector.tcc:440 < "
       "std::vector<char*, std::allocator<char*> >::push_back(char* const&)@stl_vector.h:1294 < "
       "leak_log@svc_cache.cc:29 < background@svc_cache.cc:44",
       {16384, 32768, 65536, 65536, 131072, 131072, 131072, 131072, 262144, 262144, 262144, 262144},
       {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
      {"leak_sessions@svc_cache.cc:26 < handle_request@svc_cache.cc:39", {}, {}},
      {"background@svc_cache.cc:46", {0, 0, 4194304, 4194304, 4194304}, {0, 0, 1, 1, 1}},
      {"alloc_body@svc_cache.cc:24 < lru_touch@svc_cache.cc:31 < handle_request@svc_cache.cc:40", {}, {}},
      {"std::deque<char*>::push_back@stl_deque.h:1554 < lru_touch@svc_cache.cc:31 < handle_request@svc_cache.cc:40",
       {},
       {}}};
  for (std::int64_t i = 0; i < 12; ++i) {
    stacks[0].values[i] = 240000 * (i + 1);
    stacks[0].objects[i] = 1000 * (i + 1);
    stacks[1].values[i] = 200000 * (i + 1);
    stacks[1].objects[i] = 2000 * (i + 1);
    stacks[2].values[i] = 65536 * (i + 1);
    stacks[2].objects[i] = i + 1;
    stacks[4].values[i] = 16000 * (i + 1);
    stacks[4].objects[i] = 1000 * (i + 1);
    stacks[6].values[i] = 524288;
    stacks[6].objects[i] = 256;
    stacks[7].values[i] = 2704;
    stacks[7].objects[i] = 6;
  }
  return stacks;
}

inline std::string svc_name(int index) {
  return std::string(index < 9 ? "svc.000" : "svc.00") + std::to_string(index + 1) + ".heap";
}

/// Growth from snapshot `from` to `to` (0-based), rows by size of change; the culprits of the first
/// -> last view, or of the step where something is freed.
inline GrowthReport svc_diff(int from, int to, bool with_passing = false) {
  DiffMaker maker;
  GrowthReport& report = maker.report();
  const std::vector<SvcStack> stacks = svc_stacks();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    if (stacks[i].values[from] != 0 || stacks[i].values[to] != 0 || with_passing) order.push_back(i);
  }
  const auto change = [&](std::size_t i) { return Change{stacks[i].values[from], stacks[i].values[to]}; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::abs(change(a).growth()) > std::abs(change(b).growth());
  });
  for (const std::size_t i : order) {
    maker.row(std::string(stacks[i].stack) + std::string(kTail), change(i),
              Change{stacks[i].objects[from], stacks[i].objects[to]});
  }
  report.baseline = ref_named(svc_name(from), report.total.baseline, report.total_objects.baseline);
  report.current = ref_named(svc_name(to), report.total.current, report.total_objects.current);
  maker.tell();
  return report;
}

inline SeriesReport svc_series() {
  SeriesReport series;
  const std::vector<SvcStack> stacks = svc_stacks();
  series.overall = svc_diff(0, 11, true);
  series.overall.series_length = 12;
  // Rows are the stacks, sorted: find each by its values.
  for (const GrowthRow& row : series.overall.rows) {
    for (const SvcStack& stack : stacks) {
      if (stack.values[0] != row.value.baseline || stack.values[11] != row.value.current) continue;
      series.overall.series.push_row(std::span(std::begin(stack.values), std::end(stack.values)));
      break;
    }
  }
  for (int i = 0; i < 12; ++i) {
    SeriesStep step;
    std::int64_t objects = 0;
    for (const SvcStack& stack : stacks) {
      step.total += stack.values[i];
      objects += stack.objects[i];
    }
    step.snapshot = ref_named(svc_name(i), step.total, objects);
    step.objects = objects;
    if (i > 0) {
      step.growth = step.total - series.steps.back().total;
      const bool passing = i == 2 || i == 5;
      const std::size_t heaviest = passing ? 5 : 0;
      step.heaviest_growth = stacks[heaviest].values[i] - stacks[heaviest].values[i - 1];
      FakeStacks& names = const_cast<FakeStacks&>(static_cast<const FakeStacks&>(*series.overall.view));
      step.heaviest = names.parse(stacks[heaviest].stack);
    }
    series.steps.push_back(step);
  }
  story::tell(series.overall, trend::judge_rows(series.overall));
  return series;
}

/// The last step of the sampled jemalloc twin: estimates and their errors.
inline GrowthReport sampled_diff() {
  DiffMaker maker;
  GrowthReport& report = maker.report();
  report.exact = false;
  report.has_error = true;
  report.matched[0] = 0;
  report.matched[1] = 1;
  maker.row("make_log_line < leak_log < background < main", {2516216, 2748737}, {22000, 24079}, 145849.883);
  maker.row("alloc_body < leak_sessions < handle_request < main", {2919719, 3122536}, {10000, 10792}, 154866.421);
  maker.row("leak_rec < leak_rec < background < main", {131072, 196608}, {2, 3}, 49.1597);
  maker.row("alloc_body < lru_touch < handle_request < main", {532461, 522020}, {260, 255}, 57597.7538);
  maker.row("leak_sessions < handle_request < main", {184680, 192888}, {11542, 12055}, 39287.4269);
  maker.row("push_back < lru_touch < handle_request < main", {4358, 4358}, {10, 10}, 5788.8345);
  maker.row("a < main", {81920, 81920}, {1, 1}, 5.25969);
  maker.row("b < main", {196608, 196608}, {3, 3}, 53.85174);
  maker.row("c < main", {196608, 196608}, {3, 3}, 53.85174);
  maker.row("d < main", {262144, 262144}, {1, 1}, 0);
  maker.row("e < main", {196608, 196608}, {3, 3}, 53.85174);
  double variance = 0;
  for (const GrowthRow& row : report.rows) variance += row.error * row.error;
  report.total_error = std::sqrt(variance);
  const auto sampled = [](const std::string& name) {
    SnapshotRef ref = ref_named(name);
    Snapshot copy = *ref.snapshot;
    copy.facts.sampling = Sampling::poisson;
    copy.facts.period = 4096;
    copy.facts.format = "jemalloc";
    ref.snapshot = std::make_shared<const Snapshot>(std::move(copy));
    return ref;
  };
  report.baseline = sampled("svc.0010.heap");
  report.current = sampled("svc.0011.heap");
  maker.tell();
  return report;
}

inline TopReport svc_top() {
  TopReport report;
  auto view = std::make_shared<FakeStacks>();
  report.metric = "inuse_space";
  report.unit = "bytes";
  report.has_objects = true;
  report.view = view;
  std::vector<SvcStack> stacks = svc_stacks();
  std::stable_sort(stacks.begin(), stacks.end(),
                   [](const SvcStack& a, const SvcStack& b) { return a.values[11] > b.values[11]; });
  for (const SvcStack& stack : stacks) {
    if (stack.values[11] == 0) continue;
    TopRow row;
    row.value = stack.values[11];
    row.objects = stack.objects[11];
    row.key = static_cast<std::uint32_t>(report.stacks.size());
    report.stacks.push_back(view->add(std::string(stack.stack) + std::string(kTail)));
    report.rows.push_back(row);
    report.total += row.value;
    report.total_objects += row.objects;
  }
  report.snapshot = ref_named(svc_name(11), report.total, report.total_objects);
  return report;
}

/// The same growth by function, with what each function's callees add.
inline GrowthReport svc_by_function() {
  DiffMaker maker;
  maker.by(GroupBy::function);
  maker.key_row("alloc_body", {764288, 3404288}, {764288, 3404288}, {1256, 12256});
  maker.key_row("make_log_line", {200000, 2400000}, {200000, 2400000}, {2000, 24000});
  maker.key_row("leak_rec", {65536, 786432}, {65536, 786432}, {1, 12});
  maker.key_row("std::vector<char*, std::allocator<char*> >::push_back(char* const&)", {16384, 262144}, {16384, 262144},
                {1, 1});
  maker.key_row("leak_sessions", {16000, 192000}, {256000, 3072000}, {1000, 12000});
  maker.key_row("main", {0, 0}, {1064912, 7047568}, {0, 0});
  maker.key_row("background", {0, 0}, {281920, 3448576}, {0, 0});
  maker.key_row("handle_request", {0, 0}, {782992, 3598992}, {0, 0});
  maker.key_row("std::deque<char*>::push_back", {2704, 2704}, {2704, 2704}, {6, 6});
  maker.report().total_objects = {4264, 48275};
  maker.report().by_stack = std::make_shared<const GrowthReport>(svc_diff(0, 11));
  maker.tell();
  return maker.report();
}

inline PeekReport svc_peek() {
  PeekReport report;
  report.baseline = ref_named(svc_name(0));
  report.current = ref_named(svc_name(11));
  report.metric = "inuse_space";
  report.unit = "bytes";
  report.regex = "leak_log";
  report.total = {1064912, 7047568};
  PeekFunction function;
  function.function = "leak_log";
  function.cumulative = {216384, 2662144};
  function.callers = {{"background", {216384, 2662144}, {2001, 24001}}};
  function.callees = {{"make_log_line", {200000, 2400000}, {2000, 24000}},
                      {"std::vector<char*, std::allocator<char*> >::push_back(char* const&)", {16384, 262144}, {1, 1}}};
  report.functions.push_back(function);
  return report;
}

}  // namespace snapdiff::fakes

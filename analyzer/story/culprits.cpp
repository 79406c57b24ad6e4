#include "analyzer/story/make_story.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analyzer/base/function_name.hpp"
#include "analyzer/base/library_frames.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/story/story_parts.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kMostSites = 5;
constexpr std::size_t kRowsForSites = 4096;

/// The own functions of the row's stack down to the culprit, and what it calls to allocate.
void set_path(const GrowthReport& report, std::uint32_t row, const FrameView& function,
              std::span<const std::uint32_t> own, Culprit& out) {
  std::vector<FrameView> frames;  // leaf first
  report.frames(report.rows[row], frames);
  // Nearest to the allocation: a recursive function is named where it last calls.
  auto at = std::find_if(frames.begin(), frames.end(), [&](const FrameView& f) { return is_function(f, function); });
  if (at == frames.end()) {  // V8 inlined it
    for (const std::uint32_t caller : own) {
      out.path.push_back(report.view->function(caller));
      if (is_function(out.path.back(), function)) break;
    }
    out.own = !function.library && !function.pseudo;
    return;
  }
  for (auto frame = frames.rbegin(); frame.base() != at; ++frame) {
    if (!frame->library || frame.base() - 1 == at) out.path.push_back(*frame);
  }
  if (at != frames.begin() && (at - 1)->library && !at->library && autograd_node(at->function).empty())
    out.via = called_name({frames.begin(), at});
  out.own = !at->library && !at->pseudo;
}

void set_sites(const GrowthReport& report, bool falling, Culprit& out) {
  std::vector<std::uint32_t> rows = out.rows;
  const auto by_growth = [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t x = report.rows[a].value.growth(), y = report.rows[b].value.growth();
    return x != y ? (falling ? x < y : x > y) : a < b;
  };
  const std::size_t looked_at = std::min(rows.size(), kRowsForSites);
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(looked_at), rows.end(), by_growth);
  rows.resize(looked_at);
  using Key = std::tuple<std::string_view, std::string_view, std::int32_t, std::string_view, std::uint64_t>;
  std::map<Key, Culprit::Site> sites;
  std::vector<FrameView> frames;
  for (const std::uint32_t row : rows) {
    report.frames(report.rows[row], frames);
    if (frames.empty()) continue;
    const FrameView& leaf = frames.front();
    const Key key{leaf.function, leaf.file, leaf.line, leaf.module, leaf.function.empty() ? leaf.offset : 0};
    Culprit::Site& site = sites.try_emplace(key, Culprit::Site{leaf, 0, 0}).first->second;
    // A sum that would not fit stays as it is.
    (void)checked_add(site.growth, report.rows[row].value.growth(), site.growth);
    (void)checked_add(site.objects, report.rows[row].objects.growth(), site.objects);
  }
  for (const auto& [key, site] : sites) {
    if (site.growth != 0 && (site.growth < 0) == falling) out.sites.push_back(site);
  }
  std::stable_sort(out.sites.begin(), out.sites.end(), [&](const Culprit::Site& a, const Culprit::Site& b) {
    return falling ? a.growth < b.growth : a.growth > b.growth;
  });
  if (out.sites.size() > kMostSites) out.sites.resize(kMostSites);
}

}  // namespace

bool is_function(const FrameView& frame, const FrameView& function) {
  if (frame.function.empty() || function.function.empty())
    return frame.function == function.function && frame.module == function.module && frame.offset == function.offset;
  return frame.function == function.function && frame.file == function.file;
}

void set_values(const SumJudge& judge, Culprit& culprit) {
  for (const double value : judge.values(culprit.rows)) culprit.values.push_back(whole_number(value));
  culprit.steps = culprit.values.size() - 1;
  for (std::size_t i = 1; i < culprit.values.size(); ++i)
    culprit.rises += culprit.values[i] > culprit.values[i - 1] ? 1U : 0U;
}

Culprit describe(const Evidence& evidence, const Part& part, double whole) {
  const GrowthReport& report = evidence.paths.report();
  Culprit out;
  double variance = 0;
  std::uint32_t heaviest = 0, path = 0;
  double most = -1;
  double baseline = 0, current = 0, objects_before = 0, objects_after = 0;
  bool one_grows = false;
  for (const std::uint32_t p : part.paths) {
    variance += evidence.paths[p].variance;
    one_grows = one_grows || evidence.explained.verdict_of(p).word == "GROWING";
    for (const std::uint32_t row : evidence.paths.rows(evidence.paths[p])) {
      const GrowthRow& r = report.rows[row];
      out.rows.push_back(row);
      if (evidence.paths.is_inlined(row, part.function)) out.inlined += r.value.growth();
      baseline += static_cast<double>(r.value.baseline);
      current += static_cast<double>(r.value.current);
      objects_before += static_cast<double>(r.objects.baseline);
      objects_after += static_cast<double>(r.objects.current);
      const double moved = std::abs(static_cast<double>(r.value.growth()));
      if (moved <= most) continue;
      most = moved;
      heaviest = row;
      path = p;
    }
  }
  std::sort(out.rows.begin(), out.rows.end());
  out.value = {whole_number(baseline), whole_number(current)};
  out.objects = {whole_number(objects_before), whole_number(objects_after)};
  out.error = report.has_error ? std::sqrt(variance) : 0;
  if (report.has_error && std::isnan(report.total_error)) out.error = kUnknownError;
  set_path(report, heaviest, report.view->function(part.function), evidence.paths.functions(evidence.paths[path]), out);
  set_values(evidence.judge, out);
  if (evidence.judge.has_series()) {
    out.verdict = evidence.paths.are_types() ? evidence.judge.judge_type(out.rows) : evidence.judge.judge(out.rows);
    if (!evidence.judge.is_judged()) out.verdict.word.clear();
    out.rows_differ = out.verdict.word == "GROWING" && !one_grows && out.rows.size() > 1;
    out.doubling = out.verdict.doublings > 0;
    if (out.verdict.word == "GROWING" && current <= baseline) out.rise = whole_number(out.verdict.rise);
  }
  const double grown = std::abs(static_cast<double>(out.growth()));
  // A fitted rise is no part of the growth between the ends.
  const double all = out.rise != 0 ? std::max(whole, grown) : whole;
  out.share = all > 0 ? std::min(1.0, grown / all) : 0;
  set_sites(report, out.growth() < 0, out);
  return out;
}

std::vector<Part> find_types(const GrowthPaths& paths, const Explained& explained, const Weights& weights) {
  constexpr double kOfAllObjects = 0.002;  // more objects of a type are worth a word, however small they are
  const GrowthReport& report = paths.report();
  const auto is_own = [&](const Part& part) {
    const FrameView frame = report.view->function(part.function);
    return !frame.library && !frame.pseudo;
  };
  const auto gravity_of = [&](const Part& part) { return gravity(explained.verdict_of(part.paths[0]).word); };
  std::vector<Part> parts;
  const double all_objects = std::abs(static_cast<double>(report.total_objects.current));
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    if (weights.weight[p] <= 0) continue;
    double objects = 0;
    for (const std::uint32_t row : paths.rows(paths[p]))
      objects += static_cast<double>(report.rows[row].objects.growth());
    const bool counts = report.has_objects && objects >= std::max(1.0, kOfAllObjects * all_objects);
    Part type{paths.functions(paths[p]).back(), {p}, weights.weight[p]};
    if (type.weight >= kLeastShare * weights.all || (counts && is_own(type))) parts.push_back(std::move(type));
  }
  std::stable_sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
    if (is_own(a) != is_own(b)) return is_own(a);
    return gravity_of(a) != gravity_of(b) ? gravity_of(a) > gravity_of(b) : a.weight > b.weight;
  });
  return parts;
}

}  // namespace snapdiff::story

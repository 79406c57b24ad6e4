#include "analyzer/graph/growth_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "analyzer/base/frame_text.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::graph {

RowView row_at(const GrowthReport& report, std::size_t row) {
  if (row < report.rows.size()) {
    const GrowthRow& r = report.rows[row];
    return {
        r.value, r.objects, {r.grew, r.shrank}, r.error, r.row_class == RowClass::added, r.row_class == RowClass::gone};
  }
  const std::int64_t growth = report.unattributed.growth();
  return {report.unattributed,
          report.unattributed_objects,
          {std::max<std::int64_t>(growth, 0), std::min<std::int64_t>(growth, 0)},
          0,
          false,
          false};
}

namespace {

/// Of all nodes' series: beyond, none is kept.
constexpr std::size_t kMostValues = std::size_t{1} << 24;

class CandidateSums {
 public:
  CandidateSums(const GrowthReport& report, const std::vector<std::uint32_t>& candidate_of,
                const std::vector<std::int32_t>& leaf_line, GrowthModel::Data& data)
      : report_(report), candidate_of_(candidate_of), leaf_line_(leaf_line), data_(data) {}

  /// All sums of the candidates, and the stacks as paths.
  Status sum() {
    sums_.resize(data_.nodes.size());
    std::vector<std::uint32_t> stamp(data_.nodes.size(), kNone);
    const std::size_t length = report_.series.size() == report_.rows.size() * report_.series_length &&
                                       data_.nodes.size() * report_.series_length <= kMostValues
                                   ? report_.series_length
                                   : 0;
    for (Node& node : data_.nodes) node.series.assign(length, 0);
    std::vector<Step> steps;
    for (std::size_t row = 0; row < data_.runs.size(); ++row) {
      const RowView view = row_at(report_, row);
      steps.clear();
      const bool tail_gap = reduce(data_.runs[row], steps);
      bool fits = add_cumulative(0, row, view);
      for (const Step& step : steps) {
        if (stamp[step.node] == row) {
          data_.nodes[step.node].recursive = true;
          continue;
        }
        stamp[step.node] = static_cast<std::uint32_t>(row);
        fits = add_cumulative(step.node, row, view) && fits;
      }
      if (!tail_gap) fits = add_flat(steps.empty() ? 0 : steps.back().node, row, view) && fits;
      if (!fits)
        return Error{ErrorCode::limit,
                     "cumulative value of a function is beyond 2^63-1, expected it to fit in 64 bits"};
      if (view.moved() || row < kMappedRows) add_path(static_cast<std::uint32_t>(row), steps, tail_gap, view.weight);
    }
    for (std::size_t c = 0; c < data_.nodes.size(); ++c) finish(static_cast<std::uint32_t>(c));
    return ok();
  }

 private:
  /// The candidates of a stack; returns whether frames below the last one were left out.
  bool reduce(std::span<const std::uint32_t> run, std::vector<Step>& steps) const {
    std::uint64_t gap = 0;
    for (const std::uint32_t function : run) {
      const std::uint32_t candidate = candidate_of_[function];
      if (candidate == kNone) {
        gap = (gap ^ data_.functions.hash(function)) * 0x9e3779b97f4a7c15ULL | 1U;
        continue;
      }
      if (steps.empty() || steps.back().node != candidate)
        steps.push_back({candidate, gap == 0 ? 0 : static_cast<std::uint32_t>(gap >> 32) | 1U});
      gap = 0;
    }
    return gap != 0;
  }

  /// What Node has no room for while rows are added up.
  struct Sums {
    double variance = 0;
    bool not_added = false, not_gone = false, any = false;
    bool has_site = false, many_sites = false;
    std::int32_t site_line = 0;
    std::uint32_t site_function = kNone;
    bool has_size = false, unlike_sizes = false;
    std::int64_t size = 0;
  };

  bool add_cumulative(std::uint32_t c, std::size_t row, const RowView& view) {
    Node& node = data_.nodes[c];
    Sums& sums = sums_[c];
    node.cumulative.grew += view.weight.grew;
    node.cumulative.shrank += view.weight.shrank;
    bool fits = checked_add(node.value.baseline, view.value.baseline, node.value.baseline) &&
                checked_add(node.value.current, view.value.current, node.value.current);
    sums.variance += view.error * view.error;
    if (view.value.baseline != 0 || view.value.current != 0) {
      sums.any = true;
      sums.not_added = sums.not_added || !view.added;
      sums.not_gone = sums.not_gone || !view.gone;
    }
    if (row < report_.rows.size() && !node.series.empty()) {
      report_.series.for_each(row, [&](std::size_t i, std::int64_t value) {
        fits = checked_add(node.series[i], value, node.series[i]) && fits;
      });
    }
    return fits;
  }

  bool add_flat(std::uint32_t c, std::size_t row, const RowView& view) {
    Node& node = data_.nodes[c];
    const bool fits = checked_add(node.flat_value.baseline, view.value.baseline, node.flat_value.baseline) &&
                      checked_add(node.flat_value.current, view.value.current, node.flat_value.current);
    if (!view.moved()) return fits;
    node.flat.grew += view.weight.grew;
    node.flat.shrank += view.weight.shrank;
    Sums& sums = sums_[c];
    if (!data_.runs[row].empty()) {
      const std::uint32_t leaf = data_.runs[row].back();
      if (sums.has_site && (sums.site_function != leaf || sums.site_line != leaf_line_[row])) sums.many_sites = true;
      sums.has_site = true;
      sums.site_function = leaf;
      sums.site_line = leaf_line_[row];
    }
    if (!report_.has_objects) return fits;
    const std::int64_t objects = view.objects.growth();
    const std::int64_t growth = view.value.growth();
    const bool whole = objects != 0 && objects != -1 && growth % objects == 0;
    const std::int64_t size = objects == -1 && growth != std::numeric_limits<std::int64_t>::min() ? -growth
                              : whole                                                             ? growth / objects
                                                                                                  : 0;
    if (size <= 0 || (sums.has_size && sums.size != size)) sums.unlike_sizes = true;
    sums.has_size = true;
    sums.size = size;
    return checked_add(node.flat_objects, objects, node.flat_objects) && fits;
  }

  void finish(std::uint32_t c) {
    Node& node = data_.nodes[c];
    const Sums& sums = sums_[c];
    node.error = std::sqrt(sums.variance);
    node.added = sums.any && !sums.not_added;
    node.gone = sums.any && !sums.not_gone;
    if (sums.has_size && !sums.unlike_sizes) node.object_bytes = sums.size;
    if (sums.has_site && !sums.many_sites) {
      FrameView frame = data_.functions.frame(sums.site_function);
      frame.line = sums.site_line;
      node.site = site_text(frame);
    }
  }

  void add_path(std::uint32_t row, const std::vector<Step>& steps, bool tail_gap, const Weight& weight) {
    std::uint64_t hash = tail_gap ? 2 : 1;
    for (const Step& step : steps)
      hash = mix64(hash ^ data_.functions.hash(data_.function[step.node])) * 0x9e3779b97f4a7c15ULL +
             (step.gap != 0 ? 1 : 0);
    hash = mix64(hash);
    const auto alike = [](const Step& a, const Step& b) { return a.node == b.node && (a.gap != 0) == (b.gap != 0); };
    std::uint32_t id = path_index_.find(hash, [&](std::uint32_t p) {
      const auto other = data_.steps_of(data_.paths[p]);
      return data_.paths[p].tail_gap == tail_gap &&
             std::equal(steps.begin(), steps.end(), other.begin(), other.end(), alike);
    });
    if (id == HashIndex::kAbsent) {
      id = static_cast<std::uint32_t>(data_.paths.size());
      Path path;
      path.begin = data_.steps.size();
      data_.steps.insert(data_.steps.end(), steps.begin(), steps.end());
      path.end = data_.steps.size();
      path.tail_gap = tail_gap;
      path.hash = hash;
      path.row = row;
      data_.paths.push_back(path);
      path_index_.insert(hash, id);
    }
    Path& path = data_.paths[id];
    path.weight.grew += weight.grew;
    path.weight.shrank += weight.shrank;
    if (weight.importance() > 0) {
      for (std::size_t i = 0; i < steps.size(); ++i) {
        std::uint32_t& gap = data_.steps[path.begin + i].gap;
        if (gap != steps[i].gap && path.heaviest > 0) gap = kGapVaries;
        if (path.heaviest == 0) gap = steps[i].gap;
      }
      if (weight.importance() > path.heaviest ||
          (weight.importance() == path.heaviest && less_content(row, path.row))) {
        path.heaviest = weight.importance();
        path.row = row;
      }
    }
    if (row < kMappedRows && row < report_.rows.size()) data_.row_path.push_back(id);
  }

  /// Order of stacks that does not depend on the order of rows.
  bool less_content(std::uint32_t a, std::uint32_t b) const {
    const auto x = data_.runs[a];
    const auto y = data_.runs[b];
    return std::lexicographical_compare(
        x.begin(), x.end(), y.begin(), y.end(),
        [this](std::uint32_t f, std::uint32_t g) { return data_.functions.hash(f) < data_.functions.hash(g); });
  }

  const GrowthReport& report_;
  const std::vector<std::uint32_t>& candidate_of_;
  const std::vector<std::int32_t>& leaf_line_;
  GrowthModel::Data& data_;
  std::vector<Sums> sums_;
  HashIndex path_index_;
};

}  // namespace

Status sum_candidates(const GrowthReport& report, const std::vector<std::uint32_t>& candidate_of,
                      const std::vector<std::int32_t>& leaf_line, GrowthModel::Data& data) {
  return CandidateSums(report, candidate_of, leaf_line, data).sum();
}

}  // namespace snapdiff::graph

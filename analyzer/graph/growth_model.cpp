#include "analyzer/graph/growth_model.hpp"

#include <algorithm>
#include <string>

#include "analyzer/base/frame_text.hpp"
#include "analyzer/base/library_frames.hpp"
#include "analyzer/graph/dominators.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::graph {
namespace {

/// Keeps the paths, and every later step, small; at the default fractions at most 200 functions of
/// one depth pass the threshold.
constexpr std::size_t kMaxCandidates = 4096;

using Data = GrowthModel::Data;

class Reader {
 public:
  Reader(const GrowthReport& report, const GraphOptions& options) : report_(report) {
    data_->report = &report;
    data_->options = options;
  }

  Result<std::shared_ptr<const Data>> read() {
    read_stacks();
    data_->recursion = collapse_recursion(data_->runs, static_cast<std::uint32_t>(data_->functions.size()));
    if (Status status = sum_total(); !status) return std::move(status).error();
    weigh();
    choose_candidates();
    if (Status status = sum_candidates(report_, candidate_of_, leaf_line_, *data_); !status)
      return std::move(status).error();
    rank_candidates();
    find_dominators();
    mark_culprits();
    return std::shared_ptr<const Data>(std::move(data_));
  }

 private:
  std::size_t rows() const { return data_->runs.size(); }
  std::uint32_t node_of(std::uint32_t function) const { return data_->recursion.loop[function]; }

  void read_stacks() {
    StackRuns& runs = data_->runs;
    runs.begin.reserve(report_.rows.size() + 2);
    leaf_line_.reserve(report_.rows.size() + 1);
    std::vector<FrameView> frames;
    for (const GrowthRow& row : report_.rows) {
      report_.frames(row, frames);
      fold_library_frames(frames);
      for (std::size_t i = frames.size(); i-- > 0;) runs.node.push_back(data_->functions.id(frames[i]));
      runs.begin.push_back(runs.node.size());
      leaf_line_.push_back(frames.empty() ? 0 : frames.front().line);
    }
    if (report_.unattributed == Change{} && report_.unattributed_objects == Change{}) return;
    runs.node.push_back(data_->functions.id(made_frame(kUnattributed)));
    runs.begin.push_back(runs.node.size());
    leaf_line_.push_back(0);
  }

  /// No sum over a part of the rows can leave 64 bits when these two do not.
  Status sum_total() {
    for (std::size_t row = 0; row < rows(); ++row) {
      const Weight weight = row_at(report_, row).weight;
      if (weight.grew < 0 || weight.shrank > 0)
        return Error{ErrorCode::internal, "row " + std::to_string(row) + " grew by less or shrank by more than 0"};
      if (!checked_add(data_->total.grew, weight.grew, data_->total.grew) ||
          !checked_add(data_->total.shrank, weight.shrank, data_->total.shrank))
        return Error{ErrorCode::limit, "sum of all growth is beyond 2^63-1, expected it to fit in 64 bits"};
    }
    std::int64_t net = 0;
    if (!checked_sub(report_.total.growth(), report_.filtered.growth(), net) || net != data_->total.net())
      return Error{ErrorCode::internal, "growth of the rows does not add up: rows " +
                                            std::to_string(data_->total.net()) + ", total " + std::to_string(net)};
    return ok();
  }

  /// Adds each stack once.
  struct Weighed {
    std::uint64_t importance = 0;
    std::uint32_t row = kNone;
    void add(std::uint64_t more, std::uint32_t stamp) {
      if (row == stamp) return;
      row = stamp;
      importance += more;
    }
  };

  /// Importance of each function and of each node.
  void weigh() {
    const std::size_t functions = data_->functions.size();
    const bool loops = data_->recursion.nodes != functions;
    std::vector<Weighed> by_function(functions);
    std::vector<Weighed> by_node(loops ? data_->recursion.nodes : 0);
    for (std::size_t row = 0; row < rows(); ++row) {
      const std::uint64_t importance = row_at(report_, row).weight.importance();
      if (importance == 0) continue;
      const auto stamp = static_cast<std::uint32_t>(row);
      for (const std::uint32_t function : data_->runs[row]) {
        by_function[function].add(importance, stamp);
        if (loops) by_node[node_of(function)].add(importance, stamp);
      }
    }
    function_weight_.resize(functions);
    node_weight_.resize(data_->recursion.nodes);
    for (std::uint32_t f = 0; f < functions; ++f) {
      function_weight_[f] = by_function[f].importance;
      node_weight_[node_of(f)] = loops ? by_node[node_of(f)].importance : by_function[f].importance;
    }
  }

  /// Culprits' frames and every node above the threshold.
  void choose_candidates() {
    const std::uint32_t nodes = data_->recursion.nodes;
    const auto functions = static_cast<std::uint32_t>(data_->functions.size());
    std::vector<std::uint32_t> name(nodes, kNone);  // the heaviest member
    for (std::uint32_t f = 0; f < functions; ++f) {
      std::uint32_t& best = name[node_of(f)];
      if (best == kNone || function_weight_[f] > function_weight_[best] ||
          (function_weight_[f] == function_weight_[best] && data_->functions.less(f, best)))
        best = f;
    }
    std::vector<std::uint8_t> tier(nodes, 2);  // 0 end of a culprit's path or its first site, 1 on it, 2 other
    for (const Culprit* culprit : marked_) {
      for (std::size_t i = 0; i < culprit->path.size(); ++i) {
        const std::uint32_t f = data_->functions.find(culprit->path[i]);
        if (f == FunctionIndex::kAbsent) continue;
        std::uint8_t& t = tier[node_of(f)];
        t = std::min<std::uint8_t>(t, i + 1 == culprit->path.size() ? 0 : 1);
      }
    }
    for (const Culprit* culprit : marked_) {
      if (culprit->sites.empty()) continue;
      const std::uint32_t f = data_->functions.find(culprit->sites.front().frame);
      if (f != FunctionIndex::kAbsent) tier[node_of(f)] = 0;
    }
    const double least = std::max(1.0, data_->options.node_fraction * static_cast<double>(data_->total.importance()));
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t n = 0; n < nodes; ++n) {
      if (node_weight_[n] == 0) continue;
      ++data_->moved_nodes;
      if (tier[n] < 2 || static_cast<double>(node_weight_[n]) >= least) chosen.push_back(n);
    }
    std::ranges::sort(chosen, [&](std::uint32_t a, std::uint32_t b) {
      if (tier[a] != tier[b]) return tier[a] < tier[b];
      if (node_weight_[a] != node_weight_[b]) return node_weight_[a] > node_weight_[b];
      return data_->functions.less(name[a], name[b]);
    });
    if (chosen.size() > kMaxCandidates) chosen.resize(kMaxCandidates);

    data_->candidate.assign(nodes, kNone);
    data_->nodes.resize(chosen.size() + 1);
    data_->function.resize(chosen.size() + 1, kNone);
    data_->nodes[0].name = data_->nodes[0].full_name = "all growth";
    for (std::uint32_t i = 0; i < chosen.size(); ++i) {
      const std::uint32_t c = i + 1;
      data_->candidate[chosen[i]] = c;
      data_->function[c] = name[chosen[i]];
      data_->rank.push_back(c);
      if (tier[chosen[i]] == 0) ++data_->always_kept;
      Node& node = data_->nodes[c];
      const FrameView& frame = data_->functions.frame(name[chosen[i]]);
      node.name = node_name(frame);
      node.full_name = recorded_frame_text(frame);
    }
    for (std::uint32_t f = 0; f < functions; ++f) {
      const std::uint32_t c = data_->candidate[node_of(f)];
      candidate_of_.push_back(c);
      if (c == kNone) continue;
      Node& node = data_->nodes[c];
      if (data_->recursion.direct[f] != 0) node.recursive = true;
      node.members.push_back(node_name(data_->functions.frame(f)));
    }
    for (Node& node : data_->nodes) {
      if (node.members.size() < 2) {
        node.members.clear();
      } else {
        node.recursive = true;
        std::ranges::sort(node.members);
      }
    }
  }

  /// What a node says beyond its heaviest callee and caller: its own growth and its other branches.
  /// By importance alone, frames that only pass on would fill the page before any site is drawn.
  void rank_candidates() {
    const std::vector<std::uint8_t> all(data_->nodes.size(), 1);
    std::vector<std::uint64_t> in(data_->nodes.size(), 0);
    std::vector<std::uint64_t> out(data_->nodes.size(), 0);
    for (const KeptEdge& edge : edges_between(*data_, all)) {
      in[edge.to] = std::max(in[edge.to], edge.weight.importance());
      out[edge.from] = std::max(out[edge.from], edge.weight.importance());
    }
    const auto tells = [&](std::uint32_t c) {
      const std::uint64_t whole = data_->nodes[c].cumulative.importance();
      return whole - std::min({whole, in[c], out[c]});
    };
    std::sort(data_->rank.begin() + static_cast<std::ptrdiff_t>(data_->always_kept), data_->rank.end(),
              [&](std::uint32_t a, std::uint32_t b) {
                if (tells(a) != tells(b)) return tells(a) > tells(b);
                const std::uint64_t x = data_->nodes[a].cumulative.importance();
                const std::uint64_t y = data_->nodes[b].cumulative.importance();
                return x != y ? x > y : data_->less(a, b);
              });
  }

  /// On the growing paths; nodes that only shrank get theirs among all paths.
  void find_dominators() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> growing, all;
    for (const Path& path : data_->paths) {
      if (path.weight.importance() == 0) continue;
      std::uint32_t from = 0;
      for (const Step& step : data_->steps_of(path)) {
        if (path.weight.grew > 0) growing.emplace_back(from, step.node);
        all.emplace_back(from, step.node);
        from = step.node;
      }
    }
    const auto nodes = static_cast<std::uint32_t>(data_->nodes.size());
    const auto solve = [nodes](auto& edges) {
      std::ranges::sort(edges);
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
      return immediate_dominators(nodes, edges);
    };
    const std::vector<std::uint32_t> by_growth = solve(growing);
    const std::vector<std::uint32_t> by_any = solve(all);
    for (std::uint32_t c = 0; c < nodes; ++c) {
      const std::uint32_t dominator = by_growth[c] != kUnreachable ? by_growth[c] : by_any[c];
      data_->nodes[c].dominator = dominator == kUnreachable ? 0 : dominator;
    }
  }

  void mark_culprits() {
    for (std::size_t number = 0; number < marked_.size(); ++number) {
      const Culprit& culprit = *marked_[number];
      if (culprit.path.empty()) continue;
      const std::uint32_t f = data_->functions.find(culprit.path.back());
      if (f == FunctionIndex::kAbsent) continue;
      const std::uint32_t c = data_->candidate[node_of(f)];
      if (c != kNone && data_->nodes[c].culprit < 0) data_->nodes[c].culprit = static_cast<int>(number);
    }
  }

  const GrowthReport& report_;
  std::vector<const Culprit*> marked_ = marked_of(report_);
  std::shared_ptr<Data> data_ = std::make_shared<Data>();
  std::vector<std::int32_t> leaf_line_;
  std::vector<std::uint32_t> candidate_of_;  ///< per function
  std::vector<std::uint64_t> function_weight_;
  std::vector<std::uint64_t> node_weight_;
};

}  // namespace

Result<GrowthModel> GrowthModel::read(const GrowthReport& report, const GraphOptions& options) {
  if (report.options.by != GroupBy::stack || (report.view == nullptr && !report.rows.empty()))
    return Error{ErrorCode::usage,
                 "growth graph of a diff by " + std::string(to_text(report.options.by)) + ": expected one by stack"};
  auto data = Reader(report, options).read();
  if (!data) return std::move(data).error();
  return GrowthModel(std::move(data).value());
}

}  // namespace snapdiff::graph

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

/// The public header of the graph module: the growth-weighted call graph of a diff, trimmed for drawing.
/// Boost.Graph stays inside.
namespace snapdiff::graph {

/// grew >= 0, shrank <= 0; net() = grew + shrank. Importance is grew - shrank, never the net.
struct Weight {
  std::int64_t grew = 0;
  std::int64_t shrank = 0;
  std::int64_t net() const { return grew + shrank; }
  /// Exact, where moved() may not be: both parts can reach 2^63-1.
  std::uint64_t importance() const { return static_cast<std::uint64_t>(grew) - static_cast<std::uint64_t>(shrank); }
  /// importance(), held at 2^63-1.
  std::int64_t moved() const {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return static_cast<std::int64_t>(importance() < kMost ? importance() : kMost);
  }
  friend bool operator==(const Weight&, const Weight&) = default;
};

/// A function (or a loop of mutually recursive functions, collapsed into one node).
struct Node {
  std::string name;  ///< short; of a collapsed loop its heaviest member
  std::string full_name;
  std::vector<std::string> members;  ///< of a collapsed loop, else empty
  bool recursive = false;            ///< a loop, or a function that calls itself
  std::string site;                  ///< "svc_cache.cc:26" when all flat growth is there, else ""
  Weight cumulative, flat;
  Change value;  ///< cumulative baseline and current
  Change flat_value;
  std::int64_t flat_objects = 0;     ///< growth of objects allocated right here
  std::int64_t object_bytes = 0;     ///< bytes per grown object when all are alike, else 0
  std::uint32_t dominator = 0;       ///< index of the immediate dominator in the growth graph; root: itself
  double through_dominator = 1;      ///< share of the node's growing bytes whose stacks hold the dominator
  bool spine = false;                ///< on the bold column
  int culprit = -1;                  ///< index into Story::marked() when it ends here, else -1
  bool added = false, gone = false;  ///< all its stacks are new / gone
  double error = 0;                  ///< one standard deviation of the net; 0 exact, NaN unknown
  std::vector<std::int64_t> series;  ///< cumulative value at each snapshot, empty for two
};

/// Caller to callee. `residual`: frames between them are hidden.
struct Edge {
  std::uint32_t from = 0, to = 0;
  Weight weight;
  bool residual = false;
  bool spine = false;
  std::vector<std::string> hidden_frames;  ///< names between from and to, caller side first; at most 8
  std::size_t hidden_count = 0;            ///< frames between them on the heaviest stack
  bool hidden_varies = false;              ///< other stacks have other frames between them
};

/// What is drawn. nodes[0] is the root "all growth". `hidden` accounts for what is not: the sums
/// obey drawn_flat + hidden_flat == total, exactly.
struct GrowthGraph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  Weight total;
  Weight drawn_flat, hidden_flat;
  std::size_t hidden_nodes = 0, hidden_edges = 0;
  std::string metric, unit;
  /// For the first (at most 512) rows of the report: the node where the row is drawn, the deepest
  /// of its stack. 0 when none of its frames is drawn.
  std::vector<std::uint32_t> row_node;
};

struct GraphOptions {
  std::size_t max_nodes = 40;
  double node_fraction = 0.005;  ///< of grew - shrank of the root
  double edge_fraction = 0.001;
};

/// Builds and trims the graph of a `by stack` report. What the view options filtered out is not in
/// it: total.net() == report.total.growth() - report.filtered.growth().
/// Errors: usage (report is not by stack), limit (a cumulative value leaves 64 bits), internal
/// (drawn + hidden != total).
Result<GrowthGraph> build_growth_graph(const GrowthReport& report, const GraphOptions& options);

/// A frame's name as nodes show it: short function name, or "svc_cache+0x12a4" where unsymbolized.
std::string node_name(const FrameView& frame);

/// The same in two steps, for a caller who has to try several sizes: reading the stacks is the
/// expensive part, trimming takes milliseconds.
class GrowthModel {
 public:
  /// `report` must outlive the model. Errors: as build_growth_graph.
  static Result<GrowthModel> read(const GrowthReport& report, const GraphOptions& options);
  /// At most `max_nodes` nodes beside the root, more only where that is less than the culprits' last
  /// frames and first sites. Errors: internal.
  Result<GrowthGraph> trim(std::size_t max_nodes) const;

  struct Data;

 private:
  explicit GrowthModel(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

}  // namespace snapdiff::graph

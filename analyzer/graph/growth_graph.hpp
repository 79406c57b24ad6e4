#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/result.hpp"

/// The door of the graph room: the growth-weighted call graph of a diff, trimmed for drawing.
/// Boost.Graph stays inside.
namespace snapdiff::graph {

/// grew >= 0, shrank <= 0; net() = grew + shrank. Importance is grew - shrank, never the net.
struct Weight {
  std::int64_t grew = 0;
  std::int64_t shrank = 0;
  std::int64_t net() const { return grew + shrank; }
  std::int64_t moved() const { return grew - shrank; }
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
  int suspect = -1;                  ///< index into GrowthReport::suspects when it ends here, else -1
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
};

struct GraphOptions {
  std::size_t max_nodes = 40;
  double node_fraction = 0.005;  ///< of grew - shrank of the root
  double edge_fraction = 0.001;
};

/// Builds and trims the graph of a `by stack` report.
/// Errors: usage (report is not by stack), internal (drawn + hidden != total).
Result<GrowthGraph> build_growth_graph(const GrowthReport& report, const GraphOptions& options);

}  // namespace snapdiff::graph

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/mcp/allowed_paths.hpp"
#include "analyzer/mcp/tools.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/opened.hpp"
#include "snapdiff/trend.hpp"

namespace snapdiff::mcp {

/// A comparison under a handle that later calls take instead of paths.
struct Comparison {
  std::string handle;  ///< "r1"
  std::vector<std::string> paths;
  std::string series, format;
  DiffOptions view;
  std::optional<std::int64_t> limit;
  std::shared_ptr<const Loaded> loaded;      ///< null: to be read again
  std::shared_ptr<const GrowthReport> pair;  ///< of two snapshots, once it was asked for
  std::shared_ptr<const TrendReport> trend;  ///< of three and more
  std::uint64_t last_used = 0;

  std::vector<SnapshotRef> refs() const { return loaded->refs(); }
  bool has_graph() const;
  /// First -> last. Throws usage (one snapshot), and what comparing throws.
  const GrowthReport& growth();
  /// Throws usage (fewer than three snapshots), and what judging throws.
  const TrendReport& judged();
};

class Comparisons {
 public:
  /// The comparison that the arguments name by handle or by paths, with its snapshots. It stays as it is until the next
  /// call. Throws usage, and what reading throws.
  Comparison& open(const ToolArguments& arguments, const AllowedPaths& paths);

 private:
  Comparison& find(const std::string& handle);
  Comparison& take(Comparison wanted);

  std::deque<Comparison> all_;
  std::uint64_t made_ = 0;
  std::uint64_t uses_ = 0;
};

}  // namespace snapdiff::mcp

#include "analyzer/diff/explain_match.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/frame_text.hpp"
#include "analyzer/diff/make_report.hpp"
#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/evidence.hpp"

namespace snapdiff::diff {
namespace {

using rebuild::BuildPair;

constexpr std::size_t kShownPairs = 3;

std::string name_of_site(const FrameView& frame) {
  const std::string site = site_text(frame);
  return site.empty() ? recorded_frame_text(frame) : concat(recorded_frame_text(frame), " ", site);
}

/// The rows of a comparison by place, and where their entries are.
class RowPlaces {
 public:
  RowPlaces(const Comparison& c, const GrowthReport& report) : c_(c), view_(c) {
    std::map<std::pair<std::uint8_t, std::uint32_t>, std::uint32_t> unit_of_stack;
    for (std::uint32_t u = 0; u < c.unit_count(); ++u) {
      if (c.row_of(u) == u) unit_of_stack[key(view_.refer(c.stack[u], c.side[u]))] = u;
    }
    for (std::size_t place = 0; place < report.rows.size(); ++place) {
      const auto found = unit_of_stack.find(key(report.stacks[report.rows[place].key]));
      if (found == unit_of_stack.end()) continue;
      place_of_unit_[found->second] = place;
    }
  }

  /// The entries of a side whose row is in the report, each with the place of its row.
  std::vector<BuildPair::Left> entries(std::size_t side) const {
    std::vector<BuildPair::Left> out;
    for (std::uint32_t entry = 0; entry < c_.sides[side].stack.size(); ++entry) {
      const auto place = place_of_unit_.find(c_.row_of(c_.unit_of_entry[side][entry]));
      if (place != place_of_unit_.end()) out.push_back({static_cast<std::uint32_t>(place->second), entry});
    }
    return out;
  }

 private:
  static std::pair<std::uint8_t, std::uint32_t> key(StackRef stack) { return {stack.side, index_of(stack.stack)}; }

  const Comparison& c_;
  ComparisonView view_;
  std::map<std::uint32_t, std::size_t> place_of_unit_;
};

/// The heaviest stack of the row; null where the side does not have it.
const BuildPair::Stack* heaviest(const BuildPair::Stacks& stacks, std::size_t place) {
  const BuildPair::Stack* out = nullptr;
  for (const BuildPair::Stack& stack : stacks) {
    if (stack.row == place && (out == nullptr || stack.value > out->value)) out = &stack;
  }
  return out;
}

class Explaining {
 public:
  Explaining(const Comparison& c, const GrowthReport& report)
      : c_(c),
        report_(report),
        first_(rebuild::comes_first(c.sides[0], c.sides[1]) ? 0 : 1),
        pair_(c.sides[first_], c.sides[1 - first_]),
        places_(c, report) {
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}})
      stacks_[side] = pair_.stacks_of(places_.entries(side), side != first_);
  }

  std::vector<ComparedStacks> pairs_of(std::size_t place) const {
    std::vector<ComparedStacks> out;
    const BuildPair::Stack* const before = heaviest(stacks_[0], place);
    const BuildPair::Stack* const after = heaviest(stacks_[1], place);
    if (before != nullptr && after != nullptr) {
      out.push_back(compare(*before, *after, place));
    } else if (before != nullptr) {
      for (const BuildPair::Stack& other : stacks_[1]) offer(compare(*before, other, other.row), out);
    } else if (after != nullptr) {
      for (const BuildPair::Stack& other : stacks_[0]) offer(compare(other, *after, other.row), out);
    }
    return out;
  }

 private:
  static void offer(ComparedStacks pair, std::vector<ComparedStacks>& best) {
    if (pair.score <= 0) return;
    const auto at =
        std::upper_bound(best.begin(), best.end(), pair,
                         [](const ComparedStacks& x, const ComparedStacks& y) { return x.score > y.score; });
    best.insert(at, std::move(pair));
    if (best.size() > kShownPairs) best.pop_back();
  }

  std::string site(const BuildPair::Stack& stack, std::size_t k, std::size_t side) const {
    const Dictionary& dictionary = *c_.sides[side].ref.snapshot->dictionary;
    return name_of_site(frame_view(dictionary, pair_.frame_of(stack, k, side != first_)));
  }

  ComparedStacks compare(const BuildPair::Stack& a, const BuildPair::Stack& b, std::size_t row) const {
    ComparedStacks out;
    out.row = row;
    out.tier = report_.rows[row].tier;
    out.other_leaf = a.size() > 0 && b.size() > 0 && a.function(0) != b.function(0);
    out.contradicts = BuildPair::contradict(a, b);
    const std::size_t n = std::min(a.size(), rebuild::kMostCompared);
    const std::size_t m = std::min(b.size(), rebuild::kMostCompared);
    // The best sum of weights from site i of one and site j of the other on, as BuildPair::alike() has it.
    std::vector<std::array<double, rebuild::kMostCompared + 1>> rest(n + 1);
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;)
        rest[i][j] = std::max({rest[i + 1][j], rest[i][j + 1], rest[i + 1][j + 1] + pair_.weight(a, i, b, j)});
    }
    out.score = BuildPair::likeness(rest[0][0], n, m);
    out.is_covered = BuildPair::is_covered(a, b, out.score);
    for (std::size_t i = 0, j = 0; i < n || j < m;) {
      const double weight = i < n && j < m ? pair_.weight(a, i, b, j) : 0;
      if (weight > 0 && rest[i][j] == rest[i + 1][j + 1] + weight) {
        out.sites.push_back({site(a, i++, 0), site(b, j++, 1), weight});
      } else if (j == m || (i < n && rest[i][j] == rest[i + 1][j])) {
        out.sites.push_back({site(a, i++, 0), "", 0});
      } else {
        out.sites.push_back({"", site(b, j++, 1), 0});
      }
    }
    return out;
  }

  const Comparison& c_;
  const GrowthReport& report_;
  std::size_t first_;  ///< side that comes first in the pair
  BuildPair pair_;
  RowPlaces places_;
  std::array<BuildPair::Stacks, 2> stacks_;
};

/// What was looked at to tell one build from two.
std::string observed_of(const Comparison& c) {
  std::array<std::vector<std::uint8_t>, 2> has;
  for (const std::size_t side : {0U, 1U}) {
    has[side].assign(c.unit_count(), 0);
    for (const std::uint32_t unit : c.unit_of_entry[side]) has[side][unit] = 1;
  }
  const auto left = [&](std::size_t side) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t entry = 0; entry < c.unit_of_entry[side].size(); ++entry) {
      if (has[1 - side][c.unit_of_entry[side][entry]] == 0) out.push_back(entry);
    }
    return out;
  };
  const auto facts = [&](const Side& side) {
    return build_facts(*side.ref.snapshot, UsedFrames::of(side, *side.ref.snapshot->dictionary));
  };
  const rebuild::Estimate estimate =
      rebuild::estimate(c.sides[0], c.sides[1], facts(c.sides[0]), facts(c.sides[1]), {left(0), left(1)});
  std::string out;
  for (const std::string& one : estimate.text()) out += out.empty() ? one : concat("; ", one);
  return out;
}

}  // namespace

Result<MatchExplanation> explain_match(const SnapshotRef& baseline, const SnapshotRef& current,
                                       const DiffOptions& options, std::size_t place) {
  if (options.by != GroupBy::stack) return Error{ErrorCode::usage, "only rows by stack have a match to explain"};
  const std::array<SnapshotRef, 2> both = {baseline, current};
  Result<Comparison> comparison = compare(both, options);
  if (!comparison) return std::move(comparison).error();
  Result<GrowthReport> report = make_report(*comparison, {});
  if (!report) return std::move(report).error();
  if (place >= report->rows.size())
    return Error{ErrorCode::usage, concat("row ", place + 1, " does not exist, expected 1 to ", report->rows.size())};
  MatchExplanation out;
  out.row = report->rows[place];
  std::vector<FrameView> frames;
  report->frames(out.row, frames);
  for (const FrameView& frame : frames) out.stack.push_back(name_of_site(frame));
  out.observed = observed_of(*comparison);
  if (comparison->other_build.size() < 2 || comparison->other_build[1] == 0) return out;
  out.evidence = rebuild::to_text(static_cast<rebuild::Evidence>(comparison->other_build[1]));
  out.least_score = rebuild::kAlike;
  out.least_margin = BuildPair::kMargin;
  out.pairs = Explaining(*comparison, *report).pairs_of(place);
  return out;
}

}  // namespace snapdiff::diff

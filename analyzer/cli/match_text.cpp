#include "analyzer/cli/match_text.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/cli/terminal.hpp"
#include "analyzer/document/terms.hpp"

namespace snapdiff::cli {
namespace {

using diff::ComparedStacks;
using diff::MatchExplanation;
using diff::SitePair;

constexpr std::size_t kMostText = 110;  // bytes of a line's names: two fit a wide terminal

std::string line(std::string_view head, const std::string& text) {
  return concat(head, std::string(std::max<std::size_t>(10, head.size() + 1) - head.size(), ' '), text, "\n");
}

std::string two_digits(double value) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// As many as fit.
std::string chain(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty() && out.size() + name.size() > kMostText) return out + " < …";
    out += concat(out.empty() ? "" : " < ", escape_for_terminal(name));
  }
  return out;
}

/// One side's sites, leaf first; with `alone` those that the other side lacks.
std::string names(const std::vector<SitePair>& sites, std::string SitePair::*side, bool alone) {
  std::vector<std::string> out;
  for (const SitePair& site : sites) {
    if (!(site.*side).empty() && (!alone || site.weight == 0)) out.push_back(site.*side);
  }
  return chain(out);
}

std::string sum_text(const ComparedStacks& pair) {
  const auto count = [&](double weight) {
    return std::count_if(pair.sites.begin(), pair.sites.end(), [&](const SitePair& s) { return s.weight == weight; });
  };
  return concat(two_digits(pair.score), " = mean of the shares of both stacks and of the shorter one: ", count(1),
                " equal sites + 0.5 × ", count(0.5), " of one function; ", count(0), " on one side only");
}

/// Why the best of `pairs` is not the row's other side.
std::string objection(const MatchExplanation& why, const ComparedStacks& pair) {
  if (pair.other_leaf) return "another function allocates";
  if (pair.contradicts) return "objects have another size and number";
  if (pair.score < why.least_score) return concat("below ", two_digits(why.least_score));
  if (!pair.is_covered) return "too much of both stacks is on one side only";
  if (pair.tier != MatchTier::none) return "that row has both sides";
  const bool close = why.pairs.size() > 1 && why.pairs[0].score - why.pairs[1].score < why.least_margin;
  return close ? concat("not ", two_digits(why.least_margin), " above the next")
               : "that stack is more like another one";
}

}  // namespace

std::string match_text(const MatchExplanation& why, std::size_t place) {
  const Change& value = why.row.value;
  std::string out = line(concat("row ", place + 1), chain(why.stack));
  out += line("values", concat(bytes_text(value.baseline), " → ", bytes_text(value.current)));
  const std::string builds = why.evidence.empty()
                                 ? line("builds", "one, or nothing shows another: only equal stacks are one row")
                                 : line("builds", concat("two: ", why.evidence));
  out += builds + (why.observed.empty() ? std::string() : line("because", why.observed));
  if (why.evidence.empty()) return out;
  const bool joined = why.row.tier != MatchTier::none;
  const std::string tier(document::tier_words(why.row.tier));
  out += line("matched", joined ? concat(tier, " (", to_text(why.row.tier), ")") : tier);
  if (why.pairs.empty()) return out + line("nearest", "none: no stack of the other build has a site in common");
  const ComparedStacks& best = why.pairs.front();
  if (joined) {
    out += line("before", names(best.sites, &SitePair::before, false));
    out += line("score", sum_text(best));
  } else {
    for (const ComparedStacks& pair : why.pairs) {
      const auto side = value.baseline != 0 ? &SitePair::after : &SitePair::before;
      out += line(concat("  row ", pair.row + 1),
                  concat(two_digits(pair.score), " ", objection(why, pair), ": ", names(pair.sites, side, false)));
    }
    out += line("nearest", sum_text(best));
  }
  for (const auto& [head, side] : {std::pair{"- only", &SitePair::before}, std::pair{"+ only", &SitePair::after}}) {
    const std::string alone = names(best.sites, side, true);
    if (!alone.empty()) out += line(head, alone);
  }
  return out;
}

}  // namespace snapdiff::cli

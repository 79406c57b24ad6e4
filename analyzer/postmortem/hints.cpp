#include "analyzer/postmortem/hints.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/document/prose.hpp"
#include "analyzer/postmortem/findings.hpp"
#include "analyzer/postmortem/series_facts.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::postmortem {

using namespace document;  // its words
namespace {

Hint hint_of(const Rule& rule, Prose evidence) {
  Hint hint;
  hint.rule = rule.id;
  hint.title = rule.title;
  hint.harmless = rule.harmless;
  hint.suggestion = rule.suggestion;
  hint.evidence = std::move(evidence);
  return hint;
}

/// Two growths are "the same" within this share: counters of one moment are not read at one instant.
constexpr double kSame = 0.1;
/// Objects per step scatter by no more than this share of their mean.
constexpr double kSteady = 0.2;
constexpr std::size_t kCallersTold = 2;

/// Answers "is this pattern found in that frame" once per frame and pattern.
class FrameMatcher {
 public:
  bool matches(const RE2& pattern, const FrameView& frame) {
    const Key key{&pattern, frame.function.data(), frame.file.data(), frame.module.data(),
                  frame.function.size() + (frame.file.size() << 21U) + (frame.module.size() << 42U)};
    const auto [at, is_new] = known_.try_emplace(key, false);
    if (is_new) {
      for (const std::string_view text : {frame.function, frame.file, frame.module})
        at->second =
            at->second || (!text.empty() && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern));
    }
    return at->second;
  }
  /// The first frame that fits, or null.
  const FrameView* find(const RE2& pattern, const std::vector<FrameView>& frames) {
    for (const FrameView& frame : frames) {
      if (matches(pattern, frame)) return &frame;
    }
    return nullptr;
  }

 private:
  struct Key {
    const void *pattern, *function, *file, *module;
    std::size_t sizes;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t sum = key.sizes;
      for (const void* part : {key.pattern, key.function, key.file, key.module})
        sum = mix64(sum + 0x9e3779b97f4a7c15ULL) ^ reinterpret_cast<std::uintptr_t>(part);
      return static_cast<std::size_t>(mix64(sum));
    }
  };
  std::unordered_map<Key, bool, Hash> known_;
};

bool is_steady(const std::vector<std::int64_t>& objects) {
  if (objects.size() < 3) return false;
  std::int64_t least = INT64_MAX;
  std::int64_t most = INT64_MIN;
  for (std::size_t i = 1; i < objects.size(); ++i) {
    const std::int64_t step = objects[i] - objects[i - 1];
    least = std::min(least, step);
    most = std::max(most, step);
  }
  const double mean = static_cast<double>(objects.back() - objects.front()) / static_cast<double>(objects.size() - 1);
  // One object more or less is no scatter.
  return least >= 1 && static_cast<double>(most - least) <= std::max(1.0, kSteady * mean);
}

bool rises_once(const std::vector<std::int64_t>& values) {
  if (values.size() < 3 || values.back() <= values.front()) return false;
  std::size_t changes = 0;
  const std::int64_t whole = values.back() - values.front();
  for (std::size_t i = 1; i < values.size(); ++i) {
    const std::int64_t step = values[i] - values[i - 1];
    changes += step > whole / 100 || step < -(whole / 100) ? 1U : 0U;
  }
  return changes == 1;
}

class RowRules {
 public:
  RowRules(const Postmortem& report, std::vector<Hint>& hints)
      : report_(report), growth_(report.growth()), hints_(hints), explained_(growth_.rows.size(), 0) {
    for (std::uint32_t row = 0; row < growth_.rows.size(); ++row) {
      if (growth_.rows[row].value.growth() > 0) candidates_.push_back(row);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return growth_.rows[a].value.growth() > growth_.rows[b].value.growth();
    });
    if (candidates_.size() > kRowsOfRules) candidates_.resize(kRowsOfRules);
  }

  void apply(const Rule& rule) {
    std::vector<std::uint32_t> rows;
    std::int64_t sum = 0;
    for (const std::uint32_t row : candidates_) {
      if ((rule.last && explained_[row] != 0) || !fits(rule, row)) continue;
      rows.push_back(row);
      sum += growth_.rows[row].value.growth();
    }
    if (rows.empty() || growth_.grew <= 0) return;
    if (static_cast<double>(sum) < rule.share * static_cast<double>(growth_.grew)) return;
    for (const std::uint32_t row : rows) explained_[row] = 1;
    Hint hint = hint_of(rule, evidence(rule, rows, sum));
    hint.growth = sum;
    hint.rows = std::move(rows);
    hints_.push_back(std::move(hint));
  }

 private:
  bool fits(const Rule& rule, std::uint32_t row) {
    const Verdict* verdict = verdict_of(report_, row);
    if (rule.verdicts.empty()) {
      if (verdict != nullptr && verdict->word != "GROWING" && verdict->word != "RISING" && verdict->word != "NEW" &&
          !rule.once && rule.block == 0)
        return false;
    } else if (!has_word(rule, verdict)) {
      return false;
    }
    if (rule.reason && (verdict == nullptr || !RE2::PartialMatch(verdict->reason, *rule.reason))) return false;
    const GrowthRow& values = growth_.rows[row];
    if (rule.block != 0 && (!growth_.has_objects || values.objects.growth() <= 0 ||
                            values.value.growth() != values.objects.growth() * rule.block))
      return false;
    if (rule.once && !rises_once(values_of(growth_, row))) return false;
    if (rule.steady && !is_steady(counts_of(row))) return false;
    if (rule.frames.empty() && rule.not_frames.empty() && !rule.leaf && !rule.not_leaf) return true;
    growth_.frames(values, frames_);
    const bool has_leaf = !frames_.empty();
    if (rule.leaf && !(has_leaf && matcher_.matches(*rule.leaf, frames_.front()))) return false;
    if (rule.not_leaf && has_leaf && matcher_.matches(*rule.not_leaf, frames_.front())) return false;
    for (const auto& pattern : rule.frames) {
      if (matcher_.find(*pattern, frames_) == nullptr) return false;
    }
    return std::none_of(rule.not_frames.begin(), rule.not_frames.end(),
                        [&](const auto& pattern) { return matcher_.find(*pattern, frames_) != nullptr; });
  }

  /// With too few snapshots for a verdict, what rises and what is new may be it; other shapes must have been seen.
  static bool has_word(const Rule& rule, const Verdict* verdict) {
    return std::any_of(rule.verdicts.begin(), rule.verdicts.end(), [&](const std::string& word) {
      return verdict != nullptr ? word == verdict->word : word == "GROWING" || word == "RISING" || word == "NEW";
    });
  }

  /// Objects, or bytes where the row is too small for its objects to have been kept.
  std::vector<std::int64_t> counts_of(std::uint32_t row) const {
    std::vector<std::int64_t> counts = objects_of(growth_, {row});
    return counts.empty() ? values_of(growth_, row) : counts;
  }

  Prose evidence(const Rule& rule, const std::vector<std::uint32_t>& rows, std::int64_t sum) {
    Writer out;
    out << growth(growth_, sum) << " (" << percent(sum, growth_.grew) << " of the growth";
    std::int64_t objects = 0;
    for (const std::uint32_t row : rows) objects += growth_.rows[row].objects.growth();
    if (growth_.has_objects && growth_.objects_metric != growth_.metric && objects != 0)
      out << ", " << amount_of(objects, "object", true);
    out << ") in " << amount_of(rows.size(), has_bare_rows(growth_) ? "row" : "stack");
    const std::uint32_t heaviest = rows.front();
    growth_.frames(growth_.rows[heaviest], frames_);
    if (!rule.frames.empty()) {
      if (const FrameView* frame = matcher_.find(*rule.frames.front(), frames_)) (out << " through ").frame(*frame);
    } else if (rule.leaf && !frames_.empty()) {
      (out << " from ").frame(frames_.front());
    }
    out << (rows.size() == 1 ? ": " : ", the heaviest: ");
    if (frames_.empty()) out << "a stack whose frames are hidden";
    const std::size_t first = telling_begin(frames_);
    for (std::size_t i = first; i < frames_.size() && i <= first + kCallersTold; ++i) {
      if (i > first) out << " \u2039 ";
      out.frame(frames_[i]);
    }
    if (frames_.size() > first + kCallersTold + 1) out << " \u2039 \u2026";
    if (rows.size() > 1) out << " " << growth(growth_, growth_.rows[heaviest].value.growth());
    out << ". ";
    if (const Verdict* verdict = verdict_of(report_, heaviest)) {
      out << verdict->word << ": " << verdict->reason << ". ";
    } else {
      out << "Too few snapshots for a verdict. ";
    }
    if (rule.steady) {
      const std::vector<std::int64_t> counts = objects_of(growth_, {heaviest});
      if (counts.size() > 2 && counts.back() > counts.front()) {
        const std::int64_t a_step = (counts.back() - counts.front()) / static_cast<std::int64_t>(counts.size() - 1);
        out << "Every step leaves about " << amount_of(a_step, "object") << ". ";
      }
    }
    out << rule.usually << ".";
    return out.take();
  }

  const Postmortem& report_;
  const GrowthReport& growth_;
  std::vector<Hint>& hints_;
  std::vector<std::uint32_t> candidates_;
  std::vector<std::uint8_t> explained_;
  std::vector<FrameView> frames_;
  FrameMatcher matcher_;
};

struct CounterName {
  std::string_view name, tags;
};
CounterName parts_of(std::string_view whole) {
  const std::size_t tags = whole.find('{');
  return {whole.substr(0, tags), tags == std::string_view::npos ? std::string_view() : whole.substr(tags)};
}

const CounterRow* find_counter(const CounterReport& counters, std::string_view name, std::string_view tags) {
  for (const CounterRow& row : counters.rows) {
    const CounterName parts = parts_of(row.name);
    if (parts.name == name && parts.tags == tags && row.known() > 1) return &row;
  }
  return nullptr;
}

std::optional<Prose> equal_evidence(const CounterReport& counters, const Rule& rule, const CounterRow& row) {
  Writer out;
  out.name(row.name) << " " << value_text(row.growth, row.unit, true, kPageNumbers) << ", as much as ";
  std::int64_t sum = 0;
  std::string_view between;
  for (const std::string& term : rule.equals) {
    const bool off = term.starts_with('-');
    const CounterRow* other =
        find_counter(counters, std::string_view(term).substr(off ? 1 : 0), parts_of(row.name).tags);
    if (other == nullptr || other->unit != row.unit) return std::nullopt;
    sum += off ? -other->growth : other->growth;
    (out << (off ? " less " : between)).name(other->name)
        << " " << value_text(other->growth, other->unit, true, kPageNumbers);
    between = " and ";
  }
  if (std::fabs(static_cast<double>(sum - row.growth)) > kSame * static_cast<double>(row.growth)) return std::nullopt;
  out << ".";
  return out.take();
}

std::optional<Prose> beyond_evidence(const Postmortem& report, const Rule& rule, const CounterRow& row) {
  Writer out;
  out.name(row.name) << " " << value_text(row.growth, row.unit, true, kPageNumbers) << ", but ";
  std::int64_t other_growth = 0;
  std::int64_t other_before = 0;
  if (rule.beyond == "in-use") {
    if (!has_stacks(report) || report.growth().unit != row.unit) return std::nullopt;
    other_growth = report.growth().total.growth();
    other_before = report.growth().total.baseline;
    out << "the heap's in-use bytes";
  } else {
    const CounterRow* other = find_counter(*report.counters, rule.beyond, parts_of(row.name).tags);
    if (other == nullptr || other->unit != row.unit) return std::nullopt;
    other_growth = other->growth;
    other_before = other->before();
    out.name(other->name);
  }
  const double own = static_cast<double>(row.growth);
  // Twice as much as the other, and worth a word: a twentieth of what there was.
  if (own < 2 * static_cast<double>(other_growth) || own < 0.05 * static_cast<double>(row.before()))
    return std::nullopt;
  // A heap that has doubled needs an explanation of its own.
  if (other_growth > other_before) return std::nullopt;
  out << " " << value_text(other_growth, row.unit, true, kPageNumbers) << ".";
  return out.take();
}

void apply_to_counters(const Postmortem& report, const Rule& rule, std::vector<Hint>& hints) {
  if (!report.counters) return;
  for (const CounterRow& row : report.counters->rows) {
    const CounterName parts = parts_of(row.name);
    if (row.growth <= 0 || row.known() < 2 ||
        !RE2::PartialMatch(re2::StringPiece(parts.name.data(), parts.name.size()), *rule.counter))
      continue;
    std::optional<Prose> seen;
    if (!rule.equals.empty()) {
      seen = equal_evidence(*report.counters, rule, row);
    } else if (!rule.beyond.empty()) {
      seen = beyond_evidence(report, rule, row);
    } else if (!row.cumulative) {
      Writer out;
      out.name(row.name) << " " << change_text(row.before(), row.after(), row.unit, kPageNumbers) << ".";
      seen = out.take();
    }
    if (!seen) continue;
    const bool judged = row.known() >= kJudgedFrom && !row.verdict.word.empty();
    if (judged && !rule.verdicts.empty() &&
        std::find(rule.verdicts.begin(), rule.verdicts.end(), row.verdict.word) == rule.verdicts.end())
      continue;
    if (judged && rule.equals.empty() && rule.beyond.empty() && row.verdict.word != "GROWING" &&
        row.verdict.word != "RISING")
      continue;
    Writer out;
    out << *seen << " ";
    if (judged) {
      out << row.verdict.word << ": " << row.verdict.reason << ". ";
    } else if (row.known() < kJudgedFrom) {
      out << "Too few snapshots for a verdict. ";
    }
    out << rule.usually << ".";
    hints.push_back(hint_of(rule, out.take()));
    return;  // counters of the same name in other tags say the same
  }
}

void apply_to_device(const Postmortem& report, const Rule& rule, std::vector<Hint>& hints) {
  Writer out;
  if (rule.device == "pinned") {
    // A fifth of what the allocator holds: below that, free blocks between used ones are ordinary.
    if (!report.pins || report.pins->reserved <= 0 ||
        static_cast<double>(report.pins->pinned.current) < 0.2 * static_cast<double>(report.pins->reserved))
      return;
    out << sized(report.pins->pinned.current) << " of " << sized(report.pins->reserved) << " that the allocator holds ("
        << percent(report.pins->pinned.current, report.pins->reserved)
        << ") are free, in segments that blocks in use keep.";
  } else {
    const OutOfMemoryReason reason =
        rule.device == "fragmentation" ? OutOfMemoryReason::fragmentation : OutOfMemoryReason::private_pools;
    if (!report.failure || report.failure->reason != reason) return;
    out << failure_of(report);
  }
  out << " " << rule.usually << ".";
  hints.push_back(hint_of(rule, out.take()));
}

}  // namespace

std::vector<Hint> find_hints(const Postmortem& report, const std::vector<Rule>& rules) {
  std::vector<Hint> hints;
  RowRules rows(report, hints);
  for (const bool last : {false, true}) {
    for (const Rule& rule : rules) {
      if (rule.of_rows && rule.last == last && has_stacks(report)) rows.apply(rule);
    }
  }
  for (const Rule& rule : rules) {
    if (rule.counter) apply_to_counters(report, rule, hints);
    if (!rule.device.empty()) apply_to_device(report, rule, hints);
  }
  std::stable_sort(hints.begin(), hints.end(), [](const Hint& a, const Hint& b) {
    return std::tuple(a.harmless, -a.growth) < std::tuple(b.harmless, -b.growth);
  });
  return hints;
}

}  // namespace snapdiff::postmortem

#include "analyzer/base/concat.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using text::Cursor;

constexpr std::string_view kGrandTotal = "Grand total: ";
constexpr std::int64_t kMostLevels = 256;
constexpr std::string_view kMoreChildren = " more child contexts containing ";

struct Sizes {
  std::int64_t total = 0, free = 0, used = 0;
};

/// "97680 total in 5 blocks; 13680 free (8 chunks); 84000 used"; in the last line of a dump "bytes in" for "total in".
std::optional<Sizes> sizes_of(std::string_view text, std::string_view total_words) {
  Cursor at(text);
  Sizes out;
  std::int64_t count = 0;
  const bool whole = at.count(out.total) && at.take(total_words) &&
                     at.takes("% blocks; % free (% chunks); % used", count, out.free, count, out.used);
  return text::given(whole && (at.at_end() || at.peek() == ':'), out);
}

/// "    level: 1; NAME: SIZES" behind what the log puts in front, or "  NAME: SIZES" with two blanks for each level.
struct ContextLine {
  std::int64_t level = 0;
  std::string_view name;
  std::int64_t contexts = 1;
  bool is_rest = false;  ///< children beyond those that are listed
  Sizes sizes;

  static std::optional<ContextLine> of(std::string_view line) {
    const std::size_t total = line.find(" total in ");
    if (total == std::string_view::npos) return std::nullopt;
    std::size_t begin = total;
    while (begin > 0 && text::is_digit(line[begin - 1])) --begin;
    const auto sizes = sizes_of(line.substr(begin), " total in ");
    if (!sizes) return std::nullopt;
    ContextLine out;
    out.sizes = *sizes;
    std::string_view front = line.substr(0, begin);
    if (const auto level = text::behind(front, "level: ")) {
      Cursor at(*level);
      if (!at.takes("%; ", out.level)) return std::nullopt;
      front = at.rest();
    } else {
      const std::size_t blanks = std::min(front.find_first_not_of(' '), front.size());
      out.level = static_cast<std::int64_t>(blanks / 2);
      front.remove_prefix(blanks);
    }
    if (front.ends_with(kMoreChildren)) {
      Cursor at(front);
      out.is_rest = at.count(out.contexts) && at.rest() == kMoreChildren;
      return out.is_rest ? std::optional(out) : std::nullopt;
    }
    if (!front.ends_with(": ") || front.size() < 3) return std::nullopt;
    out.name = front.substr(0, front.size() - 2);
    return out;
  }

  /// The context that holds all others.
  bool is_root() const { return name == "TopMemoryContext"; }
};

class ContextLog final : public text::ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (const auto context = ContextLine::of(line)) {
      if (!lines_.terminated()) return lose("the last line has no end and was left out");
      if (context->is_root()) {
        close();
        root_level_ = context->level;
        report_.emplace().add_heap_columns();
        report_->add_column({"reserved_space", "bytes"});
      }
      note_time(line);
      if (report_) add(*context);
      return;
    }
    if (const auto rest = text::behind(line, kGrandTotal); rest && report_) {
      const auto total = sizes_of(*rest, " bytes in ");
      if (!total || !lines_.terminated()) return;
      if (total->total != sum_.total || total->used != sum_.used)
        warn(concat("the contexts add up to ", sum_.total, " bytes, the dump says ", total->total));
      close();
    }
  }

  void add(const ContextLine& line) {
    const std::int64_t depth = line.level - root_level_;
    if (depth < 0 || depth > static_cast<std::int64_t>(path_.size()) || depth > kMostLevels)
      return lose("contexts below one that is missing, or below 256 levels, left out");
    path_.resize(static_cast<std::size_t>(depth));
    if (line.is_rest) report_->facts().complete = false;
    path_.push_back(line.is_rest ? report_->pseudo_frame(kBelowThreshold)
                                 : report_->frame({.function = report_->function(line.name)}));
    add_to(sum_.total, line.sizes.total, "sum over the contexts is", lines_.line_offset());
    add_to(sum_.used, line.sizes.used, "sum over the contexts is", lines_.line_offset());
    leaf_first_.assign(path_.rbegin(), path_.rend());
    report_->add_row(report_->stack(leaf_first_), LabelSetId{},
                     std::array{line.contexts, line.sizes.used, line.sizes.total});
  }

  void close() {
    if (!report_) return;
    SnapshotFacts& facts = exact_facts(*report_, "postgres");
    facts.default_metric = "inuse_space";
    facts.taken_at_ns = take_time();
    facts.counters = {{"reserved", sum_.total, "bytes", false}};
    give_report();
    path_.clear();
    sum_ = {};
  }

  void finish() override {
    // Before version 9.5 a dump has no last line that would say that it is whole.
    if (!lines_.terminated()) lose("the last line has no end and was left out");
    close();
  }

  std::vector<FrameId> path_, leaf_first_;
  std::int64_t root_level_ = 0;
  Sizes sum_;
};

bool begins_dump(std::string_view line) {
  const auto context = ContextLine::of(line);
  return context && context->is_root();
}

}  // namespace

constexpr Format kPostgresContexts =
    text::log_format<ContextLog, begins_dump,
                     "no dump: the input ends, expected \"TopMemoryContext: N total in N blocks; ...\"">(
        {"postgres-contexts", "memory contexts of a PostgreSQL backend, as its log has them", "*.log, *.txt",
         "identifiers of contexts (texts of queries, names of indexes), numbers of blocks and chunks"});

}  // namespace snapdiff::formats

#include "analyzer/base/contains.hpp"
#include "formats/mimalloc_stats/mimalloc_dump.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace mimalloc_stats;

using text::Cursor;
using text::has_prefix;
using text::is_digit;
using text::Number;
using text::trim;

/// Rows by their words, and the field of mi_stats_t that they show; "-abandoned" is of the row above it.
constexpr std::pair<std::string_view, std::string_view> kFields[] = {{"-cached", "segments_cache"},
                                                                     {"-crossover", "arena_crossover_count"},
                                                                     {"-extended", "pages_extended"},
                                                                     {"-noretire", "page_no_retire"},
                                                                     {"-retire", "pages_retire"},
                                                                     {"-rollback", "arena_rollback_count"},
                                                                     {"abandoned", "pages_abandoned"},
                                                                     {"arenas", "arena_count"},
                                                                     {"binned", "malloc_normal"},
                                                                     {"commits", "commit_calls"},
                                                                     {"extended", "pages_extended"},
                                                                     {"guarded", "malloc_guarded_count"},
                                                                     {"heap waits", "heaps_delete_wait"},
                                                                     {"huge", "malloc_huge"},
                                                                     {"large", "malloc_large"},
                                                                     {"malloc req", "malloc_requested"},
                                                                     {"mmaps", "mmap_calls"},
                                                                     {"normal", "malloc_normal"},
                                                                     {"os abandoned", "pages_os_abandoned"},
                                                                     {"os allocated", "pages_os_allocated"},
                                                                     {"prof samples", "profile_samples"},
                                                                     {"purges", "purge_calls"},
                                                                     {"reabandon", "pages_reabandon_full"},
                                                                     {"reclaima", "pages_reclaim_on_alloc"},
                                                                     {"reclaimf", "pages_reclaim_on_free"},
                                                                     {"requested~", "malloc_requested"},
                                                                     {"resets", "reset_calls"},
                                                                     {"retire", "pages_retire"},
                                                                     {"rollback", "arena_rollback_count"},
                                                                     {"stat updates", "pages_stat_updates"},
                                                                     {"total", "allocated"},
                                                                     {"touched", "page_committed"},
                                                                     {"unabdn retry", "pages_unabandon_busy_wait"},
                                                                     {"unown retry", "pages_unown_cas_retry"}};

std::string_view field_of(std::string_view row) {
  for (const auto& [words, field] : kFields) {
    if (words == row) return field;
  }
  return row;
}

/// "1.0 GiB", "64.2 KiB", "2.9 K", "-2", "160". mimalloc prints n / (unit / 10), in whole numbers, as tenths: the
/// inverse is exact to one such step, and 63.2 KiB is what it says of 63 * 1024.
bool take_amount(Cursor& at, Amount& out) {
  const bool negative = at.peek() == '-';
  std::int64_t whole = 0;
  if (at.decimal(whole) != Number::ok) return false;
  std::int64_t tenth = 0;
  const bool parts = at.take('.');
  if (parts) {
    if (!is_digit(at.peek())) return false;
    tenth = at.peek() - '0';
    at.take(at.peek());
    if (is_digit(at.peek())) return false;
  }
  Cursor next = at;
  next.skip_blanks();
  const std::string_view unit = next.peek() >= 'A' && next.peek() <= 'Z' ? next.token() : std::string_view{};
  const std::string_view word = unit.substr(0, unit.find(','));
  const std::int64_t step = word.empty() ? 1 : static_cast<std::int64_t>(text::size_unit(word, true));
  if (step == 0 || parts != (step > 1)) return false;
  if (!unit.empty()) at = next;
  out = {whole, 0};
  if (!parts) return true;
  out.step = step / 10;
  std::int64_t tenths = 0;
  return !__builtin_mul_overflow(whole, 10, &tenths) &&
         !__builtin_add_overflow(tenths, negative ? -tenth : tenth, &tenths) &&
         !__builtin_mul_overflow(tenths, out.step, &out.value);
}

/// The amounts of a row, up to the words after them. Empty where they cannot be read.
std::vector<Amount> amounts_of(std::string_view cells) {
  std::vector<Amount> out;
  Cursor at(cells);
  while (at.skip_blanks(), !at.at_end() && (is_digit(at.peek()) || at.peek() == '-') && out.size() < 8) {
    Amount amount;
    if (!take_amount(at, amount)) return {};
    out.push_back(amount);
  }
  const std::string_view words = trim(at.rest());
  const bool known = words.empty() || has_prefix(words, "ok") || has_prefix(words, "not all freed");
  return known ? out : std::vector<Amount>{};
}

/// The words of a table's heading; empty for another line.
std::vector<std::string_view> heading_of(std::string_view line) {
  constexpr std::string_view kNames[] = {"heap stats:", "blocks", "pages", "arenas", "process"};
  line = trim(line);
  for (const std::string_view name : kNames) {
    if (!has_prefix(line, name)) continue;
    std::vector<std::string_view> words;
    Cursor at(line.substr(name.size()));
    while (at.skip_blanks(), !at.at_end() && words.size() < 8) words.push_back(at.token());
    if (words.size() >= 3 && words[0] == "peak" && words[1] == "total") return words;
  }
  return {};
}

class TextDumps final : public text::ReportLog {
  using ReportLog::ReportLog;

  void finish() override {
    if (dump_) cut();
  }
  void remark(Notes& notes) override {
    if (single_heaps_ > 0)
      notes.add(Severity::info, "statistics of single heaps, left out", std::nullopt, single_heaps_);
  }
  void handle(std::string_view line) override {
    const std::string_view text = trim(line);
    if (is_numbered(text, "heap ")) return skip_heap();
    if (is_numbered(text, "subproc ")) return begin();
    if (const std::vector<std::string_view> columns = heading_of(line); !columns.empty()) {
      // Versions 1 and 2 print the heading again below the bins.
      if (!dump_ && !in_single_heap_) begin();
      current_ = 2;
      while (current_ < columns.size() && columns[current_] != "current") ++current_;
      return;
    }
    const std::size_t colon = text.find(':');
    if (!dump_ || colon == std::string_view::npos) return;
    const std::string_view name = trim(text.substr(0, colon));
    if (!lines_.terminated()) return;  // the numbers may be cut
    if (name == "process") return end(text.substr(colon + 1));
    if (name != "elapsed" && name != "searches" && name != "numa nodes" && name != "stat avg")
      row(name, text.substr(colon + 1));
  }

  /// "subproc 0", and nothing else.
  static bool is_numbered(std::string_view text, std::string_view word) {
    return has_prefix(text, word) && text.size() > word.size() &&
           text.find_first_not_of("0123456789", word.size()) == std::string_view::npos;
  }

  void begin() {
    if (dump_) cut();
    dump_ = std::make_unique<Statistics>("text");
    in_single_heap_ = false;
    current_ = 2;
    below_pages_ = false;
  }

  void skip_heap() {
    if (dump_) cut();
    in_single_heap_ = true;
    ++single_heaps_;
  }

  /// "reserved:   32.0 MiB   32.0 MiB      0       32.0 MiB": peak, total, freed (versions 1 and 2.0), current, then
  /// the size of a block and their number, where these are not blank. One number alone is a total.
  void row(std::string_view name, std::string_view cells) {
    if (name == "segments" || name == "pages") below_pages_ = name == "pages";
    const bool is_bin = is_numbered_bin(name);
    std::string_view field = field_of(name);
    if (name == "-abandoned") field = below_pages_ ? "pages_abandoned" : "segments_abandoned";
    if (!is_bin && !is_field(field)) return;
    const std::vector<Amount> amounts = amounts_of(cells);
    if (amounts.size() == 1 && !is_bin) {
      dump_->add_total(field, amounts[0]);
    } else if (amounts.size() > current_) {
      if (is_bin) return bin(cells, amounts);
      dump_->add_level(field, amounts[current_]);
      dump_->add_level_total(field, amounts[1]);
    } else {
      dump_->lose("rows that could not be read, left out", lines_.line_offset());
    }
  }

  /// "normal  27", "bin  27", "bin S   27".
  static bool is_numbered_bin(std::string_view name) {
    if (!has_prefix(name, "bin ") && !has_prefix(name, "normal ")) return false;
    return is_digit(name.back());
  }

  void bin(std::string_view cells, const std::vector<Amount>& amounts) {
    const Amount bytes = amounts[current_];
    if (bytes.value <= 0) return;
    dump_->add_bin(amounts.size() == current_ + 3 ? block_size(cells) : "huge", bytes);
  }

  /// The cell after the current bytes, as printed: "160", "1.7 KiB". The bin of the largest blocks has none.
  std::string_view block_size(std::string_view cells) const {
    Cursor at(cells);
    Amount amount;
    for (std::size_t i = 0; i <= current_; ++i) {
      at.skip_blanks();
      take_amount(at, amount);
    }
    at.skip_blanks();
    const char* const begin = at.position();
    take_amount(at, amount);
    return {begin, static_cast<std::size_t>(at.position() - begin)};
  }

  /// "process: user: 0.004 s, system: 0.004 s, faults: 0, rss: 2.8 MiB, commit: 32.0 MiB", the last line of a dump;
  /// rss and commit are peaks, which later versions say.
  void end(std::string_view text) {
    constexpr std::pair<std::string_view, std::string_view> kParts[] = {{"rss: ", "rss_peak"},
                                                                        {"commit: ", "commit_peak"}};
    for (const auto& [word, field] : kParts) {
      const std::size_t found = text.find(word);
      if (found == std::string_view::npos) continue;
      Cursor at(text.substr(found + word.size()));
      if (Amount amount; take_amount(at, amount)) dump_->add_level(field, amount);
    }
    if (const std::size_t found = text.find("faults: "); found != std::string_view::npos) {
      Cursor at(text.substr(found + 8));
      if (std::int64_t faults = 0; at.decimal(faults) == Number::ok) dump_->add_total("page_faults", {faults, 0});
    }
    dump_->give(out_);
    dump_.reset();
  }

  /// A dump without its end: the whole dumps that precede it are kept.
  void cut() {
    if (!out_.empty()) {
      out_.last().lose("a dump without its end, which was left out", lines_.line_offset());
    } else {
      dump_->lose("the dump has no end: the input was cut", lines_.line_offset());
      dump_->give(out_);
      out_.last().complete = false;
    }
    dump_.reset();
  }

  std::unique_ptr<Statistics> dump_;  // the open one
  std::size_t current_ = 2;           // the column of that name
  bool below_pages_ = false;          // what "-abandoned" counts
  bool in_single_heap_ = false;
  std::uint64_t single_heaps_ = 0;
};

/// Whether a line begins a table: "heap stats:    peak      total ..." of versions 1 and 2, " arenas     peak  total
/// ..." of version 3.
bool is_heading(std::string_view line) { return !heading_of(line).empty(); }

void read_text(Input& in, SnapshotSink& out) {
  TextDumps(in, out, "no statistics: the input ends, expected mimalloc's \"heap stats:\" or \"subproc\"").run();
}

/// JSON says the version of mimalloc near its beginning.
Match sniff_mimalloc(std::string_view head) {
  if (text::begins_with(head, {"{", "\"stat_version\""}) && contains(head.substr(0, 512), "\"mimalloc_version\""))
    return Match::certain;
  return certain_if(text::any_line_of(head, is_heading));
}

}  // namespace

constexpr Format kMimallocStats{
    .info = {"mimalloc-stats", "statistics of mimalloc (mi_stats_print, mi_stats_get_json), text or JSON",
             "*.txt, *.log, *.json", "peaks, times, averages, pages by bin, single heaps"},
    .sniff = sniff_mimalloc,
    .decode = json::read_json_or_text<read_json, read_text>};

}  // namespace snapdiff::formats

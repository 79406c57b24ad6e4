#include "formats/json/json_dumps.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// Live regions (small) or extents (large) by size class: size in bytes -> number.
struct Classes {
  std::map<std::int64_t, std::int64_t> live;
  bool told = false;  ///< the table is there, maybe empty
};

/// The tables of one arena, or of all together.
struct Arena {
  Classes small;
  Classes large;
};

struct Statistics {
  std::string version;
  SnapshotFacts facts;
  std::optional<std::int64_t> allocated;
  Arena merged;  ///< as the dump itself adds the arenas up
  Arena sum;     ///< of the single arenas
};

constexpr std::string_view kNoSizeClass = "[no size class recorded]";

/// doc/jemalloc.xml.in, stats.*.
constexpr KnownCounter kCounters[] = {
    {"allocated", "bytes"}, {"active", "bytes"},   {"metadata", "bytes"},     {"resident", "bytes"},
    {"mapped", "bytes"},    {"retained", "bytes"}, {"metadata_thp", "count"}, {"zero_reallocs", "count", true}};

/// Rows of one table; the bytes are added to `sum`.
void add_rows(SnapshotBuilder& builder, const Classes& classes, std::int64_t& sum) {
  for (const auto& [size, number] : classes.live) {
    const std::int64_t bytes = product_of(size, number, "sum over the size classes is");
    add_to(sum, bytes, "sum over the size classes is");
    add_type_row(builder, "size class " + std::to_string(size), {number, bytes});
  }
}

/// Adds to classes.live. Throws Failure: limit.
void add_live(Classes& classes, std::int64_t size, std::int64_t number, std::uint64_t offset) {
  classes.told = true;
  if (number == 0) return;
  add_to(classes.live[size], number, "sum over the arenas is", offset);
}

/// Adds the counter that jemalloc calls `name` ("allocated", "resident"), if it is a known one.
void add_counter(Statistics& statistics, std::string_view name, std::int64_t value) {
  if (const KnownCounter* const known = known_counter(kCounters, name))
    statistics.facts.counters.push_back(known->with(value));
  if (name == "allocated") statistics.allocated = value;
}

/// Throws Failure: limit.
void take(const Statistics& statistics, text::HeldSink& out) {
  SnapshotBuilder builder;
  SnapshotFacts& facts = builder.facts() = statistics.facts;
  facts.producer = "jemalloc" + (statistics.version.empty() ? std::string() : " " + statistics.version);
  facts.sampling = Sampling::exact;
  // Where only one arena is in use, or on demand, there are no merged tables.
  const Arena& arena =
      statistics.merged.small.told || statistics.merged.large.told ? statistics.merged : statistics.sum;
  if (arena.small.told || arena.large.told) {
    builder.add_heap_columns();
    std::int64_t sum = 0;
    add_rows(builder, arena.small, sum);
    add_rows(builder, arena.large, sum);
    const bool all_told = arena.small.told && arena.large.told;
    if (!all_told || facts.partial) facts.complete = false;
    if (statistics.allocated && *statistics.allocated != sum) {
      if (all_told || *statistics.allocated < sum) {
        facts.notes.add(Severity::warning, "the size classes do not add up to the allocated bytes");
      } else {
        const std::int64_t values[] = {0, *statistics.allocated - sum};
        const std::uint8_t known[] = {0, 1};
        builder.add_row(builder.pseudo_stack(kNoSizeClass), LabelSetId{}, values, known);
      }
    }
  }
  out.take(builder.finish());
}

/// jemalloc has some 230 classes; far more come from damage only.
constexpr std::size_t kMostClasses = 65536;

/// Live objects by the position of the class; what size that is, another table says.
struct Live {
  std::vector<std::int64_t> number;
  bool told = false;

  void add(std::size_t index, std::int64_t more, std::uint64_t offset) {
    told = true;
    if (index >= kMostClasses) fail(ErrorCode::limit, "too many size classes: more than 65536", offset);
    if (number.size() <= index) number.resize(index + 1);
    add_to(number[index], more, "sum over the arenas is", offset);
  }
};

class JsonDump final : public json::Walk {
 public:
  JsonDump() { statistics_.facts.format_detail = "JSON"; }

  void text(std::string_view value) override {
    if (at({"jemalloc", "version"})) statistics_.version = value;
  }

  void opened(bool array) override {
    if (depth() == 1 && key(0) == "jemalloc" && !array) found_ = true;
    if (!array || depth() != 4 || key(0) != "jemalloc" || key(1) != "stats.arenas") return;
    if (key(3) == "bins") live(small_).told = true;
    if (key(3) == "lextents") live(large_).told = true;
  }

  void number(std::int64_t value) override {
    if (depth() < 3 || key(0) != "jemalloc") return;
    if (at({"jemalloc", "stats", "*"})) {
      add_counter(statistics_, key(2), value);
    } else if (at({"jemalloc", "arenas", "bin", "*", "size"})) {
      set_size(small_sizes_, value);
    } else if (at({"jemalloc", "arenas", "lextent", "*", "size"})) {
      set_size(large_sizes_, value);
    } else if (at({"jemalloc", "stats.arenas", "*", "bins", "*", "curregs"})) {
      live(small_).add(index(4), value, offset());
    } else if (at({"jemalloc", "stats.arenas", "*", "lextents", "*", "curlextents"})) {
      live(large_).add(index(4), value, offset());
    }
  }

  void finish(text::HeldSink& out) {
    if (!found_) malformed("not jemalloc's statistics: expected an object called jemalloc");
    add(small_[0], small_sizes_, statistics_.merged.small);
    add(small_[1], small_sizes_, statistics_.sum.small);
    add(large_[0], large_sizes_, statistics_.merged.large);
    add(large_[1], large_sizes_, statistics_.sum.large);
    take(statistics_, out);
  }

 private:
  /// Of merged arenas, single ones, and such that are gone.
  Live& live(Live (&tables)[3]) { return tables[key(2) == "merged" ? 0 : key(2) == "destroyed" ? 2 : 1]; }

  void set_size(std::vector<std::int64_t>& sizes, std::int64_t size) {
    if (index(3) >= kMostClasses) fail(ErrorCode::limit, "too many size classes: more than 65536", offset());
    if (sizes.size() <= index(3)) sizes.resize(index(3) + 1);
    sizes[index(3)] = size;
  }

  void add(const Live& live, const std::vector<std::int64_t>& sizes, Classes& out) {
    out.told = live.told;
    for (std::size_t i = 0; i < live.number.size(); ++i) {
      if (live.number[i] < 0 || (live.number[i] > 0 && (i >= sizes.size() || sizes[i] <= 0)))
        malformed("size class " + std::to_string(i) + " not readable: found " + std::to_string(live.number[i]) +
                  " live objects, expected none below 0 and a size in arenas.bin or arenas.lextent");
      if (live.number[i] > 0) add_live(out, sizes[i], live.number[i], offset());
    }
  }

  Statistics statistics_;
  bool found_ = false;
  Live small_[3], large_[3];
  std::vector<std::int64_t> small_sizes_, large_sizes_;
};

constexpr std::string_view kBegin = "Begin jemalloc statistics";
constexpr std::string_view kEnd = "End jemalloc statistics";

/// Where the columns of a table are; which there are differs by version.
struct Columns {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t count = 0;
  std::size_t size = kNone;
  std::size_t live = kNone;       ///< curregs, curlextents
  std::size_t allocated = kNone;  ///< bytes; older versions have no other for large ones
};

Columns columns_of(std::string_view heading) {
  Columns out;
  const std::vector<std::string_view> words = words_of_line(heading);
  out.count = words.size() - 1;  // the first is the name of the table
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "size") out.size = i - 1;
    if (words[i] == "curregs" || words[i] == "curlextents") out.live = i - 1;
    if (words[i] == "allocated") out.allocated = i - 1;
  }
  return out;
}

class TextDumps final : public ReportLog {
  using ReportLog::ReportLog;

  enum class Table : std::uint8_t { none, small, large };
  enum class Section : std::uint8_t { merged, single, destroyed };

  void handle(std::string_view line) override {
    if (line.find(kBegin) != std::string_view::npos) {
      if (statistics_) cut(lines_.line_offset());
      statistics_ = std::make_unique<Statistics>();
      statistics_->facts.format_detail = "text";
      table_ = Table::none;
      return;
    }
    if (!statistics_) return;
    if (line.find(kEnd) != std::string_view::npos) {
      take(*statistics_, out_);
      statistics_.reset();
      return;
    }
    if (table_ != Table::none && table_row(line)) return;
    table_ = Table::none;
    if (has_prefix(line, "bins:")) return begin_table(Table::small, line);
    if (has_prefix(line, "large:") && line.find(" size ") != std::string_view::npos)
      return begin_table(Table::large, line);
    if (has_prefix(line, "Allocated: ")) return totals(line);
    if (has_prefix(line, "Version: ")) return version(line.substr(9));
    if (has_prefix(line, "Count of realloc(non-null-ptr, 0) calls: ")) {
      if (const auto value = whole_number(trim(line.substr(41)))) add_counter(*statistics_, "zero_reallocs", *value);
    } else if (has_prefix(line, "Merged arenas stats")) {
      section_ = Section::merged;
    } else if (has_prefix(line, "Destroyed arenas stats")) {
      section_ = Section::destroyed;
    } else if (has_prefix(line, "arenas[")) {
      section_ = Section::single;
    }
  }

  void version(std::string_view text) {
    text = trim(text);
    if (text.size() > 1 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    statistics_->version = text;
  }

  /// "Allocated: 506624, active: 532480, metadata: 2735600 (n_thp 0), resident: 3178496, ..."
  void totals(std::string_view line) {
    while (!line.empty()) {
      const std::size_t comma = line.find(", ");
      const std::string_view part = line.substr(0, comma);
      line = comma == std::string_view::npos ? std::string_view{} : line.substr(comma + 2);
      const std::size_t colon = part.find(": ");
      if (colon == std::string_view::npos) continue;
      std::string name(part.substr(0, colon));
      if (name == "Allocated") name = "allocated";
      Cursor at(part.substr(colon + 2));
      const auto value = whole_number(at.token());
      if (value) add_counter(*statistics_, name, *value);
      at.skip_blanks();
      if (at.take("(n_thp ")) {
        if (std::int64_t pages = 0; at.count(pages)) add_counter(*statistics_, "metadata_thp", pages);
      }
    }
  }

  void begin_table(Table table, std::string_view heading) {
    columns_ = columns_of(heading);
    if (columns_.size == Columns::kNone || (columns_.live == Columns::kNone && columns_.allocated == Columns::kNone))
      return statistics_->facts.notes.add(
          Severity::data_loss, "a table without a column of sizes or of live objects, left out", lines_.line_offset());
    table_ = table;
    if (Classes* classes = open_classes()) classes->told = true;
  }

  /// Null where the arenas are gone.
  Classes* open_classes() {
    if (section_ == Section::destroyed) return nullptr;
    Arena& arena = section_ == Section::merged ? statistics_->merged : statistics_->sum;
    return table_ == Table::small ? &arena.small : &arena.large;
  }

  /// False when the line is no row: the table has ended.
  bool table_row(std::string_view line) {
    const std::string_view text = trim(line);
    if (text == "---") return true;  // classes without anything in them
    if (text.empty() || !is_digit(text.front())) return false;
    const std::vector<std::string_view> words = words_of_line(text);
    const auto cell = [&](std::size_t column) {
      return column < words.size() ? whole_number(words[column]) : std::optional<std::int64_t>{};
    };
    const auto size = cell(columns_.size);
    auto live = cell(columns_.live);
    if (!live && size && *size > 0) {
      if (const auto bytes = cell(columns_.allocated)) live = *bytes / *size;
    }
    if (words.size() != columns_.count || !size || *size == 0 || !live || !lines_.terminated()) {
      statistics_->facts.lose("rows of a table that could not be read, left out", lines_.line_offset());
      return true;
    }
    if (Classes* classes = open_classes()) add_live(*classes, *size, *live, lines_.line_offset());
    return true;
  }

  void cut(std::uint64_t offset) {
    if (!out_.empty()) {
      out_.last().lose("a dump without its end, which was left out", offset);
    } else {
      statistics_->facts.lose("the dump has no end: the input was cut", offset);
      take(*statistics_, out_);
      out_.last().complete = false;
    }
    statistics_.reset();
  }

  void finish() override {
    if (statistics_) cut(lines_.offset());
  }

  std::unique_ptr<Statistics> statistics_;  // the open dump
  Table table_ = Table::none;
  Section section_ = Section::single;
  Columns columns_;
};

void read_text(Input& in, SnapshotSink& out) {
  TextDumps(in, out, "no statistics: the input ends, expected \"Begin jemalloc statistics\"").run();
}

Match sniff_jemalloc(std::string_view head) {
  if (begins_with(head, {"{", "\"jemalloc\"", ":"})) return Match::certain;
  return certain_if(plain_head(head).find("Begin jemalloc statistics") != std::string::npos);
}

}  // namespace

constexpr Format kJemallocStats{.info = {"jemalloc-stats", "statistics of jemalloc (malloc_stats_print), JSON or text",
                                         "*.json, *.txt", "rates, locks, slabs, dirty pages, the split by arena"},
                                .sniff = sniff_jemalloc,
                                .decode = json::read_json_or_text<json::read_dumps<JsonDump>, read_text>};

}  // namespace snapdiff::formats

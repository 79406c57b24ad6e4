#include "analyzer/base/contains.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// A number with the groups of any culture: "1,234", "1.234", "1 234" with U+00A0 or U+202F. All that is no
/// digit is left out; nothing where there are letters.
std::optional<std::int64_t> grouped(std::string_view text) {
  if (text.empty() || !is_digit(text.front()) || !is_digit(text.back())) return std::nullopt;
  std::string digits;
  for (const char c : text) {
    const bool parts =
        static_cast<unsigned char>(c) >= 0x80 || std::string_view(",.' ").find(c) != std::string_view::npos;
    if (!is_digit(c) && !parts) return std::nullopt;
    if (is_digit(c)) digits += c;
  }
  return whole_number(digits);
}

/// Up to the next two blanks; what is after them stays in `text`.
std::string_view take_cell(std::string_view& text) {
  text = trim(text);
  const std::size_t gap = text.find("  ");
  const std::string_view cell = text.substr(0, gap);
  text = gap == std::string_view::npos ? std::string_view{} : trim(text.substr(gap));
  return cell;
}

bool is_dumpheap_heading(std::string_view line) {
  return contains(line, "MT") && contains(line, "Count") && contains(line, "TotalSize");
}
bool is_report_heading(std::string_view line) {
  return contains(line, "Object Bytes") && contains(line, "Count") && contains(line, "Type");
}

/// "1,234  GC Heap bytes" -> 1234 for `what` "GC Heap bytes".
std::optional<std::int64_t> told(std::string_view line, std::string_view what) {
  line = trim(line);
  if (line.size() <= what.size() || line.substr(line.size() - what.size()) != what) return std::nullopt;
  return grouped(trim(line.substr(0, line.size() - what.size())));
}

struct TypeRow {
  std::string name;
  std::string module;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  bool counted = true;
};

class DotnetLog final : public ReportLog {
  using ReportLog::ReportLog;

  void finish() override { close_open(); }
  enum class Open : std::uint8_t { none, report, dumpheap };

  void handle(std::string_view line) override {
    if (is_dumpheap_heading(line)) return begin(Open::dumpheap);
    if (is_report_heading(line)) return begin(Open::report);
    if (open_ == Open::dumpheap) return dumpheap_line(trim(line));
    if (open_ == Open::report && !trim(line).empty() && !told(line, "GC Heap bytes")) return report_row(line);
    if (open_ == Open::report) close_open();
    if (const auto bytes = told(line, "GC Heap bytes")) {
      heap_bytes_ = bytes;
    } else if (const auto objects = told(line, "GC Heap objects")) {
      heap_objects_ = objects;
    } else if (const auto references = told(line, "Total references")) {
      references_ = references;
    }
  }

  void begin(Open kind) {
    close_open();
    open_ = kind;
    open_report(".NET", kind == Open::report ? "dotnet-gcdump report" : "dumpheap -stat");
  }

  void skip_line() {
    report_->facts().complete = false;
    lose("lines inside a list that are no rows, left out");
  }

  /// "00007f6c1dc021c8     1749        95696 System.SByte[]"
  void dumpheap_line(std::string_view line) {
    if (line.empty()) return;
    if (line == "...") {
      truncated_ = true;
      return;
    }
    if (has_prefix(line, "Total ")) return dumpheap_total(line.substr(6));
    Cursor at(line);
    const std::string_view table = at.token();
    at.skip_blanks();
    const auto count = grouped(at.token());
    at.skip_blanks();
    const auto bytes = grouped(at.token());
    const std::string_view name = trim(at.rest());
    if (table.find_first_not_of("0123456789abcdefABCDEFx") != std::string_view::npos || !count || !bytes ||
        name.empty() || !lines_.terminated())
      return skip_line();
    rows_.push_back({std::string(name), {}, *bytes, *count, true});
  }

  /// "428516 objects", "1,234 objects, 5,678 bytes"
  void dumpheap_total(std::string_view text) {
    const std::size_t objects = text.find(" object");
    if (objects == std::string_view::npos) return skip_line();
    total_count_ = grouped(trim(text.substr(0, objects)));
    const std::size_t comma = text.find(", ", objects);
    const std::size_t bytes = text.find(" byte", objects);
    if (comma != std::string_view::npos && bytes != std::string_view::npos && bytes > comma)
      total_bytes_ = grouped(trim(text.substr(comma + 2, bytes - comma - 2)));
    close_open();
  }

  /// "          1,234       56  System.String  [System.Private.CoreLib.dll]"; the count may be blank.
  void report_row(std::string_view line) {
    const auto bytes = grouped(take_cell(line));
    TypeRow row;
    std::string_view rest = line;
    const auto count = grouped(take_cell(rest));
    if (!bytes || !lines_.terminated()) return skip_line();
    row.bytes = *bytes;
    row.counted = count.has_value();
    if (count) {
      row.count = *count;
      line = rest;
    }
    const std::size_t open = line.empty() || line.back() != ']' ? std::string_view::npos : line.rfind("  [");
    if (open != std::string_view::npos) {
      row.module = line.substr(open + 3, line.size() - open - 4);
      line = trim(line.substr(0, open));
    }
    if (line.empty()) return skip_line();
    row.name = line;
    rows_.push_back(std::move(row));
  }

  std::int64_t add(std::int64_t a, std::int64_t b) {
    add_to(a, b, "sum over the types is", lines_.offset());
    return a;
  }

  void close_open() {
    if (open_ == Open::dumpheap) close_dumpheap();
    if (open_ == Open::report) close_report();
    open_ = Open::none;
    rows_.clear();
    truncated_ = false;
    total_count_ = total_bytes_ = std::nullopt;
  }

  void close_dumpheap() {
    SnapshotBuilder& builder = *report_;
    SnapshotFacts& facts = builder.facts();
    builder.add_heap_columns();
    std::int64_t count = 0, bytes = 0, free_count = 0, free_bytes = 0;
    for (const TypeRow& row : rows_) {
      count = add(count, row.count);
      bytes = add(bytes, row.bytes);
      if (row.name == "Free") {  // gaps, no objects
        free_count = add(free_count, row.count);
        free_bytes = add(free_bytes, row.bytes);
        continue;
      }
      add_type_row(builder, row.name, {row.count, row.bytes});
    }
    facts.counters.push_back({"free_gaps", free_count, "count", false, 0});
    facts.counters.push_back({"free_space", free_bytes, "bytes", false, 0});
    if (!total_count_) {
      facts.complete = false;
      builder.notes().add(Severity::warning, "no Total line: types may be missing", lines_.offset());
    } else if (*total_count_ > count) {
      facts.complete = false;
      const bool bytes_known = total_bytes_ && *total_bytes_ >= bytes;
      const std::int64_t values[] = {*total_count_ - count, bytes_known ? *total_bytes_ - bytes : 0};
      const std::uint8_t known[] = {1, bytes_known ? std::uint8_t{1} : std::uint8_t{0}};
      builder.add_row(builder.pseudo_stack(kBelowThreshold), LabelSetId{}, values, known);
    } else if (*total_count_ != count && *total_count_ != count - free_count) {
      builder.notes().add(Severity::warning, "the types add up to more than the Total line says");
    }
    if (truncated_) facts.complete = false;
    give_report();
  }

  /// What the column "Object Bytes" holds: of one object or of all of the type, as the total shows.
  enum class Bytes : std::uint8_t { all, one, unknown };
  Bytes meaning_of_bytes() {
    if (!heap_bytes_) return Bytes::unknown;
    std::int64_t all = 0, one = 0;
    bool one_known = true;
    for (const TypeRow& row : rows_) {
      all = add(all, row.bytes);
      std::int64_t product = 0;
      one_known = one_known && row.counted && !__builtin_mul_overflow(row.bytes, row.count, &product) &&
                  checked_add(one, product, one);
    }
    if (all == *heap_bytes_) return Bytes::all;
    return one_known && one == *heap_bytes_ ? Bytes::one : Bytes::unknown;
  }

  void close_report() {
    SnapshotBuilder& builder = *report_;
    SnapshotFacts& facts = builder.facts();
    const Bytes meaning = meaning_of_bytes();
    builder.add_column({"inuse_objects", "count"});
    if (meaning != Bytes::unknown) builder.add_column({"inuse_space", "bytes"});
    std::int64_t count = 0;
    for (const TypeRow& row : rows_) {
      count = add(count, row.count);
      const TypeKey key = type_key(builder, row.name, builder.module(row.module, {}));
      const std::int64_t bytes = meaning == Bytes::one ? row.bytes * row.count : row.bytes;
      const std::int64_t values[] = {row.count, bytes};
      const std::uint8_t known[] = {row.counted ? std::uint8_t{1} : std::uint8_t{0}, 1};
      builder.add_row(key.stack, key.labels, values, known);
    }
    if (meaning == Bytes::unknown)
      builder.notes().add(
          Severity::warning,
          "the sizes do not add up to the bytes of the heap, so they are of single objects or cut: only "
          "counts are kept");
    if (!heap_objects_ || *heap_objects_ != count) facts.complete = false;
    if (heap_bytes_) facts.counters.push_back({"gc_heap", *heap_bytes_, "bytes", false, 0});
    if (heap_objects_) facts.counters.push_back({"gc_heap_objects", *heap_objects_, "count", false, 0});
    if (references_) facts.counters.push_back({"references", *references_, "count", false, 0});
    heap_bytes_ = heap_objects_ = references_ = std::nullopt;
    give_report();
  }

  Open open_ = Open::none;
  std::vector<TypeRow> rows_;  // of the open list
  bool truncated_ = false;
  std::optional<std::int64_t> total_count_, total_bytes_;
  std::optional<std::int64_t> heap_bytes_, heap_objects_, references_;
};

bool begins_list(std::string_view line) {
  return is_dumpheap_heading(line) || is_report_heading(line) || told(line, "GC Heap bytes");
}

}  // namespace

constexpr Format kDotnetHeap =
    log_format<DotnetLog, begins_list,
               "no types: the input ends, expected the heading of dotnet-gcdump report or of dumpheap -stat">(
        {"dotnet-heap", "types on the .NET heap: dotnet-gcdump report, dumpheap -stat", "*.txt",
         "method tables, which differ from run to run; free gaps, which are counters"});

}  // namespace snapdiff::formats

#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// "class   size   num pools   blocks in use  avail blocks"
bool is_class_heading(std::string_view line) {
  return begins_with(line, {"class", "size", "num pools", "blocks in use", "avail blocks"});
}

constexpr std::string_view kSum = "a sum is";

struct SizeClass {
  std::int64_t number = 0, size = 0, pools = 0, used = 0, free = 0;
};

/// "    1     32          17            8636            34"
std::optional<SizeClass> size_class_of(std::string_view line) {
  SizeClass out;
  return given(reads(line, "~%~%~%~%~%~$", out.number, out.size, out.pools, out.used, out.free), out);
}

/// The number after the last "=": "# bytes in allocated blocks        =            4,631,136".
std::optional<std::int64_t> total_of_line(std::string_view line) {
  const std::size_t equals = line.rfind('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view cell = trim(line.substr(equals + 1));
  Decimal number;
  if (parse_decimal(cell, 0, number) != cell.size() || number.has_point || number.fraction_digits != 0 ||
      number.negative)
    return std::nullopt;
  return static_cast<std::int64_t>(number.digits);
}

/// A line of the sums, by words in it, and the counter that it adds to.
struct SumLine {
  std::string_view words, counter;
};
constexpr SumLine kSumLines[] = {{"# bytes in allocated blocks", "in_use"},
                                 {"# bytes in available blocks", "free"},
                                 {" unused pools * ", "free"},
                                 {"# bytes lost to pool headers", "metadata"},
                                 {"# bytes lost to quantization", "metadata"},
                                 {"# bytes lost to arena alignment", "metadata"}};

class PythonMallocLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (is_class_heading(line)) {
      cut();
      open();
    } else if (!report_ || !lines_.terminated()) {
      return;
    } else if (const auto row = size_class_of(line)) {
      add(*row);
    } else if (const auto sum = total_of_line(line)) {
      if (has_prefix(line, "# arenas allocated current")) set("arenas", *sum, "count");
      if (has_prefix(line, "Total ")) return close(*sum);
      for (const SumLine& one : kSumLines) {
        if (line.find(one.words) != std::string_view::npos) set(one.counter, *sum, "bytes");
      }
    }
  }

  void open() {
    open_report("cpython");
    report_->add_heap_columns();
    in_blocks_ = 0;
  }

  void set(std::string_view name, std::int64_t value, std::string_view unit) {
    for (Counter& counter : report_->facts().counters) {
      if (counter.name == name) return add_to(counter.value, value, kSum, lines_.line_offset());
    }
    report_->facts().counters.push_back({std::string(name), value, std::string(unit), false, 0});
  }

  std::int64_t value_of(std::string_view name) {
    for (const Counter& counter : report_->facts().counters) {
      if (counter.name == name) return counter.value;
    }
    return 0;
  }

  void add(const SizeClass& row) {
    const std::int64_t bytes = product_of(row.size, row.used, kSum, lines_.line_offset());
    add_to(in_blocks_, bytes, kSum, lines_.line_offset());
    add_type_row(*report_, "size class " + std::to_string(row.size), {row.used, bytes});
  }

  /// The classes add up to the allocated blocks, all parts to Total: both are checked.
  void close(std::int64_t total) {
    std::int64_t parts = 0;
    for (const std::string_view name : {"in_use", "free", "metadata"})
      add_to(parts, value_of(name), kSum, lines_.line_offset());
    set("system", total, "bytes");
    if (value_of("in_use") != in_blocks_) warn("the classes do not add up to the bytes in allocated blocks");
    if (parts != total) warn("the parts do not add up to Total");
    give_report();
  }

  /// A table without its Total: its classes are known up to there.
  void cut() {
    if (!report_) return;
    report_->facts().complete = false;
    report_->facts().lose("no Total line: classes may be missing", lines_.offset());
    give_report();
  }
  void finish() override { cut(); }

  std::int64_t in_blocks_ = 0;
};

}  // namespace

constexpr Format kPythonMalloc =
    log_format<PythonMallocLog, is_class_heading,
               "no table: the input ends, expected \"class   size   num pools   blocks in use  avail blocks\"">(
        {"python-malloc", "CPython's sys._debugmallocstats(): blocks by size class", "*.txt, *.log",
         "pools, the arena map, free lists of objects"});

}  // namespace snapdiff::formats

#include <memory>
#include <optional>
#include <string>

#include "formats/allocator_totals/allocator_totals_importers.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/quantity.hpp"
#include "formats/text/report_log.hpp"
#include "formats/text/scan.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats {
namespace {

using text::Cursor;
using text::has_prefix;
using text::trim;

/// "class   size   num pools   blocks in use  avail blocks"
bool is_class_heading(std::string_view line) {
  return text::begins_with(line, {"class", "size", "num pools", "blocks in use", "avail blocks"});
}

struct SizeClass {
  std::int64_t number = 0, size = 0, pools = 0, used = 0, free = 0;
};

/// "    1     32          17            8636            34"
std::optional<SizeClass> size_class_of(std::string_view line) {
  Cursor at(line);
  SizeClass out;
  for (std::int64_t* const cell : {&out.number, &out.size, &out.pools, &out.used, &out.free}) {
    at.skip_blanks();
    if (!at.count(*cell)) return std::nullopt;
  }
  at.skip_blanks();
  return at.at_end() ? std::optional(out) : std::nullopt;
}

/// The number after the last "=": "# bytes in allocated blocks        =            4,631,136".
std::optional<std::int64_t> total_of_line(std::string_view line) {
  const std::size_t equals = line.rfind('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view cell = trim(line.substr(equals + 1));
  text::Decimal number;
  if (text::parse_decimal(cell, 0, number) != cell.size() || number.has_point || number.fraction_digits != 0 ||
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

class PythonMallocLog final : public text::ReportLog {
 public:
  PythonMallocLog(Input& in, SnapshotSink& out)
      : ReportLog(in, out,
                  "no table: the input ends, expected \"class   size   num pools   blocks in use  avail blocks\"") {}

 private:
  void handle(std::string_view line) override {
    if (is_class_heading(line)) {
      cut();
      open();
    } else if (!builder_ || !lines_.terminated()) {
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
    builder_ = std::make_unique<SnapshotBuilder>();
    builder_->add_heap_columns();
    builder_->facts().producer = "cpython";
    builder_->facts().sampling = Sampling::exact;
    in_blocks_ = 0;
  }

  void set(std::string_view name, std::int64_t value, std::string_view unit) {
    for (Counter& counter : builder_->facts().counters) {
      if (counter.name != name) continue;
      if (!checked_add(counter.value, value, counter.value)) fail_sum();
      return;
    }
    builder_->facts().counters.push_back({std::string(name), value, std::string(unit), false, 0});
  }

  std::int64_t value_of(std::string_view name) const {
    for (const Counter& counter : builder_->facts().counters) {
      if (counter.name == name) return counter.value;
    }
    return 0;
  }

  void add(const SizeClass& row) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(row.size, row.used, &bytes) || !checked_add(in_blocks_, bytes, in_blocks_)) fail_sum();
    const std::int64_t values[] = {row.used, bytes};
    add_type_row(*builder_, "size class " + std::to_string(row.size), values);
  }

  [[noreturn]] void fail_sum() const {
    fail(ErrorCode::limit, "a sum is beyond 2^63-1, expected it to fit in 64 bits", lines_.line_offset());
  }

  /// The classes add up to the allocated blocks, all parts to Total: both are checked.
  void close(std::int64_t total) {
    std::int64_t parts = 0;
    for (const std::string_view name : {"in_use", "free", "metadata"}) {
      if (!checked_add(parts, value_of(name), parts)) fail_sum();
    }
    set("system", total, "bytes");
    if (value_of("in_use") != in_blocks_)
      builder_->notes().add(Severity::warning, "the classes do not add up to the bytes in allocated blocks",
                            lines_.line_offset());
    if (parts != total)
      builder_->notes().add(Severity::warning, "the parts do not add up to Total", lines_.line_offset());
    take_report(builder_->finish());
    builder_.reset();
  }

  /// A table without its Total: its classes are known up to there.
  void cut() {
    if (!builder_) return;
    builder_->facts().complete = false;
    builder_->facts().lose("no Total line: classes may be missing", lines_.offset());
    take_report(builder_->finish());
    builder_.reset();
  }
  void finish() override { cut(); }

  std::unique_ptr<SnapshotBuilder> builder_;  // the open table
  std::int64_t in_blocks_ = 0;
};

Match sniff_python_malloc(std::string_view head) { return certain_if(text::any_line_of(head, is_class_heading)); }

}  // namespace

constexpr Format kPythonMalloc{.info = {"python-malloc", "CPython's sys._debugmallocstats(): blocks by size class",
                                        "*.txt, *.log", "pools, the arena map, free lists of objects"},
                               .sniff = sniff_python_malloc,
                               .decode = text::read_log<PythonMallocLog>,
                               .many = "size classes"};

}  // namespace snapdiff::formats

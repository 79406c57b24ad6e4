#include "analyzer/base/object_graph.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// Groups in brackets and "GC(12)" in front, as -Xlog:gc+classhisto writes them.
std::string_view behind_log_prefix(std::string_view line) {
  for (;;) {
    line = trim(line);
    const std::size_t close = has_prefix(line, "[")     ? line.find(']')
                              : has_prefix(line, "GC(") ? line.find(')')
                                                        : std::string_view::npos;
    if (close == std::string_view::npos) return line;
    line.remove_prefix(close + 1);
  }
}

bool is_heading(std::string_view line) {
  const std::size_t instances = line.find("#instances");
  const std::size_t bytes = line.find("#bytes");
  const std::size_t name = line.find("class name");
  return instances != std::string_view::npos && bytes != std::string_view::npos && name != std::string_view::npos &&
         instances < bytes && bytes < name && line.substr(0, instances).find("num") != std::string_view::npos;
}

struct Row {
  std::int64_t instances = 0;
  std::int64_t bytes = 0;
  std::string_view name;
};

/// "   1:            45         321744  [J (java.base@17.0.15)"
std::optional<Row> row_of(std::string_view line) {
  Cursor at(line);
  std::int64_t rank = 0;
  Row row;
  if (!at.takes("~%:~%~%", rank, row.instances, row.bytes) || !at.skip_blanks()) return std::nullopt;
  row.name = trim(at.rest());
  return row.name.empty() ? std::nullopt : std::optional(row);
}

/// "Total         13939        1070040"
std::optional<Row> total_of(std::string_view line) {
  Row row;
  return reads(line, "Total~%~%~$", row.instances, row.bytes) ? std::optional(row) : std::nullopt;
}

/// " (java.base@17.0.15)" at the end of `name`, which loses it; "java.base".
std::string_view take_module(std::string_view& name) {
  const std::size_t open = name.back() != ')' ? std::string_view::npos : name.rfind(" (");
  if (open == std::string_view::npos) return {};
  std::string_view module = name.substr(open + 2, name.size() - open - 3);
  name = trim(name.substr(0, open));
  return module.substr(0, module.find('@'));
}

/// Hidden classes are called by an address that differs from run to run: "Main$$Lambda$14/0x0000000800066840", in
/// JDK 8 "Main$$Lambda$1/1234567890". The digits are left out.
std::string without_address(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash + 1 == name.size() || !is_digit(name[slash + 1]))
    return std::string(name);
  std::size_t end = slash + 1;
  while (end < name.size() && (is_hex(name[end]) || name[end] == 'x')) ++end;
  return std::string(name.substr(0, slash)).append("/0x").append(name.substr(end));
}

class HistogramLog final : public ReportLog {
  using ReportLog::ReportLog;

  void finish() override { close_without_total(); }
  void handle(std::string_view line) override {
    line = behind_log_prefix(line);
    if (is_heading(line)) {
      close_without_total();
      open();
    } else if (!report_) {
      if (const auto pid = pid_line(line)) pid_ = pid;
    } else if (const auto row = row_of(line)) {
      add(*row);
    } else if (const auto total = total_of(line)) {
      close(*total);
    } else if (!line.empty() && line.find_first_not_of('-') != std::string_view::npos) {
      unreadable();
    }
  }

  void open() {
    open_report("java").pid = std::exchange(pid_, std::nullopt);
    report_->add_heap_columns();
    sum_ = {};
  }

  void add(const Row& row) {
    if (!lines_.terminated()) return unreadable();  // the name may be cut
    std::string_view name = row.name;
    const std::string_view module = take_module(name);
    // The fillers of the collector are one type, as in dumps.
    const TypeKey key = name.find("jdk.internal.vm.Filler") != std::string_view::npos
                            ? type_key(*report_, kDeadSpace)
                            : type_key(*report_, without_address(name), report_->module(module, {}));
    add_row(key, row);
    add_to(sum_.instances, row.instances, "sum over the classes is", lines_.line_offset());
    add_to(sum_.bytes, row.bytes, "sum over the classes is", lines_.line_offset());
  }

  void add_row(const TypeKey& key, const Row& row) {
    report_->add_row(key.stack, key.labels, std::array{row.instances, row.bytes});
  }

  void unreadable() {
    report_->facts().complete = false;
    lose("lines inside a histogram that are no rows, left out");
  }

  void close(const Row& total) {
    const bool are_more = total.instances < sum_.instances || total.bytes < sum_.bytes;
    if (are_more || total.instances != sum_.instances || total.bytes != sum_.bytes) {
      report_->facts().complete = false;
      warn("the classes add up to " + std::string(are_more ? "more" : "less") + " than the Total line says");
    }
    if (!are_more && !report_->facts().complete) {
      const Row rest{total.instances - sum_.instances, total.bytes - sum_.bytes, {}};
      add_row({report_->pseudo_stack(kBelowThreshold), LabelSetId{}}, rest);
    }
    give_report();
  }

  void close_without_total() {
    if (!report_) return;
    report_->facts().complete = false;
    report_->notes().add(Severity::warning, "no Total line: classes are missing", lines_.offset());
    give_report();
  }

  Row sum_;
  std::optional<std::int64_t> pid_;
};

}  // namespace

constexpr Format kJvmHistogram =
    log_format<HistogramLog, is_heading,
               "no histogram: the input ends, expected a heading with #instances, #bytes and class name">(
        {"jvm-histogram", "class histogram of the JVM: jmap -histo, jcmd GC.class_histogram", "*.txt, *.log",
         "versions of modules; which of several class loaders"});

}  // namespace snapdiff::formats

#include "formats/input/all_formats.hpp"
#include "formats/pprof_text/printed_text.hpp"

namespace snapdiff::formats {
namespace {

using namespace pprof_text;

enum class Kind : std::uint8_t { none, raw, printed, time };

/// Which of the texts a head is: -raw begins with its period or its samples, the others have a heading of their own.
Kind kind_of(std::string_view head) {
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  bool has_file = false, has_type = false, is_period = false, is_time = false;
  while (text::take_line(rest, line)) {
    is_period = is_period || text::has_prefix(line, "PeriodType: ");
    if (is_period && line == "Samples:") return Kind::raw;
    if (text::has_prefix(line, "Type: ")) {
      has_type = true;
      is_time = line == "Type: cpu" || line == "Type: delay" || line == "Type: samples";
    }
    has_file = has_file || text::has_prefix(line, "File: ") || text::has_prefix(line, "Build ID: ");
    if (is_row_heading(line)) return is_time ? Kind::time : Kind::printed;
    if (is_separator(line) && has_type && (has_file || text::has_prefix(line, "-----------+"))) {
      std::string_view next;
      const bool is_tree = text::take_line(rest, next) && is_row_heading(next);
      if (!is_tree && !text::has_prefix(line, "-----------+")) return Kind::none;
      return is_time ? Kind::time : Kind::printed;
    }
  }
  return Kind::none;
}

Match sniff_text(std::string_view head) {
  const Kind kind = kind_of(head);
  return certain_if(kind == Kind::raw || kind == Kind::printed);
}

std::string refuse_time(std::string_view head) {
  return kind_of(head) == Kind::time ? "this is pprof's text of a profile of time, expected one of memory" : "";
}

void read_text(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  const bool is_raw = kind_of(value_or_throw(in.peek(kSniffBytes)).substr(0, kSniffBytes)) == Kind::raw;
  text::LogLines lines(in);
  give(out, is_raw ? read_raw(lines) : read_printed(lines));
}

}  // namespace

constexpr Format kPprofText{
    .info = {"pprof-text", "text of go tool pprof: -top, -tree, -peek (flat list), -traces, -raw", "*.txt",
             "cumulative values; -top and -traces are rounded; numbers as labels (the size of a block)"},
    .sniff = sniff_text,
    .decode = read_text,
    .refusal = refuse_time};

}  // namespace snapdiff::formats

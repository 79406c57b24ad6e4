#include <unordered_map>

#include "formats/input/type_row.hpp"
#include "formats/pprof_text/printed_text.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats::pprof_text {
namespace {

using text::Cursor;
using text::has_prefix;
using text::trim;

constexpr std::size_t kMostStackFrames = 1'000'000;
constexpr std::uint64_t kFreeFrames = std::uint64_t{16} << 20;

class RawReader {
 public:
  explicit RawReader(text::LogLines& lines) : lines_(lines) {}

  Snapshot read() {
    std::string_view line;
    while (lines_.next(line)) {
      if (!lines_.terminated()) {
        facts().lose("the last line has no end: it was left out", lines_.line_offset());
        break;
      }
      read_line(line);
    }
    if (columns_ == 0)
      fail_malformed("samples missing: the input ends, expected Samples: and its types", lines_.offset());
    if (section_ != Section::mappings) facts().lose("the input ends before the mappings", lines_.offset());
    return finish();
  }

 private:
  enum class Section : std::uint8_t { heading, types, samples, locations, mappings };
  struct Location {
    std::uint64_t address = 0;
    std::int64_t mapping = 0;
    std::vector<FrameSpec> frames;  ///< leaf first
  };
  struct Sample {
    std::size_t ids = 0, ids_end = 0;
    std::vector<Label> labels;
  };
  struct Range {
    std::uint64_t start = 0, offset = 0;
    ModuleId module{};
  };

  SnapshotFacts& facts() { return builder_.facts(); }
  [[noreturn]] void bad(std::string_view line, std::string_view expected) {
    text::fail_found("line not recognised", line, expected, lines_.line_offset());
  }

  void read_line(std::string_view line) {
    if (trim(line).empty()) return;
    if (section_ == Section::samples && line == "Locations") {
      section_ = Section::locations;
    } else if (section_ == Section::locations && line == "Mappings") {
      section_ = Section::mappings;
    } else if (section_ == Section::samples) {
      read_sample(line);
    } else if (section_ == Section::locations) {
      read_location(line);
    } else if (section_ == Section::mappings) {
      read_mapping(line);
    } else if (section_ == Section::types) {
      read_types(line);
    } else {
      read_heading(line);
    }
  }

  void read_heading(std::string_view line) {
    if (line == "Samples:") {
      section_ = Section::types;
    } else if (has_prefix(line, "PeriodType: ")) {
      is_space_ = line.ends_with("space bytes");
    } else if (has_prefix(line, "Period: ")) {
      period_ = text::whole_number(trim(line.substr(8))).value_or(0);
    } else if (has_prefix(line, "Time: ")) {
      if (const auto time = text::find_time(line.substr(6))) facts().taken_at_ns = time->ns;
    } else if (has_prefix(line, "Comment: ")) {
      facts().comments.emplace_back(line.substr(9));
    }
  }

  /// "inuse_objects/count inuse_space/bytes[dflt]"
  void read_types(std::string_view line) {
    section_ = Section::samples;
    for (Cursor at(line); at.skip_blanks(), !at.at_end();) {
      std::string_view token = at.token();
      const bool is_default = token.ends_with("[dflt]");
      if (is_default) token.remove_suffix(6);
      const std::size_t slash = token.rfind('/');
      if (slash == std::string_view::npos || slash == 0) bad(line, "TYPE/UNIT of each column");
      SampleType type{std::string(token.substr(0, slash)), std::string(token.substr(slash + 1))};
      if (is_default) facts().default_metric = type.name;
      builder_.add_column(std::move(type));
      ++columns_;
    }
    if (columns_ == 0) bad(line, "TYPE/UNIT of each column");
  }

  /// "       4681     524344          0          0: 1 2 3 ", then labels: "                bytes:[112]"
  void read_sample(std::string_view line) {
    Cursor at(line);
    at.skip_blanks();
    if (at.peek() != '-' && !text::is_digit(at.peek())) return read_label(trim(line));
    for (std::size_t column = 0; column < columns_; ++column) {
      at.skip_blanks();
      std::int64_t value = 0;
      if (at.decimal(value) != text::Number::ok) bad(line, "a value of each column, then : and locations");
      if (value < 0) facts().is_diff = true;
      values_.push_back(value);
    }
    if (!at.take(':')) bad(line, "a value of each column, then : and locations");
    Sample sample{ids_.size(), 0, {}};
    while (at.skip_blanks(), !at.at_end()) {
      std::int64_t id = 0;
      if (!at.count(id)) bad(line, "numbers of locations");
      ids_.push_back(id);
    }
    sample.ids_end = ids_.size();
    samples_.push_back(std::move(sample));
  }

  /// Texts are kept; numbers, as the size of a block, are not.
  void read_label(std::string_view line) {
    if (samples_.empty()) bad(line, "a sample");
    for (std::size_t open = line.find(":["); open != std::string_view::npos; open = line.find(":[")) {
      const std::size_t close = line.find(']', open);
      if (close == std::string_view::npos) return;
      const std::string_view value = line.substr(open + 2, close - open - 2);
      if (!value.empty() && !text::is_digit(value.front()) && value.front() != '-')
        samples_.back().labels.push_back(text_label(builder_, trim(line.substr(0, open)), value));
      line.remove_prefix(close + 1);
    }
  }

  /// "     1: 0x53f92d M=1 net.dial /src/net/dial.go:791:0 s=773"; the next lines are what that one is inlined into.
  void read_location(std::string_view line) {
    Cursor at(line);
    at.skip_blanks();
    std::int64_t id = 0;
    if (Cursor number = at; number.count(id) && number.take(": 0x")) {
      Location& location = locations_[id];
      if (number.hex(location.address) != text::Number::ok) bad(line, "ID: 0xADDRESS M=N and a function");
      number.skip_blanks();
      if (number.take("M=")) number.count(location.mapping);
      open_ = &location;
      at = number;
    }
    if (open_ == nullptr) bad(line, "ID: 0xADDRESS M=N and a function");
    std::string_view text = trim(at.rest());
    if (text::has_prefix(text, "[F]")) text = trim(text.substr(3));
    if (text.empty()) return;
    text::PrintedFrame frame;
    std::string_view system;
    if (const std::size_t start = text.find(" s="); start != std::string_view::npos) {
      system = text.substr(std::min(text.find('(', start), text.size()));
      text = trim(text.substr(0, start));
    }
    if (const std::size_t blank = text.rfind(' '); blank != std::string_view::npos) {
      std::string_view place = text.substr(blank + 1);
      if (text::take_line_and_column(place, frame)) {
        frame.file = place;
        text = trim(text.substr(0, blank));
      }
    }
    // pprof cuts arguments off names that it prints; the profile's own name is behind the line, where it differs.
    if (system.size() > 2 && system.ends_with(')') && !has_prefix(system, "(_"))
      text = system.substr(1, system.size() - 2);
    open_->frames.push_back({.function = builder_.function(text, frame.file),
                             .line = text::number_32(frame.line),
                             .column = text::number_32(frame.column)});
  }

  /// "1: 0x400000/0x738000/0x0 /srv/app BUILDID [FN]"
  void read_mapping(std::string_view line) {
    Cursor at(line);
    std::int64_t id = 0;
    std::uint64_t limit = 0;
    Range range;
    const auto hex = [&](std::uint64_t& out) { return at.take("0x") && at.hex(out) == text::Number::ok; };
    if (!at.count(id) || !at.take(": ") || !hex(range.start) || !at.take('/') || !hex(limit) || !at.take('/') ||
        !hex(range.offset))
      bad(line, "ID: START/LIMIT/OFFSET FILE BUILDID");
    at.skip_blanks();
    const std::string_view file = at.token();
    at.skip_blanks();
    const std::string_view build_id = has_prefix(at.rest(), "[") ? std::string_view() : at.token();
    range.module = builder_.module(file, build_id);
    builder_.add_mapping({range.start, limit, range.offset, range.module});
    ranges_[id] = range;
  }

  void add_frames(std::int64_t id, std::vector<FrameId>& stack) {
    const auto found = locations_.find(id);
    if (found == locations_.end())
      return builder_.notes().add(Severity::data_loss, "locations that the list does not have, left out");
    const Location& location = found->second;
    const std::size_t count = std::max<std::size_t>(location.frames.size(), 1);
    if (count > frames_left_ || stack.size() + count > kMostStackFrames)
      fail(ErrorCode::limit, "stacks expand to more frames than 16 Mi and 4 for each byte of input");
    frames_left_ -= count;
    FrameSpec place{.offset = location.address};
    if (const auto range = ranges_.find(location.mapping); range != ranges_.end()) {
      place.module = range->second.module;
      place.offset = location.address - range->second.start + range->second.offset;
    }
    if (location.frames.empty()) stack.push_back(builder_.frame(place));
    for (std::size_t i = 0; i < location.frames.size(); ++i) {
      FrameSpec frame = location.frames[i];
      frame.module = place.module;
      frame.offset = place.offset;
      frame.flags = i + 1 < location.frames.size() ? kFrameInlined : std::uint8_t{0};
      stack.push_back(builder_.frame(frame));
    }
  }

  Snapshot finish() {
    facts().format_detail = "raw";
    if (is_space_ && period_ > 0) {
      facts().period = period_;
      facts().sampling = period_ == 1 ? Sampling::exact : Sampling::poisson;
    }
    frames_left_ = kFreeFrames + 4 * lines_.offset();
    std::vector<FrameId> stack;
    for (std::size_t row = 0; row < samples_.size(); ++row) {
      stack.clear();
      for (std::size_t i = samples_[row].ids; i < samples_[row].ids_end; ++i) add_frames(ids_[i], stack);
      builder_.add_row(builder_.stack(stack), builder_.labels(samples_[row].labels),
                       std::span(values_).subspan(row * columns_, columns_));
    }
    lines_.note_skipped(builder_.notes());
    return value_or_throw(builder_.finish());
  }

  text::LogLines& lines_;
  SnapshotBuilder builder_;
  Section section_ = Section::heading;
  std::size_t columns_ = 0;
  bool is_space_ = false;
  std::int64_t period_ = 0;
  std::vector<Sample> samples_;
  std::vector<std::int64_t> values_, ids_;
  std::unordered_map<std::int64_t, Location> locations_;
  std::unordered_map<std::int64_t, Range> ranges_;
  Location* open_ = nullptr;
  std::uint64_t frames_left_ = 0;  // a location of many inlined lines is named in two bytes
};

}  // namespace

Snapshot read_raw(text::LogLines& lines) { return RawReader(lines).read(); }

}  // namespace snapdiff::formats::pprof_text

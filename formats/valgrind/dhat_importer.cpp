#include "formats/input/all_formats.hpp"
#include "formats/json/json_scanner.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

using json::Kind;

constexpr std::int64_t kVersion = 2;
constexpr std::string_view kRoot = "[root]";
constexpr std::size_t kMostIndexDigits = 9;
constexpr std::array<std::string_view, 6> kFieldNames{"tb", "tbk", "gb", "gbk", "eb", "ebk"};

void refuse_version(std::int64_t version, std::uint64_t offset) {
  if (version == kVersion) return;
  fail(ErrorCode::unsupported, "DHAT file version " + std::to_string(version) + ": expected 2", offset);
}

void refuse_mode(std::string_view mode, std::uint64_t offset) {
  if (mode != "copy" && mode != "ad-hoc") return;
  fail(ErrorCode::unsupported,
       "DHAT recording of mode " + std::string(mode) + ": it counts events, expected one of live blocks (mode heap)",
       offset);
}

/// Reads a DHAT file. The texts of its frames come after the program points that use them, so the points are
/// kept as numbers until then.
class DhatReader {
 public:
  explicit DhatReader(Input& in) : json_(in) {}

  /// The state at the end of the process, or where most bytes were live.
  /// Errors (thrown as Failure, or returned): malformed, unsupported (modes without live blocks), limit.
  Result<Snapshot> read(bool at_peak) {
    read_document();
    check(at_peak);
    SnapshotBuilder builder;
    add_facts(at_peak, builder);
    builder.add_heap_columns(!at_peak);
    for (const Point& point : points_) {
      const std::array<std::int64_t, 4> values{point.value[at_peak ? kPeakBlocks : kEndBlocks],
                                               point.value[at_peak ? kPeakBytes : kEndBytes], point.value[kTotalBlocks],
                                               point.value[kTotalBytes]};
      builder.add_row(stack_of(point, builder), LabelSetId{}, std::span(values).first(at_peak ? 2 : 4));
    }
    return builder.finish();
  }

 private:
  enum Field : std::uint8_t { kTotalBytes, kTotalBlocks, kPeakBytes, kPeakBlocks, kEndBytes, kEndBlocks, kFieldCount };
  struct Point {
    std::array<std::int64_t, kFieldCount> value{};
    std::uint32_t told = 0;  ///< a bit per field
    std::size_t first_frame = 0;
    std::size_t frame_end = 0;
    std::uint64_t offset = 0;
  };

  void read_document() {
    json_.skip_byte_order_mark();
    require(Kind::object, "DHAT file", "an object");
    json_.each_member([this](std::string_view key) { read_member(std::string(key)); });
    if (!json_.at_end()) json_.unexpected("nothing after the value");
  }

  void read_member(const std::string& key) {
    if (key == "dhatFileVersion") {
      version_ = count(key);
      refuse_version(*version_, value_offset_);
    } else if (key == "mode") {
      mode_ = text(key);
      refuse_mode(mode_, value_offset_);
    } else if (key == "cmd") {
      command_line_ = text(key);
    } else if (key == "tu") {
      time_unit_ = text(key);
    } else if (key == "bklt") {
      require(Kind::boolean, key, "true or false");
      lifetimes_ = json_.boolean();
    } else if (key == "pid") {
      pid_ = count(key);
    } else if (key == "te") {
      end_time_ = count(key);
    } else if (key == "tg") {
      peak_time_ = count(key);
    } else if (key == "pps") {
      read_points();
    } else if (key == "ftbl") {
      read_frame_texts();
    } else {
      json_.skip_value();
    }
  }

  void read_points() {
    if (have_points_) fail_malformed("second pps: expected one", json_.key_offset());
    have_points_ = true;
    require(Kind::array, "pps", "an array");
    json_.each_item([this](std::size_t) {
      require(Kind::object, "program point", "an object");
      points_.push_back(read_point());
    });
  }

  Point read_point() {
    Point point;
    point.offset = value_offset_;
    bool have_frames = false;
    json_.each_member([&](std::string_view key) {
      std::size_t field = 0;
      while (field < kFieldNames.size() && kFieldNames[field] != key) ++field;
      if (field < kFieldNames.size()) {
        point.value[field] = count(kFieldNames[field]);
        point.told |= 1U << field;
      } else if (key == "fs" && !have_frames) {
        have_frames = true;
        point.first_frame = frame_numbers_.size();
        read_frame_numbers();
        point.frame_end = frame_numbers_.size();
      } else {
        json_.skip_value();
      }
    });
    if (!have_frames) fail_malformed("program point without fs: expected its frames", point.offset);
    return point;
  }

  void read_frame_numbers() {
    require(Kind::array, "fs", "an array");
    json_.each_item([this](std::size_t) {
      require(Kind::number, "frame in fs", "an index of ftbl");
      const std::string_view number = json_.number_text();
      std::uint32_t index = 0;
      if (!text::parse_whole(number, index) || number.size() > kMostIndexDigits)
        fail_malformed("bad frame in fs: expected an index of ftbl", value_offset_);
      frame_numbers_.push_back(index);
    });
  }

  void read_frame_texts() {
    if (have_texts_) fail_malformed("second ftbl: expected one", json_.key_offset());
    have_texts_ = true;
    require(Kind::array, "ftbl", "an array");
    json_.each_item([this](std::size_t) { frame_texts_.push_back(text("frame in ftbl")); });
  }

  void require(Kind kind, std::string_view what, std::string_view expected) {
    const bool found = json_.kind() == kind;
    value_offset_ = json_.offset();
    if (!found) fail_malformed("bad " + std::string(what) + ": expected " + std::string(expected), value_offset_);
  }

  std::int64_t count(std::string_view what) {
    constexpr std::string_view kExpected = "a whole number from 0 to 2^63-1";
    require(Kind::number, what, kExpected);
    const std::optional<std::int64_t> value = text::whole_number(json_.number_text());
    if (!value) fail_malformed("bad " + std::string(what) + ": expected " + std::string(kExpected), value_offset_);
    return *value;
  }

  std::string text(std::string_view what) {
    require(Kind::text, what, "a text");
    std::string value;
    json_.text(value);
    return value;
  }

  void check(bool at_peak) const {
    const std::uint64_t end = json_.offset();
    for (const auto& [present, name] : {std::pair{version_.has_value(), "dhatFileVersion"},
                                        {!mode_.empty(), "mode"},
                                        {have_points_, "pps"},
                                        {have_texts_, "ftbl"}}) {
      if (!present) fail_malformed("no " + std::string(name) + ": expected it in the outermost object", end);
    }
    if (!lifetimes_) {
      fail(ErrorCode::unsupported,
           "DHAT recording of mode " + mode_ +
               " without lifetimes (bklt): nothing in it tells what was live; record with dhat::Profiler::new_heap() "
               "or --mode=heap",
           end);
    }
    const std::uint32_t needed = at_peak ? 1U << kPeakBytes | 1U << kPeakBlocks
                                         : 1U << kEndBytes | 1U << kEndBlocks | 1U << kTotalBytes | 1U << kTotalBlocks;
    for (const Point& point : points_) {
      if ((point.told & needed) != needed)
        fail_malformed(std::string("program point without its numbers: expected ") +
                           (at_peak ? "gb and gbk" : "eb, ebk, tb and tbk"),
                       point.offset);
    }
    for (const std::uint32_t number : frame_numbers_) {
      if (number >= frame_texts_.size())
        fail_malformed(
            instead("bad frame in fs", number, "less than the " + std::to_string(frame_texts_.size()) + " of ftbl"),
            end);
    }
  }

  StackId stack_of(const Point& point, SnapshotBuilder& builder) {
    frames_.clear();
    const auto numbers = std::span(frame_numbers_).subspan(point.first_frame, point.frame_end - point.first_frame);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string& text = frame_texts_[numbers[i]];
      if (text == kRoot) continue;
      const text::CodeLocation location = text::parse_location(text);
      const bool inlined =
          i + 1 < numbers.size() && text::is_inlined(location, text::parse_location(frame_texts_[numbers[i + 1]]));
      frames_.push_back(text::frame_of(builder, location, inlined ? kFrameInlined : std::uint8_t{0}));
    }
    return builder.stack(frames_);
  }

  void add_facts(bool at_peak, SnapshotBuilder& builder) const {
    SnapshotFacts& facts = builder.facts();
    facts.producer = mode_ == "heap" ? "dhat" : mode_;
    facts.format_detail = at_peak ? "at the peak" : "at the end";
    facts.command_line = command_line_;
    facts.pid = pid_;
    facts.sampling = Sampling::exact;
    facts.position = at_peak ? 1 : 0;
    const std::optional<std::int64_t>& time = at_peak ? peak_time_ : end_time_;
    if (time) facts.counters.push_back({"time", *time, time_unit_, true});
    std::int64_t peak = 0;
    for (const Point& point : points_) {
      if ((point.told & 1U << kPeakBytes) == 0 || !checked_add(peak, point.value[kPeakBytes], peak)) return;
    }
    facts.counters.push_back({"peak", peak, "bytes", false});
  }

  json::JsonScanner json_;
  std::uint64_t value_offset_ = 0;  // of the value that was required last
  std::optional<std::int64_t> version_;
  std::string mode_;
  std::string command_line_;
  std::string time_unit_;
  bool lifetimes_ = false;
  std::optional<std::int64_t> pid_;
  std::optional<std::int64_t> end_time_;
  std::optional<std::int64_t> peak_time_;
  std::vector<Point> points_;
  std::vector<std::uint32_t> frame_numbers_;
  std::vector<std::string> frame_texts_;
  std::vector<FrameId> frames_;
  bool have_points_ = false;
  bool have_texts_ = false;
};

Match sniff_dhat(std::string_view head) {
  return text::begins_with(head, {"{", "\"dhatFileVersion\""}) ? Match::certain : Match::no;
}

void decode_dhat(Input& in, SnapshotSink& out, const ReadRequest& request) {
  const std::string& point = request.point;
  const bool peak = point == "peak";
  if (!peak && !point.empty() && point != "end" && point != "last")
    fail(ErrorCode::usage, "no point '" + point + "': expected end or peak");
  give(out, DhatReader(in).read(peak));
}

}  // namespace

constexpr Format kDhat{.info = {"dhat", "DHAT heap profile (Valgrind, Rust's dhat), version 2",
                                "dhat.out.*, dhat-heap.json", "reads and writes of blocks, lifetimes"},
                       .sniff = sniff_dhat,
                       .decode = decode_dhat,
                       .has_moments = true};

}  // namespace snapdiff::formats

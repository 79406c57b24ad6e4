#include "formats/valgrind/dhat_reader.hpp"

#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "formats/input/read_failure.hpp"
#include "formats/valgrind/code_location.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::formats::valgrind {
namespace {

using Kind = JsonTokens::Kind;

constexpr std::int64_t kVersion = 2;
constexpr std::string_view kRoot = "[root]";
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

}  // namespace

Result<Snapshot> DhatReader::read(bool at_peak) {
  read_document();
  check(at_peak);
  SnapshotBuilder builder;
  add_facts(at_peak, builder);
  builder.add_column({"inuse_objects", "count"});
  builder.add_column({"inuse_space", "bytes"});
  if (!at_peak) {
    builder.add_column({"alloc_objects", "count"});
    builder.add_column({"alloc_space", "bytes"});
  }
  for (const Point& point : points_) {
    const std::array<std::int64_t, 4> values{point.value[at_peak ? kPeakBlocks : kEndBlocks],
                                             point.value[at_peak ? kPeakBytes : kEndBytes], point.value[kTotalBlocks],
                                             point.value[kTotalBytes]};
    builder.add_row(stack_of(point, builder), LabelSetId{}, std::span(values).first(at_peak ? 2 : 4));
  }
  return builder.finish();
}

void DhatReader::read_document() {
  tokens_.expect_begin(Kind::object_begin, "DHAT file");
  for (Kind kind = tokens_.next(); kind == Kind::key; kind = tokens_.next()) {
    const std::string key(tokens_.text());
    if (key == "dhatFileVersion") {
      version_ = tokens_.expect_count(key);
      refuse_version(*version_, tokens_.offset());
    } else if (key == "mode") {
      mode_ = tokens_.expect_text(key);
      refuse_mode(mode_, tokens_.offset());
    } else if (key == "cmd") {
      command_line_ = tokens_.expect_text(key);
    } else if (key == "tu") {
      time_unit_ = tokens_.expect_text(key);
    } else if (key == "bklt") {
      lifetimes_ = tokens_.expect_bool(key);
    } else if (key == "pid") {
      pid_ = tokens_.expect_count(key);
    } else if (key == "te") {
      end_time_ = tokens_.expect_count(key);
    } else if (key == "tg") {
      peak_time_ = tokens_.expect_count(key);
    } else if (key == "pps") {
      read_points();
    } else if (key == "ftbl") {
      read_frame_texts();
    } else {
      tokens_.skip_value();
    }
  }
  tokens_.next();  // nothing may follow
}

void DhatReader::read_points() {
  if (have_points_) fail_malformed("second pps: expected one", tokens_.offset());
  have_points_ = true;
  tokens_.expect_begin(Kind::array_begin, "pps");
  for (Kind kind = tokens_.next(); kind != Kind::array_end; kind = tokens_.next()) {
    if (kind != Kind::object_begin) fail_malformed("bad program point: expected an object", tokens_.offset());
    points_.push_back(read_point());
  }
}

DhatReader::Point DhatReader::read_point() {
  Point point;
  point.offset = tokens_.offset();
  bool have_frames = false;
  for (Kind kind = tokens_.next(); kind == Kind::key; kind = tokens_.next()) {
    const std::string_view key = tokens_.text();
    std::size_t field = 0;
    while (field < kFieldNames.size() && kFieldNames[field] != key) ++field;
    if (field < kFieldNames.size()) {
      point.value[field] = tokens_.expect_count(kFieldNames[field]);
      point.told |= 1U << field;
    } else if (key == "fs" && !have_frames) {
      have_frames = true;
      point.first_frame = frame_numbers_.size();
      read_frame_numbers();
      point.frame_end = frame_numbers_.size();
    } else {
      tokens_.skip_value();
    }
  }
  if (!have_frames) fail_malformed("program point without fs: expected its frames", point.offset);
  return point;
}

void DhatReader::read_frame_numbers() {
  tokens_.expect_begin(Kind::array_begin, "fs");
  for (Kind kind = tokens_.next(); kind != Kind::array_end; kind = tokens_.next()) {
    std::int64_t number = -1;
    if (kind == Kind::number) {
      const std::string_view text = tokens_.text();
      number = text.size() > 9 || text.find_first_not_of("0123456789") != std::string_view::npos
                   ? -1
                   : std::stoll(std::string(text));
    }
    if (number < 0) fail_malformed("bad frame in fs: expected an index of ftbl", tokens_.offset());
    frame_numbers_.push_back(static_cast<std::uint32_t>(number));
  }
}

void DhatReader::read_frame_texts() {
  if (have_texts_) fail_malformed("second ftbl: expected one", tokens_.offset());
  have_texts_ = true;
  tokens_.expect_begin(Kind::array_begin, "ftbl");
  for (Kind kind = tokens_.next(); kind != Kind::array_end; kind = tokens_.next()) {
    if (kind != Kind::text) fail_malformed("bad frame in ftbl: expected a text", tokens_.offset());
    frame_texts_.emplace_back(tokens_.text());
  }
}

void DhatReader::check(bool at_peak) const {
  const std::uint64_t end = tokens_.offset();
  for (const auto& [present, name] : {std::pair{version_.has_value(), "dhatFileVersion"},
                                      {!mode_.empty(), "mode"},
                                      {have_points_, "pps"},
                                      {have_texts_, "ftbl"}}) {
    if (!present) fail_malformed("no " + std::string(name) + ": expected it in the outermost object", end);
  }
  if (!lifetimes_) {
    fail(ErrorCode::unsupported,
         "DHAT recording of mode " + mode_ + " without lifetimes (bklt): nothing in it tells what was live", end);
  }
  const std::uint32_t needed = at_peak ? 1U << kPeakBytes | 1U << kPeakBlocks
                                       : 1U << kEndBytes | 1U << kEndBlocks | 1U << kTotalBytes | 1U << kTotalBlocks;
  for (const Point& point : points_) {
    if ((point.told & needed) != needed) {
      fail_malformed(std::string("program point without its numbers: expected ") +
                         (at_peak ? "gb and gbk" : "eb, ebk, tb and tbk"),
                     point.offset);
    }
  }
  for (const std::uint32_t number : frame_numbers_) {
    if (number >= frame_texts_.size()) {
      fail_malformed("bad frame in fs: found " + std::to_string(number) + ", expected less than the " +
                         std::to_string(frame_texts_.size()) + " of ftbl",
                     end);
    }
  }
}

StackId DhatReader::stack_of(const Point& point, SnapshotBuilder& builder) {
  frames_.clear();
  const auto numbers = std::span(frame_numbers_).subspan(point.first_frame, point.frame_end - point.first_frame);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::string& text = frame_texts_[numbers[i]];
    if (text == kRoot) continue;
    const CodeLocation location = parse_location(text);
    const bool inlined = i + 1 < numbers.size() && is_inlined(location, parse_location(frame_texts_[numbers[i + 1]]));
    frames_.push_back(make_frame(location, inlined, builder));
  }
  return builder.stack(frames_);
}

void DhatReader::add_facts(bool at_peak, SnapshotBuilder& builder) const {
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

}  // namespace snapdiff::formats::valgrind

#pragma once

#include "formats/pprof/field_stream.hpp"

namespace snapdiff::formats::pprof {

/// The tables of a profile as written, before anything is looked up: strings are indices into
/// `strings`, references are ids. `offset` is where a record starts in the input.
struct RawValueType {
  std::int64_t type = 0;
  std::int64_t unit = 0;
  std::uint64_t offset = 0;
};
struct RawMapping {
  std::uint64_t id = 0;
  std::uint64_t start = 0;
  std::uint64_t limit = 0;
  std::uint64_t file_offset = 0;
  std::int64_t file_name = 0;
  std::int64_t build_id = 0;
  std::uint64_t offset = 0;
};
struct RawFunction {
  std::uint64_t id = 0;
  std::int64_t name = 0;
  std::int64_t system_name = 0;
  std::int64_t file_name = 0;
  std::int32_t start_line = 0;
  std::uint64_t offset = 0;
};
struct RawLine {
  std::uint64_t function_id = 0;
  std::int32_t line = 0;
  std::int32_t column = 0;
};
struct RawLocation {
  std::uint64_t id = 0;
  std::uint64_t mapping_id = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint32_t first_line = 0;  ///< row of `lines`; the last line is before that of the next location
  bool folded = false;
};

/// String texts in one piece of memory: those of a windowed input must outlive the window.
class RawStrings {
 public:
  void append(std::string_view text) {
    bytes_.append(text);
    end_.push_back(bytes_.size());
  }
  std::size_t size() const { return end_.size() - 1; }
  std::uint64_t byte_count() const { return bytes_.size(); }
  std::string_view operator[](std::size_t row) const {
    return std::string_view(bytes_).substr(end_[row], end_[row + 1] - end_[row]);
  }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> end_{0};
};

struct ProfileTables {
  std::vector<RawValueType> sample_types;
  std::vector<RawMapping> mappings;
  std::vector<RawLocation> locations;
  std::vector<RawLine> lines;
  std::vector<RawFunction> functions;
  RawStrings strings;
  RawValueType period_type;
  std::int64_t drop_frames = 0;
  std::int64_t keep_frames = 0;
  std::int64_t time_ns = 0;
  std::int64_t duration_ns = 0;
  std::int64_t period = 0;
  std::int64_t default_sample_type = 0;
  std::int64_t doc_url = 0;
  std::vector<std::int64_t> comments;
  Notes notes;

  /// Takes a field other than a sample. Unknown ones are skipped.
  /// Throws Failure.
  void take(const Field& field);

  /// The text of string `index`, which is in the record at `offset`.
  /// Throws Failure when there is no such string.
  std::string_view text(std::int64_t index, std::uint64_t offset) const;
};

/// Throws Failure: a known field has another wire type than its definition gives it.
[[noreturn]] void fail_wire_type(const Field& field);

}  // namespace snapdiff::formats::pprof

#pragma once

#include <array>

#include "formats/jfr/metadata.hpp"

namespace snapdiff::formats::jfr {

struct ChunkHeader {
  static constexpr std::size_t kBytes = 68;
  static constexpr std::string_view kMagic{"FLR\0", 4};
  std::uint64_t offset = 0;  ///< in the input
  std::uint64_t size = 0;    ///< 0: being written
  std::uint64_t metadata_at = 0;
  std::uint16_t major = 0, minor = 0;
  std::int64_t start_ns = 0, duration_ns = 0, start_ticks = 0, ticks_per_second = 0;

  /// `bytes` are kBytes that begin with kMagic. Throws Failure: malformed, unsupported.
  ChunkHeader(std::string_view bytes, std::uint64_t at);
  /// Nanoseconds since 1970, held within 64 bits.
  std::int64_t time_of(std::int64_t ticks) const;
};

/// The value of one wanted field.
struct Value {
  std::uint32_t type = kNoType;  ///< kNoType: the field is not there
  bool in_pool = false;          ///< `number` is the key of a constant of `type`
  bool is_array = false;
  std::int64_t number = 0;
  std::size_t at = 0;  ///< in the chunk, of a text, an array or a group of fields
  bool known() const { return type != kNoType; }
};

/// How to get at some fields of a type: which fields are passed over and which are read.
struct Plan {
  struct Step {
    const Field* field = nullptr;
    int slot = -1;  ///< of the value; -1: passed over
  };
  std::vector<Step> steps;
};

/// A chunk of a recording: types, constants and events. Its bytes must outlive it.
class Chunk {
 public:
  static constexpr std::size_t kMostWanted = 8;
  static constexpr std::size_t kLongestText = 512;
  using Values = std::array<Value, kMostWanted>;
  using Names = std::span<const std::string_view>;

  /// Throws Failure: malformed.
  Chunk(std::string_view bytes, const ChunkHeader& header);

  const ChunkHeader& header() const { return header_; }
  const Metadata& types() const { return types_; }

  /// Calls `visit(type row, body, offset)` for each event, in the order of the file. Throws Failure: malformed.
  template <class Visit>
  void each_event(Visit visit) const {
    Cursor at(bytes_, header_.offset, ChunkHeader::kBytes);
    while (at.left() > 0) {
      Cursor body = event(at);
      const std::uint64_t id = body.number();
      if (id != kMetadataId && id != kConstantsId) visit(types_.find(id), body, id);
    }
  }

  /// `names` of fields, `heapSpace.committedSize` within another. `whole`: reading ends behind the value.
  Plan plan(std::uint32_t type, Names names, bool whole = false) const;
  Values read(const Plan& plan, Cursor& at) const;

  /// The place of a constant; false where there is none (key 0, or one that the chunk lacks).
  bool find(const Value& reference, Cursor& at) const;
  /// Fields of a constant, or of a group of fields; all unknown where there is none.
  Values look(const Value& value, Names names);
  Cursor cursor(std::size_t at) const { return Cursor(bytes_, header_.offset, at); }
  /// A text, or the text of a constant whose first field is one; not more than `longest` bytes of it, since any
  /// number of others may refer to one text.
  std::string text(Value value, std::size_t longest = kLongestText) const;
  std::uint64_t missing_constants() const { return missing_; }

 private:
  static constexpr std::uint64_t kMetadataId = 0, kConstantsId = 1;
  struct Constants {
    NumberRows keys;
    std::vector<std::uint32_t> at;
  };
  struct KnownPlan {
    std::uint32_t type;
    const std::string_view* names;
    Plan plan;
  };

  Cursor event(Cursor& at) const;
  Metadata read_metadata() const;
  void read_constants(Cursor body);
  void add_steps(std::uint32_t type, std::string_view prefix, Names names, Plan& plan) const;
  Value value_of(const Field& field, Cursor& at) const;

  std::string_view bytes_;
  ChunkHeader header_;
  Metadata types_;
  std::uint32_t string_type_ = kNoType;
  std::vector<Constants> constants_;  // by type row
  std::vector<KnownPlan> plans_;
  mutable std::uint64_t missing_ = 0;
};

}  // namespace snapdiff::formats::jfr

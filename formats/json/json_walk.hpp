#pragma once

#include <initializer_list>

#include "formats/input/format.hpp"
#include "formats/json/json_scanner.hpp"

namespace snapdiff::formats::json {

/// What a reader does with the parts of a JSON text, as they come; nothing is kept but the path to the
/// part. Views are valid during the call. Members may throw Failure.
class Walk {
 public:
  virtual ~Walk() = default;

  /// Reads the next value; false when only blanks are left. Throws Failure as the scanner does, malformed for a
  /// text that is not UTF-8 or has control characters, and limit for more than 64 levels.
  bool read(JsonScanner& json);

  /// A container begins; the path leads to it.
  virtual void opened(bool /*array*/) {}
  virtual void number(std::int64_t /*value*/) {}
  /// Numbers with a fraction or an exponent, and whole ones beyond 64 bits.
  virtual void real(double /*value*/) {}
  virtual void text(std::string_view /*value*/) {}

  /// Where the reader stands: after the part that came last.
  std::uint64_t offset() const { return offset_; }
  [[noreturn]] void malformed(std::string message) const { fail_malformed(std::move(message), offset_); }
  /// How many keys and indices lead to the part.
  std::size_t depth() const { return path_.size(); }
  /// The key at `level`, "" in an array.
  std::string_view key(std::size_t level) const { return path_[level].key; }
  /// The position at `level`, in an object as well.
  std::size_t index(std::size_t level) const { return path_[level].index; }
  /// Whether the path is `path`; "*" stands for any one key or position.
  bool at(std::initializer_list<std::string_view> path) const;

 private:
  struct Level {
    std::string key;
    std::size_t index = 0;
  };
  void value(JsonScanner& json);
  void container(JsonScanner& json, bool array);
  void number_as_written(std::string_view number);

  std::vector<Level> path_;
  std::string text_;
  std::uint64_t offset_ = 0;
};

/// Reads the first JSON value of `in` into `walk`.
bool read_value(Input& in, Walk& walk);

/// decode() of a format that is one JSON value, of which `Reader`, a Walk, finish()es a snapshot.
template <class Reader>
void decode_value(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  Reader walk;
  read_value(in, walk);
  give(out, walk.finish());
}

}  // namespace snapdiff::formats::json

#pragma once

#include "analyzer/base/held_stacks.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats {

/// What is wanted of an input; a format looks at what concerns it.
struct ReadRequest {
  /// The moments wanted of a format that has_moments, as FILE@POINT says them ("peak", "12.5s", "every:500ms"); "" for
  /// its usual one.
  std::string point = {};
  /// Gets what breaks the format's rules, where it knows more than its notes; may be empty. Reading ends when it
  /// returns false.
  ViolationSink violations = {};
  /// RE2 with the named groups value (required), name, unit, time, iteration (or step); any other named
  /// group is a tag. Where there is one, only what the patterns match is read.
  std::vector<std::string> patterns = {};
  /// RE2 searched in each metric line: its named groups are tags of the line's counters, a group without
  /// a name is the tag `thread`. "" = none.
  std::string group_by = {};
  /// The stacks that another dictionary holds, or null. May wait for them: a format asks once, before its stacks, on
  /// the thread that reads. It may then leave out their frames, as SnapshotBuilder::leave_out() does; may be empty.
  std::function<const HeldStacks*()> held_stacks = {};
  bool decimal_units = false;  ///< KB, MB, GB are powers of 1000 in lines whose tool is not known
};

/// What a sniff says of a format with a signature.
constexpr Match certain_if(bool has_signature) { return has_signature ? Match::certain : Match::no; }

inline std::string no_refusal(std::string_view /*head*/) { return {}; }

/// A format as data: registry.cpp lists them all. `sniff`, `refusal` and `decode` keep nothing between calls and may be
/// called from several threads at once.
struct Format {
  FormatInfo info;

  /// Whether a head, the first decompressed bytes (all of them when shorter than kSniffBytes), looks like this format.
  Match (*sniff)(std::string_view head);

  /// Reads the whole input into one or more snapshots. Fills every fact that the bytes say; the caller fills
  /// `facts.source`, `facts.format` and the user's labels. Throws Failure: malformed and limit with a byte offset
  /// into the decompressed input; usage (no such point; says which there are); what the input and the sink return. A
  /// survivable problem is counted in the snapshot's notes instead.
  void (*decode)(Input& in, SnapshotSink& out, const ReadRequest& request);

  /// Why a head is a near relative that this format refuses ("this is a CPU profile"), or "".
  std::string (*refusal)(std::string_view head) = no_refusal;

  /// Files hold more moments than are read unasked: ReadRequest::point chooses others. facts.position is unique among
  /// all moments of one input, and 0 is the usual one.
  bool has_moments = false;
  /// Of several formats that fit alike, the one of the highest rank is taken.
  int rank = 0;

  /// decode(), whose failure is the result.
  Status read(Input& in, SnapshotSink& out, const ReadRequest& request = {}) const {
    return run_reader([&] { decode(in, out, request); });
  }
};

}  // namespace snapdiff::formats

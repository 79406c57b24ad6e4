#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/api.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff {

/// What a format is called and what reading it gives and loses; plain data, also what
/// `snapdiff formats` prints.
struct FormatInfo {
  std::string_view name;        ///< for --format and SnapshotFacts::format, e.g. "pprof"
  std::string_view summary;     ///< one line for people
  std::string_view extensions;  ///< usual file names, e.g. "*.pb.gz"; never used for detection
  std::string_view lost;        ///< what of such a file is not kept, "" when nothing
};

enum class Match : std::uint8_t { no, possible, certain };

/// How many decompressed bytes Format::sniff() is shown at most.
inline constexpr std::size_t kSniffBytes = 16 * 1024;

/// Decompressed bytes of one input, front to back, through a window that grows on demand. Not
/// thread-safe. Views stay valid until the next call of peek().
class Input {
 public:
  virtual ~Input() = default;

  /// The bytes from offset() on: at least `wanted`, fewer only when the input ends before, often
  /// more (all of it, when the input is in memory). peek(1).empty() means the end.
  /// Errors: io, malformed (damaged compression), limit (bombs, --max-input).
  virtual Result<std::string_view> peek(std::size_t wanted) = 0;

  /// Moves on; n <= size of the last view.
  virtual void consume(std::size_t n) = 0;

  /// Decompressed bytes consumed so far.
  virtual std::uint64_t offset() const = 0;

  /// Name for error messages and for facts read off it (pid, sequence): the user's path or "-".
  virtual const std::string& name() const = 0;

  /// "" or the compressions that were undone, from the outside in, e.g. "gzip".
  virtual std::string_view compression() const = 0;
};

/// Takes finished snapshots, oldest first.
class SnapshotSink {
 public:
  virtual ~SnapshotSink() = default;
  /// An error stops the importer, which returns it.
  virtual Status take(Snapshot snapshot) = 0;
};

/// Something in an input that its format does not allow (`data_loss`: reading drops it), or that a writer should know.
struct Violation {
  Severity severity = Severity::data_loss;
  std::uint64_t line = 0;               ///< from 1; 0 where the format has no lines
  std::optional<std::uint64_t> offset;  ///< in bytes of the decompressed input
  std::string rule;                     ///< of the format's description, e.g. "rule 7"; may be ""
  std::string text;
};

/// Gets each violation; false ends the reading at a data_loss.
using ViolationSink = std::function<bool(const Violation&)>;

/// Collects snapshots in memory.
class SNAPDIFF_API SnapshotList : public SnapshotSink {
 public:
  Status take(Snapshot snapshot) override;
  std::vector<Snapshot> snapshots;
};

}  // namespace snapdiff

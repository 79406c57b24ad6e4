#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/base/query_cell.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

/// The only public header of the store module: one SQLite file that keeps snapshots (README.md beside this
/// file has the layout).
namespace snapdiff::store {

enum class Access : std::uint8_t {
  read,    ///< the file must exist; also works on read-only media
  write,   ///< the file must exist
  create,  ///< made when missing
};

/// How the snapshots of a series are ordered (product.md section 3).
enum class Order : std::uint8_t { time, sequence, import };

/// A snapshot as `list` shows it.
struct SnapshotInfo {
  SnapshotId id{};
  std::string series;
  std::uint64_t series_position = 0;  ///< 1-based in the series' order
  SnapshotFacts facts;                ///< notes and labels included
  std::vector<std::pair<SampleType, std::int64_t>> totals;
  std::uint64_t rows = 0;
};
struct SeriesInfo {
  std::string name;
  Order order = Order::import;
  std::vector<SnapshotInfo> snapshots;  ///< in that order
};

/// A series as far as its order goes: without the facts of its snapshots.
struct SeriesOrder {
  std::string name;
  Order order = Order::import;
  std::vector<SnapshotId> snapshots;
  std::vector<std::optional<std::int64_t>> taken_at_ns;  ///< of each
};

/// Gives snapshots, which are in the order of their import, the series' order and their positions, as list() does.
void put_in_order(SeriesInfo& series);

struct Imported {
  SnapshotId id{};
  bool was_present = false;  ///< the same path and bytes were in this series already
};

/// The predecessor of the next snapshot of a series.
struct SeriesEnd {
  SnapshotId newest{};
  std::vector<std::string> sources;  ///< paths its snapshots were read from, each once
};

/// How much of a snapshot load() brings.
enum class Parts : std::uint8_t {
  rows,       ///< without Snapshot::allocator: a diff needs no traces, and they can be most of the store
  allocator,  ///< everything
};

/// The last comparison: enough for `render` and `diff` without operands.
struct Comparison {
  std::vector<SnapshotId> snapshots;
  std::string options_json;  ///< the CLI's own record of the view
};

/// Not thread-safe. Every member that changes the file does so in one transaction.
class Store {
 public:
  /// `path` may be ":memory:". Waits up to 5 s for a busy store.
  /// Errors: io (missing, read-only, full), incompatible (newer schema), unsupported (a file that
  /// is no store), malformed (damaged).
  static Result<Store> open(const std::string& path, Access access);

  /// A store that does not exist yet, built in memory: nothing is seen at `path` before publish().
  /// Errors: limit (out of memory); members end with io once it is larger than SQLite's limit for a
  /// database in memory (1 GiB).
  static Result<Store> draft(const std::string& path);

  /// Puts a draft in place, whole and synced, with all that was added. False, with nothing done,
  /// where that cannot be: something is there already, or the file system cannot give a name to a
  /// finished file. Then open() and do it again.
  bool publish();

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// Stores one snapshot at the end of `series`. `source_bytes` non-empty keeps the original too.
  Result<Imported> add(const Snapshot& snapshot, const std::string& series, std::string_view source_bytes = {});

  /// Stores snapshots at the end of `series`, in this order and in one transaction: all of them or none. For the many
  /// small ones of a log; 10 000 without rows take a quarter of a second, one by one ten.
  Result<std::vector<Imported>> add_all(std::span<const Snapshot* const> snapshots, const std::string& series);

  /// Snapshots as models in memory, in the order asked for, sharing one dictionary that holds no
  /// more than they use. Errors: usage (unknown id), malformed (damaged chunk).
  Result<std::vector<Snapshot>> load(std::span<const SnapshotId> ids, Parts parts = Parts::rows);

  /// All snapshots without rows or label sets, sharing one dictionary with every frame that was imported as an address
  /// and those derived from them (kFrameDerived), each the only frame of one stack: what symbols are looked up for.
  Result<std::vector<Snapshot>> addresses();

  /// All series with the facts of their snapshots, the one that was imported into last at the end; with names those
  /// alone, without reading others.
  Result<std::vector<SeriesInfo>> list(std::span<const std::string> names = {});

  /// Names of all series, in that order.
  Result<std::vector<std::string>> series_names();

  /// One series in its order; nothing where there is none. Reads no more than this series.
  Result<std::optional<SeriesOrder>> series(const std::string& name);
  Result<std::optional<SeriesOrder>> series_with(SnapshotId id);

  /// Snapshots with ids from `first` to `last`, ascending.
  Result<std::vector<SnapshotId>> between(SnapshotId first, SnapshotId last);

  /// Snapshots with this label, series by series, in the order of each series.
  Result<std::vector<SnapshotId>> labelled(const std::string& key, const std::string& value);

  /// The newest snapshot of a series and where its snapshots came from; nothing where no series has this name. Reads
  /// no more than this series.
  Result<std::optional<SeriesEnd>> series_end(const std::string& name);

  /// The snapshot that was imported last; nothing in an empty store.
  Result<std::optional<SnapshotId>> newest();

  /// The original bytes of a snapshot's source, where add() was given them.
  Result<std::optional<std::string>> source_bytes(SnapshotId id);

  /// Takes over the names of addresses: frames of `named` that were imported as addresses and have a
  /// function now, with the frames derived from them (kFrameDerived). Stacks keep their ids and
  /// hashes. Returns how many addresses were named again or otherwise.
  Result<std::size_t> take_names(const Dictionary& named);

  /// Removes snapshots, and the sources, stacks and strings that nothing else uses.
  Status remove(std::span<const SnapshotId> ids);

  /// Takes in everything of another store that is not here yet; ids are given again.
  /// Returns how many snapshots were added.
  Result<std::size_t> merge(const std::string& other_path);

  Status remember(const Comparison& comparison);
  Result<std::optional<Comparison>> last_comparison();

  /// Which row a stack of a snapshot is in, by StackId of the dictionary that both share; kNoRow: in none.
  static constexpr std::uint32_t kNoRow = 0xffffffff;
  struct StackRows {
    std::vector<std::uint32_t> baseline, current;
  };
  /// Nothing where each stack is a row of its own.
  using Matcher = std::function<std::optional<StackRows>(const Snapshot& baseline, const Snapshot& current)>;

  /// Tells growth(from, to) of sql() which stacks of two builds are one. Without it equal stacks are.
  void match_with(Matcher matcher);

  /// Runs SQL statements; `on_columns` once per statement with rows, `on_row` for each row. Statements that would
  /// change the file are refused unless `may_write`.
  struct SqlSink {
    std::function<void(std::span<const std::string> columns)> on_columns;
    std::function<void(std::span<const QueryCell> row)> on_row;
  };
  Status sql(std::string_view script, const SqlSink& sink, bool may_write = false);

  /// Writes everything as plain tables and rows that any SQLite can read, without our extension.
  Status export_plain(const std::string& path);

  /// PRAGMA integrity_check plus our own: every chunk decodes and validates.
  Status check();

  const std::string& path() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace snapdiff::store

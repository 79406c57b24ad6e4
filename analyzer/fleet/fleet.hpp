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
#include "snapdiff/hash.hpp"
#include "snapdiff/result.hpp"
#include "snapdiff/snapshot.hpp"

/// The public header of the fleet module: snapshots of many machines in ClickHouse (README.md beside this file). The
/// engine stores, shards and adds; what is compared, judged and said is the caller's, from the same models in memory
/// that files give.
namespace snapdiff::fleet {

/// Where the servers are.
///   urls       HTTP interfaces; the first one is asked, `init` makes its tables on each of them
///   password   sent in a header, never in an address; in no error
///   authority  file with certificates to trust instead of the system's; "" for those
struct Connection {
  std::vector<std::string> urls;
  std::string user;
  std::string password;
  std::string database = "snapdiff";
  std::string cluster = "fleet";
  std::string authority;
  std::int64_t timeout_seconds = 300;
};

/// What `init` makes.
///   keep_days, keep_hourly_days   samples are kept so long, hourly values so long
///   on_cluster  one statement for all servers; they need a keeper
struct Layout {
  std::int64_t keep_days = 30;
  std::int64_t keep_hourly_days = 400;
  bool on_cluster = false;
};

/// The statements of `init`, in order. `modern`: for servers from 22.8 on, else for 18.16 and later.
std::vector<std::string> statements(const Connection& to, const Layout& layout, bool modern);

/// Who the pushed snapshots are of.
struct Origin {
  std::string service;
  std::string instance;
  std::string version;
  std::vector<std::pair<std::string, std::string>> labels;
};

struct Pushed {
  std::uint64_t snapshots = 0, present = 0;  ///< new ones; those that were there
  std::uint64_t expired = 0;                 ///< sent, and older than the servers keep
  std::uint64_t rows = 0, stacks = 0, frames = 0;
  std::uint64_t bytes = 0;  ///< sent, compressed
};

/// One column in bytes (or alone) of a committed snapshot, with the counts beside it.
///   push   of this attempt alone: rows of an attempt that was not committed count nowhere
///   ts_ns  time of the snapshot, else of the file, else of the push
///   has_time  it is the snapshot's own
///   nth    grows from push to push of an instance
struct Committed {
  Hash128 snapshot;
  std::uint64_t push = 0;
  std::uint64_t nth = 0;
  std::string service, metric, unit, instance, version;
  std::vector<std::pair<std::string, std::string>> labels;
  std::uint64_t ts_ns = 0;
  std::uint64_t restart = 0;
  std::uint64_t period = 0;
  std::uint64_t rows = 0;
  std::int64_t total = 0;
  std::int64_t objects = 0;
  bool has_time = false;
  bool partial = false, incomplete = false;  ///< cut short; rows may be left out
  bool removed = false;                      ///< list() leaves these out
};

/// Which snapshots. "" and nothing: all.
struct Slice {
  std::string service, instance, version, metric;
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<std::uint64_t> since_ns, until_ns;
};

/// Snapshots that are added up to one.
///   members  of one metric, or one member of each metric of one snapshot
struct Step {
  std::vector<const Committed*> members;
};

/// Where each step's rows get a label of the caller's instead of their own: by what is `key` called, and its value for
/// each member of each step.
struct Pivot {
  std::string key;
  std::function<std::string(const Committed&)> value;
};

/// What rows call the labels of a sample; 0 for none.
std::uint64_t label_id(const Dictionary& dictionary, LabelSetId set);

/// Growth of one stack on one instance between two moments; never 0, in any order.
///   label  of the samples; 0 where labels were not asked for
struct InstanceGrowth {
  Hash128 stack;
  std::uint64_t label = 0;
  std::uint32_t instance = 0;  ///< index into the pairs that were asked for
  std::int64_t growth = 0;
};

/// Growth per stack and instance, where the rows of two steps that fetch() reads give it, too: so far as an instance is
/// few rows.
///   metric  whose growth
struct GrowthBeside {
  std::string metric;
  std::optional<std::vector<InstanceGrowth>> growth;
};

struct ServerFacts {
  std::string version;
  bool modern = false;
  std::uint64_t shards = 0;
  std::uint64_t sample_rows = 0, committed_rows = 0;
  std::uint64_t stacks = 0, frames = 0, snapshots = 0;
  std::uint64_t stored_bytes = 0;  ///< of samples, on the server that was asked
};

/// One connection at a time. Errors of all members: io (no server, a server in error, a lost answer), with the server
/// and the statement's name; malformed (an answer that breaks its format); limit.
class Fleet {
 public:
  /// Errors: usage (no address, or one with a password in it).
  static Result<Fleet> open(Connection to);
  struct Impl;  // impl.hpp
  Fleet(Fleet&&) noexcept;
  Fleet& operator=(Fleet&&) noexcept;
  ~Fleet();

  /// Makes the database and tables on every address, or through the first one.
  Status init(const Layout& layout);

  /// Sends snapshots that are not there yet; each is there as a whole or not at all.
  Result<Pushed> push(std::span<const Snapshot* const> snapshots, const Origin& origin);

  /// Takes snapshots out: no answer counts them from then on, and a push brings each back. Their rows stay until they
  /// are older than the servers keep, and the roll-ups by hour still hold them.
  Status remove(std::span<const Committed> rows);

  /// Committed snapshots by service, instance, time and metric; each once, however often it was pushed.
  Result<std::vector<Committed>> list(const Slice& slice);

  /// The steps as snapshots that share a dictionary. A step of one snapshot is that snapshot, with its facts; one of
  /// several holds the sums of one metric. Below `floor` (if not 0), stacks whose values range over less at the steps
  /// are one row `[below threshold]`.
  /// Errors: internal, where the rows do not add up to the committed totals: bytes are missing on a server.
  /// `beside`: filled with the growth of the members of two steps, by their place in them.
  Result<std::vector<Snapshot>> fetch(std::span<const Step> steps, const Pivot* pivot = nullptr, std::int64_t floor = 0,
                                      GrowthBeside* beside = nullptr);

  /// Growth per stack and instance; `pairs` are the baseline and the current snapshot of each instance. `by_label`:
  /// also per label.
  Result<std::vector<InstanceGrowth>> growth(std::span<const std::pair<const Committed*, const Committed*>> pairs,
                                             bool by_label = false);

  Result<ServerFacts> facts();

  /// Any statement of one's own that reads tables of this database or of the system (query_guard.hpp). Errors: usage,
  /// where it reads anything else; also what the server says of it.
  Status sql(std::string_view query, const std::function<void(std::span<const std::string>)>& on_columns,
             const std::function<void(std::span<const QueryCell>)>& on_row);

 private:
  explicit Fleet(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace snapdiff::fleet

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/fleet/facts_codec.hpp"
#include "analyzer/fleet/impl.hpp"
#include "analyzer/fleet/tables.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::fleet {

std::uint64_t label_id(const Dictionary& d, LabelSetId set) {
  if (set == LabelSetId{}) return 0;
  SequenceHasher hasher;
  for (const Label& label : d.labels.labels(set)) {
    hasher.add(hash_bytes(d.strings[label.key]));
    hasher.add(hash_bytes(d.strings[label.text]));
    hasher.add(hash_bytes(d.strings[label.unit]));
    hasher.add({mix64(static_cast<std::uint64_t>(label.number)), label.is_number ? 1U : 0U});
  }
  return std::max<std::uint64_t>(hasher.finish().high, 1);
}

namespace {

/// Rows that are sent at once: large parts are what the engine likes.
constexpr std::uint64_t kRowsAtOnce = 500'000;
/// Stacks are written again after so many days, so that `seen` says which are in use.
constexpr std::uint16_t kSeenDays = 7;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

/// The first of the numbers of an attempt. The top bit makes each a UInt64 in every list of literals; the next one is
/// left free for those that follow.
std::uint64_t random_push() {
  std::random_device device;
  const std::uint64_t random = std::uint64_t{device()} << 32 | device();
  return (random & (~std::uint64_t{0} >> 2U)) | (std::uint64_t{1} << 63);
}

Hash128 snapshot_id(const Snapshot& snapshot, const Origin& origin) {
  const SourceFacts& source = snapshot.facts.source;
  SequenceHasher hasher;
  hasher.add(hash_bytes(origin.service));
  hasher.add(hash_bytes(origin.instance));
  hasher.add(hash_bytes(base_name(source.name)));
  hasher.add(hash_bytes(source.sha256));
  hasher.add({mix64(snapshot.facts.position), mix64(source.size_bytes)});
  return hasher.finish();
}

std::uint64_t time_of(const Snapshot& snapshot, std::uint64_t now) {
  const SnapshotFacts& facts = snapshot.facts;
  const std::optional<std::int64_t> time = facts.taken_at_ns ? facts.taken_at_ns : facts.source.file_time_ns;
  if (!time) return now;
  return *time < 0 ? 0 : static_cast<std::uint64_t>(*time);
}

/// The row that commits a snapshot, or takes it out.
void put_commit(RowWriter& out, const Committed& row, std::string_view facts) {
  out.hash(row.snapshot).number(row.push).number(row.nth).text(row.service).text(row.metric).text(row.unit);
  out.number(hash_bytes(row.instance).high).text(row.instance).text(row.version);
  out.varint(row.labels.size());
  for (const auto& [key, value] : row.labels) out.text(key);
  out.varint(row.labels.size());
  for (const auto& [key, value] : row.labels) out.text(value);
  out.number(row_seconds(row.ts_ns)).number(row.ts_ns).number(static_cast<std::uint32_t>(row.restart));
  out.number(row.period);
  out.number(static_cast<std::uint8_t>((row.partial ? kPartial : 0) | (row.incomplete ? kIncomplete : 0) |
                                       (row.has_time ? kOwnTime : 0) | (row.removed ? kRemoved : 0)));
  out.number(static_cast<std::uint32_t>(row.rows)).number(row.total).number(row.objects).text(facts);
}

/// Numbers whose order is that of the bytes of these.
std::uint64_t big_endian(std::uint64_t value) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t out = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) out = out << 8U | (value >> shift & 0xffU);
  return out;
}

struct SampleRow {
  Hash128 stack;
  std::uint64_t label, push;
  std::int64_t value, objects;
  std::uint32_t metric, ts;
  std::uint8_t known;
};

/// Rows of several snapshots, ready to be sent.
class Batch {
 public:
  Batch(const Origin& origin, std::uint64_t now) : origin_(&origin), now_(now) {}

  void add(const Snapshot& snapshot, const Hash128& id, std::uint64_t nth) {
    const std::vector<StoredColumn> columns = stored_columns(snapshot);
    // Numbers that follow each other share all bytes but one, which the engine need not store again.
    const std::uint64_t push = first_push_ + snapshots_;
    bool is_first = true;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c].is_objects) continue;
      std::optional<std::size_t> objects;
      for (std::size_t o = 0; o < columns.size(); ++o) {
        if (columns[o].is_objects && columns[o].metric == columns[c].metric) objects = o;
      }
      Sums sums;
      add_samples(snapshot, columns[c].metric, c, objects, push, sums);
      commit(snapshot, id, push, nth, columns[c], sums, is_first ? encode_facts(snapshot, columns) : std::string());
      is_first = false;
    }
    if (is_first) commit(snapshot, id, push, nth, {}, {}, encode_facts(snapshot, columns));
    ++snapshots_;
  }

  bool is_full() const { return rows_ >= kRowsAtOnce; }
  bool empty() const { return snapshots_ == 0; }

  struct Use {
    const Dictionary* dictionary;
    StackId stack;
  };
  const std::unordered_map<Hash128, Use>& stacks() const { return stacks_; }

  /// The rows, which are gone then, in the order that the engine stores them in: it need not sort them, and what
  /// repeats from row to row lies together.
  std::string take_samples() {
    struct Key {
      std::uint64_t group, stack;  // metric and hour; the first bytes of the stack as the engine compares them
      std::uint64_t label;
      std::uint32_t ts, row;
    };
    std::vector<std::uint64_t> ranks;
    for (const std::string& metric : metrics_)
      ranks.push_back(static_cast<std::uint64_t>(
          std::count_if(metrics_.begin(), metrics_.end(), [&](const std::string& other) { return other < metric; })));
    std::vector<Key> keys;
    keys.reserve(samples_.size());
    for (std::uint32_t i = 0; i < samples_.size(); ++i) {
      const SampleRow& row = samples_[i];
      keys.push_back({ranks[row.metric] << 32U | row.ts / kHour, big_endian(row.stack.high), row.label, row.ts, i});
    }
    std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
      return std::tie(a.group, a.stack, a.label, a.ts, a.row) < std::tie(b.group, b.stack, b.label, b.ts, b.row);
    });
    RowWriter out;
    const std::uint64_t instance = hash_bytes(origin_->instance).high;
    for (const Key& key : keys) {
      const SampleRow& row = samples_[key.row];
      out.text(origin_->service).text(metrics_[row.metric]).number(static_cast<std::uint32_t>(row.ts / kHour * kHour));
      out.hash(row.stack).number(instance).number(row.ts).number(row.label).number(row.push);
      out.number(row.value).number(row.objects).number(row.known);
    }
    samples_.clear();
    return out.take();
  }
  const std::string& commits() const { return commits_.bytes(); }
  struct LabelUse {
    const Dictionary* dictionary;
    LabelSetId set;
  };
  const std::unordered_map<std::uint64_t, LabelUse, KeyedHash>& labels() const { return labels_; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t snapshots() const { return snapshots_; }

 private:
  struct Sums {
    std::uint32_t rows = 0;
    std::int64_t value = 0, objects = 0;
  };

  void add_samples(const Snapshot& snapshot, const std::string& metric, std::size_t value_column,
                   std::optional<std::size_t> objects_column, std::uint64_t push, Sums& sums) {
    const Dictionary& d = *snapshot.dictionary;
    const SampleTable& samples = snapshot.samples;
    const Column& values = samples.columns[value_column];
    const Column* const counts = objects_column ? &samples.columns[*objects_column] : nullptr;
    const std::uint32_t ts = row_seconds(time_of(snapshot, now_));
    const std::uint32_t metric_number = place_of(metric, metrics_);
    for (std::size_t row = 0; row < samples.size(); ++row) {
      const std::int64_t value = values.value[row];
      const std::int64_t objects = counts != nullptr ? counts->value[row] : 0;
      const auto unknown = static_cast<std::uint8_t>((values.is_known(row) ? 0 : 1) |
                                                     (counts == nullptr || counts->is_known(row) ? 0 : 2));
      if (value == 0 && objects == 0 && unknown == 0) continue;
      if (!checked_add(sums.value, value, sums.value) || !checked_add(sums.objects, objects, sums.objects))
        fail({ErrorCode::limit, "total of " + metric + " is beyond 2^63-1", std::nullopt, snapshot.facts.source.name});
      const StackId stack = samples.stack[row];
      const Hash128& hash = d.stacks.hash[index_of(stack)];
      stacks_.try_emplace(hash, Use{&d, stack});
      samples_.push_back({hash, take_label(d, samples.labels[row]), push, value, objects, metric_number, ts, unknown});
      ++sums.rows;
    }
    rows_ += sums.rows;
  }

  std::uint64_t take_label(const Dictionary& d, LabelSetId set) {
    const std::uint64_t id = label_id(d, set);
    if (id != 0) labels_.try_emplace(id, LabelUse{&d, set});
    return id;
  }

  void commit(const Snapshot& snapshot, const Hash128& id, std::uint64_t push, std::uint64_t nth,
              const StoredColumn& column, const Sums& sums, const std::string& facts) {
    const SnapshotFacts& f = snapshot.facts;
    const std::uint64_t restart = f.pid ? mix64(static_cast<std::uint64_t>(*f.pid) ^ hash_bytes(f.host).high) | 1U : 0;
    Committed row;
    row.snapshot = id;
    row.push = push;
    row.nth = nth;
    row.service = origin_->service;
    row.metric = column.metric;
    row.unit = column.type.unit;
    row.instance = origin_->instance;
    row.version = origin_->version;
    row.labels = origin_->labels;
    row.ts_ns = time_of(snapshot, now_);
    row.restart = static_cast<std::uint32_t>(restart);
    row.period = static_cast<std::uint64_t>(std::max<std::int64_t>(f.period, 0));
    row.partial = f.partial;
    row.has_time = f.taken_at_ns.has_value();
    row.incomplete = !f.complete;
    row.rows = sums.rows;
    row.total = sums.value;
    row.objects = sums.objects;
    put_commit(commits_, row, facts);
  }

  const Origin* origin_;
  std::uint64_t now_;
  std::uint64_t first_push_ = random_push();
  std::uint64_t rows_ = 0, snapshots_ = 0;
  std::vector<SampleRow> samples_;
  std::vector<std::string> metrics_;
  RowWriter commits_;
  std::unordered_map<Hash128, Use> stacks_;
  std::unordered_map<std::uint64_t, LabelUse, KeyedHash> labels_;
};

std::string insert_into(const std::string& table, std::string_view columns) {
  return "INSERT INTO " + table + " (" + std::string(columns) + ") FORMAT RowBinary";
}

void put_frame(RowWriter& out, const Dictionary& d, FrameId frame) {
  const std::size_t f = index_of(frame);
  const FrameTable& frames = d.frames;
  const std::size_t function = index_of(frames.function[f]);
  const std::size_t module = index_of(frames.module[f]);
  out.hash(frames.hash[f]);
  out.text(d.strings[d.functions.name[function]]).text(d.strings[d.functions.system_name[function]]);
  out.text(d.strings[d.functions.file[function]]).number(d.functions.start_line[function]);
  out.number(frames.line[f]).number(frames.column[f]);
  out.text(d.strings[d.modules.name[module]]).text(d.strings[d.modules.build_id[module]]);
  out.number(frames.offset[f]).number(frames.flags[f]);
}

void put_label(RowWriter& out, std::uint64_t id, const Dictionary& d, LabelSetId set) {
  const auto labels = d.labels.labels(set);
  out.number(id).varint(labels.size());
  for (const Label& label : labels) out.text(d.strings[label.key]);
  out.varint(labels.size());
  for (const Label& label : labels) out.text(d.strings[label.text]);
  out.varint(labels.size());
  for (const Label& label : labels) out.number(label.number);
  out.varint(labels.size());
  for (const Label& label : labels) out.text(d.strings[label.unit]);
  out.varint(labels.size());
  for (const Label& label : labels) out.number(std::uint8_t{label.is_number});
}

}  // namespace

/// Sends a batch: what rows refer to, the rows, and last what commits them.
struct Sender {
  Fleet::Impl& to;
  Pushed& pushed;

  void insert(std::string_view table, std::string_view columns, const std::string& rows) {
    if (rows.empty()) return;
    const std::string name = "insert into " + std::string(table);
    to.naming_dead_shards(
        [&] { pushed.bytes += to.client().insert(name, insert_into(to.table(table), columns), rows); });
  }

  void send_stacks(const Batch& batch) {
    const auto today = static_cast<std::uint16_t>(now_ns() / kSecond / 86'400);
    std::vector<Hash128> ids;
    for (const auto& [hash, use] : batch.stacks()) ids.push_back(hash);
    std::unordered_set<Hash128> present;
    to.rows_of("stacks there are",
               "SELECT stack FROM " + to.table("stack") + " WHERE seen >= toDate(" + std::to_string(today - kSeenDays) +
                   ") AND stack",
               std::span<const Hash128>(ids), [&](RowReader& row) {
                 const Hash128 stack = row.hash();
                 if (row.whole()) present.insert(stack);
               });
    RowWriter stacks, frames;
    std::unordered_set<Hash128> frame_ids;
    for (const auto& [hash, use] : batch.stacks()) {
      if (present.count(hash) != 0) continue;
      const Dictionary& d = *use.dictionary;
      const auto span = d.stacks.frames(use.stack);
      stacks.hash(hash).varint(span.size());
      for (const FrameId frame : span) stacks.hash(d.frames.hash[index_of(frame)]);
      stacks.number(today);
      ++pushed.stacks;
      for (const FrameId frame : span) {
        if (!frame_ids.insert(d.frames.hash[index_of(frame)]).second) continue;
        put_frame(frames, d, frame);
        ++pushed.frames;
      }
    }
    // Frames before the stacks that name them: a stack that is there is complete.
    insert("frame", kFrameColumns, frames.bytes());
    insert("stack", kStackColumns, stacks.bytes());
  }

  /// Those that are not there yet: each insert is a part that the engine has to merge.
  void send_labels(const Batch& batch) {
    std::vector<std::uint64_t> ids;
    for (const auto& [id, use] : batch.labels()) ids.push_back(id);
    std::unordered_set<std::uint64_t, KeyedHash> present;
    to.rows_of("labels there are", "SELECT label FROM " + to.table("label") + " WHERE label",
               std::span<const std::uint64_t>(ids), [&](RowReader& row) {
                 const auto id = row.number<std::uint64_t>();
                 if (row.whole()) present.insert(id);
               });
    RowWriter rows;
    for (const auto& [id, use] : batch.labels()) {
      if (present.count(id) == 0) put_label(rows, id, *use.dictionary, use.set);
    }
    insert("label", kLabelColumns, rows.bytes());
  }

  void send(Batch& batch) {
    if (batch.empty()) return;
    send_stacks(batch);
    send_labels(batch);
    insert("sample", kSampleColumns, batch.take_samples());
    insert("snapshot", kSnapshotColumns, batch.commits());
    pushed.snapshots += batch.snapshots();
    pushed.rows += batch.rows();
  }
};

/// Which of these ids are committed; `newest` becomes the number of the newest row that is there of any of them.
static std::unordered_set<Hash128> listed_snapshots(Fleet::Impl& from, const Origin& origin,
                                                    const std::vector<Hash128>& ids, std::uint64_t& newest) {
  std::unordered_map<Hash128, std::pair<std::uint64_t, bool>> found;
  from.rows_of("snapshots there are",
               "SELECT snapshot, nth, state FROM " + from.table("snapshot") +
                   " WHERE service = " + literal(origin.service) +
                   " AND instance = " + std::to_string(hash_bytes(origin.instance).high) + " AND snapshot",
               std::span<const Hash128>(ids), [&](RowReader& row) {
                 const Hash128 id = row.hash();
                 const auto nth = row.number<std::uint64_t>();
                 const bool removed = (row.number<std::uint8_t>() & kRemoved) != 0;
                 if (!row.whole()) return;
                 newest = std::max(newest, nth);
                 auto& last = found.try_emplace(id, nth, removed).first->second;
                 if (last.first < nth) last = {nth, removed};
               });
  std::unordered_set<Hash128> present;
  for (const auto& [id, last] : found) {
    if (!last.second) present.insert(id);
  }
  return present;
}

/// Days for which the servers keep snapshots; 0 where they keep them all.
static std::uint64_t days_kept(Fleet::Impl& on) {
  const std::vector<std::string> days = on.client().lines(
      "days kept", "SELECT extract(create_table_query, 'toIntervalDay.([0-9]+)') FROM system.tables WHERE database = " +
                       literal(on.to.database) + " AND name = 'snapshot_local' FORMAT TSV");
  return days.empty() ? 0 : std::strtoull(days.front().c_str(), nullptr, 10);
}

Result<Pushed> Fleet::push(std::span<const Snapshot* const> snapshots, const Origin& origin) {
  return guarded([&] {
    impl_->check_schema();
    Pushed pushed;
    std::vector<Hash128> ids;
    for (const Snapshot* const snapshot : snapshots) ids.push_back(snapshot_id(*snapshot, origin));
    std::uint64_t newest = 0;
    std::unordered_set<Hash128> present = listed_snapshots(*impl_, origin, ids, newest);
    const std::uint64_t now = now_ns();
    // Newer than the rows that took them out, whatever the clocks said.
    const std::uint64_t first_nth = std::max(now, newest + 1);
    Batch batch(origin, now);
    Sender sender{*impl_, pushed};
    std::vector<bool> sent(snapshots.size());
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      if (!present.insert(ids[i]).second) {
        ++pushed.present;
        continue;
      }
      sent[i] = true;
      batch.add(*snapshots[i], ids[i], first_nth + i);
      if (!batch.is_full()) continue;
      sender.send(batch);
      batch = Batch(origin, now);
    }
    sender.send(batch);
    if (pushed.snapshots == 0) return pushed;
    // The servers drop them when they merge parts, now or later.
    const std::uint64_t days = days_kept(*impl_);
    for (std::size_t i = 0; i < snapshots.size() && days > 0; ++i)
      pushed.expired += sent[i] && time_of(*snapshots[i], now) + days * 86'400 * kSecond < now;
    return pushed;
  });
}

Status Fleet::remove(std::span<const Committed> rows) {
  return guarded([&] {
    RowWriter writer;
    for (Committed row : rows) {
      row.removed = true;
      ++row.nth;
      put_commit(writer, row, {});
    }
    Pushed pushed;
    Sender{*impl_, pushed}.insert("snapshot", kSnapshotColumns, writer.bytes());
  });
}

}  // namespace snapdiff::fleet

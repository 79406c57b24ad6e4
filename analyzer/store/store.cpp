#include "analyzer/store/store.hpp"

#include <filesystem>
#include <set>

#include "analyzer/store/connection.hpp"
#include "analyzer/store/maintenance.hpp"
#include "analyzer/store/plain_export.hpp"
#include "analyzer/store/present.hpp"
#include "analyzer/store/snapshot_facts.hpp"
#include "analyzer/store/snapshot_store.hpp"
#include "analyzer/store/sql_runner.hpp"
#include "analyzer/store/sql_tables.hpp"

namespace snapdiff::store {
struct Store::Impl {
  template <class How>
  Impl(const std::string& path, How how) : connection(path, how) {}
  Connection connection;
  Matcher matcher;

  template <class Body>
  auto read(Body body) {
    return guarded(connection.path(), [&] { return connection.read(body); });
  }

  /// The connection, with the virtual tables.
  Session& with_tables() {
    Session& session = connection.reader();
    if (!session.has_tables) register_tables(connection.shared_session());
    if (matcher) {
      session.match = [this, &session](std::int64_t from, std::int64_t to) { return match(session, from, to); };
    }
    session.has_tables = true;
    return session;
  }

  std::optional<MatchedStacks> match(Session& session, std::int64_t from, std::int64_t to) const {
    const SnapshotId both[] = {SnapshotId{from}, SnapshotId{to}};
    std::vector<std::uint32_t> stored;
    const std::vector<Snapshot> snapshots = load_snapshots(session, both, Parts::rows, &stored);
    const std::optional<StackRows> rows = matcher(snapshots[0], snapshots[1]);
    if (!rows) return std::nullopt;
    MatchedStacks matched;
    for (std::size_t i = 0; i < stored.size(); ++i) {  // stack 0 is the empty one of both
      if (rows->baseline[i + 1] != kNoRow) matched.baseline[stored[i]] = rows->baseline[i + 1];
      if (rows->current[i + 1] != kNoRow) matched.current[stored[i]] = rows->current[i + 1];
    }
    return matched;
  }

  std::vector<Imported> add(std::span<const Snapshot* const> snapshots, const std::string& series,
                            std::string_view source_bytes) {
    std::set<std::string_view> sources;
    for (const Snapshot* snapshot : snapshots) sources.insert(snapshot->facts.source.sha256);
    const auto present = [&](Session& session) { return Present(session.db(), sources, series); };
    // Looked up before the lock is taken: nothing is written when nothing is new.
    if (!connection.is_new()) {
      const Present known = connection.read(present);
      std::vector<Imported> all;
      for (const Snapshot* snapshot : snapshots) {
        if (const std::int64_t id = known.find(snapshot->facts); id != 0) all.push_back({SnapshotId{id}, true});
      }
      if (all.size() == snapshots.size()) return all;
    }
    return connection.write([&](Session& session) {
      Present known = present(session);
      std::vector<Imported> all;
      for (const Snapshot* snapshot : snapshots) {
        std::int64_t id = known.find(snapshot->facts);
        const bool was_present = id != 0;
        if (!was_present) known.add(snapshot->facts, id = add_snapshot(session, *snapshot, series, source_bytes));
        all.push_back({SnapshotId{id}, was_present});
      }
      return all;
    });
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const std::string& Store::path() const { return impl_->connection.path(); }

Result<Store> Store::open(const std::string& path, Access access) {
  return guarded(path, [&] { return Store(std::make_unique<Impl>(path, access)); });
}

Result<Store> Store::draft(const std::string& path) {
  return guarded(path, [&] { return Store(std::make_unique<Impl>(path, Connection::Draft{})); });
}

bool Store::publish() { return impl_->connection.publish(); }

Result<Imported> Store::add(const Snapshot& snapshot, const std::string& series, std::string_view source_bytes) {
  const Snapshot* const one = &snapshot;
  return guarded(path(), [&] { return impl_->add({&one, 1}, series, source_bytes).front(); });
}

Result<std::vector<Imported>> Store::add_all(std::span<const Snapshot* const> snapshots, const std::string& series) {
  return guarded(path(), [&] { return impl_->add(snapshots, series, {}); });
}

Result<std::vector<Snapshot>> Store::addresses() { return impl_->read(load_addresses); }

Result<std::vector<Snapshot>> Store::load(std::span<const SnapshotId> ids, Parts parts) {
  return impl_->read([&](Session& session) { return load_snapshots(session, ids, parts); });
}

Result<std::vector<SeriesInfo>> Store::list(std::span<const std::string> names) {
  return impl_->read([&](Session& session) { return read_series(session.db(), names); });
}

Result<std::vector<std::string>> Store::series_names() {
  return impl_->read([](Session& session) { return read_series_names(session.db()); });
}

Result<std::optional<SeriesOrder>> Store::series(const std::string& name) {
  return impl_->read([&](Session& session) { return read_order_of(session.db(), name); });
}

Result<std::optional<SeriesOrder>> Store::series_with(SnapshotId id) {
  return impl_->read([id](Session& session) { return read_order_around(session.db(), static_cast<std::int64_t>(id)); });
}

Result<std::vector<SnapshotId>> Store::between(SnapshotId first, SnapshotId last) {
  return impl_->read([&](Session& session) {
    std::vector<SnapshotId> ids;
    Statement select(session.db(), "SELECT id FROM snapshot WHERE id BETWEEN ? AND ? ORDER BY id");
    select.bind(1, static_cast<std::int64_t>(first)).bind(2, static_cast<std::int64_t>(last));
    while (select.step()) ids.push_back(SnapshotId{select.integer(0)});
    return ids;
  });
}

Result<std::vector<SnapshotId>> Store::labelled(const std::string& key, const std::string& value) {
  return impl_->read([&](Session& session) { return snapshots_with_label(session.db(), key, value); });
}

Result<std::optional<SeriesEnd>> Store::series_end(const std::string& name) {
  return guarded(path(), [&] {
    if (impl_->connection.is_new()) return std::optional<SeriesEnd>();
    return impl_->connection.read([&](Session& session) { return read_series_end(session.db(), name); });
  });
}

Result<std::optional<SnapshotId>> Store::newest() {
  return guarded(path(), [&] {
    if (impl_->connection.is_new()) return std::optional<SnapshotId>();
    return impl_->connection.read([](Session& session) {
      const std::int64_t id = query_integer(session.db(), "SELECT ifnull(max(id), 0) FROM snapshot");
      return id == 0 ? std::nullopt : std::optional(SnapshotId{id});
    });
  });
}

Result<std::optional<std::string>> Store::source_bytes(SnapshotId id) {
  return impl_->read([id](Session& session) { return read_source(session.db(), static_cast<std::int64_t>(id)); });
}

Result<std::size_t> Store::take_names(const Dictionary& named) {
  return guarded(path(), [&] {
    const std::size_t count = impl_->connection.write([&](Session& session) { return name_addresses(session, named); });
    impl_->connection.forget();
    return count;
  });
}

Status Store::remove(std::span<const SnapshotId> ids) {
  return guarded(path(), [&] {
    if (ids.empty()) return;
    impl_->connection.write([&](Session& session) { remove_snapshots(session, ids); });
    impl_->connection.shrink();
  });
}

Result<std::size_t> Store::merge(const std::string& other_path) {
  return guarded(path(), [&] {
    std::error_code ignored;
    if (std::filesystem::equivalent(path(), other_path, ignored)) return std::size_t{0};
    std::optional<Connection> other;
    concerning(other_path, [&] { other.emplace(other_path, Access::read); });
    return other->read([&](Session& from) {
      return impl_->connection.write([&](Session& into) { return merge_snapshots(from, other_path, into); });
    });
  });
}

Status Store::remember(const Comparison& comparison) {
  return guarded(path(), [&] {
    impl_->connection.write([&](Session& session) {
      const std::string ids = format_ids(comparison.snapshots);
      Statement(session.db(), "INSERT OR REPLACE INTO comparison VALUES(1,?,?)").run_with(ids, comparison.options_json);
    });
  });
}

Result<std::optional<Comparison>> Store::last_comparison() {
  return impl_->read([](Session& session) -> std::optional<Comparison> {
    Statement select(session.db(), "SELECT snapshots, options FROM comparison");
    if (!select.step()) return std::nullopt;
    return Comparison{parse_ids(select.text(0)), std::string(select.text(1))};
  });
}

void Store::match_with(Matcher matcher) { impl_->matcher = std::move(matcher); }

Status Store::sql(std::string_view script, const SqlSink& sink, bool may_write) {
  return guarded(path(), [&] {
    if (may_write) impl_->connection.write([](Session&) {});  // makes a store that is not there yet
    run_sql(impl_->with_tables().db(), script, sink, may_write);
  });
}

Status Store::export_plain(const std::string& to_path) {
  return guarded(path(), [&] {
    Session& session = impl_->with_tables();
    impl_->connection.read([&](Session&) { write_plain_store(session.db(), path(), to_path); });
  });
}

Status Store::check() { return impl_->read(check_store); }

}  // namespace snapdiff::store

#pragma once

#include <memory>
#include <string>

#include "analyzer/store/session.hpp"
#include "analyzer/store/store.hpp"

/// Opening, journal modes, locks: everything between a path and a Session.
namespace snapdiff::store {

class Connection {
 public:
  /// With Access::create a missing file is made by the first write, so that a command that fails
  /// leaves nothing behind.
  Connection(std::string path, Access access);
  /// A store in memory, as one piece, that is to become the file `path`.
  struct Draft {};
  Connection(std::string path, Draft draft);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  const std::string& path() const { return path_; }

  /// Nothing has been written yet, here or by others.
  bool is_new() const;

  /// Runs `body(session)` in one read transaction.
  template <class Body>
  auto read(Body body) {
    Session& session = reader();
    Transaction transaction(session.db(), Transaction::Kind::read);
    session.refresh();
    return body(session);
  }

  /// Runs `body(session)` in one write transaction; what it did is undone when it throws.
  template <class Body>
  auto write(Body body) {
    Session& session = writer();
    try {
      Transaction transaction(session.db(), Transaction::Kind::write);
      begin_write();
      const auto commit = [&] {
        transaction.commit();
        session.own_changes_are_known();
      };
      if constexpr (std::is_void_v<decltype(body(session))>) {
        body(session);
        commit();
      } else {
        auto result = body(session);
        commit();
        return result;
      }
    } catch (...) {
      session.drop();
      throw;
    }
  }

  Session& reader();
  const std::shared_ptr<Session>& shared_session() {
    reader();
    return session_;
  }

  /// Drops what is kept in memory: rows that were read before have changed.
  void forget() {
    if (session_ != nullptr) session_->drop();
  }

  /// Makes the file of a draft at one stroke: it is not there, then it is there whole and synced. Never replaces a
  /// file. False, with nothing left behind, where that cannot be.
  bool publish();

  /// Gives freed pages back to the file system when there are more of them than used ones.
  void shrink();

 private:
  Session& writer();
  void open(int flags);
  void open_existing();
  void open_pending_store();
  void open_in_memory(const char* uri);
  void begin_write();
  void use_wal();
  void leave_wal();

  std::string path_;
  Access access_;
  Database database_;
  std::shared_ptr<Session> session_;
  bool in_memory_ = false;
  bool pending_ = false;  // the file does not exist yet; reads see an empty store in memory
  bool wal_ = false;
};

}  // namespace snapdiff::store

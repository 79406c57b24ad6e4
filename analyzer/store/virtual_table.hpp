#pragma once

#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "analyzer/store/session.hpp"
#include "analyzer/store/store_schema.hpp"

/// SQLite's virtual table callbacks, written once. A table is a class T with
///   kDeclaration                      the columns, as CREATE TABLE
///   plan(IndexPlan&)                  static; what is pushed down; false: try another join order
///   T(Session&), filter(Arguments&), at_end(), next(), column(Output&, int), rowid(), see rowid_of()
/// Eponymous-only, without xCreate, so nothing gets into the schema.
namespace snapdiff::store {

/// The choices of xBestIndex. Bits of the plan, and the arguments, are in the order of take().
class IndexPlan {
 public:
  explicit IndexPlan(sqlite3_index_info* info) : info_(info) {}

  /// Pushes `column op ?` down when the query has it; the value comes as the next argument. SQLite
  /// checks it again unless `omit`.
  bool take(int column, int op, bool omit = false) {
    const int bit = 1 << takes_++;
    for (int i = 0; i < info_->nConstraint; ++i) {
      const auto& constraint = info_->aConstraint[i];
      if (constraint.iColumn != column || constraint.op != op || constraint.usable == 0) continue;
      if (info_->aConstraintUsage[i].argvIndex != 0) continue;
      if (sqlite3_stricmp(sqlite3_vtab_collation(info_, i), "BINARY") != 0) continue;  // tables compare bytes
      info_->aConstraintUsage[i].argvIndex = ++arguments_;
      info_->aConstraintUsage[i].omit = omit ? 1 : 0;
      info_->idxNum |= bit;
      return true;
    }
    return false;
  }
  /// After an EQ on the column was not to be had: a lower and an upper bound. They are taken as
  /// inclusive, since SQLite checks again.
  bool take_bounds(int column) {
    const bool low = take(column, SQLITE_INDEX_CONSTRAINT_GE) || take(column, SQLITE_INDEX_CONSTRAINT_GT);
    const bool high = take(column, SQLITE_INDEX_CONSTRAINT_LE) || take(column, SQLITE_INDEX_CONSTRAINT_LT);
    return low || high;
  }
  /// The query names the column but its value is not there yet in this join order.
  bool comes_later(int column) const {
    for (int i = 0; i < info_->nConstraint; ++i) {
      const auto& constraint = info_->aConstraint[i];
      if (constraint.iColumn == column && constraint.op == SQLITE_INDEX_CONSTRAINT_EQ && constraint.usable == 0)
        return true;
    }
    return false;
  }
  /// The query names the column anywhere.
  bool uses(int column) const { return ((info_->colUsed >> column) & 1U) != 0; }
  void expect(std::int64_t rows, double cost) {
    info_->estimatedRows = rows;
    info_->estimatedCost = cost;
  }
  /// Rows come out by `column` ascending.
  void sorted_by(int column) {
    if (info_->nOrderBy == 1 && info_->aOrderBy[0].iColumn == column && info_->aOrderBy[0].desc == 0)
      info_->orderByConsumed = 1;
  }
  /// The arguments of the call are not in this query. SQLite also asks so for a part of one, an OR in its
  /// WHERE: planned to be too dear to be chosen, and refused by filter() where the call has none.
  void without_arguments() { expect(std::int64_t{1} << 40, 1e18); }

 private:
  sqlite3_index_info* info_;
  int takes_ = 0;
  int arguments_ = 0;
};

/// The values of what was pushed down.
class Arguments {
 public:
  Arguments(int plan, int count, sqlite3_value** values) : plan_(plan), left_(count), next_(values) {}
  /// In the order of IndexPlan::take(); null when that was not pushed down.
  sqlite3_value* take() {
    const bool has = ((plan_ >> takes_++) & 1) != 0 && left_ > 0;
    if (!has) return nullptr;
    --left_;
    return *next_++;
  }
  /// An EQ or else the bounds, as a range of 32-bit ids; a value other than an integer is left to SQLite's own
  /// check.
  struct Range {
    std::uint32_t low = 0;
    std::uint32_t high = 0xffffffffU;
  };
  Range take_range();

 private:
  int plan_;
  int left_;
  int takes_ = 0;
  sqlite3_value** next_;
};

/// One cell.
class Output {
 public:
  explicit Output(sqlite3_context* context) : context_(context) {}
  void integer(std::int64_t value) { sqlite3_result_int64(context_, value); }
  void real(double value) { sqlite3_result_double(context_, value); }
  void null() { sqlite3_result_null(context_); }
  void text(std::string_view value) {
    sqlite3_result_text64(context_, value.data() != nullptr ? value.data() : "", value.size(), kCopied, SQLITE_UTF8);
  }
  void text_or_null(std::string_view value) { value.empty() ? null() : text(value); }
  void blob(std::string_view value) { sqlite3_result_blob64(context_, value.data(), value.size(), kCopied); }

 private:
  static const sqlite3_destructor_type kCopied;
  sqlite3_context* context_;
};

/// The rowid of a row that has its place in a part of the table: a snapshot, a trace, a call (Session::call_number()).
/// SQLite tells by it whether another half of an OR, or the other side of an outer join, has had the row, so it must
/// be the row's own in all of the table, whatever was pushed down. 2^36 rows of a part are 512 GiB of values, more than
/// is decoded at once. Throws limit when it does not fit: never the rowid of another row.
template <int kRowBits = 36>
std::int64_t rowid_of(std::int64_t part, std::uint64_t row) {
  if (part < 0 || part >> (64 - kRowBits) != 0 || row >> kRowBits != 0)
    fail(ErrorCode::limit,
         "rowid of row " + std::to_string(row) + " of " + std::to_string(part) + " does not fit in 64 bits");
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(part) << kRowBits | row);
}

/// Runs `body` for a callback that answers with a result code; a failure's text goes to `message`.
template <class Body>
int answering(char** message, Body&& body) {
  const auto say = [message](const std::string& text) {
    sqlite3_free(*message);
    *message = sqlite3_mprintf("%s", text.c_str());
  };
  try {
    return body();
  } catch (const Failure& failure) {
    say(failure.error.message);
    return failure.error.code == ErrorCode::malformed ? SQLITE_CORRUPT_VTAB : SQLITE_ERROR;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  } catch (const std::exception& other) {
    say(other.what());
    return SQLITE_ERROR;
  }
}

/// What SQLite holds for us: every module and function has a share, in whatever order they go.
using SharedSession = std::shared_ptr<Session>;
inline void release_session(void* shared) { delete static_cast<SharedSession*>(shared); }

template <class Table>
class VirtualTable {
 public:
  static void register_with(const std::shared_ptr<Session>& session, const char* name) {
    const int code =
        sqlite3_create_module_v2(session->db(), name, &kModule, new SharedSession(session), release_session);
    if (code != SQLITE_OK) throw Failure{sqlite_error(session->db(), code)};
  }

 private:
  struct Instance {
    sqlite3_vtab base{};
    SharedSession session;
  };
  struct Cursor {
    sqlite3_vtab_cursor base{};
    Table table;
    explicit Cursor(Session& session) : table(session) {}
  };
  static Instance* instance(sqlite3_vtab* vtab) { return reinterpret_cast<Instance*>(vtab); }
  static Cursor* cursor(sqlite3_vtab_cursor* base) { return reinterpret_cast<Cursor*>(base); }

  static int connect(sqlite3* db, void* session, int, const char* const*, sqlite3_vtab** out, char** message) {
    return answering(message, [&] {
      const int code = sqlite3_declare_vtab(db, Table::kDeclaration);
      if (code != SQLITE_OK) return code;
      sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
      auto* made = new Instance;
      made->session = *static_cast<SharedSession*>(session);
      *out = &made->base;
      return SQLITE_OK;
    });
  }
  static int disconnect(sqlite3_vtab* vtab) {
    delete instance(vtab);
    return SQLITE_OK;
  }
  static int best_index(sqlite3_vtab* vtab, sqlite3_index_info* info) {
    return answering(&vtab->zErrMsg, [&] {
      IndexPlan plan(info);
      return Table::plan(plan) ? SQLITE_OK : SQLITE_CONSTRAINT;
    });
  }
  static int open(sqlite3_vtab* vtab, sqlite3_vtab_cursor** out) {
    return answering(&vtab->zErrMsg, [&] {
      Session& session = *instance(vtab)->session;
      if (schema_state(session.db()) == SchemaState::empty) fail(ErrorCode::usage, "this database is not a store");
      session.refresh();
      *out = &(new Cursor(session))->base;
      return SQLITE_OK;
    });
  }
  static int close(sqlite3_vtab_cursor* base) {
    delete cursor(base);
    return SQLITE_OK;
  }
  static int filter(sqlite3_vtab_cursor* base, int plan, const char*, int count, sqlite3_value** values) {
    return answering(&base->pVtab->zErrMsg, [&] {
      Arguments arguments(plan, count, values);
      cursor(base)->table.filter(arguments);
      return SQLITE_OK;
    });
  }
  static int next(sqlite3_vtab_cursor* base) {
    return answering(&base->pVtab->zErrMsg, [&] {
      cursor(base)->table.next();
      return SQLITE_OK;
    });
  }
  static int eof(sqlite3_vtab_cursor* base) { return cursor(base)->table.at_end() ? 1 : 0; }
  static int column(sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
    return answering(&base->pVtab->zErrMsg, [&] {
      Output out(context);
      cursor(base)->table.column(out, column);
      return SQLITE_OK;
    });
  }
  static int rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out) {
    return answering(&base->pVtab->zErrMsg, [&] {
      *out = cursor(base)->table.rowid();
      return SQLITE_OK;
    });
  }

  static constexpr sqlite3_module make_module() {
    sqlite3_module module{};
    module.iVersion = 2;
    module.xConnect = connect;
    module.xBestIndex = best_index;
    module.xDisconnect = disconnect;
    module.xDestroy = disconnect;
    module.xOpen = open;
    module.xClose = close;
    module.xFilter = filter;
    module.xNext = next;
    module.xEof = eof;
    module.xColumn = column;
    module.xRowid = rowid;
    return module;
  }
  static constexpr sqlite3_module kModule = make_module();
};

}  // namespace snapdiff::store

#include <limits>

#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/virtual_table.hpp"

namespace snapdiff::store {
namespace {

/// Common to both tables: walks all stacks of a range of ids, chunk by chunk.
class StackScan {
 public:
  explicit StackScan(Session& session) : session_(session) {}

  static bool plan(IndexPlan& plan, std::int64_t rows_of_one, double cost_of_one, std::int64_t rows) {
    const bool one = plan.take(0, SQLITE_INDEX_CONSTRAINT_EQ);
    if (!one) plan.take_bounds(0);
    plan.expect(one ? rows_of_one : rows, one ? cost_of_one : static_cast<double>(rows));
    plan.sorted_by(0);
    return true;
  }

  void filter(Arguments& arguments) {
    const Arguments::Range range = arguments.take_range();
    high_ = range.high;
    at_end_ = range.low > range.high;
    if (!at_end_) seek(range.low);
  }
  void next() {
    if (id_ == std::numeric_limits<std::uint32_t>::max()) {
      at_end_ = true;
    } else {
      seek(id_ + 1);
    }
  }
  bool at_end() const { return at_end_; }
  std::int64_t rowid() const { return id_; }

 protected:
  std::span<const std::uint32_t> root_first() const { return chunk_->root_first(id_); }

  Session& session_;
  std::uint32_t id_ = 0;

 private:
  /// The first stack from `id` on other than a hole.
  void seek(std::uint32_t id) {
    for (id_ = id; id_ <= high_; ++id_) {
      if (chunk_ == nullptr || id_ < chunk_->first_id || id_ - chunk_->first_id >= chunk_->size()) {
        chunk_ = session_.stacks_from(id_);
        if (chunk_ == nullptr) break;
        id_ = std::max(id_, chunk_->first_id);
        if (id_ > high_) break;
      }
      if (!chunk_->root_first(id_).empty()) return;
    }
    at_end_ = true;
  }

  std::shared_ptr<const DecodedStacks> chunk_;
  std::uint32_t high_ = 0;
  bool at_end_ = true;
};

std::string_view function_name(const Dictionary& dictionary, std::uint32_t frame_row) {
  return dictionary.strings[dictionary.functions.name[index_of(dictionary.frames.function[frame_row])]];
}

class StackTableView : public StackScan {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE stack(id INTEGER, depth INTEGER, leaf_function TEXT, text TEXT, hash BLOB)";
  static bool plan(IndexPlan& plan) { return StackScan::plan(plan, 1, 100.0, 100'000); }

  using StackScan::StackScan;
  void column(Output& out, int column) {
    const auto frames = root_first();
    const Catalog& catalog = session_.catalog();
    switch (column) {
      case 0: return out.integer(id_);
      case 1: return out.integer(static_cast<std::int64_t>(frames.size()));
      case 2: return out.text_or_null(function_name(catalog.dictionary(), catalog.frame_row(frames.back())));
      case 3: return out.text(stack_text(catalog, frames));
      default: {
        StackFrames resolved(catalog);
        resolved.move_to(frames, 0);
        const Hash128 hash = resolved.hash();
        out.blob({reinterpret_cast<const char*>(&hash), sizeof hash});
      }
    }
  }
};

class StackFrameTable : public StackScan {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE stack_frame(stack INTEGER, position INTEGER, frame INTEGER, function TEXT, file TEXT,"
      " line INTEGER, module TEXT, \"offset\" INTEGER, inlined INTEGER)";
  static bool plan(IndexPlan& plan) { return StackScan::plan(plan, 20, 120.0, 2'000'000); }

  using StackScan::StackScan;
  void filter(Arguments& arguments) {
    StackScan::filter(arguments);
    position_ = 0;
  }
  void next() {
    if (++position_ < root_first().size()) return;
    position_ = 0;
    StackScan::next();
  }
  std::int64_t rowid() const { return rowid_of<32>(id_, position_); }
  void column(Output& out, int column) {
    const auto frames = root_first();
    const std::uint32_t id = frames[frames.size() - 1 - position_];
    if (column == 0) return out.integer(id_);
    if (column == 1) return out.integer(static_cast<std::int64_t>(position_));
    if (column == 2) return out.integer(id);
    const Catalog& catalog = session_.catalog();
    const Dictionary& dictionary = catalog.dictionary();
    const FrameTable& table = dictionary.frames;
    const std::uint32_t row = catalog.frame_row(id);
    const std::size_t function = index_of(table.function[row]);
    switch (column) {
      case 3: return out.text_or_null(function_name(dictionary, row));
      case 4: return out.text_or_null(dictionary.strings[dictionary.functions.file[function]]);
      case 5: return table.line[row] != 0 ? out.integer(table.line[row]) : out.null();
      case 6: return out.text_or_null(dictionary.strings[dictionary.modules.name[index_of(table.module[row])]]);
      case 7:
        return table.offset[row] != kNoOffset ? out.integer(static_cast<std::int64_t>(table.offset[row])) : out.null();
      default: return out.integer((table.flags[row] & kFrameInlined) != 0 ? 1 : 0);
    }
  }

 private:
  std::size_t position_ = 0;
};

}  // namespace

void register_stack_tables(const std::shared_ptr<Session>& session) {
  VirtualTable<StackTableView>::register_with(session, "stack");
  VirtualTable<StackFrameTable>::register_with(session, "stack_frame");
}

}  // namespace snapdiff::store

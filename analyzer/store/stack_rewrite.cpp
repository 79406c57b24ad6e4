#include "analyzer/store/stack_rewrite.hpp"

#include <span>

#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

std::vector<std::uint32_t> first_ids(sqlite3* db) {
  std::vector<std::uint32_t> ids;
  Statement select(db, "SELECT first_id FROM stack_chunk ORDER BY first_id");
  while (select.step()) ids.push_back(select.id(0, "stack chunk"));
  return ids;
}

StackRun read_run(std::string_view blob, std::uint32_t first, std::size_t count) {
  StackRun run{first, {}};
  for_each_stack(blob, first, count, [&](std::uint32_t, const StackChunkReader& in) {
    run.stacks.emplace_back(in.root_first().begin(), in.root_first().end());
  });
  return run;
}

void write_run(const StackRun& run, Statement& insert) {
  std::size_t begin = 0;
  std::size_t end = run.stacks.size();
  while (begin < end && run.stacks[begin].empty()) ++begin;
  while (begin < end && run.stacks[end - 1].empty()) --end;
  StackChunkWriter writer;
  std::span<const std::uint32_t> last;
  std::size_t first = begin;
  const auto flush = [&] {
    const std::size_t count = writer.stacks();
    if (count == 0) return;
    const std::string blob = writer.finish(compression_level(0));
    insert.run_with(run.first + first, count, Blob{blob});
    first += count;
    last = {};
  };
  for (std::size_t i = begin; i < end; ++i) {
    const std::span<const std::uint32_t> stack = run.stacks[i];
    if (!writer.has_room(stack.size())) flush();
    const std::size_t shared = common_prefix(last, stack);
    writer.add(shared, stack.subspan(shared));
    if (!stack.empty()) last = stack;
  }
  flush();
}

}  // namespace

void rewrite_stacks(sqlite3* db, const std::function<bool(StackRun&)>& change) {
  Statement select(db, "SELECT stacks, data FROM stack_chunk WHERE first_id = ?");
  Statement remove(db, "DELETE FROM stack_chunk WHERE first_id = ?");
  Statement insert(db, "INSERT INTO stack_chunk VALUES(?,?,?)");
  for (const std::uint32_t first : first_ids(db)) {
    select.bind(1, std::int64_t{first}).step();
    StackRun run = read_run(select.blob(1), first, select.id(0, "stack count"));
    select.reset();
    if (!change(run)) continue;
    remove.run_with(first);
    write_run(run, insert);
  }
}

}  // namespace snapdiff::store

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "analyzer/store/column_chunk.hpp"
#include "analyzer/store/maintenance.hpp"
#include "analyzer/store/stack_codec.hpp"

namespace snapdiff::store {
namespace {

bool is_derived(const Dictionary& d, FrameId frame) { return (d.frames.flags[index_of(frame)] & kFrameDerived) != 0; }

bool is_named_address(const Dictionary& d, FrameId frame) {
  const std::size_t f = index_of(frame);
  return d.frames.function[f] != FunctionId{} && d.frames.offset[f] != kNoOffset &&
         (d.frames.flags[f] & (kFramePseudo | kFrameDerived)) == 0 && d.frames.hash[f] == address_hash(d, frame);
}

/// By id of an address in the store: the ids of what is inlined there, the outermost first.
using Chains = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

/// Writes the names into the frame table.
class NameWriter {
 public:
  NameWriter(Session& session, const Dictionary& named)
      : db_(session.db()), catalog_(session.catalog()), writer_(db_, catalog_, named), named_(named) {}

  Chains write() {
    Chains chains = find_chains();
    writer_.insert_new();
    Statement update(db_, "UPDATE frame SET function = ?, line = ?, \"column\" = ? WHERE id = ?");
    for (const Change& change : changes_) {
      const std::size_t f = index_of(change.frame);
      update.bind(1, std::int64_t{change.function}).bind(2, std::int64_t{named_.frames.line[f]});
      update.bind(3, std::int64_t{named_.frames.column[f]}).bind(4, std::int64_t{change.id}).run();
    }
    return chains;
  }
  std::size_t addresses_changed() const { return addresses_changed_; }

 private:
  struct Change {
    FrameId frame;
    std::uint32_t id;
    std::uint32_t function;
  };

  Chains find_chains() {
    Chains chains;
    std::vector<std::uint8_t> seen(named_.frames.size(), 0);
    std::vector<std::uint32_t> inlined;
    for (std::size_t stack = 1; stack < named_.stacks.size(); ++stack) {
      inlined.clear();
      for (const FrameId frame : named_.stacks.frames(StackId{static_cast<std::uint32_t>(stack)})) {
        if (is_derived(named_, frame)) {
          inlined.push_back(static_cast<std::uint32_t>(frame));
          continue;
        }
        if (seen[index_of(frame)] == 0 && is_named_address(named_, frame)) {
          seen[index_of(frame)] = 1;
          const std::uint32_t id = note_change(frame, true);
          std::vector<std::uint32_t>& chain = chains[id];
          for (auto i = inlined.rbegin(); i != inlined.rend(); ++i) chain.push_back(note_change(FrameId{*i}, false));
        }
        inlined.clear();
      }
    }
    return chains;
  }

  std::uint32_t note_change(FrameId frame, bool is_address) {
    const std::uint32_t id = writer_.frame(frame);
    const std::uint32_t function = writer_.function(named_.frames.function[index_of(frame)]);
    const FrameTable& stored = catalog_.dictionary().frames;
    const std::size_t row = catalog_.frame_row(id);
    const std::size_t f = index_of(frame);
    const bool same = catalog_.functions.id_of(static_cast<std::uint32_t>(stored.function[row])) == function &&
                      stored.line[row] == named_.frames.line[f] && stored.column[row] == named_.frames.column[f];
    if (!same) {
      changes_.push_back({frame, id, function});
      addresses_changed_ += is_address ? 1 : 0;
    }
    return id;
  }

  sqlite3* db_;
  Catalog& catalog_;
  CatalogWriter writer_;
  const Dictionary& named_;
  std::vector<Change> changes_;
  std::size_t addresses_changed_ = 0;
};

struct Chunk {
  std::uint32_t first = 0;
  std::uint32_t stacks = 0;
  std::string data;
};

/// The stacks of a chunk, root first, with what is inlined at named addresses; nothing when all of
/// it is there already.
std::optional<std::vector<std::vector<std::uint32_t>>> expanded(const Chunk& chunk, const Chains& chains,
                                                                const Catalog& catalog) {
  const FrameTable& frames = catalog.dictionary().frames;
  std::vector<std::vector<std::uint32_t>> stacks;
  bool changed = false;
  for_each_stack(chunk.data, chunk.first, chunk.stacks, [&](std::uint32_t, const StackChunkReader& in) {
    std::vector<std::uint32_t>& out = stacks.emplace_back();
    bool replaced = false;  // what was derived from the last address before
    for (const std::uint32_t frame : in.root_first()) {
      if ((frames.flags[catalog.frame_row(frame)] & kFrameDerived) != 0) {
        if (!replaced) out.push_back(frame);
        continue;
      }
      out.push_back(frame);
      const auto chain = chains.find(frame);
      replaced = chain != chains.end();
      if (replaced) out.insert(out.end(), chain->second.begin(), chain->second.end());
    }
    changed = changed || !std::ranges::equal(out, in.root_first());
  });
  if (!changed) return std::nullopt;
  return stacks;
}

void write_stacks(const std::vector<std::vector<std::uint32_t>>& stacks, std::uint32_t first, Statement& insert) {
  StackChunkWriter writer;
  std::span<const std::uint32_t> last;
  const auto flush = [&] {
    const auto count = static_cast<std::uint32_t>(writer.stacks());
    const std::string blob = writer.finish(compression_level(0));
    insert.bind(1, std::int64_t{first}).bind(2, std::int64_t{count}).bind_blob(3, blob).run();
    first += count;
    last = {};
  };
  for (const std::vector<std::uint32_t>& stack : stacks) {
    if (!writer.has_room(stack.size())) flush();
    const std::size_t shared = common_prefix(last, stack);
    writer.add(shared, std::span(stack).subspan(shared));
    if (!stack.empty()) last = stack;
  }
  flush();
}

}  // namespace

std::size_t name_addresses(Session& session, const Dictionary& named) {
  sqlite3* db = session.db();
  NameWriter names(session, named);
  const Chains chains = names.write();
  if (chains.empty()) return 0;
  std::vector<std::uint32_t> firsts;
  {
    Statement select(db, "SELECT first_id FROM stack_chunk ORDER BY first_id");
    while (select.step()) firsts.push_back(select.id(0, "stack chunk"));
  }
  Statement select(db, "SELECT stacks, data FROM stack_chunk WHERE first_id = ?");
  Statement remove(db, "DELETE FROM stack_chunk WHERE first_id = ?");
  Statement insert(db, "INSERT INTO stack_chunk VALUES(?,?,?)");
  for (const std::uint32_t first : firsts) {
    select.bind(1, std::int64_t{first}).step();
    const Chunk chunk{first, select.id(0, "stack count"), std::string(select.blob(1))};
    select.reset();
    const auto stacks = expanded(chunk, chains, session.catalog());
    if (!stacks) continue;
    remove.bind(1, std::int64_t{first}).run();
    write_stacks(*stacks, first, insert);
  }
  return names.addresses_changed();
}

}  // namespace snapdiff::store

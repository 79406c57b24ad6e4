#include <unordered_map>
#include <unordered_set>

#include "analyzer/store/maintenance.hpp"
#include "analyzer/store/stack_rewrite.hpp"

namespace snapdiff::store {
namespace {

bool is_derived(const Dictionary& d, FrameId frame) { return (d.frames.flags[index_of(frame)] & kFrameDerived) != 0; }

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
      update.run_with(change.function, named_.frames.line[f], named_.frames.column[f], change.id);
    }
    return chains;
  }
  std::size_t addresses_changed() const { return addresses_changed_; }
  /// Addresses that keep their names: what is inlined there is in the stacks that had them first.
  const std::unordered_set<std::uint32_t>& known() const { return known_; }

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
          const std::size_t changed_before = changes_.size();
          const std::uint32_t id = note_change(frame, true);
          // Named before, and not looked up this time: what is inlined there is in the stacks already.
          const bool stays = changes_.size() == changed_before && inlined.empty();
          if (stays) {
            known_.insert(id);
            continue;
          }
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
  std::unordered_set<std::uint32_t> known_;
  std::size_t addresses_changed_ = 0;
};

/// Adds what stored stacks say is inlined at the addresses.
void add_known(const StackRun& run, const std::unordered_set<std::uint32_t>& addresses, const Catalog& catalog,
               Chains& chains) {
  const FrameTable& frames = catalog.dictionary().frames;
  const auto is_inlined = [&](std::uint32_t id) { return (frames.flags[catalog.frame_row(id)] & kFrameDerived) != 0; };
  for (const std::vector<std::uint32_t>& stack : run.stacks) {
    for (std::size_t i = 0; i + 1 < stack.size(); ++i) {
      if (!is_inlined(stack[i + 1]) || !addresses.contains(stack[i]) || chains.contains(stack[i])) continue;
      std::vector<std::uint32_t>& chain = chains[stack[i]];
      for (std::size_t k = i + 1; k < stack.size() && is_inlined(stack[k]); ++k) chain.push_back(stack[k]);
    }
  }
}

/// Puts what is inlined at named addresses after them; false when all of it is there already.
bool expand(StackRun& run, const Chains& chains, const Catalog& catalog) {
  const FrameTable& frames = catalog.dictionary().frames;
  bool changed = false;
  std::vector<std::uint32_t> out;
  for (std::vector<std::uint32_t>& stack : run.stacks) {
    out.clear();
    bool replaced = false;  // what was derived from the last address before
    for (const std::uint32_t frame : stack) {
      if ((frames.flags[catalog.frame_row(frame)] & kFrameDerived) != 0) {
        if (!replaced) out.push_back(frame);
        continue;
      }
      out.push_back(frame);
      const auto chain = chains.find(frame);
      replaced = chain != chains.end();
      if (replaced) out.insert(out.end(), chain->second.begin(), chain->second.end());
    }
    if (out == stack) continue;
    stack = out;
    changed = true;
  }
  return changed;
}

}  // namespace

std::size_t name_addresses(Session& session, const Dictionary& named) {
  NameWriter names(session, named);
  Chains chains = names.write();
  if (!names.known().empty()) {
    rewrite_stacks(session.db(), [&](const StackRun& run) {
      add_known(run, names.known(), session.catalog(), chains);
      return false;
    });
  }
  if (chains.empty()) return 0;
  rewrite_stacks(session.db(), [&](StackRun& run) { return expand(run, chains, session.catalog()); });
  return names.addresses_changed();
}

}  // namespace snapdiff::store

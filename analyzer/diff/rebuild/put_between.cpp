#include "analyzer/diff/rebuild/put_between.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/diff/rebuild/amounts.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr int kFewPutBetween = 4;   // fewer may hold as much by chance
constexpr int kMorePutBetween = 2;  // times as many say so as say no

/// The names of one side's functions, and which of them the other side knows.
struct NamesOfSide {
  const Code& code;
  std::vector<std::uint64_t> name;   ///< per function
  std::vector<std::uint8_t> common;  ///< per function

  explicit NamesOfSide(const Code& of) : code(of) {
    for (const Function& f : of.functions) name.push_back(hash_bytes(f.name, hash_bytes(f.file).low).low);
  }
  void compare(const NamesOfSide& other) {
    const std::unordered_set<std::uint64_t> there(other.name.begin(), other.name.end());
    for (const std::uint64_t one : name) common.push_back(there.contains(one) ? 1 : 0);
  }
  /// Of the functions of an entry that the other side knows as well; nothing where it has no such function. `unknown`:
  /// whether there are others.
  std::optional<std::uint64_t> run(std::uint32_t entry, bool& unknown) {
    unknown = false;
    std::uint64_t out = 0;
    bool any = false;
    for (const FrameId frame : code.frames(entry, scratch_)) {
      const std::uint32_t f = code.function[index_of(frame)];
      if (common[f] == 0) {
        unknown = true;
      } else {
        any = true;
        out = mix64(out ^ name[f]);
      }
    }
    return any ? std::optional(out) : std::nullopt;
  }

 private:
  std::vector<FrameId> scratch_;
};

/// Of one run of common functions, what goes through others as well and what does not.
struct Between {
  Amounts through, direct;
};

}  // namespace

bool is_put_between(const Code& before, const Code& after, const LeftOver& left) {
  if (before.side().objects.empty() || after.side().objects.empty()) return false;
  NamesOfSide a(before), b(after);
  a.compare(b);
  b.compare(a);
  std::unordered_map<std::uint64_t, Between> runs;
  const auto gather = [&](NamesOfSide& names, const std::vector<std::uint32_t>& entries, bool is_after) {
    for (const std::uint32_t entry : entries) {
      bool unknown = false;
      const std::optional<std::uint64_t> run = names.run(entry, unknown);
      if (!run || !unknown) continue;
      const Side& side = names.code.side();
      runs[*run].through.add(is_after, static_cast<double>(side.value[entry]),
                             static_cast<double>(side.objects[entry]));
    }
  };
  gather(a, left.before, false);
  gather(b, left.after, true);
  if (runs.size() < kFewPutBetween) return false;
  for (NamesOfSide* names : {&a, &b}) {
    const Side& side = names->code.side();
    for (std::uint32_t entry = 0; entry < side.stack.size(); ++entry) {
      bool unknown = false;
      const std::optional<std::uint64_t> run = names->run(entry, unknown);
      if (!run || unknown) continue;
      const auto found = runs.find(*run);
      if (found != runs.end())
        found->second.direct.add(names == &b, static_cast<double>(side.value[entry]),
                                 static_cast<double>(side.objects[entry]));
    }
  }
  int yes = 0, no = 0;
  for (const auto& [run, between] : runs) {
    if (!between.direct.on_both_sides()) continue;
    const Vote vote = went_on(between.direct, between.through);
    yes += vote == Vote::yes ? 1 : 0;
    no += vote == Vote::no ? 1 : 0;
  }
  return yes >= kFewPutBetween && yes >= kMorePutBetween * no;
}

}  // namespace snapdiff::diff::rebuild

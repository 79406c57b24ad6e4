#include "analyzer/diff/rebuild/function_map.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/base/hash_index.hpp"
#include "analyzer/diff/rebuild/function_structure.hpp"
#include "analyzer/diff/rebuild/owners.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr int kWholePath = std::numeric_limits<int>::max();  // parts

/// What is taken for the name of a function.
struct Sense {
  std::string_view Function::*text;
  int file_parts = 0;           ///< of its path, from the end, are part of it
  bool says_something = false;  ///< short names and "(anonymous)" do not count
};

/// The name in this sense as a hash, or none.
std::optional<Hash128> name_in(const Sense& sense, const Function& f) {
  const std::string_view text = f.*sense.text;
  if (sense.says_something && (text.size() <= 3 || text == "(anonymous)")) return std::nullopt;
  if (sense.file_parts > 0) return hash_bytes(text, hash_bytes(end_of_path(f.file, sense.file_parts)).low);
  return text.empty() ? std::nullopt : std::optional(hash_bytes(text));
}

/// Matches functions that alone on their side have a name in the given sense: those with a name of their own, or the
/// `anonymous` ones where their owners allow it.
void match_unique(const Code& before, const Code& after, const std::set<std::string_view>& numbered,
                  const BothOwners& owners, bool anonymous, FunctionMap& map, const Sense& sense) {
  struct Bearers {
    Hash128 name;
    std::uint32_t a = kNone, b = kNone;
    bool several = false;
  };
  std::vector<Bearers> all;
  HashIndex index;  // of `all`
  const auto bearers_of = [&](const Hash128& name) -> Bearers& {
    std::uint32_t at = index.find(name.low, [&](std::uint32_t row) { return all[row].name == name; });
    if (at == HashIndex::kAbsent) {
      at = static_cast<std::uint32_t>(all.size());
      index.insert(name.low, at);
      all.push_back({.name = name});
    }
    return all[at];
  };
  const auto add = [&](const Code& code, const Owners& of, const std::vector<std::uint32_t>& mapped,
                       std::uint32_t Bearers::*bearer) {
    for (std::uint32_t f = 0; f < code.functions.size(); ++f) {
      if (of.is_anonymous(f) != anonymous) continue;
      if (mapped[f] != kNone || code.functions[f].name.empty() || numbered.contains(code.functions[f].base)) continue;
      const std::optional<Hash128> name = name_in(sense, code.functions[f]);
      if (!name) continue;
      Bearers& bearers = bearers_of(*name);
      bearers.several = bearers.several || bearers.*bearer != kNone;
      bearers.*bearer = f;
    }
  };
  add(before, owners.before, map.after, &Bearers::a);
  add(after, owners.after, map.before, &Bearers::b);
  for (const Bearers& bearers : all) {
    if (bearers.several || bearers.a == kNone || bearers.b == kNone) continue;
    if (owners.may_be_same(bearers.a, bearers.b, map, true)) map.match(bearers.a, bearers.b);
  }
}

/// Names of closures that only a number, or a hash of it, distinguishes from others of the same function: it is their
/// place in it, and another closure's in another build.
std::set<std::string_view> numbered_closures(const Code& before, const Code& after) {
  constexpr std::array<std::string_view, 3> kClosures = {"{{closure}}", "_$u7b$$u7b$closure$u7d$$u7d$", ".func"};
  std::set<std::string_view> out;
  for (const Code* code : {&before, &after}) {
    std::set<std::string_view> seen;
    for (const Function& f : code->functions) {
      const bool closure = std::any_of(kClosures.begin(), kClosures.end(),
                                       [&](std::string_view part) { return f.base.find(part) != std::string::npos; });
      if (closure && !seen.insert(f.base).second) out.insert(f.base);
    }
  }
  return out;
}

void match_by_name(const Code& before, const Code& after, const std::set<std::string_view>& numbered,
                   const BothOwners& owners, FunctionMap& map) {
  const std::array<Sense, 10> senses{{{&Function::plain, kWholePath},
                                      {&Function::plain, 2},
                                      {&Function::plain, 1},
                                      {&Function::plain},
                                      {&Function::base, 1},
                                      {&Function::base},
                                      {&Function::shorter, 1},
                                      {&Function::shorter},
                                      {&Function::last, 1},
                                      {.text = &Function::last, .says_something = true}}};
  for (const Sense& sense : senses) match_unique(before, after, numbered, owners, false, map, sense);
  owners.match_only_ones(map);
  for (const Sense& sense : senses) match_unique(before, after, numbered, owners, true, map, sense);
}

bool all_mapped(const std::vector<std::uint32_t>& mapped) {
  return std::find(mapped.begin(), mapped.end(), kNone) == mapped.end();
}

}  // namespace

FunctionMap map_functions(const Code& before, const Code& after) {
  FunctionMap map;
  map.after.assign(before.functions.size(), kNone);
  map.before.assign(after.functions.size(), kNone);
  const std::set<std::string_view> numbered = numbered_closures(before, after);
  const BothOwners owners{Owners(before), Owners(after)};
  match_by_name(before, after, numbered, owners, map);
  if (!all_mapped(map.after) && !all_mapped(map.before)) match_by_structure(before, after, numbered, owners, map);
  return map;
}

}  // namespace snapdiff::diff::rebuild

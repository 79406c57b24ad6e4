#include "analyzer/diff/rebuild/rebuild.hpp"

#include <cmath>
#include <unordered_map>

#include "analyzer/diff/rebuild/build_pair.hpp"
#include "analyzer/diff/rebuild/evidence.hpp"
#include "analyzer/diff/rebuild/exchanged.hpp"

namespace snapdiff::diff::rebuild {
namespace {

/// Units of the rows that only one of two consecutive sides has.
class OneSided {
 public:
  /// `present`: zeros for each unit, and zeros again when this ends: of many sides each has few.
  OneSided(const Comparison& c, const RowUnion& rows, std::size_t s, std::vector<std::uint8_t>& present)
      : c_(c), rows_(rows), s_(s), present_(present) {
    for (const std::uint32_t u : c.unit_of_entry[s]) present_[rows.find(u)] |= 1U;
    for (const std::uint32_t u : c.unit_of_entry[s + 1]) present_[rows.find(u)] |= 2U;
  }
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;
  ~OneSided() {
    for (const std::size_t side : {s_, s_ + 1}) {
      for (const std::uint32_t u : c_.unit_of_entry[side]) present_[rows_.find(u)] = 0;
    }
  }

  std::vector<BuildPair::Left> entries(bool after) const {
    std::vector<BuildPair::Left> out;
    const std::size_t side = s_ + (after ? 1U : 0U);
    for (std::uint32_t entry = 0; entry < c_.sides[side].stack.size(); ++entry) {
      const std::uint32_t row = rows_.find(c_.unit_of_entry[side][entry]);
      if (present_[row] == (after ? 2 : 1)) out.push_back({row, entry});
    }
    return out;
  }

  std::vector<BuildPair::Left> all(bool after) const {
    std::vector<BuildPair::Left> out;
    const std::size_t side = s_ + (after ? 1U : 0U);
    for (std::uint32_t entry = 0; entry < c_.sides[side].stack.size(); ++entry)
      out.push_back({rows_.find(c_.unit_of_entry[side][entry]), entry});
    return out;
  }

  void find_resized(LeftOver& left) const {
    if (c_.sides[s_].objects.empty() || c_.sides[s_ + 1].objects.empty()) return;
    std::vector<std::int64_t> size(present_.size(), 0);
    const auto mean = [](const Side& side, std::size_t entry) {
      return side.objects[entry] > 0 ? side.value[entry] / side.objects[entry] : 0;
    };
    const auto each = [&](std::size_t s, const auto& body) {
      for (std::uint32_t entry = 0; entry < c_.sides[s].stack.size(); ++entry) {
        const std::uint32_t row = rows_.find(c_.unit_of_entry[s][entry]);
        if (present_[row] == 3) body(row, entry, mean(c_.sides[s], entry));
      }
    };
    std::vector<std::uint8_t> resized(present_.size(), 0);
    each(s_, [&](std::uint32_t row, std::uint32_t, std::int64_t of) { size[row] = of; });
    each(s_ + 1, [&](std::uint32_t row, std::uint32_t entry, std::int64_t of) {
      resized[row] = of != size[row] ? 1 : 0;
      if (resized[row] != 0) left.resized_after.push_back(entry);
    });
    each(s_, [&](std::uint32_t row, std::uint32_t entry, std::int64_t) {
      if (resized[row] != 0) left.resized_before.push_back(entry);
    });
  }

  LeftOver left() const {
    LeftOver left;
    const auto share = [&](bool after, std::vector<std::uint32_t>& entries) {
      const Side& side = c_.sides[s_ + (after ? 1U : 0U)];
      double all = 0, apart = 0;
      for (const std::int64_t value : side.value) all += std::abs(static_cast<double>(value));
      for (const BuildPair::Left& one : this->entries(after)) {
        apart += std::abs(static_cast<double>(side.value[one.entry]));
        entries.push_back(one.entry);
      }
      return all > 0 ? apart / all : 0;
    };
    left.share_before = share(false, left.before);
    left.share_after = share(true, left.after);
    if (!left.before.empty() && !left.after.empty()) find_resized(left);
    return left;
  }

 private:
  const Comparison& c_;
  const RowUnion& rows_;
  std::size_t s_;
  std::vector<std::uint8_t>& present_;
};

/// Changes the identity of stacks that hold one of the frames. `of_frame`: zeros, and zeros again afterwards: of many
/// sides that share a dictionary each uses little of it.
void salt(Side& side, const UsedFrames& used, const std::unordered_map<Hash128, std::uint64_t>& frames,
          std::vector<std::uint64_t>& of_frame) {
  const Dictionary& d = *side.ref.snapshot->dictionary;
  if (of_frame.size() < d.frames.size()) of_frame.resize(d.frames.size(), 0);
  for (std::size_t k = 0; k < used.size(); ++k) {
    const std::size_t i = used[k];
    const auto found = frames.find(d.frames.hash[i]);
    if (found != frames.end()) of_frame[i] = mix64(found->second * 0x9e3779b97f4a7c15ULL + d.frames.hash[i].low);
  }
  std::vector<Hash128> salted(side.stack.size());
  for (std::size_t entry = 0; entry < salted.size(); ++entry) {
    salted[entry] = side.identity(entry);
    std::uint64_t sum = 0;
    for (const FrameId frame : side.frames(entry).frames()) sum += of_frame[index_of(frame)];
    if (sum == 0) continue;
    salted[entry].high ^= mix64(sum + 2);
    salted[entry].low ^= mix64(sum + 3);
  }
  side.salted = std::move(salted);
  for (std::size_t k = 0; k < used.size(); ++k) of_frame[used[k]] = 0;
}

}  // namespace

Rebuilds::Rebuilds() = default;
Rebuilds::~Rebuilds() = default;

bool Rebuilds::find(Comparison& c, std::span<const BuildFacts> facts, std::span<const UsedFrames> used) {
  pairs_.resize(c.sides.size());
  c.other_build.assign(c.sides.size(), 0);
  std::unordered_map<Hash128, std::uint64_t> moved;
  bool any = false;
  const RowUnion rows(c);
  std::vector<std::uint8_t> present(c.unit_count(), 0);
  std::vector<std::uint64_t> salts;
  for (std::size_t s = 0; s + 1 < c.sides.size(); ++s) {
    const LeftOver left = OneSided(c, rows, s, present).left();
    if (is_rebuilt(c.sides[s], c.sides[s + 1], facts[s], facts[s + 1], used[s], used[s + 1], left)) {
      pairs_[s] = std::make_unique<BuildPair>(c.sides[s], c.sides[s + 1]);
      for (const Hash128& frame : pairs_[s]->coincidences()) moved[frame] = s + 1;
      c.other_build[s + 1] = 1;
    }
    if (moved.empty()) continue;
    any = true;
    salt(c.sides[s + 1], used[s + 1], moved, salts);
  }
  return any;
}

void Rebuilds::match(Comparison& c) {
  RowUnion rows(c);
  std::vector<std::uint8_t> present(c.unit_count(), 0);
  for (std::size_t s = 0; s + 1 < c.sides.size(); ++s) {
    if (!pairs_[s]) continue;
    if (!pairs_[s]->lines_tell()) {
      const OneSided all(c, rows, s, present);
      pairs_[s]->join_again(all.all(false), all.all(true), rows);
    }
    const OneSided apart(c, rows, s, present);
    pairs_[s]->join(apart.entries(false), apart.entries(true), rows);
    merge_exchanged(c, s, *pairs_[s], rows);
    c.possible_pairs += pairs_[s]->possible();
    for (BuildPair::Renamed& one : pairs_[s]->renamed())
      c.renamed.push_back({std::move(one.before), std::move(one.after), one.stacks});
    pairs_[s].reset();
  }
  rows.flatten();
  if (c.possible_pairs > 0) {
    c.notes.add(Severity::info, "stacks of two builds that may be the same, and are not taken for it", std::nullopt,
                c.possible_pairs);
  }
}

}  // namespace snapdiff::diff::rebuild

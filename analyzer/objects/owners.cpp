#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/objects/holder_names.hpp"
#include "analyzer/objects/owner_places.hpp"
#include "analyzer/objects/retained_objects.hpp"

namespace snapdiff::objects {
namespace {

constexpr double kCandidate = 0.005;  // of all growth: less is never shown, a container with 5 % has ten of these parts
constexpr double kMost = 0.5;         // more than half: one explanation outweighs all others
constexpr double kNamesHeld =
    0.25;  // of a container's growth: an own type below the first ones that it may be named by
constexpr std::uint32_t kNone = kNoNode;

using Sizes = std::vector<std::int64_t>;

/// Bytes of objects of one place that were not there before. Objects keep no names from heap to heap: those of like
/// sizes (within 19 %, a quarter of a power of two) are taken for the same, then the largest for the largest.
double new_bytes(const Sizes& before, const Sizes& after) {
  struct Bucket {
    std::int64_t before = 0, after = 0;
    double bytes = 0;
  };
  std::map<int, Bucket, std::greater<>> buckets;
  const auto bucket = [](std::int64_t size) { return size <= 0 ? -1 : static_cast<int>(std::log2(size) * 4); };
  for (const std::int64_t size : before) ++buckets[bucket(size)].before;
  for (const std::int64_t size : after) {
    Bucket& b = buckets[bucket(size)];
    ++b.after;
    b.bytes += static_cast<double>(size);
  }
  std::int64_t old_left = 0;
  for (const auto& [key, b] : buckets) old_left += std::max<std::int64_t>(b.before - b.after, 0);
  double sum = 0;
  for (const auto& [key, b] : buckets) {
    std::int64_t fresh = std::max<std::int64_t>(b.after - b.before, 0);
    const std::int64_t taken = std::min(fresh, old_left);
    old_left -= taken;
    fresh -= taken;
    if (fresh > 0) sum += b.bytes / static_cast<double>(b.after) * static_cast<double>(fresh);
  }
  return sum;
}

/// An element of the DOM: other detached objects are not reported.
bool is_element(std::string_view type) { return type.starts_with('<') || type.starts_with("Detached <"); }

/// A place where objects were added, or (`itself`) whose objects became larger.
struct Group {
  std::uint32_t place = 0;
  bool itself = false;
};

class Search {
 public:
  Search(const SnapshotRef& baseline, const SnapshotRef& current, const IsLibraryType& is_library)
      : sides_{baseline, current}, names_(shapes_, is_library), first_(baseline.snapshot == nullptr ? 1 : 0) {}

  Result<OwnerReport> run() {
    for (std::size_t side = first_; side < 2; ++side) {
      if (Status status = places_.add(sides_[side], side, shapes_.names(), heaps_[side]); !status)
        return std::move(status).error();
    }
    places_.finish();
    for (std::uint32_t p = 1; p < places_.size(); ++p)
      total_[places_[p].type] += {places_[p].object_growth(), places_[p].self_growth()};
    find_candidates();
    find_groups();
    drop_moved();
    if (groups_.empty()) return OwnerReport{};
    add_holders();
    return report();
  }

 private:
  std::int64_t growth(std::uint32_t place) const { return places_[place].growth(); }

  void find_candidates() {
    double grew = 0;
    for (std::uint32_t p = 1; p < places_.size(); ++p)
      grew += static_cast<double>(std::max<std::int64_t>(places_[p].self_growth(), 0));
    least_ = kCandidate * grew;
    candidate_.assign(places_.size(), kNone);
    for (std::uint32_t p = 1; p < places_.size(); ++p) {
      const std::uint32_t parent = places_[p].parent;
      if (static_cast<double>(growth(p)) < std::max(least_, 1.0) || (parent != 0 && candidate_[parent] == kNone))
        continue;
      candidate_[p] = static_cast<std::uint32_t>(listed_.size());
      listed_.push_back(p);
    }
    children_.resize(listed_.size());
    for (const std::uint32_t p : listed_) {
      if (places_[p].parent != 0) children_[candidate_[places_[p].parent]].push_back(p);
    }
  }

  /// Whether most of the growth of a place is objects that it gained. Of one heap alone: it has no object that
  /// holds most of it.
  bool gained(const Sizes& before, const Sizes& after, std::uint32_t place) const {
    // An object whose dominators changed is new to its place alone.
    if (total_.at(places_[place].type).objects <= 0) return false;
    if (first_ == 0) return new_bytes(before, after) >= kMost * static_cast<double>(growth(place));
    const auto most = std::max_element(after.begin(), after.end());
    return most != after.end() && static_cast<double>(*most) < kMost * static_cast<double>(growth(place));
  }

  void find_groups() {
    std::vector<std::array<Sizes, 2>> sizes(listed_.size());
    for (std::size_t side = first_; side < 2; ++side) {
      for_each_net(heaps_[side], [&](std::size_t at, std::int64_t net) {
        const std::uint32_t row = candidate_[heaps_[side].place[at]];
        if (row == kNone) return;
        Sizes& of_place = sizes[row][side];
        if (first_ == 0 || of_place.empty()) {
          of_place.push_back(net);
        } else {
          of_place.front() = std::max(of_place.front(), net);  // of one heap alone the largest is asked for
        }
      });
    }
    group_of_.assign(places_.size(), kNone);
    std::vector<std::uint8_t> open(places_.size(), 0);
    open[0] = 1;
    for (const std::uint32_t p : listed_) {
      if (open[places_[p].parent] == 0) continue;
      const std::uint32_t row = candidate_[p];
      bool itself = false;
      // One object more is a container, or has new dominators: what it holds more of is the answer.
      const bool is_one = first_ == 0 && places_[p].object_growth() <= 1 && !children_[row].empty();
      if (is_one || !gained(sizes[row][0], sizes[row][1], p)) {
        itself = total_.at(places_[p].type).bytes > 0 &&
                 static_cast<double>(places_[p].self_growth()) >= kMost * static_cast<double>(growth(p));
        open[p] = itself ? 0 : 1;
        if (!itself) continue;
      }
      group_of_[p] = static_cast<std::uint32_t>(groups_.size());
      groups_.push_back({p, itself});
    }
    for (std::uint32_t p = 1; p < places_.size(); ++p) {
      if (group_of_[p] == kNone) group_of_[p] = group_of_[places_[p].parent];
    }
  }

  /// An object that gains a second holder leaves the first one's part of the tree: a place whose types did not grow
  /// as a whole gained nothing.
  void drop_moved() {
    for (std::uint32_t p = 1; p < places_.size(); ++p) {
      const OwnerPlaces::Place& place = places_[p];
      if (group_of_[p] == kNone) continue;
      TypePart& part = parts_[{group_of_[p], place.type}];
      part.bytes += place.self_growth();
      part.objects.baseline += place.self[0].objects;
      part.objects.current += place.self[1].objects;
    }
    backed_.assign(groups_.size(), 0);
    for (const auto& [key, part] : parts_) {
      const std::int64_t total = total_[key.second].bytes;
      // Shrinkage elsewhere in the place counts in full.
      backed_[key.first] += std::min(part.bytes, std::max<std::int64_t>(total, 0));
    }
    moved_.resize(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g)
      moved_[g] = static_cast<double>(backed_[g]) < kMost * static_cast<double>(growth(groups_[g].place));
  }

  struct Part {
    std::array<ObjectSum, 2> at;
    std::int64_t growth() const { return at[1].bytes - at[0].bytes; }
  };
  struct TypePart {
    std::int64_t bytes = 0;
    Change objects;
  };

  /// The objects of one container at a place.
  struct Inside {
    std::int64_t retained = 0;  ///< growth
    Change objects;
  };

  void add_holders() {
    detached_place_.assign(groups_.size(), kNone);
    detached_at_.resize(groups_.size());
    std::array<std::vector<std::uint32_t>, 2> shapes;
    for (std::size_t side = first_; side < 2; ++side) {
      const OwnedHeap& heap = heaps_[side];
      const ObjectGraph& graph = *heap.snapshot->graph;
      const std::vector<std::uint32_t>& shape_of = shapes[side] = find_shapes(*heap.snapshot, heap.roots, shapes_);
      std::pair<std::uint32_t, std::uint32_t> last{kNone, kNone};  // group and shape of the object before
      Part* part = nullptr;
      for_each_net(heap, [&](std::size_t at, std::int64_t net) {
        const std::uint32_t place = heap.place[at];
        const std::uint32_t group = group_of_[place];
        const std::uint32_t node = heap.tree.order[at];
        if (group == kNone || moved_[group]) return;
        if ((graph.flags[node] & kObjectDetached) != 0 && is_element(shapes_.names().text(places_[place].type))) {
          ++(side == 0 ? detached_at_[group].baseline : detached_at_[group].current);
          std::uint32_t& best = detached_place_[group];
          if (side == 1 && (best == kNone || growth(place) > growth(best))) best = place;
        }
        if (groups_[group].place != place) return;
        if (const std::pair now{group, shape_of[node]}; now != last) {
          part = &held_[{group, names_.of(now.second, groups_[group].itself)}];
          last = now;
        }
        part->at[side] += {1, net};
      });
    }
    several_.resize(groups_.size());
    for (std::uint32_t g = 0; g < groups_.size(); ++g) several_[g] = has_several_holders(g) ? 1 : 0;
    for (std::size_t side = first_; side < 2; ++side) split_by_holder(side, shapes[side]);
    // Retained of self: parents come before their children.
    for (auto entry = split_.rbegin(); entry != split_.rend(); ++entry) {
      const auto [holder, place] = entry->first;
      if (groups_[group_of_[place]].place != place)
        split_[{holder, places_[place].parent}].retained += entry->second.retained;
    }
  }

  bool has_several_holders(std::uint32_t group) const {
    const auto first = held_.lower_bound({group, 0});
    return first != held_.end() && std::next(first) != held_.end() && std::next(first)->first.first == group;
  }

  /// Places of a group that several containers hold, by container.
  void split_by_holder(std::size_t side, const std::vector<std::uint32_t>& shape_of) {
    const OwnedHeap& heap = heaps_[side];
    const ObjectGraph& graph = *heap.snapshot->graph;
    std::vector<std::pair<std::size_t, std::uint32_t>> above;  // where a subtree ends, its holder
    for (std::size_t at = 0; at < heap.tree.size(); ++at) {
      while (!above.empty() && above.back().first <= at) above.pop_back();
      const std::uint32_t place = heap.place[at], group = group_of_[place], node = heap.tree.order[at];
      if (group == kNone || several_[group] == 0) continue;
      if (groups_[group].place == place)
        above.emplace_back(at + heap.tree.objects[at], names_.of(shape_of[node], groups_[group].itself));
      if (above.empty()) continue;
      const std::int64_t bytes = graph.self_bytes.empty() ? 1 : graph.self_bytes[node];
      Inside& inside = split_[{above.back().second, place}];
      (side == 0 ? inside.objects.baseline : inside.objects.current) += 1;
      inside.retained += side == 0 ? -bytes : bytes;
    }
  }

  /// Growth of a place in one container.
  std::int64_t growth_in(std::uint32_t holder, std::uint32_t place) const {
    if (several_[group_of_[place]] == 0) return growth(place);
    const auto found = split_.find({holder, place});
    return found == split_.end() ? 0 : found->second.retained;
  }

  Change objects_in(std::uint32_t group, std::uint32_t holder, std::uint32_t type) const {
    if (several_[group] == 0) return parts_.at({group, type}).objects;
    Change sum;
    for (auto at = split_.lower_bound({holder, 0}); at != split_.end() && at->first.first == holder; ++at) {
      const std::uint32_t place = at->first.second;
      if (group_of_[place] != group || places_[place].type != type) continue;
      sum.baseline += at->second.objects.baseline;
      sum.current += at->second.objects.current;
    }
    return sum;
  }

  /// The type that a container holds more of: the first one of the program's own, going down from what it holds.
  std::uint32_t held_type(std::uint32_t holder, std::uint32_t place) {
    std::vector<std::uint32_t> level = {place}, next;
    const double enough = kNamesHeld * static_cast<double>(growth_in(holder, place));
    while (!level.empty()) {
      std::uint32_t best = kNone;
      next.clear();
      for (const std::uint32_t p : level) {
        if (!names_.is_library(places_[p].type) && (best == kNone || growth_in(holder, p) > growth_in(holder, best)))
          best = p;
        for (const std::uint32_t child : children_[candidate_[p]]) {
          if (static_cast<double>(growth_in(holder, child)) >= enough) next.push_back(child);
        }
      }
      if (best != kNone) return places_[best].type;
      level.swap(next);
    }
    return places_[place].type;
  }

  void add_to(Owner& owner, std::uint32_t group, std::uint32_t holder, const Part& part, std::int64_t grew) {
    owner.retained.baseline += part.at[1].bytes - grew;
    owner.retained.current += part.at[1].bytes;
    const std::uint32_t type = held_type(holder, groups_[group].place);
    const std::string& text = shapes_.names().text(type);
    const bool own = !names_.is_library(type);
    owner.own = owner.own && text != "(code)";  // what the engine makes of any function
    if (owner.type.empty() || (own && names_.is_library(shapes_.names().id(owner.type)))) {
      owner.type = text;
      owner.own = owner.own || own;
      owner.held = {};
    }
    if (owner.type == text) {
      const Change objects = objects_in(group, holder, type);
      const std::int64_t more = std::min(objects.growth(), std::max<std::int64_t>(total_[type].objects, 0));
      owner.held.baseline += objects.current - more;
      owner.held.current += objects.current;
    }
    if (detached_at_[group].growth() <= 0) return;
    owner.detached.baseline += detached_at_[group].baseline;
    owner.detached.current += detached_at_[group].current;
    if (const std::uint32_t place = detached_place_[group]; place != kNone && owner.detached_type.empty())
      owner.detached_type = shapes_.names().text(places_[place].type);
  }

  OwnerReport report() {
    std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, Part>> parts(held_.begin(), held_.end());
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.second.growth() > b.second.growth(); });
    // Paths may move from one holder to another: no group gives out more than its growth.
    std::vector<std::int64_t> left = backed_;
    for (std::size_t g = 0; g < groups_.size(); ++g) left[g] = std::min(left[g], growth(groups_[g].place));
    std::vector<std::uint8_t> has_main(groups_.size(), 0);
    std::map<std::pair<std::string_view, std::string_view>, std::size_t> owner_of;  // by holder and what is above it
    std::vector<std::size_t> main_owner(groups_.size(), 0);
    OwnerReport out;
    for (auto& [key, part] : parts) {
      const auto [group, holder] = key;
      const std::int64_t grew = std::min(part.growth(), left[group]);
      if (static_cast<double>(grew) < std::max(least_, 1.0)) continue;
      left[group] -= grew;
      const auto& name = names_.all()[holder];
      const auto [at, fresh] = owner_of.try_emplace({name.holder, name.above}, out.owners.size());
      if (fresh) {
        Owner owner;
        owner.holder = name.holder;
        owner.above = name.above;
        owner.own = name.own;
        out.owners.push_back(std::move(owner));
      }
      add_to(out.owners[at->second], group, holder, part, grew);
      if (std::exchange(has_main[group], 1) == 0) main_owner[group] = at->second;
    }
    give_types(out, has_main, main_owner);
    std::stable_sort(out.owners.begin(), out.owners.end(),
                     [](const Owner& a, const Owner& b) { return a.retained.growth() > b.retained.growth(); });
    return out;
  }

  /// A type belongs to the owner that holds most of its growth.
  void give_types(OwnerReport& out, const std::vector<std::uint8_t>& has_main,
                  const std::vector<std::size_t>& main_owner) {
    std::map<std::pair<std::uint32_t, std::size_t>, std::int64_t> grew;
    for (const auto& [key, part] : parts_) {
      if (has_main[key.first] != 0) grew[{key.second, main_owner[key.first]}] += part.bytes;
    }
    for (const auto& [key, bytes] : grew) {
      if (bytes > 0 && static_cast<double>(bytes) > kMost * static_cast<double>(total_[key.first].bytes))
        out.owners[key.second].types.push_back(shapes_.names().text(key.first));
    }
  }

  const SnapshotRef sides_[2];
  ShapeTree shapes_;
  HolderNames names_;
  const std::size_t first_;  // side 0 is there
  OwnerPlaces places_;
  OwnedHeap heaps_[2];
  double least_ = 0;
  std::vector<std::uint32_t> candidate_;              // by place: row of listed_
  std::vector<std::uint32_t> listed_;                 // places that grew enough, ascending
  std::vector<std::vector<std::uint32_t>> children_;  // by row of listed_
  std::vector<Group> groups_;
  std::vector<std::uint8_t> moved_;
  std::vector<std::uint32_t> group_of_;                 // by place
  std::vector<std::int64_t> backed_;                    // by group: growth that its types have as a whole
  std::unordered_map<std::uint32_t, ObjectSum> total_;  // by type: what all objects gained
  std::map<std::pair<std::uint32_t, std::uint32_t>, TypePart> parts_;  // group, type
  std::map<std::pair<std::uint32_t, std::uint32_t>, Part> held_;       // group, holder
  std::vector<std::uint8_t> several_;                                  // by group: several containers hold it
  std::map<std::pair<std::uint32_t, std::uint32_t>, Inside> split_;    // holder, place: of groups with several
  std::vector<std::uint32_t> detached_place_;                          // by group: where most of them are
  std::vector<Change> detached_at_;                                    // by group
};

}  // namespace

Result<OwnerReport> owners(const SnapshotRef& baseline, const SnapshotRef& current, const IsLibraryType& is_library) {
  std::vector<SnapshotRef> both;
  if (baseline.snapshot != nullptr) both.push_back(baseline);
  both.push_back(current);
  if (Status status = check_graphs(both); !status) return std::move(status).error();
  return Search(baseline, current, is_library).run();
}

}  // namespace snapdiff::objects

#include "analyzer/diff/comparison.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/hash_index.hpp"
#include "analyzer/base/large_pages.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/parallel.hpp"
#include "analyzer/diff/diff.hpp"
#include "analyzer/diff/rebuild/rebuild.hpp"
#include "snapdiff/checked.hpp"

namespace snapdiff::diff {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Numbers of stacks, equal where the stacks show equal frames: one for each stack of each dictionary, then one for
/// each entry of a side with identities of its own.
class EqualStacks {
 public:
  explicit EqualStacks(const Comparison& c) {
    std::size_t next = 0;
    for (const auto& seen : c.seen) {
      begin_of_dictionary_.push_back(next);
      next += seen->fate.size();
    }
    stacks_ = next;
    for (const Side& side : c.sides) {
      begin_of_side_.push_back(next);
      next += side.salted.size();
    }
    size_ = next;
    if (c.seen.size() == 1 && size_ == stacks_) {
      find_equal(*c.seen.front());
      return;
    }
    LargeColumn<Hash128> identity;
    resize_on_all_cores(identity, size_);
    for (std::size_t d = 0; d < c.seen.size(); ++d) {
      const SeenStacks& seen = *c.seen[d];
      for_each_block(seen.fate.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t s = begin; s < end; ++s)
          identity[begin_of_dictionary_[d] + s] = seen.identity(StackId{static_cast<std::uint32_t>(s)});
      });
    }
    for (std::size_t s = 0; s < c.sides.size(); ++s)
      std::ranges::copy(c.sides[s].salted, identity.begin() + static_cast<std::ptrdiff_t>(begin_of_side_[s]));
    HashIndex index;
    first_ = index.add_all(
        size_, [&](std::uint32_t i) { return identity[i].low; },
        [&](std::uint32_t a, std::uint32_t b) { return identity[a] == identity[b]; });
  }

  std::size_t size() const { return size_; }
  /// Of all dictionaries.
  std::size_t stack_count() const { return stacks_; }
  /// No two entries of one side are equal.
  bool all_differ() const { return first_.empty(); }
  std::size_t number(const Comparison& c, std::size_t s, std::size_t entry) const {
    const Side& side = c.sides[s];
    const std::size_t i = side.salted.empty() ? begin_of_dictionary_[side.dictionary] + index_of(side.stack[entry])
                                              : begin_of_side_[s] + entry;
    return first_.empty() ? i : first_[i];
  }

 private:
  /// Stacks of one dictionary that show all their frames differ, so only stacks that show less can equal another one.
  void find_equal(const SeenStacks& seen) {
    if (seen.of_shown_frames.empty()) return;
    const std::span<const Hash128> whole = seen.of_all_frames;
    const std::span<const Hash128> shown = seen.of_shown_frames;
    using Numbers = std::vector<std::uint32_t>;
    const auto list = [&](std::size_t begin, std::size_t end, Numbers& out) {
      for (std::size_t s = begin; s < end; ++s) {
        if (shown[s] != whole[s]) out.push_back(static_cast<std::uint32_t>(s));
      }
    };
    const Numbers shortened = listed_in_blocks<std::uint32_t>(size_, list);
    const auto identity = [&](std::uint32_t i) { return shown[shortened[i]]; };
    HashIndex index;
    const LargeColumn<std::uint32_t> first = index.add_all(
        shortened.size(), [&](std::uint32_t i) { return identity(i).low; },
        [&](std::uint32_t a, std::uint32_t b) { return identity(a) == identity(b); });
    resize_on_all_cores(first_, size_);
    for_each_block(size_, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t s = begin; s < end; ++s) first_[s] = static_cast<std::uint32_t>(s);
    });
    for_each_block(size_, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t stack = begin; stack < end; ++stack) {
        const auto s = static_cast<std::uint32_t>(stack);
        if (shown[s] != whole[s]) continue;
        const std::uint32_t i = index.find(whole[s].low, [&](std::uint32_t o) { return identity(o) == whole[s]; });
        if (i != HashIndex::kAbsent) first_[std::max(s, shortened[i])] = std::min(s, shortened[i]);
      }
    });
    for_each_block(shortened.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (first[i] != i) first_[shortened[i]] = first_[shortened[first[i]]];
      }
    });
  }

  std::vector<std::size_t> begin_of_dictionary_, begin_of_side_;
  std::size_t stacks_ = 0, size_ = 0;
  LargeColumn<std::uint32_t> first_;  // by number; empty where all differ
};

/// Which entries of a side are the first of their number. Threads that each take a block of entries make one unit of a
/// number, whatever their order. Sides come newest first.
class FirstEntries {
 public:
  FirstEntries(const Comparison& c, const EqualStacks& equal) : c_(c), equal_(equal) {
    if (!equal.all_differ()) resize_on_all_cores(least_, equal.size(), std::numeric_limits<std::uint64_t>::max());
  }
  void look_at(std::size_t s) {
    if (least_.empty()) return;
    for_each_block(c_.sides[s].stack.size(), [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t entry = begin; entry < end; ++entry) {
        const std::atomic_ref<std::uint64_t> least(least_[equal_.number(c_, s, entry)]);
        std::uint64_t known = least.load(std::memory_order_relaxed);
        while (place(s, entry) < known &&
               !least.compare_exchange_weak(known, place(s, entry), std::memory_order_relaxed)) {
        }
      }
    });
  }
  bool is_first(std::size_t number, std::size_t s, std::size_t entry) const {
    return least_.empty() || least_[number] == place(s, entry);
  }

 private:
  /// Newer sides have larger values, so the column needs no reset between sides.
  static std::uint64_t place(std::size_t s, std::size_t entry) { return std::uint64_t{s} << 32 | entry; }

  const Comparison& c_;
  const EqualStacks& equal_;
  LargeColumn<std::uint64_t> least_;  // place, by number; empty where no two entries are equal
};

/// Makes units of the entries of one side that are equal to none before, in their order.
void make_units(Comparison& c, const EqualStacks& equal, const FirstEntries& entries,
                LargeColumn<std::uint32_t>& unit_of_number, std::size_t s) {
  const Side& side = c.sides[s];
  const auto is_new = [&](std::size_t number, std::size_t entry) {
    return entries.is_first(number, s, entry) && unit_of_number[number] == kNone;
  };
  std::vector<std::size_t> next(blocks_of(side.stack.size()), 0);  // unit, of each block
  for_each_block(side.stack.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t entry = begin; entry < end; ++entry) count += is_new(equal.number(c, s, entry), entry) ? 1U : 0U;
    next[block] = count;
  });
  std::size_t units = c.values.size();
  for (std::size_t& unit : next) units += std::exchange(unit, units);
  resize_on_all_cores(c.values, units);
  resize_on_all_cores(c.frames, units);
  resize_on_all_cores(c.side, units, static_cast<std::uint32_t>(s));
  resize_on_all_cores(c.stack, units);
  for_each_block(side.stack.size(), [&](std::size_t block, std::size_t begin, std::size_t end) {
    std::size_t unit = next[block];
    for (std::size_t entry = begin; entry < end; ++entry) {
      const std::size_t number = equal.number(c, s, entry);
      if (!is_new(number, entry)) continue;
      unit_of_number[number] = static_cast<std::uint32_t>(unit);
      c.frames[unit] = side.frames(entry);
      c.stack[unit] = side.stack[entry];
      ++unit;
    }
  });
}

/// Adds the entries of one side to their units.
Status add_values(Comparison& c, const EqualStacks& equal, const FirstEntries& entries,
                  const LargeColumn<std::uint32_t>& unit_of_number, std::size_t s) {
  const Side& side = c.sides[s];
  const bool first = s == 0;
  const bool last = s + 1 == c.sides.size();
  std::vector<std::uint32_t>& unit_of_entry = c.unit_of_entry[s];
  unit_of_entry.clear();
  resize_on_all_cores(unit_of_entry, side.stack.size());
  const auto add = [&](std::size_t entry) {
    UnitValue& sum = c.values[unit_of_entry[entry]];
    const std::int64_t objects = side.objects.empty() ? 0 : side.objects[entry];
    bool fits = true;
    if (first) {
      fits &= checked_add(sum.value.baseline, side.value[entry], sum.value.baseline) &&
              checked_add(sum.objects.baseline, objects, sum.objects.baseline);
    }
    if (last) {
      fits &= checked_add(sum.value.current, side.value[entry], sum.value.current) &&
              checked_add(sum.objects.current, objects, sum.objects.current);
    }
    if ((first || last) && !side.variance.empty()) sum.variance += side.variance[entry];
    return fits;
  };
  std::atomic<bool> all_fit = true;
  const auto add_first = [&](std::size_t begin, std::size_t end, std::vector<std::uint32_t>& again) {
    bool fits = true;
    for (std::size_t entry = begin; entry < end; ++entry) {
      const std::size_t number = equal.number(c, s, entry);
      unit_of_entry[entry] = unit_of_number[number];
      if (entries.is_first(number, s, entry)) {
        fits &= add(entry);
      } else {
        again.push_back(static_cast<std::uint32_t>(entry));
      }
    }
    if (!fits) all_fit = false;
  };
  c.repeated[s] = listed_in_blocks<std::uint32_t>(side.stack.size(), add_first);
  for (const std::uint32_t entry : c.repeated[s]) {
    if (!add(entry)) all_fit = false;
  }
  if (all_fit) return ok();
  return beyond_64_bits("sum of " + c.metric + " over equal stacks");
}

/// All sides' entries into units, from nothing.
Status join_equal(Comparison& c) {
  c.values.clear();
  c.frames.clear();
  c.side.clear();
  c.stack.clear();
  const EqualStacks equal(c);
  c.unit_of_entry.resize(c.sides.size());
  c.repeated.resize(c.sides.size());
  c.values.reserve(equal.stack_count());
  c.frames.reserve(equal.stack_count());
  c.side.reserve(equal.stack_count());
  c.stack.reserve(equal.stack_count());
  LargeColumn<std::uint32_t> unit_of_number;
  resize_on_all_cores(unit_of_number, equal.size(), kNone);
  FirstEntries entries(c, equal);
  // Newest first, so that a unit is represented by its newest entry.
  for (std::size_t s = c.sides.size(); s-- > 0;) {
    entries.look_at(s);
    make_units(c, equal, entries, unit_of_number, s);
    if (Status added = add_values(c, equal, entries, unit_of_number, s); !added) return added;
  }
  return ok();
}

/// What one frame says of the tier by which its stack was matched.
std::vector<MatchTier> frame_tiers(const Dictionary& d) {
  std::vector<MatchTier> tiers(d.frames.size(), MatchTier::function_line);
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (d.frames.function[i] != FunctionId{}) continue;
    const bool has_id = d.modules.build_id[index_of(d.frames.module[i])] != StringId{};
    tiers[i] = has_id ? MatchTier::build_id : MatchTier::module_offset;
  }
  return tiers;
}

/// Gives every unit that is in the first and in the last side the weakest tier of its frames.
void find_tiers(Comparison& c) {
  std::vector<std::uint8_t> in(c.unit_count(), 0);
  for (const std::uint32_t u : c.unit_of_entry.front()) in[u] |= 1U;
  for (const std::uint32_t u : c.unit_of_entry.back()) in[u] |= 2U;
  std::vector<std::vector<MatchTier>> tiers;
  std::vector<bool> uniform;
  for (const auto& dictionary : c.dictionaries) {
    tiers.push_back(frame_tiers(dictionary->dictionary()));
    const auto& all = tiers.back();
    uniform.push_back(std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end());
  }
  c.tier.assign(c.unit_count(), MatchTier::none);
  constexpr std::size_t kBlock = 16 * 1024;
  for_each_parallel((c.unit_count() + kBlock - 1) / kBlock, c.unit_count(), [&](std::size_t block) {
    const std::size_t end = std::min(c.unit_count(), (block + 1) * kBlock);
    for (std::size_t u = block * kBlock; u < end; ++u) {
      if (in[u] != 3) continue;
      const VisibleFrames& f = c.frames[u];
      const std::vector<MatchTier>& of_frame = tiers[f.dictionary];
      MatchTier weakest = MatchTier::build_id;
      const std::size_t frames = uniform[f.dictionary] ? std::min<std::size_t>(1, f.size) : f.size;
      for (std::size_t i = 0; i < frames; ++i) weakest = std::max(weakest, of_frame[index_of(f.data[i])]);
      c.tier[u] = weakest;
    }
  });
}

/// What every side says of itself as a whole, such as what its tracker cannot see, is said of the comparison.
void note_what_all_say(Comparison& c) {
  const auto all_say = [&](const Note& note) {
    return std::all_of(c.sides.begin(), c.sides.end(), [&](const Side& side) {
      const std::vector<Note>& said = side.ref.snapshot->facts.notes.all();
      return std::any_of(said.begin(), said.end(), [&](const Note& other) {
        return other.severity == note.severity && !other.first_offset && other.text == note.text;
      });
    });
  };
  if (c.sides.empty()) return;
  for (const Note& note : c.sides.front().ref.snapshot->facts.notes.all()) {
    if (note.severity == Severity::info && all_say(note)) c.notes.add(note.severity, note.text);
  }
}

void note_facts(Comparison& c) {
  std::uint64_t unknown = 0;
  bool leaves_out = false;
  std::int64_t unlisted = 0;
  for (const Side& side : c.sides) {
    unknown += side.unknown_values;
    leaves_out = leaves_out || !side.whole;
    unlisted = std::max(unlisted, side.unlisted);
    const SnapshotFacts& facts = side.ref.snapshot->facts;
    if (facts.partial) c.notes.add(Severity::data_loss, "a snapshot is partial: what could not be read counts as 0");
    if (facts.is_diff) c.notes.add(Severity::warning, "a snapshot already is a difference of two");
    if (facts.is_delta && c.metric.starts_with("alloc_"))
      c.notes.add(Severity::warning, "alloc_* of a delta profile already are differences over its duration");
  }
  const bool knows_live = std::ranges::any_of(c.sides, [](const Side& side) {
    const auto& columns = side.ref.snapshot->samples.columns;
    return std::ranges::any_of(columns, [](const Column& column) { return !column.type.name.starts_with("alloc_"); });
  });
  if (!knows_live)
    c.notes.add(Severity::warning,
                "allocations, freed or not: growth here is no leak; record memory in use (a heap profile)");
  if (unknown > 0)
    c.notes.add(Severity::warning, "values that an input does not know: such rows are not compared", std::nullopt,
                unknown);
  if (leaves_out)
    c.notes.add(Severity::info,
                "top-N list: missing rows are unknown, and the totals are of rows that both sides list");
  if (unlisted > 0)
    c.notes.add(Severity::info, concat("a stack below the threshold of its list counts as 0 there: it holds up to ",
                                       value_text(unlisted, c.unit), ", part of [below threshold]"));
  if (c.held > 0)
    c.notes.add(Severity::info, "rows that the first inputs do not list count from where they are first listed",
                std::nullopt, c.held);
  if (c.bridged > 0)
    c.notes.add(Severity::info, "points of the series that no input lists lie on the line between their neighbours",
                std::nullopt, c.bridged);
  for (std::size_t s = 1; s < c.sides.size(); ++s) {
    const SnapshotFacts& a = c.sides[s - 1].ref.snapshot->facts;
    const SnapshotFacts& b = c.sides[s].ref.snapshot->facts;
    if (a.taken_at_ns && b.taken_at_ns && *b.taken_at_ns < *a.taken_at_ns)
      c.notes.add(Severity::warning, "timestamps disagree with the given order; using the given order");
    if (from_one_file(a, b) && a.position == b.position)
      c.notes.add(Severity::info, "two snapshots come from equal bytes");
    if (c.sides.size() == 2) {
      const std::string other = other_process(*c.sides[0].ref.snapshot, *c.sides[1].ref.snapshot);
      if (!other.empty()) c.notes.add(Severity::info, "different processes (" + other + ")");
    }
  }
}

// A pattern that no frame matches is a slip, and its answer would read as if all had been looked at.
void note_idle_filters(Comparison& c) {
  const auto note = [&](const std::string& pattern, std::string_view name, bool (Visibility::*matches)() const) {
    const auto& all = c.dictionaries;
    if (pattern.empty() || std::any_of(all.begin(), all.end(), [&](const auto& one) { return ((*one).*matches)(); }))
      return;
    c.notes.add(Severity::warning, "nothing matches --" + std::string(name) + " '" + pattern + "'");
  };
  note(c.options.focus, "focus", &Visibility::any_focus);
  note(c.options.ignore, "ignore", &Visibility::any_ignored);
  note(c.options.hide, "hide", &Visibility::any_hide);
  note(c.options.show, "show", &Visibility::any_show);
}

void note_profiler(Comparison& c) {
  const auto has_profiler = [](const auto& visibility) { return visibility->any_profiler(); };
  const auto left_some_out = [](const Side& side) { return side.filtered != 0 || side.filtered_objects != 0; };
  if (std::any_of(c.dictionaries.begin(), c.dictionaries.end(), has_profiler) &&
      std::any_of(c.sides.begin(), c.sides.end(), left_some_out))
    c.notes.add(Severity::info, "memory of the profiler itself is filtered out: --allocator-frames show keeps it");
}

void note_missing_label(Comparison& c) {
  const std::string& key = c.options.label_key;
  if (c.options.by != GroupBy::label) return;
  const auto has_label = [&](const auto& visibility) {
    const Dictionary& d = visibility->dictionary();
    const auto is_it = [&](const Label& label) { return d.strings[label.key] == key; };
    return std::any_of(d.labels.label.begin(), d.labels.label.end(), is_it);
  };
  if (std::any_of(c.dictionaries.begin(), c.dictionaries.end(), has_label)) return;
  std::string text = "no row has the label '" + key + "'";
  if (key == "role") text += ": moments of CUDA traces have it, as FILE@peak and FILE@last";
  c.notes.add(Severity::warning, text);
}

/// The dictionaries of the snapshots, each once.
struct Dictionaries {
  std::vector<std::shared_ptr<const Dictionary>> all;
  std::size_t samples = 0;  ///< of all snapshots
};

Dictionaries add_sides(std::span<const SnapshotRef> snapshots, Comparison& c) {
  Dictionaries out;
  for (const SnapshotRef& ref : snapshots) {
    const auto& dictionary = ref.snapshot->dictionary;
    const auto known = std::find(out.all.begin(), out.all.end(), dictionary);
    const auto place = static_cast<std::size_t>(known - out.all.begin());
    if (known == out.all.end()) out.all.push_back(dictionary);
    out.samples += ref.snapshot->samples.size();
    Side& side = c.sides.emplace_back();
    side.ref = ref;
    side.dictionary = static_cast<std::uint32_t>(place);
  }
  return out;
}

void filter_frames(const Dictionaries& dictionaries, const FrameFilters& filters, Comparison& c) {
  c.dictionaries.resize(dictionaries.all.size());
  for_each_parallel(c.dictionaries.size(), dictionaries.samples, [&](std::size_t d) {
    c.dictionaries[d] = std::make_shared<Visibility>(dictionaries.all[d], filters);
  });
  note_idle_filters(c);
  note_profiler(c);
  note_missing_label(c);
  for (std::uint32_t d = 0; d < c.dictionaries.size(); ++d)
    c.seen.push_back(std::make_unique<const SeenStacks>(see_stacks(*c.dictionaries[d], d, c.options.fold_recursion)));
}

/// What the sides' builds are known by, parallel to the sides; empty where there is one side.
struct Builds {
  std::vector<UsedFrames> used;
  std::vector<BuildFacts> facts;
};

bool keeps_rows(const DiffOptions& options) { return options.by == GroupBy::label || options.by == GroupBy::type; }

Status read_sides(const Dictionaries& dictionaries, Comparison& c, Builds& builds) {
  const std::size_t sides = c.sides.size();
  std::vector<Status> done(sides, ok());
  builds.used.resize(sides);
  builds.facts.resize(sides);
  const auto read_side = [&](std::size_t s, UsedFramesInTurn* in_turn) {
    Side& side = c.sides[s];
    const Visibility& visibility = *c.dictionaries[side.dictionary];
    side.seen = c.seen[side.dictionary].get();
    const bool at_an_end = s == 0 || s + 1 == sides;
    done[s] = summarise(side, {.keep_rows = keeps_rows(c.options), .keep_variance = at_an_end});
    if (sides == 1) return;
    // Stacks that hold nothing any more would say of files what a store, which shares its dictionary, does not say.
    const bool all = side.stack.size() + 1 == visibility.dictionary().stacks.size();
    const Dictionary& d = visibility.dictionary();
    builds.used[s] = all ? UsedFrames::all_of(d) : in_turn == nullptr ? UsedFrames::of(side, d) : in_turn->of(side, d);
    builds.facts[s] = build_facts(*side.ref.snapshot, builds.used[s]);
  };
  constexpr std::size_t kShares = 8;
  const std::size_t shares = std::min(kShares, sides);
  for_each_parallel(shares, dictionaries.samples, [&](std::size_t share) {
    UsedFramesInTurn in_turn;
    for (std::size_t s = sides * share / shares; s < sides * (share + 1) / shares; ++s)
      read_side(s, sides > shares ? &in_turn : nullptr);
  });
  for (Status& status : done) {
    if (!status) return std::move(status);
  }
  return ok();
}

/// Brings the stacks of the sides together: equal ones, then those of other builds.
Status join_sides(Comparison& c, const Builds& builds) {
  const bool several = c.sides.size() > 1;
  if (Status joined = join_equal(c); !joined) return joined;
  rebuild::Rebuilds rebuilds;
  const bool across_builds = several && !c.options.match_strictly;
  if (across_builds && rebuilds.find(c, builds.facts, builds.used)) {
    if (Status joined = join_equal(c); !joined) return joined;
  }
  if (Status held = hold_beginnings(c); !held) return held;
  find_tiers(c);
  if (several && !keeps_rows(c.options))
    c.since_baseline = find_since_baseline(c);  // parts of stacks are blurred each on its own
  if (across_builds) rebuilds.match(c);
  if (several) bridge_gaps(c);
  for (Side& side : c.sides) side.variance = {};  // it is in those of the units
  return ok();
}

}  // namespace

Result<Comparison> compare(std::span<const SnapshotRef> snapshots, const DiffOptions& options) {
  Comparison c;
  c.options = options;
  Result<std::string> metric = choose_metric(snapshots, options.metric);
  if (!metric) return std::move(metric).error();
  c.metric = *metric;
  Result<FrameFilters> filters = FrameFilters::compile(options, snapshots, c.notes);
  if (!filters) return std::move(filters).error();

  const Dictionaries dictionaries = add_sides(snapshots, c);
  if (Status columns = pick_columns(c); !columns) return std::move(columns).error();
  filter_frames(dictionaries, *filters, c);
  Builds builds;
  if (Status read = read_sides(dictionaries, c, builds); !read) return std::move(read).error();
  if (c.sides.size() > 1) {
    guard_identities(c.sides, builds.facts, c.notes);
    find_rests(c);
    if (Status done = set_aside_listed_once(c); !done) return std::move(done).error();
  }
  if (Status joined = join_sides(c, builds); !joined) return std::move(joined).error();
  note_what_all_say(c);
  if (c.sides.size() > 1) note_facts(c);
  return c;
}

}  // namespace snapdiff::diff

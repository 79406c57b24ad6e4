#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/device_memory.hpp"
#include "snapdiff/growth.hpp"
#include "snapdiff/trend.hpp"

/// What a comparison or a series says, decided once: every form of output lays this out and judges nothing itself.
namespace snapdiff {

/// A run of text. `name`: it came out of an input (function, file, type), as found; writers escape it
/// and may set it apart, and redaction replaces it.
struct Span {
  std::string text;
  bool name = false;
  friend bool operator==(const Span&, const Span&) = default;
};
using Prose = std::vector<Span>;

/// Bytes: a page, the least that an allocator can give back to the system. A function that grew by less is not a
/// culprit.
inline constexpr std::int64_t kLeastLeak = 4096;

/// A function of the user's own code in which, or below which, memory was allocated that belongs together.
///   path      the user's own functions, root side first; the last one is the culprit, with the file and line of its
///             heaviest stack. Empty where stacks have no frames
///   via       the library function that it calls to allocate, "" without one; as recorded
///   own       false where no frame of these stacks is the user's own code
///   is_owner  of object graphs: a container that keeps more. text.name is its name, `path` the type that it holds more
///             of, `value` what that keeps alive, `objects` how many, `rows` the types it holds most of, `values` their
///             own bytes
///   value     at both ends
///   rise      of a GROWING series that ends no higher than it began: its fitted rise; else 0
///   share     of all growth (the sum of growing stacks), 0..1; of all shrinkage for what was freed
///   error     one standard deviation of the growth by sampling; 0 when exact, NaN when unknown
///   inlined   growth in stacks that lack the function, because V8 inlined it
///   values    per snapshot; both ends where there is no series
///   verdict   of these values; without a word for fewer than kJudgedFrom snapshots
///   rises     steps upwards among `steps`
///   doubling  a table that doubled three times or more at a constant number of objects
///   rows_differ  the function is GROWING and none of its stacks is: it is spread over many
///   rows      of the report, ascending; empty where its rows are no stacks
///   text      the same in words: growth "+3.15 MiB", share "44 %", pace "+250 KiB a snapshot, in 12 of 12 steps",
///             label the verdict's word, else "NEW", "growth" or "freed"
struct Culprit {
  struct Site {
    FrameView frame;  ///< leaf frame that allocates
    std::int64_t growth = 0;
    std::int64_t objects = 0;
  };
  std::vector<FrameView> path;
  std::string_view via;
  bool own = true;
  bool is_owner = false;
  Change value;
  Change objects;
  std::int64_t rise = 0;
  double share = 0;
  double error = 0;
  std::int64_t inlined = 0;
  std::vector<std::int64_t> values;
  Verdict verdict;
  std::size_t rises = 0;
  std::size_t steps = 0;
  bool doubling = false;
  bool rows_differ = false;
  std::vector<Site> sites;  ///< heaviest first, at most 5
  std::vector<std::uint32_t> rows;
  InstanceCount instances;  ///< on how many it grew; `of` 0 outside a fleet
  /// The fitted rise where the ends hide it; else the exact difference between the ends.
  std::int64_t growth() const { return rise != 0 ? rise : value.growth(); }
  struct Text {
    Prose name, place, via, pace;
    std::string label, growth, share;
    std::string spread;  ///< "on 19 of 20 instances"; "" outside a fleet
  } text;
};

/// Memory that was allocated during the series and freed before its end.
struct Passing {
  std::vector<FrameView> path;       ///< as Culprit::path
  std::int64_t peak = 0;             ///< above the larger of both ends
  std::size_t allocated = 0;         ///< the snapshot (from 0) after the largest step upwards
  std::size_t freed = 0;             ///< and after the largest step downwards
  std::vector<std::int64_t> values;  ///< per snapshot
  std::vector<std::uint32_t> rows;   ///< of the report, ascending; empty where its rows are no stacks
};

/// What makes all else secondary: it comes before the headline.
///   title  a few words   text  one sentence, without a full stop
struct Event {
  enum class Kind : std::uint8_t { out_of_memory, restart, partial, unrelated };
  Kind kind = Kind::partial;
  std::string title;
  Prose text;
};
constexpr std::string_view to_text(Event::Kind kind) {
  constexpr std::string_view kNames[] = {"out-of-memory", "restart", "partial", "unrelated"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// All growth through one of the user's own functions, whatever stack it came by; functions overlap.
struct FunctionGrowth {
  FrameView function;
  std::int64_t growth = 0;   ///< net
  std::int64_t current = 0;  ///< at the end
  double share = 0;          ///< of all growth (the sum of growing stacks)
};

/// What holds memory at the fullest moment of a device: a line of the user's own code, for one purpose. As a Culprit,
/// without growth: `value` is the same at both ends, text.label a word for the role, text.pace what is known of its
/// blocks.
using PeakPart = Culprit;

/// The fullest moment of a device's trace, in words; of a snapshot without a trace, what it holds.
///   facts     the figures
///   headline  "11.6 GiB at the peak, 57 % activation"
///   figures   "27 % optimizer state, ...; 8.28 GiB at the start, 6.37 GiB at the end; the peak is in forward, ..."
///   parts     heaviest first, at most ten
///   modules   "6.48 GiB  56 %  train.py:143 › model.py:253, 24 calls of 276 MiB each": bytes below calls of modules,
///             outer ones first; they overlap
///   advice    what would hold less, each with its figure
///   next      the command that lists the peak
struct PeakStory {
  MemoryPeak facts;
  Prose headline;
  std::string figures;
  std::vector<PeakPart> parts;
  std::vector<std::string_view> roles;  ///< of the parts
  std::vector<Prose> modules;
  std::vector<Prose> advice;
  Prose next;
  std::shared_ptr<const StackView> view;  ///< what the parts' names are of
};

/// A layer of a plot of totals. Layers share no row: each value is what the layers before it do not hold.
///   index  into Story::culprits, freed or passing; role_number() of a role
struct Band {
  enum class Kind : std::uint8_t { culprit, freed, passing, role };
  Kind kind = Kind::culprit;
  std::size_t index = 0;
  Prose name;
  Prose note;                        ///< what to say beside it; may be empty
  std::vector<std::int64_t> values;  ///< per snapshot
};

///   culprits   what has to be explained, at most five: as many as hold 90 % of it. GROWING before RISING
///   levelled   what grew and no longer rises (SATURATING, STEP, NEW, NOISY), where something else is judged to
///              climb; at most three
///   freed      what shrank, where it outweighs the growth; at most three
///   moved      growth of stacks whose siblings lost as much
///   covered    share of the growth that had to be explained which the culprits hold, 0..1
///   explained  that growth
///   verdict    the gravest one of the culprits with a tenth of the explained growth or more; "" with fewer than
///              kJudgedFrom snapshots, and where there is no culprit
///   judged     the culprits were chosen by verdicts
///   headline   "In-use bytes grew from 1.02 to 6.72 MiB"
///   figures    "+5.71 MiB, +44 011 objects"
///   extent     "13 snapshots, 68 min"
///   hidden     "the net hides ..."; empty where it hides nothing worth a word
///   no_culprit why there is none; empty where there is one
///   no_verdict why culprits have no verdict; empty where they have one
///   also       what else is worth a line, the most important first
///   first      number of the first judged snapshot among all: 1, more after a restart
///   events     the gravest first; most series have none
///   bands      from the bottom up. Empty where a value below zero would make layers lie
///   functions  growth by function, most first, where the twenty rows that changed most hold less than half of what
///              changed; empty otherwise
///   next       the one command to go on with; its operands are names. Empty where none helps
///   peak       of a device's trace; null without one
///   is_of_peak the trace is no series (one iteration, inference): the headline is the peak's, and nothing is a culprit
struct Story {
  std::size_t snapshots = 2;
  std::vector<Culprit> culprits;
  std::vector<Culprit> levelled;
  std::vector<Culprit> freed;
  std::vector<Passing> passing;
  std::int64_t moved = 0;
  double covered = 0;
  double explained = 0;
  std::string verdict;
  bool judged = false;
  bool only_small = false;  ///< functions grew, none of them by kLeastLeak
  Prose headline;
  std::string figures;
  std::string extent;
  std::string hidden;
  std::string no_culprit;
  std::string no_verdict;
  std::vector<Prose> also;
  std::size_t first = 1;
  std::vector<Event> events;
  std::vector<Band> bands;
  std::vector<FunctionGrowth> functions;
  Prose next;
  std::shared_ptr<const PeakStory> peak;
  bool is_of_peak = false;

  /// The culprits, then what was freed: graphs and tables mark these, and number them in this order.
  std::vector<const Culprit*> marked() const {
    std::vector<const Culprit*> out;
    for (const Culprit& culprit : culprits) out.push_back(&culprit);
    for (const Culprit& culprit : freed) out.push_back(&culprit);
    return out;
  }
};

/// Story::marked() of a report; empty without a story.
inline std::vector<const Culprit*> marked_of(const GrowthReport& report) {
  return report.story == nullptr ? std::vector<const Culprit*>() : report.story->marked();
}

}  // namespace snapdiff

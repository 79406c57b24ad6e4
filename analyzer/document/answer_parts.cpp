#include "analyzer/document/answer_parts.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "analyzer/base/printable.hpp"
#include "analyzer/base/words.hpp"
#include "snapdiff/snapshot.hpp"

namespace snapdiff::document {
namespace {

/// The facts of a failed allocation, with numbers of one form.
class FailureFacts {
 public:
  FailureFacts(const OutOfMemory& failure, const NumberGlyphs& glyphs) : o_(failure), glyphs_(glyphs) {}

  std::vector<Fact> all() {
    add("asked",
        bytes(o_.asked) + " on stream " + (o_.stream == 0 ? "0" : hex_text(o_.stream)) +
            (o_.pool == PoolId{} ? "" : ", pool " + pool_text(o_.pool)) + "; a new segment takes " + bytes(o_.segment),
        "rounded up, as the allocator looked for it");
    add("device free", bytes(o_.device_free), "outside of what the allocator has reserved");
    add("reserved", o_.reserved ? bytes(*o_.reserved) : "not known, the snapshot holds no segments",
        o_.reserved ? "by this process's allocator" : "");
    add("allocated", bytes(o_.allocated) + " in " + count(o_.blocks, "block") + ", of it " + bytes(o_.rounding()) +
                         " by rounding up");
    if (o_.pending > 0) add("pending", bytes(o_.pending) + " freed, waiting for another stream");
    if (o_.reserved) free_bytes();
    add("reason", o_.sentence);
    return std::move(out_);
  }

 private:
  void free_bytes() {
    add("free for it", free_text(o_.usable), "same pool, stream and size class");
    if_any("other size", o_.other_size, "same pool and stream");
    if_any("in streams", o_.other_streams, "same pool");
    if_any("in pools", o_.other_pools, "private pools cannot serve it");
    // Bytes that an allocator could have given back, and the reason why it did not.
    const FreeBytes& whole = o_.cached.releasable;
    add("releasable", whole.blocks == 0 ? "none" : bytes(whole.bytes) + " in " + count(whole.blocks, "segment"));
    for (const CacheHolder& holder : o_.holders) add("unreleasable", holder_text(holder));
    if (!o_.exact)
      add("worked out", "from later events: sizes of blocks that are gone by the end are the least, gaps the most");
  }

  void add(std::string label, std::string text, std::string_view meaning = {}) {
    out_.push_back({std::move(label), std::move(text), meaning});
  }
  void if_any(std::string label, const FreeBytes& free, std::string_view meaning) {
    if (free.blocks > 0) add(std::move(label), free_text(free), meaning);
  }

  std::string bytes(std::int64_t value) const { return bytes_text(value, glyphs_); }
  template <class Count>
  std::string count(Count number, std::string_view thing) const {
    return counted(number, thing, glyphs_);
  }
  std::string free_text(const FreeBytes& free) const {
    if (free.blocks == 0) return "none";
    return bytes(free.bytes) + " in " + count(free.blocks, "block") + ", the largest " + bytes(free.largest);
  }
  /// "2.10 GiB free, held by 12.0 MiB of forward model.py:39 in 8 segments".
  std::string holder_text(const CacheHolder& holder) const {
    std::string name = printable(holder.function, true);
    if (!holder.line.file.empty())
      name += " " + printable(base_name(holder.line.file), true) + ":" + std::to_string(holder.line.line);
    if (holder.function.empty()) name = "blocks without a Python stack";
    return bytes(holder.free) + " free, held by " + bytes(holder.live) + " of " + name + " in " +
           count(holder.segments, "segment");
  }

  const OutOfMemory& o_;
  const NumberGlyphs& glyphs_;
  std::vector<Fact> out_;
};

}  // namespace

std::vector<const Note*> by_gravity(const Notes& notes) {
  std::vector<const Note*> out;
  for (const Note& note : notes.all()) out.push_back(&note);
  std::ranges::stable_sort(out, std::ranges::greater(), &Note::severity);
  return out;
}

std::string pool_text(const PoolId& pool) {
  return "(" + std::to_string(pool.first) + ", " + std::to_string(pool.second) + ")";
}

std::string failure_line(const OutOfMemory& failure, const NumberGlyphs& glyphs) {
  std::string line = "out of memory on device " + std::to_string(failure.device);
  if (failure.after_us != kNoTime) {
    char seconds[48] = {};
    std::snprintf(seconds, sizeof seconds, "%.6g", static_cast<double>(failure.after_us) * 1e-6);
    line += std::string(" ") + seconds + std::string(glyphs.before_unit) + "s into the trace";
  }
  line += ", event " + count_text(failure.event + 1, glyphs) + " of " + count_text(failure.events, glyphs);
  if (failure.failures > 1) line += ", the last of " + counted(failure.failures, "failure", glyphs);
  return line;
}

std::vector<Fact> failure_facts(const OutOfMemory& failure, const NumberGlyphs& glyphs) {
  return FailureFacts(failure, glyphs).all();
}

Prose answer_figures(const Story& story) {
  std::string text = story.figures;
  if (story.snapshots > 2 && !story.is_of_peak) text += " over " + story.extent;
  if (!story.hidden.empty()) text += "; " + story.hidden;
  return {{text + "."}};
}

Prose answer_remarks(const Story& story) {
  Prose out;
  const auto add = [&out](const Prose& line) {
    if (!out.empty()) out.push_back({"; "});
    out.insert(out.end(), line.begin(), line.end());
  };
  for (const Prose& line : story.also) add(line);
  if (story.peak != nullptr) {
    for (const Prose& line : story.peak->advice) add(line);
  }
  if (!story.no_verdict.empty()) add({{story.no_verdict}});
  if (!out.empty()) out.push_back({"."});
  return out;
}

std::vector<CulpritList> culprit_lists(const Story& story) {
  std::vector<CulpritList> out{{"Freed by", story.freed}, {"Culprits", story.culprits}};
  if (story.peak != nullptr && story.culprits.empty())
    out.push_back({story.peak->facts.has_history ? "At the peak" : "What it holds", story.peak->parts});
  std::erase_if(out, [](const CulpritList& list) { return list.culprits.empty(); });
  return out;
}

}  // namespace snapdiff::document

#include "analyzer/waterfall/make_waterfall.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/waterfall/readings.hpp"

namespace snapdiff::waterfall {
namespace {

/// A leader explains the growth where it holds most of it. Below, no sentence is said.
constexpr std::int64_t kMostPercent = 50;
/// In-use memory that grew by less than this share of RSS is not what made RSS grow.
constexpr std::int64_t kLittlePercent = 10;

/// First and last reading of a source. A source that is read once has a last one only.
struct Pair {
  const Reading* first = nullptr;
  const Reading* last = nullptr;
};

class Maker {
 public:
  explicit Maker(std::span<const SnapshotRef> snapshots) {
    out_.snapshots.assign(snapshots.begin(), snapshots.end());
    for (const SnapshotRef& ref : snapshots) {
      for (Reading& one : readings_of(*ref.snapshot)) readings_.push_back(std::move(one));
    }
  }

  Waterfall make() {
    const bool any =
        std::any_of(readings_.begin(), readings_.end(), [](const Reading& r) { return r.source != Source::none; });
    if (!any)
      fail({ErrorCode::usage,
            "no part of a process's memory in these files, expected smaps, status, malloc_info, "
            "Native Memory Tracking, a heap profile or their kin"});
    resident();
    heaps();
    mappings();
    std::stable_sort(out_.parts.begin(), out_.parts.end(),
                     [](const WaterfallPart& a, const WaterfallPart& b) { return a.kind < b.kind; });
    if (out_.rss.after) add_rest();
    say_unseen();
    say_processes();
    if (out_.rss.growth().value_or(0) > 0) lead();
    return std::move(out_);
  }

 private:
  /// Of all readings of a source; of a label where one is given.
  Pair pair(Source source, const std::string* label = nullptr) const {
    Pair out;
    for (const Reading& one : readings_) {
      if (one.source != source || (label != nullptr && one.label != *label)) continue;
      if (out.last == nullptr) {
        out.last = &one;
      } else {
        if (out.first == nullptr) out.first = out.last;
        out.last = &one;
      }
    }
    return out;
  }

  template <class Get>
  static WaterfallAmount amount(const Pair& pair, Get get) {
    WaterfallAmount out;
    if (pair.first != nullptr) out.before = get(*pair.first);
    if (pair.last != nullptr) out.after = get(*pair.last);
    return out;
  }

  void add(WaterfallKind kind, std::string name, std::string source, WaterfallAmount bytes) {
    out_.parts.push_back({kind, std::move(name), std::move(source), bytes});
  }
  template <class Get>
  void add_of(WaterfallKind kind, std::string name, const Pair& pair, Get get) {
    add(kind, std::move(name), pair.last->format, amount(pair, get));
  }

  void resident() {
    const auto get = [](const Reading& one) { return one.at("rss"); };
    for (const Source source : {Source::map, Source::status}) {
      const Pair found = pair(source);
      // Two moments tell more than one.
      if (found.last == nullptr || (out_.rss.after && (out_.rss.before || found.first == nullptr))) continue;
      out_.rss = amount(found, get);
      out_.rss_source = found.last->format;
    }
  }

  void heaps() {
    const Pair jvm = pair(Source::jvm), jvm_heap = pair(Source::jvm_heap), go = pair(Source::go), v8 = pair(Source::v8);
    std::vector<std::string> labels;
    for (const Reading& one : readings_) {
      if (one.source == Source::allocator && std::find(labels.begin(), labels.end(), one.label) == labels.end())
        labels.push_back(one.label);
    }
    for (const std::string& label : labels) allocator(label, jvm);
    if (go.last != nullptr) go_heap(go);
    if (v8.last != nullptr) v8_heap(v8);
    if (jvm.last != nullptr || jvm_heap.last != nullptr) java(jvm, jvm_heap);
    if (!labels.empty() || go.last != nullptr || v8.last != nullptr || jvm.last != nullptr || jvm_heap.last != nullptr)
      return;
    if (const Pair profile = pair(Source::profile); profile.last != nullptr)
      add_of(WaterfallKind::in_use, "in use (heap profile)", profile,
             [](const Reading& one) { return one.at("in_use"); });
  }

  /// Native Memory Tracking counts the JVM's own malloc.
  void allocator(const std::string& label, const Pair& jvm) {
    const Pair found = pair(Source::allocator, &label);
    const std::string name = label.empty() ? "malloc" : label;
    const bool is_python = label == "cpython";  // it takes its arenas from mmap(), beside malloc
    WaterfallAmount used = amount(found, [](const Reading& one) { return one.at("in_use"); });
    const bool inside = jvm.last != nullptr && !is_python;
    if (inside) {
      used.after = std::max<std::int64_t>(0, *used.after - jvm.last->at("malloc"));
      if (used.before)
        used.before = jvm.first == nullptr
                          ? std::nullopt
                          : std::optional(std::max<std::int64_t>(0, *used.before - jvm.first->at("malloc")));
    }
    add(WaterfallKind::in_use, "in use (" + name + (inside ? ", beside the JVM's own)" : ")"), found.last->format,
        used);
    add_of(WaterfallKind::kept_free, "free, kept by " + name, found, [](const Reading& one) { return one.at("free"); });
    if (found.last->has("metadata"))
      add_of(WaterfallKind::overhead, "metadata of " + name, found,
             [](const Reading& one) { return one.at("metadata"); });
  }

  void go_heap(const Pair& go) {
    add_of(WaterfallKind::in_use, "in use (Go)", go, [](const Reading& one) { return one.at("alloc"); });
    add_of(WaterfallKind::kept_free, "free, kept by Go", go,
           [](const Reading& one) { return one.at("inuse") - one.at("alloc") + one.at("idle") - one.at("released"); });
    if (go.last->has("sys"))
      add_of(WaterfallKind::overhead, "Go's runtime and stacks", go,
             [](const Reading& one) { return one.at("sys") - one.at("heap_sys"); });
  }

  /// Buffers and strings outside the heap come from malloc, which does not distinguish them.
  void v8_heap(const Pair& v8) {
    add_of(WaterfallKind::in_use, "in use (V8 heap)", v8, [](const Reading& one) { return one.at("used"); });
    add_of(WaterfallKind::kept_free, "free, kept in the V8 heap", v8,
           [](const Reading& one) { return one.at("total") - one.at("used"); });
    add_of(WaterfallKind::in_use, "outside the V8 heap (buffers)", v8,
           [](const Reading& one) { return one.at("external"); });
  }

  void java(const Pair& jvm, const Pair& heap) {
    const auto committed = [](const Reading& one) { return one.at("Java Heap"); };
    const WaterfallAmount all =
        jvm.last != nullptr ? amount(jvm, committed) : amount(heap, [](const Reading& one) { return one.at("total"); });
    const std::string& source = jvm.last != nullptr ? jvm.last->format : heap.last->format;
    if (heap.last != nullptr) {
      const WaterfallAmount used = amount(heap, [](const Reading& one) { return one.at("used"); });
      add(WaterfallKind::in_use, "in use (Java heap)", heap.last->format, used);
      add(WaterfallKind::kept_free, "free, kept in the Java heap", source,
          {used.before && all.before ? std::optional(*all.before - *used.before) : std::nullopt,
           *all.after - *used.after});
    } else {
      add(WaterfallKind::in_use, "Java heap, in use or free", source, all);
    }
    if (jvm.last == nullptr) return;
    const auto classes = [](const Reading& one) { return one.at("Class") + one.at("Metaspace"); };
    add_of(WaterfallKind::in_use, "classes (metaspace)", jvm, classes);
    add_of(WaterfallKind::in_use, "direct buffers and other (JVM)", jvm,
           [](const Reading& one) { return one.at("Other"); });
    // The archive of shared classes is a mapped file.
    add_of(WaterfallKind::overhead, "the JVM's own (code, collector, ...)", jvm, [&](const Reading& one) {
      return one.at("all") - one.at("Java Heap") - classes(one) - one.at("Other") - one.at("stacks") -
             one.at("Shared class space");
    });
  }

  void mappings() {
    const Pair map = pair(Source::map), jvm = pair(Source::jvm);
    Pair status;
    for (const Reading& one : readings_) {
      if (one.source != Source::status || !one.has("file")) continue;
      if (status.first == nullptr) status.first = status.last;
      status.last = &one;
    }
    if (map.last != nullptr) {
      add_of(WaterfallKind::stacks, "stacks of threads", map, [](const Reading& one) { return one.at("stack"); });
      add_of(WaterfallKind::gpu_host, "GPU drivers' mappings", map,
             [](const Reading& one) { return one.at("device"); });
    } else if (jvm.last != nullptr) {
      add_of(WaterfallKind::stacks, "stacks of threads, committed", jvm,
             [](const Reading& one) { return one.at("stacks"); });
    }
    const bool use_status =
        status.last != nullptr && (map.last == nullptr || (map.first == nullptr && status.first != nullptr));
    const Pair& found = use_status ? status : map;
    if (found.last == nullptr) return;
    if (!use_status && (map.last->has("pinned") || (map.first != nullptr && map.first->has("pinned"))))
      add_of(WaterfallKind::gpu_host, "host memory that GPU drivers pin", map,
             [](const Reading& one) { return one.at("pinned"); });
    add_of(WaterfallKind::files, "mapped files", found,
           [](const Reading& one) { return one.at("file") + one.at("kernel"); });
    add_of(WaterfallKind::shared, "shared memory", found, [](const Reading& one) { return one.at("shared memory"); });
  }

  /// Below zero, memory is allocated whose pages were swapped out, returned, or never touched.
  void add_rest() {
    const WaterfallAmount bytes = {rest(&WaterfallAmount::before), rest(&WaterfallAmount::after)};
    const bool is_less = bytes.after.value_or(0) < 0;
    add(WaterfallKind::unexplained, is_less ? "allocated, not resident" : "unexplained", "", bytes);
  }

  /// RSS less the parts, at one moment; unknown where RSS is, or a part that is known at the other moment.
  std::optional<std::int64_t> rest(std::optional<std::int64_t> WaterfallAmount::*moment) const {
    std::optional<std::int64_t> left = out_.rss.*moment;
    for (const WaterfallPart& part : out_.parts) {
      if (!left || !(part.bytes.*moment)) return std::nullopt;
      *left -= *(part.bytes.*moment);
    }
    return left;
  }

  bool has(WaterfallKind kind) const {
    return std::any_of(out_.parts.begin(), out_.parts.end(),
                       [&](const WaterfallPart& part) { return part.kind == kind; });
  }

  void say_unseen() {
    std::vector<std::string>& unseen = out_.unseen;
    if (!out_.rss.after) unseen.emplace_back("RSS: give /proc/PID/status or smaps");
    if (!has(WaterfallKind::in_use))
      unseen.emplace_back("heap in use: give malloc_info(), GC.heap_info or a heap profile");
    if (!has(WaterfallKind::kept_free))
      unseen.emplace_back("free memory that allocators keep: give malloc_info() or GetStats()");
    if (!has(WaterfallKind::stacks)) unseen.emplace_back("stacks: give /proc/PID/smaps");
    if (!has(WaterfallKind::files)) unseen.emplace_back("mapped files: give /proc/PID/status or smaps");
    if (!has(WaterfallKind::gpu_host)) unseen.emplace_back("memory mapped by GPU drivers: give /proc/PID/smaps");
  }

  /// Files are taken as those of one process. In a container it calls itself by another pid than outside.
  void say_processes() {
    std::set<std::int64_t> pids;
    for (const SnapshotRef& ref : out_.snapshots) {
      if (ref.snapshot->facts.pid) pids.insert(*ref.snapshot->facts.pid);
    }
    if (pids.size() > 1)
      out_.notes.add(Severity::warning,
                     "the files name " + std::to_string(pids.size()) + " processes: the parts may not belong together");
  }

  std::int64_t grown(WaterfallKind kind) const {
    std::int64_t sum = 0;
    for (const WaterfallPart& part : out_.parts) {
      if (part.kind == kind) sum += part.bytes.growth().value_or(0);
    }
    return sum;
  }

  /// The kind that grew most, and of it the part that did. The sentence is about the kind.
  void lead() {
    const auto growth_of = [](const WaterfallPart& part) { return part.bytes.growth().value_or(0); };
    const auto most =
        std::max_element(out_.parts.begin(), out_.parts.end(), [&](const WaterfallPart& a, const WaterfallPart& b) {
          return std::pair(grown(a.kind), growth_of(a)) < std::pair(grown(b.kind), growth_of(b));
        });
    if (most == out_.parts.end() || growth_of(*most) <= 0) return;
    const std::int64_t all = *out_.rss.growth();
    constexpr double kMostShare = 1e6;  // percent: beside a growth of a few bytes any part is huge
    const auto percent = [&](std::int64_t growth) {
      const double share = 100.0 * static_cast<double>(growth) / static_cast<double>(all);
      return static_cast<std::int64_t>(std::min(share, kMostShare) + 0.5);
    };
    out_.leader = static_cast<std::size_t>(most - out_.parts.begin());
    out_.share = percent(growth_of(*most));
    if (percent(grown(most->kind)) < kMostPercent) {
      out_.says = "not sure: no part holds half of the growth of RSS";
      return;
    }
    const std::int64_t used = grown(WaterfallKind::in_use);
    const bool used_little = static_cast<double>(used) * 100 < static_cast<double>(all) * kLittlePercent;
    switch (most->kind) {
      case WaterfallKind::in_use: out_.says = "the program holds more: a leak or a growing cache"; break;
      case WaterfallKind::kept_free:
        out_.says = "memory that is free and not returned (fragmentation or a cache)";
        out_.says += used_little ? ", not a leak: in use " : "; in use ";
        out_.says += growth_text(used);
        break;
      case WaterfallKind::overhead: out_.says = "bookkeeping of the allocator or runtime grew"; break;
      case WaterfallKind::stacks: out_.says = "more threads, or deeper stacks"; break;
      case WaterfallKind::files: out_.says = "more pages of mapped files, which the kernel can drop"; break;
      case WaterfallKind::shared: out_.says = "more shared memory: segments, /dev/shm, memfd"; break;
      case WaterfallKind::gpu_host: out_.says = "more host memory that GPU drivers map or pin"; break;
      case WaterfallKind::unexplained: out_.says = "not sure: no file tells what grew"; break;
    }
  }

  std::vector<Reading> readings_;
  Waterfall out_;
};

}  // namespace

Result<Waterfall> make_waterfall(std::span<const SnapshotRef> snapshots) {
  try {
    return Maker(snapshots).make();
  } catch (Failure& failure) {
    return std::move(failure.error);
  }
}

}  // namespace snapdiff::waterfall

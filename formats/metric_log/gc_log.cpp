#include "formats/metric_log/log_session.hpp"

/// Lines about garbage collections: the JVM's unified logging (-Xlog:gc) and its form up to JDK 8 (-verbose:gc,
/// -XX:+PrintGCDetails), V8 (--trace-gc, also "Last few GCs" of a crash), Go (GODEBUG=gctrace=1). The size after a
/// collection is read; after one of the whole heap it is what is live, a counter of its own.
namespace snapdiff::formats::metric_log {
namespace {

struct Collection {
  std::optional<Quantity> after, total;
  bool is_full = false;
  std::optional<std::int64_t> number;
};

/// A number at `at` and the unit behind it; moves `at` after both. `unit` is that of a number without letters.
std::optional<Quantity> size_at(std::string_view text, std::size_t& at, std::uint64_t unit = 0) {
  const Measure found = measure_at(text, at, 0);
  at = std::max(at, found.end);
  return found.bytes(unit);
}

/// Behind an arrow: "4M(256M)", "2M(3%)".
bool read_after(std::string_view text, std::size_t at, Collection& out) {
  out.after = size_at(text, at);
  if (out.after && at < text.size() && text[at] == '(') out.total = size_at(text, ++at);
  return out.after.has_value();
}

std::optional<std::int64_t> number_in(std::string_view text, std::size_t begin) {
  std::int64_t out = 0;
  return reads(text.substr(begin), "%", out) ? std::optional(out) : std::nullopt;
}

/// "[0.140s][info][gc] GC(0) Pause Full (System.gc()) 3M->1M(10M) 19.464ms"
std::optional<Collection> unified(std::string_view text) {
  const std::size_t gc = text.find(" GC(");
  if (gc == std::string_view::npos || !contains(text.substr(0, gc), "[gc")) return std::nullopt;
  const std::string_view what = text.substr(gc);
  const std::size_t arrow = what.find("->");
  const std::size_t name = what.find(") ");
  if (arrow == std::string_view::npos || name == std::string_view::npos) return std::nullopt;
  const std::string_view phase = what.substr(name + 2);
  Collection out;
  constexpr std::array<std::string_view, 4> kWhole = {"Pause Full", "Garbage Collection", "Major Collection",
                                                      "Concurrent cleanup"};
  for (const std::string_view whole : kWhole) out.is_full = out.is_full || phase.starts_with(whole);
  if (!out.is_full && !phase.starts_with("Pause ") && !phase.starts_with("Minor Collection")) return std::nullopt;
  out.number = number_in(what, 4);
  return read_after(what, arrow + 2, out) ? std::optional(out) : std::nullopt;
}

/// "[Full GC (Ergonomics) [PSYoungGen: 1K->0K(7K)] 8K->5K(25K), 0.03 secs]": the sizes outside of inner brackets.
std::optional<Collection> before_jdk9(std::string_view text) {
  Collection out;
  const std::size_t full = text.find("[Full GC");
  const std::size_t begin = full != std::string_view::npos ? full : text.find("[GC ");
  if (begin == std::string_view::npos) return std::nullopt;
  out.is_full = full != std::string_view::npos;
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth == 1 && text.substr(i).starts_with("->"))
      return read_after(text, i + 2, out) ? std::optional(out) : std::nullopt;
  }
  return std::nullopt;
}

/// "[4711:0x4f1fd10]   342 ms: Mark-Compact 17.1 (28.2) -> 13.9 (47.0) MB, 7.30 / 0.00 ms"
std::optional<Collection> v8(std::string_view text) {
  Collection out;
  const std::size_t mark = text.find(" ms: Mark-");
  out.is_full = mark != std::string_view::npos;
  const std::size_t begin = out.is_full ? mark : text.find(" ms: Scavenge");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t arrow = text.find(" -> ", begin), unit = text.find(") MB", begin);
  if (arrow == std::string_view::npos || unit == std::string_view::npos || unit < arrow) return std::nullopt;
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  std::size_t at = arrow + 4;
  out.after = size_at(text, at, kMiB);
  if (text.substr(at).starts_with(" (")) out.total = size_at(text, at += 2, kMiB);
  return out.after ? std::optional(out) : std::nullopt;
}

/// "gc 1 @0.046s 0%: ... ms cpu, 3->4->1 MB, 4 MB goal": at the start, at the end, live.
std::optional<Collection> go(std::string_view text) {
  const std::size_t begin = text.find("gc ");
  const std::size_t goal = text.find(" MB goal");
  if (begin == std::string_view::npos || goal == std::string_view::npos || !contains(text.substr(begin), " @"))
    return std::nullopt;
  const std::size_t arrow = text.rfind("->", goal);
  if (arrow == std::string_view::npos || arrow < begin) return std::nullopt;
  Collection out;
  out.is_full = true;
  out.number = number_in(text, begin + 3);
  std::size_t at = arrow + 2;
  out.after = size_at(text, at, std::uint64_t{1} << 20);
  return out.after && text.substr(at).starts_with(" MB") ? std::optional(out) : std::nullopt;
}

class GcLog final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    if (!contains(line.text, "->") && !contains(line.text, " -> ")) return false;
    std::optional<Collection> found;
    for (const auto read : {unified, before_jdk9, v8, go}) {
      if ((found = read(line.text))) break;
    }
    if (!found) return false;
    std::vector<Reading> readings;
    readings.push_back({found->is_full ? "heap_after_full_gc" : "heap_after_gc", "bytes", *found->after, false});
    if (found->total) readings.push_back({"heap_total", "bytes", *found->total, false});
    LineFacts facts = session.facts_of(line);
    facts.step = found->number;
    session.recorder().record(kGcLog, facts, readings, Joins::never);
    return true;
  }
};

}  // namespace

std::unique_ptr<Matcher> make_gc_log_matcher() { return std::make_unique<GcLog>(); }

}  // namespace snapdiff::formats::metric_log

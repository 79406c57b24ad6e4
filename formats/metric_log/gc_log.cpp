#include "formats/metric_log/log_session.hpp"

/// Lines about garbage collections: the JVM's unified logging (-Xlog:gc) and its form up to JDK 8 (-verbose:gc,
/// -XX:+PrintGCDetails), V8 (--trace-gc, also "Last few GCs" of a crash), Go (GODEBUG=gctrace=1). The size after a
/// collection is read; after one of the whole heap it is what is live, a counter of its own.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;

struct Collection {
  std::optional<Quantity> after = {}, total = {};
  bool is_full = false;
  std::optional<std::int64_t> number = {};
};

/// Takes a number and the unit behind it; `unit` is that of a number without letters.
std::optional<Quantity> take_size(std::string_view& text, std::uint64_t unit = 0) {
  const Measure found = measure_at(text, 0, 0);
  text.remove_prefix(found.end);
  return found.bytes(unit);
}

/// Reads the sizes behind an arrow: "4M(256M)", "2M(3%)", "13.9 (47.0)" of V8.
std::optional<Collection> with_sizes(Collection out, std::string_view text, std::uint64_t unit = 0) {
  out.after = take_size(text, unit);
  const std::size_t open = text.starts_with(" (") ? 2 : text.starts_with('(') ? 1 : 0;
  text.remove_prefix(open);
  if (open > 0) out.total = take_size(text, unit);
  return given(out.after.has_value(), out);
}

/// "[0.140s][info][gc] GC(0) Pause Full (System.gc()) 3M->1M(10M) 19.464ms"
std::optional<Collection> unified(std::string_view text) {
  const auto gc = behind(text, " GC(");
  Cursor at(gc.value_or(""));
  std::int64_t number = 0;
  if (!gc || !at.takes("%) ", number) || !contains(text.substr(0, text.size() - gc->size()), "[gc"))
    return std::nullopt;
  const std::string_view phase = at.rest();
  const auto sizes = behind(phase, "->");
  constexpr std::array<std::string_view, 4> kWhole = {"Pause Full", "Garbage Collection", "Major Collection",
                                                      "Concurrent cleanup"};
  Collection out{.number = number};
  for (const std::string_view whole : kWhole) out.is_full = out.is_full || phase.starts_with(whole);
  if (!out.is_full && !phase.starts_with("Pause ") && !phase.starts_with("Minor Collection")) return std::nullopt;
  return sizes ? with_sizes(out, *sizes) : std::nullopt;
}

/// "[Full GC (Ergonomics) [PSYoungGen: 1K->0K(7K)] 8K->5K(25K), 0.03 secs]": the sizes outside of inner brackets.
std::optional<Collection> before_jdk9(std::string_view text) {
  const std::size_t full = text.find("[Full GC");
  const bool is_full = full != std::string_view::npos;
  int depth = 0;
  for (std::size_t i = is_full ? full : text.find("[GC "); i < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth == 1 && text.substr(i).starts_with("->")) return with_sizes({.is_full = is_full}, text.substr(i + 2));
  }
  return std::nullopt;
}

/// "[4711:0x4f1fd10]   342 ms: Mark-Compact 17.1 (28.2) -> 13.9 (47.0) MB, 7.30 / 0.00 ms"
std::optional<Collection> v8(std::string_view text) {
  const auto mark = behind(text, " ms: Mark-"), begin = mark ? mark : behind(text, " ms: Scavenge");
  const auto sizes = behind(begin.value_or(""), " -> ");
  return sizes && contains(*sizes, ") MB") ? with_sizes({.is_full = mark.has_value()}, *sizes, kMebibyte)
                                           : std::nullopt;
}

/// "gc 1 @0.046s 0%: ... ms cpu, 3->4->1 MB, 4 MB goal": at the start, at the end, live.
std::optional<Collection> go(std::string_view text) {
  const auto gc = behind(text, "gc ");
  const std::size_t arrow = gc ? gc->rfind("->", gc->find(" MB goal")) : std::string_view::npos;
  if (arrow == std::string_view::npos || !contains(*gc, " MB goal") || !contains(*gc, " @")) return std::nullopt;
  Collection out{.is_full = true};
  if (std::int64_t number = 0; reads(*gc, "%", number)) out.number = number;
  std::string_view live = gc->substr(arrow + 2);
  out.after = take_size(live, kMebibyte);
  return given(out.after && live.starts_with(" MB"), out);
}

class GcLog final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    if (!contains(line.text, "->")) return false;
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

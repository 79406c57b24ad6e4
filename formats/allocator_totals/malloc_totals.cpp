#include "formats/text/counter_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

constexpr std::string_view kMallocInfoBegin = "<malloc version=\"";

/// Fields of struct mallinfo that say what is there now; the others are peaks, or counts of chunks.
constexpr std::string_view kMallinfoFields[] = {"arena", "hblkhd", "uordblks", "fordblks", "keepcost"};

/// The number behind a field's name: "arena=937984", "Total free space (fordblks):  135040".
std::optional<std::int64_t> mallinfo_field(std::string_view line, std::string_view name) {
  return number_of(line, name, {")?\"?~=~%", ")?\"?~:~%"});
}

/// "MALLOC: +       139264 (    0.1 MiB) Bytes in page heap freelist"
struct TcmallocLine {
  std::int64_t bytes = 0;
  std::string_view label;
};

std::optional<TcmallocLine> tcmalloc_line(std::string_view line) {
  const auto row = behind(line, "MALLOC:");
  TcmallocLine out;
  if (!row || !reads(*row, "~+?=?~%", out.bytes)) return std::nullopt;
  const auto label = behind(*row, "MiB) ");
  out.label = trim(label.value_or(""));
  return label ? std::optional(out) : std::nullopt;
}

/// "system bytes     =     937984" behind `words`.
std::optional<std::int64_t> bytes_after(std::string_view line, std::string_view words) {
  Cursor at(line);
  std::int64_t value = 0;
  return at.take(words) && at.takes("~=~%~$", value) ? std::optional(value) : std::nullopt;
}

/// "Arena 0:"
std::optional<std::int64_t> arena_number(std::string_view line) {
  std::int64_t number = 0;
  return reads(line, "Arena %:$", number) ? std::optional(number) : std::nullopt;
}

/// The value of an attribute: `size="1073152"` of a tag.
std::optional<std::int64_t> attribute(std::string_view tag, std::string_view name) {
  const auto rest = behind(tag, std::string(" ").append(name).append("=\""));
  std::int64_t value = 0;
  return rest && reads(*rest, "%\"", value) ? std::optional(value) : std::nullopt;
}

/// Counters of all: system = in_use + free + metadata; mmapped is a part of in_use, unmapped is not in system.
class MallocLog final : public CounterLog {
  using CounterLog::CounterLog;

  enum class Kind : std::uint8_t { none, malloc_info, malloc_stats, mallinfo, tcmalloc };

  void handle(std::string_view line) override {
    if (kind_ == Kind::malloc_info || line.find(kMallocInfoBegin) != std::string_view::npos) return tags(line);
    if (!lines_.terminated()) return;  // a number may be cut
    const std::string_view words = trim(line);
    if (const auto arena = arena_number(words)) {
      if (kind_ != Kind::malloc_stats || (has("arena") && *arena <= seen_["arena"])) begin(Kind::malloc_stats);
      seen_["arena"] = *arena;
      ++seen_["arenas"];
      return;
    }
    if (const auto row = tcmalloc_line(line)) return tcmalloc(*row);
    if (kind_ == Kind::malloc_stats && malloc_stats(words)) return;
    if (!mallinfo(line)) note_time(line);
  }

  bool has(std::string_view name) const { return seen_.contains(name); }
  std::int64_t seen(std::string_view name) const {
    const auto found = seen_.find(name);
    return found == seen_.end() ? 0 : found->second;
  }
  void add(std::string_view name, std::int64_t value) {
    std::int64_t& seen = seen_.try_emplace(std::string(name), 0).first->second;
    seen = sum(seen, value);
  }

  void begin(Kind kind) {
    end();
    kind_ = kind;
  }

  /// malloc_info(): the arenas, each a <heap>, then the totals.
  void tags(std::string_view line) {
    for (std::size_t open = line.find('<'); open != std::string_view::npos; open = line.find('<', open + 1)) {
      const std::string_view rest = line.substr(open);
      const std::size_t close = rest.find('>');
      if (close == std::string_view::npos) return;
      const std::string_view tag = rest.substr(0, close);
      if (has_prefix(tag, kMallocInfoBegin)) {
        begin(Kind::malloc_info);
      } else if (kind_ != Kind::malloc_info) {
        continue;
      } else if (has_prefix(tag, "<heap ")) {
        add("arenas", 1);
        in_heap_ = true;
      } else if (tag == "</heap") {
        in_heap_ = false;
      } else if (tag == "</malloc") {
        add("end", 1);
        end();
      } else if (const auto size = attribute(tag, "size")) {
        const std::string name = in_heap_ ? "heap " : "";
        for (const std::string_view type : {"fast", "rest", "mmap"}) {
          if (has_prefix(tag, std::string("<total type=\"").append(type).append("\"")))
            add(name + std::string(type), *size);
        }
        if (has_prefix(tag, "<system type=\"current\"")) add(name + "system", *size);
      }
    }
  }

  bool malloc_stats(std::string_view words) {
    if (words == "Total (incl. mmap):") {
      add("total", 1);
      return true;
    }
    for (const auto& [line, name] : {std::pair("system bytes", "system"), std::pair("in use bytes", "in_use")}) {
      const auto bytes = bytes_after(words, line);
      if (!bytes) continue;
      add(has("total") ? "total " + std::string(name) : name, *bytes);
      return true;
    }
    return has_prefix(words, "max mmap ");
  }

  bool mallinfo(std::string_view line) {
    bool found = false;
    for (const std::string_view name : kMallinfoFields) {
      const auto value = mallinfo_field(line, name);
      if (!value || (kind_ != Kind::mallinfo && name != "arena")) continue;
      if (name == "arena") {
        begin(Kind::mallinfo);
        note_time(line);
      }
      found = true;
      if (!has(name)) seen_.emplace(name, *value);
    }
    return found;
  }

  void tcmalloc(const TcmallocLine& line) {
    const std::string_view label = line.label;
    if (label == "Bytes in use by application") begin(Kind::tcmalloc);
    if (kind_ != Kind::tcmalloc) return;
    if (label == "Actual memory used (physical + swap)") return add("system", line.bytes);
    if (label == "Bytes released to OS (aka unmapped)") return add("unmapped", line.bytes);
    if (label == "Bytes in use by application") return add("in_use", line.bytes);
    if (has_prefix(label, "Bytes in malloc metadata")) return add("metadata", line.bytes);
    if (!has_prefix(label, "Bytes in ") || has("system")) return;
    // "Bytes in page heap freelist": page_heap_free.
    std::string name(label.substr(9));
    name = name.substr(0, name.find(" freelist"));
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !is_word(c); }, '_');
    add("free", line.bytes);
    free_[name + "_free"] = line.bytes;
  }

  void finish() override { end(); }

  void end() {
    const Kind kind = std::exchange(kind_, Kind::none);
    bool whole = true;
    switch (kind) {
      case Kind::none: return;
      case Kind::malloc_info: whole = end_malloc_info(); break;
      case Kind::malloc_stats: whole = end_malloc_stats(); break;
      case Kind::mallinfo: whole = end_mallinfo(); break;
      case Kind::tcmalloc: whole = end_tcmalloc(); break;
    }
    seen_.clear();
    free_.clear();
    in_heap_ = false;
    if (whole) return close();
    if (!out_.empty()) out_.last().lose("totals that are cut, left out", lines_.offset());
  }

  void give(std::string_view detail, std::string_view producer, std::int64_t in_use, std::int64_t free,
            std::int64_t system) {
    moment().format_detail = detail;
    moment().producer = producer;
    set("in_use", in_use);
    set("free", free);
    set("system", system);
  }
  void check(bool adds_up, std::string_view what) {
    if (!adds_up) moment().notes.add(Severity::warning, what, lines_.line_offset());
  }
  std::int64_t sum(std::int64_t a, std::int64_t b) const {
    add_to(a, b, "a sum is", lines_.line_offset());
    return a;
  }

  bool end_malloc_info() {
    if (!has("end") || !has("system") || !has("rest")) return false;
    const std::int64_t free = sum(seen("fast"), seen("rest"));
    if (free > seen("system")) return false;
    give("malloc_info", "glibc", sum(seen("system") - free, seen("mmap")), free, sum(seen("system"), seen("mmap")));
    set("mmapped", seen("mmap"));
    set("arenas", seen("arenas"), "count");
    check(
        seen("heap system") == seen("system") && seen("heap rest") == seen("rest") && seen("heap fast") == seen("fast"),
        "the arenas do not add up to the totals");
    return true;
  }

  bool end_malloc_stats() {
    if (!has("total system") || !has("total in_use") || seen("total in_use") > seen("total system")) return false;
    const std::int64_t mmapped = seen("total system") - seen("system");
    give("malloc_stats", "glibc", seen("total in_use"), seen("total system") - seen("total in_use"),
         seen("total system"));
    set("mmapped", mmapped);
    set("arenas", seen("arenas"), "count");
    check(mmapped >= 0 && mmapped == seen("total in_use") - seen("in_use"), "the arenas do not add up to the totals");
    return true;
  }

  bool end_mallinfo() {
    if (!has("uordblks") || !has("fordblks")) return false;
    const std::int64_t arena = seen("arena"), used = seen("uordblks"), free = seen("fordblks");
    if (arena < 0 || used < 0 || free < 0 || seen("hblkhd") < 0) {
      out_of_range_ = true;
      return false;
    }
    give("mallinfo", "glibc", sum(used, seen("hblkhd")), free, sum(arena, seen("hblkhd")));
    set("mmapped", seen("hblkhd"));
    if (has("keepcost")) set("releasable", seen("keepcost"));
    check(sum(used, free) == arena, "uordblks and fordblks do not add up to arena");
    return true;
  }

  bool end_tcmalloc() {
    if (!has("system") || !has("unmapped")) return false;
    give("GetStats", "tcmalloc", seen("in_use"), seen("free"), seen("system"));
    set("metadata", seen("metadata"));
    set("unmapped", seen("unmapped"));
    for (const auto& [name, bytes] : free_) set(name, bytes);
    check(sum(sum(seen("in_use"), seen("free")), seen("metadata")) == seen("system"),
          "the parts do not add up to the memory used");
    return true;
  }

  void remark(Notes& notes) override {
    if (out_of_range_)
      notes.add(Severity::data_loss, "fields of mallinfo() beyond 2 GiB, left out: mallinfo2() prints them");
  }

  Kind kind_ = Kind::none;
  std::map<std::string, std::int64_t, std::less<>> seen_;  // of the open totals
  std::map<std::string, std::int64_t> free_;               // tcmalloc's lists
  bool in_heap_ = false;
  bool out_of_range_ = false;
};

Match sniff_malloc(std::string_view head) {
  bool is_below_arena = false, has_arena = false;
  return certain_if(any_line_of(head, [&](std::string_view line) {
    const std::string_view words = trim(line);
    if (is_below_arena && bytes_after(words, "system bytes")) return true;
    is_below_arena = arena_number(words).has_value();
    if (line.find(kMallocInfoBegin) != std::string_view::npos) return true;
    if (const auto row = tcmalloc_line(line); row && row->label == "Bytes in use by application") return true;
    has_arena = has_arena || mallinfo_field(line, "arena");
    return has_arena && mallinfo_field(line, "uordblks").has_value();
  }));
}

}  // namespace

constexpr Format kMallocTotals{
    .info = {"malloc-totals", "totals of glibc's malloc (malloc_info, malloc_stats, mallinfo) and tcmalloc (GetStats)",
             "*.xml, *.txt, *.log", "free chunks by size, peaks, which arena"},
    .sniff = sniff_malloc,
    .decode = read_log<MallocLog,
                       "no totals: the input ends, expected malloc_info()'s <malloc>, malloc_stats()'s \"system "
                       "bytes\", mallinfo()'s fields or tcmalloc's \"MALLOC:\"">};

}  // namespace snapdiff::formats

#include <set>

#include "formats/input/number_rows.hpp"
#include "formats/leak_reports/leak_listing.hpp"
#include "formats/text/pattern.hpp"

namespace snapdiff::formats::leak_reports {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

/// Process 15295: 30252 nodes malloced for 5385 KB
/// Process 15295: 3 leaks for 144 total leaked bytes.
/// STACK OF 1 INSTANCE OF 'ROOT LEAK: <malloc in main>':           version 4: root first, then the tree of what leaked
/// 1   leak     0x104d28498 main + 56  leak.c:11
/// ====
///     2 (192 bytes) ROOT LEAK: <AddExpr 0x7fba71405990> [96]
///        1 (96 bytes) left --> 0x7fba71405a20 [96]
/// Leak: 0x600000d506c0  size=64  zone: DefaultMallocZone_0x11da72000   Song  Swift  icdab_cycle         versions 2, 3
/// 	Call stack: [thread 0x10a974380]: | 0x10a5f678d (libdyld.dylib) start | 0x106eba614 (icdab_cycle) main
/// Its version numbers are those of the report.
class MacosLeaks final : public Dialect {
 public:
  bool begins(std::string_view line) const override { return total_of(line).has_value(); }
  void take(std::string_view line, LeakListing& out) override {
    if (const auto total = total_of(line)) {
      out.open("leaks");
      total_ = *total;
      found_ = 0;
      stack_.clear();
      type_.clear();
      if (total_.blocks == 0) out.close();
      return;
    }
    if (!out.is_open()) return;
    const std::string_view text = text::trim(line);
    if (!text.starts_with("Call stack: ")) name_by_type(out);
    if (text.starts_with("STACK OF ")) {
      stack_.clear();
    } else if (text.starts_with("Leak: 0x")) {
      old_leak(text, out);
    } else if (text.starts_with("Call stack: ")) {
      old_stack(text, out);
    } else if (!node(text, out)) {
      std::string owned(text);
      if (LeakFrame frame; frame_of(owned, frame)) stack_.push_back(std::move(owned));
    }
    if (found_ == total_.blocks && text.empty()) end(out);
  }
  void finish(LeakListing& out) override {
    name_by_type(out);
    if (found_ == total_.blocks) end(out);
  }

 private:
  static std::optional<Leaked> total_of(std::string_view line) {
    const auto rest = text::behind(line, "Process ");
    std::int64_t pid = 0;
    Leaked out;
    return text::given(rest && line.find(" total leaked bytes") != kNowhere &&
                           text::reads(*rest, "%: % leaks? for %", pid, out.blocks, out.bytes),
                       out);
  }

  void end(LeakListing& out) {
    out.close(total_);
    stack_.clear();
  }

  void record(std::string_view kind, std::int64_t bytes, std::string_view type, LeakListing& out) {
    out.check().open_record(kind, {bytes, 1});
    ++found_;
    // Leaf first: they are printed from the root on.
    for (auto one = stack_.rbegin(); one != stack_.rend(); ++one) {
      LeakFrame frame;
      frame_of(*one, frame);
      out.check().add_frame(frame);
    }
    if (stack_.empty() && !type.empty()) {
      out.check().add_frame({.function = type});
    }
  }

  /// "2 (192 bytes) ROOT LEAK: <AddExpr 0x7fba71405990> [96]": the bytes in brackets are its own.
  bool node(std::string_view text, LeakListing& out) {
    static const text::Pattern kNode(R"(^\d+ \((?:.*(ROOT LEAK: ))?(?:.*<(.*?) 0x[^<]*)?.*\[(\d+)\]$)");
    std::string_view root, type;
    std::int64_t bytes = 0;
    if (text.find("<< TOTAL >>") != kNowhere || !kNode.in(text, root, type, bytes)) return false;
    record(root.empty() ? "kept by a leak" : "root leak", bytes, type, out);
    return true;
  }

  void old_leak(std::string_view text, LeakListing& out) {
    stack_.clear();
    const auto size = text::behind(text, "size="), zone = text::behind(text, "zone: ");
    std::int64_t bytes = 0;
    if (!size || !text::reads(*size, "%", bytes)) return out.lose("leaks that could not be read, left out");
    record("root leak", bytes, {}, out);
    std::string_view name, type;
    if (zone) text::reads(*zone, "%~%", name, type);
    type_ = type;
  }

  /// A leak of versions 2 and 3 without a stack below it.
  void name_by_type(LeakListing& out) {
    if (type_.empty() || !out.is_open() || !out.check().record_open()) return;
    out.check().add_frame({.function = type_});
    type_.clear();
  }

  /// "Call stack: [thread 0x1]: | 0x2 (lib) start | 0x3 (app) main AppDelegate.swift:12": of the leak above it.
  void old_stack(std::string_view text, LeakListing& out) {
    if (!out.check().record_open()) return;
    type_.clear();
    std::vector<LeakFrame> frames;
    std::size_t bar = text.find('|');
    while (bar != kNowhere) {
      const std::size_t next = text.find('|', bar + 1);
      std::string_view part = text::trim(text.substr(bar + 1, next == kNowhere ? kNowhere : next - bar - 1));
      bar = next;
      LeakFrame frame;
      if (old_frame(part, frame)) frames.push_back(frame);
    }
    for (auto one = frames.rbegin(); one != frames.rend(); ++one) out.check().add_frame(*one);
  }

  /// "0x10a5f678d (libdyld.dylib) start", of Mac OS X 10.6 "start" alone; "0x1" begins a stack and is not a frame.
  static bool old_frame(std::string_view text, LeakFrame& out) {
    constexpr std::uint64_t kFirstPage = 4096;
    static const text::Pattern kFrame(R"(^(?:0x([[:xdigit:]]+)\s*(?:\((.*?)\))?)?\s*(.*?)$)");
    std::uint64_t address = 0;
    std::string_view name;
    if (!kFrame.in(text, address, out.module, name)) return false;
    symbol(name, out);
    if (out.function.empty() && address >= kFirstPage) out.offset = address;
    return !out.function.empty() || address >= kFirstPage;
  }

  /// "main + 56  leak.c:11", "main AppDelegate.swift:12".
  static void symbol(std::string_view text, LeakFrame& out) {
    static const text::Pattern kSymbol(R"(^(.*?)(?: \+ .*?)?(?:\s+(\S+):(\d+))?$)");
    kSymbol.in(text, out.function, out.file, out.line);
  }

  /// "1   leak     0x104d28498 main + 56  leak.c:11"
  static bool frame_of(std::string_view text, LeakFrame& out) {
    static const text::Pattern kFrame(R"(^\d+\s+(\S.*?)\s+0x([[:xdigit:]]+)\s*(.*)$)");
    std::uint64_t address = 0;
    std::string_view name;
    if (!kFrame.in(text, out.module, address, name)) return false;
    symbol(name, out);
    if (out.function.empty()) out.offset = address;
    return true;
  }

  Leaked total_;
  std::int64_t found_ = 0;
  std::string type_;                // of the leak above, while its stack may come
  std::vector<std::string> stack_;  // of the group that is open, from the root on
};

/// Memory not freed:
/// -----------------
///            Address     Size     Caller
/// 0x000055fd33d87f20    0x1f8  at /srv/app/glibc.cc:11
/// Source: glibc malloc/mtrace.pl.
class MtraceReport final : public Dialect {
 public:
  bool begins(std::string_view line) const override { return line == "Memory not freed:"; }
  bool is_endless() const override { return true; }
  void take(std::string_view line, LeakListing& out) override {
    if (begins(line)) return out.open("mtrace");
    if (!out.is_open()) return;
    text::Cursor at(line);
    std::uint64_t address = 0, bytes = 0;
    if (!at.takes("0x%~0x%~at ", address, bytes) || bytes >> 63 != 0) return;
    std::string_view place = text::trim(at.rest());
    out.check().open_record("not freed", {static_cast<std::int64_t>(bytes), 1});
    LeakFrame frame;
    if (place == "??:?") return;
    if (text::take_line_number(place, frame.line)) {
      frame.file = place;
      frame.function = place.substr(place.rfind('/') + 1);
    } else {
      frame.function = place;
    }
    out.check().add_frame(frame);
  }
};

/// = Start
/// @ ./a.out:(main+0x1b)[0x118b] + 0x55fd33d88300 0x1d8
/// @ ./a.out:[0x11a0] - 0x55fd33d88300
/// @ ./a.out:[0x11a0] < 0x55fd33d88300        realloc: what it was, what it is
/// @ ./a.out:[0x11a0] > 0x55fd33d88400 0x300
/// = End
/// Blocks that are live at its end are not freed. Source: glibc malloc/mtrace-impl.c.
class MtraceLog final : public Dialect {
 public:
  bool begins(std::string_view line) const override {
    Event event;
    return event_of(line, event) && event.makes;
  }
  bool is_endless() const override { return true; }
  void take(std::string_view line, LeakListing& out) override {
    if (line == "= End" && out.is_open()) return end(out);
    Event event;
    if (!event_of(line, event)) return;
    if (!out.is_open()) out.open("mtrace");
    const std::uint32_t row = rows_.intern(event.address);
    if (row >= live_.size()) live_.resize(row + 1);
    Block& block = live_[row];
    block.is_live = event.makes;
    if (!block.is_live) return;
    block.bytes = static_cast<std::int64_t>(event.bytes);
    // Callers repeat: a block keeps a pointer to their text.
    block.caller = &*callers_.emplace(event.caller).first;
  }
  void finish(LeakListing& out) override { end(out); }

 private:
  struct Event {
    std::string_view caller;
    std::uint64_t address = 0, bytes = 0;
    bool makes = false;
  };
  struct Block {
    std::int64_t bytes = 0;
    const std::string* caller = nullptr;
    bool is_live = false;
  };

  static bool event_of(std::string_view line, Event& out) {
    if (!line.starts_with("@ ")) return false;
    const std::size_t close = line.rfind(']');
    if (close == kNowhere) return false;
    out.caller = line.substr(2, close - 1);
    text::Cursor at(line.substr(close + 1));
    out.makes = at.takes("~+~0x%~0x%", out.address, out.bytes) || at.takes("~>~0x%~0x%", out.address, out.bytes);
    return out.makes ? out.bytes >> 63 == 0 : at.takes("~-~0x%", out.address) || at.takes("~<~0x%", out.address);
  }

  /// "./a.out:(main+0x1b)[0x118b]"
  static LeakFrame frame_of(std::string_view caller) {
    LeakFrame out;
    static const text::Pattern kCaller(R"(^(.*?)(?::\(([^+)]*)[^[]*|:)?\[(?:0x([[:xdigit:]]+)\])?)");
    kCaller.in(caller, out.module, out.function, out.offset);
    return out;
  }

  void end(LeakListing& out) {
    for (const Block& block : live_) {
      if (!block.is_live) continue;
      out.check().open_record("not freed", {block.bytes, 1});
      out.check().add_frame(frame_of(*block.caller));
    }
    live_.clear();
    rows_ = {};
    out.close();
  }

  NumberRows rows_;
  std::vector<Block> live_;
  std::set<std::string, std::less<>> callers_;
};

}  // namespace

void add_block_dialects(Dialects& all) {
  all.push_back(std::make_unique<MacosLeaks>());
  all.push_back(std::make_unique<MtraceReport>());
  all.push_back(std::make_unique<MtraceLog>());
}

}  // namespace snapdiff::formats::leak_reports

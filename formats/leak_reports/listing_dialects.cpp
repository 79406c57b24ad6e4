#include <set>

#include "formats/leak_reports/leak_listing.hpp"
#include "formats/text/quantity.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::leak_reports {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

using text::behind;

/// The number at the start of `text`, -1 where there is none.
std::int64_t number_of(std::string_view text) {
  std::int64_t value = 0;
  return text::reads(text, "~%", value) ? value : -1;
}

/// A number behind `words`, -1 where there is none.
std::int64_t number_behind(std::string_view line, std::string_view words) {
  const auto rest = behind(line, words);
  return rest ? number_of(*rest) : -1;
}

/// "leaktest.cpp(20)" or "main.cpp (7)": a file and its line; false for other text.
bool take_place(std::string_view text, LeakFrame& out) {
  text = text::trim(text);
  const std::size_t open = text.rfind('(');
  if (open == kNone || open == 0 || text.back() != ')') return false;
  const auto line = text::whole_number(text.substr(open + 1, text.size() - open - 2));
  if (!line) return false;
  out.file = text::trim(text.substr(0, open));
  out.line = *line;
  return true;
}

/// unreferenced object 0xffff888105a65340 (size 64):
///   comm "mount", pid 710, jiffies 4302851558 (age 58.239s)
///   backtrace (crc 0):
///     [<ffffffff859c45e5>] kmem_cache_alloc_trace+0x475/0x8a0 [module]
///     __vmalloc_node mm/vmalloc.c:2617 [inline]
/// Source: Linux mm/kmemleak.c.
class Kmemleak final : public Dialect {
 public:
  bool begins(std::string_view line) const override { return object_of(line).has_value(); }
  bool is_endless() const override { return true; }
  void take(std::string_view line, ListingSink& out) override {
    if (const auto object = object_of(line)) {
      // The same object again: the file was read once more.
      if (!out.is_open() || !seen_.insert(object->first).second) {
        out.open("kmemleak");
        seen_ = {object->first};
      }
      out.check().open_record("unreferenced", {object->second, 1});
      in_stack_ = false;
    } else if (line.find("backtrace") != kNone) {
      in_stack_ = true;
    } else if (LeakFrame frame; in_stack_ && out.is_open() && out.check().record_open() && frame_of(line, frame)) {
      out.check().add_frame(frame);
    }
  }

 private:
  static std::optional<std::pair<std::uint64_t, std::int64_t>> object_of(std::string_view line) {
    const auto rest = behind(line, "unreferenced object 0x");
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    if (!rest || !text::reads(*rest, "% (size %)", address, bytes)) return std::nullopt;
    return std::pair(address, bytes);
  }

  static bool frame_of(std::string_view line, LeakFrame& out) {
    if (const std::size_t open = line.find("[<"); open != kNone) {
      const std::size_t close = line.find(">] ", open);
      if (close == kNone) return false;
      line.remove_prefix(close + 3);
    }
    text::Cursor at(line);
    at.skip_blanks();
    std::string_view name = at.token();
    const std::size_t plus = name.find("+0x");
    at.skip_blanks();
    std::string_view rest = text::trim(at.rest());
    constexpr std::string_view kInline = "[inline]";
    const bool is_inline = rest.ends_with(kInline);
    if (plus == kNone && !is_inline) return false;
    if (is_inline) rest = text::trim(rest.substr(0, rest.size() - kInline.size()));
    out.function = name.substr(0, plus);
    if (rest.starts_with('[') && rest.ends_with(']')) {
      out.module = rest.substr(1, rest.size() - 2);
    } else if (text::take_line_number(rest, out.line)) {
      out.file = rest;
    }
    return !out.function.empty();
  }

  std::set<std::uint64_t> seen_;
  bool in_stack_ = false;
};

/// WARNING: Visual Leak Detector detected memory leaks!
/// ---------- Block 9767 at 0x00000000E9D81730: 40 bytes ----------
///   Leak Hash: 0x5BC9CD4E, Count: 1, Total 40 bytes
///   Call Stack (TID 19396):
///     c:\src\queue.cpp (124): queue.exe!push() + 0x1A bytes
///   Data:
/// Visual Leak Detector detected 1 memory leak (92 bytes).
/// Source: VLD's src/vld.cpp and callstack.cpp.
class VisualLeakDetector final : public Dialect {
 public:
  bool begins(std::string_view line) const override {
    return line.find("WARNING: Visual Leak Detector detected memory leaks!") != kNone;
  }
  void take(std::string_view line, ListingSink& out) override {
    if (begins(line)) return out.open("Visual Leak Detector");
    if (!out.is_open()) return;
    if (const auto block = behind(line, "---------- Block ")) {
      leaked_ = {number_behind(*block, ": "), 1};
      in_stack_ = false;
      if (leaked_.bytes < 0) out.lose("blocks that could not be read, left out");
    } else if (line.find("Leak Hash: ") != kNone && leaked_.bytes >= 0) {
      aggregate(number_behind(line, "Count: "), number_behind(line, "Total "), out);
    } else if (line.find("leaks match this size and call stack") != kNone && leaked_.bytes >= 0) {
      aggregate(number_behind(line, "A total of "), -1, out);
    } else if (text::trim(line).starts_with("Call Stack") && leaked_.bytes >= 0) {
      out.check().open_record("not freed", leaked_);
      leaked_.bytes = -1;
      in_stack_ = true;
    } else if (text::trim(line).starts_with("Data:")) {
      in_stack_ = false;
    } else if (const auto total = behind(line, "Visual Leak Detector detected ")) {
      in_stack_ = false;
      const std::int64_t leaks = number_of(*total), bytes = number_behind(*total, "(");
      leaks >= 0 && bytes >= 0 ? out.close({bytes, leaks}) : out.close();
    } else if (LeakFrame frame; in_stack_ && frame_of(text::trim(line), frame)) {
      out.check().add_frame(frame);
    }
  }

 private:
  void aggregate(std::int64_t blocks, std::int64_t bytes, ListingSink& out) {
    if (blocks <= 0) return;
    leaked_.blocks = blocks;
    if (bytes >= 0) {
      leaked_.bytes = bytes;
    } else if (__builtin_mul_overflow(leaked_.bytes, blocks, &leaked_.bytes)) {
      leaked_.bytes = -1;
      out.lose("blocks that could not be read, left out");
    }
  }

  static bool frame_of(std::string_view text, LeakFrame& out) {
    constexpr std::string_view kUnknown = " (File and line number not available): ";
    if (text.empty()) return false;
    if (const auto rest = behind(text, kUnknown)) {
      text = *rest;
    } else if (const std::size_t colon = text.find("): "); colon != kNone) {
      if (take_place(text.substr(0, colon + 1), out)) text = text.substr(colon + 3);
    }
    if (const std::size_t plus = text.find(" + 0x"); plus != kNone) text = text.substr(0, plus);
    if (const std::size_t mark = text.find('!'); mark != kNone) {
      out.module = text.substr(0, mark);
      text = text.substr(mark + 1);
    }
    if (text.ends_with("()")) text.remove_suffix(2);
    out.function = text;
    return !text.empty();
  }

  Leaked leaked_{-1, 0};
  bool in_stack_ = false;
};

/// Detected memory leaks!
/// Dumping objects ->
/// c:\leaky\leaky.cpp(15) : {147} normal block at 0x014FABF8, 4 bytes long.
///  Data: <    > 00 00 00 00
/// Object dump complete.
/// Source: Microsoft's description of the CRT debug heap.
class CrtDump final : public Dialect {
 public:
  bool begins(std::string_view line) const override { return line.find("Detected memory leaks!") != kNone; }
  void take(std::string_view line, ListingSink& out) override {
    if (begins(line)) return out.open("Visual C++ CRT");
    if (!out.is_open()) return;
    if (line.find("Object dump complete") != kNone) return out.close();
    const std::size_t found = line.find(" block at 0x");
    if (found == kNone) {
      if (line.find(" : {") != kNone) split_ = line;  // the other half is on the next line
      return;
    }
    const std::string whole =
        line.find('{') == kNone ? std::exchange(split_, {}) + ' ' + std::string(line) : std::string(line);
    const std::string_view text = whole;
    const std::size_t at = text.find(" block at 0x");
    const std::string_view kind = text.substr(0, at).substr(text.substr(0, at).find_last_of(" }") + 1);
    const std::size_t size = text.rfind(", ", text.rfind(" bytes long"));
    const std::int64_t bytes = size == kNone ? -1 : number_behind(text.substr(size), ", ");
    if (bytes < 0) return out.lose("blocks that could not be read, left out");
    out.check().open_record(kind, {bytes, 1});
    LeakFrame frame;
    if (const std::size_t brace = text.find(" : {"); brace != kNone && take_place(text.substr(0, brace), frame)) {
      frame.function = base_name(frame.file);
      out.check().add_frame(frame);
    }
    out.check().close_record();
  }

 private:
  std::string split_;
};

/// Leak check _main_ detected leaks of 4194304 bytes in 1048576 objects
/// The 1 largest leaks:
/// Leak of 4194304 bytes in 1048576 objects allocated from:
/// 	@ 4011c8 main
/// If the preceding stack traces are not enough to find the leaks, ...
/// Source: gperftools src/heap-checker.cc.
class HeapChecker final : public Dialect {
 public:
  bool begins(std::string_view line) const override {
    return leaked_of(line, " detected leaks of ").has_value() && line.find("Leak check ") != kNone;
  }
  void take(std::string_view line, ListingSink& out) override {
    if (begins(line)) {
      if (out.is_open()) out.close(total_);
      total_ = *leaked_of(line, " detected leaks of ");
      return out.open("gperftools heap checker");
    }
    if (!out.is_open()) return;
    if (const auto leaked = leaked_of(line, "Leak of "); leaked && line.find("allocated from:") != kNone) {
      out.check().open_record("not reachable", *leaked);
    } else if (LeakFrame frame; out.check().record_open() && frame_of(line, frame)) {
      out.check().add_frame(frame);
    } else if (line.find("If the preceding stack traces are not enough") != kNone) {
      out.close(total_);
    }
  }

 private:
  /// "4194304 bytes in 1048576 objects" behind `words`.
  static std::optional<Leaked> leaked_of(std::string_view line, std::string_view words) {
    const auto rest = behind(line, words);
    Leaked out;
    const bool fits = rest && text::reads(*rest, "% bytes in % objects", out.bytes, out.blocks);
    return fits ? std::optional(out) : std::nullopt;
  }
  static bool frame_of(std::string_view line, LeakFrame& out) {
    text::Cursor at(line);
    std::uint64_t address = 0;
    if (!at.takes("~@ %", address)) return false;
    out.function = text::trim(at.rest());
    if (out.function.empty()) out.offset = address;
    return true;
  }

  Leaked total_;
};

}  // namespace

void add_listing_dialects(Dialects& all) {
  all.push_back(std::make_unique<Kmemleak>());
  all.push_back(std::make_unique<VisualLeakDetector>());
  all.push_back(std::make_unique<CrtDump>());
  all.push_back(std::make_unique<HeapChecker>());
}

}  // namespace snapdiff::formats::leak_reports

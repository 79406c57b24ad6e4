#include <set>

#include "formats/leak_reports/leak_listing.hpp"
#include "formats/text/pattern.hpp"

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
  void take(std::string_view line, LeakListing& out) override {
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
    static const text::Pattern kFrame(R"(^(?:.*\[<.*>\] )?\s*(\S+?)\+0x\S*(?:\s+\[(.*)\]\s*$|\s+(\S.*):(\d+)\s*$)?)"),
        kInlined(R"(^(?:.*\[<.*>\] )?\s*(\S+?)(?:\+0x\S*)?\s+(?:(\S.*):(\d+))?\s*\[inline\]\s*$)");
    if (text::trim(line).ends_with("[inline]")) return kInlined.in(line, out.function, out.file, out.line);
    return kFrame.in(line, out.function, out.module, out.file, out.line);
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
  void take(std::string_view line, LeakListing& out) override {
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
  void aggregate(std::int64_t blocks, std::int64_t bytes, LeakListing& out) {
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
    static const text::Pattern kFrame(
        R"(^(?:.* \(File and line number not available\): |(.*?)\s*\((\d+)\): )?(?:([^!]*)!)?(.*?)(?:\(\))?(?: \+ 0x.*)?$)");
    return kFrame.in(text, out.file, out.line, out.module, out.function) && !out.function.empty();
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
  void take(std::string_view line, LeakListing& out) override {
    if (begins(line)) return out.open("Visual C++ CRT");
    if (!out.is_open()) return;
    if (line.find("Object dump complete") != kNone) return out.close();
    if (line.find(" block at 0x") == kNone) {
      if (line.find(" : {") != kNone) split_ = line;  // the other half is on the next line
      return;
    }
    const std::string whole =
        line.find('{') == kNone ? std::exchange(split_, {}) + ' ' + std::string(line) : std::string(line);
    static const text::Pattern kBlock(R"(^(?:\s*(\S.*?)\s*\((\d+)\) : )?.*[ }](\S+) block at 0x.*, (\d+) bytes long)");
    LeakFrame frame;
    std::string_view kind;
    std::int64_t bytes = 0;
    if (!kBlock.in(whole, frame.file, frame.line, kind, bytes))
      return out.lose("blocks that could not be read, left out");
    out.check().open_record(kind, {bytes, 1});
    frame.function = base_name(frame.file);
    if (!frame.file.empty()) out.check().add_frame(frame);
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
  void take(std::string_view line, LeakListing& out) override {
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
    return text::given(rest && text::reads(*rest, "% bytes in % objects", out.bytes, out.blocks), out);
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

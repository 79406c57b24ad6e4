#pragma once

#include <charconv>
#include <system_error>
#include <unordered_map>

#include "formats/text/in_quotes.hpp"

namespace snapdiff::formats::heaptrack {

constexpr std::string_view kLeak = "leak:";

constexpr std::size_t kLongestPattern = 4096;

using text::in_quotes;

constexpr std::uint32_t kNewestFileVersion = 3;

constexpr std::uint32_t kFirstWithFileVersion1 = 0x10200;

constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max() - 1;

constexpr auto kMostBytes = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

constexpr std::string_view kNotRead = "line that could not be read, skipped";

constexpr std::string_view kBadIndex = "index out of range: what it points to is unknown";

/// 0x10400 is 1.4.0.
inline std::string version_text(std::uint64_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xff) + "." +
         std::to_string(version & 0xff);
}

[[noreturn]] inline void table_full(std::uint64_t offset) {
  fail(ErrorCode::limit, "table is full: more than 4 294 967 294 lines of one kind", offset);
}

/// Fields of one line: numbers in hexadecimal without 0x, parted by single blanks.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  /// The next number; false where there is none, or one of more than 64 bits.
  bool number(std::uint64_t& out) {
    const std::size_t blanks = std::min(rest_.find_first_not_of(' '), rest_.size());
    const char* const end = rest_.data() + rest_.size();
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(rest_.data() + blanks, end, value, 16);
    if (error != std::errc{} || (stop != end && *stop != ' ')) return false;
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    out = value;
    return true;
  }

  /// As number(), for an index or a line; false beyond 32 bits too.
  bool number(std::uint32_t& out) {
    std::uint64_t wide = 0;
    if (!number(wide) || wide > std::numeric_limits<std::uint32_t>::max()) return false;
    out = static_cast<std::uint32_t>(wide);
    return true;
  }

  bool at_end() const { return rest_.find_first_not_of(' ') == std::string_view::npos; }
  /// What was not read, without the blank in front.
  std::string_view text() const { return !rest_.empty() && rest_[0] == ' ' ? rest_.substr(1) : rest_; }

 private:
  std::string_view rest_;
};

/// Whether `pattern` fits somewhere in `name`.
inline bool fits(std::string_view pattern, std::string_view name) {
  bool tied = !pattern.empty() && pattern.front() == '^';
  if (tied) pattern.remove_prefix(1);
  const bool to_end = !pattern.empty() && pattern.back() == '$';
  if (to_end) pattern.remove_suffix(1);
  for (;;) {
    const std::size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    if (star == std::string_view::npos && to_end) {
      if (name.size() < part.size() || name.substr(name.size() - part.size()) != part) return false;
      return !tied || name.size() == part.size();
    }
    const std::size_t at = name.find(part);
    if (at == std::string_view::npos || (tied && at != 0)) return false;
    if (star == std::string_view::npos) return true;
    name.remove_prefix(at + part.size());
    pattern.remove_prefix(star + 1);
    tied = false;
  }
}

/// Leaks that the program itself declares harmless, in LeakSanitizer's syntax: `leak:PATTERN`, where ^ and $
/// tie the pattern to the ends of a name and * stands for anything.
class Suppressions {
 public:
  /// More are not kept: each is tried on every name.
  static constexpr std::size_t kMost = 1000;

  /// One line of them; false where it is none, or one too many.
  bool add(std::string_view line) {
    if (line.substr(0, kLeak.size()) != kLeak || patterns_.size() == kMost) return false;
    const std::string_view pattern = line.substr(kLeak.size());
    if (pattern.empty() || pattern.size() > kLongestPattern) return false;
    if (std::find(patterns_.begin(), patterns_.end(), pattern) == patterns_.end()) patterns_.emplace_back(pattern);
    return true;
  }

  bool empty() const { return patterns_.empty(); }
  /// The first pattern that fits `name` (of a function, a file or a module), or "".
  std::string_view match(std::string_view name) const {
    if (name.empty()) return {};
    for (const std::string& pattern : patterns_) {
      if (fits(pattern, name)) return pattern;
    }
    return {};
  }

 private:
  std::vector<std::string> patterns_;
};

/// One source position at an instruction pointer; indexes of Recording::strings, 0 = none.
struct Position {
  std::uint32_t function = 0;
  std::uint32_t file = 0;
  std::int32_t line = 0;
};

/// Instruction pointers: row i has position[first[i] .. first[i + 1]), innermost first. Row 0: none.
struct Pointers {
  std::vector<std::uint32_t> module{0};
  std::vector<std::uint32_t> first{0, 0};
  std::vector<Position> position;
  std::size_t size() const { return module.size(); }
};

/// A trace node is a stack: its own pointer, then that of its parent. Parents come first. Row 0: the root.
struct TraceNode {
  std::uint32_t pointer = 0;
  std::uint32_t parent = 0;
};

/// Allocations of one size from one trace, and how they fare while the events go by. Aligned, so that an event touches
/// one cache line and never two.
struct alignas(32) Allocation {
  std::int64_t size = 0;  ///< bytes asked for; negative: a line that records none, its events are skipped
  std::int64_t live = 0;  ///< blocks
  std::int64_t made = 0;
  std::int64_t temporary = 0;  ///< freed by the very next event
};

/// Everything that was read so far, but the events themselves, which are counted only.
struct Recording {
  std::uint32_t file_version = 0;
  SnapshotFacts facts;  ///< producer, notes, whether it is partial
  std::optional<std::string> command_line;
  bool attached = false;  ///< recorded from the middle of a process's life

  StringTable strings;
  Pointers pointers;
  std::vector<TraceNode> traces{TraceNode{}};
  std::vector<Allocation> allocations;
  std::vector<std::uint32_t> trace_of;  ///< by allocation
  Suppressions suppressions;

  std::vector<std::uint32_t> used;  ///< allocations with made > 0, in order of their first event
  std::int64_t live_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t peak_events = 0;  ///< after which peak_bytes were live
  std::uint64_t time_ms = 0;      ///< of the last time stamp
  std::uint64_t peak_time_ms = 0;
  std::uint64_t page_bytes = 0;  ///< 0: not recorded
  std::optional<std::int64_t> rss_bytes;
  std::optional<std::int64_t> rss_peak_bytes;

  /// One line of another kind than an event: `s i t a c R X I S #` and the like, and the events of version 0.
  /// Throws Failure: malformed, unsupported, limit.
  void take_line(std::string_view line, std::uint64_t offset) {
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || line[0] == '#') return;
    const bool has_fields = line.size() > 1 && line[1] == ' ';
    const std::string_view rest = line.size() > 2 ? line.substr(2) : std::string_view();
    switch (has_fields || line.size() == 1 ? line[0] : '?') {
      case 's': return string_line(rest, offset);
      case 'i': return pointer_line(rest, offset);
      case 't': return trace_line(rest, offset);
      case 'a': return allocation_line(rest, offset);
      case 'c': return stamp_line(rest, offset);
      case 'R': return rss_line(rest, offset);
      case 'I':
        if (!Fields(rest).number(page_bytes)) skip(kNotRead, offset);
        return;
      case 'S':
        if (!suppressions.add(rest))
          facts.notes.add(Severity::info, "suppression that is not of the form leak:PATTERN, or one too many, ignored",
                          offset);
        return;
      case 'X':
        if (command_line) fail(ErrorCode::malformed, "second command line: expected one recording in a file", offset);
        command_line = rest;
        return;
      case 'v': fail(ErrorCode::malformed, "second version line: expected one recording in a file", offset);
      case 'x':
      case 'm':
        fail(ErrorCode::unsupported,
             "raw heaptrack recording, without names: expected an interpreted one (heaptrack --interpret FILE)",
             offset);
      default: skip(kNotRead, offset);
    }
  }

  void take_version(std::string_view line) {
    Fields fields(line.substr(std::min<std::size_t>(1, line.size())));
    std::uint64_t heaptrack = 0;
    if (line.empty() || line[0] != 'v' || !fields.number(heaptrack))
      fail(ErrorCode::malformed, instead("no version line", in_quotes(line), "v and two numbers"), 0);
    if (fields.at_end()) {
      file_version = heaptrack == kFirstWithFileVersion1 ? 1 : 0;
    } else if (!fields.number(file_version) || !fields.at_end()) {
      fail(ErrorCode::malformed, instead("bad version line", in_quotes(line), "v and two numbers"), 0);
    }
    if (file_version > kNewestFileVersion)
      fail(ErrorCode::unsupported, "heaptrack file version " + std::to_string(file_version) + ": expected 0 to 3", 0);
    facts.producer = "heaptrack " + version_text(heaptrack);
  }

  /// Counts a line that is left out.
  void skip(std::string_view why, std::uint64_t offset) { facts.notes.add(Severity::data_loss, why, offset); }

  static constexpr std::uint32_t kNoRow = 0xffffffff;
  /// For version 0, where events name size and trace: the row, made when it is new; kNoRow out of range.
  std::uint32_t allocation_of(std::uint64_t size, std::uint32_t trace) {
    if (size > kMostBytes || trace >= traces.size() || allocations.size() >= kMostRows) return kNoRow;
    std::uint32_t& row = row_of_.try_emplace(SizeAndTrace{size, trace}, kNoRow).first->second;
    if (row == kNoRow) {
      row = static_cast<std::uint32_t>(allocations.size());
      allocations.push_back({.size = static_cast<std::int64_t>(size)});
      trace_of.push_back(trace);
    }
    return row;
  }

 private:
  void string_line(std::string_view text, std::uint64_t offset) {
    if (strings.size() >= kMostRows) table_full(offset);
    if (file_version >= 3) {
      Fields fields(text);
      std::uint64_t length = 0;
      if (!fields.number(length)) {
        skip(kNotRead, offset);
        strings.append({});  // later strings keep their numbers
        return;
      }
      text = fields.text();
      if (text.size() != length)
        facts.notes.add(Severity::warning, "text of another length than its line says: taken as it is", offset);
    }
    strings.append(text);
  }

  void pointer_line(std::string_view line, std::uint64_t offset) {
    if (pointers.size() >= kMostRows || pointers.position.size() >= kMostRows - line.size()) table_full(offset);
    Fields fields(line);
    std::uint64_t address = 0;
    std::uint32_t module = 0;
    bool fine = fields.number(address) && fields.number(module);
    bool in_range = module < strings.size();
    while (fine && !fields.at_end()) {
      Position at;
      std::uint32_t number = 0;
      fine = fields.number(at.function);
      // Files before version 1 may end after a function.
      if (fine && !fields.at_end()) fine = fields.number(at.file) && fields.number(number);
      if (!fine) break;
      at.line = number > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())
                    ? 0
                    : static_cast<std::int32_t>(number);
      if (at.function >= strings.size() || at.file >= strings.size()) {
        in_range = false;
        at = {};
      }
      pointers.position.push_back(at);
    }
    if (!fine) skip(kNotRead, offset);
    if (!in_range) skip(kBadIndex, offset);
    pointers.module.push_back(module < strings.size() ? module : 0);
    pointers.first.push_back(static_cast<std::uint32_t>(pointers.position.size()));
  }

  void trace_line(std::string_view line, std::uint64_t offset) {
    if (traces.size() >= kMostRows) table_full(offset);
    Fields fields(line);
    TraceNode node;
    if (!fields.number(node.pointer) || !fields.number(node.parent)) {
      skip(kNotRead, offset);
      node = {};
    }
    // A parent is written before its children, so that no chain can close.
    if (node.pointer >= pointers.size() || node.parent >= traces.size()) {
      skip(kBadIndex, offset);
      if (node.pointer >= pointers.size()) node.pointer = 0;
      if (node.parent >= traces.size()) node.parent = 0;
    }
    traces.push_back(node);
  }

  void allocation_line(std::string_view line, std::uint64_t offset) {
    if (allocations.size() >= kMostRows) table_full(offset);
    Fields fields(line);
    std::uint64_t size = 0;
    std::uint32_t trace = 0;
    Allocation made;
    if (!fields.number(size) || !fields.number(trace) || size > kMostBytes) {
      skip(kNotRead, offset);
      made.size = -1;
      trace = 0;
    } else {
      made.size = static_cast<std::int64_t>(size);
    }
    if (trace >= traces.size()) {
      skip(kBadIndex, offset);
      trace = 0;
    }
    allocations.push_back(made);
    trace_of.push_back(trace);
  }

  void stamp_line(std::string_view line, std::uint64_t offset) {
    std::uint64_t time = 0;
    if (!Fields(line).number(time) || time > kMostBytes) {
      skip(kNotRead, offset);
    } else if (time < time_ms) {
      facts.notes.add(Severity::warning, "time stamp before the one in front of it, ignored", offset);
    } else {
      time_ms = time;
    }
  }

  void rss_line(std::string_view line, std::uint64_t offset) {
    std::uint64_t pages = 0;
    std::uint64_t bytes = 0;
    if (!Fields(line).number(pages)) return skip(kNotRead, offset);
    if (page_bytes == 0 || __builtin_mul_overflow(pages, page_bytes, &bytes) || bytes > kMostBytes)
      return facts.notes.add(Severity::warning, "resident size without a page size, or too large, ignored", offset);
    rss_bytes = static_cast<std::int64_t>(bytes);
    rss_peak_bytes = std::max(rss_peak_bytes.value_or(0), *rss_bytes);
  }

  struct SizeAndTrace {
    std::uint64_t size;
    std::uint32_t trace;
    friend bool operator==(const SizeAndTrace&, const SizeAndTrace&) = default;
  };
  struct HashOf {
    std::size_t operator()(const SizeAndTrace& key) const {
      return static_cast<std::size_t>(keyed_hash(Hash128{key.size, key.trace}));
    }
  };
  std::unordered_map<SizeAndTrace, std::uint32_t, HashOf> row_of_;  // version 0
};

/// What a snapshot says beside its rows.
struct SnapshotWish {
  std::uint64_t events = 0;   ///< after so many
  std::uint64_t time_ms = 0;  ///< at this time of the recording
  bool cumulative = false;    ///< with all that was ever allocated: only for the state that was read last
  bool is_peak = false;
  std::optional<std::span<const std::int64_t>> live = std::nullopt;  ///< by allocation; else what is live now
};

/// The blocks of the recording that were live then.
/// Throws Failure: limit, as SnapshotBuilder::finish(); stacks of more than 2^28 frames in all.
Snapshot make_snapshot(const Recording& recording, const SnapshotWish& wish);

}  // namespace snapdiff::formats::heaptrack

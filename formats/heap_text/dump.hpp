#pragma once

#include "formats/heap_text/memory_map.hpp"
#include "formats/heap_text/raw_stacks.hpp"
#include "formats/heap_text/signature.hpp"
#include "formats/input/number_rows.hpp"
#include "formats/input/read_failure.hpp"

namespace snapdiff::formats::heap_text {

using namespace text;

/// Names that the dump itself gives for addresses (Go's comments, the symbolized wrapper).
class SymbolTable {
 public:
  struct Line {
    FunctionId function{};
    std::int32_t line = 0;
  };

  /// Innermost function first. The first entry for an address stays.
  void add(std::uint64_t address, std::span<const Line> innermost_first) {
    const std::size_t known = table_.size();
    if (table_.intern(address) < known) return;
    lines_.insert(lines_.end(), innermost_first.begin(), innermost_first.end());
    begin_.push_back(lines_.size());
  }

  /// What is known of the return address `address`. Writers key by the address inside the call
  /// (one less) or by the return address itself, depending on their age.
  std::span<const Line> find(std::uint64_t address) const {
    std::uint32_t row = table_.find(address - 1);
    if (row == NumberRows::kAbsent) row = table_.find(address);
    if (row == NumberRows::kAbsent) return {};
    return std::span(lines_).subspan(begin_[row], begin_[row + 1] - begin_[row]);
  }
  bool contains(std::uint64_t address) const { return table_.find(address) != NumberRows::kAbsent; }
  bool empty() const { return begin_.size() == 1; }

 private:
  NumberRows table_;
  std::vector<Line> lines_;
  std::vector<std::uint64_t> begin_{0};
};

/// One dump while it is read: rows of raw addresses first, what the addresses mean afterwards.
struct DumpReader {
  explicit DumpReader(LineReader& input) : lines(input) {}

  LineReader& lines;
  SnapshotBuilder builder;
  NumberRows addresses;
  RawStacks stacks;
  SymbolTable symbols;
  NumberRows nameless;  ///< addresses of Go's comments that give no name
  MemoryMap map;
  Sampler sampler;
  Values unattributed;                       ///< what the header has and the rows have not
  bool has_alloc = false;                    ///< the allocated-ever pair says something
  bool addresses_need_map = true;            ///< false where the addresses are those of the file (Go)
  std::string count_name;                    ///< the only column of Go's profiles that count; "" for a heap
  std::string detail;                        ///< SnapshotFacts::format_detail
  std::vector<std::uint32_t> frames;         ///< scratch: the stack of the last row, rows of `addresses`
  std::vector<std::uint64_t> row_addresses;  ///< scratch: the same as they are written
};

/// Reads "--- symbol" up to the "---" that closes it into dump.symbols:
///   binary=/path/to/main
///   0x<hex> outer--…--inner
/// Throws Failure: malformed where the section or what follows is missing, limit.
void read_symbol_section(DumpReader& dump);

/// The header line and all that follows, to the end of the input. The line reader is before the
/// header. Throw Failure: malformed, unsupported (header types that are not heaps), limit.
void read_heap_profile(DumpReader& dump);
/// "goroutine profile: total 7", then "2 @ 0x… 0x…" and comments. The total is that of the rows.
void read_count_profile(DumpReader& dump);
void read_jemalloc(DumpReader& dump);
/// Whichever of the two the next line opens, as far as `wanted` allows it: symbolized stands for
/// both, gperftools and go_text for one another.
void read_dump(DumpReader& dump, Dump wanted);

/// Reads "objects: bytes [objects: bytes]" with any blanks between.
Number read_counts(Cursor& at, Values& out, bool in_use_may_be_negative);

/// Reads " 0x… 0x…" to the end of the line into dump.frames, leaf first. `line` is the whole line.
void read_addresses(DumpReader& dump, Cursor at, std::string_view line);

/// Makes room for the rows that the bytes at hand may hold. To be called after the header.
void reserve_rows(DumpReader& dump);

/// Un-samples and sums one row for the stack in dump.frames.
void add_row(DumpReader& dump, Values values);

/// Compares the totals that an exact header states with the sums of the rows. What the rows lack
/// goes to dump.unattributed with a note.
void attribute_residue(DumpReader& dump, const Values& header, const Values& sum);

/// Resolves the addresses and makes the snapshot.
Snapshot finish(DumpReader& dump);

/// Whether the last line read is the last one and has no end, so that a row may go on: it is left out then, and the
/// dump is partial.
bool leave_out_cut_line(DumpReader& dump);

/// Go's comment lines: "#\t0x1234\tmain.f+0x1f\t/src/main.go:12" and "# HeapSys = 7471104".
/// True when the line was one of them.
bool read_go_comment(DumpReader& dump, std::string_view line);

[[noreturn]] inline void fail_at(const DumpReader& dump, std::string_view line, const char* where, ErrorCode code,
                                 std::string message) {
  fail(code, std::move(message), dump.lines.line_offset() + static_cast<std::uint64_t>(where - line.data()));
}

}  // namespace snapdiff::formats::heap_text

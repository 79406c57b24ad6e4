#include "formats/memray/memray_recording.hpp"

/// The tables in which CPython's code objects keep their lines.
namespace snapdiff::formats::memray {
namespace {

constexpr std::uint32_t kPython310 = 0x030a0000, kPython311 = 0x030b0000;

/// Bytes of a table; 0 behind its end.
class Table {
 public:
  explicit Table(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  /// Six bits a byte, the lowest first.
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift = std::min(shift + 6, 60U)) {
      const std::uint8_t byte = next();
      if (shift < 30) value |= std::uint64_t{byte & 63U} << shift;  // lines have up to 31 bits
      if ((byte & 64U) == 0) return value;
    }
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    const auto size = static_cast<std::int64_t>(value >> 1U);
    return (value & 1U) != 0 ? -size : size;
  }

 private:
  std::string_view rest_;
};

/// Python 3.11 on: entries for 1 to 8 code units of two bytes; a kind, then what it needs.
void read_311(Table table, std::int64_t line, std::vector<LineRange>& out) {
  constexpr unsigned kOneLine = 10, kNoColumns = 13, kLong = 14;
  for (std::int64_t unit = 0; !table.at_end();) {
    const std::uint8_t first = table.next();
    const unsigned kind = first >> 3U & 15U;
    if (kind == kLong || kind == kNoColumns) line += table.signed_number();
    if (kind == kLong) {
      for (int skipped = 0; skipped < 3; ++skipped) table.number();  // last line, columns
    } else if (kind < kNoColumns) {
      if (kind >= kOneLine) line += kind - kOneLine;
      table.next();  // columns
      if (kind >= kOneLine) table.next();
    }
    unit += (first & 7U) + 1;
    out.push_back({unit * 2, line});
  }
}

/// Before: pairs of bytes, a step of the instruction and one of the line, which holds up to the end of the step, or
/// before Python 3.10 from there on.
void read_pairs(Table table, std::int64_t line, bool before_310, std::vector<LineRange>& out) {
  constexpr int kNoLine = -128;
  for (std::int64_t at = 0; !table.at_end();) {
    at += table.next();
    const auto step = static_cast<std::int8_t>(table.next());
    if (before_310) out.push_back({at, line});
    if (before_310 || step != kNoLine) line += step;
    if (!before_310) out.push_back({at, line});
  }
  out.push_back({std::numeric_limits<std::int64_t>::max(), line});
}

}  // namespace

std::vector<LineRange> lines_of(std::uint32_t python_version, const Code& code) {
  std::vector<LineRange> out;
  if (code.line_table.empty()) return out;
  const Table table(code.line_table);
  if (python_version >= kPython311) {
    read_311(table, code.first_line, out);
  } else {
    read_pairs(table, code.first_line, python_version < kPython310, out);
  }
  return out;
}

std::int64_t line_at(std::uint32_t python_version, const std::vector<LineRange>& lines, std::int32_t instruction) {
  if (instruction < 0) return 0;
  // Python 3.10 counts instructions here and bytes in the table.
  const bool in_units = python_version >= kPython310 && python_version < kPython311;
  const std::int64_t wanted = std::int64_t{instruction} * (in_units ? 2 : 1);
  const auto found = std::upper_bound(lines.begin(), lines.end(), wanted,
                                      [](std::int64_t value, const LineRange& range) { return value < range.end; });
  return found == lines.end() ? 0 : found->line;
}

}  // namespace snapdiff::formats::memray

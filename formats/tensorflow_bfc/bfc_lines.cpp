#include "formats/tensorflow_bfc/bfc_lines.hpp"

#include "formats/text/scan.hpp"
#include "formats/text/time_stamp.hpp"

namespace snapdiff::formats::tensorflow_bfc {
using text::Cursor;
using text::has_prefix;
using text::trim;

std::optional<LogLine> bfc_line(std::string_view line) {
  constexpr std::string_view kFile = "bfc_allocator.cc:";
  const std::size_t file = line.find(kFile);
  if (file == std::string_view::npos) return std::nullopt;
  Cursor at(line.substr(file + kFile.size()));
  std::int64_t number = 0;
  if (!at.count(number) || !at.take(']')) return std::nullopt;
  at.take(' ');
  const std::optional<text::TimeStamp> time = text::find_time(line.substr(0, file));
  return LogLine{time ? std::optional(time->ns) : std::nullopt, at.rest()};
}

std::optional<OutOfMemoryLine> out_of_memory(std::string_view body) {
  constexpr std::string_view kAllocator = "Allocator (";
  constexpr std::string_view kRanOut = ") ran out of memory trying to allocate ";
  if (!has_prefix(body, kAllocator)) return std::nullopt;
  const std::size_t end = body.find(kRanOut);
  if (end == std::string_view::npos) return std::nullopt;
  OutOfMemoryLine out;
  out.allocator = body.substr(kAllocator.size(), end - kAllocator.size());
  std::string_view rest = body.substr(end + kRanOut.size());
  std::string_view size = rest.substr(0, rest.find(' '));
  while (!size.empty() && size.back() == '.') size.remove_suffix(1);
  out.asked = text::parse_size(size);
  constexpr std::string_view kRounded = "(rounded to ";
  if (const std::size_t found = rest.find(kRounded); found != std::string_view::npos) {
    Cursor at(rest.substr(found + kRounded.size()));
    std::int64_t bytes = 0;
    if (at.count(bytes) && at.take(')')) out.asked = text::Quantity{bytes, 0};
  }
  return out;
}

std::optional<std::string_view> dump_for(std::string_view body) {
  constexpr std::string_view kDump = "BFCAllocator dump for ";
  if (!has_prefix(body, kDump)) return std::nullopt;
  return trim(body.substr(kDump.size()));
}

ChunkLine chunk_line(std::string_view body, Chunk& out) {
  Cursor at(trim(body));
  ChunkLine kind = ChunkLine::in_use;
  if (at.take("Free")) {
    kind = ChunkLine::free;
  } else if (!at.take("InUse") && !at.take("Chunk")) {
    return ChunkLine::none;
  }
  at.skip_blanks();
  if (!at.take("at ")) return ChunkLine::none;
  at.token();
  if (!at.take(" of size ")) return ChunkLine::none;
  if (!at.count(out.size)) return ChunkLine::unreadable;
  out.op = {};
  if (at.take(" by op ")) {
    const std::string_view rest = at.rest();
    out.op = rest.substr(0, rest.find(" action_count "));
  }
  return kind;
}

std::optional<SizeSummary> size_summary(std::string_view body) {
  Cursor at(trim(body));
  SizeSummary out;
  if (!at.count(out.count) || !at.take(" Chunks of size ") || !at.count(out.size) || !at.take(" totalling "))
    return std::nullopt;
  return out;
}

std::optional<StatLine> stat_line(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  StatLine out;
  out.name = trim(line.substr(0, colon));
  const std::optional<std::int64_t> value = text::whole_number(trim(line.substr(colon + 1)));
  out.value = value.value_or(0);
  return value ? std::optional(out) : std::nullopt;
}

}  // namespace snapdiff::formats::tensorflow_bfc

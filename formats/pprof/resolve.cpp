#include "formats/pprof/resolve.hpp"

#include "analyzer/base/rest_row.hpp"

namespace snapdiff::formats::pprof {
namespace {

constexpr std::size_t kShortRun = 4;  ///< frames of a location that are written without a look at its row
constexpr std::string_view kDeleted = " (deleted)";

std::string_view without_deleted(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path;
}

/// ELF build ids are hex and compared in lower case; other texts stay as they are.
std::string normal_build_id(std::string_view text) {
  const bool hex = text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  std::string out(text);
  if (hex) {
    for (char& c : out) {
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return out;
}

/// Rows that stand for no code, as snapdiff writes them: a frame with nothing but such a name.
bool is_pseudo_row(std::string_view name) {
  constexpr std::string_view kTexts[] = {kNoStackRecorded, kUnattributed, kStackCut, kBelowThreshold};
  return std::find(std::begin(kTexts), std::end(kTexts), name) != std::end(kTexts);
}

bool is_short_run(std::span<const FrameId> frames) {
  const auto apart = [](FrameId a, FrameId b) { return index_of(b) != index_of(a) + 1; };
  return !frames.empty() && frames.size() <= kShortRun &&
         std::adjacent_find(frames.begin(), frames.end(), apart) == frames.end();
}

template <class Row>
void index_rows(const std::vector<Row>& rows, NumberRows& map, const char* plural) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (map.intern(rows[row].id) != row)
      fail_malformed(std::string("multiple ") + plural + " with same id: " + std::to_string(rows[row].id) +
                         ", expected each id once",
                     rows[row].offset);
  }
}

}  // namespace

Locations::Locations(const ProfileTables& tables, SnapshotBuilder& builder) {
  index_rows(tables.mappings, mapping_row_, "mappings");
  index_rows(tables.functions, function_row_, "functions");
  index_rows(tables.locations, location_row_, "locations");
  builder.reserve_code(tables.strings.size(), tables.functions.size(),
                       std::max(tables.locations.size(), tables.lines.size()));

  for (const RawMapping& mapping : tables.mappings) {
    module_.push_back(builder.module(without_deleted(tables.text(mapping.file_name, mapping.offset)),
                                     normal_build_id(tables.text(mapping.build_id, mapping.offset))));
    builder.add_mapping({mapping.start, mapping.limit, mapping.file_offset, module_.back()});
  }
  function_.reserve(tables.functions.size());
  for (const RawFunction& function : tables.functions) {
    const StringId name = builder.string(tables.text(function.name, function.offset));
    const StringId system_name = builder.string(tables.text(function.system_name, function.offset));
    const StringId file = builder.string(tables.text(function.file_name, function.offset));
    function_.push_back(builder.function(name, system_name, file, function.start_line));
  }
  begin_.reserve(tables.locations.size() + 1);
  begin_.push_back(0);
  for (std::size_t row = 0; row < tables.locations.size(); ++row) {
    add_location(tables, row, builder);
    begin_.push_back(static_cast<std::uint32_t>(frame_.size()));
  }
  short_run_.assign(tables.locations.size() * 2 + 64, 0);
  for (std::size_t row = 0; row < tables.locations.size(); ++row) {
    const std::uint64_t id = tables.locations[row].id;
    if (id >= short_run_.size()) continue;
    const std::span<const FrameId> frames(frame_.data() + begin_[row], begin_[row + 1] - begin_[row]);
    if (!is_short_run(frames)) continue;
    const auto first = static_cast<std::uint32_t>(frames.front());
    if (first >> (32 - kCountBits) == 0)
      short_run_[static_cast<std::size_t>(id)] = (first << kCountBits) | static_cast<std::uint32_t>(frames.size());
  }
}

void Locations::add_location(const ProfileTables& tables, std::size_t row, SnapshotBuilder& builder) {
  const RawLocation& location = tables.locations[row];
  FrameSpec spec;
  if (location.address != 0) spec.offset = location.address;
  if (location.mapping_id != 0) {
    const std::uint32_t mapping_row = mapping_row_.find(location.mapping_id);
    if (mapping_row == NumberRows::kAbsent) {
      builder.notes().add(Severity::warning, "location names a mapping that is not in the file, taken as none",
                          location.offset);
    } else {
      const RawMapping& mapping = tables.mappings[mapping_row];
      spec.module = module_[mapping_row];
      // Go on macOS and Windows writes one empty mapping, [0, 0): addresses stay as they are.
      if (location.address != 0) spec.offset = location.address - mapping.start + mapping.file_offset;
      if (location.address != 0 && mapping.limit != 0 &&
          (location.address < mapping.start || location.address >= mapping.limit))
        builder.notes().add(Severity::info, "location lies outside of its mapping", location.offset);
    }
  }
  if (location.folded)
    builder.notes().add(Severity::info, "location is folded: other functions of equal code may be meant",
                        location.offset);
  const std::size_t end =
      row + 1 < tables.locations.size() ? tables.locations[row + 1].first_line : tables.lines.size();
  if (end == location.first_line + 1 && location.address == 0) {
    const std::uint32_t function = function_row_.find(tables.lines[location.first_line].function_id);
    if (function != NumberRows::kAbsent) {
      const std::string_view name = tables.text(tables.functions[function].name, tables.functions[function].offset);
      if (is_pseudo_row(name)) return frame_.push_back(builder.pseudo_frame(name));
    }
  }
  for (std::size_t i = location.first_line; i < end; ++i) {
    const RawLine& line = tables.lines[i];
    const std::uint32_t function = line.function_id == 0 ? NumberRows::kAbsent : function_row_.find(line.function_id);
    if (function == NumberRows::kAbsent)
      fail_malformed("location id: " + std::to_string(location.id) + " has a line with nil function: id " +
                         std::to_string(line.function_id) + " is not in the file",
                     location.offset);
    spec.function = function_[function];
    spec.line = line.line;
    spec.column = line.column;
    spec.flags = i + 1 < end ? kFrameInlined : std::uint8_t{0};
    frame_.push_back(builder.frame(spec));
  }
  if (location.first_line == end) frame_.push_back(builder.frame(spec));
}

void Locations::append_frames(const char* p, const char* end, std::uint64_t offset, FrameScratch& out) const {
  constexpr std::size_t kLongestVarint = 10;
  const auto bytes = static_cast<std::size_t>(end - p);
  if (bytes > kMaxStackFrames * kLongestVarint)
    fail(ErrorCode::limit, "stack too deep: expected at most " + std::to_string(kMaxStackFrames) + " frames", offset);
  const std::uint32_t* const short_run = short_run_.data();
  const std::size_t small_ids = short_run_.size();
  while (p != end) {
    // Most ids are small and most locations a frame or two: those go straight into the scratch.
    constexpr std::size_t kIds = 4096;
    const std::size_t ids = std::min(kIds, static_cast<std::size_t>(end - p));
    FrameId* const from = out.reserve(ids * kShortRun);
    FrameId* const full = from + ids * kShortRun - kShortRun;
    FrameId* to = from;
    std::uint64_t id = 0;
    bool look_up = false;
    while (p != end && to <= full) {
      id = next_varint(p, end);
      const std::uint32_t run = id < small_ids ? short_run[id] : 0;
      look_up = run == 0;
      if (look_up) break;
      const std::uint32_t first = run >> kCountBits;
      for (std::uint32_t i = 0; i < kShortRun; ++i) to[i] = FrameId{first + i};  // there is room for all
      to += run & ((1U << kCountBits) - 1);
    }
    out.added(static_cast<std::size_t>(to - from));
    if (look_up) append_run(id, offset, out);
    if (out.size() > kMaxStackFrames)
      fail(ErrorCode::limit, "stack too deep: expected at most " + std::to_string(kMaxStackFrames) + " frames", offset);
  }
}

void Locations::append_run(std::uint64_t id, std::uint64_t offset, FrameScratch& out) const {
  const std::uint32_t row = location_row_.find(id);
  if (row == NumberRows::kAbsent)
    fail_malformed("sample has nil location: location id " + std::to_string(id) + " is not in the file", offset);
  const std::size_t count = begin_[row + 1] - begin_[row];
  if (out.size() + count > kMaxStackFrames)
    fail(ErrorCode::limit, "stack too deep: expected at most " + std::to_string(kMaxStackFrames) + " frames", offset);
  std::copy_n(frame_.begin() + begin_[row], count, out.reserve(count));
  out.added(count);
}

}  // namespace snapdiff::formats::pprof

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdiff/api.hpp"

namespace snapdiff {

/// How much a note matters: `info` changes nothing in the numbers, `warning` means that they may
/// mislead, `data_loss` that something in the input is not in the snapshot.
enum class Severity : std::uint8_t { info, warning, data_loss };

constexpr std::string_view to_text(Severity severity) {
  switch (severity) {
    case Severity::info: return "info";
    case Severity::warning: return "warning";
    case Severity::data_loss: return "data loss";
  }
  return "info";
}

/// One kind of remark and how often it was made. `first_offset` is where the first one was met.
struct Note {
  Severity severity = Severity::info;
  std::string text;
  std::uint64_t count = 1;
  std::optional<std::uint64_t> first_offset = std::nullopt;
  friend bool operator==(const Note&, const Note&) = default;
};

/// Remarks in order of their first appearance; equal texts are counted, not repeated. Keep the
/// text free of numbers that differ from one occurrence to the next, or nothing is merged.
class Notes {
 public:
  SNAPDIFF_API void add(Severity severity, std::string_view text, std::optional<std::uint64_t> offset = std::nullopt,
                        std::uint64_t count = 1);
  SNAPDIFF_API void add_all(const Notes& other);
  const std::vector<Note>& all() const { return notes_; }
  bool empty() const { return notes_.empty(); }
  friend bool operator==(const Notes&, const Notes&) = default;

 private:
  std::vector<Note> notes_;
};

}  // namespace snapdiff

#include "snapdiff/notes.hpp"

namespace snapdiff {

void Notes::add(Severity severity, std::string_view text, std::optional<std::uint64_t> offset, std::uint64_t count) {
  for (Note& note : notes_) {
    if (note.severity == severity && note.text == text) {
      note.count += count;
      return;
    }
  }
  notes_.push_back({severity, std::string(text), count, offset});
}

void Notes::add_all(const Notes& other) {
  for (const Note& note : other.notes_) add(note.severity, note.text, note.first_offset, note.count);
}

}  // namespace snapdiff

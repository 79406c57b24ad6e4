#include "analyzer/render/pages/pages.hpp"

#include <algorithm>

#include "analyzer/render/paint/text.hpp"
#include "snapdiff/concat.hpp"

namespace snapdiff::render {
namespace {

constexpr std::size_t kPageNotesMostNotes = 3;
constexpr std::size_t kMostLines = 2;  // of one note
constexpr double kPageNotesNoteLine = 8.8;
constexpr double kAbove = 3;
constexpr TextStyle kNoteStyle{6.8};

std::vector<std::string> lines_of(const std::vector<std::string>& notes, Typesetter& type) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(notes.size(), kPageNotesMostNotes); ++i) {
    for (std::string& line : type.wrap(unbroken(notes[i]), kNoteStyle, kWidth, kMostLines))
      lines.push_back(std::move(line));
  }
  if (notes.size() > kPageNotesMostNotes) {
    const std::size_t more = notes.size() - kPageNotesMostNotes;
    lines.push_back(std::to_string(more).append(more == 1 ? " more note" : " more notes"));
  }
  return lines;
}

}  // namespace

std::vector<std::string> note_texts(const Notes& notes) {
  std::vector<std::string> texts;
  for (const Severity severity : {Severity::data_loss, Severity::warning, Severity::info}) {
    for (const Note& note : notes.all()) {
      if (note.severity != severity) continue;
      std::string text = severity == Severity::info ? "" : std::string(to_text(severity)).append(": ");
      text.append(printable(note.text));
      if (note.count > 1) text += concat(" (", count_text(std::min<std::uint64_t>(note.count, INT64_MAX)), " times)");
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

double notes_height(const std::vector<std::string>& notes, Typesetter& type) {
  return notes.empty() ? 0 : kAbove + kPageNotesNoteLine * static_cast<double>(lines_of(notes, type).size());
}

void draw_notes(const std::vector<std::string>& notes, Canvas& canvas, double y) {
  y += kAbove;
  for (const std::string& line : lines_of(notes, canvas.type())) {
    canvas.text_cut(kLeft, y + kPageNotesNoteLine - 2, line, kNoteStyle, kInk2, kWidth);
    y += kPageNotesNoteLine;
  }
}

}  // namespace snapdiff::render

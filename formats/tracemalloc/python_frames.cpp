#include "formats/tracemalloc/python_frames.hpp"

namespace snapdiff::formats::tracemalloc {

std::string place_name(std::string_view file, std::int32_t line) {
  std::string_view shown = base_name(file);
  if (shown.empty()) {
    shown = file;
  } else if (shown.size() < file.size()) {
    const std::string_view folder = base_name(file.substr(0, file.size() - shown.size() - 1));
    if (!folder.empty()) shown = file.substr(file.size() - shown.size() - 1 - folder.size());
  }
  std::string name(shown);
  // One spelling on every system, so that a name says the same place.
  for (char& c : name) c = c == '\\' ? '/' : c;
  if (line > 0) name += ":" + std::to_string(line);
  return name;
}

FrameId place_frame(SnapshotBuilder& builder, std::string_view file, std::int32_t line) {
  const std::string name = file.empty() ? std::string(kUnknownFile) : place_name(file, line);
  return builder.frame({.function = builder.function(name, file), .line = line});
}

void add_notes(SnapshotBuilder& builder) { builder.notes().add(Severity::info, kNativeNote); }

}  // namespace snapdiff::formats::tracemalloc

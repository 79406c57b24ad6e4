#include "formats/tracemalloc/python_frames.hpp"

#include <array>

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
  FrameSpec spec;
  spec.function = builder.function(name, file);
  spec.line = line;
  return builder.frame(spec);
}

bool is_profiler_file(std::string_view file) {
  constexpr std::array<std::string_view, 4> kNames = {"tracemalloc.py", "linecache.py", "pickle.py", "tokenize.py"};
  const std::string_view name = base_name(file);
  for (const std::string_view known : kNames) {
    if (name == known) return true;
  }
  return false;
}

void add_notes(SnapshotBuilder& builder) {
  const Dictionary& d = builder.dictionary();
  builder.notes().add(Severity::info, kNativeNote);
  StringId last{};  // frames of one file often stand together
  for (const StringId file : d.functions.file) {
    if (file == last) continue;
    last = file;
    if (!is_profiler_file(d.strings[file])) continue;
    builder.notes().add(
        Severity::info,
        "stacks through tracemalloc.py, linecache.py, pickle.py or tokenize.py may be the profiler's own: "
        "--ignore '(tracemalloc|linecache|pickle|tokenize)[.]py' leaves them out");
    return;
  }
}

}  // namespace snapdiff::formats::tracemalloc

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/symbols/symbols.hpp"

/// What the tests of the symbols module share: programs run and asked, never our own reader.
namespace snapdiff::test {

struct CommandResult {
  int status = -1;
  std::string output;
};

inline CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> block;
  for (std::size_t got = 0; (got = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
    result.output.append(block.data(), got);
  result.status = ::pclose(pipe);
  return result;
}

inline bool has_program(const std::string& name) { return run_command("command -v " + name).status == 0; }

inline std::string program_path(const std::string& name) {
  std::string path = run_command("command -v " + name).output;
  while (!path.empty() && path.back() == '\n') path.pop_back();
  std::error_code ignored;
  const auto real = std::filesystem::canonical(path, ignored);
  return ignored ? path : real.string();
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "snapdiff-symbols-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline void write_file(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One frame as addr2line prints it; file and function "??" are "" here, line "?" is 0.
struct TrueFrame {
  std::string function;
  std::string file;
  int line = 0;
};

/// addr2line -i -f -C on virtual addresses, innermost first; `program` may be another that prints the same way.
inline std::vector<std::vector<TrueFrame>> ask_addr2line(const std::string& binary,
                                                         const std::vector<std::uint64_t>& vaddrs,
                                                         const std::string& program = "addr2line") {
  const TemporaryFolder folder;
  std::ostringstream list;
  list << std::hex;
  for (const std::uint64_t address : vaddrs) list << "0x" << address << "\n";
  write_file(folder / "addresses", list.str());
  // -a prints each address before its frames.
  std::istringstream out(run_command(program + " -a -i -f -C -e '" + binary + "' < " + (folder / "addresses")).output);
  std::vector<std::vector<TrueFrame>> all;
  for (std::string function, place; std::getline(out, function);) {
    if (function.starts_with("0x")) {
      all.emplace_back();
      continue;
    }
    if (all.empty() || !std::getline(out, place)) continue;
    if (const std::size_t note = place.find(" (discriminator"); note != std::string::npos) place.resize(note);
    const std::size_t colon = place.rfind(':');
    TrueFrame frame{function == "??" ? "" : function, place.substr(0, colon), std::atoi(place.c_str() + colon + 1)};
    if (frame.file == "??") frame.file.clear();
    all.back().push_back(frame);
  }
  return all;
}

/// Where a section lies, from readelf -SW.
struct SectionPlace {
  std::uint64_t address = 0, offset = 0, size = 0;
};
inline SectionPlace section_of(const std::string& binary, const std::string& name) {
  std::istringstream out(run_command("readelf -SW '" + binary + "'").output);
  for (std::string line; std::getline(out, line);) {
    const std::size_t at = line.find("] " + name + " ");
    if (at == std::string::npos) continue;
    std::istringstream columns(line.substr(at + 2 + name.size()));
    std::string type;
    SectionPlace place;
    columns >> type >> std::hex >> place.address >> place.offset >> place.size;
    return place;
  }
  return {};
}

/// Value of a symbol, from nm; 0 when it is not there.
inline std::uint64_t address_of_symbol(const std::string& binary, const std::string& part) {
  std::istringstream out(run_command("nm -C '" + binary + "'").output);
  for (std::string line; std::getline(out, line);) {
    if (line.size() > 19 && line.find(part, 19) != std::string::npos &&
        (line[17] == 'T' || line[17] == 't' || line[17] == 'W'))
      return std::strtoull(line.c_str(), nullptr, 16);
  }
  return 0;
}

inline std::string build_id_of(const std::string& binary) {
  const std::string out = run_command("readelf -nW '" + binary + "'").output;
  const std::size_t at = out.find("Build ID: ");
  return at == std::string::npos ? "" : out.substr(at + 10, out.find('\n', at) - at - 10);
}

/// All of a module's frames as text, for comparisons.
inline std::vector<std::vector<TrueFrame>> our_frames(const symbols::ModuleSymbols& symbols, std::size_t offsets) {
  std::vector<std::vector<TrueFrame>> all(offsets);
  for (std::size_t i = 0; i < offsets; ++i) {
    for (const symbols::SourceFrame& frame : symbols.of(i))
      all[i].push_back({std::string(symbols.texts[frame.name]), std::string(symbols.texts[frame.file]), frame.line});
  }
  return all;
}

inline std::string text_of(const std::vector<TrueFrame>& frames) {
  std::string out;
  for (const TrueFrame& frame : frames)
    out += (out.empty() ? "" : " < ") + frame.function + " " + frame.file + ":" + std::to_string(frame.line);
  return out.empty() ? "(nothing)" : out;
}

inline std::string normal_path(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

inline bool has_note(const Notes& notes, std::string_view part) {
  return std::any_of(notes.all().begin(), notes.all().end(),
                     [&](const Note& note) { return note.text.find(part) != std::string::npos; });
}

inline std::string text_of(const Notes& notes) {
  std::string out;
  for (const Note& note : notes.all()) out += note.text + " (" + std::to_string(note.count) + ")\n";
  return out;
}

}  // namespace snapdiff::test

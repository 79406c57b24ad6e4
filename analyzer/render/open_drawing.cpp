#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "analyzer/render/drawing_module.hpp"

namespace snapdiff::render {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModuleFile = "libsnapdiff_draw.so";

Error missing(const std::string& why) {
  return {ErrorCode::io, "drawing needs the module " + std::string(kModuleFile) + ": " + why +
                             "; install the package snapdiff-draw of version " SNAPDIFF_VERSION};
}

// Where a hostile file may lie beside the program (in /tmp, say), it belongs to somebody else.
bool is_trusted(const fs::path& module, const fs::path& program) {
  struct stat of_module = {};
  struct stat of_program = {};
  if (::stat(module.c_str(), &of_module) != 0 || ::stat(program.c_str(), &of_program) != 0) return false;
  const bool owned = of_module.st_uid == 0 || of_module.st_uid == of_program.st_uid;
  return owned && (of_module.st_mode & S_IWOTH) == 0;
}

std::optional<fs::path> find_module(const fs::path& program) {
  // Beside it, as in a build tree; then as installed, wherever the whole installation was moved to: seen from a
  // program, and from a library.
  for (const char* folder : {"", SNAPDIFF_MODULE_FOLDER, "snapdiff"}) {
    const fs::path module = (program.parent_path() / folder / kModuleFile).lexically_normal();
    std::error_code failure;
    if (fs::is_regular_file(module, failure)) return module;
  }
  return std::nullopt;
}

template <class Function>
Function find_function(void* module, const char* name) {
  return reinterpret_cast<Function>(::dlsym(module, name));
}

// The file that this function is in: the program, or a library of another program.
fs::path own_file(std::error_code& failure) {
  Dl_info found = {};
  void* map = nullptr;
  const auto here = reinterpret_cast<void*>(&own_file);
  if (::dladdr1(here, &found, &map, RTLD_DL_LINKMAP) != 0 && map != nullptr) {
    // The program itself has no name there.
    const char* const name = static_cast<const link_map*>(map)->l_name;
    if (name != nullptr && *name != '\0') return fs::canonical(name, failure);
  }
  return fs::read_symlink("/proc/self/exe", failure);
}

Result<const Drawing*> open_module() {
  std::error_code failure;
  const fs::path program = own_file(failure);
  if (failure) return missing("the program's own place is unknown (/proc/self/exe: " + failure.message() + ")");
  const std::optional<fs::path> path = find_module(program);
  if (!path) return missing("not found beside the program nor in " SNAPDIFF_MODULE_FOLDER);
  if (!is_trusted(*path, program))
    return missing(path->string() + " belongs to another user, or everybody may write to it: not opened");
  void* const module = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return missing(std::string("it cannot be opened: ") + ::dlerror());
  const auto stamp = find_function<StampFunction>(module, kStampSymbol);
  const auto functions = find_function<FunctionsFunction>(module, kFunctionsSymbol);
  if (stamp == nullptr || functions == nullptr || std::strcmp(stamp(), kDrawingStamp) != 0) {
    const std::string found = stamp == nullptr ? "no stamp" : std::string("'") + stamp() + "'";
    ::dlclose(module);
    return missing(path->string() + " is of another build: found " + found + ", expected '" + kDrawingStamp + "'");
  }
  return functions();
}

}  // namespace

Result<const Drawing*> open_drawing() {
  static const Result<const Drawing*> opened = open_module();
  return opened;
}

}  // namespace snapdiff::render

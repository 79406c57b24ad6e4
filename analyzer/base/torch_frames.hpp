#pragma once

#include <string_view>

namespace snapdiff {

/// Whether a frame is nn.Module's own call of forward: `_call_impl`, `_wrapped_call_impl`, in old versions `__call__`.
/// Its file's other functions move modules to a device and load them.
constexpr bool is_module_call(std::string_view function, std::string_view file) {
  constexpr std::string_view kFile = "module.py";
  if (!file.ends_with(kFile)) return false;
  std::string_view folder = file.substr(0, file.size() - kFile.size());
  for (const std::string_view part : {"modules", "nn", "torch"}) {
    if (folder.empty() || (folder.back() != '/' && folder.back() != '\\')) return false;
    folder.remove_suffix(1);
    if (!folder.ends_with(part)) return false;
    folder.remove_suffix(part.size());
  }
  return function.find("call_impl") != std::string_view::npos || function == "__call__";
}

}  // namespace snapdiff

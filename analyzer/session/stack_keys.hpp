#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "snapdiff/growth.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::session {

/// Keys of stacks: equal where a table shows equal frames. A name that many frames have is read once for each address
/// at which it lies. Names have to live as long as this.
class StackKeys {
 public:
  std::string of(const std::vector<FrameView>& frames) {
    std::string key;
    const auto add = [&key](const auto& value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const FrameView& frame : frames) {
      for (const std::string_view name : {frame.function, frame.file, frame.module}) add(number_of(name));
      add(frame.line);
      add(frame.offset);
    }
    return key;
  }

 private:
  std::uint32_t number_of(std::string_view name) {
    const auto [at, is_new] = by_address_.try_emplace(name.data(), name.size(), 0);
    if (!is_new && at->second.first == name.size()) return at->second.second;
    const std::uint32_t number = by_text_.try_emplace(name, static_cast<std::uint32_t>(by_text_.size())).first->second;
    at->second = {name.size(), number};
    return number;
  }

  std::unordered_map<const char*, std::pair<std::size_t, std::uint32_t>> by_address_;
  std::unordered_map<std::string_view, std::uint32_t, KeyedHash> by_text_;
};

}  // namespace snapdiff::session

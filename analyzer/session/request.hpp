#pragma once

#include <functional>
#include <memory>
#include <string>

#include "snapdiff/opened.hpp"

/// How operands are opened, and who is shown what goes on meanwhile.
namespace snapdiff::session {

/// Something that takes time and has a name; it ends with the object.
class Stage {
 public:
  Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  virtual ~Stage() = default;

  /// `share` done, 0..1, below 0 where that is unknown; words() is called where something is to be shown. From any
  /// thread.
  virtual void update(double share, const std::function<std::string()>& words) = 0;
};

/// Begins a stage; empty where nobody looks on.
using Watch = std::function<std::unique_ptr<Stage>(const char* name)>;

/// What `work` returns; whoever looks on sees the stage while it goes on.
template <class Work>
auto in_stage(const Watch& watch, const char* name, Work work) {
  const std::unique_ptr<Stage> stage = watch ? watch(name) : nullptr;
  return work();
}

struct Request : OpenOptions {
  bool debuginfod = false;  ///< addresses are named with files of the servers that withhold_debuginfod() kept aside
  bool counters = false;    ///< counters are asked for: of a file all moments that have some, with rows or without
  bool hash = true;         ///< false: no answer says or keeps the hashes of files
  Watch watch;
};

}  // namespace snapdiff::session

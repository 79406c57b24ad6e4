#include "analyzer/diff/rebuild/changed_code.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "analyzer/diff/names.hpp"
#include "analyzer/diff/rebuild/code.hpp"

namespace snapdiff::diff::rebuild {
namespace {

constexpr std::size_t kSeveral = 2;     // one moved function may be a namesake, one changed line a chance
constexpr double kMostlyChanged = 0.5;  // of the bytes that are left, on each side
constexpr std::size_t kMostCalls = 8;   // per line: one that calls more says nothing
constexpr std::size_t kMostThrough = 32;
constexpr std::size_t kDeepestThrough = 4;  // frames below a line: calls that one build makes jumps follow one another
constexpr std::uint64_t kAllocationHash = 0;

/// Functions by name that are in another file, or have another hash in their names; files where only those are known.
std::unordered_set<std::string_view> moved_functions(const Code& before, const Code& after) {
  struct Named {
    std::string_view name, file;
  };
  struct Place {
    Named a, b;
    bool several = false;
  };
  std::unordered_map<std::string_view, Place> places;
  const auto add = [&](const Named& f, Named Place::*side) {
    if (f.file.empty()) return;
    Place& place = places[f.name.empty() ? base_name(f.file) : without_rust_hash(f.name)];
    place.several = place.several || (!(place.*side).file.empty() && (place.*side).file != f.file);
    place.*side = f;
  };
  const auto add_all = [&](const Code& code, Named Place::*side) {
    for (const Function& f : code.functions) {
      if (f.last != "(anonymous)") add({f.name, f.file}, side);
    }
    for (const FunctionId f : code.functions_of_library) add({code.name(f), code.file(f)}, side);
  };
  add_all(before, &Place::a);
  add_all(after, &Place::b);
  std::unordered_set<std::string_view> out;
  bool any_scope = false;
  for (const auto& [name, place] : places) {
    if (place.several || place.a.file.empty() || place.b.file.empty()) continue;
    if (place.a.file == place.b.file && place.a.name == place.b.name) continue;
    out.insert(name);
    any_scope = any_scope || name.find("::") != std::string_view::npos;
  }
  if (out.size() < kSeveral && !any_scope) out.clear();
  return out;
}

/// What the lines of a side call.
class Calls {
 public:
  explicit Calls(const Code& code) : code_(code), name_(code.functions.size()), moved_(code.functions.size(), 0) {
    for (std::size_t f = 0; f < name_.size(); ++f) name_[f] = hash_bytes(code.functions[f].base).low | 1U;
    lines_.resize(code.line.size());
    for (std::size_t entry = 0; entry < code.side().stack.size(); ++entry) {
      const std::span<const FrameId> frames = code.frames(entry, scratch_);
      for (std::size_t k = 0; k < frames.size(); ++k) {
        const std::size_t i = index_of(frames[k]);
        if (code.line[i] == 0) continue;
        if (lines_[i].called.empty()) line_of_.emplace(code.dictionary().frames.hash[i], &lines_[i]);
        add(lines_[i].called, called(frames, k, 1), kMostCalls);
        for (std::size_t below = 2; below <= std::min(k + 1, kDeepestThrough); ++below)
          add(lines_[i].through, called(frames, k, below), kMostThrough);
      }
    }
  }

  void note_moved(const std::unordered_set<std::string_view>& moved) {
    for (std::size_t f = 0; f < moved_.size(); ++f) {
      const Function& function = code_.functions[f];
      moved_[f] = moved.contains(function.name.empty() ? base_name(function.file) : without_rust_hash(function.name));
    }
    moved_library_.assign(code_.dictionary().functions.size(), 0);
    for (const FunctionId f : code_.functions_of_library)
      moved_library_[index_of(f)] = moved.contains(without_rust_hash(code_.name(f)));
  }

  /// Some agents give a function's own line whatever it calls.
  bool lines_tell() const {
    struct Seen {
      std::size_t lines = 0, calls = 0;
    };
    std::vector<Seen> functions(code_.functions.size());
    for (std::size_t i = 0; i < code_.function.size(); ++i) {
      if (code_.function[i] == kNone || lines_[i].called.empty()) continue;
      Seen& seen = functions[code_.function[i]];
      ++seen.lines;
      seen.calls += lines_[i].called.size();
    }
    std::size_t several = 0, told = 0;
    for (const Seen& seen : functions) {
      if (seen.calls < 2) continue;
      ++several;
      if (seen.lines > 1) ++told;
    }
    return several > 0 && told * 2 >= several;
  }

  /// Share of the bytes of `entries` that go through code that is another on the other side. Behind several lines of a
  /// file that call something else its other lines have moved.
  double share_changed(const std::vector<std::uint32_t>& entries, const Calls& other, bool lines_tell) {
    struct Changed {
      std::unordered_set<std::int32_t> lines;
      std::int32_t first = 0;
    };
    std::unordered_map<std::string_view, Changed> files;
    for (std::size_t i = 0; lines_tell && i < lines_.size(); ++i) {
      if (lines_[i].called.empty() || !calls_only_others(i, other)) continue;
      Changed& changed = files[code_.functions[code_.function[i]].file];
      if (changed.lines.empty() || code_.line[i] < changed.first) changed.first = code_.line[i];
      changed.lines.insert(code_.line[i]);
    }
    const auto behind = [&](std::size_t i) {
      const auto file = files.find(code_.functions[code_.function[i]].file);
      return file != files.end() && file->second.lines.size() >= kSeveral && code_.line[i] >= file->second.first;
    };
    double all = 0, changed = 0;
    for (const std::uint32_t entry : entries) {
      const double value = std::abs(static_cast<double>(code_.side().value[entry]));
      all += value;
      if (calls_moved_library(entry)) {
        changed += value;
        continue;
      }
      const std::span<const FrameId> frames = code_.frames(entry, scratch_);
      for (std::size_t k = 0; k < frames.size(); ++k) {
        const std::size_t i = index_of(frames[k]);
        if (moved_[code_.function[i]] == 0 && !behind(i) && !(lines_tell && calls_another(frames, k, other))) continue;
        changed += value;
        break;
      }
    }
    return all > 0 ? changed / all : 0;
  }

 private:
  struct Line {
    std::vector<std::uint64_t> called, through;  ///< functions, and what these call; sorted
  };

  std::uint64_t called(std::span<const FrameId> frames, std::size_t k, std::size_t below) const {
    return k < below ? kAllocationHash : name_[code_.function[index_of(frames[k - below])]];
  }
  static void add(std::vector<std::uint64_t>& set, std::uint64_t function, std::size_t most) {
    const auto at = std::lower_bound(set.begin(), set.end(), function);
    if (set.size() <= most && (at == set.end() || *at != function)) set.insert(at, function);
  }
  static bool has(const std::vector<std::uint64_t>& set, std::uint64_t function) {
    return std::binary_search(set.begin(), set.end(), function);
  }

  bool calls_moved_library(std::uint32_t entry) const {
    const auto& of_frame = code_.dictionary().frames.function;
    for (const FrameId frame : code_.side().frames(entry).frames()) {
      if (moved_library_[index_of(of_frame[index_of(frame)])] != 0) return true;
    }
    return false;
  }

  bool calls_only_others(std::size_t frame, const Calls& other) const {
    const auto there = other.line_of_.find(code_.dictionary().frames.hash[frame]);
    if (there == other.line_of_.end()) return false;
    const std::vector<std::uint64_t>& a = lines_[frame].called;
    const std::vector<std::uint64_t>& b = there->second->called;
    return a.size() <= kMostCalls && b.size() <= kMostCalls &&
           std::none_of(a.begin(), a.end(), [&](std::uint64_t f) { return has(b, f); });
  }

  bool calls_another(std::span<const FrameId> frames, std::size_t k, const Calls& other) const {
    const auto there = other.line_of_.find(code_.dictionary().frames.hash[index_of(frames[k])]);
    if (there == other.line_of_.end()) return false;
    const std::vector<std::uint64_t>& a = lines_[index_of(frames[k])].called;
    const std::vector<std::uint64_t>& b = there->second->called;
    if (a.size() > kMostCalls || b.size() > kMostCalls) return false;
    if (calls_only_others(index_of(frames[k]), other)) return true;
    const std::uint64_t next = called(frames, k, 1);
    if (!has(b, next) && has(there->second->through, next)) return true;
    for (std::size_t below = 2; below <= std::min(k + 1, kDeepestThrough); ++below) {
      const std::uint64_t further = called(frames, k, below);
      if (!has(a, further) && has(b, further)) return true;
    }
    return false;
  }

  const Code& code_;
  std::vector<std::uint64_t> name_;          ///< per function
  std::vector<std::uint8_t> moved_;          ///< per function
  std::vector<std::uint8_t> moved_library_;  ///< per function of the dictionary
  std::vector<Line> lines_;                  ///< per frame
  std::unordered_map<Hash128, const Line*> line_of_;
  std::vector<FrameId> scratch_;
};

}  // namespace

bool is_other_code(const Code& a, const Code& b, const std::vector<std::uint32_t>& left_before,
                   const std::vector<std::uint32_t>& left_after) {
  Calls calls_a(a), calls_b(b);
  const std::unordered_set<std::string_view> moved = moved_functions(a, b);
  calls_a.note_moved(moved);
  calls_b.note_moved(moved);
  const bool lines_tell = calls_a.lines_tell() && calls_b.lines_tell();
  return calls_a.share_changed(left_before, calls_b, lines_tell) >= kMostlyChanged &&
         calls_b.share_changed(left_after, calls_a, lines_tell) >= kMostlyChanged;
}

}  // namespace snapdiff::diff::rebuild

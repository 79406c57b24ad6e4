#include "analyzer/session/left_out.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "analyzer/base/first_notes.hpp"
#include "formats/registry.hpp"

namespace snapdiff::session {
namespace {

const std::string& path_of(const LoadedSnapshot& item) { return item.ref.snapshot->facts.source.name; }

/// Whether the file belongs in front of the snapshot.
bool comes_before(const std::string& path, const LoadedSnapshot& item) {
  const std::optional<std::int64_t> number = formats::series_number(path);
  const std::optional<std::int64_t>& other = item.ref.snapshot->facts.sequence;
  return number && other && *number != *other ? *number < *other : path < path_of(item);
}

}  // namespace

void place_in_folder(std::span<LeftOut> left_out, const std::vector<LoadedSnapshot>& ordered) {
  for (LeftOut& one : left_out) {
    const std::string stem = formats::series_stem(one.path);
    const auto is_kin = [&](const LoadedSnapshot& item) { return formats::series_stem(path_of(item)) == stem; };
    const bool has_kin = std::any_of(ordered.begin(), ordered.end(), is_kin);
    one.behind.clear();
    one.ahead.clear();
    for (const LoadedSnapshot& item : ordered) {
      if (has_kin && !is_kin(item)) continue;
      if (comes_before(one.path, item)) {
        one.ahead = item.ref.ref;
        break;
      }
      one.behind = item.ref.ref;
    }
  }
}

std::vector<MissingInput> missing_inputs(const Loaded& loaded) {
  const auto find = [&](const std::string& ref) {
    const auto found = std::find_if(loaded.snapshots.begin(), loaded.snapshots.end(),
                                    [&](const LoadedSnapshot& item) { return item.ref.ref == ref; });
    return static_cast<std::size_t>(found - loaded.snapshots.begin());
  };
  const std::size_t count = loaded.snapshots.size();
  std::vector<MissingInput> out;
  for (const LeftOut& one : loaded.left_out) {
    const std::size_t behind = find(one.behind);
    const std::size_t before = behind < count ? behind + 1 : find(one.ahead);
    if (behind < count || before < count) out.push_back({before, one.path, one.why});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const MissingInput& a, const MissingInput& b) { return a.before < b.before; });
  return out;
}

void add_left_out(const Loaded& loaded, Notes& notes) {
  for (const LeftOut& one : loaded.left_out) notes.add(Severity::data_loss, std::string(kLeftOut) + one.why);
}

}  // namespace snapdiff::session

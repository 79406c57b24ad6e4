#include "analyzer/session/view_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace snapdiff::session {

std::string options_to_json(const DiffOptions& options, std::optional<SnapshotId> newest) {
  nlohmann::ordered_json json = {{"metric", options.metric},
                                 {"by", static_cast<int>(options.by)},
                                 {"label_key", options.label_key},
                                 {"sort", static_cast<int>(options.sort)},
                                 {"focus", options.focus},
                                 {"ignore", options.ignore},
                                 {"hide", options.hide},
                                 {"show", options.show},
                                 {"own", options.own},
                                 {"library", options.library},
                                 {"hide_allocator_frames", options.hide_allocator_frames},
                                 {"frames", static_cast<int>(options.frames)},
                                 {"fold_recursion", options.fold_recursion},
                                 {"match_strictly", options.match_strictly}};
  if (newest) json["newest"] = static_cast<std::int64_t>(*newest);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

DiffOptions options_from_json(const std::string& text) {
  DiffOptions options;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return options;
  const auto read_text = [&](const char* key, std::string& out) {
    if (const auto found = json.find(key); found != json.end() && found->is_string()) out = *found;
  };
  const auto read_number = [&](const char* key, int last) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? std::clamp(found->get<int>(), 0, last) : 0;
  };
  read_text("metric", options.metric);
  read_text("label_key", options.label_key);
  read_text("focus", options.focus);
  read_text("ignore", options.ignore);
  read_text("hide", options.hide);
  read_text("show", options.show);
  read_text("own", options.own);
  read_text("library", options.library);
  options.by = static_cast<GroupBy>(read_number("by", static_cast<int>(GroupBy::label)));
  options.sort = static_cast<SortKey>(read_number("sort", static_cast<int>(SortKey::name)));
  options.frames = static_cast<FrameSet>(read_number("frames", static_cast<int>(FrameSet::all)));
  const auto read_flag = [&](const char* key, bool& out) {
    if (const auto found = json.find(key); found != json.end() && found->is_boolean()) out = *found;
  };
  read_flag("hide_allocator_frames", options.hide_allocator_frames);
  read_flag("fold_recursion", options.fold_recursion);
  read_flag("match_strictly", options.match_strictly);
  return options;
}

std::optional<SnapshotId> newest_from_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find("newest");
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return SnapshotId{found->get<std::int64_t>()};
}

}  // namespace snapdiff::session

#include "analyzer/session/view_json.hpp"

#include <algorithm>
#include <charconv>

#include "analyzer/report/json_writer.hpp"
#include "formats/input/window_input.hpp"
#include "formats/json/json_scanner.hpp"

namespace snapdiff::session {
namespace {

using formats::json::JsonScanner;
using formats::json::Kind;

struct Kept {
  DiffOptions options;
  std::optional<SnapshotId> newest;
};

/// The members of a view by name and type; others are left where they are.
class KeptReader {
 public:
  KeptReader(JsonScanner& json, std::string_view key) : json_(json), key_(key) {}

  void text(std::string_view name, std::string& out) {
    if (take(name, Kind::text)) json_.text(out);
  }
  void flag(std::string_view name, bool& out) {
    if (take(name, Kind::boolean)) out = json_.boolean();
  }
  template <class Choice>
  void choice(std::string_view name, Choice& out, Choice last) {
    if (const auto value = number(name))
      out = static_cast<Choice>(std::clamp<std::int64_t>(*value, 0, static_cast<std::int64_t>(last)));
  }
  std::optional<std::int64_t> number(std::string_view name) {
    if (!take(name, Kind::number)) return std::nullopt;
    const std::string_view digits = json_.number_text();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  }
  void skip_others() {
    if (!taken_) json_.skip_value();
  }

 private:
  bool take(std::string_view name, Kind kind) {
    if (taken_ || key_ != name || json_.kind() != kind) return false;
    return taken_ = true;
  }

  JsonScanner& json_;
  std::string_view key_;
  bool taken_ = false;
};

/// Nothing where the text is not JSON.
Kept read_kept(const std::string& text) try {
  Kept kept;
  DiffOptions& options = kept.options;
  formats::MemoryInput bytes(text, "view");
  JsonScanner json(bytes);
  json.each_member([&](std::string_view key) {
    KeptReader read(json, key);
    read.text("metric", options.metric);
    read.choice("by", options.by, GroupBy::label);
    read.text("label_key", options.label_key);
    read.choice("sort", options.sort, SortKey::name);
    read.text("focus", options.focus);
    read.text("ignore", options.ignore);
    read.text("hide", options.hide);
    read.text("show", options.show);
    read.text("own", options.own);
    read.text("library", options.library);
    read.flag("hide_allocator_frames", options.hide_allocator_frames);
    read.choice("frames", options.frames, FrameSet::all);
    read.flag("fold_recursion", options.fold_recursion);
    read.flag("match_strictly", options.match_strictly);
    if (const auto newest = read.number("newest")) kept.newest = SnapshotId{*newest};
    read.skip_others();
  });
  return json.at_end() ? kept : Kept{};
} catch (const Failure&) {
  return {};
}

}  // namespace

std::string options_to_json(const DiffOptions& options, std::optional<SnapshotId> newest) {
  std::string out;
  report::JsonWriter json(out, report::JsonLayout::one_line);
  json.object([&] {
    json.field("metric", options.metric);
    json.field("by", static_cast<std::int64_t>(options.by));
    json.field("label_key", options.label_key);
    json.field("sort", static_cast<std::int64_t>(options.sort));
    json.field("focus", options.focus);
    json.field("ignore", options.ignore);
    json.field("hide", options.hide);
    json.field("show", options.show);
    json.field("own", options.own);
    json.field("library", options.library);
    json.field("hide_allocator_frames", options.hide_allocator_frames);
    json.field("frames", static_cast<std::int64_t>(options.frames));
    json.field("fold_recursion", options.fold_recursion);
    json.field("match_strictly", options.match_strictly);
    if (newest) json.field("newest", static_cast<std::int64_t>(*newest));
  });
  return out;
}

DiffOptions options_from_json(const std::string& json) { return read_kept(json).options; }

std::optional<SnapshotId> newest_from_json(const std::string& json) { return read_kept(json).newest; }

}  // namespace snapdiff::session

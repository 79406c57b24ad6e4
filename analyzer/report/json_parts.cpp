#include "analyzer/report/json_parts.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/base/words.hpp"
#include "analyzer/document/growth_columns.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/selection.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::report {
namespace {

void json_frame(JsonWriter& json, const FrameView& frame) {
  json.begin_object();
  json.field_or_null("function", frame.function);
  json.field_or_null("file", frame.file);
  json.field_or_null("line", frame.line > 0 ? std::optional<std::int64_t>(frame.line) : std::nullopt);
  json.field_or_null("module", frame.module);
  // Equal stacks of named frames may lie at several offsets; which of them is shown would depend on what came first.
  json.key("offset");
  frame.offset == kNoOffset || !frame.function.empty() ? json.null() : json.unsigned_integer(frame.offset);
  json.field("inlined", frame.inlined);
  json.end_object();
}

/// Sum of a column, or nothing when a value is unknown or the sum does not fit.
std::optional<std::int64_t> total_of(const Column& column) {
  std::int64_t total = 0;
  for (std::size_t row = 0; row < column.value.size(); ++row) {
    if (!column.is_known(row) || !checked_add(total, column.value[row], total)) return std::nullopt;
  }
  return total;
}

void sites_field(JsonWriter& json, const GrowthReport& report, const std::vector<Culprit::Site>& sites) {
  json.objects("sites", sites, [&](const Culprit::Site& site) {
    json.key("frame");
    json_frame(json, site.frame);
    json.field("growth", site.growth);
    json.field_or_null("growth_objects", report.has_objects ? std::optional(site.objects) : std::nullopt);
  });
}

/// Fields of a judged series are null elsewhere.
void verdict_fields(JsonWriter& json, const Culprit& culprit) {
  const bool fitted = culprit.values.size() >= 3;
  json.field_or_null("verdict", culprit.verdict.word);
  for (const auto& [name, number] :
       {std::pair("slope", culprit.verdict.slope), std::pair("slope_low", culprit.verdict.slope_low),
        std::pair("slope_high", culprit.verdict.slope_high)}) {
    json.field(name, fitted ? number : std::nan(""));
  }
}

void frame_fields(JsonWriter& json, const Culprit& culprit) {
  const bool frame = !culprit.path.empty();
  const std::string recorded = frame ? recorded_frame_text(culprit.path.back()) : std::string();
  json.field_or_null("name", culprit.is_owner ? plain_text(culprit.text.name) : recorded);
  if (culprit.is_owner) {
    json.field_or_null("type", recorded);
    json.field_or_null("holder", plain_text(culprit.text.via));
  }
  json.field_or_null("file", frame ? culprit.path.back().file : std::string_view());
  const bool line = frame && culprit.path.back().line > 0;
  json.field_or_null("line", line ? std::optional<std::int64_t>(culprit.path.back().line) : std::nullopt);
  json.field("own", culprit.own);
  json.field_or_null("via", culprit.via);
}

void culprit_fields(JsonWriter& json, const GrowthReport& report, const Culprit& culprit) {
  frame_fields(json, culprit);
  json_change_fields(json, culprit.value, culprit.growth());
  if (culprit.instances.of > 0) json_instances(json, culprit.instances);
  json.field_or_null("spread", culprit.text.spread);
  json.field_or_null("growth_objects", report.has_objects ? std::optional(culprit.objects.growth()) : std::nullopt);
  json.field("error", culprit.error);
  json.field("share", culprit.share);
  verdict_fields(json, culprit);
  json.field_or_null("reason", culprit.verdict.word.empty() ? std::string() : culprit.verdict.reason);
  json.field("rises", static_cast<std::int64_t>(culprit.rises));
  json.field("steps", static_cast<std::int64_t>(culprit.steps));
  json.field("doubling", culprit.doubling);
  json.field("rows", static_cast<std::int64_t>(culprit.rows.size()));
  json.array("values", culprit.values, [&](const std::int64_t value) { json.integer(value); });
  json_stack(json, "path", culprit.path);
  sites_field(json, report, culprit.sites);
}

void culprits_field(JsonWriter& json, const GrowthReport& report, std::string_view key,
                    const std::vector<Culprit>& culprits) {
  json.objects(key, culprits, [&](const Culprit& culprit) { culprit_fields(json, report, culprit); });
}

void story_fields(JsonWriter& json, const GrowthReport& report, const Story& story) {
  json.field("schema", "snapdiff.story/1");
  json.objects("events", story.events, [&](const Event& event) {
    json.field("kind", to_text(event.kind));
    json.field("title", event.title);
    json.field("text", plain_text(event.text));
  });
  json.object("headline", [&] {
    json.field("text", plain_text(story.headline));
    json.field_or_null("verdict", story.verdict);
  });
  json.field("snapshots", static_cast<std::int64_t>(story.snapshots));
  json.field("judged", story.judged);
  json.field("explained", story.explained);
  json.field("covered", story.covered);
  culprits_field(json, report, "culprits", story.culprits);
  culprits_field(json, report, "levelled", story.levelled);
  culprits_field(json, report, "freed", story.freed);
  json.objects("passing", story.passing, [&](const Passing& passing) {
    json_stack(json, "path", passing.path);
    json.field("peak", passing.peak);
    json.field("allocated", static_cast<std::int64_t>(passing.allocated + story.first));
    json.field("freed", static_cast<std::int64_t>(passing.freed + story.first));
  });
  json.field("moved", story.moved);
  json.field_or_null("hidden", plain_text(Span{story.hidden, false}));
  json.field_or_null("no_culprit", plain_text(Span{story.no_culprit, false}));
  json.field_or_null("next", plain_text(story.next));
  json.array("also", story.also, [&](const Prose& line) { json.string(plain_text(line)); });
  if (story.peak != nullptr) {
    json.key("peak");
    json_peak(json, *story.peak);
  }
}

}  // namespace

std::string rfc3339(std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::string out = utc_text(nanoseconds, 'T');
  if (const std::int64_t rest = (nanoseconds % kSecond + kSecond) % kSecond; rest != 0) {
    std::string decimals = std::to_string(rest);
    decimals.insert(0, 9 - decimals.size(), '0');
    out += "." + decimals.substr(0, decimals.find_last_not_of('0') + 1);
  }
  return out + "Z";
}

void json_snapshot(JsonWriter& json, const SnapshotRef& ref) {
  json.object([&] {
    json.field("ref", ref.ref);
    if (ref.snapshot == nullptr) return;
    const SnapshotFacts& facts = ref.snapshot->facts;
    json.field("source", facts.source.name);
    json.field_or_null("sha256", facts.source.sha256);
    json.field("format", facts.format);
    json.field_or_null("taken_at", facts.taken_at_ns ? rfc3339(*facts.taken_at_ns) : std::string());
    json.field_or_null("pid", facts.pid);
    json.object("labels", [&] {
      for (const auto& [name, value] : facts.labels) json.any_field(name, value);
    });
    json.field("partial", facts.partial);
    json.object("totals", [&] {
      for (const Column& column : ref.snapshot->samples.columns) {
        if (!is_metric(column)) continue;
        json.any_key(column.type.name);
        const std::optional<std::int64_t> total = total_of(column);
        total ? json.integer(*total) : json.null();
      }
    });
  });
}

void json_snapshot(JsonWriter& json, std::string_view key, const SnapshotRef& ref) {
  json.key(key);
  json_snapshot(json, ref);
}

void json_change_fields(JsonWriter& json, const Change& change) { json_change_fields(json, change, change.growth()); }

void json_change_fields(JsonWriter& json, const Change& change, std::int64_t growth) {
  json.field("baseline", change.baseline);
  json.field("current", change.current);
  json.field("growth", growth);
}

void json_object_fields(JsonWriter& json, bool known, const Change& objects) {
  const auto if_known = [known](std::int64_t value) { return known ? std::optional(value) : std::nullopt; };
  json.field_or_null("baseline_objects", if_known(objects.baseline));
  json.field_or_null("current_objects", if_known(objects.current));
  json.field_or_null("growth_objects", if_known(objects.growth()));
}

void json_instances(JsonWriter& json, const InstanceCount& count) {
  json.object("instances", [&] {
    json.field("grew", std::int64_t{count.grew});
    json.field("shrank", std::int64_t{count.shrank});
    json.field("of", std::int64_t{count.of});
  });
}

void json_change(JsonWriter& json, std::string_view key, const Change& change) {
  json.object(key, [&] { json_change_fields(json, change); });
}

void json_stack(JsonWriter& json, std::string_view key, std::span<const FrameView> frames) {
  json.array(key, frames, [&](const FrameView& frame) { json_frame(json, frame); });
}

void json_row_name(JsonWriter& json, const GrowthReport& report, const GrowthRow& row, std::vector<FrameView>& frames) {
  if (report.options.by != GroupBy::stack) return json.field("key", report.keys[row.key]);
  report.frames(row, frames);
  json_stack(json, "stack", frames);
}

void json_step_fields(JsonWriter& json, const SeriesStep& step) {
  json.field("ref", step.snapshot.ref);
  json.field("total", step.total);
  json.field_or_null("objects", step.objects);
  json.field("growth", step.growth);
}

void json_unnamed(JsonWriter& json, const Unnamed& unnamed) {
  json.object("names", [&] {
    json.field("addresses", unnamed.addresses);
    json.field("unnamed", unnamed.unnamed);
    json.field("value", unnamed.value);
    json.objects("modules", unnamed.modules, [&](const UnnamedModule& module) {
      json.field_or_null("module", module.module);
      json.field("unnamed", module.addresses);
      json.field("value", module.value);
    });
  });
}

void json_notes(JsonWriter& json, const Notes& notes) {
  json.objects("notes", notes.all(), [&](const Note& note) {
    json.field("severity", to_text(note.severity));
    json.field("text", note.text);
    json.field("count", note.count);
  });
}

void json_rest(JsonWriter& json, const GrowthReport& report, const Others& others) {
  json.object("others", [&] {
    json.field("rows", static_cast<std::int64_t>(others.rows));
    json.field("growth", others.value.growth());
  });
  json.object("unattributed", [&] { json.field("growth", report.unattributed.growth()); });
  json.object("filtered", [&] { json.field("growth", report.filtered.growth()); });
}

void json_listed_once(JsonWriter& json, const GrowthReport& report) {
  if (report.listed_once.empty()) return;
  std::vector<FrameView> frames;
  json.object_rows("listed_once", report.listed_once, [&](const ListedOnce& row) {
    json.field_or_null("baseline", document::known_baseline(row));
    json.field_or_null("current", document::known_current(row, report));
    json.field("from", static_cast<std::int64_t>(row.first) + 1);
    json.field("to", static_cast<std::int64_t>(row.last) + 1);
    json_change(json, "known", row.value);
    report.view->frames(row.stack, frames);
    json_stack(json, "stack", frames);
  });
}

void json_peak(JsonWriter& json, const PeakStory& peak) {
  const MemoryPeak& facts = peak.facts;
  json.begin_object();
  json.field("event", static_cast<std::int64_t>(facts.event));
  json.field("events", static_cast<std::int64_t>(facts.events));
  json.field_or_null("during", facts.part);
  json.field("bytes", facts.bytes);
  json.field("blocks", facts.blocks);
  json.field("at_start", facts.at_start);
  json.field("at_end", facts.at_end);
  json.field_or_null("reserved", facts.reserved);
  json.field("has_history", facts.has_history);
  json.field_or_null("fragments", facts.cached ? std::optional(facts.cached->fragments.bytes) : std::nullopt);
  json.field_or_null("releasable", facts.cached ? std::optional(facts.cached->releasable.bytes) : std::nullopt);
  const auto role_fields = [&](const PeakRole& role) {
    json.field("role", role.role);
    json.field("bytes", role.bytes);
    json.field("blocks", role.blocks);
  };
  json.objects("roles", facts.roles, role_fields);
  json.objects("kept", facts.kept, role_fields);
  json.objects("modules", facts.modules, [&](const PeakModule& module) {
    json.objects("path", module.path, [&](const CodeLine& line) {
      json.field("file", line.file);
      json.field("line", std::int64_t{line.line});
    });
    json.field_or_null("calls", module.calls > 0 ? std::optional(module.calls) : std::nullopt);
    json.field("bytes", module.bytes);
    json.field("blocks", module.blocks);
  });
  json.objects("parts", peak.parts, [&](const PeakPart& part, std::size_t i) {
    frame_fields(json, part);
    json.field("role", peak.roles[i]);
    json.field("bytes", part.value.current);
    json.field("blocks", part.objects.current);
    json.field("share", part.share);
  });
  json.array("advice", peak.advice, [&](const Prose& line) { json.string(plain_text(line)); });
  json.end_object();
}

void json_story_fields(JsonWriter& json, const GrowthReport& report) {
  json.object_or_null("story", report.story != nullptr, [&] { story_fields(json, report, *report.story); });
}

}  // namespace snapdiff::report

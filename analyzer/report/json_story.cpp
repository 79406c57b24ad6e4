#include "analyzer/report/json_parts.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/story.hpp"

namespace snapdiff::report {
namespace {

void sites_field(JsonWriter& json, const GrowthReport& report, const std::vector<Suspect::Site>& sites) {
  json.objects("sites", sites, [&](const Suspect::Site& site) {
    json.key("frame");
    json_frame(json, site.frame);
    json.field("growth", site.growth);
    json.field_or_null("growth_objects", report.has_objects ? std::optional(site.objects) : std::nullopt);
  });
}

/// What is known only of a judged series is null elsewhere.
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
  json.field_or_null("name", frame ? recorded_frame_text(culprit.path.back()) : std::string());
  json.field_or_null("file", frame ? culprit.path.back().file : std::string_view());
  const bool line = frame && culprit.path.back().line > 0;
  json.field_or_null("line", line ? std::optional<std::int64_t>(culprit.path.back().line) : std::nullopt);
  json.field("own", culprit.own);
  json.field_or_null("via", culprit.via);
}

void culprit_fields(JsonWriter& json, const GrowthReport& report, const Culprit& culprit) {
  frame_fields(json, culprit);
  json_change_fields(json, culprit.value);
  if (culprit.instances.of > 0) json_instances(json, culprit.instances);
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
  std::vector<const Culprit*> culprits;
  if (report.story != nullptr) {
    for (const Culprit& culprit : report.story->culprits) culprits.push_back(&culprit);
    for (const Culprit& culprit : report.story->freed) culprits.push_back(&culprit);
  }
  json.objects("suspects", culprits, [&](const Culprit* culprit) {
    json_stack(json, "path", culprit->path);
    json.field("growth", culprit->value.growth());
    json.field("share", culprit->share);
    sites_field(json, report, culprit->sites);
    verdict_fields(json, *culprit);
    json.field("own", culprit->own);
    json.field_or_null("via", culprit->via);
  });
  json.object_or_null("story", report.story != nullptr, [&] { story_fields(json, report, *report.story); });
}

}  // namespace snapdiff::report

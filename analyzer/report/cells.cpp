#include "analyzer/report/cells.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/writers.hpp"

namespace snapdiff::report {
namespace {

// CSV.

/// "leaf;caller;...": a semicolon or backslash inside a part gets a backslash.
template <class Part>
std::string joined(std::span<const FrameView> frames, Part part) {
  std::string field;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0) field += ';';
    append_marked(field, part(frames[i]), '\\', ';');
  }
  return field;
}

std::string line_of(const FrameView& frame) { return frame.line > 0 ? std::to_string(frame.line) : std::string(); }

/// "main.go:28", "main.go", "".
std::string place_of(const FrameView& frame) {
  std::string place(frame.file);
  if (!place.empty() && frame.line > 0) place.append(":").append(line_of(frame));
  return place;
}

constexpr std::size_t kLeafColumns = 4;
constexpr std::size_t kNameWhole = 1000;  // columns: nothing is cut

/// A stack, where its leaf is, and where each of its frames is: two stacks may differ in a line alone.
void stack_fields(Record& record, std::span<const FrameView> frames) {
  record.text(frames.empty() ? std::string("[filtered out]") : joined(frames, recorded_frame_text));
  if (frames.empty()) return record.empty(kLeafColumns);
  record.text(frames[0].file);
  record.number_if(frames[0].line > 0, frames[0].line);
  record.text(frames[0].module);
  const bool any_place = std::ranges::any_of(frames, [](const FrameView& f) { return !f.file.empty(); });
  any_place ? record.text(joined(frames, place_of)) : record.empty();
}

std::size_t csv_fields(document::CsvShape shape, std::size_t series) {
  switch (shape) {
    case document::CsvShape::one: break;
    case document::CsvShape::sides: return 3;
    case document::CsvShape::stack: return 1 + kLeafColumns;
    case document::CsvShape::series: return series;
  }
  return 1;
}

// Text.

/// An amount a snapshot or an hour. Below one unit a rounded number would read as "nothing".
std::string rate_text(const document::Rate& rate, std::string_view unit) {
  if (rate.value != 0 && std::abs(rate.value) < 0.5) return rate.with_sign && rate.value < 0 ? "-<1" : "<1";
  return value_text(whole_number(rate.value), unit, rate.with_sign);
}

std::string deviation_text(const document::Deviation& error, std::string_view unit) {
  if (std::isnan(error.value)) return "n/a";
  return error.value == 0 ? "0" : value_text(std::llround(std::min(error.value, 9e18)), unit);
}

std::string odds_text(const document::Odds& odds) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", odds.value);
  return text;
}

std::string count_of(const document::Count& count) {
  const std::string text = count.with_sign ? growth_count_text(count.value) : count_text(count.value);
  return count.at_least ? ">= " + text : text;
}

}  // namespace

void json_cell(JsonWriter& json, std::string_view key, const document::Cell& cell) {
  using namespace document;
  if (const auto* const missing = std::get_if<Missing>(&cell); missing != nullptr && *missing == Missing::absent)
    return;
  const auto array = [&](const Series& series) {
    json.array(key, series.values,
               [&](std::int64_t value, std::size_t i) { series.is_known(i) ? json.integer(value) : json.null(); });
  };
  const auto number = [&](double value) { json.field(key, value); };
  const auto integer = [&](std::int64_t value) { json.field(key, value); };
  std::visit(
      Overloaded{
          [&](Missing) {
            json.key(key);
            json.null();
          },
          [&](const Amount& v) { integer(v.value); }, [&](const Growth& v) { integer(v.value); },
          [&](const Count& v) { integer(v.value); }, [&](const Deviation& v) { number(v.value); },
          [&](const Rate& v) { number(v.value); }, [&](const Odds& v) { number(v.value); },
          [&](const Number& v) { number(v.value); },
          [&](const Share& v) { number(static_cast<double>(v.part) / static_cast<double>(v.whole)); },
          [&](const Flag& v) { json.field(key, v.value); }, [&](const Word& v) { json.field(key, v.text); },
          [&](const Text& v) { json.field(key, v.text); }, array,
          [&](const Stack& v) { json_stack(json, key, v.frames); },
          [&](const Site& v) { json_stack(json, key, v.frames.first(std::min<std::size_t>(1, v.frames.size()))); },
          [&](const Sides& v) { json_change(json, key, v.value); },
          [&](const Stacks& v) {
            json.object(key, [&] {
              json.field("baseline", std::int64_t{v.before});
              json.field("current", std::int64_t{v.after});
            });
          },
          [&](const InstanceCount& v) { json_instances(json, v); }},
      cell);
}

std::string csv_header(std::string_view key, document::CsvShape shape, std::size_t series) {
  using document::CsvShape;
  std::string out = ",";
  switch (shape) {
    case CsvShape::one: out += key; break;
    case CsvShape::sides:
      for (const std::string_view side : {"_baseline,", "_current,", "_growth"}) out.append(key).append(side);
      break;
    case CsvShape::stack: out += "stack,file,line,module,places"; break;
    case CsvShape::series: return value_columns(series);
  }
  return out;
}

void csv_cell(Record& record, document::CsvShape shape, std::size_t series, const document::Cell& cell) {
  using namespace document;
  const auto number = [&](const auto& v) { record.number(v.value); };
  const auto text = [&](std::string_view v) {
    record.text(v);
    record.empty(csv_fields(shape, series) - 1);
  };
  std::visit(
      Overloaded{[&](Missing) { record.empty(csv_fields(shape, series)); },
                 [&](const Flag& v) { record.number(std::int64_t{v.value ? 1 : 0}); },
                 [&](const Share& v) { record.number(static_cast<double>(v.part) / static_cast<double>(v.whole)); },
                 [&](const Word& v) { text(v.text); }, [&](const Text& v) { text(v.text); },
                 [&](const Series& v) {
                   for (std::size_t i = 0; i < v.values.size(); ++i) record.number_if(v.is_known(i), v.values[i]);
                 },
                 [&](const Stack& v) {
                   shape == CsvShape::stack ? stack_fields(record, v.frames)
                                            : record.text(joined(v.frames, recorded_frame_text));
                 },
                 [&](const Site& v) { record.text(v.frames.empty() ? std::string() : place_of(v.frames.front())); },
                 [&](const Sides& v) { record.change(v.value); },
                 [&](const Stacks& v) { record.number(std::int64_t{v.after}); },
                 [&](const InstanceCount& v) { record.text(instances_text(v)); }, number},
      cell);
}

std::string sign_text(std::string_view title, const Glyphs& glyphs) {
  return std::string(title == "\u00b1" ? glyphs.plus_minus : title == "\u2192" ? glyphs.arrow : title);
}

Sheet::Cell text_cell(const document::Cell& cell, const TextForm& form) {
  using namespace document;
  const auto safe = [&](std::string_view text) {
    const std::string shown = printable(text, form.glyphs.utf8);
    return form.markdown ? literal(shown) : shown;
  };
  using Out = Sheet::Cell;
  return std::visit(
      Overloaded{[](Missing why) { return Out{why == Missing::unknown ? "n/a" : ""}; },
                 [&](const Amount& v) { return Out{value_text(v.value, form.unit)}; },
                 [&](const Growth& v) {
                   return Out{value_text(v.value, form.unit, true), growth_paint(v.value)};
                 },
                 [](const Count& v) { return Out{count_of(v)}; },
                 [&](const Deviation& v) { return Out{deviation_text(v, form.unit)}; },
                 [&](const Rate& v) { return Out{rate_text(v, form.unit)}; },
                 [](const Share& v) { return Out{percent_text(v.part, v.whole)}; },
                 [](const Odds& v) { return Out{odds_text(v)}; },
                 [](const Number& v) {
                   std::string text;
                   append_number(text, v.value);
                   return Out{std::isfinite(v.value) ? text : "n/a"};
                 },
                 [](const Flag& v) { return Out{v.value ? "yes" : ""}; },
                 [](const Word& v) {
                   return Out{std::string(v.text), verdict_paint(v.text)};
                 },
                 [&](const Text& v) { return Out{safe(v.text)}; },
                 [&](const Series& v) {
                   return Out{sparkline(v.values.data(), v.values.size(), kSparkWidth, form.glyphs.utf8)};
                 },
                 [&](const Stack& v) { return Out{safe(stack_cell(v.frames, kMarkdownName, form.glyphs).text)}; },
                 [&](const Site& v) {
                   return Out{
                       cut_name(stack_cell(v.frames, kNameWhole, form.glyphs).site, kSiteWidth, form.glyphs.ellipsis)};
                 },
                 [&](const Sides& v) { return Out{value_text(v.value.growth(), form.unit, true)}; },
                 [](const Stacks& v) { return Out{count_text(v.after)}; },
                 [](const InstanceCount& v) { return Out{instances_text(v)}; }},
      cell);
}

}  // namespace snapdiff::report

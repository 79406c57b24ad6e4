#include <algorithm>
#include <span>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/sheet.hpp"

namespace snapdiff::report {

namespace {

/// Rows times snapshots of a JSON document, some 30 MB of text: thousands of snapshots, each with types of its own,
/// have figures that are nearly all 0.
constexpr std::size_t kMostFigures = std::size_t{1} << 18;

std::span<const Owner> first_owners(const RetainedReport& report) {
  constexpr std::size_t kMost = 3;
  return std::span(report.owners).first(std::min(kMost, report.owners.size()));
}

std::string counted_objects(std::int64_t objects) { return counted(objects, "object"); }

class RetainedText {
 public:
  RetainedText(const RetainedReport& report, const Style& style)
      : report_(report), style_(style), glyphs_(glyphs_for(style.utf8)), grows_(report.snapshots.size() > 1) {}

  std::string all() const {
    std::string out = headline() + "\n" + table() + "\n";
    out += wrapped_line(
        "retained: bytes freed if all objects of the type were freed; types overlap, so there is no sum", style_);
    if (report_.fresh)
      out +=
          wrapped_line("new: came after the first snapshot" +
                           std::string(report_.snapshots.size() > 2 ? ", was still there in a later one and in the last"
                                                                    : " and is in the last"),
                       style_);
    if (report_.sizes_estimated) out += wrapped_line("sizes are estimates: the format does not record them", style_);
    for (const std::string& line : note_lines(report_.notes, style_.utf8)) out += wrapped_line(line, style_);
    return out;
  }

 private:
  std::string names() const {
    std::string text = operand_name(report_.snapshots.front(), style_.utf8);
    if (!grows_) return text;
    text += spaced(glyphs_.arrow) + operand_name(report_.snapshots.back(), style_.utf8);
    if (report_.snapshots.size() > 2) text += "   " + counted(report_.snapshots.size(), "snapshot");
    return text;
  }

  /// "6.1 MiB → 6.4 MiB  +0.3 MiB, 31 000 → 32 000 objects  +1 000"
  std::string sum_text(ObjectSum HeapFacts::*part) const {
    const ObjectSum& first = report_.heaps.front().*part;
    const ObjectSum& last = report_.heaps.back().*part;
    std::string text;
    if (report_.has_bytes) {
      if (grows_) text += bytes_text(first.bytes) + spaced(glyphs_.arrow);
      text += bytes_text(last.bytes);
      if (grows_) text += "  " + growth_text(last.bytes - first.bytes);
      text += " in ";
    }
    if (grows_) text += count_text(first.objects) + spaced(glyphs_.arrow);
    text += counted_objects(last.objects);
    if (grows_) text += "  " + growth_count_text(last.objects - first.objects);
    return text;
  }

  std::string headline() const {
    const auto any = [&](ObjectSum HeapFacts::*part) {
      return std::ranges::any_of(report_.heaps, [&](const HeapFacts& h) { return (h.*part).objects > 0; });
    };
    const auto line = [&](const std::string& label, const std::string& text) {
      return wrapped(label + text, style_.width, label.size()) + "\n";
    };
    std::string out = wrapped_line(names(), style_);
    out += line("alive     ", sum_text(&HeapFacts::reachable));
    if (any(&HeapFacts::unreachable))
      out += line("held by   ", "no strong reference: " + sum_text(&HeapFacts::unreachable));
    if (any(&HeapFacts::soft))
      out += line("soft      ", sum_text(&HeapFacts::soft) + " of these: collected before memory runs out");
    if (any(&HeapFacts::detached)) out += line("detached  ", sum_text(&HeapFacts::detached) + " out of their document");
    for (const Owner& owner : first_owners(report_)) out += line("keeps     ", owner_text(owner));
    if (report_.fresh)
      out += line("new       ", counted_objects(report_.fresh->objects) +
                                    (report_.has_bytes ? ", " + bytes_text(report_.fresh->bytes) : ""));
    out += line("roots     ", roots_text());
    return out;
  }

  /// "OrderCache.byId (HashMap) in App.CACHE  75.0 KiB -> 950 KiB, 400 -> 3600 Order".
  std::string owner_text(const Owner& owner) const {
    std::string text = printable(owner.holder);
    if (!owner.above.empty()) text += " in " + printable(owner.above);
    const auto change = [&](const Change& of, auto words) {
      return grows_ ? words(of.baseline) + spaced(glyphs_.arrow) + words(of.current) : words(of.current);
    };
    text += "  " + change(owner.retained, [](std::int64_t bytes) { return bytes_text(bytes); }) + " in ";
    return text + change(owner.held, [](std::int64_t n) { return count_text(n); }) + " " + printable(owner.type);
  }

  std::string roots_text() const {
    const HeapFacts& heap = report_.heaps.back();
    std::string text = count_text(heap.roots);
    switch (heap.rule) {
      case RootRule::told: break;
      case RootRule::flagged: text += ", as marked"; break;
      case RootRule::unheld: text += ": the format marks no roots, so objects that nothing references are used"; break;
      case RootRule::first:
        text += ": the format marks no roots and all objects are referenced, so the first object is used";
        break;
    }
    text += "; " + count_text(heap.references) + " references";
    if (heap.weak > 0) text += ", of them " + count_text(heap.weak) + " weak and not followed";
    return text;
  }

  struct Line {
    RetainedRow row;
    std::string name;  ///< of rows together; else the row's type
    bool is_row() const { return name.empty(); }
  };

  Line together(std::size_t from, std::string name) const {
    Line line{{}, std::move(name)};
    std::vector<TypeTotals> sums(report_.snapshots.size());
    for (std::size_t i = from; i < report_.rows.size(); ++i) {
      const RetainedRow& row = report_.rows[i];
      for (const auto& [at, totals] : row.at.known()) {
        sums[at].self.objects += totals.self.objects;
        sums[at].self.bytes += totals.self.bytes;
      }
      line.row.fresh.objects += row.fresh.objects;
    }
    line.row.at.resize(sums.size());
    for (std::size_t at = 0; at < sums.size(); ++at) line.row.at.set(at, sums[at]);
    return line;
  }

  std::string table() const {
    const std::size_t shown = shown_of(report_.rows.size(), style_);
    std::vector<Line> lines;
    for (std::size_t i = 0; i < shown; ++i) lines.push_back({report_.rows[i], ""});
    if (shown < report_.rows.size()) lines.push_back(together(shown, others_text(report_.rows.size() - shown)));
    lines.push_back(together(0, "TOTAL"));
    Sheet sheet("type", style_.thousands);
    sizes(
        sheet, lines, {"objects", 7, true, ""}, 7, [](const TypeTotals& t) { return t.self.objects; }, false);
    if (report_.has_bytes) {
      sizes(
          sheet, lines, {"self", 4}, 9, [](const TypeTotals& t) { return t.self.bytes; }, true);
      sizes(
          sheet, lines, {"retained", 8}, 9, [](const TypeTotals& t) { return t.retained.bytes; }, true, false);
    } else {
      sizes(
          sheet, lines, {"retains", 7}, 9, [](const TypeTotals& t) { return t.retained.objects; }, false, false);
    }
    if (report_.fresh)
      sheet.column({"new", 5}, lines, [](const Line& line) { return Sheet::Cell{count_text(line.row.fresh.objects)}; });
    const std::size_t width = std::max<std::size_t>(sheet.rest_width(style_.width), 12);
    for (std::size_t i = 0; i < lines.size(); ++i)
      sheet.rows()[i].last = lines[i].is_row()
                                 ? cut_middle(printable(type_text(lines[i].row.kind, lines[i].row.type), style_.utf8),
                                              width, glyphs_.ellipsis)
                                 : lines[i].name;
    return sheet.text(style_.colour);
  }

  /// A value at the last snapshot, and its growth; what is retained has no sum of rows.
  template <class Get>
  void sizes(Sheet& sheet, const std::vector<Line>& lines, Sheet::Column column, std::size_t growth_width,
             const Get& get, bool bytes, bool has_sum = true) const {
    const auto known = [has_sum](const Line& line) { return has_sum || line.is_row(); };
    sheet.column(std::move(column), lines, [&](const Line& line) {
      if (!known(line)) return Sheet::Cell{};
      const std::int64_t value = get(line.row.last());
      return Sheet::Cell{bytes ? bytes_text(value) : count_text(value)};
    });
    if (!grows_) return;
    sheet.column({"growth", growth_width}, lines, [&](const Line& line) {
      if (!known(line)) return Sheet::Cell{};
      const std::int64_t growth = get(line.row.last()) - get(line.row.first());
      return Sheet::Cell{bytes ? growth_text(growth) : growth_count_text(growth), growth_paint(growth)};
    });
  }

  const RetainedReport& report_;
  const Style& style_;
  Glyphs glyphs_;
  bool grows_;
};

void sum_fields(JsonWriter& json, const ObjectSum& sum, bool has_bytes) {
  json.field("objects", sum.objects);
  json.field_or_null("bytes", has_bytes ? std::optional(sum.bytes) : std::nullopt);
}

void sum_json(JsonWriter& json, std::string_view key, const ObjectSum& sum, bool has_bytes) {
  json.object(key, [&] { sum_fields(json, sum, has_bytes); });
}

std::string retained_json(const RetainedReport& report, const Style& style) {
  return json_text(style.sink, [&](JsonWriter& json) {
    json.field("schema", "snapdiff.retained/1");
    json.array("snapshots", report.snapshots, [&](const SnapshotRef& ref) { json_snapshot(json, ref); });
    json.objects("heaps", report.heaps, [&](const HeapFacts& heap) {
      json.field("root_rule", to_text(heap.rule));
      json.field("roots", heap.roots);
      json.field("references", heap.references);
      json.field("weak_references", heap.weak);
      sum_json(json, "reachable", heap.reachable, report.has_bytes);
      sum_json(json, "unreachable", heap.unreachable, report.has_bytes);
      sum_json(json, "detached", heap.detached, report.has_bytes);
      sum_json(json, "soft", heap.soft, report.has_bytes);
    });
    json.objects("owners", report.owners, [&](const Owner& owner) {
      json.field("holder", owner.holder);
      json.field_or_null("above", owner.above);
      json.field("type", owner.type);
      json_change_fields(json, owner.retained);
      json.field("growth_objects", owner.held.growth());
      json.field_or_null("detached", owner.detached_type);
    });
    json.field("sizes_estimated", report.sizes_estimated);
    const auto fresh = [&](const ObjectSum& sum) {
      json.object_or_null("new", report.fresh.has_value(), [&] { sum_fields(json, sum, report.has_bytes); });
    };
    fresh(report.fresh.value_or(ObjectSum{}));
    const std::size_t shown =
        std::min(shown_of(report.rows.size(), style), kMostFigures / std::max<std::size_t>(1, report.snapshots.size()));
    std::vector<TypeTotals> at(report.snapshots.size());
    json.object_rows("rows", std::span(report.rows).first(shown), [&](const RetainedRow& row) {
      json.field("type", row.type);
      json.field("kind", row.kind);
      for (std::size_t i = 0; i < at.size(); ++i) at[i] = row.at[i];
      json.objects("at", at, [&](const TypeTotals& totals) {
        sum_json(json, "self", totals.self, report.has_bytes);
        sum_json(json, "retained", totals.retained, report.has_bytes);
        sum_json(json, "detached", totals.detached, report.has_bytes);
      });
      fresh(row.fresh);
    });
    json.field("others", static_cast<std::int64_t>(report.rows.size() - shown));
    json_notes(json, report.notes);
  });
}

std::string csv_retained(const RetainedReport& report, const Style& style) {
  std::string text = "type,kind";
  for (const char* side : {"baseline", "current", "growth"}) {
    for (const char* value : {"objects", "self", "retained", "retained_objects", "detached"})
      text.append(",").append(side).append("_").append(value);
  }
  text += ",new\r\n";
  const std::size_t shown = style.max_rows == 0 ? report.rows.size() : std::min(report.rows.size(), style.max_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const RetainedRow& row = report.rows[i];
    Record record(text);
    record.text(row.type);
    record.text(row.kind);
    const auto values = [&](bool known, const auto& value) {
      record.number_if(known, value([](const TypeTotals& t) { return t.self.objects; }));
      record.number_if(known && report.has_bytes, value([](const TypeTotals& t) { return t.self.bytes; }));
      record.number_if(known && report.has_bytes, value([](const TypeTotals& t) { return t.retained.bytes; }));
      record.number_if(known, value([](const TypeTotals& t) { return t.retained.objects; }));
      record.number_if(known, value([](const TypeTotals& t) { return t.detached.objects; }));
    };
    const bool grows = report.snapshots.size() > 1;
    values(grows, [&](auto get) { return get(row.first()); });
    values(true, [&](auto get) { return get(row.last()); });
    values(grows, [&](auto get) { return get(row.last()) - get(row.first()); });
    record.number_if(report.fresh.has_value(), row.fresh.objects);
  }
  return text;
}

}  // namespace

std::string write_retained(const RetainedReport& report, const Style& style) {
  switch (style.form) {
    case Form::text: return RetainedText(report, style).all();
    case Form::csv: return csv_retained(report, style);
    default: return retained_json(report, style);
  }
}

}  // namespace snapdiff::report

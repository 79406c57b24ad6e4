#include <algorithm>
#include <span>

#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/retention.hpp"
#include "analyzer/report/sheet.hpp"
#include "snapdiff/number_text.hpp"

namespace snapdiff::report {

namespace {

std::string counted_objects(std::int64_t objects) { return counted(objects, "object"); }

class RetainedText {
 public:
  RetainedText(const RetainedReport& report, const Style& style)
      : report_(report), style_(style), glyphs_(glyphs_for(style.utf8)), grows_(report.snapshots.size() > 1) {}

  std::string all() const {
    std::string out = headline() + "\n" + table() + "\n";
    out += wrapped(
               "retained: what would go with all objects of the type, those below another of them counted once; types "
               "overlap, so there is no sum",
               style_.width, 2) +
           "\n";
    if (report_.fresh)
      out += wrapped("new: came after the first snapshot" +
                         std::string(report_.snapshots.size() > 2 ? ", was still there in a later one and in the last"
                                                                  : " and is in the last"),
                     style_.width, 2) +
             "\n";
    if (report_.sizes_estimated)
      out += wrapped("sizes are estimates: the format does not tell them", style_.width, 2) + "\n";
    for (const std::string& line : note_lines(report_.notes, style_.utf8)) out += wrapped(line, style_.width, 2) + "\n";
    return out;
  }

 private:
  std::string names() const {
    std::string text = operand_name(report_.snapshots.front(), style_.utf8);
    if (!grows_) return text;
    text += spaced(glyphs_.arrow) + operand_name(report_.snapshots.back(), style_.utf8);
    if (report_.snapshots.size() > 2)
      text += "   " + counted(static_cast<std::int64_t>(report_.snapshots.size()), "snapshot");
    return text;
  }

  /// "6.1 MiB → 6.4 MiB  +0.3 MiB, 31 000 → 32 000 objects  +1 000"
  std::string sum_text(ObjectSum HeapFacts::*part) const {
    const ObjectSum& first = report_.heaps.front().*part;
    const ObjectSum& last = report_.heaps.back().*part;
    std::string text;
    if (report_.has_bytes) {
      if (grows_) text += snapdiff::bytes_text(first.bytes) + spaced(glyphs_.arrow);
      text += snapdiff::bytes_text(last.bytes);
      if (grows_) text += "  " + snapdiff::growth_text(last.bytes - first.bytes);
      text += " in ";
    }
    if (grows_) text += snapdiff::count_text(first.objects) + spaced(glyphs_.arrow);
    text += counted_objects(last.objects);
    if (grows_) text += "  " + snapdiff::growth_count_text(last.objects - first.objects);
    return text;
  }

  std::string headline() const {
    const auto any = [&](ObjectSum HeapFacts::*part) {
      return std::any_of(report_.heaps.begin(), report_.heaps.end(),
                         [&](const HeapFacts& h) { return (h.*part).objects > 0; });
    };
    const auto line = [&](const std::string& label, const std::string& text) {
      return wrapped(label + text, style_.width, label.size()) + "\n";
    };
    std::string out = wrapped(names(), style_.width, 2) + "\n";
    out += line("alive     ", sum_text(&HeapFacts::reachable));
    if (any(&HeapFacts::unreachable)) out += line("held by   ", "nothing: " + sum_text(&HeapFacts::unreachable));
    if (any(&HeapFacts::detached)) out += line("detached  ", sum_text(&HeapFacts::detached) + " out of their document");
    if (report_.fresh)
      out += line("new       ", counted_objects(report_.fresh->objects) +
                                    (report_.has_bytes ? ", " + snapdiff::bytes_text(report_.fresh->bytes) : ""));
    out += line("roots     ", roots_text());
    return out;
  }

  std::string roots_text() const {
    const HeapFacts& heap = report_.heaps.back();
    std::string text = snapdiff::count_text(heap.roots);
    switch (heap.rule) {
      case RootRule::told: break;
      case RootRule::flagged: text += ", as marked"; break;
      case RootRule::unheld: text += ": the format tells none, so objects that no other one holds"; break;
      case RootRule::first: text += ": the format tells none and all are held, so the first object"; break;
    }
    text += "; " + snapdiff::count_text(heap.references) + " references";
    if (heap.weak > 0) text += ", of them " + snapdiff::count_text(heap.weak) + " weak and not followed";
    return text;
  }

  std::string table() const {
    const bool bytes = report_.has_bytes;
    std::vector<Sheet::Column> columns = {{"objects", 7, true, ""}};
    const auto with_growth = [&](const std::string& header, const std::string& growth) {
      columns.push_back({header, header.size(), true, " "});
      if (grows_) columns.push_back({growth, 9, true, " "});
    };
    if (grows_) columns.push_back({"growth", 7, true, " "});
    if (bytes) with_growth("self", "growth");
    with_growth(bytes ? "retained" : "retains", "growth");
    if (report_.fresh) columns.push_back({"new", 5, true, " "});
    Sheet table(columns, "type", style_.thousands);
    const std::size_t shown = shown_of(report_.rows.size(), style_);
    for (std::size_t i = 0; i < shown; ++i) fill(table, report_.rows[i]);
    if (shown < report_.rows.size()) {
      RetainedRow rest;
      rest.at.resize(report_.snapshots.size());
      for (std::size_t i = shown; i < report_.rows.size(); ++i) sum(rest, report_.rows[i]);
      fill_rest(table, rest, others_text(static_cast<std::int64_t>(report_.rows.size() - shown)));
    }
    RetainedRow total;
    total.at.resize(report_.snapshots.size());
    for (const RetainedRow& row : report_.rows) sum(total, row);
    fill_rest(table, total, "TOTAL");
    const std::size_t width = table.rest_width(style_.width);
    for (std::size_t i = 0; i < shown; ++i) {
      const RetainedRow& row = report_.rows[i];
      table.rows()[i].last = cut_middle(printable(type_text(row.kind, row.type), style_.utf8),
                                        std::max<std::size_t>(width, 12), glyphs_.ellipsis);
    }
    return table.text(style_.colour);
  }

  static void sum(RetainedRow& total, const RetainedRow& row) {
    for (std::size_t i = 0; i < row.at.size(); ++i) {
      total.at[i].self.objects += row.at[i].self.objects;
      total.at[i].self.bytes += row.at[i].self.bytes;
    }
    total.fresh.objects += row.fresh.objects;
  }

  void counts(Sheet::Row& row, std::int64_t first, std::int64_t last) const {
    row.cells.push_back({snapdiff::count_text(last), Paint::none});
    if (grows_) row.cells.push_back({snapdiff::growth_count_text(last - first), growth_paint(last - first)});
  }
  void bytes(Sheet::Row& row, std::int64_t first, std::int64_t last) const {
    row.cells.push_back({snapdiff::bytes_text(last), Paint::none});
    if (grows_) row.cells.push_back({snapdiff::growth_text(last - first), growth_paint(last - first)});
  }

  void fill(Sheet& table, const RetainedRow& r) const {
    Sheet::Row& row = table.add();
    counts(row, r.first().self.objects, r.last().self.objects);
    if (report_.has_bytes) {
      bytes(row, r.first().self.bytes, r.last().self.bytes);
      bytes(row, r.first().retained.bytes, r.last().retained.bytes);
    } else {
      counts(row, r.first().retained.objects, r.last().retained.objects);
    }
    if (report_.fresh) row.cells.push_back({snapdiff::count_text(r.fresh.objects), Paint::none});
  }

  /// Rows together: what is retained has no sum.
  void fill_rest(Sheet& table, const RetainedRow& r, std::string name) const {
    Sheet::Row& row = table.add();
    counts(row, r.first().self.objects, r.last().self.objects);
    if (report_.has_bytes) bytes(row, r.first().self.bytes, r.last().self.bytes);
    row.cells.push_back({"", Paint::none});
    if (grows_) row.cells.push_back({"", Paint::none});
    if (report_.fresh) row.cells.push_back({snapdiff::count_text(r.fresh.objects), Paint::none});
    row.last = std::move(name);
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
  std::string out;
  JsonWriter json(out);
  json.begin_object();
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
  });
  json.field("sizes_estimated", report.sizes_estimated);
  const auto fresh = [&](const ObjectSum& sum) {
    json.object_or_null("new", report.fresh.has_value(), [&] { sum_fields(json, sum, report.has_bytes); });
  };
  fresh(report.fresh.value_or(ObjectSum{}));
  const std::size_t shown = shown_of(report.rows.size(), style);
  json.object_rows("rows", std::span(report.rows).first(shown), [&](const RetainedRow& row) {
    json.field("type", row.type);
    json.field("kind", row.kind);
    json.objects("at", row.at, [&](const TypeTotals& totals) {
      sum_json(json, "self", totals.self, report.has_bytes);
      sum_json(json, "retained", totals.retained, report.has_bytes);
      sum_json(json, "detached", totals.detached, report.has_bytes);
    });
    fresh(row.fresh);
  });
  json.field("others", static_cast<std::int64_t>(report.rows.size() - shown));
  json_notes(json, report.notes);
  json.end_object();
  return out + "\n";
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

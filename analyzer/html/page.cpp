#include <algorithm>
#include <array>
#include <functional>
#include <new>

#include "analyzer/document/terms.hpp"
#include "analyzer/html/assets.hpp"
#include "analyzer/html/data_blocks.hpp"
#include "analyzer/html/html.hpp"
#include "analyzer/html/markup.hpp"
#include "analyzer/html/sections.hpp"
#include "analyzer/html/series.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/report.hpp"

namespace snapdiff::html {
namespace {

/// More rows than any page holds: beyond, stacks are not even looked at.
constexpr std::size_t kMostRows = 150'000;

std::size_t most_rows(const GrowthReport& report) {
  return report.series_length > 0 ? std::min(kMostRows, report.series.whole_rows()) : kMostRows;
}

/// Of a page, for the graph.
constexpr std::size_t kGraphPart = 3;

constexpr std::array<std::string_view, 7> kParts{"", "timeline", "table", "flame", "graph", "counters", "inputs"};

std::string joined(std::span<const std::string_view> pieces) {
  std::string out;
  for (const std::string_view piece : pieces) out += piece;
  return out;
}

/// Nothing is loaded; no script but ours runs, and it cannot turn text into markup.
std::string policy() {
  return "default-src 'none'; script-src " + hash_source(assets::script_sha256) + "; style-src " +
         hash_source(assets::style_sha256) +
         "; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types "
         "'none'";
}

std::string head(const Postmortem& report) {
  const std::string title =
      safe(report.title.empty() ? headline_text(report) : report.title + ": " + headline_text(report));
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
         "http-equiv=\"Content-Security-Policy\" "
         "content=\"" +
         policy() +
         "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
         "content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" "
         "content=\"" +
         safe(report.version) + "\">\n<title>" + title + "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>" +
         joined(assets::style) + "</style>\n</head>\n";
}

std::string top_bar(const Postmortem& report, bool has_graph) {
  const GrowthReport& g = report.growth();
  std::string out = "<header class=\"bar\"><b>snapdiff</b><span class=\"name\">" + safe(bounded(report.title, 200)) +
                    "</span><span class=\"wide\">" +
                    (g.metric.empty() ? std::string("counters") : metric_title(g.metric)) + ", " +
                    counted(report.steps.size(), "snapshot") + "</span><nav aria-label=\"parts\">";
  const auto link = [&](std::string_view id, std::string_view text) {
    out.append("<a href=\"#").append(id).append("\">").append(text).append("</a>");
  };
  if (!g.metric.empty()) {
    link("timeline", "Time");
    link("table", "Table");
    link("flame", "Flame");
  }
  if (has_graph) link("graph", "Graph");
  if (report.resident) link("resident", "RSS");
  if (report.counters && !report.counters->rows.empty()) link("counters", "Counters");
  link("inputs", "Inputs");
  return out + "</nav><span id=\"bar-buttons\"></span></header>\n";
}

/// Places that the script fills.
std::string timeline_place(const Postmortem& report) {
  if (report.growth().metric.empty()) return {};
  const bool is_of_peak = report.growth().story != nullptr && report.growth().story->is_of_peak;
  return "<section id=\"timeline\" aria-labelledby=\"timeline-h\"><h2 id=\"timeline-h\">" +
         metric_title(report.growth().metric) +
         (report.steps.size() > 2 ? " at each snapshot"
          : is_of_peak            ? ""
                                  : " before and after") +
         "</h2>\n<p class=\"note\">" +
         (report.steps.size() > 2 ? "Drag a point, or choose another snapshot: key figures, table and "
                                    "flame graph follow. "
                                  : "") +
         safe(bounded(report.order_note, 300)) +
         "</p>\n<div id=\"plot\"></div><ul class=\"key\" id=\"plot-key\"></ul></section>\n";
}

std::string flame_place(const Postmortem& report) {
  if (report.growth().metric.empty()) return {};
  return "<section id=\"flame\" aria-labelledby=\"flame-h\"><h2 id=\"flame-h\">Allocated through</h2>\n<p "
         "class=\"note\" "
         "id=\"flame-note\">Left and hatched: gone. Right and solid: grown. A click zooms in, Escape goes "
         "back.</p>\n<div "
         "id=\"flame-tools\" class=\"tools\"></div><nav id=\"crumbs\" aria-label=\"zoomed to\"></nav><div "
         "id=\"flame-boxes\" "
         "class=\"fl\"></div><p class=\"note\" id=\"flame-line\" aria-live=\"polite\"></p></section>\n";
}

/// The drawing without what belongs to a file of its own: prolog, style (it would be the whole page's).
std::string graph_section(const std::string& svg, std::size_t most) {
  if (svg.empty()) return {};
  const std::string open =
      "<section id=\"graph\" aria-labelledby=\"graph-h\"><h2 id=\"graph-h\">Through which functions, first \u2192 "
      "last</h2>\n";
  const std::size_t start = svg.find("<svg");
  if (start == std::string::npos) return {};
  std::string drawing = svg.substr(start);
  const std::size_t style = drawing.find("<style>");
  const std::size_t style_end = drawing.find("</style>");
  if (style != std::string::npos && style_end != std::string::npos && style < style_end)
    drawing.erase(style, style_end + 8 - style);
  if (drawing.size() > most)
    return open + "<p class=\"note\">The graph is too large for this page (" +
           value(static_cast<std::int64_t>(drawing.size()), "bytes") + "); it is in the PDF.</p></section>\n";
  return open +
         "<p class=\"note\">A box is a function with all it calls. Choose one to search the table for it.</p>\n<div "
         "class=\"scroll drawing\" id=\"drawing\">" +
         drawing + "</div></section>\n";
}

/// The page's facts: lists without names, texts that cannot end the script element, numbers as texts, since beyond 2^53
/// those of JSON lose digits in browsers.
class FactsWriter : public report::JsonWriter {
 public:
  using JsonWriter::JsonWriter;
  void text(std::string_view bytes) { raw(json_string(bytes)); }
  void text(std::string_view name, std::string_view bytes) {
    key(name);
    text(bytes);
  }
  void exact(std::int64_t value) { raw("\"" + std::to_string(value) + "\""); }
  void exact(std::string_view name, const std::vector<std::int64_t>& values) {
    array(name, values, [this](std::int64_t value) { exact(value); });
  }
  void exact(const std::vector<std::int64_t>& values) {
    list([&] {
      for (const std::int64_t value : values) exact(value);
    });
  }
  template <class Fill>
  void list(const Fill& fill) {
    begin_array();
    fill();
    end_array();
  }
};

/// Rows of the report, as the page numbers them.
using PlacesOf = std::function<std::vector<std::uint32_t>()>;

/// "pairs": of the heaviest rows that two builds call otherwise, [place in the page, how matched, [[before, after],
/// ...]]; "" where a build has nothing there, and no second one where both are alike.
void write_pairs(FactsWriter& json, const GrowthReport& g, const Chosen& chosen, const PlacesOf& places_of) {
  constexpr std::size_t kMost = 200;
  constexpr std::size_t kMostPairBytes = 200'000;
  if (g.counterparts.empty()) return;
  std::vector<std::uint32_t> places(g.rows.size());
  const std::vector<std::uint32_t> order = places_of();
  for (std::uint32_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  const report::StackPairs pairs(g);
  std::size_t written = 0, bytes = 0;
  const auto write_pair = [&](std::uint32_t row, const report::StackPair& pair) {
    json.integer(places[row]);
    json.text(report::matched_text(pair));
    json.list([&] {
      for (const report::PairedFrame& frame : pair.frames) {
        json.list([&] {
          json.text(bounded(frame.before, 300));
          if (!frame.alike()) json.text(bounded(frame.after, 300));
        });
        bytes += std::min<std::size_t>(frame.before.size(), 300) + std::min<std::size_t>(frame.after.size(), 300);
      }
    });
  };
  json.key("pairs");
  json.list([&] {
    for (std::size_t i = 0; i < chosen.rows.size() && written < kMost && bytes < kMostPairBytes; ++i) {
      const std::optional<report::StackPair> pair = pairs.of(g.rows[chosen.rows[i]]);
      if (!pair) continue;
      ++written;
      json.list([&] { write_pair(chosen.rows[i], *pair); });
    }
  });
}

std::string facts(const Postmortem& report, const Chosen& chosen, const PlacesOf& places_of,
                  const std::vector<std::int64_t>& rest, const std::vector<Layer>& layers, bool big,
                  std::string_view start) {
  const GrowthReport& g = report.growth();
  std::string out;
  FactsWriter json(out);
  json.begin_object();
  json.text("title", report.title);
  json.text("metric", g.metric);
  json.text("unit", g.unit);
  json.text("start", start);
  json.field("big", big);
  json.field("objects", g.has_objects);
  json.field("errors", g.has_error);
  json.field("exact", g.exact);
  json.field("judged", value_count(g) >= kJudgedFrom && report.trend.verdicts.size() == g.rows.size());
  json.array("verdicts", document::verdicts_by_gravity(), [&](std::string_view word) { json.text(word); });
  json.array("columns", table_columns(report), [&](const PageColumn& column) {
    json.list([&] {
      json.text(column.key);
      json.text(column.title);
      json.boolean(!column.if_room);
    });
  });
  json.field("known", !g.series.has_unknown());
  json.field("filtered", g.filtered != Change{} || !g.options.focus.empty() || !g.options.ignore.empty());
  json.field("length", value_count(g));
  json.field("left", report.trend.left_out);
  json.array("steps", report.steps, [&](const SeriesStep& step) {
    const Snapshot* const snapshot = step.snapshot.snapshot.get();
    json.list([&] {
      json.text(bounded(step.snapshot.ref, 200));
      json.exact(step.total);
      step.objects ? json.exact(*step.objects) : json.null();
      json.text(bounded(step.restart, 300));
      const bool timed = snapshot != nullptr && snapshot->facts.taken_at_ns.has_value();
      json.text(timed ? utc(*snapshot->facts.taken_at_ns) : std::string());
      json.integer(step.other_build ? 1 : 0);
    });
  });
  json.array("missing", report.missing, [&](const MissingInput& one) {
    json.list([&] {
      json.unsigned_integer(one.before);
      json.text(bounded(one.why, 300));
    });
  });
  json.exact("rest", rest);
  json.key("others");
  json.list([&] {
    json.unsigned_integer(chosen.others_count);
    json.exact(chosen.others);
    for (const std::int64_t value : {chosen.grew, chosen.shrank, chosen.objects.baseline, chosen.objects.current})
      json.exact(value);
  });
  if (report.trend.limit) {
    json.key("limit");
    json.exact(*report.trend.limit);
  }
  write_pairs(json, g, chosen, places_of);
  json.array("bands", layers, [&](const Layer& layer) {
    json.list([&] {
      json.text(layer.kind);
      json.text(layer.name);
      json.text(layer.note);
      json.exact(layer.values);
    });
  });
  json.end_object();
  return out;
}

struct Data {
  std::string stacks, values;
  std::size_t size() const { return base64_size(stacks.size()) + base64_size(values.size()); }
};

/// The page around the data, for one choice of rows.
class Page {
 public:
  Page(const Postmortem& report, const HtmlOptions& options)
      : report_(report),
        options_(options),
        importance_(importance(report.growth())),
        rest_(remainder(report)),
        big_(needs_big_integers(report)),
        layers_(layers_of(report)),
        candidates_(choose(report.growth(), importance_, most_rows(report.growth())).rows),
        stacks_(report.growth(), candidates_),
        graph_(graph_section(options.graph_svg, options.most_bytes / kGraphPart)) {}

  Result<std::string> make() const {
    std::size_t count = first_guess();
    std::size_t too_many = candidates_.size() + 1;
    for (int round = 0;; ++round) {
      const Chosen chosen = choose(report_.growth(), importance_, count);
      const Data data = pack(chosen);
      std::string around = body(chosen);
      const std::size_t fixed = around.size() + kWrapping;
      const std::size_t size = fixed + data.size();
      const std::size_t most = most_bytes(fixed);
      const double room = most > fixed ? static_cast<double>(most - fixed) : 0;
      // Rows cost about the same each; a little less than the share that fits, so that few rounds are needed.
      const double wanted = static_cast<double>(count) * room / static_cast<double>(data.size()) * .985;
      if (size <= most) {
        const std::size_t more = std::min(static_cast<std::size_t>(std::min(wanted, 1e9)), too_many - 1);
        if (round >= kRounds || more <= count + count / 16) return finished(std::move(around), data);
        count = more;
        continue;
      }
      if (count == 0)
        return Error{ErrorCode::limit, "the page has " + std::to_string(size) +
                                           " bytes without any row, expected at most " + std::to_string(most)};
      too_many = count;
      count = std::min(static_cast<std::size_t>(wanted), count - 1 - count / 50);
    }
  }

 private:
  static constexpr int kRounds = 4;
  static constexpr std::size_t kSample = 8'000;

  /// Of many rows, what some of them cost says how many fit; to pack them all would take longest.
  std::size_t first_guess() const {
    if (candidates_.size() <= 2 * kSample) return candidates_.size();
    const std::size_t cost = pack(choose(report_.growth(), importance_, kSample)).size();
    const double fit = static_cast<double>(options_.most_bytes) / static_cast<double>(cost) * kSample;
    return std::min(candidates_.size(), static_cast<std::size_t>(fit));
  }

  /// What the page may take, of which `fixed` bytes are around the rows.
  std::size_t most_bytes(std::size_t fixed) const {
    if (report_.steps.size() <= kLongSeries) return options_.most_bytes;
    return std::max(options_.most_bytes, fixed + fixed / 2);
  }

  /// Tags around the data blocks.
  static constexpr std::size_t kWrapping = 400;

  /// Of the candidates.
  std::vector<bool> wanted_of(const Chosen& chosen) const {
    std::vector<bool> wanted(candidates_.size(), false);
    std::size_t at = 0;
    for (const std::uint32_t row : chosen.rows) {
      while (candidates_[at] != row) ++at;
      wanted[at] = true;
    }
    return wanted;
  }

  /// Rows of the report, as the page numbers them.
  std::vector<std::uint32_t> order_of(const std::vector<bool>& wanted) const {
    std::vector<std::uint32_t> order;
    for (const std::uint32_t i : stacks_.in_order()) {
      if (wanted[i]) order.push_back(candidates_[i]);
    }
    return order;
  }

  Data pack(const Chosen& chosen) const {
    const std::vector<bool> wanted = wanted_of(chosen);
    return {deflated(stacks_.coded(wanted)), deflated(coded_values(report_, importance_, order_of(wanted)))};
  }

  std::string body(const Chosen& chosen) const {
    std::string out =
        head(report_) + "<body>\n<a class=\"skip\" href=\"#table\">Skip to the table</a>\n<div class=\"page\">\n" +
        top_bar(report_, !graph_.empty()) + "<main>\n" + answer_section(report_) + timeline_place(report_) +
        culprits_section(report_) + figures_section(report_) + failure_section(report_) +
        story_section(report_, chosen) + table_section(report_, chosen, rest_) + flame_place(report_) + graph_ +
        pins_section(report_) + resident_section(report_) + counters_section(report_) + inputs_section(report_) +
        "</main>\n" + footer(report_) + "</div>\n<script type=\"application/json\" id=\"facts\">" +
        facts(
            report_, chosen, [&] { return order_of(wanted_of(chosen)); }, rest_, layers_, big_, options_.start) +
        "</script>\n<script>" + joined(assets::script) + "</script>\n";
    return out;
  }

  std::string finished(std::string around, const Data& data) const {
    around += "<script type=\"text/plain\" id=\"stacks-data\">" + base64(data.stacks) +
              "</script>\n<script type=\"text/plain\" id=\"values-data\">" + base64(data.values) +
              "</script>\n</body>\n</html>\n";
    return around;
  }

  const Postmortem& report_;
  const HtmlOptions& options_;
  std::vector<std::uint64_t> importance_;
  std::vector<std::int64_t> rest_;
  bool big_;
  std::vector<Layer> layers_;
  std::vector<std::uint32_t> candidates_;
  StackPages stacks_;
  std::string graph_;
};

}  // namespace

Result<std::string> to_html(const Postmortem& report, const HtmlOptions& options) {
  if (std::ranges::find(kParts, options.start) == kParts.end())
    return Error{ErrorCode::usage, "no part of the page: found '" + options.start +
                                       "', expected timeline, table, flame, graph, counters or inputs"};
  try {
    return Page(report, options).make();
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::limit, "not enough memory for the page"};
  }
}

}  // namespace snapdiff::html

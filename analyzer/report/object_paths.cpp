#include <algorithm>
#include <cmath>
#include <span>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/headline.hpp"
#include "analyzer/report/json_parts.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/sheet.hpp"

namespace snapdiff::report {
namespace {

class PathsText {
 public:
  PathsText(const PathReport& report, const Style& style)
      : report_(report), style_(style), glyphs_(glyphs_for(style.utf8)), grows_(report.snapshots.size() > 1) {}

  std::string all() const {
    std::string out = headline();
    if (grows_) out += "\n" + growing();
    out += "\n" + rows();
    for (const std::string& line : note_lines(report_.notes, style_.utf8)) out += wrapped_line(line, style_);
    return out;
  }

 private:
  std::string name(const SnapshotRef& ref) const { return operand_name(ref, style_.utf8); }

  std::string value(const ObjectSum& sum) const {
    return report_.has_bytes ? bytes_text(sum.bytes) : count_text(sum.objects);
  }
  std::int64_t number(const ObjectSum& sum) const { return report_.has_bytes ? sum.bytes : sum.objects; }

  /// "3 objects, 30 B" or "+2 objects, +20 B"
  std::string sum_text(const ObjectSum& sum) const {
    return counted(sum.objects, "object") + (report_.has_bytes ? ", " + bytes_text(sum.bytes) : "");
  }
  std::string growth_of(const std::vector<ObjectSum>& at) const {
    const std::int64_t objects = at.back().objects - at.front().objects;
    return counted(objects, "object", {}, true) +
           (report_.has_bytes ? ", " + growth_text(at.back().bytes - at.front().bytes) : "");
  }

  /// "(JNI global) Registry.sessions › Table[x] › Session"
  std::string path_text(const std::vector<PathStep>& path, std::size_t left_out) const {
    const std::string then = style_.utf8 ? " › " : " > ";
    std::string text;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const PathStep& step = path[i];
      if (i == 0) {
        if (!step.label.empty()) text += "(" + step.label + ") ";
      } else if (left_out > 0 && i == path.size() / 2) {
        text += then + std::string(glyphs_.ellipsis) + " " + counted(left_out, "step") + then;
      } else {
        if (step.label == "[x]") {
          text += step.label;
        } else if (!step.label.empty()) {
          text += "." + step.label;
        }
        text += then;
      }
      text += step.type.empty() ? "(no name)" : step.type;
    }
    return printable(text, style_.utf8);
  }
  std::string path_lines(const std::vector<PathStep>& path, std::size_t left_out) const {
    return "    " + wrapped(path_text(path, left_out), std::max<std::size_t>(style_.width, 24) - 4, 6) + "\n";
  }

  std::string headline() const {
    std::string text = name(report_.snapshots.front());
    if (grows_) text += spaced(glyphs_.arrow) + name(report_.snapshots.back());
    if (report_.snapshots.size() > 2) text += "   " + counted(report_.snapshots.size(), "snapshot");
    std::string out = wrapped_line(text, style_);
    text = "types that match '" + printable(report_.pattern, style_.utf8) + "': " + sum_text(report_.total.back());
    if (grows_) text += "   " + growth_of(report_.total);
    out += wrapped_line(text, style_);
    if (report_.unreachable.objects > 0)
      out += wrapped_line("held by no strong reference: " + sum_text(report_.unreachable), style_);
    return out;
  }

  std::string growing() const {
    const std::string by = "by " + counted(report_.loops, "object") + " or more" +
                           (report_.snapshots.size() > 2 ? " with every snapshot" : "");
    if (report_.growing.empty()) return wrapped_line("no place grew " + by, style_);
    std::string out = wrapped("places that grew " + by + "; " + sum_text(report_.hanging) +
                                  " hang only on them. share: shared retained size; alone: exclusive retained size",
                              style_.width, 2) +
                      "\n\n";
    out += "    share     alone   growth of what is held there, and where\n";
    const std::size_t shown = shown_of(report_.growing.size(), style_);
    for (std::size_t i = 0; i < shown; ++i) out += growing_lines(report_.growing[i]);
    if (shown < report_.growing.size()) out += pad_left("", 20) + others_text(report_.growing.size() - shown) + "\n";
    return out;
  }

  std::string growing_lines(const GrowingPlace& place) const {
    std::string share, alone;
    if (place.share_bytes) {
      share = bytes_text(*place.share_bytes);
      alone = bytes_text(*place.exclusive_bytes);
    } else if (place.exclusive_objects) {
      share = count_text(std::llround(place.share_objects));
      alone = count_text(*place.exclusive_objects);
    }
    std::string held;
    constexpr std::size_t kHeld = 3;
    for (std::size_t i = 0; i < std::min(place.held.size(), kHeld); ++i) {
      const GrowingPlace::Held& child = place.held[i];
      if (i > 0) held += "; ";
      held += printable(child.step.type, style_.utf8) + " " + growth_of(child.at);
      const auto steps = static_cast<std::int64_t>(child.at.size()) - 1;
      const std::int64_t objects = child.at.back().objects - child.at.front().objects;
      if (report_.loops > 1)
        held += " (" + count_text(objects / (steps * report_.loops)) + " a loop)";
      else if (steps > 1)
        held += " (" + count_text(objects / steps) + " a snapshot)";
    }
    if (place.held.size() > kHeld) held += "; " + counted(place.held.size() - kHeld, "other");
    return pad_left(share, 9) + " " + pad_left(alone, 9) + "   " +
           wrapped(held, std::max<std::size_t>(style_.width, 44) - 22, 24) + "\n" +
           path_lines(place.path, place.left_out);
  }

  std::string rows() const {
    if (report_.rows.empty()) return "no path from a root to a type that matches\n";
    std::string out = grows_ ? "   growth  objects    growth     bytes   path\n" : "  objects     bytes   path\n";
    const std::size_t shown = shown_of(report_.rows.size(), style_);
    for (std::size_t i = 0; i < shown; ++i) {
      const PathRow& row = report_.rows[i];
      std::string text;
      if (row.growing >= 0 && report_.growing[static_cast<std::size_t>(row.growing)].share_bytes)
        text = "through a growing place with a share of " +
               bytes_text(*report_.growing[static_cast<std::size_t>(row.growing)].share_bytes);
      out += figures(row.at) + text + "\n" + path_lines(row.path, row.left_out);
    }
    std::vector<ObjectSum> rest = report_.more_at;
    for (std::size_t i = shown; i < report_.rows.size(); ++i) {
      for (std::size_t s = 0; s < rest.size(); ++s) {
        rest[s].objects += report_.rows[i].at[s].objects;
        rest[s].bytes += report_.rows[i].at[s].bytes;
      }
    }
    const std::size_t more = report_.rows.size() - shown + report_.more_rows;
    if (more > 0) out += figures(rest) + others_text(more) + "\n";
    return out;
  }

  std::string figures(const std::vector<ObjectSum>& at) const {
    std::string text;
    if (grows_) text += pad_left(growth_count_text(at.back().objects - at.front().objects), 9);
    text += pad_left(count_text(at.back().objects), 9);
    const auto bytes = [&](const std::string& cell) { return " " + pad_left(report_.has_bytes ? cell : "", 9); };
    if (grows_) text += bytes(growth_text(at.back().bytes - at.front().bytes));
    return text + bytes(bytes_text(at.back().bytes)) + "   ";
  }

  const PathReport& report_;
  const Style& style_;
  Glyphs glyphs_;
  bool grows_;
};

class PathsJson {
 public:
  explicit PathsJson(const PathReport& report) : report_(report), json_(out_) {}

  std::string all(const Style& style) {
    json_.begin_object();
    json_.field("schema", "snapdiff.paths/1");
    json_.array("snapshots", report_.snapshots, [&](const SnapshotRef& ref) { json_snapshot(json_, ref); });
    json_.field("pattern", report_.pattern);
    json_.field("loops", report_.loops);
    column("total", report_.total);
    sum("unreachable", report_.unreachable);
    sum("hanging", report_.hanging);
    const std::size_t places = shown_of(report_.growing.size(), style);
    json_.object_rows("growing", std::span(report_.growing).first(places), [&](const GrowingPlace& p) { place(p); });
    const std::size_t shown = shown_of(report_.rows.size(), style);
    json_.object_rows("rows", std::span(report_.rows).first(shown), [&](const PathRow& r) { row(r, places); });
    json_.field("others", report_.rows.size() - shown + report_.more_rows);
    json_notes(json_, report_.notes);
    json_.end_object();
    return std::move(out_) + "\n";
  }

 private:
  void fields(const ObjectSum& value) {
    json_.field("objects", value.objects);
    json_.field_or_null("bytes", report_.has_bytes ? std::optional(value.bytes) : std::nullopt);
  }
  void sum(std::string_view key, const ObjectSum& value) {
    json_.object(key, [&] { fields(value); });
  }
  void column(std::string_view key, const std::vector<ObjectSum>& at) {
    json_.objects(key, at, [&](const ObjectSum& value) { fields(value); });
  }
  void step(const PathStep& value) {
    json_.field("label", value.label);
    json_.field("type", value.type);
  }
  void path(const std::vector<PathStep>& steps, std::size_t left_out) {
    json_.objects("path", steps, [&](const PathStep& s) { step(s); });
    json_.field("steps_left_out", static_cast<std::int64_t>(left_out));
  }

  void place(const GrowingPlace& p) {
    path(p.path, p.left_out);
    column("at", p.at);
    json_.objects("held", p.held, [&](const GrowingPlace::Held& held) {
      json_.object("step", [&] { step(held.step); });
      column("at", held.at);
    });
    json_.object_or_null("share", p.exclusive_objects.has_value(), [&] {
      json_.field("objects", p.share_objects);
      json_.field_or_null("bytes", p.share_bytes);
      json_.field("exclusive_objects", *p.exclusive_objects);
      json_.field_or_null("exclusive_bytes", p.exclusive_bytes);
    });
  }

  void row(const PathRow& r, std::size_t places) {
    path(r.path, r.left_out);
    column("at", r.at);
    const bool told = r.growing >= 0 && static_cast<std::size_t>(r.growing) < places;
    json_.field_or_null("growing", told ? std::optional<std::int64_t>(r.growing) : std::nullopt);
    json_.key("example");
    r.example ? json_.unsigned_integer(*r.example) : json_.null();
  }

  const PathReport& report_;
  std::string out_;
  JsonWriter json_;
};

}  // namespace

std::string write_paths(const PathReport& report, const Style& style) {
  if (style.form == Form::text) return PathsText(report, style).all();
  return PathsJson(report).all(style);
}

}  // namespace snapdiff::report

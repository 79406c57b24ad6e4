#include <algorithm>

#include "analyzer/base/concat.hpp"
#include "analyzer/render/flame/flame_boxes.hpp"

namespace snapdiff::render {
namespace {

constexpr double kFlameTableHead = 34;
constexpr double kRow = 12;
constexpr double kUnit = 20;
constexpr double kNumber = 68;  ///< distance of two number columns

bool is_whole(const FlameMark& mark) {
  return mark.kind == FlameMark::Kind::frame || mark.kind == FlameMark::Kind::here;
}

/// One column of numbers: those that add up to the total for this width.
struct Column {
  std::string head;
  enum class What : std::uint8_t { net, grew, went, width, share } what;
};

std::vector<Column> columns_of(const FlameWords& words) {
  using What = Column::What;
  if (words.shows_gone()) return {{"net", What::net}, {"grew", What::grew}, {"went", What::went}};
  return {{words.two_sided() ? "after" : "value", What::width}, {"share", What::share}};
}

/// Root first; callers are given up from the root's end, the last name stays whole as long as it can.
std::string path_text(const std::vector<std::string>& names, Canvas& canvas, const TextStyle& style, double room) {
  std::vector<std::string> folded;
  for (const std::string& name : names) {
    if (folded.empty() || (folded.back() != name && folded.back() != name + " \u21bb")) {
      folded.push_back(name);
    } else if (!folded.back().ends_with("\u21bb")) {
      folded.back().append(" \u21bb");
    }
  }
  if (folded.empty()) return "";
  std::string text = folded.back();
  for (std::size_t i = folded.size() - 1; i-- > 0;) {
    std::string longer = concat(folded[i], " \u203a ", text);
    const std::string closed = i == 0 ? longer : std::string("\u2026 \u203a ").append(longer);
    if (canvas.width(closed, style) > room) {
      text = std::string("\u2026 \u203a ").append(text);
      break;
    }
    text = std::move(longer);
  }
  return canvas.type().fit_middle(text, style, room);
}

class EndsTable {
 public:
  EndsTable(const FlameStory& story, const FlameWords& words, const FlamePicture& picture, const FlameTable& table,
            const std::string& prefix, Canvas& canvas)
      : story_(story),
        words_(words),
        picture_(picture),
        table_(table),
        prefix_(prefix),
        canvas_(canvas),
        columns_(columns_of(words)) {}

  double draw(double y) {
    y = head(y);
    FlameMark rest = nothing();
    FlameMark merged = nothing();
    std::vector<bool> shown(picture_.layout.marks.size(), false);
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      shown[table_.rows[i]] = true;
      y = row(y, i);
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const FlameMark& mark = picture_.layout.marks[i];
      if (!mark.end || shown[i]) continue;
      add_figures(is_whole(mark) ? rest : merged, mark);
    }

    if (table_.more_boxes > 0)
      y = tail(y, concat("[", count_text(table_.more_boxes), table_.more_boxes == 1 ? " more box]" : " more boxes]"),
               rest, false);
    if (table_.more_frames > 0)
      y = tail(y, concat("[", counted(table_.more_frames, "frame"), ", merged]"), merged, false);
    canvas_.rule(kLeft, kRight, y - 8.6, kInk3, 0.7);
    FlameMark total = nothing();
    for (const FlameMark& mark : picture_.layout.marks) {
      if (mark.row == 0) total = mark;
    }
    return tail(y + 1, "TOTAL", total, true) - kRow + 3;
  }

 private:
  static FlameMark nothing() { return {}; }
  double right(std::size_t column) const {
    return kRight - kNumber * static_cast<double>(columns_.size() - 1 - column);
  }
  double path_room() const { return right(0) - 52 - kLeft; }

  double head(double y) {
    canvas_.text(kLeft, y, "Ends of the paths, with full names", {9, FontWeight::semibold}, kInk);
    canvas_.text(kRight, y, "heaviest first", {7}, kInk3, Align::right);
    canvas_.rule(kLeft, kRight, y + 6, kInk3, 0.7);
    canvas_.text(kLeft, y + 18, "stack, root first", {7}, kInk2);
    for (std::size_t c = 0; c < columns_.size(); ++c)
      canvas_.text(right(c), y + 18, columns_[c].head, {7}, kInk2, Align::right);
    return y + kFlameTableHead - 2;
  }

  double row(double y, std::size_t i) {
    const std::size_t index = table_.rows[i];
    const FlameMark& mark = picture_.layout.marks[index];
    Painter& painter = canvas_.painter();
    if (!prefix_.empty()) {
      painter.anchor(flame_row_anchor(prefix_, i), {kLeft, y - 14});
      painter.begin_link(std::string(picture_.anchors).append(std::to_string(index)));
    }
    std::vector<std::string> names = words_.path(mark);
    if (names.empty()) names.push_back(words_.root_name());
    const TextStyle style{7.6};
    const std::string suffix = mark.kind == FlameMark::Kind::here ? " (here)"
                               : is_whole(mark)                   ? ""
                                                                  : std::string(" \u203a ").append(words_.name(mark));
    const double suffix_w = suffix.empty() ? 0 : canvas_.width(suffix, {6.8});
    const double w = canvas_.text(kLeft, y, path_text(names, canvas_, style, path_room() - suffix_w), style, kInk);
    if (!suffix.empty()) canvas_.text(kLeft + w, y, suffix, {6.8}, kInk2);
    numbers(y, mark, false);
    if (!prefix_.empty()) painter.end_link();
    return y + kRow;
  }

  double tail(double y, const std::string& label, const FlameMark& sum, bool total) {
    canvas_.text(kLeft, y, label, {7.6, total ? FontWeight::semibold : FontWeight::regular}, total ? kInk : kInk2);
    numbers(y, sum, total);
    return y + kRow;
  }

  void numbers(double y, const FlameMark& mark, bool total) {
    const Quantity& q = words_.quantity();
    const double unit = q.bytes ? kUnit : 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      using What = Column::What;
      const TextStyle strong{7.8, FontWeight::semibold};
      const TextStyle usual{7.6, total ? FontWeight::semibold : FontWeight::regular};
      switch (columns_[c].what) {
        case What::net: {
          const std::int64_t net = mark.grew + mark.shrank;
          const bool unsure = !total && words_.is_unsure(mark) && mark.end;
          const Color color = total ? kInk : unsure ? kInk2 : growth_color(net);
          canvas_.number(right(c), y, (unsure ? std::string("~") : std::string()).append(q.growth(net)), strong, color,
                         unit);
          break;
        }
        case What::grew: canvas_.number(right(c), y, q.value(mark.grew), usual, kInk, unit); break;
        case What::went: canvas_.number(right(c), y, q.size(mark.shrank), usual, kInk, unit); break;
        case What::width: canvas_.number(right(c), y, words_.size(mark.weight), usual, kInk, unit); break;
        case What::share: {
          const auto all = static_cast<double>(story_.tree.boxes.front().weight);
          canvas_.text(right(c), y, share_text(all > 0 ? static_cast<double>(mark.weight) / all : 0), usual, kInk2,
                       Align::right);
          break;
        }
      }
    }
  }

  const FlameStory& story_;
  const FlameWords& words_;
  const FlamePicture& picture_;
  const FlameTable& table_;
  const std::string& prefix_;
  Canvas& canvas_;
  std::vector<Column> columns_;
};

}  // namespace

FlameTable choose_ends(const FlameLayout& layout, std::size_t most) {
  FlameTable out;
  for (std::size_t i = 0; i < layout.marks.size(); ++i) {
    const FlameMark& mark = layout.marks[i];
    if (!mark.end) continue;
    if (is_whole(mark)) {
      ++out.more_boxes;
    } else {
      out.more_frames += mark.frames;
      if (mark.w < kLeastEnd) continue;
    }
    out.rows.push_back(i);
  }
  const auto heavier = [&](std::size_t a, std::size_t b) {
    const std::uint64_t x = layout.marks[a].weight;
    const std::uint64_t y = layout.marks[b].weight;
    return x != y ? x > y : a < b;
  };
  const std::size_t take = std::min(most, out.rows.size());
  std::partial_sort(out.rows.begin(), out.rows.begin() + static_cast<std::ptrdiff_t>(take), out.rows.end(), heavier);
  out.rows.resize(take);
  for (const std::size_t row : out.rows) {
    const FlameMark& mark = layout.marks[row];
    if (is_whole(mark)) {
      --out.more_boxes;
    } else {
      out.more_frames -= mark.frames;
    }
  }
  return out;
}

double flame_table_height(const FlameTable& table) {
  const std::size_t tails = (table.more_boxes > 0 ? 1U : 0U) + (table.more_frames > 0 ? 1U : 0U) + 1;
  return kFlameTableHead + kRow * static_cast<double>(table.rows.size() + tails) - 8;
}

double draw_flame_table(const FlameStory& story, const FlameWords& words, const FlamePicture& picture,
                        const FlameTable& table, const std::string& prefix, Canvas& canvas, double y) {
  return EndsTable(story, words, picture, table, prefix, canvas).draw(y);
}

std::string flame_row_anchor(const std::string& prefix, std::size_t row) { return concat(prefix, "t", row); }

}  // namespace snapdiff::render

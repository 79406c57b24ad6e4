#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/base/concat.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/render/memory/memory_pages.hpp"
#include "analyzer/render/paint/text.hpp"

namespace snapdiff::render {
namespace {

constexpr double kBar = 10.4, kSegmentsPageRowGap = 2.8, kBarGap = 1.4;
constexpr double kHeading = 13;
/// Narrower than this no bar or block can be seen; what is smaller is drawn together.
constexpr double kLeastBar = 1.6, kCell = 0.35;
/// A row of the map is as long as the largest segment, within these: a few small ones are not blown up, a huge one is
/// broken.
constexpr std::int64_t kLeastRowBytes = std::int64_t{32} << 20, kMostRowBytes = std::int64_t{2} << 30;

/// A piece of a bar: its part, and the owner of live bytes, as a place in kOwnerColors or just after it;
/// by role, its number.
struct Look {
  SegmentPart part = kPartFree;
  std::size_t owner = kOwnerColors.size();
  std::size_t index() const { return part == kPartLive ? kSegmentParts + owner : static_cast<std::size_t>(part); }
};
constexpr std::size_t kLooks = kSegmentParts + std::max(kOwnerColors.size() + 1, kRoles.size());

Look look_at(std::size_t index) {
  if (index < kSegmentParts) return {static_cast<SegmentPart>(index)};
  return {kPartLive, index - kSegmentParts};
}

struct Piece {
  Look look;
  std::int64_t bytes;
};

/// Which of the rows with a colour a stack of the current snapshot is shown as.
class Owners {
 public:
  explicit Owners(const PinReport& report) : view_(report.view.get()) {
    if (view_ == nullptr) return;
    for (std::size_t i = 0; i < std::min(report.rows.size(), kOwnerColors.size()); ++i)
      view_->frames(report.stacks[report.rows[i].key], rows_.emplace_back());
  }

  std::size_t of(StackId stack) {
    const auto [place, is_new] = known_.try_emplace(stack, kOwnerColors.size());
    if (!is_new || view_ == nullptr) return place->second;
    view_->frames({stack, 1}, frames_);
    const auto is_same = [&](const std::vector<FrameView>& row) {
      // Blocks without a stack are the row that says so.
      if (stack == StackId{}) return row.size() == 1 && row[0].pseudo && row[0].function == kNoStackRecorded;
      return row == frames_;
    };
    place->second =
        std::min(static_cast<std::size_t>(std::ranges::find_if(rows_, is_same) - rows_.begin()), kOwnerColors.size());
    if (place->second == rows_.size()) place->second = kOwnerColors.size();
    return place->second;
  }

 private:
  const StackView* view_;
  std::vector<std::vector<FrameView>> rows_;
  std::map<StackId, std::size_t> known_;
  std::vector<FrameView> frames_;
};

/// Segments of one device, stream and pool, by address.
struct Group {
  std::string name;
  std::int64_t bytes = 0;
  std::vector<std::size_t> segments;  ///< rows of the segment table
};

/// Blocks of a store have no roles.
bool is_by_role(const SegmentsPage& page) {
  const BlockTable& blocks = page.pins.current.snapshot->allocator->blocks;
  return page.by_role && blocks.role.size() == blocks.size_rows();
}

class Map {
 public:
  Map(const SegmentsPage& page, Canvas& canvas)
      : state_(*page.pins.current.snapshot->allocator),
        by_role_(is_by_role(page)),
        canvas_(canvas),
        owners_(page.pins) {
    collect();
  }

  const SegmentTotals& totals() const { return totals_; }
  std::size_t groups() const { return groups_.size(); }

  double draw(double y, double height) {
    const bool headed = groups_.size() > 1;
    const double rows_room = height - (headed ? kHeading * static_cast<double>(shown_groups(height)) : 0);
    const auto rows = static_cast<std::size_t>(std::max(rows_room / (kBar + kSegmentsPageRowGap), 1.0));
    // The largest scale with which all fits, found by halving.
    double low = 0;
    double high = kWidth / static_cast<double>(std::clamp(largest_, kLeastRowBytes, kMostRowBytes));
    if (rows_at(high) > rows) {
      for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (rows_at(middle) > rows ? high : low) = middle;
      }
    } else {
      low = high;
    }
    scale_ = low;
    const double end = y + height;
    std::size_t left_out = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (headed && y + kHeading + kBar > end + 0.5) {
        left_out += groups_[g].segments.size();
        continue;
      }
      if (headed) {
        canvas_.text(kLeft, y + 7, groups_[g].name, {7, FontWeight::medium}, kInk2);
        y += kHeading - 2;
      }
      y = draw_group(groups_[g], y, end, left_out) + (headed ? 2 : 0);
    }
    if (left_out > 0) {
      canvas_.text(kLeft, y + 8, count_text(left_out) + " more segments are too small or too many to draw", {7}, kInk2);
      y += 10;
    }
    return y;
  }

  double scale_bytes_per_row() const { return scale_ > 0 ? kWidth / scale_ : 0; }

 private:
  void collect() {
    const SegmentTable& s = state_.segments;
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::map<Key, Group> groups;
    for (std::size_t i = 0; i < s.size_rows(); ++i) {
      if ((s.flags[i] & kSegmentHost) != 0 || s.size[i] <= 0) continue;
      Group& group = groups[{s.device[i], s.stream[i], s.pool[i]}];
      group.segments.push_back(i);
      group.bytes += s.size[i];
      largest_ = std::max(largest_, s.size[i]);
      totals_.reserved += s.size[i];
      ++totals_.segments;
      for (const Piece& piece : pieces_of(i)) {
        totals_.bytes[piece.look.part] += piece.bytes;
        if (by_role_ && piece.look.part == kPartLive) totals_.roles[piece.look.owner] += piece.bytes;
      }
    }
    for (auto& [key, group] : groups) {
      const auto [device, stream, pool] = key;
      const std::uint64_t id = state_.streams[stream];
      group.name = concat("device ", device, ", stream ", id == 0 ? "0" : hex_text(id), ", ");
      group.name += concat(pool_name(state_.pools[pool]), ": ", counted(group.segments.size(), "segment"), ", ");
      group.name += size_text(group.bytes);
      std::ranges::stable_sort(group.segments, {}, [&](std::size_t segment) { return s.address[segment]; });
      groups_.push_back(std::move(group));
    }
  }

  std::size_t shown_groups(double height) const {
    return std::min(groups_.size(), static_cast<std::size_t>(height / (kHeading + kBar + kSegmentsPageRowGap)));
  }

  std::vector<Piece> pieces_of(std::size_t segment) {
    std::vector<Piece> pieces;
    const auto add = [&pieces](Look look, std::int64_t bytes) {
      if (bytes > 0) pieces.push_back({look, bytes});
    };
    const BlockTable& b = state_.blocks;
    for (std::size_t i = state_.segments.block_begin[segment]; i < state_.segments.block_begin[segment + 1]; ++i) {
      switch (b.state[i]) {
        case BlockState::allocated: {
          const std::int64_t live = std::clamp<std::int64_t>(b.requested[i], 0, b.size[i]);
          add({kPartLive, by_role_ ? role_of(i) : owners_.of(b.stack[i])}, live);
          add({kPartRounding}, b.size[i] - live);
          break;
        }
        case BlockState::pending: add({kPartPending}, b.size[i]); break;
        case BlockState::inactive: add({kPartFree}, b.size[i]); break;
      }
    }
    return pieces;
  }

  std::size_t role_of(std::size_t block) const {
    return std::min<std::size_t>(state_.blocks.role[block], kRoles.size() - 1);
  }

  Color color_of(const Look& look) const {
    if (look.part != kPartLive) return kInk;
    return by_role_ ? kRoles[look.owner] : owner_color(look.owner);
  }

  double width_at(std::size_t segment, double scale) const {
    return std::max(static_cast<double>(state_.segments.size[segment]) * scale, kLeastBar);
  }

  /// Rows that all groups take; bars flow like words, those longer than a row are broken.
  std::size_t rows_at(double scale) const {
    std::size_t rows = 0;
    for (const Group& group : groups_) {
      double x = 0;
      ++rows;
      for (const std::size_t segment : group.segments) {
        double w = width_at(segment, scale);
        if (x > 0 && x + w > kWidth + 0.01 && w <= kWidth) {
          ++rows;
          x = 0;
        }
        while (x + w > kWidth + 0.01) {
          w -= kWidth - x;
          ++rows;
          x = 0;
        }
        x += w;
      }
      if (rows > 100000) return rows;
    }
    return rows;
  }

  double draw_group(const Group& group, double y, double end, std::size_t& left_out) {
    double x = 0;
    for (std::size_t n = 0; n < group.segments.size(); ++n) {
      const std::size_t segment = group.segments[n];
      const double w = width_at(segment, scale_);
      if (x > 0 && x + w > kWidth + 0.01 && w <= kWidth) {
        y += kBar + kSegmentsPageRowGap;
        x = 0;
      }
      if (y + kBar > end + 0.5) {
        left_out += group.segments.size() - n;
        return y;
      }
      draw_segment(segment, w, x, y);
    }
    return y + kBar + kSegmentsPageRowGap;
  }

  /// From x, y on; leaves them after the bar.
  void draw_segment(std::size_t segment, double width, double& x, double& y) {
    canvas_.painter().begin_item(title_of(segment));
    const std::vector<Piece> pieces = pieces_of(segment);
    std::int64_t all = 0;
    for (const Piece& piece : pieces) all += piece.bytes;
    // Damaged input: blocks that fall short leave the rest blank.
    const double scale = width / static_cast<double>(std::max(all, state_.segments.size[segment]));
    double done = 0;
    std::size_t next = 0;
    double used = 0;  // of pieces[next], in points
    while (done < width - 0.01) {
      const double part = std::min(width - done, kWidth - x);
      const bool first = done == 0;
      const bool last = done + part >= width - 0.01;
      const double drawn = part - (last ? kBarGap * std::min(1.0, width / 4) : 0);
      const Box bar{kLeft + x, y, drawn, kBar};
      canvas_.rect(bar, kPaper);
      double from = 0;
      while (next < pieces.size() && from < part - 1e-9) {
        const double whole = static_cast<double>(pieces[next].bytes) * scale;
        double to = std::min(from + whole - used, part);
        Look what = pieces[next].look;
        bool ends = from + whole - used <= part + 1e-9;
        used += to - from;
        if (ends) {
          ++next;
          used = 0;
        }
        // Too narrow to see alone: one cell of what most of it is.
        if (to - from < kCell && ends) {
          std::array<double, kLooks> sizes{};
          sizes[what.index()] += to - from;
          while (next < pieces.size() && to - from < kCell && to < part - 1e-9) {
            const double more = std::min(static_cast<double>(pieces[next].bytes) * scale - used, part - to);
            const double taken = std::min(more, kCell - (to - from));
            sizes[pieces[next].look.index()] += taken;
            to += taken;
            used += taken;
            ends = taken >= static_cast<double>(pieces[next].bytes) * scale - (used - taken) - 1e-9;
            if (!ends) break;
            ++next;
            used = 0;
          }
          what = look_at(static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin()));
        }
        draw_piece(what, {kLeft + x + from * drawn / part, y, (to - from) * drawn / part, kBar});
        from = to;
      }
      border(bar, first, last);
      done += part;
      x += part;
      if (!last) {
        x = 0;
        y += kBar + kSegmentsPageRowGap;
      }
    }
    canvas_.painter().end_item();
  }

  void draw_piece(Look look, const Box& box) {
    const SegmentPart part = look.part;
    if (part == kPartFree) return;
    if (part == kPartPending) {
      canvas_.hatched(box, kShrink.c700, 2, 0.6);
      return;
    }
    canvas_.rect(box, color_of(look));
    if (part == kPartLive && box.w > 2.2)
      canvas_.painter().stroke(Path().move({box.x + box.w, box.y}).line({box.x + box.w, box.y + box.h}),
                               {kPaper, 0.35});
  }

  /// Open where the bar continues in another row.
  void border(const Box& bar, bool first, bool last) {
    const double x1 = bar.x + bar.w;
    const double y1 = bar.y + bar.h;
    Path path;
    path.move({bar.x, bar.y}).line({x1, bar.y});
    path.move({bar.x, y1}).line({x1, y1});
    if (first) path.move({bar.x, bar.y}).line({bar.x, y1});
    if (last) path.move({x1, bar.y}).line({x1, y1});
    canvas_.painter().stroke(path, {kSegmentBorder, 0.4});
  }

  std::string title_of(std::size_t segment) const {
    std::string title = hex_text(state_.segments.address[segment]);
    return title.append(", ").append(size_text(state_.segments.size[segment]));
  }

  const AllocatorState& state_;
  bool by_role_;
  Canvas& canvas_;
  Owners owners_;
  std::vector<Group> groups_;
  SegmentTotals totals_;
  std::int64_t largest_ = 0;
  double scale_ = 0;
};

/// A sample of a part.
void draw_sample(SegmentPart part, bool by_role, Canvas& canvas, const Box& box) {
  canvas.rect(box, part == kPartLive ? kOtherOwner : part == kPartRounding ? kInk : kPaper);
  // In the colours of the table: the stacks that pin most, then all others.
  constexpr double kStripe = 16.0 / (kOwnerColors.size() + 1);
  for (std::size_t i = 0; part == kPartLive && !by_role && i < kOwnerColors.size(); ++i)
    canvas.rect({box.x + static_cast<double>(i) * kStripe, box.y, kStripe, box.h}, kOwnerColors[i]);
  if (part == kPartPending) canvas.hatched(box, kShrink.c700, 2, 0.6);
  canvas.frame(box, {kSegmentBorder, 0.4});
}

/// "activation 2.00 GiB", one beside the other; returns the last line's y.
double draw_roles(const SegmentTotals& totals, Canvas& canvas, double y) {
  double x = kLeft;
  for (std::size_t role = 0; role < totals.roles.size(); ++role) {
    // That nothing is unknown is worth saying.
    if (totals.roles[role] == 0 && role != 0) continue;
    const std::string name(kRoleNames[role]);
    const std::string size = size_text(totals.roles[role]);
    const double width = 25 + canvas.width(name, {7.2, FontWeight::medium}) + canvas.width(size, {7.2}) + 18;
    if (x > kLeft && x + width > kRight) {
      x = kLeft;
      y += kRoleKeyLine;
    }
    const Box box{x, y - 7, 16, 8.4};
    canvas.rect(box, kRoles[role]);
    canvas.frame(box, {kSegmentBorder, 0.4});
    const double w = canvas.text(x + 21, y, name, {7.2, FontWeight::medium}, kInk);
    canvas.text(x + 25 + w, y, size, {7.2}, kInk2);
    x += width;
  }
  return y;
}

}  // namespace

PageText text_of(const SegmentsPage& page) {
  return {concat(counted(page.pins.segments.size(), "segment"), ", ", size_text(page.pins.reserved), " reserved"),
          "Where does the memory lie, and what pins it?"};
}

double draw_page(const SegmentsPage& page, Canvas& canvas, double top, double bottom) {
  const PinReport& pins = page.pins;
  std::string text = size_text(pins.pinned.current);
  text.append(" of free memory cannot go back to the driver, because something in the same segment is in use. ");
  if (pins.releasable > 0) text.append(size_text(pins.releasable)).append(" in segments without a live block could. ");
  if (!pins.rows.empty() && pins.rows.front().pinned.current > 0) {
    const PinnedRow& first = pins.rows.front();
    text += concat(label_of(*pins.view, pins.stacks[first.key]).name, " pins most: ", size_text(first.pinned.current));
    text += concat(" in ", counted(static_cast<std::uint64_t>(first.segments), "segment"), " beside ");
    text += concat(size_text(first.live.current), " of its own.");
  }
  double y = canvas.paragraph(top, text, {9.2}, kInk, 4) + 26;
  const bool by_role = is_by_role(page);
  Map map(page, canvas);
  canvas.text(kLeft, y, "Segments by address", {8.5, FontWeight::semibold}, kInk);
  const std::string how = concat("one bar a segment, width to scale, coloured by ", by_role ? "role" : "who pins",
                                 "; a bar longer than a row goes on in the next");
  canvas.text(kRight, y, how, {7}, kInk3, Align::right);
  const double table = 15 + 20 + 17 * (2 + static_cast<double>(std::min<std::size_t>(pins.rows.size(), 6)));
  const double key = 50 + (by_role ? kRoleKeyLine * 2 : 0);
  y = map.draw(y + 9, bottom - y - 9 - key - table);
  y = draw_segments_key(map.totals(), by_role, canvas, y + 14);
  // The rows' colours would be those of roles.
  return draw_pins_table(pins, canvas, y + 26, bottom, !by_role);
}

double draw_segments_key(const SegmentTotals& totals, bool by_role, Canvas& canvas, double y) {
  if (by_role) y = draw_roles(totals, canvas, y) + kRoleKeyLine;
  double x = kLeft;
  const auto entry = [&](const char* name, SegmentPart part) {
    draw_sample(part, by_role, canvas, {x, y - 7, 16, 8.4});
    const double w = canvas.text(x + 21, y, name, {7.2, FontWeight::medium}, kInk);
    const double v = canvas.text(x + 25 + w, y, size_text(totals.bytes[part]), {7.2}, kInk2);
    x += 25 + w + v + 18;
  };
  if (!by_role) entry("live", kPartLive);
  entry("rounding", kPartRounding);
  entry("pending free", kPartPending);
  entry("free", kPartFree);
  const std::int64_t sum = totals.bytes[0] + totals.bytes[1] + totals.bytes[2] + totals.bytes[3];
  std::string text = std::string("in all ").append(size_text(sum));
  if (sum != totals.reserved) text.append("; the segments say ").append(size_text(totals.reserved));
  canvas.text(kRight, y, text, {7.2}, kInk2, Align::right);
  return y + 4;
}

}  // namespace snapdiff::render

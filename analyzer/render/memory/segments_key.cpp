#include "analyzer/render/memory/memory_pages.hpp"

#include <string>

#include "analyzer/render/paint/text.hpp"
#include "snapdiff/number_text.hpp"
#include "snapdiff/role_names.hpp"

namespace snapdiff::render {
namespace {

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

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/report.hpp"
#include "snapdiff/number_text.hpp"

/// One line per stack, root first: "main;handle_request;alloc 4096". README.md says how growth and
/// shrinkage are distinguished.
namespace snapdiff::report {

namespace {

constexpr std::string_view kGrew = "[grew]";
constexpr std::string_view kShrank = "[shrank]";

/// Readers of this format split at ';' and take what follows the last blank as the number, and know
/// no escape: a semicolon becomes a colon, as other writers of the format do; control characters and
/// line ends become \xNN.
void append_name(std::string& line, std::string_view name) {
  std::string text = printable(name);
  std::replace(text.begin(), text.end(), ';', ':');
  line += text;
}

void append_magnitude(std::string& line, std::int64_t value) {
  std::array<char, 24> digits{};
  line += ' ';
  line.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), magnitude(value)).ptr);
  line += '\n';
}

class Lines {
 public:
  explicit Lines(bool growth) : growth_(growth) {}

  void add(std::span<const FrameView> leaf_first, std::int64_t value) {
    if (value == 0) return;
    start(value);
    for (std::size_t i = leaf_first.size(); i-- > 0;) {
      separate();
      append_name(out_, recorded_frame_text(leaf_first[i]));
    }
    if (leaf_first.empty()) append_only("[filtered out]");
    append_magnitude(out_, value);
  }

  void add(std::string_view name, std::int64_t value) {
    if (value == 0) return;
    start(value);
    append_only(name);
    append_magnitude(out_, value);
  }

  std::string take() { return std::move(out_); }

 private:
  void start(std::int64_t value) {
    fresh_ = true;
    if (growth_) append_only(value > 0 ? kGrew : kShrank);
    // A snapshot has negative values only where it was saved by a diff.
    if (!growth_ && value < 0) append_only(kShrank);
  }
  void separate() {
    if (!fresh_) out_ += ';';
    fresh_ = false;
  }
  void append_only(std::string_view name) {
    separate();
    append_name(out_, name);
  }

  bool growth_;
  bool fresh_ = true;
  std::string out_;
};

}  // namespace

std::string to_folded(const GrowthReport& report) {
  Lines lines(true);
  std::vector<FrameView> frames;
  for (const GrowthRow& row : report.rows) {
    if (report.options.by == GroupBy::stack) {
      report.frames(row, frames);
      lines.add(frames, row.value.growth());
    } else {
      lines.add(report.keys[row.key], row.value.growth());
    }
  }
  lines.add(kUnattributed, report.unattributed.growth());
  lines.add("[filtered out]", report.filtered.growth());
  return lines.take();
}

std::string to_folded(const TopReport& report) {
  Lines lines(false);
  std::vector<FrameView> frames;
  for (const TopRow& row : report.rows) {
    if (report.options.by == GroupBy::stack) {
      report.view->frames(report.stacks[row.key], frames);
      lines.add(frames, row.value);
    } else {
      lines.add(report.keys[row.key], row.value);
    }
  }
  lines.add(kUnattributed, report.unattributed);
  lines.add("[filtered out]", report.filtered);
  return lines.take();
}

}  // namespace snapdiff::report

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/bcc/bcc_importer.hpp"
#include "formats/bcc/memleak_lines.hpp"
#include "formats/text/report_log.hpp"
#include "formats/text/scan.hpp"
#include "snapdiff/snapshot_builder.hpp"

namespace snapdiff::formats {
namespace {

using namespace bcc;

constexpr FormatInfo kInfo{"bcc-memleak", "outstanding allocations by bcc's memleak, a series", "*.txt, *.log",
                           "single allocations (-a); offsets in functions; the date, which is not there"};

constexpr std::size_t kMaxFrames = 1'000'000;

class MemleakLog final : public text::ReportLog {
 public:
  MemleakLog(Input& in, SnapshotSink& out)
      : ReportLog(in, out,
                  "no report: the input ends, expected \"[HH:MM:SS] Top N stacks with outstanding allocations:\"") {}

 private:
  void handle(std::string_view line) override {
    if (const auto time = heading_time(line)) {
      close();
      if (lines_.terminated()) open(*time);
      return;
    }
    if (const auto pid = attached_to(line)) {
      close();
      pid_ = *pid >= 0 ? std::optional(*pid) : std::nullopt;
      return;
    }
    Row row;
    const RowLine kind = row_line(line, row);
    if (!builder_) {
      if (kind != RowLine::none) ++outside_;
      return;
    }
    if (kind != RowLine::none) {
      begin_row(kind, row);
    } else if (line.empty() || text::trim(line).empty()) {
      close_row();
    } else if (!text::is_blank(line.front())) {
      close();  // what follows is no longer of the report
    } else if (row_) {
      add_frame(line);
    }
  }

  void open(std::string_view time) {
    builder_ = std::make_unique<SnapshotBuilder>();
    builder_->add_heap_columns();
    SnapshotFacts& facts = builder_->facts();
    facts.producer = "bcc memleak";
    facts.pid = pid_;
    facts.complete = false;  // the largest stacks only, and nothing younger than half a second
    if (!time.empty()) facts.comments.push_back("time of day " + std::string(time));
  }

  void begin_row(RowLine kind, const Row& row) {
    close_row();
    if (!lines_.terminated()) {
      cut();
    } else if (kind == RowLine::ok) {
      row_ = row;
      frames_.clear();
    } else {
      builder_->facts().lose("rows with numbers beyond 2^63-1, left out", lines_.line_offset());
    }
  }

  void add_frame(std::string_view line) {
    if (!lines_.terminated()) {
      row_.reset();
      cut();
      return;
    }
    const std::string_view text = text::trim(line);
    if (text::has_prefix(text, "stack information lost")) return;
    if (text::has_prefix(text, "addr = ")) return;
    if (frames_.size() == kMaxFrames) {
      fail(ErrorCode::limit, "stack too deep: more than 1000000 frames", lines_.line_offset());
    }
    frames_.push_back(text::frame_of(*builder_, stack_line(line)));
  }

  void cut() { builder_->facts().lose("the input ends inside a row, which was left out", lines_.line_offset()); }

  void close_row() {
    if (!row_) return;
    const std::int64_t values[] = {row_->count, row_->bytes};
    builder_->add_row(builder_->stack(frames_), LabelSetId{}, values);
    row_.reset();
  }

  void close() {
    if (!builder_) return;
    close_row();
    out_.take(builder_->finish());
    builder_.reset();
  }

  void finish() override { close(); }

  void remark(Notes& notes) override {
    if (outside_ > 0) notes.add(Severity::warning, "rows outside a report, left out", std::nullopt, outside_);
  }

  std::unique_ptr<SnapshotBuilder> builder_;  // the open report
  std::optional<Row> row_;
  std::vector<FrameId> frames_;
  std::optional<std::int64_t> pid_;
  std::uint64_t outside_ = 0;
};

Match sniff_memleak(std::string_view head) {
  return text::any_line_of(head, [](std::string_view line) { return heading_time(line).has_value(); }) ? Match::certain
                                                                                                       : Match::no;
}

}  // namespace

constexpr Format kBccMemleak{
    .info = kInfo, .sniff = sniff_memleak, .decode = text::read_log<MemleakLog>, .many = "distinct stacks"};

}  // namespace snapdiff::formats

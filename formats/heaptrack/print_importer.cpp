#include "formats/text/printed_frame.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using text::Quantity;

constexpr std::string_view kCommand = "Debuggee command was: ";
constexpr std::size_t kMostFrames = 65'536;  // of one stack, as of a recording

/// "758.40K", of heaptrack 1.0 "758.40KB", at the beginning of `text`, which loses it: powers of 1000.
std::optional<Quantity> take_bytes(std::string_view& text) {
  const text::Measure measure = text::measure_at(text, 0, 0);
  if (measure.number_end == 0) return std::nullopt;
  text.remove_prefix(measure.end);
  return text::scale(measure.number, text::size_unit(measure.unit, true));
}

enum class What : std::uint8_t { peak, leak };

/// "758.40K leaked over 618 calls from" begins what the frames below it hold; with a colon at its end a part of that,
/// by the frames that called them.
struct Heading {
  What what = What::peak;
  Quantity bytes;
  bool is_part = false;
};
std::optional<Heading> heading_of(std::string_view line) {
  const std::optional<Quantity> bytes = take_bytes(line);
  if (!bytes) return std::nullopt;
  const bool is_part = line.ends_with(':');
  if (is_part) line.remove_suffix(1);
  const bool is_leak = line.starts_with(" leaked over ");
  const bool is_peak = line.starts_with(is_part ? " consumed over " : " peak memory consumed over ");
  if ((!is_leak && !is_peak) || !line.ends_with(" from")) return std::nullopt;
  return Heading{is_leak ? What::leak : What::peak, *bytes, is_part};
}

/// "total memory leaked: 758.40K"
std::optional<Quantity> total_of(std::string_view line, std::string_view words) {
  if (!line.starts_with(words)) return std::nullopt;
  line = text::trim(line.substr(words.size()));
  return take_bytes(line);
}

/// Frames as they are printed, the leaf first: "function", then "at file:line" and "in module" where they are known.
class PrintedStack {
 public:
  void add(std::string_view line, SnapshotBuilder& builder) {
    if (line.starts_with("at ") && has_frame_) {
      file_ = line.substr(3);
    } else if (line.starts_with("in ") && has_frame_) {
      module_ = line.substr(3);
    } else {
      close(builder);
      function_ = line;
      has_frame_ = true;
    }
  }

  const std::vector<FrameId>& frames(SnapshotBuilder& builder) {
    close(builder);
    return frames_;
  }

 private:
  /// An address is the process's own: of a frame without a name the module alone stays.
  void close(SnapshotBuilder& builder) {
    text::PrintedFrame frame;
    frame.module = module_;
    if (!function_.starts_with("0x")) {
      frame.function = function_;
      frame.file = file_;
      text::take_line_number(frame.file, frame.line);
    }
    if (has_frame_ && frames_.size() < kMostFrames) frames_.push_back(text::frame_of(builder, frame));
    has_frame_ = false;
    file_.clear();
    module_.clear();
  }

  std::vector<FrameId> frames_;
  std::string function_, file_, module_;
  bool has_frame_ = false;
};

/// One list of a report: stacks with what they hold, and what those hold that it leaves out.
class PrintedList {
 public:
  PrintedList() {
    builder_.add_column({"inuse_space", "bytes"});
    builder_.add_column({half_unit_name("inuse_space"), "bytes"});
  }

  void open(const Heading& heading) {
    close_part();
    if (!heading.is_part) close_entry();
    (heading.is_part ? part_ : entry_) = heading.bytes;
  }

  void add(std::string_view line) {
    if (entry_ || part_) (part_ ? callers_ : leaf_).add(line, builder_);
  }

  SnapshotFacts& facts() { return builder_.facts(); }

  /// `total`: of all stacks, listed or not.
  Result<Snapshot> finish(What what, std::optional<Quantity> total) {
    close_part();
    close_entry();
    facts().producer = "heaptrack";
    facts().sampling = Sampling::exact;
    facts().format_detail = what == What::leak ? "printed leaks" : "printed, at the peak";
    facts().complete = false;
    if (total) add_rest(*total, sum_);
    return builder_.finish();
  }

 private:
  void close_part() {
    if (!part_) return;
    std::vector<FrameId> stack = leaf_.frames(builder_);
    const std::vector<FrameId>& callers = callers_.frames(builder_);
    stack.insert(stack.end(), callers.begin(), callers.end());
    add_row(builder_.stack(stack), *part_);
    count(*part_, parts_);
    part_.reset();
    callers_ = {};
  }

  /// What the listed callers of a leaf leave over came from callers that are unknown.
  void close_entry() {
    if (entry_ && parts_.value == 0) add_row(builder_.stack(leaf_.frames(builder_)), *entry_);
    if (entry_ && parts_.value != 0) add_rest(*entry_, parts_);
    entry_.reset();
    leaf_ = {};
    parts_ = {};
  }

  /// What `whole` says beyond `listed`, as far as that is more than was rounded off.
  void add_rest(Quantity whole, Quantity listed) {
    const Quantity rest{whole.value - listed.value, whole.half_unit + listed.half_unit};
    if (rest.value > rest.half_unit) add_row(builder_.pseudo_stack(kBelowThreshold), rest);
  }

  void add_row(StackId stack, Quantity bytes) {
    count(bytes, sum_);
    builder_.add_row(stack, LabelSetId{}, std::array{bytes.value, bytes.half_unit});
  }

  static void count(Quantity bytes, Quantity& sum) {
    add_to(sum.value, bytes.value, "sum over the stacks is");
    add_to(sum.half_unit, bytes.half_unit, "sum over the stacks is");
  }

  SnapshotBuilder builder_;
  std::optional<Quantity> entry_, part_;  // that are open
  PrintedStack leaf_, callers_;
  Quantity parts_;  // of the open entry
  Quantity sum_;    // of all rows
};

/// What heaptrack_print prints of a recording: a report ends with its totals, or where the next one begins. Of its
/// lists the leaks are what the process held at its end; without them (-l 1 prints them) the peak is read.
class PrintedReports final : public text::ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (line.starts_with("reading diff file "))
      fail(ErrorCode::unsupported,
           "differences between two recordings of heaptrack, expected what heaptrack_print "
           "prints of each",
           lines_.line_offset());
    if (line.starts_with("reading file ")) finish();
    if (line.starts_with(kCommand)) command_ = line.substr(kCommand.size());
    if (const auto heading = heading_of(line)) {
      open_ = heading->what == What::leak ? &leaks_ : &peaks_;
      if (!*open_) *open_ = std::make_unique<PrintedList>();
      (**open_).open(*heading);
    } else if (const auto peak = total_of(line, "peak heap memory consumption:")) {
      peak_ = peak;
    } else if (const auto leaked = total_of(line, "total memory leaked:")) {
      leaked_ = leaked;
      finish();
    } else if (line = text::trim(line); line.empty()) {
      open_ = nullptr;
    } else if (open_ != nullptr && !(line.starts_with("and ") && line.ends_with(" other places"))) {
      (**open_).add(line);
    }
  }

  void finish() override {
    if (leaks_) {
      if (peak_) leaks_->facts().counters.push_back({"peak", peak_->value, "bytes", false});
      take(*leaks_, What::leak, leaked_);
    } else if (peaks_) {
      take(*peaks_, What::peak, peak_);
    }
    leaks_.reset();
    peaks_.reset();
    open_ = nullptr;
    leaked_ = peak_ = {};
    command_.clear();
  }

  void take(PrintedList& list, What what, std::optional<Quantity> total) {
    list.facts().command_line = command_;
    take_report(list.finish(what, total));
  }

  std::unique_ptr<PrintedList> leaks_, peaks_;
  std::unique_ptr<PrintedList>* open_ = nullptr;  // the list that lines belong to, up to an empty one
  std::optional<Quantity> leaked_, peak_;         // what the report says of all stacks
  std::string command_;
};

/// The list of calls comes first, and may be longer than a head.
bool begins_list(std::string_view line) {
  return line == "MOST CALLS TO ALLOCATION FUNCTIONS" || heading_of(line).has_value();
}

}  // namespace

constexpr Format kHeaptrackPrint = text::log_format<
    PrintedReports, begins_list,
    "no list of heaptrack_print: the input ends, expected a line such as 1.00K leaked over 2 calls from">(
    {"heaptrack-print", "what heaptrack_print prints: the leaks (-l 1), or what was in use at the peak", "*.txt, *.log",
     "numbers of calls, temporary allocations, stacks that are not listed"});

}  // namespace snapdiff::formats

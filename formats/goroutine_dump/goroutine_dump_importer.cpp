#include <unordered_set>

#include "formats/text/printed_frame.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using text::Cursor;
using text::has_prefix;
using text::trim;

constexpr std::string_view kHeader = "goroutine ", kCreatedBy = "created by ";
constexpr std::size_t kMaxFrames = 1'000'000;

struct Header {
  std::int64_t id = 0;
  std::string_view state;
};

/// "goroutine 22 [chan receive, 12 minutes]:", "goroutine 1 gp=0xc000002380 m=0 mp=0x55c0 [running, locked to thread]:"
std::optional<Header> header_of(std::string_view line) {
  Cursor at(line);
  Header out;
  if (!at.take(kHeader) || !at.count(out.id) || !at.take(' ') || !line.ends_with(':')) return std::nullopt;
  const std::string_view rest = at.rest();
  const std::size_t open = rest.find('[');
  const std::size_t close = rest.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  out.state = rest.substr(open + 1, close - open - 1);
  out.state = out.state.substr(0, out.state.find(','));
  return out;
}

/// "net/http.(*conn).serve(0x3cf8, {0x7e, 0x3c})" -> "net/http.(*conn).serve"; "" where no call is printed.
std::string_view function_of(std::string_view line) {
  if (!line.ends_with(')')) return {};
  std::size_t depth = 0;
  for (std::size_t i = line.size(); i-- > 1;) {
    if (line[i] == ')') ++depth;
    if (line[i] == '(' && --depth == 0) return line.substr(0, i);
  }
  return {};
}

class DumpLog final : public text::ReportLog {
  using ReportLog::ReportLog;

  struct Frame {
    std::string function, file;
    std::int64_t line = 0;
    bool has_place = false;
  };

  void handle(std::string_view line) override {
    if (const auto header = header_of(line)) {
      close_goroutine();
      if (!lines_.terminated()) return cut();
      open_goroutine(*header);
    } else if (!goroutine_) {
      const std::string_view begin = line.substr(0, kHeader.size());
      if (!lines_.terminated() && !begin.empty() && kHeader.starts_with(begin)) cut();
    } else if (!lines_.terminated()) {
      goroutine_.reset();
      cut();
    } else if (trim(line).empty()) {
      close_goroutine();
    } else if (line.front() == '\t' || line.front() == ' ') {
      read_place(trim(line));
    } else {
      read_frame(line);
    }
  }

  void open_goroutine(const Header& header) {
    // A repeated number begins a later dump of the same process.
    if (!report_ || !ids_.insert(header.id).second) {
      take();
      open_report("go", "goroutine");
      report_->add_column({"goroutine", "count"});
      ids_.insert(header.id);
    }
    goroutine_ = header.id;
    state_ = header.state;
    offset_ = lines_.line_offset();
    is_created_ = false;
    frames_.clear();
  }

  void read_frame(std::string_view line) {
    if (frames_.size() == kMaxFrames) return;
    if (has_prefix(line, "...") && line.ends_with("frames elided...")) {
      frames_.push_back({std::string(kStackCut), {}, 0, true});
    } else if (has_prefix(line, kCreatedBy)) {
      const std::string_view creator = line.substr(kCreatedBy.size());
      frames_.push_back({std::string(creator.substr(0, creator.find(" in goroutine "))), {}, 0, false});
      is_created_ = true;
    } else if (const std::string_view function = function_of(line); !function.empty()) {
      frames_.push_back({std::string(function), {}, 0, false});
    }
  }

  /// "/src/net/http/server.go:2067 +0x690"
  void read_place(std::string_view line) {
    if (frames_.empty() || frames_.back().has_place) return;
    Frame& frame = frames_.back();
    frame.has_place = true;
    std::string_view place = trim(line.substr(0, text::offset_begin(line)));
    if (text::take_line_number(place, frame.line)) frame.file = place;
  }

  void close_goroutine() {
    if (!goroutine_) return;
    std::vector<FrameId> stack;
    for (const Frame& frame : frames_) {
      if (frame.function == kStackCut) {
        stack.push_back(report_->pseudo_frame(kStackCut));
        continue;
      }
      stack.push_back(text::frame_of(*report_, {.function = frame.function, .file = frame.file, .line = frame.line}));
    }
    constexpr std::int64_t kOne = 1;
    report_->add_row(report_->stack(stack), report_->labels({text_label(*report_, "state", state_)}),
                     std::span(&kOne, 1));
    goroutine_.reset();
  }

  /// Go prints who created a goroutine last of all; main and those of the runtime have none.
  bool may_be_cut() const {
    if (frames_.empty()) return true;
    if (is_created_ || has_prefix(frames_.back().function, "runtime.")) return !frames_.back().has_place;
    return *goroutine_ != 0 && (frames_.back().function != "main.main" || !frames_.back().has_place);
  }

  void cut() { lose("the input ends inside a goroutine, which was left out"); }

  void take() {
    if (report_) give_report();
    ids_.clear();
  }

  void finish() override {
    if (goroutine_ && may_be_cut())
      report_->facts().lose("the input may end inside the last goroutine: its creator is missing", offset_);
    close_goroutine();
    take();
  }

  std::unordered_set<std::int64_t> ids_;
  std::optional<std::int64_t> goroutine_;
  std::string state_;
  std::uint64_t offset_ = 0;
  bool is_created_ = false;
  std::vector<Frame> frames_;  // leaf first, the creator last
};

/// A log may hold the goroutine of a panic: certain where the text begins with goroutines, possible where there are
/// several.
Match sniff_dump(std::string_view head) {
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  std::size_t goroutines = 0, others = 0;
  while (text::take_line(rest, line)) {
    if (header_of(line)) {
      if (goroutines == 0 && others == 0) return Match::certain;
      ++goroutines;
    } else if (goroutines == 0) {
      const bool is_quit = has_prefix(line, "SIGQUIT: quit") || has_prefix(line, "PC=0x") || trim(line).empty();
      others += is_quit ? 0U : 1U;
    }
  }
  return goroutines > 1 ? Match::possible : Match::no;
}

}  // namespace

constexpr Format kGoroutineDump{
    .info = {"goroutine-dump", "stacks of all goroutines: Go's /debug/pprof/goroutine?debug=2, SIGQUIT", "*.txt, *.log",
             "ids and arguments of goroutines, how long each one waits"},
    .sniff = sniff_dump,
    .decode = text::read_log<DumpLog, "no goroutine: the input ends, expected \"goroutine N [STATE]:\"">};

}  // namespace snapdiff::formats

#include "formats/text/printed_frame.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// The two moments of a report: of a .diff the baseline and now, else both alike.
enum Side : std::size_t { kBaseline, kNow };
using Sides = std::array<std::int64_t, 2>;

struct Amount {
  Sides bytes{};
  std::int64_t scale = 1;
};

/// "1440465KB", "1440465": bytes.
bool take_bytes(std::string_view& text, std::int64_t& bytes, std::int64_t& scale) {
  const Measure found = measure_at(text, 0, 0);
  const std::optional<Quantity> value = found.bytes(1);
  if (!value || found.number.has_point) return false;
  bytes = value->value;
  scale = found.unit.empty() ? 1 : static_cast<std::int64_t>(size_unit(found.unit, false));
  text.remove_prefix(found.end);
  return true;
}

/// "1440465KB +3192KB" behind `word`; the part with a sign is missing where nothing changed.
std::optional<Amount> amount_behind(std::string_view line, std::string_view word, bool& is_diff) {
  auto rest = behind(line, word);
  Amount out;
  if (!rest || !take_bytes(*rest, out.bytes[kNow], out.scale)) return std::nullopt;
  out.bytes[kBaseline] = out.bytes[kNow];
  // A site prints its category between the two numbers.
  if (const std::size_t type = rest->find("ype="); word == "malloc=" && type != std::string_view::npos)
    rest->remove_prefix(std::min(rest->size(), rest->find_first_of("+-)#", type)));
  *rest = trim(*rest);
  const bool down = rest->starts_with('-');
  if (!down && !rest->starts_with('+')) return out;
  rest->remove_prefix(1);
  std::int64_t change = 0, scale = 1;
  if (!take_bytes(*rest, change, scale)) return out;
  is_diff = true;
  if (!checked_add(out.bytes[kNow], down ? change : -change, out.bytes[kBaseline])) return std::nullopt;
  return out;
}

struct Category {
  std::string name;
  Sides reserved{}, committed{};
};

/// "[0x00007f0788e6ff9a] PerfMemory::create_memory_region(unsigned long)+0x99a"; compiled code has no name.
struct SiteFrame {
  std::uint64_t address = 0;
  std::string name;
};

struct Site {
  std::vector<SiteFrame> frames;  ///< leaf first
  std::string category;
  Sides reserved{}, committed{};
};

using SitesByCategory = std::map<std::string, std::vector<const Site*>>;

struct Report {
  std::optional<std::int64_t> pid;
  std::optional<Category> total;
  std::vector<Category> categories;
  std::vector<Site> sites;
  std::vector<Counter> counters;
  std::int64_t scale = 1;
  bool is_diff = false;
};

/// "(malloc=32KB type=Arena Chunk +32KB #1 +1)", "(reserved=88KB, committed=88KB Type=GC)": the category.
std::string_view category_of(std::string_view line) {
  std::size_t begin = line.find("ype=");
  if (begin == std::string_view::npos) return {};
  begin += 4;
  return trim(line.substr(begin, line.find_first_of("+-)#", begin) - begin));
}

class NativeMemoryLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    const std::string_view words = trim(line);
    if (words == "Native Memory Tracking:") return open();
    if (!open_) return read_pid(words);
    Report& report = *open_;
    if (has_prefix(words, "Total: reserved=")) {
      report.total = sizes_of(words, "Total");
    } else if (has_prefix(line, "-") && words.find("(reserved=") != std::string_view::npos) {
      const std::size_t name_end = words.find("(reserved=");
      add(sizes_of(words, trim(words.substr(1, name_end - 1))));
    } else if (has_prefix(words, "malloc: ")) {
      const auto malloc = amount_behind(words, "malloc: ", report.is_diff);
      if (malloc && lines_.terminated())
        report.counters.push_back({"malloc", malloc->bytes[kNow], "bytes", false, malloc->scale / 2});
    } else if (has_prefix(words, "(classes #") || has_prefix(words, "(thread #")) {
      count(words);
    } else if (has_prefix(words, "(stack: ")) {
      if (const Category stack = sizes_of(words, ""); stack.committed[kNow] >= 0)
        report.counters.push_back({"thread_stacks", stack.committed[kNow], "bytes", false, report.scale / 2});
    } else if (has_prefix(line, "[0x")) {
      add_frame(line);
    } else if (!frames_.empty() && has_prefix(words, "(")) {
      if (lines_.terminated()) add_site(words);
    } else {
      read_pid(words);
    }
  }

  /// "18552:", which jcmd writes in front of a report.
  void read_pid(std::string_view words) {
    if (const auto pid = pid_line(words)) next_pid_ = pid;
  }

  void open() {
    close();
    open_.emplace();
    open_->pid = std::exchange(next_pid_, std::nullopt);
    frames_.clear();
  }

  /// "reserved=14375KB, committed=823KB"; a line that is cut gives -1.
  Category sizes_of(std::string_view words, std::string_view name) {
    const auto reserved = amount_behind(words, "reserved=", open_->is_diff);
    const auto committed = amount_behind(words, "committed=", open_->is_diff);
    const auto is_negative = [](const Amount& one) { return one.bytes[kBaseline] < 0; };
    if (!reserved || !committed || is_negative(*reserved) || is_negative(*committed) || !lines_.terminated()) {
      lost_ = lost_ ? lost_ : std::optional(lines_.line_offset());
      return {std::string(name), {-1, -1}, {-1, -1}};
    }
    open_->scale = std::max(open_->scale, committed->scale);
    return {std::string(name), reserved->bytes, committed->bytes};
  }

  void add(Category category) {
    if (category.committed[kNow] >= 0) open_->categories.push_back(std::move(category));
  }

  /// "(classes #1041)", "(thread #14)", in a .diff "(classes #1066 +25)".
  void count(std::string_view words) {
    Cursor at(words.substr(words.find('#') + 1));
    std::int64_t value = 0;
    if (!at.count(value) || !lines_.terminated()) return;
    open_->counters.push_back({has_prefix(words, "(classes") ? "classes" : "threads", value, "count", false, 0});
  }

  /// Regions of the virtual memory map, "[0x.. - 0x..]", have call sites of their own below, with more indentation.
  void add_frame(std::string_view line) {
    Cursor at(line.substr(3));
    SiteFrame frame;
    if (at.hex(frame.address) != Number::ok || !at.take(']')) return frames_.clear();
    const std::string_view name = trim(at.rest());
    frame.name = name.substr(0, offset_begin(name));
    frames_.push_back(std::move(frame));
  }

  /// The line in brackets below the frames of a site.
  void add_site(std::string_view words) {
    Site site{std::exchange(frames_, {}), std::string(category_of(words)), {}, {}};
    const auto malloc = amount_behind(words, "malloc=", open_->is_diff);
    const auto reserved = malloc ? malloc : amount_behind(words, "reserved=", open_->is_diff);
    const auto committed = malloc ? malloc : amount_behind(words, "committed=", open_->is_diff);
    if (!reserved || !committed || site.category.empty()) return;
    site.reserved = reserved->bytes;
    site.committed = committed->bytes;
    open_->sites.push_back(std::move(site));
  }

  void finish() override { close(); }

  void close() {
    if (open_ && open_->total && open_->total->committed[kNow] >= 0 && !open_->categories.empty()) {
      if (open_->is_diff) give(kBaseline);
      give(kNow);
    } else if (open_ && !lost_) {
      lost_ = lines_.offset();
    }
    open_.reset();
    if (lost_ && !out_.empty()) out_.last().lose("a report that is cut", std::exchange(lost_, std::nullopt));
  }

  void give(Side side) {
    SnapshotBuilder builder;
    SnapshotFacts& facts = exact_facts(builder, "java");
    facts.pid = open_->pid;
    facts.default_metric = "committed";
    facts.format_detail = open_->sites.empty() ? "summary" : "detail";
    const std::int64_t half_unit = open_->scale / 2;
    builder.add_column({"committed", "bytes"}, half_unit);
    builder.add_column({"reserved", "bytes"}, half_unit);
    facts.counters = {{"committed", open_->total->committed[side], "bytes", false, half_unit},
                      {"reserved", open_->total->reserved[side], "bytes", false, half_unit}};
    if (side == kNow) add_counters(facts);
    SitesByCategory by_category;
    for (const Site& site : open_->sites) by_category[site.category].push_back(&site);
    Category sum;
    for (const Category& category : open_->categories) {
      add_rows(builder, by_category, category, side);
      add_to(sum.committed[side], category.committed[side], "a sum is", lines_.line_offset());
      add_to(sum.reserved[side], category.reserved[side], "a sum is", lines_.line_offset());
    }
    check_total(builder, sum, side);
    take_report(builder.finish());
  }

  void add_counters(SnapshotFacts& facts) {
    for (const Counter& counter : open_->counters) {
      const auto same = [&](const Counter& one) { return one.name == counter.name; };
      if (std::none_of(facts.counters.begin(), facts.counters.end(), same)) facts.counters.push_back(counter);
    }
  }

  /// The call sites of a category and what they leave of it; the category alone where they do not fit into it, as
  /// those of arenas, which NMT counts again in the categories that use them.
  void add_rows(SnapshotBuilder& builder, SitesByCategory& by_category, const Category& category, Side side) {
    std::vector<const Site*> sites = std::exchange(by_category[category.name], {});
    if (!fits(category, sites, kNow) || !fits(category, sites, kBaseline)) sites.clear();
    std::int64_t rest[] = {category.committed[side], category.reserved[side]};
    for (const Site* site : sites) {
      std::vector<FrameId> frames;
      for (const SiteFrame& frame : site->frames) {
        PrintedFrame printed;
        printed.function = trim(frame.name);
        if (frame.name.empty()) printed.offset = frame.address;
        frames.push_back(frame_of(builder, printed));
      }
      builder.add_row(builder.stack(frames), builder.labels({text_label(builder, "type", category.name)}),
                      std::array{site->committed[side], site->reserved[side]});
      rest[0] -= site->committed[side];
      rest[1] -= site->reserved[side];
    }
    for (std::int64_t& left : rest) left = std::max<std::int64_t>(left, 0);  // sites are rounded
    add_type_row(builder, category.name, rest);
  }

  bool fits(const Category& category, const std::vector<const Site*>& sites, Side side) const {
    std::int64_t committed = 0, reserved = 0;
    for (const Site* site : sites) {
      if (site->committed[side] < 0 || site->reserved[side] < 0 ||
          !checked_add(committed, site->committed[side], committed) ||
          !checked_add(reserved, site->reserved[side], reserved))
        return false;
    }
    const std::int64_t rounding = rounding_of(sites.size() + 1);
    return committed - rounding <= category.committed[side] && reserved - rounding <= category.reserved[side];
  }

  std::int64_t rounding_of(std::size_t numbers) const {
    return static_cast<std::int64_t>(numbers) * (open_->scale / 2);
  }

  /// Total is checked: it leaves out nothing but rounding, or categories too small to print.
  void check_total(SnapshotBuilder& builder, const Category& sum, Side side) {
    const std::int64_t rounding = rounding_of(open_->categories.size() + 1);
    const std::int64_t committed = open_->total->committed[side] - sum.committed[side];
    const std::int64_t reserved = open_->total->reserved[side] - sum.reserved[side];
    const bool are_more = committed < -rounding || reserved < -rounding;
    if (!are_more && committed <= rounding && reserved <= rounding) return;
    builder.facts().complete = false;
    builder.notes().add(Severity::warning,
                        "the categories add up to " + std::string(are_more ? "more" : "less") + " than Total says",
                        lines_.line_offset());
    if (!are_more) {
      builder.add_row(builder.pseudo_stack(kBelowThreshold), LabelSetId{},
                      std::array{std::max<std::int64_t>(committed, 0), std::max<std::int64_t>(reserved, 0)});
    }
  }

  std::optional<Report> open_;
  std::vector<SiteFrame> frames_;  // of the open site, leaf first
  std::optional<std::int64_t> next_pid_;
  std::optional<std::uint64_t> lost_;  // where a line is cut
};

Match sniff_native_memory(std::string_view head) {
  bool has_heading = false;
  return certain_if(any_line_of(head, [&](std::string_view line) {
    has_heading = has_heading || trim(line) == "Native Memory Tracking:";
    return has_heading && has_prefix(trim(line), "Total: reserved=");
  }));
}

}  // namespace

constexpr Format kJvmNativeMemory{
    .info = {"jvm-nmt", "Native Memory Tracking of the JVM: jcmd VM.native_memory summary, detail, and their .diff",
             "*.txt, *.log", "the virtual memory map, malloc and arenas apart, peaks"},
    .sniff = sniff_native_memory,
    .decode = read_log<NativeMemoryLog,
                       "no report: the input ends, expected \"Native Memory Tracking:\" and \"Total: reserved=\"">};

}  // namespace snapdiff::formats

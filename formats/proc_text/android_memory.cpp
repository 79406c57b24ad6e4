#include "formats/proc_text/kernel_numbers.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using proc_text::kKib;
using namespace text;

constexpr std::string_view kMeminfoHeading = "** MEMINFO in pid ";

bool is_showmap_heading(const std::vector<std::string_view>& words) {
  return words.size() >= 9 && words[0] == "size" && words[1] == "RSS" && words[2] == "PSS" && words.back() == "object";
}

bool is_number(std::string_view word) { return whole_number(word).has_value(); }

std::string lower_words(std::string_view above, std::string_view below) {
  std::string out(above);
  out.append(above.empty() ? "" : "_").append(below);
  for (char& c : out) c = text::lower(c);
  return out;
}

/// A column by the two words of the heading; "" for one that is not kept. "Total" below "Pss" is Pss itself.
std::string meminfo_column(std::string_view above, std::string_view below) {
  if (above == "Heap") return {};  // of two rows alone: counters
  if (below == "Total") return lower_words({}, above);
  return above.starts_with("Swap") ? "swap" : lower_words(above, below);
}

/// A row of either table: KiB by column, a name.
struct Row {
  std::string name;
  std::vector<std::int64_t> values;
};

/// ** MEMINFO in pid 23844 [com.example] **
///                    Pss  Private  Private  SwapPss     Heap     Heap     Heap
///                  Total    Dirty    Clean    Dirty     Size    Alloc     Free
///                 ------   ------   ------   ------   ------   ------   ------
///   Native Heap   383073   382944        0       62   436736   404535    32200
///         TOTAL   ...
///  Objects
///                Views:      123         ViewRootImpl:        1
/// and showmap:
///  virtual                     shared   shared  private  private
///     size      RSS      PSS    clean    dirty    clean    dirty     swap  swapPSS   # object
///     9868     1168      335 ...                                                     3 /system/lib64/libc.so
class AndroidLog final : public text::ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (!lines_.terminated()) {
      lose("the last line has no end and was left out");
      return;
    }
    const std::vector<std::string_view> words = words_of_line(line);
    if (const auto heading = behind(line, kMeminfoHeading)) {
      begin("dumpsys meminfo");
      if (std::int64_t pid = 0; reads(*heading, "%", pid)) report_->facts().pid = pid;
      const std::size_t open = line.find('['), close = line.rfind(']');
      if (open != std::string_view::npos && close != std::string_view::npos && close > open)
        report_->facts().command_line = line.substr(open + 1, close - open - 1);
      return;
    }
    if (is_showmap_heading(words)) {
      if (is_showmap() && (rows_.empty() || !total_)) return;  // it is repeated below a long table
      begin("showmap");
      for (std::size_t i = 0; i + 2 < words.size() && i < std::size(kShowmap); ++i) columns_.emplace_back(kShowmap[i]);
      return;
    }
    if (!report_) return;
    is_showmap() ? showmap_row(line, words) : meminfo_line(line, words);
  }

  static constexpr std::string_view kShowmap[] = {"virtual_size",  "rss",          "pss",
                                                  "shared_clean",  "shared_dirty", "private_clean",
                                                  "private_dirty", "swap",         "swap_pss"};

  bool is_showmap() { return report_ && report_->facts().format_detail == "showmap"; }
  void begin(std::string_view detail) {
    close();
    open_report("android", detail).default_metric = "pss";
  }

  /// "    9868     1168      335  ...    3 /system/lib64/libc.so": numbers, a count of mappings, a name.
  void showmap_row(std::string_view line, const std::vector<std::string_view>& words) {
    if (words.size() < columns_.size() + 2) return;
    Row row;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!is_number(words[i])) return;
      row.values.push_back(bytes(words[i]));
    }
    if (!is_number(words[columns_.size()])) return;
    row.name = trim(line.substr(static_cast<std::size_t>(words[columns_.size() + 1].data() - line.data())));
    row.name == "TOTAL" ? total(row) : rows_.push_back(std::move(row));
  }

  void meminfo_line(std::string_view line, const std::vector<std::string_view>& words) {
    if (words.empty() || total_) return objects(line, words);
    if (columns_.empty()) {
      const bool is_first = words[0] == "Pss";
      if (is_first) above_.assign(words.begin(), words.end());
      if (!is_first && words[0] == "Total" && words.size() == above_.size()) {
        for (std::size_t i = 0; i < words.size(); ++i) columns_.push_back(meminfo_column(above_[i], words[i]));
      }
      return;
    }
    std::size_t first = words.size();
    while (first > 0 && is_number(words[first - 1])) --first;
    const std::size_t kept = static_cast<std::size_t>(
        std::count_if(columns_.begin(), columns_.end(), [](const std::string& name) { return !name.empty(); }));
    if (first == 0 || words.size() - first < std::min<std::size_t>(kept, 3)) return;
    Row row;
    for (std::size_t i = 0; i < first; ++i) row.name.append(row.name.empty() ? "" : " ").append(words[i]);
    std::size_t number = first;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::int64_t value = number < words.size() ? bytes(words[number]) : 0;
      ++number;
      if (!columns_[i].empty()) {
        row.values.push_back(value);
      } else if (number <= words.size() && row.name != "TOTAL") {
        constexpr std::string_view kHeap[] = {"heap_size", "heap_alloc", "heap_free"};
        const std::size_t part = 3 - std::min<std::size_t>(3, columns_.size() - i);
        counters_[std::string(kHeap[part]) + "{heap=" + row.name + "}"] = {value, "bytes"};
      }
    }
    row.name == "TOTAL" ? total(row) : rows_.push_back(std::move(row));
  }

  /// "Views:      123         ViewRootImpl:        1" below " Objects".
  void objects(std::string_view line, const std::vector<std::string_view>& words) {
    if (trim(line) == "Objects") in_objects_ = true;
    if (trim(line) == "SQL") in_objects_ = false;
    if (!in_objects_) return;
    std::string name;
    for (const std::string_view word : words) {
      if (is_number(word) && name.ends_with(':')) {
        name.pop_back();
        if (name != "Parcel memory") counters_[name] = {*text::whole_number(word), "count"};
        name.clear();
      } else {
        name.append(name.empty() ? "" : " ").append(word);
      }
    }
  }

  std::int64_t bytes(std::string_view word) const {
    return product_of(whole_number(word).value_or(0), kKib, "bytes of a row are", lines_.line_offset());
  }

  void total(const Row& row) { total_ = row; }

  void finish() override {
    if (!total_) lose("the row TOTAL is missing: the table is cut");
    close();
  }

  void close() {
    if (!rows_.empty()) fill_report();
    report_.reset();
    in_objects_ = false;
    rows_.clear();
    columns_.clear();
    above_.clear();
    counters_.clear();
    total_.reset();
  }

  void fill_report() {
    SnapshotBuilder& builder = *report_;
    SnapshotFacts& facts = builder.facts();
    std::erase(columns_, std::string());
    for (const std::string& name : columns_) builder.add_column({name, "bytes"}, kKib / 2);
    for (Row& row : rows_) {
      row.values.resize(columns_.size());
      add_type_row(builder, row.name, row.values);
    }
    for (const auto& [name, counter] : counters_) facts.counters.push_back({name, counter.first, counter.second});
    check_total(facts);
    give_report();
  }

  /// The rows of the proportional size add up to the total; meminfo adds the swapped share to it.
  void check_total(SnapshotFacts& facts) const {
    const auto pss = std::find(columns_.begin(), columns_.end(), "pss");
    if (!total_ || pss == columns_.end()) return;
    const auto at = static_cast<std::size_t>(pss - columns_.begin());
    const auto swap = static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), "swap") - columns_.begin());
    std::int64_t sum = 0, swapped = 0;
    for (const Row& row : rows_) {
      sum = wrapping_sum(sum, row.values[at]);  // finish() checks the sum of the column
      if (swap < columns_.size()) swapped = wrapping_sum(swapped, row.values[swap]);
    }
    const std::int64_t stated = total_->values[at];
    const std::int64_t rounding = static_cast<std::int64_t>(rows_.size()) * kKib;
    const auto is_near = [&](std::int64_t value) { return value >= stated - rounding && value <= stated + rounding; };
    if (!is_near(sum) && !is_near(wrapping_sum(sum, swapped)))
      facts.notes.add(Severity::warning, "the rows do not add up to the table's TOTAL");
  }

  bool in_objects_ = false;
  std::vector<std::string> above_, columns_;
  std::vector<Row> rows_;
  std::optional<Row> total_;
  std::map<std::string, std::pair<std::int64_t, std::string>> counters_;
};

Match sniff_android(std::string_view head) {
  bool is_meminfo = false;
  return certain_if(text::any_line_of(head, [&](std::string_view line) {
    is_meminfo = is_meminfo || behind(line, kMeminfoHeading);
    const std::vector<std::string_view> words = words_of_line(line);
    return is_meminfo ? words.size() > 3 && words[0] == "Pss" && words[1] != "Pss(KB)" : is_showmap_heading(words);
  }));
}

}  // namespace

constexpr Format kAndroidMemory{
    .info = {"android-memory", "memory of an Android process: dumpsys meminfo PID, showmap", "*.txt",
             "the summary of the app, details of Dalvik, addresses"},
    .sniff = sniff_android,
    .decode = read_log<AndroidLog,
                       "no table: the input ends, expected dumpsys meminfo PID (\"** MEMINFO in pid\") or showmap">};

}  // namespace snapdiff::formats

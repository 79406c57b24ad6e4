#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/metric_text.hpp"

/// Dictionaries of torch.cuda.memory_stats() and memory_stats_as_nested_dict(), as JSON or as Python
/// prints them (dict, OrderedDict), on one line or several. A walk over the brackets with the path of
/// keys; nothing is kept but the numbers.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxReadings = 4096;
constexpr std::size_t kMaxKeyBytes = 256;

constexpr std::array<std::string_view, 11> kMetrics = {
    "allocation",      "allocated_bytes",      "segment",          "reserved_bytes",
    "active",          "active_bytes",         "inactive_split",   "inactive_split_bytes",
    "requested_bytes", "oversize_allocations", "oversize_segments"};
constexpr std::array<std::string_view, 5> kTotals = {"num_alloc_retries", "num_ooms", "num_sync_all_streams",
                                                     "num_device_alloc", "num_device_free"};
constexpr std::string_view kPrivatePools = "reserved_bytes_by_private_pools";

bool is_metric(std::string_view word) {
  return std::find(kMetrics.begin(), kMetrics.end(), word) != kMetrics.end() || word == kPrivatePools;
}

constexpr std::array<std::string_view, 4> kStats = {"current", "peak", "allocated", "freed"};

bool is_stat(std::string_view word) { return std::find(kStats.begin(), kStats.end(), word) != kStats.end(); }

/// Whether a dictionary of allocator statistics may begin with this key and what follows it: a flat key,
/// or a metric with a dictionary of its own.
bool is_first_key(std::string_view key, std::string_view behind) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos && std::find(kTotals.begin(), kTotals.end(), key) != kTotals.end()) return true;
  if (!is_metric(key.substr(0, dot))) return false;
  if (dot != std::string_view::npos) return is_stat(key.substr(key.rfind('.') + 1));
  behind = trim(behind.substr(0, 64));
  if (!behind.empty() && (behind.front() == ':' || behind.front() == ',')) behind.remove_prefix(1);
  behind = trim(behind);
  return behind.starts_with("{") || behind.starts_with("OrderedDict(");
}

/// Where an opening bracket stands whose first text is such a key; npos where none does.
std::size_t find_begin(std::string_view text, bool may_be_inside) {
  for (std::size_t quote = text.find_first_of("'\""); quote != std::string_view::npos;
       quote = text.find_first_of("'\"", quote + 1)) {
    const std::size_t end = text.find(text[quote], quote + 1);
    if (end == std::string_view::npos) return std::string_view::npos;
    if (!is_first_key(text.substr(quote + 1, end - quote - 1), text.substr(end + 1))) continue;
    std::size_t begin = quote;
    while (begin > 0 && (is_blank(text[begin - 1]) || contains("{([", text.substr(begin - 1, 1)))) --begin;
    const std::size_t bracket = text.find_first_of("{([", begin);
    if (bracket < quote) return bracket;
    // The bracket is on the line before.
    const bool nothing_in_front = trim(text.substr(0, quote)).empty();
    return may_be_inside && nothing_in_front ? quote : std::string_view::npos;
  }
  return std::string_view::npos;
}

class MemoryDict final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const bool behind_bracket = bracket_ended_line_;
    const std::string_view trimmed = trim(line.text);
    bracket_ended_line_ = !trimmed.empty() && contains("{[", trimmed.substr(trimmed.size() - 1));
    if (is_open_) {
      if (walk(line.text, session)) return true;
      drop(session);
      if (!line.terminated) session.recorder().set_partial();
    }
    if (!contains(line.text, "alloc") && !contains(line.text, "active") && !contains(line.text, "_bytes") &&
        !contains(line.text, "segment") && !contains(line.text, "num_ooms"))
      return false;
    const std::size_t begin = find_begin(line.text, behind_bracket);
    if (begin == std::string_view::npos) return false;
    open(line, session);
    const bool was_bracket_before = contains("'\"", line.text.substr(begin, 1));
    if (was_bracket_before) frames_.push_back({});
    if (!walk(line.text.substr(begin), session)) drop(session);
    return true;
  }

  void finish(Session& session) override {
    if (!is_open_ || readings_.empty()) return;
    drop(session);
    session.recorder().set_partial();
  }

 private:
  struct Frame {
    std::string key;
    char bracket = '{';
  };

  void open(const LogLine& line, Session& session) {
    is_open_ = true;
    frames_.clear();
    key_.clear();
    has_key_ = false;
    readings_.clear();
    facts_ = session.facts_of(line);
  }

  void close(Session& session) {
    is_open_ = false;
    if (!readings_.empty()) session.recorder().record(kMemoryStats, facts_, readings_);
  }

  void drop(Session& session) {
    is_open_ = false;
    if (readings_.empty()) return;
    session.notes().add(Severity::data_loss, "memory_stats dictionaries without an end were left out", facts_.offset);
  }

  /// Goes over a line; false where it is no part of a dictionary.
  bool walk(std::string_view text, Session& session) {
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (is_blank(c) || c == ':') {
        ++i;
      } else if (c == ',') {
        if (!frames_.empty() && frames_.back().bracket == '{') has_key_ = false;
        ++i;
      } else if (contains("{([", text.substr(i, 1))) {
        if (frames_.size() == kMaxDepth) return false;
        frames_.push_back({has_key_ ? key_ : std::string(), c});
        has_key_ = false;
        ++i;
      } else if (contains("})]", text.substr(i, 1))) {
        if (frames_.empty()) return false;
        frames_.pop_back();
        has_key_ = false;
        ++i;
        if (frames_.empty()) {
          close(session);
          return true;
        }
      } else if (c == '"' || c == '\'') {
        const std::size_t end = text.find(c, i + 1);
        if (end == std::string_view::npos || end - i > kMaxKeyBytes) return false;
        key_ = std::string(text.substr(i + 1, end - i - 1));
        has_key_ = true;
        i = end + 1;
      } else if (is_digit(c) || c == '-') {
        std::size_t end = i + 1;
        while (end < text.size() && (is_word(text[end]) || text[end] == '.')) ++end;
        read_number(text.substr(i, end - i), session);
        i = end;
      } else if (is_letter(c)) {  // OrderedDict, None, null
        while (i < text.size() && is_word(text[i])) ++i;
      } else {
        return false;
      }
    }
    return true;
  }

  void read_number(std::string_view number, Session& session) {
    if (!has_key_) return;
    if (frames_.empty() || frames_.back().bracket != '[') has_key_ = false;
    std::string path;
    for (const Frame& frame : frames_) {
      if (!frame.key.empty()) path += frame.key + ".";
    }
    path += key_;
    std::int64_t value = 0;
    if (!parse_whole(number, value)) {
      session.notes().add(Severity::info, "values of memory_stats that are no integers were left out", facts_.offset);
      return;
    }
    const std::string_view name = path;
    const std::string_view metric = name.substr(0, name.find('.'));
    const std::string_view stat = name.substr(name.rfind('.') + 1);
    const bool is_total = std::find(kTotals.begin(), kTotals.end(), name) != kTotals.end();
    if (name == "max_split_size") return;  // a setting
    if (!is_total && !(is_metric(metric) && is_stat(stat))) {
      session.notes().add(Severity::info, "keys of memory_stats that are not known were left out", facts_.offset);
      return;
    }
    if (readings_.size() == kMaxReadings) return;
    const bool is_size = contains(metric, "_bytes");
    const bool cumulative = is_total || stat == "allocated" || stat == "freed";
    readings_.push_back({std::string(name), is_size ? "bytes" : "count", {value, 0}, cumulative});
  }

  bool is_open_ = false;
  bool bracket_ended_line_ = false;
  std::vector<Frame> frames_;
  std::string key_;
  bool has_key_ = false;
  LineFacts facts_;
  std::vector<Reading> readings_;
};

}  // namespace

std::unique_ptr<Matcher> make_memory_dict_matcher() { return std::make_unique<MemoryDict>(); }

}  // namespace snapdiff::formats::metric_log

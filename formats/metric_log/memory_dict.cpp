#include "formats/metric_log/log_session.hpp"

/// Dictionaries of torch.cuda.memory_stats() and memory_stats_as_nested_dict(), as JSON or as Python
/// prints them (dict, OrderedDict), on one line or several. A walk over the brackets with the path of
/// keys; nothing is kept but the numbers.
/// tf.config.experimental.get_memory_info: the dictionary as Python prints it, and a line that is often
/// printed around it.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxReadings = 4096;
constexpr std::size_t kMaxKeyBytes = 256;

constexpr std::string_view kMetrics =
    "allocation allocated_bytes segment reserved_bytes active active_bytes inactive_split inactive_split_bytes "
    "requested_bytes oversize_allocations oversize_segments reserved_bytes_by_private_pools ";
constexpr std::string_view kTotals =
    "num_alloc_retries num_ooms num_sync_all_streams num_device_alloc num_device_free ";
constexpr std::string_view kStats = "current peak allocated freed ";

/// Whether a dictionary of allocator statistics may begin with this key and what follows it: a flat key,
/// or a metric with a dictionary of its own.
bool is_first_key(std::string_view key, std::string_view behind) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos && is_one_of(key, kTotals)) return true;
  if (!is_one_of(key.substr(0, dot), kMetrics)) return false;
  if (dot != std::string_view::npos) return is_one_of(key.substr(key.rfind('.') + 1), kStats);
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
    if (!parse_whole(number, value))
      return session.notes().add(Severity::info, "values of memory_stats that are no integers were left out",
                                 facts_.offset);
    const std::string_view name = path;
    const std::string_view metric = name.substr(0, name.find('.'));
    const std::string_view stat = name.substr(name.rfind('.') + 1);
    const bool is_total = is_one_of(name, kTotals);
    if (name == "max_split_size") return;  // a setting
    if (!is_total && !(is_one_of(metric, kMetrics) && is_one_of(stat, kStats)))
      return session.notes().add(Severity::info, "keys of memory_stats that are not known were left out",
                                 facts_.offset);
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

/// {'current': 300000000, 'peak': 310000000}
bool read_dict(std::string_view text, std::int64_t& current, std::int64_t& peak) {
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
    Cursor at(text.substr(open + 1));
    if (at.takes("~'current'~:~%~,~'peak'~:~%~}", current, peak) ||
        at.takes("~\"current\"~:~%~,~\"peak\"~:~%~}", current, peak))
      return true;
  }
  return false;
}

class MemoryInfo final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = line.text;
    if (!contains(text, "current")) return false;
    std::int64_t current = 0, peak = 0;
    if (read_dict(text, current, peak)) {
      const Reading readings[] = {{"memory_info.current", "bytes", {current, 0}, false},
                                  {"memory_info.peak", "bytes", {peak, 0}, false}};
      session.recorder().record(kMemoryInfo, session.facts_of(line), readings);
      return true;
    }
    return take_sentence(line, session);
  }

 private:
  /// Memory info of GPU /physical_device:GPU:0: current: 300000000, peak: 310000000
  static bool take_sentence(const LogLine& line, Session& session) {
    const std::string_view text = line.text;
    static const Pattern kSentence(
        R"((?i:memory info of )(?:(?:.* )?(?:/physical_device:)?([^\s:]|[^\s:]\S*[^\s:]))?[\s:]*current:(.*)peak:(.*))");
    std::string_view device, current_text, peak_text;
    if (!kSentence.in(text, device, current_text, peak_text)) return false;
    const std::optional<Quantity> current = number_at(current_text), peak = number_at(peak_text);
    if (!current || !peak) return false;
    const auto name = [&](std::string_view counter) {
      return device.empty() ? std::string(counter) : with_tag(counter, "device", device);
    };
    const Reading readings[] = {{name("memory_info.current"), "bytes", *current, false},
                                {name("memory_info.peak"), "bytes", *peak, false}};
    session.recorder().record(kMemoryInfo, session.facts_of(line), readings);
    return true;
  }

  /// Whole numbers are bytes; one with a fraction was divided to gigabytes by whoever printed it.
  static std::optional<Quantity> number_at(std::string_view text) {
    const Measure found = measure_at(text, 0);
    const std::uint64_t unit = size_unit(found.unit, false);
    const std::uint64_t without = found.number.has_point ? std::uint64_t{1} << 30 : 1;
    return found.number_end == 0 ? std::nullopt : scale(found.number, unit == 0 ? without : unit);
  }
};

}  // namespace

std::unique_ptr<Matcher> make_memory_dict_matcher() { return std::make_unique<MemoryDict>(); }

std::unique_ptr<Matcher> make_memory_info_matcher() { return std::make_unique<MemoryInfo>(); }

}  // namespace snapdiff::formats::metric_log

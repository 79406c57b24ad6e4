#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/vocabulary.hpp"

/// Lines that people write themselves: "Iteration 10: Current: 1.1MB Peak: 1.5MB". Numbers first: each
/// number of a line is looked at with the words in front of it and the unit after it. Words of the vocabulary count at
/// once; other numbers with a unit or a word of memory where they are met again.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kKeyBytes = 64;
constexpr std::size_t kDeviceBytes = 128;  // in front of a number
constexpr std::size_t kMostHits = 4096;    // of one line
constexpr std::size_t kMostAlike = 64;     // numbers of one name on a line: devices of a host

/// A number with its unit: text[begin, end).
struct Number {
  std::size_t begin = 0;
  std::size_t end = 0;  // after the unit, if any
  Decimal decimal;
  std::uint64_t unit = 0;    // bytes; 0 where none is printed
  bool is_unitless = false;  // of pages, blocks: no bytes, whatever the words say
};

/// The words in front of a number.
struct Key {
  std::string words;   // lower case, single blanks
  std::string device;  // of a call: memory_allocated(1)
  std::size_t begin = 0;
  std::uint64_t unit = 0;      // of "rss (MB)" and "rss_mb"; 0 where none is named
  bool is_unitless = false;    // of "rss (pages)"
  bool has_separator = false;  // : or =, or a closed call
};

struct Hit {
  const Word* word = nullptr;  // null: of no word of the vocabulary
  Number number;
  Key key;
  bool is_tentative() const { return word == nullptr; }
};

/// Units that do not count bytes. Source: proc(5), vmstat(8), ps(1).
constexpr std::string_view kOtherUnits = "pages page blocks chunks objects items words entries ";

/// The next number from `from` on that stands for itself: no part of a word, no change ("+3"), no rate
/// or share ("3/s", "3 %").
std::optional<Number> next_number(std::string_view text, std::size_t from, bool decimal_units) {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (!is_digit(text[i])) continue;
    const std::size_t digit = i;
    Number number;
    number.begin = i > from && text[i - 1] == '-' ? i - 1 : i;
    const Measure found = measure_at(text, number.begin, 2);
    const std::size_t end = found.number_end;
    number.decimal = found.number;
    std::size_t skip = digit;
    while (skip < text.size() && (is_word(text[skip]) || text[skip] == '.')) ++skip;
    i = std::max(skip, end) - 1;
    const char before = number.begin == 0 ? ' ' : text[number.begin - 1];
    if (end == 0 || is_word(before) || before == '.' || before == '+' || before == '-' || before == '#') continue;
    const std::string_view unit = found.unit;
    const std::size_t unit_end = found.end, unit_begin = unit_end - unit.size();
    const char behind = unit_end < text.size() ? text[unit_end] : ' ';
    number.end = end;
    if (!unit.empty()) {
      number.unit = is_word(behind) ? 0 : size_unit(unit, decimal_units);
      if (number.unit == 0 && unit_begin == end) continue;
      number.is_unitless = is_one_of(unit, kOtherUnits);
      if (number.unit != 0 && behind == '/' && unit_end + 1 < text.size() && is_letter(text[unit_end + 1])) continue;
      if (number.unit != 0) number.end = unit_end;
    } else if (behind == '%' || (unit_begin == end && (is_word(behind) || behind == ':'))) {
      continue;
    }
    return number;
  }
  return std::nullopt;
}

/// "139709K->17472K(157248K)", "6020K(6208K)->7020K(7208K)", "1.2 GB → 1.5 GB": the size behind the arrow holds now.
void go_behind_arrow(std::string_view text, Number& number, bool decimal_units) {
  constexpr std::size_t kWithin = 64;  // bytes: the rest of a long line is not looked at for each of its numbers
  std::string_view rest = trim(text.substr(number.end, kWithin));
  if (rest.starts_with('(')) rest = trim(rest.substr(std::min(rest.find(')'), rest.size() - 1) + 1));
  const std::string_view arrow = rest.starts_with("->") ? "->" : "→";
  if (!rest.starts_with(arrow)) return;
  rest = trim(rest.substr(arrow.size()));
  const std::optional<Number> after = next_number(rest, 0, decimal_units);
  if (!after || after->begin != 0) return;
  number.end = static_cast<std::size_t>(rest.data() - text.data()) + after->end;
  number.decimal = after->decimal;
  if (after->unit != 0) number.unit = after->unit;
}

/// "Mem:  7.7Gi  5.1Gi  300Mi": two more numbers behind it, without words, have their words in a heading above.
bool is_in_a_table(std::string_view text, std::size_t end) {
  constexpr std::size_t kWithin = 64;
  const std::vector<std::string_view> next = words_of_line(text.substr(end, kWithin));
  return next.size() > 1 && is_digit(next[0].front()) && is_digit(next[1].front());
}

constexpr bool in_key(char c) { return is_word(c) || is_blank(c) || c == '.' || c == '-'; }

/// What is in brackets after a key: a unit, a device, or what len() counts. A call has no blank before its bracket.
void read_arguments(std::string_view arguments, bool is_call, bool decimal_units, Key& key) {
  arguments = trim(arguments);
  if (arguments.starts_with("in ")) arguments = trim(arguments.substr(3));
  if ((key.unit = size_unit(arguments, decimal_units)) != 0) return;
  const std::string_view words = key.words;
  if (words == "len" || (words.size() > 4 && words.substr(words.size() - 4) == " len")) {
    key.words = words_of(arguments);
    return;
  }
  key.is_unitless = !is_call && std::all_of(arguments.begin(), arguments.end(), is_letter);
  for (const char c : arguments) {
    if (is_digit(c) && key.device.size() < 4) key.device += c;
  }
  if (contains(arguments, "including")) key.words.clear();  // another number: "peak RSS (including heaptrack overhead)"
}

Key key_before(std::string_view text, std::size_t number_begin, std::size_t from, bool decimal_units) {
  Key key;
  const std::size_t first = std::max(from, number_begin > kKeyBytes * 2 ? number_begin - kKeyBytes * 2 : 0);
  std::size_t end = number_begin;
  const auto back_over = [&](auto accepts) {
    const std::size_t before = end;
    while (end > first && accepts(text[end - 1])) --end;
    return before != end;
  };
  back_over(is_blank);
  back_over([](char c) { return c == ':' || c == '=' || c == '>' || is_blank(c); });
  key.has_separator = text.substr(end, number_begin - end).find_first_of(":=>") != std::string_view::npos;
  back_over([](char c) { return is_quote(c) || is_blank(c); });
  std::string_view arguments;
  if (end > first && (text[end - 1] == ')' || text[end - 1] == ']')) {
    const char close = text[end - 1];
    const char open = close == ')' ? '(' : '[';
    int depth = 0;
    std::size_t at = end;
    while (at > first) {
      --at;
      if (text[at] == close) ++depth;
      if (text[at] == open && --depth == 0) break;
    }
    if (depth != 0 || text[at] != open) return key;
    arguments = text.substr(at + 1, end - at - 2);
    end = at;
    key.has_separator = true;
  }
  std::size_t begin = end;
  while (begin > first && end - begin < kKeyBytes && in_key(text[begin - 1])) --begin;
  // A word that the limit cuts is left out.
  while (begin > first && begin < end && is_word(text[begin - 1]) && is_word(text[begin])) ++begin;
  key.begin = begin;
  key.words = words_of(text.substr(begin, end - begin));
  const bool is_call = end > begin && !is_blank(text[end - 1]);
  if (!arguments.empty()) read_arguments(arguments, is_call, decimal_units, key);
  if (key.unit == 0) key.unit = take_unit_word(key.words, decimal_units);
  // getrusage(2) counts in KiB on Linux, and says so nowhere in its output.
  if (key.unit == 0 && (key.words == "ru maxrss" || key.words.ends_with(" ru maxrss"))) key.unit = 1024;
  return key;
}

/// A word that says what the numbers after it are about.
bool has_subject(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kSubjects = {"gpu", "cuda", "vram",  "memory",     "mem",
                                                                "ram", "heap", "torch", "tracemalloc"};
  for (const std::string_view subject : kSubjects) {
    const auto is_whole = [&](std::string_view rest) { return rest.empty() || !is_letter(rest.front()); };
    if (behind_word(text, subject, is_whole)) return true;
  }
  return false;
}

/// The device that is last in front of a number: "GPU 1", "cuda:0", "[device 2]"; "cpu" for "CPU memory".
std::string device_in(std::string_view text) {
  if (text.size() > kDeviceBytes) text.remove_prefix(text.size() - kDeviceBytes);
  std::string_view found;
  for (const std::string_view word : {"cuda", "gpu", "device"}) {
    behind_word(text, word, [&](std::string_view rest) {
      const std::string_view digits = digits_behind_signs(rest, ":#[(=_");
      const bool goes_on = digits.end() != rest.end() && (*digits.end() == '.' || is_word(*digits.end()));
      if (digits.empty() || digits.size() > 4 || goes_on) return false;
      if (found.empty() || digits.begin() > found.begin()) found = digits;
      return false;
    });
  }
  if (!found.empty()) return std::string(found);
  for (const std::string_view phrase : {std::string_view("cpu mem"), std::string_view("cpu ram")}) {
    if (find_ignoring_case(text, phrase) != std::string_view::npos) return "cpu";
  }
  return {};
}

/// The process that a line is of, as a tag and its number: each process of a training and each worker of a server
/// writes lines of its own. "[Rank 3]", "[rank3]:", "local_rank=3", "pid=4711", "[2024-05-01 10:00:00 +0000] [4711]
/// [INFO]".
struct Process {
  std::string_view tag;
  std::string_view number;
};
Process process_in(std::string_view text) {
  constexpr std::size_t kLongestNumber = 7;  // Linux has at most 2^22 processes
  text = text.substr(0, kDeviceBytes);
  Process found;
  const auto is_number = [&](std::string_view rest) {
    found.number = digits_behind_signs(rest, ":#=_");
    return !found.number.empty() && found.number.size() <= kLongestNumber;
  };
  for (const std::string_view tag : {"rank", "pid"}) {
    found.tag = tag;
    if (behind_word(text, tag, is_number)) return found;
  }
  const std::size_t bracket = text.starts_with('[') ? text.find("] [") : std::string_view::npos;
  if (bracket != std::string_view::npos && is_number(text.substr(bracket + 3)) &&
      text.substr(bracket + 3 + found.number.size()).starts_with("] ["))
    return {"pid", found.number};
  return {};
}

/// "memory (MB) | allocated: 1.0 | reserved: 2.0": a unit for the numbers behind it that have none.
struct LineUnit {
  std::size_t from = std::string_view::npos;
  std::uint64_t unit = 0;
};
LineUnit unit_of_line(std::string_view text, bool decimal_units) {
  constexpr std::size_t kLongestUnit = 12;
  for (std::size_t open = text.find_first_of("(["); open != std::string_view::npos;
       open = text.find_first_of("([", open + 1)) {
    const std::size_t close = text.find_first_of(")]", open);
    if (close == std::string_view::npos) return {};
    if (close - open > kLongestUnit) continue;
    const std::uint64_t unit = size_unit(trim(text.substr(open + 1, close - open - 1)), decimal_units);
    const std::string_view behind = trim(text.substr(close + 1));
    if (unit == 0 || behind.empty() || !contains("|:", behind.substr(0, 1))) continue;
    const std::string_view first = trim(behind.substr(1));
    // A number right behind it is its own.
    if (!first.empty() && !is_digit(first[0])) return {close, unit};
  }
  return {};
}

/// "100 MB allocated,", "100 MB of memory": the word behind a number, where a comma or the end follows it.
std::string word_behind(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  if (text.substr(at).starts_with("of ")) at += 3;
  std::size_t end = at;
  while (end < text.size() && is_letter(text[end])) ++end;
  const bool ends = end == text.size() || contains(",;.)]", text.substr(end, 1));
  return ends ? words_of(text.substr(at, end - at)) : std::string();
}

class PlainLines final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = line.text;
    // "# HeapAlloc = 1234" stands at the end of Go's heap profiles.
    if (text.starts_with("# ") && contains(text, " = ")) return false;
    hits_.clear();
    std::size_t from = 0;
    std::optional<LineUnit> line_unit;
    for (std::size_t at = 0; hits_.size() < kMostHits;) {
      std::optional<Number> number = next_number(text, at, session.decimal_units());
      if (!number) break;
      go_behind_arrow(text, *number, session.decimal_units());
      at = number->end;
      Key key = key_before(text, number->begin, from, session.decimal_units());
      number->is_unitless = number->is_unitless || key.is_unitless;
      if (!line_unit) line_unit = unit_of_line(text, session.decimal_units());
      if (number->unit == 0 && !number->is_unitless) number->unit = key.unit;
      if (number->unit == 0 && !number->is_unitless && key.has_separator && number->begin > line_unit->from)
        number->unit = line_unit->unit;
      // The number of a device or of a step in brackets belongs to the key of the next one.
      if (number->end < text.size() && (text[number->end] == ')' || text[number->end] == ']') && number->unit == 0 &&
          number->begin > 0 &&
          (text[number->begin - 1] == '(' || text[number->begin - 1] == '[' || text[number->begin - 1] == ':' ||
           text[number->begin - 1] == '='))
        continue;
      const Word* word = find_word(key.words);
      if (word != nullptr && !fits(*word, *number, key)) word = nullptr;
      if (word == nullptr && !is_about_memory(text, *number, key)) continue;
      if (is_in_a_table(text, number->end)) continue;
      hits_.push_back({word, *number, std::move(key)});
      from = number->end;
    }
    drop_what_does_not_speak(line);
    return hits_.empty() ? take_bare(line, session) : take_hits(line, session);
  }

 private:
  static bool fits(const Word& word, const Number& number, const Key& key) {
    if (word.is_count) return number.unit == 0 && !number.decimal.has_point && key.has_separator;
    return number.unit != 0 || (key.has_separator && !word.needs_unit);
  }

  /// A unit of bytes or a word says so.
  static bool is_about_memory(std::string_view text, const Number& number, Key& key) {
    if (is_other_measure(key.words)) return false;
    // "alloc_traits.h:464" is a place in a source file.
    const std::string_view raw = text.substr(key.begin, number.begin - key.begin);
    if (number.unit == 0 && raw.ends_with(":") && contains(raw, ".")) return false;
    if (number.unit == 0)
      return key.has_separator && !number.decimal.has_point && has_memory_word(key.words) &&
             !name_of_words(key.words).empty();
    if (std::string word = word_behind(text, number.end); !key.has_separator && !word.empty()) key.words = word;
    return !name_of_words(key.words).empty() && !is_other_measure(key.words);
  }

  /// Everyday words count only beside others that say what the line is about.
  void drop_what_does_not_speak(const LogLine& line) {
    const auto is_about = [this](std::string_view counter) {
      return std::any_of(hits_.begin(), hits_.end(),
                         [&](const Hit& hit) { return hit.word != nullptr && hit.word->counter == counter; });
    };
    const auto any = [this](auto holds) {
      return std::any_of(hits_.begin(), hits_.end(),
                         [&](const Hit& hit) { return hit.word != nullptr && holds(*hit.word); });
    };
    if (!any([](const Word&) { return true; })) return;
    const bool speaks = any([](const Word& word) { return word.alone; }) || (is_about("current") && is_about("peak")) ||
                        find_step(line.text) ||
                        (any([](const Word& word) { return !word.needs_step; }) &&
                         has_subject(line.text.substr(0, hits_.front().number.begin)));
    if (speaks) return;
    std::erase_if(hits_, [](const Hit& hit) {
      return hit.word != nullptr && (hit.word->needs_step || hit.word->is_count || hit.number.unit == 0);
    });
    for (Hit& hit : hits_) hit.word = nullptr;
  }

  /// Its words, then its place on the line, tell a name from those before it. "" after kMostAlike of them.
  static std::string unlike(std::string name, const Hit& hit, std::map<std::string, std::size_t>& met) {
    if (++met[name] == 1) return name;
    const std::size_t n = met[name];
    std::string words = name_of_words(hit.key.words);
    if (!words.empty() && !met.contains(words)) {
      ++met[words];
      return words;
    }
    return n > kMostAlike ? std::string() : with_tag(name, "n", std::to_string(n));
  }

  bool take_hits(const LogLine& line, Session& session) {
    std::vector<Reading> readings;
    std::map<std::string, std::size_t> met;
    const LineFacts facts = session.facts_of(line);
    const Process process = process_in(line.text.substr(0, hits_.front().number.begin));
    for (const Hit& hit : hits_) {
      Reading reading;
      reading.is_tentative = hit.is_tentative();
      reading.name = reading.is_tentative ? name_of_words(hit.key.words) : std::string(hit.word->counter);
      const Number& number = hit.number;
      std::string device = hit.key.device.empty() ? device_in(line.text.substr(0, number.begin)) : hit.key.device;
      if (!device.empty()) reading.name = with_tag(reading.name, "device", device);
      if (!process.tag.empty()) reading.name = with_tag(reading.name, process.tag, process.number);
      reading.name = unlike(std::move(reading.name), hit, met);
      if (reading.name.empty()) continue;
      const bool is_count = !reading.is_tentative && hit.word->is_count;
      reading.cumulative = counts_up(hit.key.words);
      const bool in_bytes =
          number.unit != 0 || (!number.is_unitless && !number.decimal.has_point && !reading.is_tentative);
      reading.unit = is_count ? "count" : in_bytes ? "bytes" : "";
      const std::optional<Quantity> quantity = scale(number.decimal, number.unit == 0 ? 1 : number.unit);
      if (!quantity) {
        session.notes().add(Severity::data_loss, "numbers beyond 2^63-1 were left out", line.offset);
        continue;
      }
      if (!in_bytes && !is_count && number.decimal.has_point)
        session.notes().add(Severity::warning, "numbers with a fraction and no unit are rounded", line.offset);
      reading.quantity = *quantity;
      if (!reading.is_tentative) session.evidence().reading(reading.name, line.text, number.begin, facts);
      // Without a unit a line with a step or a time is one of a log, any other may say anything.
      const bool is_logged = number.unit != 0 || facts.step || facts.time_ns;
      if (!reading.is_tentative || (is_logged && has_memory_word(hit.key.words)))
        session.weak_evidence().reading(reading.name, line.text, number.begin, facts);
      readings.push_back(std::move(reading));
    }
    session.recorder().record(kPlain, facts, readings);
    return true;
  }

  /// "Iteration 10: 235.0MB": a size right after the step.
  static bool take_bare(const LogLine& line, Session& session) {
    const std::optional<Step> step = find_step(line.text);
    if (!step) return false;
    const std::string_view text = line.text;
    std::size_t i = step->end;
    if (i < text.size() && text[i] == '/') {
      do ++i;
      while (i < text.size() && is_digit(text[i]));
    }
    const std::size_t separator = i;
    while (i < text.size() && (is_blank(text[i]) || contains("])>:,-|;=", text.substr(i, 1)))) ++i;
    if (i == separator) return false;
    const std::optional<Number> number = next_number(text, i, session.decimal_units());
    if (!number || number->begin != i || number->unit == 0) return false;
    const std::optional<Quantity> quantity = scale(number->decimal, number->unit);
    if (!quantity) return false;
    const Reading reading{"value", "bytes", *quantity, false};  // what it is of, nobody says
    const LineFacts facts = session.facts_of(line);
    session.evidence().reading(reading.name, text, number->begin, facts);
    session.recorder().record(kPlain, facts, {&reading, 1});
    return true;
  }

  std::vector<Hit> hits_;
};

}  // namespace

std::unique_ptr<Matcher> make_plain_line_matcher() { return std::make_unique<PlainLines>(); }

}  // namespace snapdiff::formats::metric_log

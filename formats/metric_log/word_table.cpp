#include "formats/metric_log/log_session.hpp"
#include "formats/metric_log/metric_text.hpp"
#include "formats/metric_log/vocabulary.hpp"

/// Tables without a separator that training loops print, the heading again for each row: "Epoch GPU_mem box_loss" and
/// "1/100 2.31G 1.234". A column counts whose heading says memory, and whose cells have a unit of bytes.
namespace snapdiff::formats::metric_log {
namespace {

constexpr std::size_t kFewestColumns = 3;
constexpr std::size_t kMostColumns = 32;

class WordTable final : public Matcher {
 public:
  bool take(const LogLine& line, Session& session) override {
    const std::string_view text = trim(line.text);
    if (text.empty()) return false;
    if (!columns_.empty() && take_row(line, session)) return true;
    read_heading(text);
    return false;
  }

 private:
  struct Column {
    std::size_t place;
    std::string counter;
  };

  /// All words begin with a letter: a number is in no heading.
  void read_heading(std::string_view text) {
    columns_.clear();
    if (!is_letter(text.front())) return;
    const std::vector<std::string_view> words = words_of_line(text.substr(0, kMostColumns * 32));
    const bool is_heading = words.size() >= kFewestColumns && words.size() <= kMostColumns &&
                            std::all_of(words.begin(), words.end(), [](auto word) { return is_letter(word.front()); });
    for (std::size_t i = 0; is_heading && i < words.size(); ++i) {
      const std::string said = words_of(words[i]);
      if (!has_memory_word(said) || is_other_measure(said)) continue;
      const Word* const word = find_word(said);
      columns_.push_back({i, word != nullptr ? std::string(word->counter) : name_of_words(said)});
    }
    counts_steps_ = !words.empty() && find_step(std::string(words.front()) + " 1").has_value();
  }

  bool take_row(const LogLine& line, Session& session) {
    const std::vector<std::string_view> cells = words_of_line(line.text.substr(0, kMostColumns * 32));
    const auto numbers = std::count_if(cells.begin(), cells.end(), [](auto cell) { return is_digit(cell.front()); });
    if (numbers < static_cast<std::ptrdiff_t>(kFewestColumns)) return false;
    std::vector<Reading> readings;
    for (const Column& column : columns_) {
      if (column.place >= cells.size()) continue;
      const Measure cell = measure_at(cells[column.place], 0);
      const std::optional<Quantity> size = cell.number_end == 0 ? std::nullopt : cell.bytes();
      if (size && cell.end == cells[column.place].size()) readings.push_back({column.counter, "bytes", *size, false});
    }
    if (readings.empty()) return false;
    LineFacts facts = session.facts_of(line);
    if (counts_steps_) facts.step = whole_number(Cursor(cells.front()).digits());
    for (const Reading& reading : readings) session.evidence().reading(reading.name, line.text, 0, facts);
    session.recorder().record(kPlain, facts, readings);
    return true;
  }

  std::vector<Column> columns_;
  bool counts_steps_ = false;  // the first column does
};

}  // namespace

std::unique_ptr<Matcher> make_word_table_matcher() { return std::make_unique<WordTable>(); }

}  // namespace snapdiff::formats::metric_log

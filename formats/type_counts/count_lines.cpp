#include "formats/text/report_log.hpp"
#include "formats/type_counts/python_types.hpp"

/// Lines on which a program prints how many objects of each type it has: a collections.Counter of Python, its
/// most_common(), ObjectSpace.count_objects of Ruby.
namespace snapdiff::formats {
namespace {

using namespace text;

struct Count {
  std::string_view name;
  std::int64_t count = 0;
};

struct CountLine {
  bool of_ruby = false;
  bool first_only = false;  ///< of most_common()
  bool whole = false;       ///< the closing bracket is there
  std::vector<Count> counts;
};

/// 'dict', "dict", :T_HASH, T_HASH; the cursor is then behind it.
std::optional<std::string_view> name_at(Cursor& at) {
  const char quote = at.peek();
  const bool quoted = quote == '\'' || quote == '"';
  if (quoted || quote == ':') at.take(quote);
  const std::string_view rest = at.rest();
  std::size_t end = 0;
  while (end < rest.size() && (quoted ? rest[end] != quote : is_word(rest[end]))) ++end;
  if (end == 0 || (quoted && end == rest.size())) return std::nullopt;
  at.take(rest.substr(0, end));
  if (quoted) at.take(quote);
  return rest.substr(0, end);
}

/// Pairs, and the bracket that ends them. Each is "NAME: N", "NAME=>N", or with `tuples` "(NAME, N)".
bool read_pairs(Cursor& at, bool tuples, CountLine& out) {
  do {
    at.skip_blanks();
    if (tuples && !at.take('(')) return false;
    Count one;
    const auto name = name_at(at);
    if (!name) return false;
    one.name = *name;
    if (!(tuples ? at.take(',') : at.take("=>") || at.take(" => ") || at.take(':'))) return false;
    at.skip_blanks();
    if (!at.count(one.count) || at.at_end() || (tuples && !at.take(')')))
      return false;  // a number at the end may be cut
    out.counts.push_back(one);
  } while (at.take(','));
  out.whole = at.take(tuples ? ']' : '}');
  return out.whole;
}

std::optional<CountLine> count_line_of(std::string_view line) {
  constexpr std::string_view kOpenings[] = {"Counter({", "[('", "{:TOTAL=>", "{TOTAL: ", "{:TOTAL => "};
  for (std::size_t i = 0; i < std::size(kOpenings); ++i) {
    const std::size_t found = line.find(kOpenings[i]);
    if (found == std::string_view::npos) continue;
    CountLine out;
    out.of_ruby = i >= 2;
    out.first_only = i == 1;
    Cursor at(line.substr(found + (i == 0 ? kOpenings[i].size() : 1)));
    read_pairs(at, out.first_only, out);
    const auto is_known = [&](const Count& one) {
      return out.of_ruby ? one.name == "T_STRING" : is_common_type(one.name);
    };
    if (std::any_of(out.counts.begin(), out.counts.end(), is_known)) return out;
  }
  return std::nullopt;
}

class CountLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    const auto counts = count_line_of(line);
    note_time(line);
    if (!counts) return;
    SnapshotFacts& facts = open_report(counts->of_ruby ? "ruby" : "python");
    facts.taken_at_ns = take_time();
    facts.complete = !counts->first_only;
    report_->add_column({"inuse_objects", "count"});
    std::optional<std::int64_t> slots;
    std::int64_t used = 0;
    bool fits = true;
    for (const Count& one : counts->counts) {
      if (counts->of_ruby && one.name == "TOTAL") {
        slots = one.count;
        continue;
      }
      fits &= checked_add(used, one.count, used);
      if (counts->of_ruby && one.name == "FREE") {
        facts.counters.push_back({"free_slots", one.count, "count", false});
        continue;
      }
      add_type_row(*report_, one.name, std::span(&one.count, 1));
    }
    if (!counts->whole) lose("the line is cut: types behind the cut are missing");
    if (slots && counts->whole && (!fits || used != *slots)) warn("the types add up to another number than TOTAL");
    give_report();
  }
  void finish() override {}
};

}  // namespace

constexpr Format kCountLines =
    log_format<CountLog, count_line_of,
               "no counts: the input ends, expected a Counter of types or ObjectSpace.count_objects">(
        {"object-counts", "counts of objects: a Python Counter of types, ObjectSpace.count_objects of Ruby",
         "*.txt, *.log", "everything else on the lines"});

}  // namespace snapdiff::formats

#include "formats/input/file_name_facts.hpp"

#include <charconv>

#include "snapdiff/snapshot.hpp"

namespace snapdiff::formats {
namespace {

constexpr std::string_view kExtensions[] = {
    "gz",          "zst",          "zstd",      "xz",     "lz4",    "heap", "pb",   "pprof",       "prof",
    "profile",     "heapz",        "txt",       "out",    "raw",    "bin",  "json", "dump",        "jsonl",
    "sym",         "symbolized",   "growth",    "hprof",  "pickle", "pkl",  "dat",  "log",         "proto",
    "tracemalloc", "heapsnapshot", "sdt",       "csv",    "xml",    "dot",  "html", "heapprofile", "hpy",
    "jfr",         "otlp",         "collapsed", "folded", "austin"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_separator(char c) { return c == '.' || c == '-' || c == '_'; }

bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The part after the last dot, which is cut off `text`.
std::string_view cut_last(std::string_view& text, char separator) {
  const std::size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return {};
  const std::string_view last = text.substr(at + 1);
  text.remove_suffix(last.size() + 1);
  return last;
}

std::string_view without_extensions(std::string_view name, bool& is_heap) {
  for (;;) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const std::string_view extension = name.substr(dot + 1);
    if (std::find(std::begin(kExtensions), std::end(kExtensions), extension) == std::end(kExtensions)) return name;
    is_heap = is_heap || extension == "heap";
    name = name.substr(0, dot);
  }
}

/// `PREFIX[.NS][.PID].SEQ.kindN`
std::optional<FileNameFacts> jemalloc_name(std::string_view name) {
  const std::string_view kind = cut_last(name, '.');
  if (kind.empty() || std::string_view("imuf").find(kind.front()) == std::string_view::npos) return std::nullopt;
  if (kind.size() > 1 && !all_digits(kind.substr(1))) return std::nullopt;
  std::string_view rest = name;
  const std::string_view sequence = cut_last(rest, '.');
  if (!all_digits(sequence) || !number(sequence)) return std::nullopt;
  FileNameFacts facts;
  facts.sequence = number(sequence);
  facts.stem = rest;  // with the pid: two processes are two series
  const std::string_view pid = cut_last(rest, '.');
  if (all_digits(pid)) facts.pid = number(pid);
  return facts;
}

/// Length of a trailing run of digits.
std::size_t trailing_digits(std::string_view text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[text.size() - 1 - count])) ++count;
  return count;
}

/// `...YYYYMMDD[-_T.]HHMM[SS]`: both numbers as one.
std::optional<FileNameFacts> dated_name(std::string_view name) {
  const std::size_t time = trailing_digits(name);
  if ((time != 4 && time != 6) || name.size() < time + 9) return std::nullopt;
  const char between = name[name.size() - time - 1];
  if (!is_separator(between) && between != 'T') return std::nullopt;
  const std::string_view before = name.substr(0, name.size() - time - 1);
  if (trailing_digits(before) != 8) return std::nullopt;
  const std::string_view date = before.substr(before.size() - 8);
  if (date.substr(0, 2) != "20" && date.substr(0, 2) != "19") return std::nullopt;
  std::string both(date);
  both.append(name.substr(name.size() - time)).append(time == 4 ? "00" : "");
  FileNameFacts facts;
  facts.sequence = number(both);
  facts.stem = before.substr(0, before.size() - 8);
  return facts;
}

std::optional<FileNameFacts> numbered_name(std::string_view name) {
  const std::size_t digits = trailing_digits(name);
  const std::string_view text = name.substr(name.size() - digits);
  if (digits == 0 || !number(text)) return std::nullopt;
  FileNameFacts facts;
  facts.sequence = number(text);
  facts.stem = name.substr(0, name.size() - digits);
  return facts;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// `step0.lineno`: the number stands before a word, which stays in the stem.
std::optional<FileNameFacts> number_before_word(std::string_view name) {
  std::string_view before = name;
  const std::string_view word = cut_last(before, '.');
  if (word.empty() || !is_letter(word.front())) return std::nullopt;
  std::optional<FileNameFacts> facts = numbered_name(before);
  if (facts) facts->stem.append(".").append(word);
  return facts;
}

struct Rank {
  std::int64_t number = 0;
  std::size_t end = 0;  ///< after its digits
};

std::optional<Rank> rank_in(std::string_view name) {
  constexpr std::string_view kWord = "rank";
  for (std::size_t at = 0; at + kWord.size() < name.size(); ++at) {
    if (at > 0 && is_letter(name[at - 1])) continue;
    const std::string_view word = name.substr(at, kWord.size());
    if (!std::equal(word.begin(), word.end(), kWord.begin(),
                    [](char a, char b) { return a == b || a + ('a' - 'A') == b; }))
      continue;
    std::size_t begin = at + kWord.size();
    if (name[begin] == '_' || name[begin] == '-') ++begin;
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    const std::optional<std::int64_t> value = number(name.substr(begin, end - begin));
    if (value) return Rank{*value, end};
  }
  return std::nullopt;
}

}  // namespace

FileNameFacts file_name_facts(std::string_view path) {
  bool is_heap = false;
  const std::string_view name = without_extensions(base_name(path), is_heap);
  std::optional<FileNameFacts> facts;
  if (is_heap) facts = jemalloc_name(name);
  if (!facts) facts = dated_name(name);
  const std::optional<Rank> rank = rank_in(name);
  if (!facts && !(rank && rank->end == name.size())) facts = numbered_name(name);
  if (!facts && !rank) facts = number_before_word(name);
  if (!facts) facts = FileNameFacts{std::nullopt, std::nullopt, std::string(name)};
  if (rank) facts->rank = rank->number;
  while (!facts->stem.empty() && is_separator(facts->stem.back())) facts->stem.pop_back();
  if (facts->stem.empty()) facts->stem = facts->sequence ? "snapshot" : name;
  if (is_heap && facts->sequence && !facts->pid) {
    std::string_view stem = facts->stem;
    const std::string_view pid = cut_last(stem, '_');
    if (all_digits(pid)) facts->pid = number(pid);
  }
  return *facts;
}

}  // namespace snapdiff::formats

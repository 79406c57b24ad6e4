#include <unordered_map>
#include <unordered_set>

#include "formats/text/report_log.hpp"
#include "formats/type_counts/python_types.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// "list         492       +30" of show_growth, "function   3156" of show_most_common_types.
struct Entry {
  std::string_view name;
  std::int64_t count = 0;
  std::int64_t increase = 0;
  bool grown = false;  ///< the increase is there
};

/// A qualified name of a type.
bool is_type_name(std::string_view name) {
  if (name.empty() || is_digit(name.front())) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= 'a' && byte <= 'z') || c == '_' || c == '.' || c == '<' || c == '>';
  });
}

std::optional<Entry> entry_of(std::string_view line) {
  if (line.empty() || is_blank(line.front())) return std::nullopt;
  Cursor at(line);
  Entry entry;
  entry.name = at.token();
  if (!is_type_name(entry.name) || !at.skip_blanks() || !at.count(entry.count)) return std::nullopt;
  at.skip_blanks();
  if (at.take('+')) {
    if (!at.count(entry.increase)) return std::nullopt;
    entry.grown = true;
    at.skip_blanks();
  }
  return at.at_end() ? std::optional(entry) : std::nullopt;
}

class ObjgraphLog final : public ReportLog {
  using ReportLog::ReportLog;

  struct Row {
    std::string name;
    std::int64_t count = 0, increase = 0;
  };
  struct List {
    std::vector<Row> rows;
    bool grown = false;
    std::optional<std::uint64_t> cut;  ///< where the last line begins, which has no end
  };

  void handle(std::string_view line) override {
    if (const auto entry = entry_of(line)) {
      add(*entry, line.size());
    } else {
      close();
    }
  }

  void finish() override {
    close();
    const bool grows = lists_.size() > 1 && std::ranges::all_of(lists_, &List::grown);
    std::unordered_map<std::string, std::size_t, KeyedHash> types;
    for (const List& list : lists_) {
      for (const Row& row : list.rows) types.try_emplace(row.name, types.size());
    }
    if (grows && lists_.size() * types.size() <= kMostRows) return take_growth(types);
    for (const List& list : lists_) {
      open();
      report_->facts().complete = false;  // the largest, or what passed its peak, only
      for (const Row& row : list.rows) add_row(row.name, row.count);
      take(list);
    }
  }

  /// show_growth lists what passed its peak. A type that a list leaves out did not, so it keeps its count; before its
  /// first line it had its count less the increase.
  void take_growth(const std::unordered_map<std::string, std::size_t, KeyedHash>& types) {
    std::vector<std::int64_t> counts(types.size(), -1);
    for (auto list = lists_.rbegin(); list != lists_.rend(); ++list) {
      for (const Row& row : list->rows) counts[types.at(row.name)] = row.count - row.increase;
    }
    for (const List& list : lists_) {
      for (const Row& row : list.rows) counts[types.at(row.name)] = row.count;
      open();
      for (const auto& [name, place] : types) add_row(name, std::max<std::int64_t>(counts[place], 0));
      report_->notes().add(Severity::info, "show_growth lists what grew: other types keep their last count");
      take(list);
    }
  }

  /// Lists without anything between them: each is sorted and has every name once.
  bool begins_new_list(const Entry& entry) const {
    if (entry.grown != last_.grown) return true;
    const bool rises = entry.grown ? entry.increase > last_.increase : entry.count > last_.count;
    return rises || names_.count(std::string(entry.name)) > 0;
  }

  void add(const Entry& entry, std::size_t width) {
    if (is_open_ && !lines_.terminated() && last_.grown && !entry.grown) return cut();
    if (is_open_ && begins_new_list(entry)) close();
    const bool first = !is_open_;
    if (first) {
      lists_.emplace_back();
      lists_.back().grown = true;
      names_.clear();
      is_open_ = true;
    }
    List& list = lists_.back();
    names_.emplace(entry.name);
    list.grown = list.grown && entry.grown;
    list.rows.push_back({std::string(entry.name), entry.count, entry.increase});
    // The columns of show_growth are as wide in every line.
    if (!lines_.terminated() && (first || !entry.grown || width != width_)) cut();
    last_ = entry;
    last_.name = {};
    width_ = width;
  }

  void cut() { lists_.back().cut = lines_.line_offset(); }
  void close() { is_open_ = false; }

  void open() {
    open_report("objgraph");
    report_->add_column({"inuse_objects", "count"});
  }

  void add_row(std::string_view name, std::int64_t count) { add_type_row(*report_, name, std::span(&count, 1)); }

  void take(const List& list) {
    if (list.cut) report_->facts().lose("the last line has no end: its number may be cut", *list.cut);
    give_report();
  }

  /// Of lists times types, in memory one list at a time: 4096 lists of 1000 types.
  static constexpr std::size_t kMostRows = std::size_t{4} << 20;

  std::vector<List> lists_;
  bool is_open_ = false;  // the last list
  Entry last_;            // without its name
  std::size_t width_ = 0;
  std::unordered_set<std::string, KeyedHash> names_;
};

/// There is no signature: certain where nothing else is in the head and a type of every Python process is
/// among the names, possible where show_growth's lines are between others.
Match sniff_objgraph(std::string_view head) {
  const std::string plain = plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  bool others = false;
  bool common = false;
  std::size_t entries = 0;
  std::size_t grown = 0;
  while (take_line(rest, line)) {
    const auto entry = entry_of(line);
    if (entry) {
      ++entries;
      if (entry->grown) ++grown;
      common = common || is_common_type(entry->name);
    } else if (!trim(line).empty() && (!rest.empty() || head.size() < kSniffBytes)) {
      others = true;
    }
  }
  if (entries > 0 && !others && common) return Match::certain;
  if (entries > 0 && !others && grown == entries) return Match::possible;
  return common && grown > 1 ? Match::possible : Match::no;
}

}  // namespace

constexpr Format kObjgraphText{
    .info = {"objgraph-text", "counts of Python objects: objgraph's show_growth, show_most_common_types",
             "*.txt, *.log", "the increase, which is against the peak so far"},
    .sniff = sniff_objgraph,
    .decode = read_log<ObjgraphLog, "no list: the input ends, expected lines of a type's name and a count">};

}  // namespace snapdiff::formats

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "formats/input/read_failure.hpp"
#include "formats/input/type_row.hpp"
#include "formats/text/report_log.hpp"
#include "formats/text/scan.hpp"
#include "formats/type_counts/type_count_importers.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::formats {
namespace {

using text::Cursor;
using text::is_digit;

constexpr FormatInfo kObjgraphInfo{"objgraph-text",
                                   "counts of Python objects: objgraph's show_growth, show_most_common_types",
                                   "*.txt, *.log", "the increase, which is against the peak so far"};

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
  if (line.empty() || text::is_blank(line.front())) return std::nullopt;
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

/// Types that lead the lists of nearly every Python process.
bool is_common_type(std::string_view name) {
  constexpr std::string_view kNames[] = {"function",
                                         "tuple",
                                         "dict",
                                         "list",
                                         "set",
                                         "type",
                                         "cell",
                                         "module",
                                         "method",
                                         "frozenset",
                                         "weakref",
                                         "ReferenceType",
                                         "wrapper_descriptor",
                                         "builtin_function_or_method",
                                         "method_descriptor",
                                         "getset_descriptor",
                                         "member_descriptor",
                                         "classmethod",
                                         "staticmethod",
                                         "property",
                                         "ABCMeta",
                                         "ModuleSpec",
                                         "SourceFileLoader",
                                         "generator",
                                         "frame"};
  const std::size_t dot = name.rfind('.');
  const std::string_view plain = dot == std::string_view::npos ? name : name.substr(dot + 1);
  return std::find(std::begin(kNames), std::end(kNames), plain) != std::end(kNames);
}

class ObjgraphLog final : public text::ReportLog {
 public:
  ObjgraphLog(Input& in, SnapshotSink& out)
      : ReportLog(in, out, "no list: the input ends, expected lines of a type's name and a count") {}

 private:
  void handle(std::string_view line) override {
    if (const auto entry = entry_of(line)) {
      add(*entry, line.size());
    } else {
      close();
    }
  }
  void finish() override { close(); }

  /// Lists without anything between them: each is sorted and has every name once.
  bool begins_new_list(const Entry& entry) const {
    if (entry.grown != last_.grown) return true;
    const bool rises = entry.grown ? entry.increase > last_.increase : entry.count > last_.count;
    return rises || names_.count(std::string(entry.name)) > 0;
  }

  void add(const Entry& entry, std::size_t width) {
    if (builder_ && !lines_.terminated() && last_.grown && !entry.grown) return cut();
    if (builder_ && begins_new_list(entry)) close();
    const bool first = !builder_;
    if (first) open();
    names_.emplace(entry.name);
    const TypeKey key = type_key(*builder_, entry.name);
    const std::int64_t values[] = {entry.count};
    builder_->add_row(key.stack, key.labels, values);
    // The columns of show_growth are as wide in every line.
    if (!lines_.terminated() && (first || !entry.grown || width != width_)) {
      cut();
    }
    last_ = entry;
    last_.name = {};
    width_ = width;
  }

  void cut() { builder_->facts().lose("the last line has no end: its number may be cut", lines_.line_offset()); }

  void open() {
    builder_ = std::make_unique<SnapshotBuilder>();
    builder_->add_column({"inuse_objects", "count"});
    builder_->facts().producer = "objgraph";
    builder_->facts().sampling = Sampling::exact;
    builder_->facts().complete = false;  // the largest, or what passed its peak, only
    names_.clear();
  }

  void close() {
    if (!builder_) return;
    out_.take(builder_->finish());
    builder_.reset();
  }

  std::unique_ptr<SnapshotBuilder> builder_;  // the open list
  Entry last_;                                // without its name
  std::size_t width_ = 0;
  std::unordered_set<std::string, KeyedHash> names_;
};

/// There is no signature: certain where nothing else is in the head and a type of every Python process is
/// among the names, possible where show_growth's lines are between others.
Match sniff_objgraph(std::string_view head) {
  const std::string plain = text::plain_head(head);
  std::string_view rest = plain;
  std::string_view line;
  bool others = false;
  bool common = false;
  std::size_t entries = 0;
  std::size_t grown = 0;
  while (text::take_line(rest, line)) {
    const auto entry = entry_of(line);
    if (entry) {
      ++entries;
      if (entry->grown) ++grown;
      common = common || is_common_type(entry->name);
    } else if (!text::trim(line).empty() && (!rest.empty() || head.size() < kSniffBytes)) {
      others = true;
    }
  }
  if (entries > 0 && !others && common) return Match::certain;
  if (entries > 0 && !others && grown == entries) return Match::possible;
  return common && grown > 1 ? Match::possible : Match::no;
}

}  // namespace

constexpr Format kObjgraphText{
    .info = kObjgraphInfo, .sniff = sniff_objgraph, .decode = text::read_log<ObjgraphLog>, .many = "distinct stacks"};

}  // namespace snapdiff::formats

#include "formats/input/all_formats.hpp"
#include "formats/text/log_lines.hpp"
#include "formats/tracker_lines/open_snapshot.hpp"

namespace snapdiff::formats {
namespace {

using namespace tracker_lines;

/// Longest line that is read; what is longer is passed over without being held.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

/// Finished snapshots of a run. All are held until its end: only there is their order certain, and the dictionary that
/// they share whole. A row takes some 24 bytes.
class RunSnapshots {
 public:
  explicit RunSnapshots(SnapshotSink& out) : out_(out) {}

  void add(Snapshot snapshot, std::optional<std::int64_t> seq, std::optional<std::int64_t> time) {
    all_have_seq_ = all_have_seq_ && seq;
    all_have_time_ = all_have_time_ && time;
    for (const Column& column : snapshot.samples.columns) add_type(column.type);
    held_.push_back({std::move(snapshot), seq, time});
  }

  bool empty() const { return held_.empty() && !given_; }

  /// Notes that no later snapshot took.
  void add_to_last(const Notes& notes, bool partial) {
    if (held_.empty()) return;
    SnapshotFacts& facts = held_.back().snapshot.facts;
    facts.notes.add_all(notes);
    facts.partial = facts.partial || partial;
  }

  void end_run(const std::shared_ptr<const Dictionary>& dictionary) {
    if (all_have_seq_) {
      sort_by([](const Held& held) { return *held.seq; }, "seq");
    } else if (all_have_time_) {
      sort_by([](const Held& held) { return *held.time; }, "time");
    }
    for (Held& held : held_) {
      // A complete snapshot without a row says that everything is zero, which only columns can say.
      if (held.snapshot.samples.columns.empty()) {
        for (const SampleType& type : types_) held.snapshot.samples.columns.push_back({type, {}, {}, 0});
      }
      held.snapshot.dictionary = dictionary;
      given_ = true;
      value_or_throw(out_.take(std::move(held.snapshot)));
    }
    held_.clear();
    types_.clear();
    all_have_seq_ = all_have_time_ = true;
  }

 private:
  struct Held {
    Snapshot snapshot;
    std::optional<std::int64_t> seq;
    std::optional<std::int64_t> time;
  };

  template <class KeyOf>
  void sort_by(KeyOf key_of, const char* name) {
    const auto less = [&](const Held& a, const Held& b) { return key_of(a) < key_of(b); };
    if (std::is_sorted(held_.begin(), held_.end(), less)) return;
    std::stable_sort(held_.begin(), held_.end(), less);
    held_.front().snapshot.facts.notes.add(Severity::info,
                                           std::string("snapshots of the file are put in the order of their ") + name +
                                               ", which is not the order of their lines");
  }

  void add_type(const SampleType& type) {
    if (std::find(types_.begin(), types_.end(), type) == types_.end()) types_.push_back(type);
  }

  SnapshotSink& out_;
  std::vector<Held> held_;
  std::vector<SampleType> types_;
  bool all_have_seq_ = true;
  bool all_have_time_ = true;
  bool given_ = false;
};

/// Reads a tracker dump into its snapshots, in the order of their `seq`, else their `time`, else their
/// lines. `tell` may be empty: then lines that break a rule are dropped and noted, at most
/// kMostBadLines of them. Else each is reported, and false stops the reading with an error.
/// Errors: malformed, unsupported (a later version), limit; what the input and the sink return.
class Reader {
 public:
  Reader(Input& in, SnapshotSink& out, const ViolationSink& tell)
      : lines_(in, kMaxLineBytes, text::LongLine::give_empty), journal_(tell), snapshots_(out) {}

  void run() {
    std::string_view line;
    while (lines_.next(line)) {
      journal_.at(++line_number_, lines_.line_offset());
      last_line_is_cut_ = false;
      is_json_ = false;
      try {
        read_line(line);
      } catch (LineError& error) {
        drop(error);
      }
    }
    if (!header_) fail(ErrorCode::malformed, "no header line: expected one on the first line");
    close_unended(last_line_is_cut_ ? "the input ends inside a line of it" : "the input ends before its end line");
    end_run();
    if (snapshots_.empty()) {
      fail(ErrorCode::malformed, "no snapshot in the input, expected at least one" +
                                     (journal_.first_loss().empty() ? std::string() : "; " + journal_.first_loss()));
    }
  }

 private:
  void read_line(std::string_view text) {
    if (lines_.too_long()) fail_line(Rule::line, "line longer than 16 MiB");
    if (text::has_prefix(text, text::kByteOrderMark)) text.remove_prefix(text::kByteOrderMark.size());
    const std::size_t begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || text[begin] == '#') return;
    json_.parse(text, lines_.bytes_at_hand() + (lines_.terminated() ? 1 : 0));
    is_json_ = true;
    if (json_.values()[0].kind != JsonKind::object)
      fail_line(Rule::line, "line is no object", "found " + shown(json_.values()[0]) + ", expected { ... }");
    if (json_.repaired())
      journal_.remark(Severity::warning, Rule::line, "texts with bytes that are no UTF-8: the bytes are kept");

    std::uint64_t repeated = 0;
    fields_.take(json_, unknown_, repeated);
    fields_.require("k"_key);
    fields_.set_kind(kind_of(fields_.text("k"_key)));
    if (!header_ && fields_.kind() != Kind::header)
      fail_line(Rule::header, "first line is no header", "found k " + shown(fields_.at("k"_key)));
    if (fields_.kind() == Kind::unknown)
      return journal_.remark(Severity::warning, Rule::header, "lines of an unknown k ignored");
    if (repeated != 0)
      journal_.remark(Severity::warning, Rule::duplicate_key, "a key occurs twice in one object: the last is taken");
    take_line();
    if (!unknown_.empty() || (fields_.present() & ~keys_of(fields_.kind())) != 0) remark_keys();
  }

  void take_line() {
    switch (fields_.kind()) {
      case Kind::header: header(); return;
      case Kind::frame: tables_.define_frame(fields_); return;
      case Kind::stack: tables_.define_stack(fields_); return;
      case Kind::snapshot: snapshot(); return;
      case Kind::end: end(); return;
      default: break;
    }
    if (skipping_) {
      ++skipped_;
      return;
    }
    if (!open_) fail_line(Rule::place, std::string(to_text(fields_.kind())) + " outside a snapshot");
    open_->take(fields_);
  }

  /// Rows of unknown keys that begin with x_: attributes.
  std::vector<std::uint32_t> attributes() const {
    std::vector<std::uint32_t> rows;
    for (const std::uint32_t row : unknown_) {
      if (json_.values()[row].key.substr(0, 2) == "x_") rows.push_back(row);
    }
    return rows;
  }

  void remark_keys() {
    const Kind kind = fields_.kind();
    const bool kept = kind == Kind::header || kind == Kind::snapshot;
    for (const std::uint32_t row : unknown_) {
      const std::string_view key = json_.values()[row].key;
      if (key.substr(0, 2) != "x_") {
        journal_.unknown_key(to_text(kind), key);
      } else if (!kept) {
        journal_.remark(Severity::info, Rule::key, "x_ keys of " + std::string(to_text(kind)) + " lines are not kept");
      }
    }
    const std::uint64_t odd = fields_.present() & ~keys_of(kind);
    for (std::size_t key = 0; key < kKeyCount; ++key) {
      if ((odd & bit(static_cast<Key>(key))) != 0) journal_.unknown_key(to_text(kind), to_text(static_cast<Key>(key)));
    }
  }

  void header() {
    const bool first = !header_;
    if (!first) {
      close_unended("a header comes before its end line");
      end_run();
      ids_.clear();
      header_ = std::make_unique<RunHeader>();
    }
    auto parsed = std::make_unique<RunHeader>(parse_header(fields_));
    const bool whole = append_attributes(fields_, attributes(), parsed->comments);
    if (!whole || parsed->cut) journal_.remark(Severity::info, Rule::key, std::string(kAttributesCut));
    tables_.set_root_first(parsed->root_first);
    header_ = std::move(parsed);
  }

  void snapshot() {
    close_unended("a snapshot begins before its end line");
    // Until it turns out to be right, the rows that follow are nobody's.
    skipping_ = true;
    skipped_ = 0;
    auto made = std::make_unique<OpenSnapshot>(fields_, attributes(), *header_, tables_, journal_);
    if (!ids_.insert(made->id()).second)
      fail_line(Rule::order, "snapshot id is there already in this run", "found " + shown(fields_.at("id"_key)));
    open_ = std::move(made);
    skipping_ = false;
  }

  void end() {
    if (skipping_) return stop_skipping();
    if (!open_) fail_line(Rule::end, "end outside a snapshot");
    const std::string_view id = fields_.required_text("id"_key);
    const std::int64_t rows = fields_.required_integer("rows"_key, 0);
    const std::uint64_t found = open_->rows();
    if (id != open_->id()) {
      drop_snapshot("snapshot dropped: its end names another, rows of two may be mixed",
                    "found " + shown(fields_.at("id"_key)) + ", expected \"" + open_->id() + "\"");
    } else if (static_cast<std::uint64_t>(rows) < found ||
               static_cast<std::uint64_t>(rows) > found + open_->dropped()) {
      drop_snapshot("snapshot dropped: row count differs from the end record",
                    "found " + std::to_string(found) + ", expected " + std::to_string(rows));
    } else {
      finish_snapshot();
    }
  }

  void drop_snapshot(const std::string& text, const std::string& detail) {
    open_.reset();
    journal_.loss(Rule::end, text, detail);
  }

  void finish_snapshot() {
    const auto seq = open_->seq();
    const auto time = open_->time_ns();
    Snapshot made = open_->finish();
    open_.reset();
    snapshots_.add(std::move(made), seq, time);
  }

  void close_unended(const char* why) {
    stop_skipping();
    if (!open_) return;
    open_->set_partial();
    journal_.loss(Rule::end, "snapshot without an end line is partial", why, 0);
    finish_snapshot();
  }

  void stop_skipping() {
    if (skipping_ && skipped_ > 0)
      journal_.remark(Severity::data_loss, Rule::line, "rows of a snapshot whose first line was dropped are left out",
                      skipped_);
    skipping_ = false;
  }

  void end_run() {
    const bool partial = journal_.has_bad_line();
    if (!snapshots_.empty()) snapshots_.add_to_last(journal_.take_notes(), partial);
    snapshots_.end_run(tables_.finish());
  }

  void drop(const LineError& error) {
    if (!header_)
      fail(ErrorCode::malformed,
           "not a tracker dump: line " + std::to_string(line_number_) + ": " + error.text +
               (error.detail.empty() ? "" : ": " + error.detail) + ", expected a header",
           lines_.line_offset());
    if (!lines_.terminated() && !is_json_) {
      last_line_is_cut_ = true;
      journal_.loss(Rule::end, "the last line is not whole and is dropped", error.text);
      return;
    }
    if (open_) open_->count_dropped();
    journal_.bad_line(error);
  }

  text::LineReader lines_;
  std::uint64_t line_number_ = 0;
  Journal journal_;
  JsonLine json_;
  Fields fields_;
  std::vector<std::uint32_t> unknown_;
  std::unique_ptr<RunHeader> header_;
  RunTables tables_;
  std::unique_ptr<OpenSnapshot> open_;
  RunSnapshots snapshots_;
  std::unordered_set<std::string, KeyedHash> ids_;
  std::uint64_t skipped_ = 0;
  bool skipping_ = false;
  bool last_line_is_cut_ = false;
  bool is_json_ = false;
};

constexpr std::string_view kFormatName = "\"snapdiff-tracker\"";

/// The first line that says something, as far as `head` holds it.
std::string_view first_line(std::string_view head) {
  if (text::has_prefix(head, text::kByteOrderMark)) head.remove_prefix(text::kByteOrderMark.size());
  for (;;) {
    const std::size_t begin = head.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    head.remove_prefix(begin);
    const std::size_t end = head.find('\n');
    if (head.front() != '#') return head.substr(0, end);
    if (end == std::string_view::npos) return {};
    head.remove_prefix(end);
  }
}

/// Whether `line` has the member "KEY": VALUE, white space allowed; VALUE as it is written.
bool has_member(std::string_view line, std::string_view key, std::string_view value) {
  for (std::size_t at = line.find(key); at != std::string_view::npos; at = line.find(key, at + 1)) {
    std::size_t next = line.find_first_not_of(" \t", at + key.size());
    if (next == std::string_view::npos || line[next] != ':') continue;
    next = line.find_first_not_of(" \t", next + 1);
    if (next != std::string_view::npos && line.substr(next, value.size()) == value) return true;
  }
  return false;
}

/// Certain when the first line that is neither empty nor a comment names the format.
Match sniff(std::string_view head) {
  const std::string_view line = first_line(head);
  if (line.empty() || line.front() != '{') return Match::no;
  return certain_if(has_member(line, "\"format\"", kFormatName));
}

/// Why a near relative is refused: a header that names no format, the same in UTF-16.
std::string refusal(std::string_view head) {
  const std::string_view mark = head.substr(0, 2);
  if (mark == "\xff\xfe" || mark == "\xfe\xff") {
    std::string narrow;
    for (const char c : head.substr(2, 4096)) {
      if (c != '\0') narrow += c;
    }
    if (sniff(narrow) == Match::certain)
      return "a snapdiff-tracker dump in UTF-16: expected UTF-8 (PowerShell: `| Out-File -Encoding utf8`)";
    return {};
  }
  const std::string_view line = first_line(head);
  if (sniff(head) == Match::no && !line.empty() && line.front() == '{' && has_member(line, "\"k\"", "\"header\""))
    return "a header line without \"format\":\"snapdiff-tracker\": expected it on the first line of a tracker dump";
  return {};
}

}  // namespace

constexpr Format kTrackerLines{
    .info = {"snapdiff-tracker",
             "JSON Lines of any tracker: rows, counters, objects; formats/tracker_lines says how to write it",
             "*.sdt.jsonl", "x_ keys and attrs of rows, frames, stacks, counters and objects; unknown keys"},
    .sniff = sniff,
    .decode = [](Input& in, SnapshotSink& out,
                 const ReadRequest& request) { Reader(in, out, request.violations).run(); },
    .refusal = refusal};

}  // namespace snapdiff::formats

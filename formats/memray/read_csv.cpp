#include "formats/input/type_row.hpp"
#include "formats/memray/readers.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/line_reader.hpp"
#include "formats/text/printed_frame.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats::memray {
namespace {

using text::in_quotes;
using text::PrintedFrame;

constexpr std::size_t kColumns = 6;
constexpr std::size_t kMaxRecordBytes = text::kMaxLineBytes;
/// Names with line ends or bars in them are rare, and have few; the limits keep reading linear.
constexpr int kMostLines = 100;
constexpr int kMostBars = 16;

enum class Fields : std::uint8_t { whole, open, broken };

/// Splits a record of RFC 4180. `open`: a quoted field goes on in the next line. `broken`: text after a
/// closing quote.
Fields split(std::string_view record, std::vector<std::string>& fields) {
  fields.clear();
  fields.emplace_back();
  for (std::size_t at = 0; at < record.size();) {
    if (record[at] == ',') {
      fields.emplace_back();
      ++at;
    } else if (record[at] == '"' && fields.back().empty()) {
      for (++at;; ++at) {
        if (at == record.size()) return Fields::open;
        if (record[at] != '"') {
          fields.back() += record[at];
        } else if (at + 1 < record.size() && record[at + 1] == '"') {
          fields.back() += record[at++];
        } else {
          break;
        }
      }
      if (++at < record.size() && record[at] != ',') return Fields::broken;
    } else {
      const std::size_t comma = std::min(record.find(',', at), record.size());
      fields.back().append(record.substr(at, comma - at));
      at = comma;
    }
  }
  return Fields::whole;
}

/// "func;file;line", split from the right: names may hold semicolons.
bool split_frame(std::string_view text, PrintedFrame& out) {
  const std::size_t second = text.rfind(';');
  if (second == std::string_view::npos || second == 0) return false;
  const std::size_t first = text.rfind(';', second - 1);
  const std::optional<std::int64_t> line = text::whole_number(text.substr(second + 1));
  if (first == std::string_view::npos || !line) return false;
  out.line = *line;
  out.function = text.substr(0, first);
  out.file = text.substr(first + 1, second - first - 1);
  return true;
}

class CsvReader {
 public:
  explicit CsvReader(Input& in) : lines_(in) {
    builder_.add_heap_columns();
    exact_facts(builder_, "memray", "CSV");
    builder_.notes().add(Severity::info, kMomentNotTold);
  }

  Result<Snapshot> read() {
    std::string_view line;
    bool found = lines_.next(line);
    if (found && text::has_prefix(line, "\xef\xbb\xbf")) line.remove_prefix(3);
    if (!found || line != kCsvHeader)
      fail(ErrorCode::malformed, instead("header not recognised", in_quotes(line), std::string(kCsvHeader)),
           lines_.line_offset());
    if (!lines_.terminated()) cut();
    while (next_record()) {
      if (!add_row()) break;
    }
    return builder_.finish();
  }

 private:
  /// The fields of the next record; quoted ones may hold line ends. False at the end of the input.
  bool next_record() {
    std::string_view line;
    do {
      if (!lines_.next(line)) return false;
    } while (line.empty());
    offset_ = lines_.line_offset();
    Fields found = split(line, fields_);
    if (found == Fields::open) {
      std::string record(line);
      for (int lines = 1; found == Fields::open; ++lines) {
        if (lines == kMostLines)
          fail(ErrorCode::malformed, "record not readable: a quoted field over more than 100 lines", offset_);
        if (!lines_.next(line)) {
          cut();
          return false;
        }
        if (record.size() + line.size() > kMaxRecordBytes)
          fail(ErrorCode::limit, "record too long: expected at most 67108864 bytes", offset_);
        record.append(1, '\n').append(line);
        // A quote may only close in this line, so that splitting again is not tried for each line.
        if (line.find('"') != std::string_view::npos) found = split(record, fields_);
      }
    }
    if (found == Fields::broken)
      fail(ErrorCode::malformed, "record not readable: text after a closing quote, expected a comma", offset_);
    return true;
  }

  void cut() { builder_.facts().lose("the input ends inside a record, which was left out", offset_); }

  /// False where the input ends inside the row.
  bool add_row() {
    if (!lines_.terminated()) {
      cut();
      return false;
    }
    if (fields_.size() != kColumns)
      fail(ErrorCode::malformed, "record not readable: found " + std::to_string(fields_.size()) + " fields, expected 6",
           offset_);
    const std::optional<std::int64_t> count = text::whole_number(fields_[1]), bytes = text::whole_number(fields_[2]);
    if (!count || !bytes)
      fail(ErrorCode::malformed,
           "numbers not readable: found " + in_quotes(fields_[1]) + " and " + in_quotes(fields_[2]) +
               ", expected num_allocations and size below 2^63",
           offset_);
    std::vector<Label> labels{text_label(builder_, "allocator", fields_[0])};
    // Ids of threads differ from run to run, names need not.
    const std::string& thread = fields_[4].empty() ? fields_[3] : fields_[4];
    if (!thread.empty()) labels.push_back(text_label(builder_, "thread", thread));
    read_stack(fields_[5]);
    builder_.add_row(builder_.stack(frames_), builder_.labels(std::move(labels)), std::array{*count, *bytes});
    return true;
  }

  /// "func;file;line|func;file;line", leaf first. A bar inside a name splits a frame in two: pieces are put
  /// together until they end in a line number.
  void read_stack(std::string_view stack) {
    frames_.clear();
    std::size_t begin = 0;
    int bars = 0;
    for (std::size_t end = 0; end < stack.size(); ++end) {
      end = std::min(stack.find('|', end), stack.size());
      const std::string_view text = stack.substr(begin, end - begin);
      PrintedFrame frame;
      if (!split_frame(text, frame)) {
        if (++bars < kMostBars && end < stack.size()) continue;
        builder_.notes().add(Severity::warning, "frames without file and line, kept as they are", offset_);
        frame = {};
        frame.function = text;
      }
      if (!frame.function.empty()) frames_.push_back(text::frame_of(builder_, frame));
      begin = end + 1;
      bars = 0;
    }
  }

  text::LineReader lines_;
  SnapshotBuilder builder_;
  std::vector<std::string> fields_;
  std::vector<FrameId> frames_;
  std::uint64_t offset_ = 0;
};

}  // namespace

Result<Snapshot> read_csv(Input& in) { return CsvReader(in).read(); }

}  // namespace snapdiff::formats::memray

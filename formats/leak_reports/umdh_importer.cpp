#include "formats/text/printed_frame.hpp"
#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

/// A number as UMDH prints it: hexadecimal, with -d decimal, which nothing in the text says.
struct Printed {
  std::int64_t hex = 0, decimal = -1;  ///< decimal is below 0 where there are other digits

  std::int64_t in(bool is_hex) const { return is_hex ? hex : decimal; }
};

bool take_field(text::Cursor& at, Printed& out) {
  text::Cursor again = at;
  const std::size_t before = at.left();
  std::uint64_t value = 0;
  if (at.hex(value) != text::Number::ok || value >> 62 != 0) return false;
  out.hex = static_cast<std::int64_t>(value);
  std::int64_t decimal = 0;
  out.decimal = again.count(decimal) && again.left() == at.left() && before > at.left() ? decimal : -1;
  return true;
}

/// +    5320 (    f110 -    9df0)     3a allocs  BackTrace00B53       of a difference: bytes now and before
struct Entry {
  Printed growth, now, before, blocks;
  bool shrank = false;

  bool agrees(bool is_hex) const {
    if (!is_hex && (growth.decimal < 0 || now.decimal < 0 || before.decimal < 0)) return false;
    const std::int64_t found = now.in(is_hex)-before.in(is_hex);
    return found == (shrank ? -growth.in(is_hex) : growth.in(is_hex));
  }
};

std::optional<Entry> entry_of(std::string_view line) {
  text::Cursor at(line);
  Entry out;
  out.shrank = at.peek() == '-';
  if (!at.take('+') && !at.take('-')) return std::nullopt;
  return text::given(at.takes("~%~(~%~-~%~)~%~allocs", out.growth, out.now, out.before, out.blocks), out);
}

/// +      10 (      3a -      2a)  BackTrace00B53  allocations          the blocks of the entry above
bool blocks_of(std::string_view line, Printed& now, Printed& before) {
  text::Cursor at(line);
  if (!at.take('+') && !at.take('-')) return false;
  Printed growth;
  return at.takes("~%~(~%~-~%~)", growth, now, before) && at.rest().find("allocations") != at.rest().npos;
}

/// 00005320 bytes in 0x14 allocations (@ 0x00000428) by: BackTrace00053    of one log
bool is_log_entry(std::string_view line, Entry& out) {
  text::Cursor at(line);
  const bool fits = at.takes("0x% bytes in 0x% allocations (@ ", out.now, out.blocks) ||
                    at.takes("% bytes in 0x% allocations (@ ", out.now, out.blocks);
  return fits && at.rest().find("BackTrace") != at.rest().npos;
}

bool begins_report(std::string_view line) {
  Entry entry;
  return entry_of(line).has_value() || is_log_entry(line, entry);
}

/// A difference is two moments, a log one.
class Umdh final : public text::ReportLog {
  using ReportLog::ReportLog;

  struct Block {
    Entry entry;
    Printed blocks_before;
    std::vector<FrameId> frames;
  };

  void handle(std::string_view line) override {
    line = text::trim(line);
    Entry found;
    if (const auto entry = entry_of(line)) {
      add({*entry, {}, {}}, true);
    } else if (is_log_entry(line, found)) {
      add({found, {}, {}}, false);
    } else if (Printed now, before; !blocks_.empty() && blocks_of(line, now, before)) {
      blocks_.back().entry.blocks = now;
      blocks_.back().blocks_before = before;
    } else if (line.empty() || line.starts_with("//") || line.starts_with("*-") || line.starts_with("Total ")) {
      takes_frames_ = takes_frames_ && (line.empty() && blocks_.back().frames.empty());
    } else if (takes_frames_) {
      add_frame(line);
    }
  }

  void add(Block block, bool is_diff) {
    if (!blocks_.empty() && is_diff != is_diff_)
      fail_malformed("a log and a difference of UMDH in one text: expected one of them", lines_.line_offset());
    if (!lines_.terminated()) cut_ = lines_.line_offset();
    is_diff_ = is_diff;
    takes_frames_ = true;
    blocks_.push_back(std::move(block));
  }

  /// "MyApp!main+00000043", "MyApp!main+43 (c:\src\main.c, 12)", "77F8A12C"
  void add_frame(std::string_view line) {
    text::PrintedFrame out;
    if (line.ends_with(')')) {
      const std::size_t open = line.rfind(" ("), comma = line.rfind(',');
      if (open != line.npos && comma != line.npos && open < comma) {
        const auto number = text::whole_number(text::trim(line.substr(comma + 1, line.size() - comma - 2)));
        out.line = number.value_or(0);
        out.file = line.substr(open + 2, comma - open - 2);
        line = text::trim(line.substr(0, open));
      }
    }
    if (const std::size_t mark = line.find('!'); mark != line.npos) {
      out.module = line.substr(0, mark);
      line.remove_prefix(mark + 1);
    }
    const std::size_t plus = line.rfind('+');
    out.function = line.substr(0, plus);
    std::uint64_t address = 0;
    if (text::Cursor at(line); out.module.empty() && at.hex(address) == text::Number::ok && at.at_end()) {
      out.function = {};
      out.offset = address;
    }
    blocks_.back().frames.push_back(text::frame_of(names_, out));
  }

  void finish() override {
    if (blocks_.empty()) return;
    bool is_hex = true;
    for (const Block& block : blocks_) is_hex = is_hex && (!is_diff_ || block.entry.agrees(true));
    for (const Block& block : blocks_) {
      if (is_diff_ && !block.entry.agrees(is_hex))
        fail_malformed("bytes of an entry: found a growth that is not the difference of the two beside it",
                       lines_.offset());
    }
    if (is_diff_) give(is_hex, false);
    give(is_hex, true);
    if (cut_) out_.last().lose("the last line has no end", *cut_);
  }

  void give(bool is_hex, bool now) {
    SnapshotBuilder builder;
    builder.add_heap_columns();
    exact_facts(builder, "umdh", is_diff_ ? "difference" : "log");
    builder.facts().complete = !is_diff_;  // a difference leaves out what is alike
    std::vector<FrameId> frames;
    const Dictionary& names = names_.dictionary();
    for (const Block& block : blocks_) {
      frames.clear();
      for (const FrameId id : block.frames) frames.push_back(copy(builder, names, id));
      const Printed& bytes = now ? block.entry.now : block.entry.before;
      const Printed& count = now ? block.entry.blocks : block.blocks_before;
      const std::array<std::int64_t, 2> values{is_diff_ ? count.in(is_hex) : count.hex, bytes.in(is_hex)};
      builder.add_row(frames.empty() ? builder.pseudo_stack("[no stack recorded]") : builder.stack(frames), {}, values);
    }
    take_report(builder.finish());
  }

  static FrameId copy(SnapshotBuilder& builder, const Dictionary& from, FrameId id) {
    const FrameSpec frame = from.frames[id];
    text::PrintedFrame out;
    const std::size_t function = index_of(frame.function);
    out.function = from.strings[from.functions.name[function]];
    out.file = from.strings[from.functions.file[function]];
    out.module = from.strings[from.modules.name[index_of(frame.module)]];
    out.offset = frame.offset;
    out.line = frame.line;
    return text::frame_of(builder, out);
  }

  SnapshotBuilder names_;
  std::vector<Block> blocks_;
  bool is_diff_ = false, takes_frames_ = false;
  std::optional<std::uint64_t> cut_;
};

}  // namespace

constexpr Format kUmdh =
    text::log_format<Umdh, begins_report,
                     "no entry: the input ends, expected lines such as \"+ 5320 (f110 - 9df0) 3a allocs\"">(
        {"umdh", "UMDH of Windows: a log, or the difference of two, which is two moments", "*.txt, *.log",
         "addresses of blocks, overhead, heaps"});

}  // namespace snapdiff::formats

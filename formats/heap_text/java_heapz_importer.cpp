#include "formats/heap_text/dump.hpp"
#include "formats/input/all_formats.hpp"
#include "formats/text/in_quotes.hpp"

/// Java-style text (google/pprof, profile/legacy_java_profile.go): bytes come before the count, ids
/// stand for frames, and a table of what they mean follows the samples.
namespace snapdiff::formats {
namespace {

using namespace heap_text;

constexpr std::string_view kSignature = "--- heapz 1 ---";
constexpr std::int64_t kPeriod = 512 * 1024;  // fixed; the file does not state it

class JavaReader {
 public:
  JavaReader(LineReader& lines) : dump_(lines) { dump_.sampler = {Rule::v2, kPeriod}; }

  Snapshot read() {
    read_header();
    std::string_view line;
    while (dump_.lines.next(line)) {
      Cursor at(line);
      at.skip_blanks();
      if (at.at_end()) continue;
      if (has_prefix(at.rest(), "0x")) {
        read_location(line, at);
      } else {
        read_sample(line, at);
      }
    }
    return finish_java();
  }

 private:
  /// "key = value" lines: format must be java, resolution names the unit of the bytes.
  void read_header() {
    skip_preamble(dump_.lines, dump_.builder.notes());
    std::string_view line;
    if (!dump_.lines.next(line) || !has_prefix(line, kSignature))
      fail_found("header not recognised", line, "--- heapz 1 ---", dump_.lines.line_offset());
    while (dump_.lines.next(line)) {
      const std::size_t equals = line.find('=');
      const std::string_view key = trim(line.substr(0, equals));
      if (equals == std::string_view::npos || key.find_first_of(" \t@") != std::string_view::npos) {
        dump_.lines.unread();
        break;
      }
      const std::string_view value = trim(line.substr(equals + 1));
      if (!dump_.lines.terminated() || !((key == "format" && value == "java") || key == "resolution"))
        fail_found("setting not known", line, "format = java or resolution = bytes", dump_.lines.line_offset());
      if (key == "resolution" && value != "bytes")
        fail(ErrorCode::unsupported, "unit not known: found resolution = " + in_quotes(value) + ", expected bytes",
             dump_.lines.line_offset());
    }
  }

  void read_sample(std::string_view line, Cursor at) {
    if (leave_out_cut_line(dump_)) return;
    Values values;
    const Number bytes = is_digit(at.peek()) ? at.decimal(values.inuse_space) : Number::none;
    at.skip_blanks();
    const Number count = is_digit(at.peek()) ? at.decimal(values.inuse_objects) : Number::none;
    at.skip_blanks();
    if (bytes == Number::none || count == Number::none || !at.take('@'))
      fail_found("row not recognised", line, "bytes count @ ids, or 0x, an id and a location",
                 dump_.lines.line_offset());
    if (bytes == Number::too_big || count == Number::too_big)
      fail_found("number beyond 2^63-1", line, "it to fit in 64 bits", dump_.lines.line_offset());
    if (values.inuse_objects == 0)
      fail(ErrorCode::malformed,
           "row contradicts itself: found 0 objects in " + in_quotes(line) + ", expected a count that is not zero",
           dump_.lines.line_offset());
    read_addresses(dump_, at, line);
    add_row(dump_, values);
  }

  /// "0x<id> Class.method (File.java:123)", "0x<id> name (/path/lib.so)" or "0x<id> text".
  void read_location(std::string_view line, Cursor at) {
    at.take("0x");
    std::uint64_t id = 0;
    if (!dump_.lines.terminated()) {  // of its name a part may be missing
      dump_.builder.notes().add(Severity::warning, "the last line has no end and may be cut: it was left out",
                                dump_.lines.line_offset());
      return;
    }
    if (at.hex(id) != Number::ok || !at.skip_blanks())
      fail_found("location not readable", line, "0x, an id and a text", dump_.lines.line_offset());
    const std::uint32_t address = dump_.addresses.find(id);
    if (address == NumberRows::kAbsent) return;  // of no row
    if (locations_.size() < dump_.addresses.size()) locations_.resize(dump_.addresses.size());
    locations_[address] = location(trim(at.rest()));
  }

  SymbolTable::Line location(std::string_view text) {
    std::string_view name = text;
    std::string_view file;
    std::int64_t number = 0;
    const std::size_t open = text.empty() || text.back() != ')' ? std::string_view::npos : text.rfind('(');
    if (open != std::string_view::npos && open > 0 && is_blank(text[open - 1])) {
      name = trim(text.substr(0, open));
      file = text.substr(open + 1, text.size() - open - 2);
      if (!take_line_number(file, number)) file = base_name(file);
    } else if (text.find("generated stub/JIT") != std::string_view::npos) {
      name = "STUB";
    }
    return {dump_.builder.function(name, file), static_cast<std::int32_t>(number)};
  }

  /// Cuts ":123" off; a number below 1 (native methods have -2) is none, but is cut, too.
  static bool take_line_number(std::string_view& file, std::int64_t& number) {
    const std::size_t colon = file.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return false;
    Cursor digits(file.substr(colon + 1));
    std::int64_t value = 0;
    if (digits.decimal(value) == Number::none || !digits.at_end()) return false;
    file = file.substr(0, colon);
    if (value > 0 && value <= std::numeric_limits<std::int32_t>::max()) number = value;
    return true;
  }

  Snapshot finish_java() {
    SnapshotBuilder& builder = dump_.builder;
    SnapshotFacts& facts = builder.facts();
    facts.producer = "java";
    facts.sampling = Sampling::poisson;
    facts.period = kPeriod;
    facts.format_detail = "heapz";
    builder.add_heap_columns();
    locations_.resize(dump_.addresses.size());

    std::vector<FrameId> frame_of;
    std::uint64_t unnamed = 0;
    for (std::size_t i = 0; i < locations_.size(); ++i) {
      FrameSpec spec;  // ids are no addresses: named frames have no offset
      spec.function = locations_[i].function;
      spec.line = locations_[i].line;
      if (spec.function == FunctionId{}) {
        spec.offset = dump_.addresses.numbers()[i];
        ++unnamed;
      }
      frame_of.push_back(builder.frame(spec));
    }
    if (unnamed > 0 && unnamed == locations_.size()) {
      facts.lose("no location lines: the input ends before them", dump_.lines.offset());
    } else if (unnamed > 0) {
      builder.notes().add(Severity::warning, "frames without a location line", std::nullopt, unnamed);
    }
    std::vector<FrameId> frames;
    for (std::size_t i = 0; i < dump_.stacks.size(); ++i) {
      frames.clear();
      for (const std::uint32_t address : dump_.stacks.frames(i)) frames.push_back(frame_of[address]);
      const Values& v = dump_.stacks.values(i);
      builder.add_row(builder.stack(frames), LabelSetId{}, std::array{v.inuse_objects, v.inuse_space});
    }
    if (dump_.stacks.size() == 0)
      fail(ErrorCode::malformed, "no rows: the input ends, expected bytes count @ ids", dump_.lines.offset());
    return value_or_throw(builder.finish());
  }

  DumpReader dump_;
  std::vector<SymbolTable::Line> locations_;  // by row of dump_.addresses
};

Match sniff_java(std::string_view head) { return certain_if(identify(head).dump == Dump::java_heapz); }

void decode_java(Input& in, SnapshotSink& out, const ReadRequest& /*request*/) {
  LineReader lines(in);
  give(out, JavaReader(lines).read());
}

}  // namespace

constexpr Format kJavaHeapz{
    .info = {"java-heapz", "Java heapz profile, text", "*.heap", ""}, .sniff = sniff_java, .decode = decode_java};

}  // namespace snapdiff::formats

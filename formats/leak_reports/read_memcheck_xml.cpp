#include <expat.h>

#include <exception>

#include "formats/leak_reports/memcheck_lines.hpp"
#include "formats/text/held_sink.hpp"
#include "formats/text/in_quotes.hpp"
#include "formats/text/scan.hpp"

/// valgrind's XML, protocol version 4 (docs/internals/xml-output-protocol4.txt).
namespace snapdiff::formats::leak_reports {
namespace {

using text::in_quotes;

constexpr std::size_t kMostDepth = 64;
constexpr std::size_t kMostText = std::size_t{1} << 20;
constexpr std::size_t kChunk = std::size_t{64} << 10;

/// An element whose text or place matters: a row of kElements; all others are read over.
enum class Element : std::uint8_t {};
constexpr std::string_view kElements[] = {
    "valgrindoutput", "protocolversion", "protocoltool", "pid",  "vargv", "argv", "exe",         "arg",
    "line",           "preamble",        "error",        "kind", "xwhat", "text", "leakedbytes", "leakedblocks",
    "stack",          "frame",           "ip",           "obj",  "fn",    "dir",  "file"};
constexpr Element kOtherElement{std::size(kElements)};

constexpr Element element_of(std::string_view name) {
  return Element{
      static_cast<std::uint8_t>(std::find(std::begin(kElements), std::end(kElements), name) - std::begin(kElements))};
}

consteval Element operator""_element(const char* name, std::size_t size) {
  const Element element = element_of({name, size});
  return element == kOtherElement ? throw "no such element" : element;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// "Leak_DefinitelyLost" -> "definitely lost", "" for an error that is no leak.
std::string_view kind_of(std::string_view kind) {
  constexpr std::string_view kNames[] = {"Leak_DefinitelyLost", "Leak_IndirectlyLost", "Leak_PossiblyLost",
                                         "Leak_StillReachable"};
  for (std::size_t i = 0; i < kLeakKindCount; ++i) {
    if (kNames[i] == kind) return kLeakKinds[i];
  }
  return {};
}

class MemcheckXml {
 public:
  MemcheckXml(Input& in, SnapshotSink& out) : in_(in), out_(out), parser_(XML_ParserCreate(nullptr), &XML_ParserFree) {
    if (!parser_) throw std::bad_alloc();
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &MemcheckXml::on_start, &MemcheckXml::on_end);
    XML_SetCharacterDataHandler(parser_.get(), &MemcheckXml::on_text);
    // valgrind writes no DOCTYPE, so no entity of an input is ever expanded.
    XML_SetStartDoctypeDeclHandler(parser_.get(), &MemcheckXml::on_doctype);
    begin_ = in_.offset();
  }

  void run() {
    for (bool ended = false; !ended && !root_closed_;) {
      const std::string_view view = value_or_throw(in_.peek(kChunk));
      const std::string_view bytes = view.substr(0, kChunk);
      ended = bytes.size() < kChunk;
      if (XML_Parse(parser_.get(), bytes.data(), static_cast<int>(bytes.size()), ended ? 1 : 0) == XML_STATUS_ERROR) {
        if (failure_) std::rethrow_exception(failure_);
        if (!root_closed_) stopped(ended);
        break;
      }
      in_.consume(bytes.size());
    }
    finish();
  }

 private:
  std::uint64_t offset() const {
    const XML_Index index = XML_GetCurrentByteIndex(parser_.get());
    return begin_ + (index < 0 ? 0 : static_cast<std::uint64_t>(index));
  }

  /// expat is C: nothing may be thrown through it. The handler's exception is kept, the parser stopped.
  template <class Body>
  static void guarded(void* user, Body body) {
    auto& self = *static_cast<MemcheckXml*>(user);
    if (self.failure_) return;
    try {
      body(self);
    } catch (...) {
      self.failure_ = std::current_exception();
      XML_StopParser(self.parser_.get(), XML_FALSE);
    }
  }
  static void on_start(void* user, const XML_Char* name, const XML_Char** /*attributes*/) {
    guarded(user, [name](MemcheckXml& self) { self.start(name); });
  }
  static void on_end(void* user, const XML_Char* /*name*/) {
    guarded(user, [](MemcheckXml& self) { self.end(); });
  }
  static void on_text(void* user, const XML_Char* text, int size) {
    guarded(user, [text, size](MemcheckXml& self) {
      if (!self.wants_text_) return;
      if (self.text_.size() + static_cast<std::size_t>(size) > kMostText)
        fail(ErrorCode::limit, "text too long: expected at most 1048576 bytes in an element", self.offset());
      self.text_.append(text, static_cast<std::size_t>(size));
    });
  }
  static void on_doctype(void* user, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    guarded(user, [](MemcheckXml& self) {
      fail(ErrorCode::malformed, "document type: found <!DOCTYPE, expected valgrind's XML, which has none",
           self.offset());
    });
  }

  Element parent() const { return path_.empty() ? kOtherElement : path_.back(); }
  bool inside(Element element) const { return std::find(path_.begin(), path_.end(), element) != path_.end(); }

  void start(std::string_view name) {
    if (path_.size() == kMostDepth)
      fail(ErrorCode::limit, "nested too deeply: expected at most 64 levels of elements", offset());
    const Element element = element_of(name);
    if (path_.empty() && element != "valgrindoutput"_element)
      text::fail_found("root element", name, "valgrindoutput", offset());
    if (element == "error"_element) error_ = {};
    if (element == "stack"_element) ++error_.stacks;
    if (element == "frame"_element) error_.frame = {};
    path_.push_back(element);
    text_.clear();
    wants_text_ = element != kOtherElement;
  }

  void end() {
    const Element element = path_.back();
    path_.pop_back();
    const std::string_view text = trimmed(text_);
    wants_text_ = false;
    switch (element) {
      case "protocolversion"_element: check_version(text); break;
      case "protocoltool"_element:
        if (text != "memcheck")
          fail(ErrorCode::unsupported, instead("valgrind tool", in_quotes(text), "memcheck"), offset());
        break;
      case "pid"_element:
        if (parent() == "valgrindoutput"_element) pid_ = text::whole_number(text);
        break;
      case "exe"_element:
      case "arg"_element: argument(text); break;
      case "line"_element:
        if (parent() == "preamble"_element) preamble_line(text);
        if (parent() == "frame"_element) error_.frame.line = text::whole_number(text).value_or(0);
        break;
      case "valgrindoutput"_element: root_closed_ = true; break;
      default: end_in_error(element, text);
    }
    text_.clear();
  }

  void check_version(std::string_view text) {
    versioned_ = true;
    if (text != "4")
      fail(ErrorCode::unsupported, instead("valgrind XML protocol version", in_quotes(text), "4"), offset());
  }

  void argument(std::string_view text) {
    if (parent() == "vargv"_element && (text == "--show-leak-kinds=all" || text == "--show-reachable=yes"))
      all_kinds_ = true;
    if (parent() != "argv"_element) return;
    if (!command_.empty()) command_ += ' ';
    command_ += text;
  }

  void preamble_line(std::string_view text) {
    constexpr std::string_view kUsing = "Using Valgrind-";
    if (text.substr(0, kUsing.size()) != kUsing) return;
    text.remove_prefix(kUsing.size());
    producer_ = "valgrind " + std::string(text.substr(0, text.find(' ')));
  }

  struct Frame {
    std::string module, function, dir, file;
    std::uint64_t address = kNoOffset;
    std::int64_t line = 0;
  };
  struct ErrorElement {
    std::string kind, what;
    std::int64_t bytes = -1, blocks = -1;
    std::vector<Frame> frames;
    Frame frame;
    std::size_t stacks = 0;
  };

  void end_in_error(Element element, std::string_view text) {
    if (element == "error"_element) return take_error();
    if (!inside("error"_element)) return;
    Frame& frame = error_.frame;
    switch (element) {
      case "kind"_element: error_.kind = text; break;
      case "text"_element:
        if (parent() == "xwhat"_element) error_.what = text;
        break;
      case "leakedbytes"_element: error_.bytes = text::whole_number(text).value_or(-1); break;
      case "leakedblocks"_element: error_.blocks = text::whole_number(text).value_or(-1); break;
      case "ip"_element:
        if (text.substr(0, 2) == "0x") std::from_chars(text.data() + 2, text.data() + text.size(), frame.address, 16);
        break;
      case "obj"_element: frame.module = text; break;
      case "fn"_element: frame.function = text; break;
      case "dir"_element: frame.dir = text; break;
      case "file"_element: frame.file = text; break;
      case "frame"_element:
        // A leak has one stack; further ones would be of auxiliary texts.
        if (error_.stacks == 1) error_.frames.push_back(std::move(frame));
        frame = {};
        break;
      default: break;
    }
  }

  void take_error() {
    const std::string_view kind = kind_of(error_.kind);
    if (kind.empty()) return;
    Leaked leaked{error_.bytes, error_.blocks};
    const auto told = loss_record(error_.what);
    // <leakedbytes> holds direct and indirect bytes together; the text separates the direct ones.
    if (told) leaked.bytes = told->leaked.bytes;
    if (told && leaked.blocks < 0) leaked.blocks = told->leaked.blocks;
    if (leaked.bytes < 0 || leaked.blocks < 0) {
      unreadable_ = true;
      notes_.add(Severity::data_loss, "leak records without readable bytes and blocks, left out", offset());
      return;
    }
    // Records count from 1 in each leak check.
    const std::int64_t number = told ? told->number : last_number_ + 1;
    if (check_ && number <= last_number_) close();
    last_number_ = number;
    if (!check_) check_ = std::make_unique<LeakCheck>();
    check_->open_record(kind, leaked, told ? told->indirect : 0);
    for (const Frame& frame : error_.frames) add_frame(frame);
    check_->close_record();
  }

  void add_frame(const Frame& frame) {
    LeakFrame out;
    out.module = frame.module;
    out.function = frame.function;
    const std::string path = frame.dir.empty() || frame.file.empty() ? frame.file : frame.dir + '/' + frame.file;
    out.file = path;
    out.line = frame.line;
    if (frame.function.empty() && frame.module.empty()) out.offset = frame.address;
    check_->add_frame(out);
  }

  void close() {
    if (!check_) check_ = std::make_unique<LeakCheck>();
    SnapshotFacts& facts = check_->facts();
    facts.pid = pid_;
    facts.command_line = command_;
    facts.producer = producer_;
    facts.format_detail = "XML protocol 4";
    facts.notes.add_all(std::exchange(notes_, {}));
    facts.partial = facts.partial || unreadable_;
    // XML has no summary: without this option nobody knows what the other kinds hold.
    if (!all_kinds_ || unreadable_) facts.complete = false;
    out_.take(check_->finish(kDeeper));
    check_.reset();
    last_number_ = 0;
    unreadable_ = false;
  }

  /// The parser gave up. At the end of the input that is a cut, elsewhere damage.
  void stopped(bool ended) {
    const XML_Error error = XML_GetErrorCode(parser_.get());
    const bool cut = ended && (error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN ||
                               error == XML_ERROR_PARTIAL_CHAR || error == XML_ERROR_UNCLOSED_CDATA_SECTION);
    if (!cut || !versioned_)
      fail(ErrorCode::malformed,
           std::string("XML not readable: ") + XML_ErrorString(error) + ", expected valgrind's XML", offset());
    cut_ = true;
  }

  void finish() {
    if (check_ || out_.empty()) close();
    if (cut_) {
      SnapshotFacts& last = out_.last();
      last.complete = false;
      last.lose("the input ends before the root element does", in_.offset());
    }
    out_.flush();
  }

  Input& in_;
  text::HeldSink out_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser_;
  std::uint64_t begin_ = 0;
  std::exception_ptr failure_;
  std::vector<Element> path_;
  std::string text_;
  bool wants_text_ = false;
  bool root_closed_ = false;
  bool versioned_ = false;
  bool cut_ = false;
  bool all_kinds_ = false;
  bool unreadable_ = false;
  std::optional<std::int64_t> pid_;
  std::string command_;
  std::string producer_ = "valgrind";
  ErrorElement error_;
  std::unique_ptr<LeakCheck> check_;
  Notes notes_;
  std::int64_t last_number_ = 0;
};

}  // namespace

void read_memcheck_xml(Input& in, SnapshotSink& out) { MemcheckXml(in, out).run(); }

}  // namespace snapdiff::formats::leak_reports

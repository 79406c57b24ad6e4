#include "formats/text/counter_log.hpp"

namespace snapdiff::formats {
namespace {

/// Parts that erlang:memory() gives, in its order. Source: erts emulator/beam/erl_alloc.c, erts_memory().
constexpr std::array<std::string_view, 10> kParts = {"total",     "processes", "processes_used", "system", "atom",
                                                     "atom_used", "binary",    "code",           "ets",    "maximum"};

/// The number behind a part's name: "{total,13516344}", "total => 13516344", "total: 13516344".
std::optional<std::int64_t> part_of(std::string_view line, std::string_view name) {
  return text::number_of(line, name, {"~=>~%", "~,~%", "~:~%"});
}

/// [{total,13516344},{processes,3886080},…] over one line or several; a map, or "total: N" lines.
class MemoryTerms final : public text::CounterLog {
  using CounterLog::CounterLog;

  void handle(std::string_view line) override {
    const std::string_view text = text::trim(line);
    const bool is_map = text.find("#{") != std::string_view::npos;
    const bool is_whole = text.ends_with("]") || text.ends_with("].") || (is_map && text.ends_with('}'));
    if (!is_whole && leaves_out_line()) return;
    bool found = false;
    for (const std::string_view name : kParts) {
      if (const auto value = part_of(line, name)) {
        set(name, *value);
        found = true;
      }
    }
    if (!found) note_time(line);
  }
};

/// A section of a dump: "=proc:<0.0.0>" and its lines.
class CrashDump final : public text::ReportLog {
 public:
  CrashDump(Input& in, SnapshotSink& out, std::string_view nothing) : ReportLog(in, out, nothing) {
    builder_.add_column({"memory", "bytes"});
    builder_.add_column({"objects", "count"});
  }

 private:
  void handle(std::string_view line) override {
    if (!lines_.terminated()) {
      cut_ = true;
      return;
    }
    if (line.starts_with('=')) return begin(line.substr(1));
    const std::size_t colon = line.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string_view key = line.substr(0, colon), value = line.substr(colon + 2);
    if (section_ == "erl_crash_dump") {
      if (key == "Slogan") builder_.notes().add(Severity::info, "slogan: " + std::string(value.substr(0, 256)));
      if (key == "System version" && value.find("[64-bit]") == std::string_view::npos) word_bytes_ = 4;
    } else if (section_ == "memory") {
      if (const auto bytes = text::whole_number(value))
        builder_.facts().counters.push_back({std::string(key), *bytes, "bytes"});
    } else if (section_ == "proc") {
      if (key == "Name" || (key == "Spawned as" && name_.empty())) name_ = value;
      if (key == "Memory") bytes_ = text::whole_number(value);
      if (key == "Message queue length") objects_ = text::whole_number(value).value_or(0);
    } else if (section_ == "ets") {
      if (key == "Name") name_ = value;
      if (key == "Objects") objects_ = text::whole_number(value).value_or(0);
      if (key == "Words") words_ = text::whole_number(value);
    }
  }

  void begin(std::string_view heading) {
    close();
    if (heading == "end") is_whole_ = true;
    section_ = heading.substr(0, heading.find(':'));
  }

  void close() {
    if (words_) {
      std::int64_t bytes = 0;
      if (!__builtin_mul_overflow(*words_, word_bytes_, &bytes)) bytes_ = bytes;
    }
    if (bytes_ && !name_.empty()) {
      const bool is_table = section_ == "ets";
      const TypeKey key = type_key(builder_, name_, {}, {text_label(builder_, "kind", is_table ? "ets" : "process")});
      builder_.add_row(key.stack, key.labels, std::array{*bytes_, objects_});
    }
    name_.clear();
    bytes_.reset();
    words_.reset();
    objects_ = 0;
  }

  void finish() override {
    if (cut_ || !is_whole_) {
      // The open section is not whole.
      bytes_.reset();
      words_.reset();
      builder_.facts().lose("the dump is cut: expected =end", lines_.offset());
    }
    close();
    SnapshotFacts& facts = builder_.facts();
    if (builder_.row_count() == 0 && facts.counters.empty()) return;
    facts.sampling = Sampling::exact;
    facts.producer = "erlang";
    facts.format_detail = "crash dump";
    facts.default_metric = "memory";
    take_report(builder_.finish());
  }

  SnapshotBuilder builder_;
  std::string section_, name_;
  std::optional<std::int64_t> bytes_, words_;
  std::int64_t objects_ = 0, word_bytes_ = 8;
  bool cut_ = false, is_whole_ = false;
};

Match sniff_terms(std::string_view head) {
  bool total = false, processes = false, system = false;
  // A keyword list of Elixir looks like much else: a rare part has to be there, and another one behind it.
  const bool is_keywords = text::any_line_of(head, [](std::string_view line) {
    std::int64_t unused = 0;
    const std::size_t at = line.find("atom_used: ");
    return at != std::string_view::npos && text::Cursor(line.substr(at)).takes("atom_used: %,", unused);
  });
  return certain_if(text::any_line_of(head, [&](std::string_view line) {
    const auto is_there = [&](std::string_view name) {
      return line.find("{" + std::string(name) + ",") != std::string_view::npos ||
             line.find(std::string(name) + " =>") != std::string_view::npos ||
             (is_keywords && line.find(std::string(name) + ": ") != std::string_view::npos);
    };
    total = total || (is_there("total") && part_of(line, "total"));
    processes = processes || (is_there("processes") && part_of(line, "processes"));
    system = system || (is_there("system") && part_of(line, "system"));
    return total && processes && system;
  }));
}

}  // namespace

constexpr Format kErlangMemory{
    .info = {"erlang-memory", "erlang:memory() as programs print it", "*.log, *.txt", "every other line"},
    .sniff = sniff_terms,
    .decode =
        text::read_log<MemoryTerms,
                       "no memory: the input ends, expected what erlang:memory() gives: {total,N}, {processes,N}">};

constexpr Format kErlangCrashDump{
    .info = {"erlang-crash-dump", "crash dump of Erlang and Elixir: memory by process and ETS table", "erl_crash.dump",
             "contents of processes and tables, code, allocators"},
    .sniff = [](std::string_view head) { return certain_if(text::begins_with(head, {"=erl_crash_dump:"})); },
    .decode = text::read_log<CrashDump, "no memory: the input ends, expected =memory">};

}  // namespace snapdiff::formats

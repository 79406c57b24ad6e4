#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

/// JOB "main +RTS -hc"
/// VALUE_UNIT "bytes"
/// BEGIN_SAMPLE 0.100000
/// (123)cache.insert	1234
/// END_SAMPLE 0.100000
/// Source: GHC rts/ProfHeap.c.
class HeapProfile final : public text::ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    text::Cursor at(line);
    const std::string_view word = at.token();
    at.skip_blanks();
    if (word == "JOB") job_ = unquoted(at.rest());
    if (word == "VALUE_UNIT") unit_ = unquoted(at.rest());
    if (word == "BEGIN_SAMPLE") {
      rows_.clear();
      is_open_ = true;
      return;
    }
    if (word == "END_SAMPLE") {
      if (is_open_ && !rows_.empty() && lines_.terminated()) give_sample(at.rest());
      is_open_ = is_open_ && !lines_.terminated();
      return;
    }
    const std::size_t tab = line.rfind('\t');
    if (!is_open_ || tab == std::string_view::npos || tab == 0) return;
    if (const auto bytes = text::whole_number(text::trim(line.substr(tab + 1))))
      rows_.emplace_back(line.substr(0, tab), *bytes);
  }

  static std::string unquoted(std::string_view text) {
    text = text::trim(text);
    if (text.starts_with('"')) text.remove_prefix(1);
    if (text.ends_with('"')) text.remove_suffix(1);
    return std::string(text);
  }

  void give_sample(std::string_view time) {
    SnapshotBuilder builder;
    SnapshotFacts& facts = exact_facts(builder, "GHC");
    facts.command_line = job_;
    facts.comments.push_back("time " + std::string(text::trim(time)) + " s");
    builder.add_column({"inuse_space", unit_.empty() ? "bytes" : unit_});
    for (const auto& [name, bytes] : rows_) add_type_row(builder, name, std::span(&bytes, 1));
    take_report(builder.finish());
  }

  void finish() override {
    if (is_open_ && !out_.empty()) out_.last().lose("the last sample is cut and was left out", lines_.offset());
  }

  std::string job_, unit_;
  std::vector<std::pair<std::string, std::int64_t>> rows_;
  bool is_open_ = false;
};

}  // namespace

constexpr Format kGhcHeap{
    .info = {"ghc-heap", "GHC's heap profile (+RTS -h): bytes by cost centre, closure or type", "*.hp",
             "times, which are kept as a comment"},
    .sniff =
        [](std::string_view head) {
          return certain_if(text::begins_with(head, {"JOB \""}) &&
                            head.find("\nSAMPLE_UNIT ") != std::string_view::npos);
        },
    .decode = text::read_log<HeapProfile, "no sample: the input ends, expected BEGIN_SAMPLE … END_SAMPLE with rows">};

}  // namespace snapdiff::formats

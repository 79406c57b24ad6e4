#include "formats/text/report_log.hpp"

namespace snapdiff::formats {
namespace {

using namespace text;

/// "ClassLoader         Parent              CLD*               Classes   ChunkSz   BlockSz  Type"
bool is_loader_heading(std::string_view line) {
  return begins_with(line, {"ClassLoader", "Parent", "CLD*", "Classes", "ChunkSz", "BlockSz", "Type"});
}

/// "0x00007f5b010459f8  0x00007f5b0007d1e8  0x00007f5b58148260       2      1280       811  java.net.URLClassLoader"
struct LoaderRow {
  std::int64_t loaders = 0, classes = 0, chunks = 0, blocks = 0;
  std::string_view type;
};

std::optional<LoaderRow> numbers_of(Cursor& at, std::int64_t loaders) {
  LoaderRow row{loaders, 0, 0, 0, {}};
  if (!at.takes("~%~%~%", row.classes, row.chunks, row.blocks)) return std::nullopt;
  row.type = trim(at.rest());
  return row;
}

/// The classes that are hidden in the loader above have a row without addresses: "  8  3072  1953   + hidden classes".
std::optional<LoaderRow> loader_of(std::string_view line) {
  Cursor at(line);
  at.skip_blanks();
  const bool is_loader = at.peek() == '0' && has_prefix(at.rest(), "0x");
  for (int i = 0; is_loader && i < 3; ++i) {
    at.token();
    at.skip_blanks();
  }
  return numbers_of(at, is_loader ? 1 : 0);
}

class ClassLoaderLog final : public ReportLog {
  using ReportLog::ReportLog;

  void handle(std::string_view line) override {
    if (is_loader_heading(line)) {
      close(std::nullopt);
      open();
    } else if (!report_) {
      if (const auto pid = pid_line(line)) pid_ = pid;
    } else if (has_prefix(line, "Total = ")) {
      Cursor at(line.substr(8));
      std::int64_t loaders = 0;
      close(at.count(loaders) && lines_.terminated() ? numbers_of(at, loaders) : std::nullopt);
    } else if (const auto row = lines_.terminated() ? loader_of(line) : std::nullopt; row && !row->type.empty()) {
      add(*row);
    } else {
      lose("lines of the table that could not be read, left out");
    }
  }

  void open() {
    SnapshotFacts& facts = open_report("java");
    for (const char* const column : {"chunk_space", "block_space"}) report_->add_column({column, "bytes"});
    for (const char* const column : {"classes", "loaders"}) report_->add_column({column, "count"});
    facts.default_metric = "chunk_space";
    facts.pid = std::exchange(pid_, std::nullopt);
    sum_ = {};
    type_.clear();
  }

  void add(const LoaderRow& row) {
    if (row.loaders == 1) type_ = row.type;
    // Hidden classes belong to the loader above: "+ hidden classes", "+ unsafe anonymous classes".
    const std::string type = row.loaders == 1 ? type_ : type_ + " " + std::string(row.type);
    add_type_row(*report_, type, {row.chunks, row.blocks, row.classes, row.loaders});
    for (const auto number : {&LoaderRow::loaders, &LoaderRow::classes, &LoaderRow::chunks, &LoaderRow::blocks})
      add_to(sum_.*number, row.*number, "a sum is", lines_.line_offset());
  }

  /// The last row is the sum, which is checked.
  void close(const std::optional<LoaderRow>& total) {
    if (!report_) return;
    if (!total) {
      report_->facts().complete = false;
      report_->facts().lose("no Total line: rows are missing", lines_.offset());
    } else if (total->loaders != sum_.loaders || total->classes != sum_.classes || total->chunks != sum_.chunks ||
               total->blocks != sum_.blocks) {
      report_->facts().complete = false;
      warn("the rows do not add up to the Total line");
    }
    give_report();
  }

  void finish() override { close(std::nullopt); }

  LoaderRow sum_;
  std::string type_;  // of the last loader
  std::optional<std::int64_t> pid_;
};

}  // namespace

constexpr Format kJvmClassLoaders =
    log_format<ClassLoaderLog, is_loader_heading,
               "no table: the input ends, expected the heading \"ClassLoader  Parent  CLD*  Classes\"">(
        {"jvm-classloaders", "class loaders of the JVM and their metaspace: jcmd VM.classloader_stats", "*.txt, *.log",
         "addresses, the parents of loaders"});

}  // namespace snapdiff::formats

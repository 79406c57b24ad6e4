#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "analyzer/cli/commands.hpp"
#include "analyzer/cli/compare.hpp"
#include "analyzer/cli/exit_codes.hpp"

namespace snapdiff::cli {
namespace {

using Row = std::vector<std::optional<std::string>>;

std::string csv_field(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// Writes the result of one statement; text needs all rows for its column widths, the others stream.
class ResultWriter {
 public:
  explicit ResultWriter(report::Form form) : form_(form) {}

  void columns(std::span<const std::string> names) {
    end();
    names_.assign(names.begin(), names.end());
    open_ = true;
    if (form_ == report::Form::csv) {
      for (std::size_t i = 0; i < names_.size(); ++i) out_ += (i == 0 ? "" : ",") + csv_field(names_[i]);
      out_ += "\r\n";
    }
    if (form_ == report::Form::json) out_ += "[";
  }

  void row(std::span<const std::optional<std::string>> values) {
    switch (form_) {
      case report::Form::csv:
        for (std::size_t i = 0; i < values.size(); ++i) out_ += (i == 0 ? "" : ",") + csv_field(values[i].value_or(""));
        out_ += "\r\n";
        break;
      case report::Form::json: out_ += (rows_ == 0 ? "\n" : ",\n") + object(values); break;
      case report::Form::jsonl: out_ += object(values) + "\n"; break;
      case report::Form::text:
      case report::Form::markdown: table_.emplace_back(values.begin(), values.end()); break;
    }
    ++rows_;
    constexpr std::size_t kFlushAt = 1 << 20;
    if (out_.size() > kFlushAt) flush();
  }

  void end() {
    if (!open_) return;
    if (form_ == report::Form::json) out_ += rows_ == 0 ? "]\n" : "\n]\n";
    if (form_ == report::Form::text || form_ == report::Form::markdown) write_table();
    table_.clear();
    rows_ = 0;
    open_ = false;
    flush();
  }

  void flush() {
    if (status_) status_ = print_data(out_);
    out_.clear();
  }
  const Status& status() const { return status_; }

 private:
  std::string object(std::span<const std::optional<std::string>> values) const {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i]) {
        json[names_[i]] = *values[i];
      } else {
        json[names_[i]] = nullptr;
      }
    }
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

  void write_table() {
    constexpr std::size_t kWidest = 100;
    std::vector<std::size_t> width;
    for (const std::string& name : names_) width.push_back(name.size());
    for (Row& row : table_) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = escape_for_terminal(row[i].value_or("NULL"));
        width[i] = std::min(kWidest, std::max(width[i], row[i]->size()));
      }
    }
    const bool markdown = form_ == report::Form::markdown;
    const auto line = [&](auto cell) {
      std::string text = markdown ? "|" : "";
      for (std::size_t i = 0; i < names_.size(); ++i) {
        std::string value = cell(i);
        const std::size_t pad = width[i] > value.size() ? width[i] - value.size() : 0;
        if (markdown) {
          text += " " + value + std::string(pad, ' ') + " |";
        } else {
          text += (i == 0 ? "" : "  ") + value + (i + 1 == names_.size() ? "" : std::string(pad, ' '));
        }
      }
      out_ += text + "\n";
    };
    line([&](std::size_t i) { return names_[i]; });
    line([&](std::size_t i) { return std::string(width[i], '-'); });
    for (const Row& row : table_) line([&](std::size_t i) { return *row[i]; });
  }

  report::Form form_;
  std::vector<std::string> names_;
  std::vector<Row> table_;
  std::string out_;
  std::size_t rows_ = 0;
  bool open_ = false;
  Status status_ = ok();
};

}  // namespace

int run_sql(const Arguments& arguments) {
  Options options;
  auto app = make_command_app(
      "SQL over the store; a script on stdin without QUERY.", "sql [options] [QUERY]",
      {"snapdiff sql 'SELECT * FROM growth(1, 2) ORDER BY growth DESC LIMIT 5'", "snapdiff sql --as csv < report.sql"});
  add_options(*app, options, kTakesOperands | kTakesForm);
  if (const auto code = parse_arguments(*app, options, arguments)) return *code;
  std::string script;
  if (options.operands.empty()) {
    script.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else if (options.operands.size() == 1) {
    script = options.operands[0];
  } else {
    return fail(
        {ErrorCode::usage, "sql takes one query: found " + std::to_string(options.operands.size()) + "; quote it"});
  }
  const Result<report::Form> form = form_of(options);
  if (!form) return fail(form.error());
  Result<store::Store> store = open_store(choose_store(options), store::Access::read);
  if (!store) return fail(store.error());
  ResultWriter writer(*form);
  store::Store::SqlSink sink;
  sink.on_columns = [&](std::span<const std::string> names) { writer.columns(names); };
  sink.on_row = [&](std::span<const std::optional<std::string>> row) { writer.row(row); };
  const Status status = store->sql(script, sink);
  writer.end();
  if (!writer.status()) return fail(writer.status().error());
  if (!status) return fail(status.error());
  return kExitDone;
}

}  // namespace snapdiff::cli

#include "analyzer/report/query.hpp"

#include <algorithm>

#include "analyzer/report/csv_record.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/markdown_parts.hpp"
#include "analyzer/report/sheet.hpp"
#include "analyzer/report/text_tools.hpp"

namespace snapdiff::report {

void QueryWriter::columns(std::span<const std::string> names) {
  end();
  names_.assign(names.begin(), names.end());
  open_ = true;
  if (form_ == Form::csv) {
    Record record(out_);
    for (const std::string& name : names_) record.text(name);
  }
  if (form_ == Form::json) out_ += "[";
}

void QueryWriter::row(std::span<const QueryCell> cells) {
  switch (form_) {
    case Form::csv: record(cells); break;
    case Form::json:
      out_ += rows_ == 0 ? "\n" : ",\n";
      object(cells);
      break;
    case Form::jsonl:
      object(cells);
      out_ += "\n";
      break;
    case Form::text:
    case Form::markdown: table_.emplace_back(cells.begin(), cells.end()); break;
  }
  ++rows_;
  pass_on(out_, &sink_);
}

void QueryWriter::end() {
  if (!open_) return;
  if (form_ == Form::json) out_ += rows_ == 0 ? "]\n" : "\n]\n";
  if (form_ == Form::text) write_text();
  if (form_ == Form::markdown) write_markdown();
  table_.clear();
  rows_ = 0;
  open_ = false;
  flush();
}

void QueryWriter::object(std::span<const QueryCell> cells) {
  JsonWriter json(out_);
  json.begin_object();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    json.any_key(names_[i]);
    if (!cells[i].text) {
      json.null();
    } else {
      cells[i].is_number ? json.raw(*cells[i].text) : json.string(*cells[i].text);
    }
  }
  json.end_object();
}

void QueryWriter::record(std::span<const QueryCell> cells) {
  Record record(out_);
  for (const QueryCell& cell : cells) {
    if (!cell.text) {
      record.empty();
    } else {
      cell.is_number ? record.digits(*cell.text) : record.text(*cell.text);
    }
  }
}

void QueryWriter::write_text() {
  constexpr std::size_t kWidest = 100;
  std::vector<std::vector<std::string>> lines;
  std::vector<std::size_t> width;
  const auto add = [&](auto text_of) {
    std::vector<std::string>& line = lines.emplace_back();
    for (std::size_t i = 0; i < names_.size(); ++i) {
      line.push_back(text_of(i));
      width[i] = std::min(kWidest, std::max(width[i], display_width(line.back())));
    }
  };
  width.resize(names_.size());
  add([&](std::size_t i) { return printable(names_[i]); });
  for (const std::vector<QueryCell>& row : table_)
    add([&](std::size_t i) { return row[i].text ? printable(*row[i].text) : std::string("NULL"); });
  for (std::size_t n = 0; n < lines.size(); ++n) {
    std::string text;
    std::string rule;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool last = i + 1 == names_.size();
      text += (i == 0 ? "" : "  ") + (last ? lines[n][i] : pad_right(lines[n][i], width[i]));
      rule += (i == 0 ? "" : "  ") + std::string(width[i], '-');
    }
    out_ += text + "\n";
    if (n == 0) out_ += rule + "\n";
  }
}

void QueryWriter::write_markdown() {
  std::vector<Sheet::Column> columns;
  for (const std::string& name : names_) columns.push_back({literal(printable(name)), 0, false});
  Sheet sheet(std::move(columns), "", {});
  for (const std::vector<QueryCell>& row : table_) {
    std::vector<Sheet::Cell>& cells = sheet.add().cells;
    for (const QueryCell& cell : row) cells.push_back({cell.text ? literal(printable(*cell.text)) : "NULL"});
  }
  out_ += sheet.markdown();
}

void QueryWriter::flush() {
  if (!out_.empty()) sink_(out_);
  out_.clear();
}

}  // namespace snapdiff::report

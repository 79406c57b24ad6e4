// Writes the JSON schemas that are installed: snapdiff_schemas FOLDER FILE...
//   FOLDER  gets NAME.schema.json for each document, and NAME.line.schema.json for its form as JSON Lines
//   FILE    documents and shapes in the notation of README.md

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/document/growth_columns.hpp"
#include "analyzer/document/terms.hpp"
#include "analyzer/document/top_columns.hpp"
#include "analyzer/report/json_writer.hpp"
#include "snapdiff/growth.hpp"

namespace snapdiff::report {
namespace {

struct ShapeField {
  std::string name, type, meaning;
  bool optional = false;
};

struct Shape {
  std::string meaning;
  std::vector<ShapeField> fields;
};

/// `line` and `lines`: title and meaning of the JSON Lines form; "" where that form has no schema of its own. `rows`:
/// the fields whose elements are its lines.
struct Document {
  std::string name, title, meaning, type, line, lines, rows;
};

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

/// The text before the first run of two blanks, which is taken off `rest`.
std::string cut_column(std::string_view& rest) {
  rest = trimmed(rest);
  const std::size_t end = std::min(rest.find("  "), rest.size());
  const std::string column(rest.substr(0, end));
  rest = trimmed(rest.substr(end));
  return column;
}

/// Shapes and documents of all files, and the types that have words of the program.
class Shapes {
 public:
  Shapes() {
    words("class", {RowClass::added, RowClass::gone, RowClass::grew, RowClass::shrank, RowClass::same});
    words("by", {GroupBy::stack, GroupBy::function, GroupBy::file, GroupBy::line, GroupBy::module, GroupBy::type,
                 GroupBy::label});
    for (std::size_t tier = 0; tier < kMatchTiers; ++tier)
      words_["tier"].emplace_back(to_text(static_cast<MatchTier>(tier)));
    for (const std::string_view verdict : document::verdicts_by_gravity()) words_["verdict"].emplace_back(verdict);
    columns("diff", document::growth_fields(false));
    columns("trend", document::growth_fields(true));
    columns("top", document::top_fields());
  }

  void read(const std::string& path) {
    std::ifstream file(path);
    if (!file) fail(path + ": cannot be read");
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      try {
        take(line);
      } catch (const std::exception& error) {
        fail(path + ":" + std::to_string(number) + ": " + error.what());
      }
    }
  }

  const Shape& shape(const std::string& name) const {
    const auto at = shapes_.find(name);
    if (at == shapes_.end()) fail("no shape is called " + name);
    return at->second;
  }
  const std::vector<std::string>* words_of(const std::string& name) const {
    const auto at = words_.find(name);
    return at == words_.end() ? nullptr : &at->second;
  }
  const std::vector<Document>& documents() const { return documents_; }

 private:
  template <class Word>
  void words(const std::string& name, std::initializer_list<Word> all) {
    for (const Word word : all) words_[name].emplace_back(to_text(word));
  }

  /// The rows of a table, by stack and by group, and the total: the fields are declared with its columns.
  template <class Line>
  void columns(const std::string& name, std::span<const document::Field<Line>> fields) {
    for (const document::Field<Line>& field : fields) {
      const document::Column<Line>& column = *field.column;
      const ShapeField out{std::string(column.key), std::string(column.type), std::string(column.meaning),
                           field.optional};
      if (column.traits.rows != document::RowsOf::groups) shapes_[name + "_stack_row"].fields.push_back(out);
      if (column.traits.rows != document::RowsOf::stacks) shapes_[name + "_key_row"].fields.push_back(out);
      if (column.traits.of_total) shapes_[name + "_columns"].fields.push_back(out);
    }
  }

  void take(std::string_view line) {
    if (trimmed(line).empty()) {
      last_ = nullptr;
    } else if (line.starts_with("shape ")) {
      line.remove_prefix(6);
      const std::string name = cut_column(line);
      const auto [at, is_new] = shapes_.try_emplace(name, Shape{std::string(line), {}});
      if (!is_new) fail("a second shape is called " + name);
      shape_ = &at->second;
      last_ = nullptr;
    } else if (line.starts_with("document ")) {
      const std::string name(trimmed(line.substr(9)));
      documents_.push_back({name, {}, {}, name, {}, {}, "rows"});
      shape_ = nullptr;
    } else if (line.starts_with("        ")) {
      if (last_ == nullptr) fail("this line continues a meaning that did not begin");
      last_->append(" ").append(trimmed(line));
    } else if (shape_ != nullptr) {
      ShapeField field;
      field.name = cut_column(line);
      field.type = cut_column(line);
      field.meaning = line;
      field.optional = field.name.ends_with('?');
      if (field.optional) field.name.pop_back();
      last_ = &shape_->fields.emplace_back(std::move(field)).meaning;
    } else {
      document_line(line);
    }
  }

  void document_line(std::string_view line) {
    if (documents_.empty()) fail("a document or a shape was expected");
    Document& document = documents_.back();
    const std::map<std::string_view, std::string*> known{{"title", &document.title}, {"meaning", &document.meaning},
                                                         {"type", &document.type},   {"line", &document.line},
                                                         {"lines", &document.lines}, {"rows", &document.rows}};
    const std::string key = cut_column(line);
    if (!known.contains(key)) fail("no property of a document is called " + key);
    last_ = known.at(key);
    *last_ = line;
  }

  std::map<std::string, Shape> shapes_;
  std::map<std::string, std::vector<std::string>> words_;
  std::vector<Document> documents_;
  Shape* shape_ = nullptr;
  std::string* last_ = nullptr;
};

/// The alternatives of a type: "[a|b]|null" are "[a|b]" and "null".
std::vector<std::string> alternatives(std::string_view type) {
  std::vector<std::string> all(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : type) {
    if (c == '\'') quoted = !quoted;
    if (!quoted) depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == '|' && depth == 0 && !quoted) {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

/// One schema: its document, and the shapes that it needs.
class Schema {
 public:
  Schema(const Shapes& shapes, std::string& out) : shapes_(shapes), json_(out, JsonLayout::indented) {}

  /// The form as JSON Lines has a header, the document without its rows, and then the rows.
  void write(const Document& document, bool lines) {
    json_.begin_object();
    json_.field("$schema", "https://json-schema.org/draft/2020-12/schema");
    json_.field("$id", "urn:snapdiff:" + document.name + (lines ? ".line" : "") + ":1");
    json_.field("title", lines ? document.line : document.title);
    const std::string& meaning = lines ? document.lines : document.meaning;
    if (!meaning.empty()) json_.field("description", meaning);
    const std::vector<std::string> rows = lines ? alternatives(document.rows) : std::vector<std::string>();
    type(lines ? "header" + rows_of(shapes_.shape(document.name), rows) : document.type);
    json_.key("$defs");
    json_.begin_object();
    if (lines) {
      json_.key("header");
      shape(shapes_.shape(document.name), rows);
    }
    // Writing a shape names others: until none is left.
    for (std::set<std::string> written{"header"};;) {
      const auto next = std::ranges::find_if(named_, [&](const std::string& name) { return !written.contains(name); });
      if (next == named_.end()) break;
      const std::string name = *next;
      written.insert(name);
      json_.key(name);
      shape(shapes_.shape(name), {});
    }
    json_.end_object();
    json_.end_object();
  }

 private:
  /// "|a|b": types of the elements of these fields.
  static std::string rows_of(const Shape& shape, const std::vector<std::string>& rows) {
    std::string types;
    for (const ShapeField& field : shape.fields) {
      if (std::ranges::find(rows, field.name) == rows.end()) continue;
      types += "|" + field.type.substr(1, field.type.find(']') - 1);
    }
    if (types.empty()) fail("JSON Lines without rows");
    return types;
  }

  void shape(const Shape& shape, const std::vector<std::string>& left_out) {
    const auto is_left_out = [&](const ShapeField& field) {
      return std::ranges::find(left_out, field.name) != left_out.end();
    };
    json_.object([&] {
      json_.field("type", "object");
      if (!shape.meaning.empty()) json_.field("description", shape.meaning);
      json_.object("properties", [&] {
        for (const ShapeField& field : shape.fields) {
          if (is_left_out(field)) continue;
          json_.object(field.name, [&] {
            type(field.type);
            if (!field.meaning.empty()) json_.field("description", field.meaning);
          });
        }
      });
      json_.key("required");
      json_.begin_array();
      for (const ShapeField& field : shape.fields) {
        if (!field.optional && !is_left_out(field)) json_.string(field.name);
      }
      json_.end_array();
      json_.field("additionalProperties", false);
    });
  }

  /// The keywords of a type, into the object that is open.
  void type(std::string_view text) {
    std::string_view bounds;
    if (const std::size_t blank = text.rfind(' '); text.find("..") != std::string_view::npos) {
      bounds = text.substr(blank + 1);
      text = text.substr(0, blank);
    }
    const std::vector<std::string> all = alternatives(text);
    if (all.front().starts_with('\'') || shapes_.words_of(all.front()) != nullptr) return words(all);
    const std::vector<std::string> names = type_names(all);
    if (!names.empty()) {
      json_.key("type");
      value_or_list(names);
    } else if (all.size() > 1) {
      return json_.objects("anyOf", all, [&](const std::string& one) { type(one); });
    }
    const std::string& one = all.front();
    if (one.starts_with('[')) {
      json_.object("items", [&] { type(std::string_view(one).substr(1, one.size() - 2)); });
    } else if (one.starts_with('{')) {
      json_.object("additionalProperties", [&] { type(std::string_view(one).substr(1, one.size() - 2)); });
    } else if (one == "time") {
      json_.field("format", "date-time");
    } else if (one == "true") {
      json_.field("const", true);
    } else if (names.empty()) {
      named_.insert(one);
      json_.field("$ref", "#/$defs/" + one);
    }
    range(bounds, one.starts_with('[') ? "Items" : "imum");
  }

  /// What JSON Schema calls them; nothing where one of them is a shape or a constant.
  static std::vector<std::string> type_names(const std::vector<std::string>& all) {
    static const std::map<std::string, std::string> kNames{
        {"text", "string"}, {"integer", "integer"}, {"number", "number"}, {"flag", "boolean"},
        {"null", "null"},   {"object", "object"},   {"time", "string"}};
    std::vector<std::string> names;
    for (const std::string& one : all) {
      const auto at = kNames.find(one);
      if (at != kNames.end()) {
        names.push_back(at->second);
      } else if ((one.starts_with('[') || one.starts_with('{')) && &one == &all.front()) {
        names.emplace_back(one.starts_with('[') ? "array" : "object");
      } else {
        return {};
      }
    }
    return names;
  }

  void value_or_list(const std::vector<std::string>& names) {
    if (names.size() == 1) return json_.string(names.front());
    json_.begin_array();
    for (const std::string& name : names) json_.string(name);
    json_.end_array();
  }

  /// 'a'|'b'|null, and the words of the program.
  void words(const std::vector<std::string>& all) {
    if (all.size() == 1 && all.front().starts_with('\''))
      return json_.field("const", std::string_view(all.front()).substr(1, all.front().size() - 2));
    json_.key("enum");
    json_.begin_array();
    for (const std::string& one : all) {
      if (const std::vector<std::string>* const known = shapes_.words_of(one); known != nullptr) {
        for (const std::string& word : *known) json_.string(word);
      } else if (one == "null") {
        json_.null();
      } else {
        json_.string(std::string_view(one).substr(1, one.size() - 2));
      }
    }
    json_.end_array();
  }

  /// "1..", "0..1", "..5" of numbers, and of how many items an array has.
  void range(std::string_view bounds, const std::string& ending) {
    if (bounds.empty()) return;
    const std::size_t dots = bounds.find("..");
    const auto bound = [&](const std::string& key, std::string_view text) {
      if (text.empty()) return;
      double value = 0;
      if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) fail("no number: " + key);
      json_.field(key, value);
    };
    bound("min" + ending, bounds.substr(0, dots));
    bound("max" + ending, bounds.substr(dots + 2));
  }

  const Shapes& shapes_;
  JsonWriter json_;
  std::set<std::string> named_;
};

void save(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << "\n";
  if (!file.flush()) fail(path.string() + ": cannot be written");
}

void make(const std::filesystem::path& folder, std::span<char* const> files) {
  Shapes shapes;
  for (const char* const file : files) shapes.read(file);
  std::filesystem::create_directories(folder);
  for (const Document& document : shapes.documents()) {
    for (const bool lines : {false, true}) {
      if (lines && document.line.empty()) continue;
      std::string text;
      Schema(shapes, text).write(document, lines);
      save(folder / (document.name + (lines ? ".line" : "") + ".schema.json"), text);
    }
  }
}

}  // namespace
}  // namespace snapdiff::report

/// An exception that leaves main ends the build with its message: this module prints nothing.
int main(int count, char** arguments) {
  if (count < 3) throw std::invalid_argument("usage: snapdiff_schemas FOLDER FILE...");
  snapdiff::report::make(arguments[1], std::span(arguments + 2, static_cast<std::size_t>(count) - 2));
}

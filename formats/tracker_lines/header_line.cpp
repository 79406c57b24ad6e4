#include "formats/tracker_lines/header_line.hpp"

namespace snapdiff::formats::tracker_lines {
namespace {

/// A value as JSON, but texts as they are at the top; no longer than kMostAttributeBytes.
void append_value(const std::vector<JsonValue>& values, std::uint32_t row, std::string& out) {
  struct Open {
    std::uint32_t end;
    char close;
  };
  std::vector<Open> open;
  const bool bare = values[row].kind == JsonKind::text;
  const std::uint32_t end = values[row].end;
  bool first = true;
  const auto close_what_ended = [&](std::uint32_t at) {
    while (!open.empty() && open.back().end <= at) {
      out += open.back().close;
      open.pop_back();
      first = false;
    }
  };
  for (std::uint32_t at = row; at < end && out.size() <= kMostAttributeBytes; ++at) {
    close_what_ended(at);
    const JsonValue& value = values[at];
    if (!open.empty()) {
      if (!first) out += ',';
      if (open.back().close == '}') out.append("\"").append(value.key).append("\":");
    }
    first = false;
    switch (value.kind) {
      case JsonKind::array:
      case JsonKind::object:
        out += value.kind == JsonKind::array ? '[' : '{';
        open.push_back({value.end, value.kind == JsonKind::array ? ']' : '}'});
        first = true;
        break;
      case JsonKind::text:
        if (bare) {
          out.append(value.text);
        } else {
          out.append("\"").append(value.text).append("\"");
        }
        break;
      default: out += shown(value);
    }
  }
  close_what_ended(end);
}

/// A text that each snapshot gets a copy of.
std::string_view cut(std::string_view text, RunHeader& header) {
  if (text.size() <= kMostAttributeBytes) return text;
  header.cut = true;
  return text.substr(0, kMostAttributeBytes);
}

void take_process(const Fields& fields, RunHeader& header) {
  const auto text = [&](std::string_view name) -> std::string_view {
    const JsonValue* const value = fields.member("process"_key, name);
    if (value != nullptr && value->kind != JsonKind::text) fields.wrong_member("process"_key, name, *value, "a text");
    return value == nullptr ? std::string_view() : cut(value->text, header);
  };
  header.pid = fields.natural_member("process"_key, "pid");
  header.host = text("host");
  header.command_line = text("cmdline");
}

void check_format_and_version(const Fields& fields) {
  if (!fields.has("format"_key) || fields.text("format"_key) != "snapdiff-tracker")
    fail_line(Rule::header, "header without \"format\":\"snapdiff-tracker\"");
  fields.require("version"_key);
  const std::optional<std::int64_t> version = integer_of(fields.at("version"_key));
  if (!version || *version < 1) fields.wrong("version"_key, "1");
  if (*version > kVersion)
    fail(ErrorCode::unsupported,
         "written for version " + std::to_string(*version) + ", this build reads " + std::to_string(kVersion));
}

}  // namespace

bool append_attributes(const Fields& fields, const std::vector<std::uint32_t>& x_rows,
                       std::vector<std::string>& comments) {
  const std::vector<JsonValue>& values = fields.values();
  std::size_t kept = 0;
  std::size_t total = 0;
  bool whole = true;
  const auto add = [&](std::string name, std::uint32_t row) {
    if (kept++ >= kMostAttributes) {
      whole = false;
      return;
    }
    std::string text;
    append_value(values, row, text);
    if (name.size() + text.size() > kMostAttributeBytes) {
      whole = false;
      name.resize(std::min(name.size(), kMostAttributeBytes));
      text.resize(std::min(text.size(), kMostAttributeBytes - name.size()));
    }
    total += name.size() + text.size();
    if (total > kMostAttributeBytesOfLine) {
      whole = false;
      return;
    }
    comments.push_back(std::move(name.append(": ").append(text)));
  };
  if (fields.has("attrs"_key)) {
    if (fields.at("attrs"_key).kind != JsonKind::object) fields.wrong("attrs"_key, "an object");
    for (std::uint32_t row = fields.row("attrs"_key) + 1; row < fields.at("attrs"_key).end; row = values[row].end)
      add("attrs." + std::string(values[row].key), row);
  }
  for (const std::uint32_t row : x_rows) add(std::string(values[row].key), row);
  return whole;
}

RunHeader parse_header(const Fields& fields) {
  check_format_and_version(fields);
  RunHeader header;
  header.producer = cut(fields.text("producer"_key), header);
  if (const std::string_view version = fields.text("producer_version"_key); !version.empty())
    header.producer.append(header.producer.empty() ? "" : " ").append(cut(version, header));
  take_process(fields, header);
  if (const std::string_view order = fields.text("order"_key); !order.empty()) {
    if (order != "leaf-first" && order != "root-first") fields.wrong("order"_key, "leaf-first or root-first");
    header.root_first = order == "root-first";
  }
  header.complete = fields.truth("complete"_key).value_or(true);
  if (const std::string_view kind = fields.text("bytes_kind"_key); !kind.empty()) {
    if (kind != "requested" && kind != "allocated" && kind != "estimated")
      fields.wrong("bytes_kind"_key, "requested, allocated or estimated");
    header.estimated = kind == "estimated";
    header.comments.push_back("bytes_kind: " + std::string(kind));
  }
  if (fields.has("attrs"_key) && fields.at("attrs"_key).kind == JsonKind::object) {
    const JsonValue* const stable = fields.member("attrs"_key, "stable_ids");
    header.stable_ids = stable != nullptr && stable->kind == JsonKind::boolean && stable->truth;
  }
  return header;
}

}  // namespace snapdiff::formats::tracker_lines

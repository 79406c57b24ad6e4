#pragma once

#include <span>
#include <string>
#include <string_view>

/// A client may read these without a tool: the schemas of JSON documents, and the words of verdicts.
namespace snapdiff::mcp {

/// A JSON schema of analyzer/report/schema: "trend" and its text.
struct SchemaText {
  std::string_view name, text;
};
std::span<const SchemaText> schema_texts();

struct Resource {
  std::string uri, name, title, type, text;
};
std::span<const Resource> resources();

}  // namespace snapdiff::mcp

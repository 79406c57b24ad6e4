#include "analyzer/mcp/resources.hpp"

#include <vector>

#include "analyzer/document/terms.hpp"

namespace snapdiff::mcp {

std::span<const Resource> resources() {
  static const std::vector<Resource> all = [] {
    std::vector<Resource> made = {
        {"snapdiff://words/verdicts", "verdicts", "The words of verdicts", "text/plain", document::verdict_help()}};
    for (const SchemaText& schema : schema_texts()) {
      const std::string name(schema.name);
      made.push_back({"snapdiff://schema/" + name, name + ".schema.json", "JSON schema of " + name + " documents",
                      "application/schema+json", std::string(schema.text)});
    }
    return made;
  }();
  return all;
}

}  // namespace snapdiff::mcp

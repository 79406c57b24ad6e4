#include "analyzer/session/resident_parts.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analyzer/base/number_text.hpp"
#include "analyzer/document/prose.hpp"
#include "analyzer/waterfall/make_waterfall.hpp"

namespace snapdiff::session {
namespace {

constexpr std::size_t kMostInShort = 5;  // lines, the last of which says what to do

/// "52.4 MiB", with the growth where two moments are known.
std::string amount(const WaterfallAmount& bytes) {
  std::string text = bytes.after ? bytes_text(*bytes.after) : "unknown";
  if (const auto growth = bytes.growth()) text += " (" + growth_text(*growth) + ")";
  return text;
}

}  // namespace

std::shared_ptr<const Waterfall> resident_parts(const Loaded& loaded) {
  const std::vector<SnapshotRef> refs = loaded.refs();
  Result<Waterfall> made = waterfall::make_waterfall(refs);
  if (!made || !made->rss.after) return nullptr;
  const bool has_part = std::any_of(made->parts.begin(), made->parts.end(), [](const WaterfallPart& part) {
    return part.kind != WaterfallKind::unexplained && part.bytes.after.value_or(0) != 0;
  });
  return has_part ? std::make_shared<const Waterfall>(*std::move(made)) : nullptr;
}

void tell_resident(const Waterfall& parts, Narrative& told) {
  std::string sum;
  for (const WaterfallPart& part : parts.parts) {
    if (part.bytes.after.value_or(0) == 0 && part.bytes.growth().value_or(0) == 0) continue;
    sum += (sum.empty() ? "" : "; ") + part.name + " " + amount(part.bytes);
  }
  std::vector<Finding> findings;
  const auto say = [&](std::string text) {
    findings.push_back({Finding::Kind::where, document::prose_of(std::string_view(text))});
  };
  say("RSS " + amount(parts.rss) + " consists of: " + sum + ".");
  if (!parts.says.empty()) say("Growth of RSS: " + parts.says + ".");
  for (const std::string& unseen : parts.unseen) {
    if (parts.unseen.size() < 3) say("Not seen: " + unseen + ".");
  }
  const auto behind = std::find_if(told.findings.begin(), told.findings.end(),
                                   [](const Finding& one) { return one.kind > Finding::Kind::where; });
  told.findings.insert(behind, findings.begin(), findings.end());
  if (!parts.leader || parts.says.empty() || parts.parts[*parts.leader].kind == WaterfallKind::in_use) return;
  const WaterfallPart& leader = parts.parts[*parts.leader];
  const std::string line = "RSS " + growth_text(*parts.rss.growth()) + ": " + leader.name + " " +
                           growth_text(*leader.bytes.growth()) + "; " + parts.says + ".";
  told.in_short.insert(told.in_short.begin() + (told.in_short.empty() ? 0 : 1),
                       document::prose_of(std::string_view(line)));
  if (told.in_short.size() > kMostInShort) told.in_short.erase(told.in_short.end() - 2);
}

}  // namespace snapdiff::session

#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/postmortem/make_postmortem.hpp"
#include "support/snapshot_text.hpp"

namespace snapdiff::test {

/// A report of snapshots in text, with its narrative.
inline Postmortem told(const std::vector<std::string>& texts, postmortem::Request request = {},
                       const postmortem::Rules& rules = {}) {
  std::vector<SnapshotRef> refs;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    TextOptions options;
    options.facts.source.name = "/srv/dumps/svc." + std::to_string(i + 1) + ".heap";
    SnapshotRef ref;
    ref.snapshot = std::make_shared<const Snapshot>(snapshot(texts[i], options));
    ref.ref = options.facts.source.name;
    refs.push_back(std::move(ref));
  }
  Result<Postmortem> report = postmortem::assemble(refs, std::move(request));
  if (!report) FAIL(report.error().text());
  report->narrative = postmortem::tell(*report, rules);
  return *std::move(report);
}

inline std::string plain(const Prose& prose) {
  std::string out;
  for (const Span& span : prose) out += span.text;
  for (const std::string_view gap : {"\u2009", "\u00a0"}) {
    for (std::size_t at = out.find(gap); at != std::string::npos; at = out.find(gap)) out.replace(at, gap.size(), " ");
  }
  return out;
}

/// All findings of a kind, a line each.
inline std::string of_kind(const Postmortem& report, Finding::Kind kind) {
  std::string out;
  for (const Finding& finding : report.narrative.findings) {
    if (finding.kind == kind) out += plain(finding.text) + "\n";
  }
  return out;
}

/// `count` snapshots: "leak" climbs by 1000 bytes, "cache" stays.
inline std::vector<std::string> leaking(std::size_t count) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i)
    texts.push_back("main;serve;leak@leak.cc:7 " + std::to_string(1000 * (i + 1)) + " " + std::to_string(i + 1) +
                    "\nmain;cache@cache.cc:3 50000 5\n");
  return texts;
}

}  // namespace snapdiff::test

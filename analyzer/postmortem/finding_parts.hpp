#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/story/prose.hpp"
#include "snapdiff/postmortem.hpp"

/// What the sentences and the findings of a narrative share.
namespace snapdiff::postmortem {

/// "snapshot 2 (svc.0002.heap, 12:00)" of a judged snapshot.
story::Writer& snapshot_text(story::Writer& out, const Postmortem& report, std::size_t index);
story::Writer& suspect_name(story::Writer& out, const Culprit& suspect);
story::Writer& counter_change(story::Writer& out, const CounterRow& row);
/// Those that rise, then what was freed.
std::vector<Culprit> culprits_of(const Postmortem& report);
inline bool is_falling(const Culprit& suspect) { return suspect.value.growth() < 0; }

}  // namespace snapdiff::postmortem

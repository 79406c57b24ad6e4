#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "analyzer/base/library_frames.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/story/story_parts.hpp"

namespace snapdiff::story {
namespace {

constexpr std::size_t kMostPeakParts = 10;
constexpr std::size_t kRolesInFigures = 5;
constexpr std::size_t kMostModuleLines = 5;
constexpr std::size_t kRoleBands = 6;
constexpr double kWorthAPart = 0.005;   // of the peak
constexpr double kWorthAdvice = 0.1;    // of the peak: what advice must be able to save
constexpr double kMuchUnknown = 0.25;   // of the peak: worth another recording
constexpr std::int64_t kStateBits = 4;  // 32 bits of a value of an optimizer's state over 8

/// Rows of one line and role. The line is where a person looks first: the innermost frame of their own code, else the
/// innermost one.
struct Held {
  FrameView frame;
  std::string_view via, role;
  std::int64_t blocks = 0, bytes = 0, passing = 0;
};

PeakPart part_of(const Held& held, double share) {
  PeakPart part;
  part.path = {held.frame};
  part.via = held.via;
  part.own = !held.frame.library && !held.frame.pseudo;
  part.value = {held.bytes, held.bytes};
  part.objects = {held.blocks, held.blocks};
  part.share = share;
  part.text.label = held.role.substr(0, held.role.find(' '));  // "optimizer" of "optimizer state" fits a badge
  part.text.name = Writer().frame(held.frame).take();
  part.text.place = place_of(held.frame);
  if (!part.via.empty()) part.text.via = {{std::string(part.via), true}};
  part.text.growth = sized(held.bytes);
  part.text.share = percent_of(share);
  std::string pace = amount_of(held.blocks, "block");
  if (held.passing == held.bytes) {
    pace += ", all freed again";
  } else if (held.passing > 0) {
    pace += ", " + sized(held.passing) + " of it freed again";
  }
  part.text.pace = prose_of(pace);
  return part;
}

/// Adds the lines that hold most, of `view`'s stacks; `no_stack` stands for stack 0.
void add_parts(const MemoryPeak& peak, const StackView& view, StackId no_stack, PeakStory& out) {
  // A dictionary holds each name once, so equal names have one address. Comparing letters would read a long name per
  // row.
  std::map<std::tuple<const char*, const char*, const char*, std::int32_t>, std::size_t> known;
  std::vector<Held> lines;
  std::vector<FrameView> frames;
  for (const PeakRow& row : peak.rows) {
    frames.clear();
    if (!row.unattributed) view.frames({row.stack == StackId{} ? no_stack : row.stack, 1}, frames);
    const std::string_view via = fold_library_frames(frames);
    FrameView frame;
    if (!frames.empty()) {
      frame = frames.front();
    } else {
      frame.function = row.unattributed ? "[before trace]" : "[no stack recorded]";
      frame.pseudo = true;
    }
    const auto [at, is_new] =
        known.try_emplace({row.role.data(), frame.function.data(), frame.file.data(), frame.line}, lines.size());
    if (is_new) lines.push_back({frame, via, row.role});
    Held& held = lines[at->second];
    if (held.via.data() != via.data()) held.via = {};
    held.blocks += row.blocks;
    held.bytes += row.bytes;
    held.passing += row.passing;
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Held& a, const Held& b) { return std::tie(b.bytes, a.role) < std::tie(a.bytes, b.role); });
  for (const Held& held : lines) {
    const double share = static_cast<double>(held.bytes) / static_cast<double>(std::max<std::int64_t>(peak.bytes, 1));
    if (out.parts.size() == kMostPeakParts || share < kWorthAPart) break;
    out.parts.push_back(part_of(held, share));
    out.roles.push_back(held.role);
  }
}

/// "57 % activation, 27 % optimizer state", with what `amount` says of the bytes of each role.
template <class Amount>
std::string roles_text(const MemoryPeak& peak, std::span<const PeakRole> roles, Amount amount) {
  std::string text;
  for (const PeakRole& role : roles) {
    if (static_cast<double>(role.bytes) < kWorthAPart * static_cast<double>(peak.bytes)) break;
    text.append(text.empty() ? "" : ", ").append(amount(role.bytes) + " ").append(role.role);
  }
  return text;
}

/// Of the roles from `first` on.
std::string shares_text(const MemoryPeak& peak, std::size_t first, std::size_t end) {
  const std::size_t last = std::min(end, peak.roles.size());
  return roles_text(peak, std::span(peak.roles).subspan(std::min(first, last), last - std::min(first, last)),
                    [&](std::int64_t bytes) { return percent(bytes, peak.bytes); });
}

/// ", with 11.7 GiB reserved, 40.0 MiB of it fragmentation".
std::string reserved_text(const MemoryPeak& peak) {
  if (!peak.reserved || *peak.reserved < peak.bytes) return {};  // figures of another moment
  std::string text = ", with " + sized(*peak.reserved) + " reserved";
  if (!peak.cached) return text;
  const auto part = [&](const FreeBytes& free, std::string_view what) {
    if (free.bytes > 0) text += ", " + sized(free.bytes) + " of it " + std::string(what);
  };
  part(peak.cached->fragments, "fragmentation");
  part(peak.cached->releasable, "releasable");
  return text;
}

std::string figures_of(const MemoryPeak& peak) {
  std::string text = shares_text(peak, 1, kRolesInFigures);
  if (!text.empty()) text += "; ";
  if (!peak.has_history)
    return text + amount_of(peak.blocks, "block") + reserved_text(peak) +
           "; no history was recorded: neither what was freed before nor why an allocation failed is known";
  text += sized(peak.at_start) + " at the start, " + sized(peak.at_end) + " at the end";
  if (const std::string kept = roles_text(peak, peak.kept, sized); !kept.empty()) text += ", of it new: " + kept;
  text += "; the peak is ";
  if (!peak.part.empty()) text += "in " + std::string(peak.part) + ", ";
  text += "after event " + count(peak.event) + " of " + count(peak.events);
  return text + reserved_text(peak);
}

/// The lines below which modules are called, from the outside in.
std::vector<Prose> modules_of(const MemoryPeak& peak) {
  std::vector<Prose> out;
  for (const PeakModule& module : peak.modules) {
    if (out.size() == kMostModuleLines) break;
    Writer line;
    line << sized(module.bytes) << "  " << percent(module.bytes, peak.bytes) << "  ";
    for (std::size_t i = 0; i < module.path.size(); ++i) {
      FrameView frame;
      frame.file = module.path[i].file;
      frame.line = module.path[i].line;
      (line << (i == 0 ? "" : " \u203a ")).place(frame);
    }
    if (module.calls > 1)
      line << ", " << count(module.calls) << " calls of " << sized(module.bytes / module.calls) << " each";
    out.push_back(line.take());
  }
  return out;
}

/// What would hold less at the peak. Nothing without a figure that matters. `gaps_matter`: fewer gaps may help.
std::vector<Prose> advice_for(const MemoryPeak& peak, bool gaps_matter = true) {
  std::vector<Prose> lines;
  const auto say = [&](const auto&... parts) { lines.push_back(prose_of(parts...)); };
  const auto of = [&](std::string_view role) {
    const auto at = std::ranges::find(peak.roles, role, &PeakRole::role);
    return at == peak.roles.end() ? 0 : at->bytes;
  };
  const auto is_share = [&](std::int64_t bytes, double share) {
    return static_cast<double>(bytes) >= share * static_cast<double>(peak.bytes);
  };
  // Each call keeps what it hands on, and one of them all that it computes.
  if (peak.layers) {
    const RepeatedCall& layers = *peak.layers;
    const std::int64_t held = layers.bytes / layers.calls + layers.calls * layers.output;
    if (is_share(layers.bytes - held, kWorthAdvice)) {
      FrameView frame;
      frame.file = layers.file;
      frame.line = layers.line;
      say(sized(layers.bytes), " are activations of the ", count(layers.calls), " module calls at ",
          Writer().place(frame).take(), ": with torch.utils.checkpoint around each call they would be about ",
          sized(held));
    }
  }
  if (const std::int64_t held = of("gradient"); peak.part == "forward" && is_share(held, kWorthAdvice))
    say(sized(held), " are gradients that last through forward: unless they are accumulated, ",
        "zero_grad(set_to_none=True) before it frees them");
  if (const std::int64_t held = of("optimizer state"); is_share(held - held / kStateBits, kWorthAdvice))
    say(sized(held), " are the optimizer's state: with 8 instead of 32 bits a value they would be about ",
        sized(held / kStateBits));
  const std::int64_t unused = peak.reserved.value_or(0) - peak.bytes;
  if (gaps_matter && peak.reserved && !peak.expandable && is_share(unused, kWorthAdvice)) {
    // Releasable bytes need another call, not another allocator.
    if (peak.cached && peak.cached->releasable.bytes >= peak.cached->fragments.bytes) {
      say(sized(unused), " are reserved and not in use: torch.cuda.empty_cache() gives ",
          sized(peak.cached->releasable.bytes), " of that back");
    } else {
      say(sized(unused), " are reserved and not in use: expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF keeps ",
          "less of that");
    }
  }
  if (const std::int64_t held = of("before trace"); peak.has_history && is_share(held, kMuchUnknown))
    say(sized(held), " were there before the trace: torch.cuda.memory._record_memory_history() ",
        "before the model is made tells what they are");
  return lines;
}

/// Adds what each role holds at this moment; false where it has no such column.
bool add_roles(const std::vector<SeriesStep>& steps, std::size_t step, std::string_view metric,
               std::map<std::string_view, std::vector<std::int64_t>>& roles) {
  const Snapshot* snapshot = steps[step].snapshot.snapshot.get();
  const Column* column = snapshot == nullptr ? nullptr : snapshot->column(metric);
  if (column == nullptr) return false;
  const Dictionary& d = *snapshot->dictionary;
  for (std::size_t row = 0; row < snapshot->samples.size(); ++row) {
    for (const Label& label : d.labels.labels(snapshot->samples.labels[row])) {
      if (d.strings[label.key] != "role") continue;
      std::vector<std::int64_t>& values = roles[d.strings[label.text]];
      values.resize(steps.size(), 0);
      values[step] += column->value[row];
    }
  }
  return true;
}

/// Bytes of one role at each moment; empty where moments have no roles. What lasts lies at the bottom.
std::vector<Band> role_bands(const std::vector<SeriesStep>& steps, std::string_view metric) {
  std::map<std::string_view, std::vector<std::int64_t>> roles;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!add_roles(steps, i, metric, roles)) return {};
  }
  std::vector<Band> out;
  for (auto& [role, values] : roles)
    out.push_back({Band::Kind::role, role_number(role), prose_of(role), {}, std::move(values)});
  const auto by = [&](auto&& value_of) {
    std::stable_sort(out.begin(), out.end(),
                     [&](const Band& a, const Band& b) { return *value_of(a.values) > *value_of(b.values); });
  };
  by([](const auto& values) { return std::max_element(values.begin(), values.end()); });
  if (out.size() > kRoleBands) out.resize(kRoleBands);
  by([](const auto& values) { return std::min_element(values.begin(), values.end()); });
  return out;
}

/// The same of one moment, which stands for all steps.
std::vector<Band> bands_of_one(const MemoryPeak& peak, std::size_t steps) {
  std::vector<Band> out;
  for (const PeakRole& role : peak.roles) {
    if (out.size() == kRoleBands) break;
    const std::vector<std::int64_t> values(steps, role.bytes);
    out.push_back({Band::Kind::role, role_number(role.role), prose_of(role.role), {}, values});
  }
  return out;
}

/// What lists the peak by role; of a snapshot without moments, who keeps its segments.
Prose list_command(const MemoryPeak& peak, const SnapshotRef& operand) {
  if (operand.ref.empty()) return {};
  Writer out;
  out << (peak.has_history ? "snapdiff top" : "snapdiff pins");
  out.operand(operand);
  if (peak.has_history) out << "@peak --by role";
  return out.take();
}

}  // namespace

PeakStory peak_story(MemoryPeak peak, std::shared_ptr<const StackView> view, StackId no_stack,
                     const SnapshotRef& operand) {
  PeakStory out;
  add_parts(peak, *view, no_stack, out);
  out.headline =
      prose_of(sized(peak.bytes), peak.has_history ? " at the peak, " : " in use, ", shares_text(peak, 0, 1));
  out.figures = figures_of(peak);
  out.advice = advice_for(peak);
  out.modules = modules_of(peak);
  out.next = list_command(peak, operand);
  out.facts = std::move(peak);
  out.view = std::move(view);
  return out;
}

PeakStory held_story(MemoryPeak heap, std::string_view held, std::shared_ptr<const StackView> view, StackId no_stack,
                     const SnapshotRef& operand, const OwnerReport* owners) {
  PeakStory out;
  if (owners != nullptr) out.parts = owned_parts(*owners, heap.bytes);
  if (out.parts.empty()) add_parts(heap, *view, no_stack, out);
  out.roles.resize(out.parts.size());
  out.headline = prose_of(sized(heap.bytes), held);
  if (heap.blocks > 0) out.figures = amount_of(heap.blocks, "object") + "; ";
  out.figures += "one snapshot shows no growth: take a second one later under the same load";
  Writer next;
  if (!operand.ref.empty()) {
    next << (owners != nullptr ? "snapdiff retained" : "snapdiff top --by function --cum");
    next.operand(operand);
  }
  out.next = next.take();
  out.facts = std::move(heap);
  out.view = std::move(view);
  return out;
}

void advise_at_failure(PeakStory& peak, const MemoryPeak& moment, const OutOfMemory& failure) {
  peak.advice.clear();
  // Where it would fail without any gap, fewer gaps are no help.
  const bool gaps_matter = failure.reason != OutOfMemoryReason::exhausted;
  for (Prose& line : advice_for(moment, gaps_matter)) {
    line.insert(line.begin(), {"When it failed, ", false});
    peak.advice.push_back(std::move(line));
  }
}

void tell_peak(TrendReport& trend, std::shared_ptr<const PeakStory> peak, bool is_series) {
  GrowthReport& report = trend.series.overall;
  if (report.story == nullptr || peak == nullptr || (peak->facts.bytes == 0 && peak->figures.empty())) return;
  auto story = std::make_shared<Story>(*report.story);
  if (is_series) {
    if (!story->headline.empty() && story->headline.front().text.starts_with("No leak"))
      story->headline.push_back({", " + sized(peak->facts.bytes) + " at the peak", false});
    story->also.insert(story->also.begin(), prose_of(kAtPeak, sized(peak->facts.bytes),
                                                     " in use: ", shares_text(peak->facts, 0, kRolesInFigures)));
  } else {
    Story whole;
    whole.snapshots = story->snapshots;
    whole.first = story->first;
    whole.extent = story->extent;
    whole.events = std::move(story->events);
    whole.headline = peak->headline;
    whole.figures = peak->figures;
    whole.next = peak->next;
    whole.is_of_peak = true;
    if (report.metric == "inuse_space")
      whole.bands = peak->facts.has_history ? role_bands(trend.series.steps, report.metric)
                                            : bands_of_one(peak->facts, trend.series.steps.size());
    *story = std::move(whole);
    for (Verdict& verdict : trend.verdicts) verdict = {};
    report.common_path.clear();
  }
  story->peak = std::move(peak);
  report.story = std::move(story);
}

}  // namespace snapdiff::story

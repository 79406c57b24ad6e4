#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/base/library_frames.hpp"
#include "analyzer/base/role_names.hpp"
#include "analyzer/story/make_story.hpp"
#include "analyzer/story/next_command.hpp"
#include "analyzer/story/prose.hpp"
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

/// A word that fits a badge: "optimizer" of "optimizer state".
std::string label_of(std::string_view role) { return std::string(role.substr(0, role.find(' '))); }

/// Where a person looks first: the innermost frame of their own code, else the innermost one.
struct Site {
  FrameView frame;
  std::string_view via;
};
Site site_of(std::vector<FrameView>& frames) {
  const std::string_view via = fold_library_frames(frames);
  return frames.empty() ? Site{} : Site{frames.front(), via};
}

/// In the order of its letters. The same text of a dictionary is not read to see that: many lines name one file.
struct Text {
  std::string_view text;
  friend bool operator<(const Text& a, const Text& b) {
    return (a.text.data() != b.text.data() || a.text.size() != b.text.size()) && a.text < b.text;
  }
};

/// Rows of one line and role.
struct Held {
  Site site;
  std::string_view role;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  std::int64_t passing = 0;
};

class PeakParts {
 public:
  PeakParts(const StackView& view, StackId no_stack) : view_(view), no_stack_(no_stack) {}

  void add(const PeakRow& row) {
    frames_.clear();
    if (!row.unattributed) view_.frames({row.stack == StackId{} ? no_stack_ : row.stack, 1}, frames_);
    Site site = site_of(frames_);
    if (row.unattributed) {
      site.frame.function = "[before trace]";
      site.frame.pseudo = true;
    } else if (frames_.empty()) {
      site.frame.function = "[no stack recorded]";
      site.frame.pseudo = true;
    }
    Held& sum = sums_[{Text{row.role}, Text{site.frame.function}, Text{site.frame.file}, site.frame.line}];
    if (sum.blocks == 0) {
      sum.site = site;
      sum.role = row.role;
    }
    if (sum.site.via != site.via) sum.site.via = {};
    sum.blocks += row.blocks;
    sum.bytes += row.bytes;
    sum.passing += row.passing;
  }

  void most(std::int64_t whole, PeakStory& out) const {
    std::vector<const Held*> order;
    for (const auto& [key, sum] : sums_) order.push_back(&sum);
    std::stable_sort(order.begin(), order.end(), [](const Held* a, const Held* b) { return a->bytes > b->bytes; });
    for (const Held* sum : order) {
      const double share = static_cast<double>(sum->bytes) / static_cast<double>(std::max<std::int64_t>(whole, 1));
      if (out.parts.size() == kMostPeakParts || share < kWorthAPart) break;
      out.parts.push_back(part_of(*sum, share));
      out.roles.push_back(sum->role);
    }
  }

 private:
  static PeakPart part_of(const Held& sum, double share) {
    PeakPart part;
    part.path = {sum.site.frame};
    part.via = sum.site.via;
    part.own = !sum.site.frame.library && !sum.site.frame.pseudo;
    part.value = {sum.bytes, sum.bytes};
    part.objects = {sum.blocks, sum.blocks};
    part.share = share;
    part.text.label = label_of(sum.role);
    part.text.name = Writer().frame(sum.site.frame).take();
    part.text.place = place_of(sum.site.frame);
    if (!part.via.empty()) part.text.via = {{std::string(part.via), true}};
    part.text.growth = sized(sum.bytes);
    part.text.share = percent_of(share);
    std::string pace = amount_of(sum.blocks, "block");
    if (sum.passing == sum.bytes) {
      pace += ", all freed again";
    } else if (sum.passing > 0) {
      pace += ", " + sized(sum.passing) + " of it freed again";
    }
    part.text.pace = prose_of(pace);
    return part;
  }

  const StackView& view_;
  StackId no_stack_;
  std::map<std::tuple<Text, Text, Text, std::int32_t>, Held> sums_;
  std::vector<FrameView> frames_;
};

/// "57 % activation, 27 % optimizer state": roles from `first` on.
std::string shares_text(const MemoryPeak& peak, std::size_t first, std::size_t end) {
  std::string text;
  for (std::size_t i = first; i < peak.roles.size() && i < end; ++i) {
    if (i > 0 && static_cast<double>(peak.roles[i].bytes) < kWorthAPart * static_cast<double>(peak.bytes)) break;
    text +=
        (text.empty() ? "" : ", ") + percent(peak.roles[i].bytes, peak.bytes) + " " + std::string(peak.roles[i].role);
  }
  return text;
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

/// "3.15 GiB optimizer state, 1.58 GiB gradient".
std::string kept_text(const MemoryPeak& peak) {
  std::string text;
  for (const PeakRole& role : peak.kept) {
    if (static_cast<double>(role.bytes) < kWorthAPart * static_cast<double>(peak.bytes)) break;
    text += (text.empty() ? "" : ", ") + sized(role.bytes) + " " + std::string(role.role);
  }
  return text;
}

std::string figures_of(const MemoryPeak& peak) {
  std::string text = shares_text(peak, 1, kRolesInFigures);
  if (!text.empty()) text += "; ";
  if (!peak.has_history)
    return text + amount_of(peak.blocks, "block") + reserved_text(peak) +
           "; no history was recorded: neither what was freed before nor why an allocation failed is known";
  text += sized(peak.at_start) + " at the start, " + sized(peak.at_end) + " at the end";
  if (const std::string kept = kept_text(peak); !kept.empty()) text += ", of it new: " + kept;
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

/// What would hold less at the peak. Nothing without a figure that matters.
class PeakAdvice {
 public:
  explicit PeakAdvice(const MemoryPeak& peak, bool gaps_matter = true) : peak_(peak), gaps_matter_(gaps_matter) {}

  std::vector<Prose> all() {
    checkpointing();
    gradients();
    optimizer_state();
    reserved();
    before_trace();
    return std::move(lines_);
  }

 private:
  std::int64_t of(std::string_view role) const {
    const auto at =
        std::find_if(peak_.roles.begin(), peak_.roles.end(), [&](const PeakRole& r) { return r.role == role; });
    return at == peak_.roles.end() ? 0 : at->bytes;
  }
  bool is_worth(std::int64_t saved) const {
    return static_cast<double>(saved) >= kWorthAdvice * static_cast<double>(peak_.bytes);
  }

  /// Each call keeps what it hands on, and one of them all that it computes.
  void checkpointing() {
    if (!peak_.layers) return;
    const RepeatedCall& layers = *peak_.layers;
    const std::int64_t held = layers.bytes / layers.calls + layers.calls * layers.output;
    if (!is_worth(layers.bytes - held)) return;
    FrameView frame;
    frame.file = layers.file;
    frame.line = layers.line;
    Writer line;
    line << sized(layers.bytes) << " are activations of the " << count(layers.calls) << " module calls at ";
    line.place(frame) << ": with torch.utils.checkpoint around each call they would be about " << sized(held);
    lines_.push_back(line.take());
  }

  void gradients() {
    const std::int64_t held = of("gradient");
    if (peak_.part != "forward" || !is_worth(held)) return;
    lines_.push_back(prose_of(sized(held), " are gradients that last through forward: unless they are accumulated, ",
                              "zero_grad(set_to_none=True) before it frees them"));
  }

  void optimizer_state() {
    const std::int64_t held = of("optimizer state");
    if (!is_worth(held - held / kStateBits)) return;
    lines_.push_back(prose_of(sized(held),
                              " are the optimizer's state: with 8 instead of 32 bits a value they would be about ",
                              sized(held / kStateBits)));
  }

  void reserved() {
    if (!gaps_matter_ || !peak_.reserved || peak_.expandable) return;
    const std::int64_t unused = *peak_.reserved - peak_.bytes;
    if (!is_worth(unused)) return;
    // Releasable bytes need another call, not another allocator.
    if (peak_.cached && peak_.cached->releasable.bytes >= peak_.cached->fragments.bytes) {
      lines_.push_back(prose_of(sized(unused), " are reserved and not in use: torch.cuda.empty_cache() gives ",
                                sized(peak_.cached->releasable.bytes), " of that back"));
      return;
    }
    lines_.push_back(prose_of(
        sized(unused), " are reserved and not in use: expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF keeps ",
        "less of that"));
  }

  void before_trace() {
    const std::int64_t held = of("before trace");
    if (!peak_.has_history || static_cast<double>(held) < kMuchUnknown * static_cast<double>(peak_.bytes)) return;
    lines_.push_back(prose_of(sized(held), " were there before the trace: torch.cuda.memory._record_memory_history() ",
                              "before the model is made tells what they are"));
  }

  const MemoryPeak& peak_;
  bool gaps_matter_;
  std::vector<Prose> lines_;
};

/// Bytes of one role at each moment; empty where moments have no roles.
class RoleBands {
 public:
  RoleBands(const std::vector<SeriesStep>& steps, std::string_view metric) : steps_(steps), metric_(metric) {}

  std::vector<Band> bands() {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!add(i)) return {};
    }
    std::vector<Band> out;
    for (auto& [role, values] : values_) {
      out.push_back({Band::Kind::role, role_number(role), prose_of(role), {}, std::move(values)});
    }
    std::stable_sort(out.begin(), out.end(), [](const Band& a, const Band& b) { return most(a) > most(b); });
    if (out.size() > kRoleBands) out.resize(kRoleBands);
    // What lasts lies at the bottom.
    std::stable_sort(out.begin(), out.end(), [](const Band& a, const Band& b) { return least(a) > least(b); });
    return out;
  }

 private:
  static std::int64_t most(const Band& band) { return *std::max_element(band.values.begin(), band.values.end()); }
  static std::int64_t least(const Band& band) { return *std::min_element(band.values.begin(), band.values.end()); }

  bool add(std::size_t step) {
    if (steps_[step].snapshot.snapshot == nullptr) return false;
    const Snapshot& snapshot = *steps_[step].snapshot.snapshot;
    const Column* column = snapshot.column(metric_);
    if (column == nullptr) return false;
    const Dictionary& d = *snapshot.dictionary;
    for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
      for (const Label& label : d.labels.labels(snapshot.samples.labels[row])) {
        if (d.strings[label.key] != "role") continue;
        std::vector<std::int64_t>& values = values_[d.strings[label.text]];
        values.resize(steps_.size(), 0);
        values[step] += column->value[row];
      }
    }
    return true;
  }

  const std::vector<SeriesStep>& steps_;
  std::string_view metric_;
  std::map<std::string_view, std::vector<std::int64_t>> values_;
};

/// The same of one moment, which stands for all steps.
std::vector<Band> bands_of_one(const MemoryPeak& peak, std::size_t steps) {
  std::vector<Band> out;
  for (const PeakRole& role : peak.roles) {
    if (out.size() == kRoleBands) break;
    out.push_back({Band::Kind::role,
                   role_number(role.role),
                   prose_of(role.role),
                   {},
                   std::vector<std::int64_t>(steps, role.bytes)});
  }
  return out;
}

/// What lists the peak by role; of a snapshot without moments, who keeps its segments.
Prose list_command(const MemoryPeak& peak, const SnapshotRef& operand) {
  if (operand.ref.empty()) return {};
  Writer out;
  out << (peak.has_history ? "snapdiff top" : "snapdiff pins");
  story::operand(out, operand);
  if (peak.has_history) out << "@peak --by role";
  return out.take();
}

}  // namespace

PeakStory peak_story(MemoryPeak peak, std::shared_ptr<const StackView> view, StackId no_stack,
                     const SnapshotRef& operand) {
  PeakStory out;
  PeakParts parts(*view, no_stack);
  for (const PeakRow& row : peak.rows) parts.add(row);
  parts.most(peak.bytes, out);
  out.headline =
      prose_of(sized(peak.bytes), peak.has_history ? " at the peak, " : " in use, ", shares_text(peak, 0, 1));
  out.figures = figures_of(peak);
  out.advice = PeakAdvice(peak).all();
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
  if (out.parts.empty()) {
    PeakParts parts(*view, no_stack);
    for (const PeakRow& row : heap.rows) parts.add(row);
    parts.most(heap.bytes, out);
  }
  out.roles.resize(out.parts.size());
  out.headline = prose_of(sized(heap.bytes), held);
  if (heap.blocks > 0) out.figures = amount_of(heap.blocks, "object") + "; ";
  out.figures += "one snapshot shows no growth: take a second one later under the same load";
  Writer next;
  if (!operand.ref.empty()) {
    next << (owners != nullptr ? "snapdiff retained" : "snapdiff top --by function --cum");
    story::operand(next, operand);
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
  for (Prose& line : PeakAdvice(moment, gaps_matter).all()) {
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
      whole.bands = peak->facts.has_history ? RoleBands(trend.series.steps, report.metric).bands()
                                            : bands_of_one(peak->facts, trend.series.steps.size());
    *story = std::move(whole);
    for (Verdict& verdict : trend.verdicts) verdict = {};
    report.common_path.clear();
  }
  story->peak = std::move(peak);
  report.story = std::move(story);
}

}  // namespace snapdiff::story

#include <algorithm>

#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/base/number_text.hpp"
#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/hash.hpp"

/// Stacks with a number each, for tools that draw flame graphs.
/// Folded: one line per stack, root first: "main;handle_request;alloc 4096". README.md says how growth and shrinkage
/// are distinguished.
/// Speedscope (https://www.speedscope.app/file-format-schema.json): a frame table and "sampled" profiles, one weight
/// per stack, root first. Weights are positive: growth and shrinkage are two profiles of one file.
namespace snapdiff::report {

namespace {

/// Calls `add` with each stack, leaf first, or key of a group and its growth, then with what completes the sum.
template <class Add>
void for_each_amount(const GrowthReport& report, const Add& add) {
  std::vector<FrameView> frames;
  for (const GrowthRow& row : report.rows) {
    if (report.options.by == GroupBy::stack) {
      report.frames(row, frames);
      add(std::span<const FrameView>(frames), row.value.growth());
    } else {
      add(std::string_view(report.keys[row.key]), row.value.growth());
    }
  }
  add(kUnattributed, report.unattributed.growth());
  add(std::string_view("[filtered out]"), report.filtered.growth());
}

/// The same of the values of one snapshot.
template <class Add>
void for_each_amount(const TopReport& report, const Add& add) {
  std::vector<FrameView> frames;
  for (const TopRow& row : report.rows) {
    if (report.options.by == GroupBy::stack) {
      report.view->frames(report.stacks[row.key], frames);
      add(std::span<const FrameView>(frames), row.value);
    } else {
      add(std::string_view(report.keys[row.key]), row.value);
    }
  }
  add(kUnattributed, report.unattributed);
  add(std::string_view("[filtered out]"), report.filtered);
}

constexpr std::string_view kGrew = "[grew]";
constexpr std::string_view kShrank = "[shrank]";

/// Readers of this format split at ';' and take what follows the last blank as the number, and know
/// no escape: a semicolon becomes a colon, as other writers of the format do; control characters and
/// line ends become \xNN.
void append_name(std::string& line, std::string_view name) {
  std::string text = printable(name);
  std::ranges::replace(text, ';', ':');
  line += text;
}

void append_magnitude(std::string& line, std::int64_t value) {
  line += ' ';
  append_number(line, magnitude(value));

  line += '\n';
}

class Lines {
 public:
  Lines(bool growth, const Sink* sink) : growth_(growth), sink_(sink) {}

  void add(std::span<const FrameView> leaf_first, std::int64_t value) {
    if (value == 0) return;
    start(value);
    for (std::size_t i = leaf_first.size(); i-- > 0;) {
      separate();
      append_name(out_, recorded_frame_text(leaf_first[i]));
    }
    if (leaf_first.empty()) append_only("[filtered out]");
    append_magnitude(out_, value);
  }

  void add(std::string_view name, std::int64_t value) {
    if (value == 0) return;
    start(value);
    append_only(name);
    append_magnitude(out_, value);
  }

  std::string take() { return std::move(out_); }

 private:
  void start(std::int64_t value) {
    pass_on(out_, sink_);
    fresh_ = true;
    if (growth_) append_only(value > 0 ? kGrew : kShrank);
    // A snapshot has negative values only where it was saved by a diff.
    if (!growth_ && value < 0) append_only(kShrank);
  }
  void separate() {
    if (!fresh_) out_ += ';';
    fresh_ = false;
  }
  void append_only(std::string_view name) {
    separate();
    append_name(out_, name);
  }

  bool growth_;
  const Sink* sink_;
  bool fresh_ = true;
  std::string out_;
};

template <class Report>
std::string folded(const Report& report, bool growth, const Sink* sink) {
  Lines lines(growth, sink);
  for_each_amount(report, [&](const auto& stack, std::int64_t amount) { lines.add(stack, amount); });
  return lines.take();
}

struct Profile {
  explicit Profile(std::string title) : name(std::move(title)) {}

  std::string name;
  std::vector<std::uint32_t> frames;  ///< of all samples, root first
  std::vector<std::uint64_t> begin{0};
  std::vector<std::uint64_t> weights;
};

class Document {
 public:
  void add(Profile& profile, std::span<const FrameView> leaf_first, std::uint64_t weight) {
    if (leaf_first.empty()) {
      add(profile, "[filtered out]", weight);
      return;
    }
    for (std::size_t i = leaf_first.size(); i-- > 0;) profile.frames.push_back(intern(leaf_first[i]));
    profile.begin.push_back(profile.frames.size());
    profile.weights.push_back(weight);
  }
  void add(Profile& profile, std::string_view name, std::uint64_t weight) {
    profile.frames.push_back(intern(made_frame(name, false)));
    profile.begin.push_back(profile.frames.size());
    profile.weights.push_back(weight);
  }

  std::string text(const std::string& name, const std::string& unit, std::span<const Profile* const> profiles) const {
    std::string out;
    JsonWriter json(out);
    json.begin_object();
    json.field("$schema", "https://www.speedscope.app/file-format-schema.json");
    json.field("name", name);
    json.field("exporter", "snapdiff");
    json.field("activeProfileIndex", std::int64_t{0});
    json.object("shared", [&] {
      json.object_rows("frames", frames_, [&](const Frame& frame) {
        json.field("name", frame.name);
        if (!frame.file.empty()) json.field("file", frame.file);
        if (frame.line > 0) json.field("line", std::int64_t{frame.line});
      });
    });
    json.array("profiles", profiles, [&](const Profile* profile) { write(json, *profile, unit); });
    json.end_object();
    return out + "\n";
  }

 private:
  struct Frame {
    std::string name;
    std::string file;
    std::int32_t line = 0;
  };

  /// Frames are the same when what is written of them is the same.
  std::uint32_t intern(const FrameView& view) {
    Frame frame{recorded_frame_text(view), std::string(view.file), view.line};
    SequenceHasher hasher;
    hasher.add(hash_bytes(frame.name));
    hasher.add(hash_bytes(frame.file));
    hasher.add({static_cast<std::uint64_t>(static_cast<std::uint32_t>(frame.line)), 0});
    const auto [at, added] = index_.emplace(hasher.finish(), static_cast<std::uint32_t>(frames_.size()));
    if (added) frames_.push_back(std::move(frame));
    return at->second;
  }

  static void write(JsonWriter& json, const Profile& profile, const std::string& unit) {
    std::uint64_t total = 0;
    json.begin_object();
    json.field("type", "sampled");
    json.field("name", profile.name);
    json.field("unit", unit == "bytes" || unit == "nanoseconds" ? unit : "none");
    json.key("samples");
    json.begin_array();
    for (std::size_t s = 0; s + 1 < profile.begin.size(); ++s) {
      json.new_line();
      json.begin_array();
      for (std::uint64_t i = profile.begin[s]; i < profile.begin[s + 1]; ++i) json.unsigned_integer(profile.frames[i]);
      json.end_array();
    }
    json.end_array();
    json.array("weights", profile.weights, [&](const std::uint64_t weight) {
      json.unsigned_integer(weight);
      total += weight;
    });
    json.field("startValue", 0);
    json.field("endValue", total);
    json.end_object();
  }

  std::vector<Frame> frames_;
  std::unordered_map<Hash128, std::uint32_t> index_;
};

std::string name_of(const SnapshotRef& ref) {
  return ref.snapshot != nullptr && !ref.snapshot->facts.source.name.empty()
             ? std::string(base_name(ref.snapshot->facts.source.name))
             : ref.ref;
}

/// `negative` is left out where it has no stacks, if `all` is not set.
template <class Report>
std::string speedscope(const Report& report, const std::string& name, Profile positive, Profile negative, bool all) {
  Document document;
  for_each_amount(report, [&](const auto& stack, std::int64_t amount) {
    if (amount != 0) document.add(amount > 0 ? positive : negative, stack, magnitude(amount));
  });
  std::vector<const Profile*> profiles{&positive};
  if (all || !negative.weights.empty()) profiles.push_back(&negative);
  return document.text(name, report.unit, profiles);
}

}  // namespace

std::string to_folded(const GrowthReport& report, const Sink* sink) { return folded(report, true, sink); }
std::string to_folded(const TopReport& report, const Sink* sink) { return folded(report, false, sink); }

std::string to_speedscope(const GrowthReport& report) {
  return speedscope(report, name_of(report.baseline) + " → " + name_of(report.current),
                    Profile{"growth of " + report.metric}, Profile{"shrinkage of " + report.metric}, true);
}

std::string to_speedscope(const TopReport& report) {
  // Negative values are only in a snapshot that a diff saved.
  return speedscope(report, name_of(report.snapshot), Profile{report.metric},
                    Profile{report.metric + ", negative values"}, false);
}

}  // namespace snapdiff::report

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/report/frame_names.hpp"
#include "analyzer/report/json_writer.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/report/text_tools.hpp"
#include "snapdiff/hash.hpp"
#include "snapdiff/number_text.hpp"

/// The file format of speedscope (https://www.speedscope.app/file-format-schema.json): a frame
/// table and "sampled" profiles, one weight per stack, root first. Weights are positive: growth and
/// shrinkage are two profiles of one file.
namespace snapdiff::report {

namespace {

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
    FrameView frame;
    frame.function = name;
    profile.frames.push_back(intern(frame));
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

}  // namespace

std::string to_speedscope(const GrowthReport& report) {
  Document document;
  Profile grew{"growth of " + report.metric};
  Profile shrank{"shrinkage of " + report.metric};
  std::vector<FrameView> frames;
  const auto side = [&](std::int64_t growth) -> Profile& { return growth > 0 ? grew : shrank; };
  for (const GrowthRow& row : report.rows) {
    const std::int64_t growth = row.value.growth();
    if (growth == 0) continue;
    if (report.options.by == GroupBy::stack) {
      report.frames(row, frames);
      document.add(side(growth), frames, magnitude(growth));
    } else {
      document.add(side(growth), report.keys[row.key], magnitude(growth));
    }
  }
  const auto rest = [&](std::string_view name, std::int64_t growth) {
    if (growth != 0) document.add(side(growth), name, magnitude(growth));
  };
  rest(kUnattributed, report.unattributed.growth());
  rest("[filtered out]", report.filtered.growth());
  const Profile* both[] = {&grew, &shrank};
  return document.text(name_of(report.baseline) + " → " + name_of(report.current), report.unit, both);
}

std::string to_speedscope(const TopReport& report) {
  Document document;
  Profile values{report.metric};
  Profile negative{report.metric + ", negative values"};  // only in a snapshot that a diff saved
  std::vector<FrameView> frames;
  const auto side = [&](std::int64_t value) -> Profile& { return value > 0 ? values : negative; };
  for (const TopRow& row : report.rows) {
    if (row.value == 0) continue;
    if (report.options.by == GroupBy::stack) {
      report.view->frames(report.stacks[row.key], frames);
      document.add(side(row.value), frames, magnitude(row.value));
    } else {
      document.add(side(row.value), report.keys[row.key], magnitude(row.value));
    }
  }
  const auto rest = [&](std::string_view name, std::int64_t value) {
    if (value != 0) document.add(side(value), name, magnitude(value));
  };
  rest(kUnattributed, report.unattributed);
  rest("[filtered out]", report.filtered);
  std::vector<const Profile*> profiles{&values};
  if (!negative.weights.empty()) profiles.push_back(&negative);
  return document.text(name_of(report.snapshot), report.unit, profiles);
}

}  // namespace snapdiff::report

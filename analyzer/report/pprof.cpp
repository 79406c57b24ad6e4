#include <libdeflate.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/report/report.hpp"
#include "snapdiff/hash.hpp"

/// Writes profile.proto (google/pprof, proto/profile.proto; field numbers below are its). Both
/// sides of a diff go into one file: frames that are the same by their hash share a location, and
/// modules of the same name and build id share a mapping, so that unsymbolized frames of two runs
/// meet at one address.
namespace snapdiff::report {

namespace {

using protozero::pbf_writer;

enum ProfileField : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kKeepFrames = 8,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14,
  kDocUrl = 15
};

/// One gzip member without name and time: equal input, equal bytes.
std::string gzip(std::string_view bytes) {
  constexpr int kLevel = 6;  // what gzip uses; 9 takes twice as long for about 1 %
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), &libdeflate_free_compressor);
  if (compressor == nullptr) throw std::bad_alloc();
  std::string out(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  return out;
}

class Strings {
 public:
  Strings() { id(""); }
  std::int64_t id(std::string_view text) {
    const auto [at, added] = index_.emplace(hash_bytes(text), static_cast<std::int64_t>(texts_.size()));
    if (added) texts_.emplace_back(text);
    return at->second;
  }
  const std::vector<std::string>& all() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<Hash128, std::int64_t> index_;
};

/// A module's mapped ranges; addresses of its frames are made from them.
struct MappedModule {
  struct Range {
    std::uint64_t start = 0, limit = 0, offset = 0;
    std::uint64_t id = 0;
  };
  std::string name, build_id;
  std::vector<Range> ranges;
  bool has_functions = false;
};

class ProfileWriter {
 public:
  ProfileWriter() : writer_(bytes_) {}

  /// Later snapshots find the mappings of earlier ones where a module is the same.
  void add_modules(const Snapshot& snapshot) {
    const Dictionary& d = *snapshot.dictionary;
    std::vector<std::size_t> added;
    for (const Mapping& mapping : snapshot.mappings) {
      const auto [index, is_new] = module(d, mapping.module);
      if (is_new) added.push_back(index);
      const bool own = std::ranges::find(added, index) != added.end();
      if (own) modules_[index].ranges.push_back({mapping.start, mapping.limit, mapping.offset, ++mapping_count_});
    }
  }

  void sample_type(const SampleType& type) { value_type(kSampleType, type.name, type.unit); }

  /// `columns` of each row of `snapshot`; negated, and labelled pprof::base=true, for `base`.
  /// Returns false when a value has no negation.
  bool add_samples(const Snapshot& snapshot, std::span<const Column* const> columns, bool base) {
    const Dictionary& d = *snapshot.dictionary;
    std::vector<std::vector<std::uint64_t>> locations_of_stack(d.stacks.size());
    std::vector<std::uint64_t> single(d.frames.size(), 0);
    std::vector<std::int64_t> values(columns.size());
    for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
      bool any = false;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        std::int64_t value = columns[c]->value[row];
        if (base && value == std::numeric_limits<std::int64_t>::min()) return false;
        values[c] = base ? -value : value;
        any = any || value != 0;
      }
      if (!any) continue;
      const StackId stack = snapshot.samples.stack[row];
      std::vector<std::uint64_t>& locations = locations_of_stack[index_of(stack)];
      if (locations.empty()) stack_locations(d, d.stacks.frames(stack), single, locations);
      pbf_writer sample(writer_, kSample);
      sample.add_packed_uint64(1, locations.begin(), locations.end());
      sample.add_packed_int64(2, values.begin(), values.end());
      for (const Label& l : d.labels.labels(snapshot.samples.labels[row])) label(sample, d, l);
      if (!base) continue;
      pbf_writer mark(sample, 3);
      mark.add_int64(1, strings_.id("pprof::base"));
      mark.add_int64(2, strings_.id("true"));
    }
    return true;
  }

  void facts(const SnapshotFacts& facts) {
    if (!facts.drop_frames.empty()) writer_.add_int64(kDropFrames, strings_.id(facts.drop_frames));
    if (!facts.keep_frames.empty()) writer_.add_int64(kKeepFrames, strings_.id(facts.keep_frames));
    if (facts.taken_at_ns) writer_.add_int64(kTimeNanos, *facts.taken_at_ns);
    if (facts.duration_ns) writer_.add_int64(kDurationNanos, *facts.duration_ns);
    if (facts.sampling == Sampling::poisson && facts.period > 0) {
      value_type(kPeriodType, "space", "bytes");

      writer_.add_int64(kPeriod, facts.period);
    }
    for (const std::string& comment : facts.comments) writer_.add_int64(kComment, strings_.id(comment));
    if (!facts.doc_url.empty()) writer_.add_int64(kDocUrl, strings_.id(facts.doc_url));
  }

  void default_sample_type(const std::string& name) {
    if (!name.empty()) writer_.add_int64(kDefaultSampleType, strings_.id(name));
  }

  std::string finish() {
    for (const MappedModule& module : modules_) {
      for (const MappedModule::Range& range : module.ranges) {
        pbf_writer mapping(writer_, kMapping);

        mapping.add_uint64(1, range.id);
        mapping.add_uint64(2, range.start);
        mapping.add_uint64(3, range.limit);
        mapping.add_uint64(4, range.offset);
        mapping.add_int64(5, strings_.id(module.name));
        mapping.add_int64(6, strings_.id(module.build_id));
        if (module.has_functions) {
          for (const protozero::pbf_tag_type flag : {7U, 8U, 9U, 10U}) mapping.add_bool(flag, true);
        }
      }
    }
    for (const std::string& text : strings_.all()) writer_.add_bytes(kStringTable, text);
    return gzip(bytes_);
  }

 private:
  void value_type(protozero::pbf_tag_type tag, std::string_view name, std::string_view unit) {
    pbf_writer value(writer_, tag);
    value.add_int64(1, strings_.id(name));
    value.add_int64(2, strings_.id(unit));
  }

  std::pair<std::size_t, bool> module(const Dictionary& d, ModuleId id) {
    const std::string_view name = d.strings[d.modules.name[index_of(id)]];
    const std::string_view build_id = d.strings[d.modules.build_id[index_of(id)]];
    // With a build id the directory does not matter; without one the path is all there is.
    SequenceHasher hasher;
    hasher.add(hash_bytes(build_id.empty() ? name : base_name(name)));
    hasher.add(hash_bytes(build_id));
    const auto [at, added] = module_index_.emplace(hasher.finish(), modules_.size());
    if (added) modules_.push_back({std::string(name), std::string(build_id), {}, false});
    return {at->second, added};
  }

  /// Mapping id and address of a file offset inside a module.
  std::pair<std::uint64_t, std::uint64_t> place(MappedModule& module, std::uint64_t offset) {
    for (const MappedModule::Range& range : module.ranges) {
      if (offset == kNoOffset) return {range.id, 0};
      if (offset >= range.offset && offset - range.offset < range.limit - range.start) {
        return {range.id, range.start + (offset - range.offset)};
      }
    }
    // No range holds it: one that holds every offset as it is. With none of the others about, the
    // reader gets the offset back from either.
    module.ranges.push_back({0, std::numeric_limits<std::uint64_t>::max(), 0, ++mapping_count_});
    return {module.ranges.back().id, offset == kNoOffset ? 0 : offset};
  }

  std::uint64_t function(const Dictionary& d, FunctionId id) {
    const std::size_t row = index_of(id);
    const std::string_view name = d.strings[d.functions.name[row]];
    const std::string_view system_name = d.strings[d.functions.system_name[row]];
    const std::string_view file = d.strings[d.functions.file[row]];
    SequenceHasher hasher;
    for (const std::string_view text : {name, system_name, file}) hasher.add(hash_bytes(text));
    const auto [at, added] = function_index_.emplace(hasher.finish(), function_index_.size() + 1);
    if (added) {
      pbf_writer function(writer_, kFunction);

      function.add_uint64(1, at->second);
      function.add_int64(2, strings_.id(name));
      function.add_int64(3, strings_.id(system_name));
      function.add_int64(4, strings_.id(file));
      if (d.functions.start_line[row] != 0) function.add_int64(5, d.functions.start_line[row]);
    }
    return at->second;
  }

  /// A location: a frame with those that are inlined into it, innermost first.
  std::uint64_t location(const Dictionary& d, std::span<const FrameId> frames) {
    const FrameTable& table = d.frames;
    SequenceHasher hasher;
    for (const FrameId frame : frames) hasher.add(table.hash[index_of(frame)]);
    const auto [at, added] = location_index_.emplace(hasher.finish(), location_index_.size() + 1);
    if (!added) return at->second;
    const std::size_t outer = index_of(frames.back());
    std::string message;
    pbf_writer location(message);
    location.add_uint64(1, at->second);
    if (table.module[outer] != ModuleId{}) {
      MappedModule& owner = modules_[module(d, table.module[outer]).first];
      const auto [mapping, address] = place(owner, table.offset[outer]);
      location.add_uint64(2, mapping);
      location.add_uint64(3, address);
      // Else pprof would look for the binary on this machine to find names that are here.
      owner.has_functions = owner.has_functions || table.function[outer] != FunctionId{};
    } else if (table.offset[outer] != kNoOffset) {
      location.add_uint64(3, table.offset[outer]);
    }
    for (const FrameId frame : frames) {
      const std::size_t row = index_of(frame);
      if (table.function[row] == FunctionId{}) continue;
      pbf_writer line(location, 4);

      line.add_uint64(1, function(d, table.function[row]));
      if (table.line[row] != 0) line.add_int64(2, table.line[row]);
      if (table.column[row] != 0) line.add_int64(3, table.column[row]);
    }
    writer_.add_message(kLocation, message);
    return at->second;
  }

  void stack_locations(const Dictionary& d, std::span<const FrameId> frames, std::vector<std::uint64_t>& single,
                       std::vector<std::uint64_t>& out) {
    const FrameTable& table = d.frames;
    for (std::size_t i = 0; i < frames.size();) {
      std::size_t end = i;
      // The model keeps one frame per function, file and line, with the offset it was first met at:
      // inlined frames are known by their flag, their offsets need not agree.
      while (end + 1 < frames.size() && (table.flags[index_of(frames[end])] & kFrameInlined) != 0 &&
             table.module[index_of(frames[end])] == table.module[index_of(frames[end + 1])] &&
             table.function[index_of(frames[end + 1])] != FunctionId{}) {
        ++end;
      }
      std::uint64_t* known = end == i ? &single[index_of(frames[i])] : nullptr;
      const std::uint64_t id = known != nullptr && *known != 0 ? *known : location(d, frames.subspan(i, end + 1 - i));
      if (known != nullptr) *known = id;
      out.push_back(id);
      i = end + 1;
    }
  }

  void label(pbf_writer& sample, const Dictionary& d, const Label& label) {
    pbf_writer out(sample, 3);

    out.add_int64(1, strings_.id(d.strings[label.key]));
    if (label.is_number) {
      out.add_int64(3, label.number);
      if (label.unit != StringId{}) out.add_int64(4, strings_.id(d.strings[label.unit]));
    } else {
      out.add_int64(2, strings_.id(d.strings[label.text]));
    }
  }

  std::string bytes_;
  pbf_writer writer_;
  Strings strings_;
  std::vector<MappedModule> modules_;
  std::uint64_t mapping_count_ = 0;
  std::unordered_map<Hash128, std::size_t> module_index_;
  std::unordered_map<Hash128, std::uint64_t> function_index_;
  std::unordered_map<Hash128, std::uint64_t> location_index_;
};

}  // namespace

std::string to_pprof(const SnapshotRef& ref) {
  const Snapshot& snapshot = *ref.snapshot;
  ProfileWriter writer;
  writer.add_modules(snapshot);
  std::vector<const Column*> columns;
  for (const Column& column : snapshot.samples.columns) {
    if (!is_metric(column)) continue;
    writer.sample_type(column.type);
    columns.push_back(&column);
  }
  writer.add_samples(snapshot, columns, false);
  writer.facts(snapshot.facts);
  writer.default_sample_type(snapshot.facts.default_metric);
  return writer.finish();
}

Result<std::string> to_pprof_diff(const GrowthReport& report) {
  const Snapshot& baseline = *report.baseline.snapshot;
  const Snapshot& current = *report.current.snapshot;
  std::vector<const Column*> old_columns, new_columns;
  ProfileWriter writer;
  writer.add_modules(current);
  writer.add_modules(baseline);
  for (const Column& column : current.samples.columns) {
    const Column* old = baseline.column(column.type.name);
    if (old == nullptr || old->type.unit != column.type.unit || !is_metric(column)) continue;
    writer.sample_type(column.type);
    old_columns.push_back(old);
    new_columns.push_back(&column);
  }
  if (new_columns.empty()) {
    return Error{ErrorCode::incompatible, "no sample type in common, expected at least one to subtract"};
  }
  writer.add_samples(current, new_columns, false);
  if (!writer.add_samples(baseline, old_columns, true)) {
    return Error{ErrorCode::limit, "a baseline value is -2^63, expected one that can be negated"};
  }
  writer.facts(current.facts);
  writer.default_sample_type(report.metric);
  return writer.finish();
}

}  // namespace snapdiff::report

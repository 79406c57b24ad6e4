#include "formats/input/all_formats.hpp"
#include "formats/input/graph_parts.hpp"
#include "formats/input/type_row.hpp"
#include "formats/jfr/chunk.hpp"
#include "formats/jfr/moments.hpp"

namespace snapdiff::formats {
namespace {

using namespace jfr;

constexpr std::string_view kObject[] = {"type", "description", "referrer"};
constexpr std::string_view kReference[] = {"array", "field", "object", "skip"};
constexpr std::string_view kArray[] = {"index"};
constexpr std::string_view kField[] = {"name"};
constexpr std::string_view kClass[] = {"name"};
constexpr std::string_view kRoot[] = {"system", "type"};

/// HotSpot's names of roots, and what heap dumps call the same.
constexpr std::pair<std::string_view, std::string_view> kRootNames[] = {
    {"Stack Variable", "Java frame"},    {"Local Variable", "Java frame"},       {"Local JNI Handle", "JNI local"},
    {"Global JNI Handle", "JNI global"}, {"Global Object Handle", "JNI global"}, {"Handle Area", "native stack"},
};

/// "java.util.HashMap$Node" for java/util/HashMap$Node: as histograms and heap dumps call it.
std::string class_name(std::string text) {
  // A hidden class has a place and a number, "Svc$$Lambda$3+0x00007f/8677": the number is another one in each run.
  const std::size_t place = text.find("+0x"), number = text.rfind('/');
  if (place != std::string::npos && number != std::string::npos && number > place) text.resize(number);
  std::replace(text.begin(), text.end(), '/', '.');
  return text;
}

/// The name of a class that is a constant, "" without one.
std::string class_name(Chunk& chunk, const Value& type) { return class_name(chunk.text(chunk.look(type, kClass)[0])); }

/// The chains of references from old objects to their roots, of one chunk, as a graph.
class OldObjects {
 public:
  explicit OldObjects(SnapshotBuilder& names) : names_(names), graph_(std::make_shared<ObjectGraph>()) {}

  /// A sampled object, what holds it, and the root that its chain ends at. `bytes` < 0: not recorded.
  void add(Chunk& chunk, const Value& object, const Value& root, std::int64_t bytes) {
    ObjectGraph& graph = *graph_;
    Value at = object;
    std::uint32_t held = kNoEdge, label = 0;
    bool is_new = true;
    has_sizes_ = has_sizes_ || bytes >= 0;
    while (is_new && at.in_pool && at.number != 0) {
      const Chunk::Values fields = chunk.look(at, kObject);
      if (!fields[0].known()) break;
      const std::uint32_t node = keys_.intern(static_cast<std::uint64_t>(at.number));
      is_new = node == graph.type.size();
      if (is_new) {
        graph.type.push_back(node_type(chunk, fields[0], fields[1]));
        graph.self_bytes.push_back(0);
        graph.flags.push_back(0);
      }
      if (held == kNoEdge) {
        graph.self_bytes[node] = std::max<std::int64_t>(bytes, 0);
      } else {
        edges_.add(node, held, label);
      }
      const Chunk::Values reference = chunk.look(fields[2], kReference);
      held = node;
      at = reference[2];
      label = label_of(chunk, reference[0], reference[1], reference[3].number);
    }
    if (is_new && held != kNoEdge && root.known() && root.number != 0)
      graph.roots.push_back({held, names_.string(root_kind(chunk, root))});
  }

  /// Null where no object has a holder: the recording was made without paths.
  std::shared_ptr<const ObjectGraph> finish() {
    if (edges_.from.empty()) return nullptr;
    if (!has_sizes_) graph_->self_bytes.clear();
    place_edges(*graph_, std::move(edges_));
    finish_roots(*graph_);
    value_or_throw(validate(*graph_, names_.dictionary()));
    return std::move(graph_);
  }

 private:
  std::uint32_t node_type(Chunk& chunk, const Value& type, const Value& description) {
    constexpr std::string_view kOfClass = "Class Name: ";
    text_ = class_name(chunk, type);
    std::string_view kind =
        text_.starts_with('[') ? text_.size() == 2 ? "primitive array" : "object array" : "instance";
    if (const std::string said = chunk.text(description); said.starts_with(kOfClass)) {
      kind = "class";
      text_ = class_name(said.substr(kOfClass.size()));
    }
    return types_.row(graph_->types, names_.string(kind), names_.string(text_));
  }

  std::uint32_t label_of(Chunk& chunk, const Value& array, const Value& field, std::int64_t skipped) {
    if (skipped > 0) return static_cast<std::uint32_t>(names_.string("[references left out]"));
    if (const Chunk::Values of = chunk.look(array, kArray); of[0].known())
      return kEdgeIsIndex | static_cast<std::uint32_t>(std::clamp<std::int64_t>(of[0].number, 0, kEdgeLabel));
    const auto name = static_cast<std::uint32_t>(names_.string(chunk.text(chunk.look(field, kField)[0])));
    return std::min(name, kEdgeLabel);
  }

  std::string_view root_kind(Chunk& chunk, const Value& root) {
    const Chunk::Values of = chunk.look(root, kRoot);
    text_ = chunk.text(of[1]);
    for (const auto& [theirs, ours] : kRootNames) {
      if (text_ == theirs) return ours;
    }
    if (text_.empty() || text_.starts_with('<') || text_ == "N/A") text_ = chunk.text(of[0]);
    return text_.empty() ? "unknown" : std::string_view(text_);
  }

  SnapshotBuilder& names_;
  std::shared_ptr<ObjectGraph> graph_;
  NumberRows keys_;
  TypeRows types_;
  Edges edges_;
  bool has_sizes_ = false;
  std::string text_;
};

enum class Says : std::uint8_t {
  old_object,
  live_object,
  malloc,
  free,
  sample,
  buffer,
  outside,
  heap,
  collection,
  metaspace,
  resident,
  native,
  native_total,
  machine,
};

/// Events that are read, with the fields that are. Sources: openjdk/jdk, jfr/metadata/metadata.xml; async-profiler,
/// src/jfrMetadata.cpp.
struct EventForm {
  std::string_view name;
  Says says;
  std::array<std::string_view, 6> fields;
};
constexpr EventForm kEvents[] = {
    {"jdk.OldObjectSample", Says::old_object, {"stackTrace", "object", "objectSize", "root"}},
    {"profiler.LiveObject", Says::live_object, {"stackTrace", "objectClass", "allocationSize"}},
    {"profiler.Malloc", Says::malloc, {"stackTrace", "startTime", "address", "size"}},
    {"profiler.Free", Says::free, {"stackTrace", "startTime", "address"}},
    {"jdk.ObjectAllocationSample", Says::sample, {"stackTrace", "objectClass", "weight"}},
    {"jdk.ObjectAllocationInNewTLAB", Says::buffer, {"stackTrace", "objectClass", "tlabSize"}},
    {"jdk.ObjectAllocationOutsideTLAB", Says::outside, {"stackTrace", "objectClass", "allocationSize"}},
    {"jdk.GCHeapSummary", Says::heap, {"startTime", "gcId", "when", "heapUsed", "heapSpace.committedSize"}},
    {"jdk.GarbageCollection", Says::collection, {"gcId", "name"}},
    {"jdk.MetaspaceSummary",
     Says::metaspace,
     {"startTime", "gcId", "when", "metaspace.used", "metaspace.committed", "metaspace.reserved"}},
    {"jdk.ResidentSetSize", Says::resident, {"startTime", "size", "peak"}},
    {"jdk.NativeMemoryUsage", Says::native, {"startTime", "type", "committed"}},
    {"jdk.NativeMemoryUsageTotal", Says::native_total, {"startTime", "reserved", "committed"}},
    {"jdk.JVMInformation", Says::machine, {"pid", "javaArguments", "jvmVersion"}},
};

constexpr std::string_view kTrace[] = {"frames", "truncated"};
constexpr std::string_view kFrame[] = {"method", "lineNumber", "type"};
constexpr std::string_view kMethod[] = {"type", "name"};
constexpr std::string_view kType[] = {"type"};  // of an old object

constexpr std::size_t kMostFrames = std::size_t{1} << 20;  // of a stack
constexpr std::size_t kLongestType = 100;                  // of the names in a refusal
constexpr std::size_t kLongestCommand = 4096;

/// Collections that leave what is live: of the whole heap, as the log's readers have it. Source: openjdk/jdk,
/// src/hotspot/share/gc/shared/gcName.hpp.
bool is_of_whole_heap(std::string_view collector) {
  constexpr std::string_view kWhole[] = {"SerialOld",           "ParallelOld", "PSMarkSweep", "G1Full",
                                         "ConcurrentMarkSweep", "Z",           "ZGC Major",   "Shenandoah"};
  return std::find(std::begin(kWhole), std::end(kWhole), collector) != std::end(kWhole);
}

/// Reads the events of one chunk into the recording. Keys of constants hold in the chunk alone, and so are the tables
/// here.
class ChunkReader {
 public:
  ChunkReader(Chunk& chunk, bool is_async, Recording& recording, std::map<std::string, std::uint64_t>& passed)
      : chunk_(chunk), is_async_(is_async), out_(recording), passed_(passed), old_objects_(recording.names) {}

  void read(std::uint64_t bytes) {
    out_.begin_chunk();
    forms_.assign(chunk_.types().size(), nullptr);
    plans_.resize(std::size(kEvents));
    for (std::size_t i = 0; i < std::size(kEvents); ++i) {
      const std::uint32_t type = chunk_.types().find(kEvents[i].name);
      if (type == kNoType) continue;
      forms_[type] = &kEvents[i];
      plans_[i] = chunk_.plan(type, kEvents[i].fields);
    }
    std::vector<std::uint64_t> others(chunk_.types().size());
    chunk_.each_event([&](std::uint32_t type, Cursor& body, std::uint64_t id) {
      if (type == kNoType)
        fail_malformed("event of an unknown type: found id " + std::to_string(id) + ", expected one of the metadata",
                       body.offset());
      if (forms_[type] != nullptr) return event(*forms_[type], body);
      ++others[type];
    });
    for (std::size_t type = 0; type < others.size(); ++type) {
      if (others[type] > 0)
        passed_[std::string(chunk_.types()[static_cast<std::uint32_t>(type)].name.substr(0, kLongestType))] +=
            others[type];
    }
    const ChunkHeader& header = chunk_.header();
    std::int64_t end = 0;
    if (!checked_add(header.start_ns, header.duration_ns, end)) end = header.start_ns;
    end = std::max(end, latest_);
    out_.facts.taken_at_ns = end;
    out_.end_chunk(end, std::move(calls_), old_objects_.finish(), bytes);
    if (cut_stacks_ > 0)
      out_.facts.notes.add(Severity::info, "stacks that the recorder cut at its greatest depth", std::nullopt,
                           cut_stacks_);
    if (chunk_.missing_constants() > 0)
      out_.facts.notes.add(Severity::warning, "names and stacks that are not in the file", header.offset,
                           chunk_.missing_constants());
  }

 private:
  void event(const EventForm& form, Cursor& body) {
    const std::uint64_t offset = body.offset();
    const Chunk::Values v = chunk_.read(plans_[static_cast<std::size_t>(&form - kEvents)], body);
    switch (form.says) {
      case Says::old_object: return old_object(v, offset);
      case Says::live_object: return out_.add(Kind::live_object, java_row(v), v[2].number, offset);
      case Says::sample: return out_.add(Kind::allocated, java_row(v), v[2].number, offset);
      case Says::buffer:
      case Says::outside: return out_.add(Kind::in_buffer, java_row(v), v[2].number, offset);
      case Says::malloc:
      case Says::free: return native_call(v, form.says == Says::malloc, offset);
      case Says::heap:
      case Says::metaspace: return after_collection(v, form.says == Says::heap);
      case Says::collection:
        if (is_of_whole_heap(chunk_.text(v[1]))) out_.counters.whole_heap(v[0].number);
        return;
      case Says::resident: return counters(v, {"", "rss", "peak_rss"});
      case Says::native: return counters(v, {"", "", "nmt_committed{category=" + chunk_.text(v[1]) + "}"});
      case Says::native_total: return counters(v, {"", "nmt_reserved", "nmt_committed"});
      case Says::machine: return machine(v);
    }
  }

  void old_object(const Chunk::Values& v, std::uint64_t offset) {
    const std::int64_t bytes = v[2].known() ? v[2].number : -1;
    const Value type = chunk_.look(v[1], kType)[0];
    out_.add(Kind::old_object, out_.row(stack(v[0]), type_label(type), false), bytes, offset);
    old_objects_.add(chunk_, v[1], v[3], bytes);
  }

  void native_call(const Chunk::Values& v, bool allocates, std::uint64_t offset) {
    NativeCall call{v[1].number, static_cast<std::uint64_t>(v[2].number), 0, 0};
    if (allocates) {
      if (v[3].number <= 0) return;
      if (!native_label_) native_label_ = out_.names.labels({text_label(out_.names, "domain", "native")});
      call.size = v[3].number;
      call.row = out_.row(stack(v[0]), *native_label_, true);
      out_.add(Kind::in_buffer, call.row, call.size, offset);
    }
    calls_.push_back(call);
  }

  void after_collection(const Chunk::Values& v, bool heap) {
    if (!chunk_.text(v[2]).starts_with("After")) return;
    if (heap) return counters(v, {"", "", "", kHeapAfter, "heap_total"}, v[1].number);
    counters(v, {"", "", "", "metaspace_used", "metaspace_committed", "metaspace_reserved"}, v[1].number);
  }

  /// Each value that has a name; the first one is the time.
  void counters(const Chunk::Values& v, const std::vector<std::string>& names,
                std::optional<std::int64_t> collection = std::nullopt) {
    const std::int64_t time = chunk_.header().time_of(v[0].number);
    latest_ = std::max(latest_, time);
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (!names[i].empty() && v[i].known()) out_.counters.add(time, collection, names[i], v[i].number);
    }
  }

  void machine(const Chunk::Values& v) {
    if (v[0].known() && v[0].number > 0) out_.facts.pid = v[0].number;
    if (std::string arguments = chunk_.text(v[1], kLongestCommand); !arguments.empty())
      out_.facts.command_line = std::move(arguments);
  }

  std::uint32_t java_row(const Chunk::Values& v) { return out_.row(stack(v[0]), type_label(v[1]), false); }

  LabelSetId type_label(const Value& type) {
    const std::uint32_t at = classes_.intern(static_cast<std::uint64_t>(type.number));
    if (at == labels_.size()) {
      const std::string name = class_name(chunk_, type);
      labels_.push_back(name.empty() ? LabelSetId{} : out_.names.labels({text_label(out_.names, "type", name)}));
    }
    return labels_[at];
  }

  StackId stack(const Value& trace) {
    const std::uint32_t at = traces_.intern(static_cast<std::uint64_t>(trace.number));
    if (at < stacks_.size()) return stacks_[at];
    const Chunk::Values of = chunk_.look(trace, kTrace);
    frames_.clear();
    if (of[0].is_array && !chunk_.types()[of[0].type].is_empty) {
      cut_stacks_ += of[1].number != 0 ? 1U : 0U;
      Cursor from = chunk_.cursor(of[0].at);
      const std::uint64_t offset = from.offset();
      const std::size_t count = from.count();
      if (count > kMostFrames)
        fail(ErrorCode::limit, "stack too deep: found " + std::to_string(count) + " frames, expected at most 2^20",
             offset);
      if (frame_plan_type_ != of[0].type) {
        frame_plan_ = chunk_.plan(of[0].type, kFrame, true);
        frame_plan_type_ = of[0].type;
      }
      for (std::size_t i = 0; i < count; ++i) frames_.push_back(frame(chunk_.read(frame_plan_, from)));
    }
    stacks_.push_back(out_.names.stack(frames_));
    return stacks_[at];
  }

  FrameId frame(const Chunk::Values& v) {
    const std::uint32_t at = methods_.intern(static_cast<std::uint64_t>(v[0].number));
    if (at == functions_.size()) functions_.push_back(function(v[0], v[2]));
    const std::int64_t line = v[1].number > 0 ? v[1].number : 0;
    return out_.names.frame({.module = functions_[at].module,
                             .function = functions_[at].function,
                             .line = static_cast<std::int32_t>(line)});
  }

  /// async-profiler puts the library of native code in the place of the class. "Native" is a method of Java to HotSpot.
  FrameSpec function(const Value& method, const Value& frame_type) {
    const Chunk::Values of = chunk_.look(method, kMethod);
    const std::string type = chunk_.text(frame_type);
    const bool native = is_async_ && (type == "Native" || type == "C++" || type == "Kernel");
    std::string name = class_name(chunk_, of[0]);
    const std::string own = chunk_.text(of[1]);
    FrameSpec out;
    if (native && own.starts_with('/')) {  // a library of which no name is known
      out.module = out_.names.module(own, {});
      return out;
    }
    if (native && !own.empty()) {
      out.module = name.empty() ? ModuleId{} : out_.names.module(name, {});
      name = own;
    } else {
      name += (name.empty() || own.empty() ? "" : ".") + own;
    }
    if (name.size() > Chunk::kLongestText) name.resize(Chunk::kLongestText);
    out.function = out_.names.function(name.empty() ? "[unnamed method]" : std::string_view(name));
    return out;
  }

  Chunk& chunk_;
  const bool is_async_;
  Recording& out_;
  std::map<std::string, std::uint64_t>& passed_;
  OldObjects old_objects_;
  std::vector<const EventForm*> forms_;  // by type row
  std::vector<Plan> plans_;              // by row of kEvents
  Plan frame_plan_;
  std::uint32_t frame_plan_type_ = kNoType;
  NumberRows classes_, traces_, methods_;
  std::vector<LabelSetId> labels_;
  std::vector<StackId> stacks_;
  std::vector<FrameSpec> functions_;  // by method, without the line
  std::vector<FrameId> frames_;
  std::vector<NativeCall> calls_;
  std::optional<LabelSetId> native_label_;
  std::int64_t latest_ = 0;  // of a counter; a chunk that was still being written may end before
  std::uint64_t cut_stacks_ = 0;
};

class JfrReader {
 public:
  JfrReader(Input& in, SnapshotSink& out) : in_(in), out_(out) {}

  void read() {
    while (chunk()) ++chunks_;
    if (recording_.empty()) nothing_about_memory();
    recording_.facts.format_detail =
        "version " + version_ + ", " + std::to_string(chunks_) + (chunks_ == 1 ? " chunk" : " chunks");
    recording_.facts.sampling = Sampling::unknown;
    recording_.facts.producer = is_async_ ? "async-profiler" : "jvm";
    recording_.give(out_);
  }

 private:
  /// False at the end. The rest after the last whole chunk is lost: the writer was killed, or still
  /// writes.
  bool chunk() {
    const std::uint64_t offset = in_.offset();
    const std::string_view head = value_or_throw(in_.peek(ChunkHeader::kBytes)).substr(0, ChunkHeader::kBytes);
    if (head.empty() && chunks_ > 0) return false;
    if (!head.starts_with(ChunkHeader::kMagic.substr(0, head.size())) || head.empty()) {
      if (chunks_ == 0) fail_malformed("no chunk: expected the bytes 46 4c 52 00 (FLR)", offset);
      recording_.facts.lose("bytes after the last chunk, left out", offset);
      return false;
    }
    if (head.size() < ChunkHeader::kBytes)
      return cut("the header of a chunk: found " + std::to_string(head.size()) + " bytes, expected 68", offset);
    const ChunkHeader header(head, offset);
    if (header.size < ChunkHeader::kBytes)
      return cut("a chunk that is not finished: found size " + std::to_string(header.size), offset);
    const std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(header.size, SIZE_MAX));
    const std::string_view bytes = value_or_throw(in_.peek(size));
    if (bytes.size() < size)
      return cut("a chunk: found " + std::to_string(bytes.size()) + " bytes, expected " + std::to_string(size), offset);
    version_ = std::to_string(header.major) + "." + std::to_string(header.minor);
    Chunk chunk(bytes.substr(0, size), header);
    is_async_ = is_async_ || chunk.types().find(std::string_view("profiler.LiveObject")) != kNoType ||
                chunk.types().find(std::string_view("profiler.Log")) != kNoType;
    ChunkReader(chunk, is_async_, recording_, passed_).read(offset + size);
    in_.consume(size);
    return true;
  }

  bool cut(const std::string& where, std::uint64_t offset) {
    if (chunks_ == 0) fail_malformed("truncated: the input ends within " + where, offset);
    recording_.facts.lose("the recording ends within a chunk, which was left out", offset);
    return false;
  }

  [[noreturn]] void nothing_about_memory() {
    std::vector<std::pair<std::uint64_t, std::string>> most;
    for (const auto& [name, count] : passed_) most.emplace_back(count, name);
    std::sort(most.rbegin(), most.rend());
    std::string found;
    for (std::size_t i = 0; i < std::min<std::size_t>(most.size(), 3); ++i)
      found += (found.empty() ? "" : ", ") + most[i].second + " (" + std::to_string(most[i].first) + ")";
    fail(ErrorCode::unsupported, "flight recording without events of memory: found " +
                                     (found.empty() ? "none" : found) +
                                     ", expected jdk.OldObjectSample, jdk.ObjectAllocationSample, jdk.GCHeapSummary, "
                                     "profiler.LiveObject, profiler.Malloc or the like");
  }

  Input& in_;
  SnapshotSink& out_;
  Recording recording_;
  std::map<std::string, std::uint64_t> passed_;  // events that are not read, by type
  std::size_t chunks_ = 0;
  std::string version_;
  bool is_async_ = false;
};

}  // namespace

constexpr Format kJfr{
    .info = {"jfr", "JDK Flight Recorder: surviving objects, allocations, collections; async-profiler's recordings",
             "*.jfr", "events that are not about memory; threads; allocation times"},
    .sniff = [](std::string_view head) { return certain_if(head.starts_with(ChunkHeader::kMagic)); },
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { JfrReader(in, out).read(); }};

}  // namespace snapdiff::formats

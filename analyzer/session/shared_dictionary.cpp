#include "analyzer/session/shared_dictionary.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace snapdiff::session {
namespace {

constexpr std::uint32_t kUnknown = 0xffffffff;

template <class T>
void put(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void reorder(std::vector<T>& values, const std::vector<std::uint32_t>& order) {
  if (values.empty()) return;
  std::vector<T> out;
  out.reserve(values.size());
  for (const std::uint32_t row : order) out.push_back(values[row]);
  values = std::move(out);
}

}  // namespace

/// From the numbers of one dictionary to those of the shared one; each is looked up once.
class SharedDictionary::Mover {
 public:
  Mover(SharedDictionary& to, const Dictionary& from)
      : to_(to),
        from_(from),
        strings_(from.strings.size(), kUnknown),
        modules_(from.modules.size(), kUnknown),
        functions_(from.functions.size(), kUnknown),
        frames_(from.frames.size(), kUnknown) {
    strings_[0] = modules_[0] = functions_[0] = 0;
  }

  StackId stack(StackId id) {
    const std::size_t row = index_of(id);
    Dictionary& d = *to_.dictionary_;
    const auto [at, is_new] = to_.stacks_.try_emplace(from_.stacks.hash[row], static_cast<StackId>(d.stacks.size()));
    if (is_new) {
      for (const FrameId frame : from_.stacks.frames(id)) d.stacks.frame.push_back(this->frame(frame));
      d.stacks.begin.push_back(d.stacks.frame.size());
      d.stacks.hash.push_back(from_.stacks.hash[row]);
    }
    return at->second;
  }

  LabelSetId labels(LabelSetId id) {
    if (id == LabelSetId{}) return id;
    std::vector<Label> set;
    key_.clear();
    for (Label label : from_.labels.labels(id)) {
      label.key = string(label.key);
      label.text = string(label.text);
      label.unit = string(label.unit);
      set.push_back(label);
      put(key_, label.key);
      put(key_, label.text);
      put(key_, label.number);
      put(key_, label.unit);
      put(key_, label.is_number);
    }
    LabelTable& table = to_.dictionary_->labels;
    const auto [at, is_new] = to_.label_sets_.try_emplace(key_, static_cast<std::uint32_t>(table.size()));
    if (is_new) {
      table.label.insert(table.label.end(), set.begin(), set.end());
      table.begin.push_back(table.label.size());
    }
    return static_cast<LabelSetId>(at->second);
  }

  ModuleId module(ModuleId id) {
    std::uint32_t& known = modules_[index_of(id)];
    if (known == kUnknown) {
      const StringId name = string(from_.modules.name[index_of(id)]);
      const StringId build_id = string(from_.modules.build_id[index_of(id)]);
      key_.clear();
      put(key_, name);
      put(key_, build_id);
      ModuleTable& table = to_.dictionary_->modules;
      const auto [at, is_new] = to_.modules_.try_emplace(key_, static_cast<std::uint32_t>(table.size()));
      if (is_new) {
        table.name.push_back(name);
        table.build_id.push_back(build_id);
      }
      known = at->second;
    }
    return static_cast<ModuleId>(known);
  }

 private:
  StringId string(StringId id) {
    std::uint32_t& known = strings_[index_of(id)];
    if (known == kUnknown) {
      const std::string_view text = from_.strings[id];
      const auto [at, is_new] = to_.strings_.try_emplace(std::string(text), StringId{});
      if (is_new) at->second = text.empty() ? StringId{} : to_.dictionary_->strings.append(text);
      known = static_cast<std::uint32_t>(at->second);
    }
    return static_cast<StringId>(known);
  }

  FunctionId function(FunctionId id) {
    std::uint32_t& known = functions_[index_of(id)];
    if (known == kUnknown) {
      const std::size_t row = index_of(id);
      const StringId name = string(from_.functions.name[row]);
      const StringId system_name = string(from_.functions.system_name[row]);
      const StringId file = string(from_.functions.file[row]);
      const std::int32_t start_line = from_.functions.start_line[row];
      key_.clear();
      put(key_, name);
      put(key_, system_name);
      put(key_, file);
      FunctionTable& table = to_.dictionary_->functions;
      const auto [at, is_new] = to_.functions_.try_emplace(key_, static_cast<std::uint32_t>(table.size()));
      if (is_new) {
        table.name.push_back(name);
        table.system_name.push_back(system_name);
        table.file.push_back(file);
        table.start_line.push_back(start_line);
      }
      known = at->second;
    }
    return static_cast<FunctionId>(known);
  }

  FrameId frame(FrameId id) {
    std::uint32_t& known = frames_[index_of(id)];
    if (known == kUnknown) {
      const std::size_t row = index_of(id);
      const FrameTable& f = from_.frames;
      const ModuleId module = this->module(f.module[row]);
      const FunctionId function = this->function(f.function[row]);
      key_.clear();
      put(key_, f.hash[row]);
      put(key_, module);
      put(key_, function);
      put(key_, f.offset[row]);
      put(key_, f.line[row]);
      put(key_, f.column[row]);
      put(key_, f.flags[row]);
      FrameTable& table = to_.dictionary_->frames;
      const auto [at, is_new] = to_.frames_.try_emplace(key_, static_cast<std::uint32_t>(table.size()));
      if (is_new) {
        table.module.push_back(module);
        table.offset.push_back(f.offset[row]);
        table.function.push_back(function);
        table.line.push_back(f.line[row]);
        table.column.push_back(f.column[row]);
        table.flags.push_back(f.flags[row]);
        table.hash.push_back(f.hash[row]);
      }
      known = at->second;
    }
    return static_cast<FrameId>(known);
  }

  SharedDictionary& to_;
  const Dictionary& from_;
  std::vector<std::uint32_t> strings_, modules_, functions_, frames_;
  std::string key_;
};

void SharedDictionary::take(Snapshot& snapshot) {
  if (snapshot.allocator != nullptr || snapshot.graph != nullptr || snapshot.dictionary == nullptr) return;
  if (stacks_.empty()) stacks_.emplace(dictionary_->stacks.hash[0], StackId{});
  Mover mover(*this, *snapshot.dictionary);
  SampleTable& samples = snapshot.samples;
  for (StackId& stack : samples.stack) stack = mover.stack(stack);
  for (LabelSetId& labels : samples.labels) labels = mover.labels(labels);
  for (Mapping& mapping : snapshot.mappings) mapping.module = mover.module(mapping.module);
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  // Rows are sorted by number, and the numbers are others now.
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(samples.stack[a], samples.labels[a]) < std::pair(samples.stack[b], samples.labels[b]);
  });
  reorder(samples.stack, order);
  reorder(samples.labels, order);
  for (Column& column : samples.columns) {
    reorder(column.value, order);
    reorder(column.known, order);
  }
  snapshot.dictionary = dictionary_;
}

}  // namespace snapdiff::session

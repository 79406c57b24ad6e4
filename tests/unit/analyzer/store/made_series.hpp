#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "analyzer/base/snapshot_builder.hpp"

/// Snapshots of a made-up process: a random call tree, objects of one size per stack, four columns
/// as Go's heap profiles have them.
namespace snapdiff::test {

class MadeSeries {
 public:
  struct Shape {
    std::size_t stacks = 20'000;
    std::size_t functions = 4'000;
    unsigned min_depth = 14;
    unsigned max_depth = 30;
    double changed = 0.10;  ///< share of stacks that change value in each step
    double added = 0.01;    ///< share of stacks that are new in each step
  };

  explicit MadeSeries(const Shape& shape, unsigned seed = 1) : shape_(shape), random_(seed) {
    nodes_.push_back({});
    while (stacks_.size() < shape_.stacks) add_stack();
  }

  void step() {
    for (Stack& stack : stacks_) {
      if (chance() < shape_.changed) change(stack);
    }
    const auto more = static_cast<std::size_t>(static_cast<double>(stacks_.size()) * shape_.added);
    for (const std::size_t wanted = stacks_.size() + more; stacks_.size() < wanted;) add_stack();
    ++steps_;
  }

  Snapshot snapshot() const {
    SnapshotBuilder builder;
    builder.add_column({"alloc_objects", "count"});
    builder.add_column({"alloc_space", "bytes"});
    builder.add_column({"inuse_objects", "count"});
    builder.add_column({"inuse_space", "bytes"});
    builder.reserve_stacks(stacks_.size(), stacks_.size() * shape_.max_depth);
    const ModuleId module = builder.module("/usr/bin/made", "0123456789abcdef0123456789abcdef01234567");
    std::vector<FrameId> frame_of(nodes_.size(), FrameId{0xffffffffU});
    std::vector<FrameId> leaf_first;
    for (const Stack& stack : stacks_) {
      leaf_first.clear();
      for (std::uint32_t node = stack.node; node != 0; node = nodes_[node].parent) {
        FrameId& frame = frame_of[node];
        if (frame == FrameId{0xffffffffU}) frame = make_frame(builder, module, nodes_[node]);
        leaf_first.push_back(frame);
      }
      const std::int64_t values[] = {stack.allocated, stack.allocated * stack.size, stack.live,
                                     stack.live * stack.size};
      builder.add_row(builder.stack(leaf_first), LabelSetId{}, values);
    }
    SnapshotFacts& facts = builder.facts();
    facts.format = "pprof";
    facts.producer = "go";
    facts.taken_at_ns = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(steps_) * 30'000'000'000;
    facts.source.name = "heap." + std::to_string(steps_) + ".pb.gz";
    facts.source.sha256 = std::string(60, 'a') + std::to_string(1000 + steps_);
    facts.source.size_bytes = 750'000;
    auto made = builder.finish();
    return std::move(made).value();
  }

 private:
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t function = 0;
    std::uint32_t site = 0;
    std::int32_t line = 0;
    std::vector<std::uint32_t> children;
  };
  struct Stack {
    std::uint32_t node = 0;
    std::int64_t size = 0;
    std::int64_t live = 0;
    std::int64_t allocated = 0;
  };

  double chance() { return std::uniform_real_distribution<>(0, 1)(random_); }
  std::uint32_t below(std::size_t limit) {
    return static_cast<std::uint32_t>(std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_));
  }

  FrameId make_frame(SnapshotBuilder& builder, ModuleId module, const Node& node) const {
    const std::string number = std::to_string(node.function);
    const StringId name = builder.string("example.com/service/package" + std::to_string(node.function % 97) +
                                         ".(*Handler" + number + ").process" + number);
    const StringId file =
        builder.string("/home/build/src/example.com/service/package" + std::to_string(node.function % 97) + "/file" +
                       std::to_string(node.function % 701) + ".go");
    SnapshotBuilder::FrameSpec spec;
    spec.module = module;
    spec.offset = 0x1000 + std::uint64_t{node.function} * 2048 + static_cast<std::uint64_t>(node.line);
    spec.function = builder.function(name, name, file, 0);
    spec.line = node.line;
    return builder.frame(spec);
  }

  /// What a call site calls: mostly something near, always the same.
  std::uint32_t callee(std::uint32_t function, std::uint32_t site) const {
    const std::uint64_t h = mix64(std::uint64_t{function} * 8 + site + 1);
    const auto functions = static_cast<std::uint32_t>(shape_.functions);
    const auto near = (function + 1 + static_cast<std::uint32_t>(h % 200)) % functions;
    return h % 4 != 0 ? near : static_cast<std::uint32_t>((h >> 32) % functions);
  }

  std::uint32_t child_of(std::uint32_t parent) {
    const std::uint32_t site = below(6) * below(6) / 6;
    for (const std::uint32_t child : nodes_[parent].children) {
      if (nodes_[child].site == site) return child;
    }
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    const std::uint32_t function = callee(nodes_[parent].function, nodes_[parent].site);
    nodes_.push_back({parent, function, site, static_cast<std::int32_t>(10 + function % 900 + 7 * site), {}});
    nodes_[parent].children.push_back(node);
    return node;
  }

  /// Nine of ten stacks leave an earlier one near its leaf, as in real profiles.
  void add_stack() {
    std::uint32_t node = 0;
    unsigned depth = shape_.min_depth + below(shape_.max_depth - shape_.min_depth + 1);
    if (!stacks_.empty() && below(10) != 0) {
      node = stacks_[below(stacks_.size())].node;
      const unsigned up = 1 + below(4) + below(4);
      for (unsigned i = 0; i < up && node != 0; ++i) node = nodes_[node].parent;
      if (below(3) != 0) depth = depth_of(node) + up;
    }
    for (unsigned at = depth_of(node); at < depth; ++at) node = child_of(node);
    if (node == 0 || !taken_.insert(node).second) return;
    static constexpr std::int64_t kSizes[] = {16,  32,   48,   64,   96,   128,   256,
                                              512, 1024, 2048, 4096, 8192, 32768, 1048576};
    Stack stack;
    stack.node = node;
    stack.size = kSizes[below(std::size(kSizes))];
    stack.live = 1 + below(4) * below(8);
    stack.allocated = stack.live + below(6) * below(12);
    stacks_.push_back(stack);
  }

  unsigned depth_of(std::uint32_t node) const {
    unsigned depth = 0;
    for (; node != 0; node = nodes_[node].parent) ++depth;
    return depth;
  }

  void change(Stack& stack) {
    const std::int64_t more = 1 + below(3);
    stack.allocated += more;
    stack.live = below(3) == 0 && stack.live > 1 ? stack.live - 1 : stack.live + more;
  }

  Shape shape_;
  std::mt19937_64 random_;
  std::vector<Node> nodes_;
  std::vector<Stack> stacks_;
  std::set<std::uint32_t> taken_;
  unsigned steps_ = 0;
};

/// The snapshot as an uncompressed profile.proto, to have something to compare sizes with.
inline std::string as_pprof(const Snapshot& s) {
  const auto varint = [](std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
    out.push_back(static_cast<char>(value));
  };
  const auto field = [&](std::string& out, unsigned number, std::uint64_t value) {
    varint(out, number << 3);
    varint(out, value);
  };
  const auto bytes = [&](std::string& out, unsigned number, std::string_view value) {
    varint(out, number << 3 | 2);
    varint(out, value.size());
    out += value;
  };
  const Dictionary& d = *s.dictionary;
  std::string out;
  for (std::size_t row = 0; row < s.samples.size(); ++row) {
    std::string locations;
    for (const FrameId f : d.stacks.frames(s.samples.stack[row])) varint(locations, index_of(f) + 1);
    std::string values;
    for (const Column& c : s.samples.columns) varint(values, static_cast<std::uint64_t>(c.value[row]));
    std::string sample;
    bytes(sample, 1, locations);
    bytes(sample, 2, values);
    bytes(out, 2, sample);
  }
  for (std::size_t f = 0; f < d.frames.size(); ++f) {
    std::string line;
    field(line, 1, index_of(d.frames.function[f]));
    field(line, 2, static_cast<std::uint64_t>(d.frames.line[f]));
    std::string location;
    field(location, 1, f + 1);
    field(location, 2, 1);
    field(location, 3, 0x400000 + d.frames.offset[f]);
    bytes(location, 4, line);
    bytes(out, 4, location);
  }
  for (std::size_t f = 1; f < d.functions.size(); ++f) {
    std::string function;
    field(function, 1, f);
    field(function, 2, index_of(d.functions.name[f]));
    field(function, 3, index_of(d.functions.system_name[f]));
    field(function, 4, index_of(d.functions.file[f]));
    bytes(out, 5, function);
  }
  for (std::uint32_t i = 0; i < d.strings.size(); ++i) bytes(out, 6, d.strings[StringId{i}]);
  return out;
}

}  // namespace snapdiff::test

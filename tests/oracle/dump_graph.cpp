// Prints what snapdiff read of object graphs, line by line, for graph_oracle.py to compare.
#include <cstdio>
#include <string>
#include <string_view>

#include "analyzer/base/object_graph.hpp"
#include "formats/registry.hpp"

using namespace snapdiff;

namespace {

void print(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte < 0x7f && c != '\\') {
      std::putchar(c);
    } else {
      std::printf("\\x%02x", byte);
    }
  }
}

void dump(const Snapshot& snapshot) {
  const ObjectGraph& graph = *snapshot.graph;
  const StringTable& texts = snapshot.dictionary->strings;
  const auto text = [&](StringId id) { print(texts[id]); };
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    std::printf("N %u ", node);
    text(graph.types.kind[graph.type[node]]);
    std::putchar(' ');
    text(graph.types.name[graph.type[node]]);
    if (graph.self_bytes.empty()) {
      std::printf(" ?");
    } else {
      std::printf(" %lld", static_cast<long long>(graph.self_bytes[node]));
    }
    std::printf(" %llu %u\n", static_cast<unsigned long long>(graph.id.empty() ? kNoObjectId : graph.id[node]),
                graph.flags[node]);
    for (std::uint64_t edge = graph.edge_begin[node]; edge < graph.edge_begin[node + 1]; ++edge) {
      const std::uint32_t label = graph.label[edge];
      std::printf("E %u %c ", graph.to[edge], (label & kEdgeIsWeak) != 0 ? 'w' : 's');
      if ((label & kEdgeIsIndex) != 0) {
        std::printf("[%u]", label & kEdgeLabel);
      } else {
        text(StringId{label & kEdgeLabel});
      }
      std::putchar('\n');
    }
  }
  for (const ObjectRoot& root : graph.roots) {
    std::printf("R %u ", root.node);
    text(root.kind);
    std::putchar('\n');
  }
  for (std::size_t row = 0; row < snapshot.samples.size(); ++row) {
    const FrameId frame = snapshot.dictionary->stacks.frames(snapshot.samples.stack[row])[0];
    std::printf("T ");
    text(snapshot.dictionary->functions.name[index_of(snapshot.dictionary->frames.function[index_of(frame)])]);
    for (const Column& column : snapshot.samples.columns)
      std::printf(" %lld", static_cast<long long>(column.value[row]));
    std::putchar('\n');
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    Result<std::vector<Snapshot>> all = formats::read_file(argv[i], {});
    if (!all) {
      std::fprintf(stderr, "%s\n", all.error().text().c_str());
      return 2;
    }
    for (const Snapshot& snapshot : *all) dump(snapshot);
  }
  return 0;
}

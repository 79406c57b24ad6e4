#include "formats/objgraph_dot/objgraph_dot_importer.hpp"

#include <algorithm>

#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/objgraph_dot/read_dot.hpp"

namespace snapdiff::formats {
namespace {

class ObjgraphDotImporter final : public Importer {
 public:
  const FormatInfo& info() const override {
    static constexpr FormatInfo kInfo{"objgraph-dot", "DOT graph of objgraph (Python): show_refs(), show_backrefs()",
                                      "*.dot", "what objects look like (repr), reference counts, colours"};
    return kInfo;
  }
  Match sniff(std::string_view head) const override {
    if (head.substr(0, 3) == "\xef\xbb\xbf") head.remove_prefix(3);
    head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    return head.substr(0, objgraph_dot::kFirstLine.size()) == objgraph_dot::kFirstLine ? Match::certain : Match::no;
  }
  Status read(Input& in, SnapshotSink& out) const override {
    return run_reader([&] { return out.take(objgraph_dot::read_dot(in)); });
  }
};

}  // namespace

std::unique_ptr<Importer> make_objgraph_dot_importer() { return std::make_unique<ObjgraphDotImporter>(); }

}  // namespace snapdiff::formats

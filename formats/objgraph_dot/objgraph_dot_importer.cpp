#include "formats/objgraph_dot/objgraph_dot_importer.hpp"

#include "formats/input/read_failure.hpp"
#include "formats/objgraph_dot/read_dot.hpp"
#include "formats/text/scan.hpp"

namespace snapdiff::formats {
namespace {

Match sniff_dot(std::string_view head) {
  return text::begins_with(head, {objgraph_dot::kFirstLine}) ? Match::certain : Match::no;
}

}  // namespace

constexpr Format kObjgraphDot{.info = {"objgraph-dot", "DOT graph of objgraph (Python): show_refs(), show_backrefs()",
                                       "*.dot", "what objects look like (repr), reference counts, colours"},
                              .sniff = sniff_dot,
                              .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) {
                                value_or_throw(out.take(objgraph_dot::read_dot(in)));
                              }};

}  // namespace snapdiff::formats

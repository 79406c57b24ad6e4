#include "formats/objgraph_dot/objgraph_dot_importer.hpp"

#include <algorithm>

#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/objgraph_dot/read_dot.hpp"

namespace snapdiff::formats {
namespace {

Match sniff_dot(std::string_view head) {
  if (head.substr(0, 3) == "\xef\xbb\xbf") head.remove_prefix(3);
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  return head.substr(0, objgraph_dot::kFirstLine.size()) == objgraph_dot::kFirstLine ? Match::certain : Match::no;
}

}  // namespace

constexpr Format kObjgraphDot{.info = {"objgraph-dot", "DOT graph of objgraph (Python): show_refs(), show_backrefs()",
                                       "*.dot", "what objects look like (repr), reference counts, colours"},
                              .sniff = sniff_dot,
                              .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) {
                                value_or_throw(out.take(objgraph_dot::read_dot(in)));
                              }};

}  // namespace snapdiff::formats

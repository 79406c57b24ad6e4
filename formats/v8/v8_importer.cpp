#include "formats/v8/v8_importer.hpp"

#include "formats/input/read_failure.hpp"
#include "formats/text/scan.hpp"
#include "formats/v8/read_heap.hpp"

namespace snapdiff::formats {
namespace {

Match sniff_v8(std::string_view head) {
  return text::begins_with(head, {"{", "\"snapshot\"", ":", "{", "\"meta\"", ":"}) ? Match::certain : Match::no;
}

}  // namespace

constexpr Format kV8{
    .info = {"v8-heapsnapshot", "heap snapshot of V8 (Node, Chrome, Deno): objects and who holds them",
             "*.heapsnapshot, *.heaptimeline",
             "contents of strings and numbers; allocation stacks (trace_tree), samples and source locations"},
    .sniff = sniff_v8,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { value_or_throw(out.take(v8::read_heap(in))); }};

}  // namespace snapdiff::formats

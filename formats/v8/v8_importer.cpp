#include "formats/v8/v8_importer.hpp"

#include <algorithm>
#include <string_view>

#include "formats/input/byte_window.hpp"
#include "formats/input/read_failure.hpp"
#include "formats/v8/read_heap.hpp"

namespace snapdiff::formats {
namespace {

/// Takes `part` and the blanks before it off the front.
bool take(std::string_view& text, std::string_view part) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  if (text.substr(0, part.size()) != part) return false;
  text.remove_prefix(part.size());
  return true;
}

Match sniff_v8(std::string_view head) {
  if (head.substr(0, 3) == "\xef\xbb\xbf") head.remove_prefix(3);
  for (const std::string_view part : {"{", "\"snapshot\"", ":", "{", "\"meta\"", ":"}) {
    if (!take(head, part)) return Match::no;
  }
  return Match::certain;
}

}  // namespace

constexpr Format kV8{
    .info = {"v8-heapsnapshot", "heap snapshot of V8 (Node, Chrome, Deno): objects and who holds them",
             "*.heapsnapshot, *.heaptimeline",
             "contents of strings and numbers; allocation stacks (trace_tree), samples and source locations"},
    .sniff = sniff_v8,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { value_or_throw(out.take(v8::read_heap(in))); }};

}  // namespace snapdiff::formats

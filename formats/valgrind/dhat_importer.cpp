#include <string>

#include "formats/input/read_failure.hpp"
#include "formats/text/scan.hpp"
#include "formats/valgrind/dhat_reader.hpp"
#include "formats/valgrind/valgrind_importers.hpp"

namespace snapdiff::formats {
namespace {

using namespace valgrind;

constexpr FormatInfo kInfo{"dhat", "DHAT heap profile (Valgrind, Rust's dhat), version 2", "dhat.out.*, dhat-heap.json",
                           "reads and writes of blocks, lifetimes"};

Match sniff_dhat(std::string_view head) {
  return text::begins_with(head, {"{", "\"dhatFileVersion\""}) ? Match::certain : Match::no;
}

void decode_dhat(Input& in, SnapshotSink& out, const ReadRequest& request) {
  const std::string& point = request.point;
  const bool peak = point == "peak";
  if (!peak && !point.empty() && point != "end" && point != "last") {
    fail(ErrorCode::usage, "no point '" + point + "': expected end or peak");
  }
  value_or_throw(out.take(value_or_throw(DhatReader(in).read(peak))));
}

}  // namespace

constexpr Format kDhat{
    .info = kInfo, .sniff = sniff_dhat, .decode = decode_dhat, .many = "stacks", .has_moments = true};

}  // namespace snapdiff::formats

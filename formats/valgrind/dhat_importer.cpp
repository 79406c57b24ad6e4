#include <algorithm>
#include <string>

#include "formats/input/read_failure.hpp"
#include "formats/valgrind/dhat_reader.hpp"
#include "formats/valgrind/valgrind_importers.hpp"

namespace snapdiff::formats {
namespace {

using namespace valgrind;

constexpr FormatInfo kInfo{"dhat", "DHAT heap profile (Valgrind, Rust's dhat), version 2", "dhat.out.*, dhat-heap.json",
                           "reads and writes of blocks, lifetimes"};

bool skip(std::string_view& head, std::string_view expected) {
  const std::size_t begin = std::min(head.find_first_not_of(" \t\r\n"), head.size());
  if (head.substr(begin, expected.size()) != expected) return false;
  head.remove_prefix(begin + expected.size());
  return true;
}

Match sniff_dhat(std::string_view head) {
  return skip(head, "{") && skip(head, "\"dhatFileVersion\"") ? Match::certain : Match::no;
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

#include "formats/input/read_failure.hpp"
#include "formats/valgrind/massif_reader.hpp"
#include "formats/valgrind/valgrind_importers.hpp"

namespace snapdiff::formats {
namespace {

using namespace valgrind;

constexpr FormatInfo kMassifInfo{"massif", "Valgrind massif output", "massif.out.*",
                                 "numbers of blocks and sites below the threshold, which massif does not write"};

/// Takes one line off `head`; false unless it starts so.
bool take_line(std::string_view& head, std::string_view start) {
  if (head.substr(0, start.size()) != start) return false;
  const std::size_t end = head.find('\n');
  head = end == std::string_view::npos ? std::string_view() : head.substr(end + 1);
  return true;
}

Match sniff_massif(std::string_view head) {
  if (!take_line(head, "desc:") || !take_line(head, "cmd:")) return Match::no;
  return take_line(head, "time_unit:") ? Match::certain : head.empty() ? Match::possible : Match::no;
}

}  // namespace

constexpr Format kMassif{
    .info = kMassifInfo,
    .sniff = sniff_massif,
    .decode = [](Input& in, SnapshotSink& out, const ReadRequest&) { value_or_throw(MassifReader(in).read(out)); },
    .many = "stacks"};

}  // namespace snapdiff::formats

#include "formats/leak_reports/leak_listing.hpp"

namespace snapdiff::formats {
namespace {

using namespace leak_reports;

Match sniff_listing(std::string_view head) {
  const auto dialects = all_dialects();
  return certain_if(text::any_line_of(head, [&](std::string_view line) {
    return std::any_of(dialects.begin(), dialects.end(), [&](const auto& one) { return one->begins(line); });
  }));
}

}  // namespace

constexpr Format kLeakListing{
    .info = {"leak-listing",
             "leaks as kmemleak, macOS leaks, VLD, Visual C++, gperftools' heap checker and mtrace print them",
             "*.txt, *.log", "contents and addresses of blocks, times"},
    .sniff = sniff_listing,
    .decode = text::read_log<
        LeakListing,
        "no report: the input ends, expected one of kmemleak, leaks, VLD, the CRT, the heap checker or mtrace">};

}  // namespace snapdiff::formats

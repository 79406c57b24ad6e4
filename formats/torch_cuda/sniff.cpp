#include "formats/torch_cuda/sniff.hpp"

#include <array>
#include <cstdint>
#include "snapdiff/contains.hpp"

namespace snapdiff::formats::torch_cuda {
namespace {

bool is_pickle(std::string_view head) { return head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5; }

bool is_html(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos) return false;
  std::string start;
  for (const char c : head.substr(first, 16)) start += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return start.rfind("<!doctype html", 0) == 0 || start.rfind("<html", 0) == 0 || start.rfind("<head", 0) == 0 ||
         start.rfind("<script", 0) == 0;
}

}  // namespace

Match sniff_pickle(std::string_view head) {
  // Dumps of tracemalloc name files, whatever those are called.
  if (!is_pickle(head) || contains(head.substr(0, 64), "tracemalloc")) return Match::no;
  // A key that is alone at the root, or the first segment of a bare list.
  for (const std::string_view key : {"segments", "device_traces", "total_size", "segment_type", "external_annotations",
                                     "allocator_settings", "host_segments"}) {
    if (contains(head, key)) return Match::certain;
  }
  const bool empty_list = head.size() < 16 && head.find(']') != std::string_view::npos;
  return empty_list ? Match::possible : Match::no;
}

std::string pickle_refusal(std::string_view head) {
  if (is_pickle(head)) {
    if (contains(head, "torch") && (contains(head, "_rebuild") || contains(head, "OrderedDict")))
      return "not a memory snapshot: this is a pickle of tensors (a torch.save checkpoint), expected the dict of "
             "torch.cuda.memory._snapshot()";
    return "not a memory snapshot: this is a Python pickle without segments or device_traces among its first keys; "
           "--format torch-cuda reads it all the same";
  }
  if (head.substr(0, 4) == "PK\x03\x04" && (contains(head, "/data.pkl") || contains(head, "archive/")))
    return "not a memory snapshot: this is a zip archive of torch.save (a checkpoint), expected the pickle of "
           "torch.cuda.memory._dump_snapshot()";
  return {};
}

Match sniff_html(std::string_view head) {
  if (!is_html(head)) return Match::no;
  if (contains(head, "local_files") || contains(head, "MemoryViz") || contains(head, "add_local_files"))
    return Match::certain;
  return Match::no;
}

std::string html_refusal(std::string_view head) {
  if (!is_html(head)) return {};
  if (contains(head, "alloc_data") || contains(head, "data:image/png"))
    return "HTML without an embedded snapshot: a page with a finished plot, expected a memory_viz page with "
           "local_files; give the pickle itself";
  return {};
}

Match sniff_json(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return Match::no;
  if (head[first] == '{' && (contains(head, "\"segments\"") || contains(head, "\"device_traces\"")) &&
      (contains(head, "\"total_size\"") || contains(head, "\"action\"") || contains(head, "\"segment_type\"") ||
       contains(head, "\"device_traces\"") || contains(head, "\"allocator_settings\"")))
    return Match::certain;
  if (head[first] == '[' && contains(head, "\"total_size\"") && contains(head, "\"segment_type\""))
    return Match::certain;
  return Match::no;
}

}  // namespace snapdiff::formats::torch_cuda

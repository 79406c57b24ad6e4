#include "formats/torch_cuda/sniff.hpp"

#include <array>
#include <cstdint>

namespace snapdiff::formats::torch_cuda {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

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
  if (!is_pickle(head) || has(head.substr(0, 64), "tracemalloc")) return Match::no;
  // A key that stands alone at the root, or the first segment of a bare list.
  for (const std::string_view key : {"segments", "device_traces", "total_size", "segment_type", "external_annotations",
                                     "allocator_settings", "host_segments"}) {
    if (has(head, key)) return Match::certain;
  }
  const bool empty_list = head.size() < 16 && head.find(']') != std::string_view::npos;
  return empty_list ? Match::possible : Match::no;
}

std::string pickle_refusal(std::string_view head) {
  if (is_pickle(head)) {
    if (has(head, "torch") && (has(head, "_rebuild") || has(head, "OrderedDict")))
      return "not a memory snapshot: this is a pickle of tensors (a torch.save checkpoint), expected the dict of "
             "torch.cuda.memory._snapshot()";
    return "not a memory snapshot: this is a Python pickle without segments or device_traces among its first keys; "
           "--format torch-cuda reads it all the same";
  }
  if (head.substr(0, 4) == "PK\x03\x04" && (has(head, "/data.pkl") || has(head, "archive/")))
    return "not a memory snapshot: this is a zip archive of torch.save (a checkpoint), expected the pickle of "
           "torch.cuda.memory._dump_snapshot()";
  return {};
}

Match sniff_html(std::string_view head) {
  if (!is_html(head)) return Match::no;
  if (has(head, "local_files") || has(head, "MemoryViz") || has(head, "add_local_files")) return Match::certain;
  return Match::no;
}

std::string html_refusal(std::string_view head) {
  if (!is_html(head)) return {};
  if (has(head, "alloc_data") || has(head, "data:image/png"))
    return "HTML without an embedded snapshot: a page with a finished plot, expected a memory_viz page with "
           "local_files; give the pickle itself";
  return {};
}

Match sniff_json(std::string_view head) {
  const std::size_t first = head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return Match::no;
  if (head[first] == '{' && (has(head, "\"segments\"") || has(head, "\"device_traces\"")) &&
      (has(head, "\"total_size\"") || has(head, "\"action\"") || has(head, "\"segment_type\"") ||
       has(head, "\"device_traces\"") || has(head, "\"allocator_settings\"")))
    return Match::certain;
  if (head[first] == '[' && has(head, "\"total_size\"") && has(head, "\"segment_type\"")) return Match::certain;
  return Match::no;
}

}  // namespace snapdiff::formats::torch_cuda

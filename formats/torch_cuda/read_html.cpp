#include "formats/torch_cuda/read_html.hpp"

#include <utility>

#include "formats/torch_cuda/base64_input.hpp"
#include "formats/torch_cuda/read_pickle.hpp"

namespace snapdiff::formats::torch_cuda {
namespace {

constexpr std::string_view kKey = "\"base64\"";
constexpr std::size_t kSpace = 16;  // between key, colon and quote
constexpr std::uint32_t kMostSnapshots = 4096;

/// Length of `: "` at the start of `text`, 0 where something else is there.
std::size_t opening(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || text[at] != ':') return 0;
  at = text.find_first_not_of(" \t\r\n", at + 1);
  return at == std::string_view::npos || text[at] != '"' ? 0 : at + 1;
}

/// Moves after the opening quote of the next base64 text; false where there is none.
Result<bool> find_blob(Input& page) {
  for (;;) {
    Result<std::string_view> view = page.peek(kKey.size() + kSpace);
    if (!view) return std::move(view).error();
    const std::size_t at = view->find(kKey);
    if (at == std::string_view::npos) {
      if (view->size() < kKey.size() + kSpace) return false;
      page.consume(view->size() - kKey.size() + 1);
      continue;
    }
    page.consume(at + kKey.size());
    view = page.peek(kSpace);
    if (!view) return std::move(view).error();
    if (const std::size_t length = opening(view->substr(0, kSpace)); length != 0) {
      page.consume(length);
      return true;
    }
  }
}

}  // namespace

Status read_html(Input& page, SnapshotSink& out) {
  std::uint32_t count = 0;
  for (;;) {
    Result<bool> found = find_blob(page);
    if (!found) return std::move(found).error();
    if (!*found) break;
    if (++count > kMostSnapshots) return Error{ErrorCode::limit, "too many snapshots in one page", page.offset()};
    Base64Input blob(page);
    Result<Snapshot> snapshot = read_pickle(blob);
    if (!snapshot) {
      Error error = std::move(snapshot).error();
      error.message += " (snapshot " + std::to_string(count) + " of the page; offset in its decoded base64)";
      return error;
    }
    snapshot->facts.format_detail += ", base64 in HTML";
    if (Status taken = out.take(std::move(*snapshot)); !taken) return taken;
  }
  if (count == 0)
    return Error{ErrorCode::unsupported,
                 "HTML without an embedded snapshot: no base64 text in the page, expected a memory_viz page with "
                 "local_files"};
  return ok();
}

}  // namespace snapdiff::formats::torch_cuda

#include "analyzer/render/graph/graphviz.hpp"

#ifdef SNAPDIFF_GRAPHVIZ_BUILTINS
extern "C" {
extern gvplugin_library_t gvplugin_dot_layout_LTX_library;
}
#endif

namespace snapdiff::render {
namespace {

std::mutex& graphviz_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Messages come in pieces ("Error", ": ", text). Guarded by the mutex.
std::string& collected() {
  static std::string text;
  return text;
}

int collect(char* piece) {
  constexpr std::size_t kMost = 1000;
  if (collected().size() < kMost) collected() += piece;
  return 0;
}

}  // namespace

GraphvizSession::GraphvizSession() : lock_(graphviz_mutex()) {
  collected().clear();
  agseterr(AGWARN);
  agseterrf(collect);
}

GraphvizSession::~GraphvizSession() { agseterrf(nullptr); }

GVC_t* GraphvizSession::context() {
#ifdef SNAPDIFF_GRAPHVIZ_BUILTINS
  // The layout linked in: else it is found through a file that only a package's post-install step
  // writes.
  static lt_symlist_t builtins[] = {{"gvplugin_dot_layout_LTX_library", &gvplugin_dot_layout_LTX_library},
                                    {nullptr, nullptr}};
  static GVC_t* const context = gvContextPlugins(builtins, 0);
#else
  static GVC_t* const context = gvContext();
#endif
  return context;
}

std::string GraphvizSession::message(const std::string& otherwise) const {
  std::string text = collected();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text.empty() ? otherwise : text;
}

}  // namespace snapdiff::render

#pragma once

#include <graphviz/gvc.h>

#include <memory>
#include <mutex>
#include <string>

/// The one place that touches Graphviz's global state.
namespace snapdiff::render {

/// Graphviz takes char* for texts it only reads.
inline char* cs(const char* text) { return const_cast<char*>(text); }
inline char* cs(const std::string& text) { return const_cast<char*>(text.c_str()); }

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
using GraphHandle = std::unique_ptr<Agraph_t, CloseGraph>;

/// Holds the lock and collects messages while alive: two threads in Graphviz at once crash.
class GraphvizSession {
 public:
  GraphvizSession();
  ~GraphvizSession();
  GraphvizSession(const GraphvizSession&) = delete;
  GraphvizSession& operator=(const GraphvizSession&) = delete;
  /// Made at first use, kept for the whole process.
  GVC_t* context();
  /// What Graphviz said since the session began, or `otherwise`.
  std::string message(const std::string& otherwise) const;

 private:
  std::lock_guard<std::mutex> lock_;
};

}  // namespace snapdiff::render

#include <unordered_map>
#include <unordered_set>

#include "analyzer/graph/dominators.hpp"
#include "analyzer/store/sql_tables.hpp"
#include "analyzer/store/tables_values.hpp"
#include "analyzer/store/virtual_table.hpp"
#include "snapdiff/checked.hpp"
#include "snapdiff/keyed_hash.hpp"

namespace snapdiff::store {
namespace {

/// A snapshot's stacks merged into one call graph: node 0 is the root above all stacks.
struct CallGraph {
  std::vector<std::uint32_t> frame;  ///< row of a frame that stands for the node; of node 0 nothing
  std::vector<std::int64_t> flat, cum, retained;
  std::vector<std::uint32_t> dominator;
};

/// retained(snapshot, metric): a row per function with the value of its own allocations (flat), of all
/// stacks that hold it (cum), and of everything that is reached through it alone (retained): what its
/// dominator subtree in the merged call graph adds up to.
class RetainedTable {
 public:
  static constexpr const char* kDeclaration =
      "CREATE TABLE retained(name TEXT, flat INTEGER, cum INTEGER, retained INTEGER, dominator TEXT, file TEXT,"
      " module TEXT, metric TEXT, snapshot INTEGER HIDDEN, wanted TEXT HIDDEN)";
  static constexpr int kSnapshot = 8;
  static constexpr int kWanted = 9;

  static bool plan(IndexPlan& plan) { return plan_call(plan, kSnapshot, kWanted, 5'000); }

  explicit RetainedTable(Session& session) : session_(session) {}

  void filter(Arguments& arguments) {
    snapshot_ = integer_of(arguments.take(), "retained(snapshot) needs a snapshot id");
    const auto table = session_.samples(snapshot_);
    const Column& column = choose(snapshot_, table, text_of(arguments.take()));
    metric_ = column.type.name;
    call_ = session_.call_number(std::to_string(snapshot_) + ' ' + metric_);
    build(*table, column);
    at_ = 1;
  }
  bool at_end() const { return at_ >= graph_.frame.size(); }
  void next() { ++at_; }
  std::int64_t rowid() const { return rowid_of(call_, at_); }

  void column(Output& out, int column) {
    const Dictionary& d = session_.catalog().dictionary();
    const std::uint32_t frame = graph_.frame[at_];
    switch (column) {
      case 0: return out.text(frame_text(d, frame));
      case 1: return out.integer(graph_.flat[at_]);
      case 2: return out.integer(graph_.cum[at_]);
      case 3: return out.integer(graph_.retained[at_]);
      case 4: {
        const std::uint32_t above = graph_.dominator[at_];
        return above == 0 ? out.null() : out.text(frame_text(d, graph_.frame[above]));
      }
      case 5: return out.text_or_null(d.strings[d.functions.file[index_of(d.frames.function[frame])]]);
      case 6: return out.text_or_null(d.strings[d.modules.name[index_of(d.frames.module[frame])]]);
      case 7: return out.text(metric_);
      case kSnapshot: return out.integer(snapshot_);
      default: return out.text(metric_);
    }
  }

 private:
  const Column& choose(std::int64_t snapshot, const std::shared_ptr<const SampleTable>& table,
                       const std::string& wanted) {
    const auto metric = choose_metric(session_.db(), std::span(&snapshot, 1), std::span(&table, 1), wanted);
    if (metric) return *find_column(*table, *metric);
    fail(ErrorCode::usage, !wanted.empty() ? "retained(snapshot, metric): no metric '" + wanted + "' in the snapshot"
                                           : "retained(snapshot): the snapshot has no default metric, name one");
  }

  /// Frames of one function of one module are one node; an address without a name is one of its own.
  std::uint32_t node_of(std::uint32_t frame) {
    const FrameTable& frames = session_.catalog().dictionary().frames;
    const auto function = static_cast<std::uint32_t>(frames.function[frame]);
    const auto module = static_cast<std::uint32_t>(frames.module[frame]);
    const std::uint64_t key = function != 0 ? std::uint64_t{function} << 32 | module : frame;
    const auto [entry, added] = node_of_key_.try_emplace(key, static_cast<std::uint32_t>(graph_.frame.size()));
    if (added) {
      graph_.frame.push_back(frame);
      graph_.flat.push_back(0);
      graph_.cum.push_back(0);
    }
    return entry->second;
  }

  static void add(std::int64_t& sum, std::int64_t value) {
    if (!checked_add(sum, value, sum)) fail(ErrorCode::limit, "a sum of retained() does not fit in 64 bits");
  }

  void build(const SampleTable& table, const Column& column) {
    graph_ = {};
    node_of_key_.clear();
    graph_.frame.push_back(0);
    graph_.flat.push_back(0);
    graph_.cum.push_back(0);
    std::unordered_set<std::uint64_t, KeyedHash> seen_edges;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    std::vector<std::uint32_t> last_stack;  // by node: the stack that was last counted for it, plus one
    for (std::size_t row = 0; row < table.size();) {
      const auto stack = static_cast<std::uint32_t>(table.stack[row]);
      std::int64_t value = 0;
      for (; row < table.size() && static_cast<std::uint32_t>(table.stack[row]) == stack; ++row) {
        if (column.is_known(row)) add(value, column.value[row]);
      }
      if (value == 0) continue;
      add(graph_.cum[0], value);
      const auto chunk = session_.stacks_from(stack);
      if (chunk == nullptr || chunk->first_id > stack) continue;
      std::uint32_t above = 0;
      for (const std::uint32_t id : chunk->root_first(stack)) {
        const std::uint32_t node = node_of(session_.catalog().frame_row(id));
        if (seen_edges.insert(std::uint64_t{above} << 32 | node).second) edges.emplace_back(above, node);
        last_stack.resize(graph_.frame.size(), 0);
        if (last_stack[node] != stack + 1) add(graph_.cum[node], value);
        last_stack[node] = stack + 1;
        above = node;
      }
      add(graph_.flat[above], value);
    }
    retain(edges);
  }

  /// Deepest first, so that a node is complete when it goes into its dominator.
  void retain(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
    const auto nodes = static_cast<std::uint32_t>(graph_.frame.size());
    graph_.dominator = graph::immediate_dominators(nodes, edges);
    graph_.retained = graph_.flat;
    std::vector<std::uint32_t> children(nodes, 0), ready;
    for (std::uint32_t node = 1; node < nodes; ++node) ++children[graph_.dominator[node]];
    for (std::uint32_t node = 1; node < nodes; ++node) {
      if (children[node] == 0) ready.push_back(node);
    }
    while (!ready.empty()) {
      const std::uint32_t node = ready.back();
      ready.pop_back();
      const std::uint32_t above = graph_.dominator[node];
      add(graph_.retained[above], graph_.retained[node]);
      if (--children[above] == 0 && above != 0) ready.push_back(above);
    }
  }

  Session& session_;
  std::int64_t snapshot_ = 0;
  std::string metric_;
  CallGraph graph_;
  std::unordered_map<std::uint64_t, std::uint32_t, KeyedHash> node_of_key_;
  std::size_t at_ = 0;
  std::int64_t call_ = 0;
};

}  // namespace

void register_retained_table(const std::shared_ptr<Session>& session) {
  VirtualTable<RetainedTable>::register_with(session, "retained");
}

}  // namespace snapdiff::store

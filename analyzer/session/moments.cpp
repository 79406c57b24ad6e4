#include <algorithm>
#include <memory>
#include <utility>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/number_text.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/session/load.hpp"

/// The part of load.hpp that is about the traces of CUDA snapshots.
namespace snapdiff::session {
namespace {

/// "iterations: 12, by the calls of optimizer.step, 11 of 11 alike; ...".
std::string note_of(const cuda::LeftOver& left, const Iterations& found, std::size_t stride) {
  const bool calls = found.by >= Iterations::By::optimizer_step;
  std::string text = std::string(kIterationsNote) + std::to_string(found.size()) + ", by " +
                     (calls ? "the calls of " : "the ") + std::string(to_text(found.by));
  if (found.size() > 1)
    text += ", " + std::to_string(found.alike) + " of " + std::to_string(found.size() - 1) + " after the first alike";
  if (left.warm_up > 0)
    text +=
        (left.warm_up == 1 ? "; first iteration: +" : "; first " + std::to_string(left.warm_up) + " iterations: +") +
        bytes_text(left.warm_bytes) + " (warm-up), none later";
  if (stride > 1) text += "; " + std::string(kEveryNth) + std::to_string(stride);
  return text;
}

/// What the first and the last of some moments, put together, say of all that lie between.
struct LeftBehind {
  cuda::LeftOver bytes;
  std::string note;
};

/// What was live at some moments of a trace, `moments` by how many events came before; `name` where it is one alone.
std::vector<LoadedSnapshot> moments_at(const Snapshot& snapshot, const cuda::TraceRef& trace,
                                       const std::vector<std::uint64_t>& moments, const std::string& path,
                                       const std::string& name = {}, const LeftBehind* left = nullptr) {
  std::vector<Snapshot> live =
      value_or_throw(cuda::snapshots_at(snapshot, trace, moments, left == nullptr ? nullptr : &left->bytes));
  std::vector<LoadedSnapshot> out;
  for (std::size_t i = 0; i < live.size(); ++i) {
    Snapshot& moment = live[i];
    // Another moment of the same bytes is another snapshot for the store.
    moment.facts.position = static_cast<std::uint32_t>(std::min<std::uint64_t>(moments[i], 0xfffffffeU) + 1);
    if (left != nullptr && (i == 0 || i + 1 == live.size())) moment.facts.notes.add(Severity::info, left->note);
    LoadedSnapshot item;
    item.ref.ref = path + "@" + (moments.size() == 1 && !name.empty() ? name : std::to_string(moments[i]));
    item.ref.snapshot = std::make_shared<const Snapshot>(std::move(moment));
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace

Result<std::vector<LoadedSnapshot>> iterations_of(const Snapshot& snapshot, const std::string& path,
                                                  std::uint32_t device, std::size_t most) {
  return guarded([&] {
    const cuda::TraceRef trace{device, false};
    const Iterations found = value_or_throw(cuda::iterations(snapshot, trace));
    if (found.size() == 0 || (most == 0 && found.size() > cuda::kMostPoints))
      fail(cuda::points(snapshot, trace, "steps").error());
    const cuda::LeftOver left = value_or_throw(cuda::left_over(snapshot, trace, found));
    std::vector<std::uint64_t> chosen = found.marks;
    std::size_t stride = 1;
    if (most > 0 && chosen.size() > left.warm_up + 1) {
      // From the end of the warm-up on.
      if (left.warm_up > 1)
        chosen.erase(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(left.warm_up - 1));
      stride = (chosen.size() + most - 1) / most;
      std::vector<std::uint64_t> some;
      for (std::size_t i = (chosen.size() - 1) % stride; i < chosen.size(); i += stride) some.push_back(chosen[i]);
      chosen = std::move(some);
    }
    const LeftBehind behind{left, note_of(left, found, stride)};
    return moments_at(snapshot, trace, chosen, path, {}, &behind);
  });
}

Result<std::vector<LoadedSnapshot>> moments_with_peak(const Snapshot& snapshot, const std::string& path,
                                                      std::uint32_t device, std::uint64_t most) {
  return guarded([&] {
    const cuda::TraceRef trace{device, false};
    const std::uint64_t events = snapshot.allocator->trace(device, false)->events.size();
    const std::uint64_t distance = std::max<std::uint64_t>(1, (events + most - 1) / most);
    std::vector<std::uint64_t> moments =
        value_or_throw(cuda::points(snapshot, trace, "every:" + std::to_string(distance)));
    if (events > 1) moments.push_back(0);  // one event alone is what a recorder leaves that keeps the state only
    moments.push_back(value_or_throw(cuda::points(snapshot, trace, "peak")).front());
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    return moments_at(snapshot, trace, moments, path);
  });
}

Result<std::vector<LoadedSnapshot>> moments_of(const Snapshot& snapshot, const std::string& path,
                                               const std::string& wanted) {
  return guarded([&] {
    cuda::TraceRef trace = *cuda::busiest_trace(snapshot);
    std::string point = wanted;
    const std::size_t colon = point.find(':');
    if (colon != std::string::npos && colon > 0 && colon < 6 && point.find_first_not_of("0123456789") == colon) {
      trace.device = static_cast<std::uint32_t>(std::stoul(point.substr(0, colon)));
      point.erase(0, colon + 1);
    }
    if (point == "last") point = "end";
    if (point == "first") point = "0";  // before the first event
    if (point == "steps") return value_or_throw(iterations_of(snapshot, path, trace.device, 0));
    std::vector<LoadedSnapshot> found =
        moments_at(snapshot, trace, value_or_throw(cuda::points(snapshot, trace, point)), path, wanted);
    if (point != "oom") return found;
    if (const std::optional<OutOfMemory> failure = value_or_throw(cuda::out_of_memory(snapshot, trace))) {
      for (LoadedSnapshot& item : found) item.failure = std::make_shared<const OutOfMemory>(*failure);
    }
    return found;
  });
}

}  // namespace snapdiff::session

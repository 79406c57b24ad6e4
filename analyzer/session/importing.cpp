#include "analyzer/session/importing.hpp"

#include <memory>

#include "analyzer/base/failure.hpp"
#include "analyzer/cuda/cuda.hpp"
#include "analyzer/session/read_files.hpp"
#include "analyzer/session/recording.hpp"

namespace snapdiff::session {
namespace {

std::vector<LoadedSnapshot> devices_of(std::span<const LoadedSnapshot> snapshots, bool per_device) {
  if (!per_device) return {snapshots.begin(), snapshots.end()};
  std::vector<LoadedSnapshot> parts;
  for (const LoadedSnapshot& item : snapshots) {
    for (Snapshot& part : cuda::by_device(*item.ref.snapshot)) {
      parts.push_back(item);
      parts.back().ref.snapshot = std::make_shared<const Snapshot>(std::move(part));
    }
  }
  return parts;
}

std::string device_suffix(const LoadedSnapshot& item, bool per_device) {
  const auto& labels = item.ref.snapshot->facts.labels;
  const auto device = labels.find("device");
  if (!per_device || device == labels.end()) return {};
  if (device->second == "host") return "/host";
  // Where the snapshot says that it is of another kind.
  const auto kind = labels.find("device_type");
  return "/" + (kind == labels.end() ? "cuda" : kind->second) + ":" + device->second;
}

}  // namespace

Import::Import(const Request& request, ImportOptions wanted)
    : request_(request), reading_(request), wanted_(std::move(wanted)) {
  reading_.symbols.clear();
  reading_.sysroot.clear();
  reading_.debuginfod = false;
}

Result<Loaded> Import::read(const Operand& operand) const {
  return load_operands({operand}, reading_, true, store::Parts::rows, kMostRowBytes);
}

Status Import::open() {
  return guarded([&] {
    if (store_) return;
    store_.emplace(value_or_throw(store::Store::open(choose_store(request_.store).path, store::Access::create)));
    if (wants_names(request_)) builds_apart_.emplace(value_or_throw(store_->addresses()));
    names_.emplace(*store_);
  });
}

Status Import::store(Loaded& loaded) {
  sources_.clear();
  return for_some(loaded, reading_, [&](std::span<LoadedSnapshot> some) { return guarded([&] { store_some(some); }); });
}

/// Names the series of some snapshots, in their order, and stores them.
void Import::store_some(std::span<const LoadedSnapshot> snapshots) {
  std::vector<LoadedSnapshot> items = devices_of(snapshots, wanted_.per_device);
  if (builds_apart_) value_or_throw(builds_apart_->separate(items, request_));
  std::vector<std::pair<const Snapshot*, std::string>> named;
  for (LoadedSnapshot& item : items) {
    if (!wanted_.labels.empty()) {
      Snapshot labelled = *item.ref.snapshot;
      labelled.facts.labels.insert(wanted_.labels.begin(), wanted_.labels.end());
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(labelled));
    }
    const std::string suffix = device_suffix(item, wanted_.per_device);
    std::string name =
        wanted_.series.empty() ? value_or_throw(names_->name_for(item, suffix)) : wanted_.series + suffix;
    touched_.insert(name);
    named.emplace_back(item.ref.snapshot.get(), std::move(name));
    (item.ref.snapshot->facts.taken_at_ns ? any_timed_ : any_untimed_) = true;
    const SourceFacts& source = item.ref.snapshot->facts.source;
    if (sources_.emplace(source.name, source.sha256).second) counts_.bytes += source.size_bytes;
  }
  for (const store::Imported& one : value_or_throw(store_in_turn(*store_, named)))
    ++(one.was_present ? counts_.present : counts_.added);
}

Result<std::optional<StoreNames>> Import::name() {
  return guarded([&] {
    return wants_names(request_) ? std::optional(value_or_throw(name_store(*store_, request_, false))) : std::nullopt;
  });
}

Result<std::vector<store::SeriesInfo>> Import::touched() {
  if (touched_.size() < 2 && !(any_timed_ && any_untimed_)) return std::vector<store::SeriesInfo>();
  return store_->list(std::vector<std::string>(touched_.begin(), touched_.end()));
}

}  // namespace snapdiff::session

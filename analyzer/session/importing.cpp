#include "analyzer/session/importing.hpp"

#include <memory>

#include "analyzer/cuda/cuda.hpp"
#include "analyzer/session/read_files.hpp"
#include "analyzer/session/store_in_turn.hpp"

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
  if (store_) return ok();
  Result<store::Store> opened = store::Store::open(choose_store(request_.store).path, store::Access::create);
  if (!opened) return std::move(opened).error();
  store_.emplace(*std::move(opened));
  if (wants_names(request_)) {
    const Result<std::vector<Snapshot>> known = store_->addresses();
    if (!known) return known.error();
    builds_apart_.emplace(*known);
  }
  names_.emplace(*store_);
  return ok();
}

Status Import::store(Loaded& loaded) {
  sources_.clear();
  return for_some(loaded, reading_, [&](std::span<LoadedSnapshot> some) { return store_some(some); });
}

/// Names the series of some snapshots, in their order, and stores them.
Status Import::store_some(std::span<const LoadedSnapshot> snapshots) {
  std::vector<LoadedSnapshot> items = devices_of(snapshots, wanted_.per_device);
  if (builds_apart_) {
    if (Status apart = builds_apart_->separate(items, request_); !apart) return apart;
  }
  std::vector<std::pair<const Snapshot*, std::string>> named;
  for (LoadedSnapshot& item : items) {
    if (!wanted_.labels.empty()) {
      Snapshot labelled = *item.ref.snapshot;
      labelled.facts.labels.insert(wanted_.labels.begin(), wanted_.labels.end());
      item.ref.snapshot = std::make_shared<const Snapshot>(std::move(labelled));
    }
    const std::string suffix = device_suffix(item, wanted_.per_device);
    Result<std::string> name =
        wanted_.series.empty() ? names_->name_for(item, suffix) : Result<std::string>(wanted_.series + suffix);
    if (!name) return std::move(name).error();
    touched_.insert(*name);
    named.emplace_back(item.ref.snapshot.get(), *std::move(name));
    (item.ref.snapshot->facts.taken_at_ns ? any_timed_ : any_untimed_) = true;
    const SourceFacts& source = item.ref.snapshot->facts.source;
    if (sources_.emplace(source.name, source.sha256).second) counts_.bytes += source.size_bytes;
  }
  const Result<std::vector<store::Imported>> imported = store_in_turn(*store_, named);
  if (!imported) return imported.error();
  for (const store::Imported& one : *imported) ++(one.was_present ? counts_.present : counts_.added);
  return ok();
}

Result<std::optional<StoreNames>> Import::name() {
  if (!wants_names(request_)) return std::optional<StoreNames>();
  Result<StoreNames> names = name_store(*store_, request_, false);
  if (!names) return std::move(names).error();
  return std::optional(*std::move(names));
}

Result<std::vector<store::SeriesInfo>> Import::touched() {
  if (touched_.size() < 2 && !(any_timed_ && any_untimed_)) return std::vector<store::SeriesInfo>();
  Result<std::vector<store::SeriesInfo>> listed = store_->list();
  if (listed) std::erase_if(*listed, [&](const store::SeriesInfo& series) { return touched_.count(series.name) == 0; });
  return listed;
}

}  // namespace snapdiff::session

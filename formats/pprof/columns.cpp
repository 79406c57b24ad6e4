#include "formats/pprof/columns.hpp"

namespace snapdiff::formats::pprof {
namespace {

/// Other writers' names of the canonical columns; "allocations" and "size" are of Go before 1.1. A writer whose names
/// mean something else beside `beside` is first: Julia's profile of allocations (PProf.jl, Allocs.jl) has "allocs"
/// and "size", of what was allocated, freed or not.
struct Synonym {
  std::string_view name;
  std::string_view canonical;
  std::string_view beside;
};
constexpr Synonym kSynonyms[] = {
    {"allocs", "alloc_objects", ""},
    {"size", "alloc_space", "allocs"},
    {"objects", "inuse_objects", ""},
    {"space", "inuse_space", ""},
    {"allocations", "inuse_objects", ""},
    {"size", "inuse_space", ""},
    // Perfetto's heapprofd, as traceconv writes it.
    {"Unreleased malloc count", "inuse_objects", ""},
    {"Unreleased malloc size", "inuse_space", ""},
    {"Total malloc count", "alloc_objects", ""},
    {"Total malloc size", "alloc_space", ""},
    {"Total allocation count", "alloc_objects", ""},
    {"Total allocation size", "alloc_space", ""},
};

bool has(const std::vector<ColumnPlan>& plans, std::string_view name) {
  return std::any_of(plans.begin(), plans.end(), [&](const ColumnPlan& plan) { return plan.type.name == name; });
}

std::string unique_name(const std::vector<ColumnPlan>& plans, const std::string& name) {
  std::string out = name;
  for (int n = 2; has(plans, out); ++n) out = name + " (" + std::to_string(n) + ")";
  return out;
}

void normalise_unit(ColumnPlan& plan) {
  SampleType& type = plan.type;
  if (const std::optional<std::int64_t> bytes = bytes_per(type.unit)) {
    plan.factor = *bytes;
    type.unit = "bytes";
  } else if (type.unit.empty() && type.name.ends_with("_space")) {
    type.unit = "bytes";
  } else if ((type.unit.empty() || type.unit == "objects") && type.name.ends_with("_objects")) {
    type.unit = "count";
  }
}

}  // namespace

std::optional<std::int64_t> bytes_per(std::string_view unit) {
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower.size() > 1 && lower.back() == 's') lower.pop_back();
  constexpr std::string_view kNames[][3] = {{"b", "byte", "byte"},     {"kb", "kib", "kilobyte"},
                                            {"mb", "mib", "megabyte"}, {"gb", "gib", "gigabyte"},
                                            {"tb", "tib", "terabyte"}, {"pb", "pib", "petabyte"}};
  std::int64_t bytes = 1;
  for (const auto& names : kNames) {
    if (std::find(std::begin(names), std::end(names), lower) != std::end(names)) return bytes;
    bytes *= 1024;
  }
  return std::nullopt;
}

std::vector<ColumnPlan> plan_columns(const ProfileTables& tables) {
  std::vector<std::string> written;
  for (const RawValueType& type : tables.sample_types) written.emplace_back(tables.text(type.type, type.offset));

  std::vector<ColumnPlan> plans;
  for (std::size_t i = 0; i < written.size(); ++i) {
    std::string name = written[i];
    const auto is_written = [&](std::string_view other) {
      return std::find(written.begin(), written.end(), other) != written.end();
    };
    for (const Synonym& each : kSynonyms) {
      if (written[i] != each.name || name != written[i] || (!each.beside.empty() && !is_written(each.beside))) continue;
      if (!is_written(each.canonical) && !has(plans, each.canonical)) name = each.canonical;
    }
    ColumnPlan plan;
    plan.type.unit = tables.text(tables.sample_types[i].unit, tables.sample_types[i].offset);
    plan.written_name = written[i];
    // Bytes that were allocated, freed or not: nothing of what is in use.
    if (written[i] == "allocations" && bytes_per(plan.type.unit)) name = "alloc_space";
    plan.type.name = unique_name(plans, name);
    normalise_unit(plan);
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace snapdiff::formats::pprof

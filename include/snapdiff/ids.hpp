#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace snapdiff {

/// Row numbers of the dictionary tables (snapshot.hpp). Row 0 always means "none": the empty
/// string, no module, no function, the empty stack, no labels.
enum class StringId : std::uint32_t {};
enum class ModuleId : std::uint32_t {};
enum class FunctionId : std::uint32_t {};
enum class StackId : std::uint32_t {};
enum class LabelSetId : std::uint32_t {};

/// Row number of FrameTable. Frames have no "none" row: frame 0 is an ordinary frame.
enum class FrameId : std::uint32_t {};

/// Number of a snapshot in one store, as `snapdiff list` prints it after the `@`; 0 is "not stored".
enum class SnapshotId : std::int64_t {};

template <class Id>
requires std::is_enum_v<Id>
constexpr std::size_t index_of(Id id) { return static_cast<std::size_t>(id); }

}  // namespace snapdiff

#include "formats/torch_cuda/schema.hpp"

namespace snapdiff::formats::torch_cuda {
namespace {

Role in_list(Role parent, Kind kind) {
  if (kind == Kind::list) return parent == kTraces || parent == kHostTraces ? kTrace : kNowhere;
  switch (parent) {
    case kSegments:
    case kHostSegments: return kSegment;
    case kBlocks: return kBlock;
    case kHistory: return kHistoryEntry;
    case kTrace: return kEntry;
    case kAnnotations: return kAnnotation;
    case kSegmentFrames:
    case kBlockFrames:
    case kHistoryFrames:
    case kEntryFrames: return kFrame;
    default: return kNowhere;
  }
}

Role in_root(Word word, Kind kind) {
  if (kind == Kind::dict) return word == "allocator_settings"_word ? kSettings : kNowhere;
  switch (word) {
    case "segments"_word: return kSegments;
    case "host_segments"_word: return kHostSegments;
    case "device_traces"_word: return kTraces;
    case "host_traces"_word: return kHostTraces;
    case "external_annotations"_word: return kAnnotations;
    default: return kNowhere;
  }
}

}  // namespace

Role child_place(Role parent, std::uint32_t key, Kind kind) {
  if (parent == kNowhere) return kNowhere;
  if (key == 0xffffffff) return in_list(parent, kind);
  const auto word = static_cast<Word>(key);
  if (parent == kRoot) return in_root(word, kind);
  if (parent == kSettings)
    return kind == Kind::dict && word == "roundup_power2_divisions"_word ? kSettingsTable : kNowhere;
  if (kind != Kind::list) return kNowhere;
  if (word == "frames"_word) {
    switch (parent) {
      case kSegment: return kSegmentFrames;
      case kBlock: return kBlockFrames;
      case kHistoryEntry: return kHistoryFrames;
      case kEntry: return kEntryFrames;
      default: return kNowhere;
    }
  }
  if (word == "blocks"_word && parent == kSegment) return kBlocks;
  if (word == "history"_word && parent == kBlock) return kHistory;
  if ((word == "segment_pool_id"_word && parent == kSegment) || (word == "pool_id"_word && parent == kEntry))
    return kPoolPair;
  return kNowhere;
}

std::string_view place_name(Role place) {
  switch (place) {
    case kRoot: return "the root";
    case kSegments: return "segments";
    case kHostSegments: return "host_segments";
    case kTraces: return "device_traces";
    case kHostTraces: return "host_traces";
    case kAnnotations: return "external_annotations";
    case kBlocks: return "blocks";
    case kHistory: return "history";
    case kSegmentFrames:
    case kBlockFrames:
    case kHistoryFrames:
    case kEntryFrames: return "frames";
    default: return "a list";
  }
}

}  // namespace snapdiff::formats::torch_cuda

#include "analyzer/diff/visibility.hpp"

#include <re2/re2.h>

#include <algorithm>

#include "analyzer/diff/library_code.hpp"
#include "analyzer/diff/names.hpp"

namespace snapdiff::diff {
namespace {

/// Functions that allocate on behalf of others, without their arguments. Sources: the list that
/// google/pprof supplies for profiles without one (profile/legacy_profile.go, addLegacyFrameInfo;
/// runtime.* of Go left out, since Go's profiles end above it), jeprof's list (bin/jeprof.in), the names of
/// libstdc++ 12, and stacks of PyTorch 2.
constexpr std::string_view kAllocatorNames =
    "(__|__libc_|tc_|je_|mi_)?(malloc|calloc|realloc|reallocarray|free|cfree|memalign|aligned_alloc|posix_memalign|"
    "valloc|pvalloc)"
    "|___?interceptor_\\w+"  // LeakSanitizer and AddressSanitizer
    "|do_memalign|((\\(anonymous namespace\\))?::)?do_(malloc|calloc|realloc)(_no_errno|_pages|_or_cpp_alloc)?"
    "|tcmalloc::.*|tc_(new|delete|newarray|deletearray)\\w*|tc_malloc_skip_new_handler|TCMallocInternal\\w+"
    "|MallocHook::.*|do_rallocx"
    "|malloc_zone_(malloc|calloc|valloc|realloc|memalign|free)"
    "|operator new(\\[\\])?|operator delete(\\[\\])?|__builtin_(vec_)?(new|delete)|cpp_alloc"
    "|BaseArena::.*|DoSampledAllocation|MallocedMemBlock::MallocedMemBlock|simple_alloc::allocate"
    "|(__gnu_cxx::)?(new_allocator|__malloc_alloc_template)(<.*>)?::allocate|allocate|_M_allocate"
    "|std::(__new_allocator|allocator|allocator_traits|__allocator_traits_base|pmr::polymorphic_allocator)(<.*>)?::"
    "allocate"
    "|std::_Vector_base(<.*>)?::_M_allocate|std::_Deque_base(<.*>)?::_M_\\w+|std::_Rb_tree(<.*>)?::_M_get_node"
    "|std::__detail::_Hashtable_alloc(<.*>)?::.*|std::__allocate_guarded(<.*>)?"
    "|(je_)?prof_(backtrace_impl|backtrace|tctx_create|alloc_prep|alloc_prep_impl|malloc_sample_object)"
    "|je_prof_backtrace|imalloc\\w*|mallocx|rallocx|xallocx|sdallocx|(je_)?(mallocx|rallocx|xallocx)"
    "|irallocx_prof\\w*|ixallocx_prof\\w*|newImpl|fallbackNewImpl|fallback_impl"
    "|__rust_(alloc|realloc|alloc_zeroed)|__r(dl|g)_(alloc|realloc|alloc_zeroed)"
    // PyTorch: the caching allocator, and how an operator asks it for its output.
    "|c10::(cuda|hip)::(CUDA|HIP)CachingAllocator::.*"
    "|(at::TensorBase )?at::(detail|native)::_?empty_(generic|strided_generic|cuda|strided_cuda|hip|strided_hip)(<.*>)?"
    "|at::\\(anonymous namespace\\)::(create_out|structured_\\w+::set_output_(raw_strided|strided))";

/// Functions and files of PyTorch's stacks that are there in every stack: the recorder, the interpreter,
/// the dispatcher. Source: pytorch/pytorch torch/cuda/_memory_viz.py and torch/utils/viz/MemoryViz.js; and all
/// functions of the interpreter's C interface, which also are the nearest names in one without symbols.
constexpr std::string_view kNoiseNames =
    "unwind::unwind|CapturedTraceback::gather|gather_with_cpp|_start|__libc_start_main|__libc_init_first|"
    "\\b_?Py([A-Z][A-Za-z]*)?_\\w";
constexpr std::string_view kNoiseFiles =
    "core/boxing|/Register|/Redispatch|pythonrun\\.c|Modules/main\\.c|Objects/call\\.c|Objects/methodobject\\.c|"
    "pycore_ceval\\.h|ceval\\.c|cpython/abstract\\.h";

bool is_python(std::string_view file) { return file.ends_with(".py") || file.starts_with('<'); }

RE2::Options quiet() {
  RE2::Options options;
  options.set_log_errors(false);
  return options;
}

std::unique_ptr<RE2> make(std::string_view pattern) {
  return std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), quiet());
}

bool found(const std::unique_ptr<RE2>& expression, std::string_view text) {
  return expression != nullptr && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression);
}

bool is_whole(const RE2& expression, std::string_view text) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), expression);
}

bool is_allocator_library(std::string_view path) {
  const std::string_view name = base_name(path);
  return (name.starts_with("libtcmalloc") || name.starts_with("libjemalloc")) &&
         name.find(".so") != std::string_view::npos;
}

}  // namespace

struct FrameFilters::Impl {
  std::unique_ptr<RE2> allocator, focus, ignore, hide, show, own, library;
  std::vector<std::unique_ptr<RE2>> drop, keep;
  std::unique_ptr<RE2> noise_name, noise_file;
  FrameSet frames = FrameSet::all;

  /// Whether the frame set hides a function.
  bool hides(std::string_view name, std::string_view file) const {
    if (frames == FrameSet::all) return false;
    if (frames == FrameSet::python) return !is_python(file);
    if (frames == FrameSet::native && is_python(file)) return true;
    return found(noise_name, name) || found(noise_file, file);
  }
};

Result<FrameFilters> FrameFilters::compile(const DiffOptions& options, std::span<const SnapshotRef> snapshots,
                                           Notes& notes) {
  auto impl = std::make_shared<Impl>();
  const auto compile_option = [](const char* name, const std::string& pattern, std::unique_ptr<RE2>& out) -> Status {
    if (pattern.empty()) return ok();
    out = make(pattern);
    if (out->ok()) return ok();
    return Error{ErrorCode::usage, std::string("bad regular expression in --") + name + ": '" + pattern +
                                       "', expected RE2 syntax (" + out->error() + ")"};
  };
  if (Status s = compile_option("focus", options.focus, impl->focus); !s) return std::move(s).error();
  if (Status s = compile_option("ignore", options.ignore, impl->ignore); !s) return std::move(s).error();
  if (Status s = compile_option("hide", options.hide, impl->hide); !s) return std::move(s).error();
  if (Status s = compile_option("show", options.show, impl->show); !s) return std::move(s).error();
  if (Status s = compile_option("own", options.own, impl->own); !s) return std::move(s).error();
  if (Status s = compile_option("library", options.library, impl->library); !s) return std::move(s).error();

  if (options.hide_allocator_frames) {
    impl->allocator = make(kAllocatorNames);
    // Both sides are cut by the expressions of both, else a side that carries none would never match.
    const auto add = [&](const std::string& pattern, std::vector<std::unique_ptr<RE2>>& out) {
      if (pattern.empty()) return;
      for (const auto& known : out) {
        if (known->pattern() == pattern) return;
      }
      auto expression = make(pattern);
      if (expression->ok()) {
        out.push_back(std::move(expression));
      } else {
        notes.add(Severity::warning, "drop_frames or keep_frames of an input is no regular expression; ignored");
      }
    };
    for (const SnapshotRef& ref : snapshots) {
      add(ref.snapshot->facts.drop_frames, impl->drop);
      add(ref.snapshot->facts.keep_frames, impl->keep);
    }
  }
  const bool both_kinds = std::any_of(snapshots.begin(), snapshots.end(),
                                      [](const SnapshotRef& ref) { return ref.snapshot->facts.producer == "pytorch"; });
  if (both_kinds && options.frames != FrameSet::all) {
    impl->frames = options.frames;
    impl->noise_name = make(kNoiseNames);
    impl->noise_file = make(kNoiseFiles);
    if (options.frames == FrameSet::usual)
      notes.add(Severity::info, "of stacks with Python frames only these are shown: --frames all shows the others");
  }
  FrameFilters filters;
  filters.impl_ = std::move(impl);
  return filters;
}

Visibility::Visibility(std::shared_ptr<const Dictionary> dictionary, const FrameFilters& filters)
    : dictionary_(std::move(dictionary)), focused_(filters.impl().focus != nullptr) {
  const Dictionary& d = *dictionary_;
  const FrameFilters::Impl& f = filters.impl();
  // kHidden stands for "matches --show" until the two halves of a frame are put together.
  const auto search = [&](std::string_view text) {
    std::uint8_t flags = 0;
    if (found(f.focus, text)) flags |= kFocus;
    if (found(f.ignore, text)) flags |= kIgnore;
    return flags;
  };
  const bool searching = f.focus || f.ignore || f.hide || f.show;

  const std::size_t functions = d.functions.size();
  std::vector<std::uint8_t> by_function(functions, 0);
  std::vector<std::uint8_t> hidden(functions, 0);
  std::vector<std::uint8_t> shown(functions, 0);
  std::vector<std::uint8_t> own(functions, 0);
  for (std::size_t row = 1; row < functions; ++row) {
    const std::string_view name = d.strings[d.functions.name[row]];
    const std::string_view file = d.strings[d.functions.file[row]];
    std::uint8_t flags = 0;
    if (f.allocator) {
      const std::string_view simple = without_arguments(name);
      if (is_whole(*f.allocator, simple)) flags |= kAllocator;
      for (const auto& drop : f.drop) {
        if (is_whole(*drop, simple)) flags |= kDrop;
      }
      for (const auto& keep : f.keep) {
        if ((flags & kDrop) != 0 && is_whole(*keep, simple)) flags &= static_cast<std::uint8_t>(~kDrop);
      }
    }
    if (searching) {
      flags = static_cast<std::uint8_t>(flags | search(name) | search(file));
      hidden[row] = found(f.hide, name) || found(f.hide, file);
      shown[row] = found(f.show, name) || found(f.show, file);
    }
    if (f.frames != FrameSet::all && f.hides(name, file)) hidden[row] = 1;
    if (f.frames == FrameSet::usual && !is_python(file)) flags |= kNative;
    if (found(f.own, name) || found(f.own, file)) {
      own[row] = 1;
    } else if (is_library_name(name) || is_library_file(file) || is_go_library(name, file) || found(f.library, name) ||
               found(f.library, file)) {
      flags |= kLibrary;
    }
    by_function[row] = flags;
  }
  shows_emptied_ = !f.hide && !f.show;

  const std::size_t modules = d.modules.size();
  std::vector<std::uint8_t> by_module(modules, 0);
  std::vector<std::uint8_t> module_hidden(modules, 0);
  std::vector<std::uint8_t> module_shown(modules, 0);
  for (std::size_t row = 1; row < modules; ++row) {
    const std::string_view name = d.strings[d.modules.name[row]];
    if (f.allocator && is_allocator_library(name)) by_module[row] |= kAllocator;
    if ((is_library_module(name) || found(f.library, name)) && !found(f.own, name)) by_module[row] |= kLibrary;
    if (searching) {
      by_module[row] |= search(name);
      module_hidden[row] = found(f.hide, name);
      module_shown[row] = found(f.show, name);
    }
  }

  flags_.resize(d.frames.size());
  std::uint8_t any = 0;
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const std::size_t function = index_of(d.frames.function[i]);
    const std::size_t module = index_of(d.frames.module[i]);
    std::uint8_t flags = by_function[function];
    // A name that tells of no allocator outweighs the library it lies in.
    const std::uint8_t not_allocator = function == 0 ? 0xff : static_cast<std::uint8_t>(~kAllocator);
    flags = static_cast<std::uint8_t>(flags | (by_module[module] & not_allocator));
    const bool bare = module == 0 && d.functions.file[function] == StringId{};
    if (bare && own[function] == 0 && is_runtime_type(d.strings[d.functions.name[function]])) flags |= kLibrary;
    if (own[function] != 0) flags &= static_cast<std::uint8_t>(~kLibrary);
    if (hidden[function] != 0 || module_hidden[module] != 0) flags |= kHidden;
    any_hide_ = any_hide_ || (f.hide && (flags & kHidden) != 0);
    const bool is_shown = shown[function] != 0 || module_shown[module] != 0;
    any_show_ = any_show_ || is_shown;
    if (f.show && !is_shown) flags |= kHidden;
    if ((d.frames.flags[i] & kFramePseudo) != 0) flags &= static_cast<std::uint8_t>(~(kAllocator | kDrop | kLibrary));
    flags_[i] = flags;
    any |= flags;
  }
  any_allocator_ = (any & kAllocator) != 0;
  any_drop_ = (any & kDrop) != 0;
  any_hidden_ = (any & kHidden) != 0;
  any_native_ = (any & kNative) != 0;
  any_focus_ = (any & kFocus) != 0;
  any_ignore_ = (any & kIgnore) != 0;
}

/// Location by location from the root, as a location is a function with what was inlined into it. One that drop_frames
/// names is cut with all on its leaf side once another has been seen that it does not, so that nothing is cut to
/// nothing; before, only what was inlined into a function goes. Source: google/pprof profile/prune.go, Prune.
std::span<const FrameId> Visibility::without_dropped(std::span<const FrameId> frames, std::size_t cut,
                                                     std::vector<FrameId>& scratch) const {
  const auto& flags = dictionary_->frames.flags;
  const auto is_inlined = [&](std::size_t i) { return (flags[index_of(frames[i])] & kFrameInlined) != 0; };
  bool seen_user = false;
  bool has_gap = false;
  scratch.clear();  // root first, until the end
  for (std::size_t end = frames.size(); end > cut;) {
    std::size_t begin = end - 1;
    while (begin > 0 && is_inlined(begin - 1)) --begin;
    std::size_t dropped = end;  // frames of the location that are, the root-most of them last
    while (dropped > begin && !has(frames[dropped - 1], kDrop)) --dropped;
    if (dropped > begin && seen_user) {
      cut = std::max(cut, dropped);
      if (!has_gap) return frames.subspan(cut);
    }
    seen_user = seen_user || dropped == begin;
    std::size_t stays = std::max(dropped, cut);
    if (dropped == end && !seen_user) stays = std::max(begin, cut);
    has_gap = has_gap || stays > std::max(begin, cut);
    for (std::size_t i = end; i > stays; --i) scratch.push_back(frames[i - 1]);
    end = begin;
  }
  if (!has_gap) return frames.subspan(cut);
  std::reverse(scratch.begin(), scratch.end());
  return scratch;
}

std::span<const FrameId> Visibility::visible(std::span<const FrameId> frames, std::vector<FrameId>& scratch) const {
  if (!any_hidden_ && !any_native_) return frames;
  const bool has_python = any_native_ && std::any_of(frames.begin(), frames.end(),
                                                     [this](FrameId frame) { return !has(frame, kHidden | kNative); });
  const std::uint8_t hides = has_python ? kHidden | kNative : kHidden;
  scratch.clear();
  for (const FrameId frame : frames) {
    if (!has(frame, hides)) scratch.push_back(frame);
  }
  if (scratch.empty() && shows_emptied_) return frames;
  return scratch;
}

bool Visibility::passes(std::span<const FrameId> frames) const {
  if (!focused_ && !any_ignore_) return true;
  bool in_focus = !focused_;
  for (const FrameId frame : frames) {
    if (has(frame, kIgnore)) return false;
    if (has(frame, kFocus)) in_focus = true;
  }
  return in_focus;
}

}  // namespace snapdiff::diff

#include "analyzer/diff/visibility.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "analyzer/base/function_name.hpp"
#include "analyzer/base/parallel.hpp"
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
    "|__rust_(alloc|realloc|alloc_zeroed)|__r(dl|g|ustc)_(alloc|realloc|alloc_zeroed)"
    // Rust: every global allocator, the crates that are one, and what the standard library asks it with.
    "|<.* as core::alloc::(global::)?GlobalAlloc>::\\w+|_rjem_\\w+|(tikv_)?jemallocator::.*|dhat::.*"
    "|alloc::alloc::.*|<alloc::alloc::Global as core::alloc::Allocator>::\\w+"
    // PyTorch: the caching allocator, and how an operator asks it for its output.
    "|c10::(cuda|hip)::(CUDA|HIP)CachingAllocator::.*"
    "|(at::TensorBase )?at::(detail|native)::_?empty_(generic|strided_generic|cuda|strided_cuda|hip|strided_hip)(<.*>)?"
    "|at::\\(anonymous namespace\\)::(create_out|structured_\\w+::set_output_(raw_strided|strided))";

/// How functions end that say themselves that they allocate on behalf of others: xmalloc, zcalloc, cJSON_strdup.
constexpr std::string_view kAllocatorEnds[] = {"malloc", "calloc", "realloc", "zalloc", "strdup", "strndup", "memdup"};

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

bool is_own(FrameKind kind) { return kind == FrameKind::own || kind == FrameKind::start; }

/// "YAML" of "void YAML::Node::Assign<int>(int const&)"; "" where there is none.
std::string outer_namespace(std::string_view function) {
  const std::string name = short_function_name(function);
  const std::size_t end = name.find("::");
  return end < name.find_first_of("<({[") && end != std::string::npos ? name.substr(0, end) : std::string();
}

/// A header whose folder the recorder left out, as massif does.
bool is_bare_header(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos || file.find_first_of("/\\") != std::string_view::npos) return false;
  constexpr std::string_view kHeaders[] = {".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".tcc"};
  return std::find(std::begin(kHeaders), std::end(kHeaders), file.substr(dot)) != std::end(kHeaders);
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
        notes.add(Severity::warning, "invalid regular expression in drop_frames or keep_frames of an input; ignored");
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

Visibility::Mark Visibility::searched(const FrameFilters::Impl& f, std::string_view text) {
  Mark mark = 0;
  if (found(f.focus, text)) mark |= kFocus;
  if (found(f.ignore, text)) mark |= kIgnore;
  if (found(f.hide, text)) mark |= kHidden;
  if (found(f.show, text)) mark |= kShown;
  return mark;
}

Visibility::Found Visibility::found_in_function(const FrameFilters::Impl& f, std::string_view name,
                                                std::string_view file) {
  Found out{searched(f, name) | searched(f, file), frame_kind(name, file)};
  if (f.allocator) {
    const std::string_view simple = without_arguments(name);
    const auto names = [&](const auto& expression) { return is_whole(*expression, simple); };
    if (names(f.allocator)) out.mark |= kAllocator;
    const auto ends = [&](std::string_view end) { return simple.ends_with(end); };
    if (is_own(out.kind) && std::ranges::any_of(kAllocatorEnds, ends)) out.kind = FrameKind::plumbing;
    if (std::any_of(f.drop.begin(), f.drop.end(), names) && std::none_of(f.keep.begin(), f.keep.end(), names))
      out.mark |= kDrop;
  }
  if (f.hides(name, file)) out.mark |= kHidden;
  if (f.frames == FrameSet::usual && !is_python(file)) out.mark |= kNative;
  if (found(f.own, name) || found(f.own, file)) {
    out.mark |= kOwn;
  } else if (f.allocator && is_profiler(name, file)) {
    out.mark |= kProfiler;
    out.kind = FrameKind::plumbing;
  } else if (is_own(out.kind) && (found(f.library, name) || found(f.library, file))) {
    out.kind = FrameKind::library;
  }
  return out;
}

Visibility::Found Visibility::found_in_module(const FrameFilters::Impl& f, std::string_view name) {
  Found out{searched(f, name), module_kind(name)};
  if (f.allocator && is_allocator_library(name)) out.mark |= kAllocator;
  if (is_own(out.kind) && found(f.library, name)) out.kind = FrameKind::library;
  if (found(f.own, name)) out.kind = FrameKind::own;
  return out;
}

Visibility::Found Visibility::found_in_frame(std::size_t frame, const Found& function, const Found& module) const {
  const Dictionary& d = *dictionary_;
  const std::size_t number = index_of(d.frames.function[frame]);
  Found out = function;
  // A function's name that is not an allocator's outweighs the library that the function is in.
  out.mark |= number != 0 ? module.mark & ~kAllocator : module.mark;
  if (is_own(out.kind) && !is_own(module.kind)) out.kind = module.kind;
  const bool bare = index_of(d.frames.module[frame]) == 0 && d.functions.file[number] == StringId{};
  if (bare && is_own(out.kind) && is_runtime_type(d.strings[d.functions.name[number]])) out.kind = FrameKind::library;
  if ((out.mark & kOwn) != 0 && !is_own(out.kind)) out.kind = FrameKind::own;
  if ((d.frames.flags[frame] & kFramePseudo) != 0) {
    out.kind = FrameKind::unknown;
    out.mark &= ~(kAllocator | kDrop);
  } else if (!is_own(out.kind)) {
    out.mark |= kLibrary;
  }
  return out;
}

void Visibility::find_library_headers(std::span<const Found> modules, std::span<Found> functions) const {
  const Dictionary& d = *dictionary_;
  const auto name_of = [&](std::size_t function) { return d.strings[d.functions.name[function]]; };
  std::unordered_set<std::string> namespaces;
  for (std::size_t i = 0; i < d.frames.size(); ++i) {
    const FrameKind kind = modules[index_of(d.frames.module[i])].kind;
    const std::size_t function = index_of(d.frames.function[i]);
    if (function == 0 || (kind != FrameKind::dependency && kind != FrameKind::library)) continue;
    if (std::string name = outer_namespace(name_of(function)); !name.empty()) namespaces.insert(std::move(name));
  }
  if (namespaces.empty()) return;
  std::unordered_set<StringId> theirs, others;  // headers with functions of these namespaces, and of others
  for (std::size_t function = 1; function < functions.size(); ++function) {
    const StringId file = d.functions.file[function];
    if (!is_own(functions[function].kind) || !is_bare_header(d.strings[file])) continue;
    const std::string name = outer_namespace(name_of(function));
    if (!name.empty()) (namespaces.contains(name) ? theirs : others).insert(file);
  }
  for (std::size_t function = 1; function < functions.size(); ++function) {
    const StringId file = d.functions.file[function];
    if (is_own(functions[function].kind) && theirs.contains(file) && !others.contains(file))
      functions[function].kind = FrameKind::dependency;
  }
}

Visibility::Visibility(std::shared_ptr<const Dictionary> dictionary, const FrameFilters& filters)
    : dictionary_(std::move(dictionary)), focused_(filters.impl().focus != nullptr) {
  const Dictionary& d = *dictionary_;
  const FrameFilters::Impl& f = filters.impl();
  std::vector<Found> functions(d.functions.size());
  constexpr std::size_t kTogether = 256;   // functions: each is searched for by several expressions
  constexpr std::size_t kSeveral = 4'096;  // below this, one thread is faster
  const std::size_t parts = (functions.size() + kTogether - 1) / kTogether;
  for_each_parallel(parts, functions.size() < kSeveral ? 0 : kParallelStacks, [&](std::size_t part) {
    const std::size_t end = std::min(functions.size(), (part + 1) * kTogether);
    for (std::size_t row = std::max<std::size_t>(1, part * kTogether); row < end; ++row)
      functions[row] = found_in_function(f, d.strings[d.functions.name[row]], d.strings[d.functions.file[row]]);
  });
  std::vector<Found> modules(d.modules.size());
  for (std::size_t row = 1; row < modules.size(); ++row)
    modules[row] = found_in_module(f, d.strings[d.modules.name[row]]);
  find_library_headers(modules, functions);

  flags_.resize(d.frames.size());
  kinds_.resize(d.frames.size());
  for (std::size_t i = 0; i < flags_.size(); ++i) {
    const Found frame =
        found_in_frame(i, functions[index_of(d.frames.function[i])], modules[index_of(d.frames.module[i])]);
    Mark mark = frame.mark;
    if (f.hide && (mark & kHidden) != 0) any_ |= kHide;
    if (f.show && (mark & kShown) == 0) mark |= kHidden;
    flags_[i] = static_cast<std::uint8_t>(mark);
    kinds_[i] = frame.kind;
    any_ |= mark;
  }
  shows_emptied_ = !f.hide && !f.show;
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
  if (!any(kHidden | kNative)) return frames;
  const bool has_python = any(kNative) && std::any_of(frames.begin(), frames.end(),
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
  if (!focused_ && !any(kIgnore | kProfiler)) return true;
  bool in_focus = !focused_;
  for (const FrameId frame : frames) {
    if (has(frame, kIgnore | kProfiler)) return false;
    if (has(frame, kFocus)) in_focus = true;
  }
  return in_focus;
}

}  // namespace snapdiff::diff

// The C interface: turns texts into the types of snapdiff.hpp, and failures into snapdiff_error. Nothing is decided
// here.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "analyzer/base/failure.hpp"
#include "analyzer/base/printable.hpp"
#include "analyzer/library/answer.hpp"
#include "analyzer/library/arrow_table.hpp"
#include "analyzer/library/settings.hpp"
#include "analyzer/report/report.hpp"
#include "analyzer/session/files.hpp"
#include "analyzer/session/judged_series.hpp"
#include "analyzer/session/left_out.hpp"
#include "snapdiff/snapdiff.h"
#include "snapdiff/snapdiff.hpp"

namespace {

using namespace snapdiff;

/// Additions to snapdiff.h since its first release, and that release itself.
constexpr std::int32_t kInterfaceVersion = 1;

struct ErrorTexts {
  std::string subject, found, expected, message;
};

std::int32_t code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::io: return SNAPDIFF_IO;
    case ErrorCode::unsupported: return SNAPDIFF_UNSUPPORTED;
    case ErrorCode::malformed: return SNAPDIFF_MALFORMED;
    case ErrorCode::limit: return SNAPDIFF_LIMIT;
    case ErrorCode::incompatible: return SNAPDIFF_INCOMPATIBLE;
    case ErrorCode::usage: return SNAPDIFF_USAGE;
    case ErrorCode::internal: return SNAPDIFF_INTERNAL;
  }
  return SNAPDIFF_INTERNAL;
}

void clear(snapdiff_error* error) {
  if (error != nullptr) *error = {SNAPDIFF_OK, 0, 0, "", "", "", "", nullptr};
}

void clear(snapdiff_bytes* bytes) {
  if (bytes != nullptr) *bytes = {"", 0, nullptr};
}

/// Both sides of a message: "...: found X, expected Y; did you mean Z?" or "...: X, expected Y".
void split_complaint(ErrorTexts& texts, std::string_view message) {
  constexpr std::string_view kFound = "found ", kExpected = ", expected ", kColon = ": ";
  const std::size_t expected = message.rfind(kExpected);
  const std::string_view before = message.substr(0, expected);
  if (expected != std::string_view::npos) {
    const std::string_view rest = message.substr(expected + kExpected.size());
    texts.expected = rest.substr(0, rest.find("; "));
  }
  const std::size_t found = before.find(kFound), colon = before.rfind(kColon);
  if (found != std::string_view::npos) {
    texts.found = before.substr(found + kFound.size());
  } else if (!texts.expected.empty() && colon != std::string_view::npos) {
    texts.found = before.substr(colon + kColon.size());
  }
}

std::int32_t report_failure(const Error& failure, snapdiff_error* out) noexcept {
  const std::int32_t code = code_of(failure.code);
  if (out == nullptr) return code;
  clear(out);
  out->code = code;
  out->has_offset = failure.offset ? 1 : 0;
  out->offset = failure.offset.value_or(0);
  try {
    auto texts = std::make_unique<ErrorTexts>();
    texts->subject = printable(failure.subject);
    texts->message = printable(failure.text());
    split_complaint(*texts, printable(failure.message));
    out->subject = texts->subject.c_str();
    out->found = texts->found.c_str();
    out->expected = texts->expected.c_str();
    out->message = texts->message.c_str();
    out->private_data = texts.release();
  } catch (...) {
    out->message = "out of memory";
  }
  return code;
}

/// Runs `body`; whatever it throws becomes a code and `error`.
template <class Body>
std::int32_t checked(snapdiff_error* error, Body body) noexcept {
  clear(error);
  try {
    body();
    return SNAPDIFF_OK;
  } catch (const Failure& failure) {
    return report_failure(failure.error, error);
  } catch (const std::bad_alloc&) {
    if (error != nullptr) error->code = SNAPDIFF_LIMIT, error->message = "limit: out of memory";
    return SNAPDIFF_LIMIT;
  } catch (const std::exception& other) {
    return report_failure({ErrorCode::internal, other.what()}, error);
  } catch (...) {
    return report_failure({ErrorCode::internal, "unknown exception"}, error);
  }
}

/// A handle or output that must be given.
template <class T>
T& needed(T* pointer, const char* what) {
  if (pointer == nullptr) fail({ErrorCode::usage, std::string(what) + ": found NULL, expected a pointer"});
  return *pointer;
}

void give(std::string text, snapdiff_bytes* out) {
  if (out == nullptr) return;
  auto owned = std::make_unique<std::string>(std::move(text));
  *out = {owned->c_str(), owned->size(), nullptr};
  out->private_data = owned.release();
}

const Loaded& loaded_of(const snapdiff_snapshots* snapshots, std::size_t least) {
  const Loaded& loaded = needed(snapshots, "snapshots").loaded;
  if (loaded.snapshots.size() < least)
    fail({ErrorCode::usage, "too few snapshots: found " + std::to_string(loaded.snapshots.size()) +
                                ", expected at least " + std::to_string(least)});
  return loaded;
}

/// Makes an answer: `fill` sets the report.
template <class Fill>
std::int32_t make_answer(const snapdiff_snapshots* snapshots, std::size_t least, snapdiff_answer** out,
                         snapdiff_error* error, Fill fill) {
  if (out != nullptr) *out = nullptr;
  return checked(error, [&] {
    const Loaded& loaded = loaded_of(snapshots, least);
    auto answer = std::make_unique<snapdiff_answer>();
    fill(loaded, *answer);
    library::set_facts(*answer, loaded);
    needed(out, "output") = answer.release();
  });
}

}  // namespace

extern "C" {

void snapdiff_error_clear(snapdiff_error* error) {
  if (error == nullptr) return;
  delete static_cast<ErrorTexts*>(error->private_data);
  clear(error);
}

void snapdiff_bytes_clear(snapdiff_bytes* bytes) {
  if (bytes == nullptr) return;
  delete static_cast<std::string*>(bytes->private_data);
  clear(bytes);
}

const char* snapdiff_version(void) { return SNAPDIFF_VERSION; }
int32_t snapdiff_interface_version(void) { return kInterfaceVersion; }

int32_t snapdiff_open(const char* const* operands, size_t count, const snapdiff_option* options,
                      snapdiff_snapshots** out, snapdiff_error* error) {
  if (out != nullptr) *out = nullptr;
  return checked(error, [&] {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) texts.emplace_back(&needed(operands[i], "operand"));
    const library::Settings settings = library::read_settings(options, library::kOpenGroup);
    auto opened = std::make_unique<snapdiff_snapshots>();
    opened->loaded = value_or_throw(open_snapshots(texts, settings.open));
    needed(out, "output") = opened.release();
  });
}

size_t snapdiff_snapshot_count(const snapdiff_snapshots* snapshots) {
  return snapshots == nullptr ? 0 : snapshots->loaded.snapshots.size();
}

void snapdiff_snapshots_free(snapdiff_snapshots* snapshots) { delete snapshots; }

int32_t snapdiff_record(const snapdiff_snapshots* snapshots, const snapdiff_option* options, snapdiff_bytes* ids,
                        snapdiff_error* error) {
  clear(ids);
  return checked(error, [&] {
    const library::Settings settings = library::read_settings(options, library::kOpenGroup);
    std::string text;
    for (const SnapshotId id :
         value_or_throw(record(loaded_of(snapshots, 1), settings.open.store, settings.open.series)))
      text += std::to_string(static_cast<std::int64_t>(id)) + "\n";
    give(std::move(text), ids);
  });
}

int32_t snapdiff_compare(const snapdiff_snapshots* snapshots, const snapdiff_option* options, snapdiff_answer** out,
                         snapdiff_error* error) {
  return make_answer(snapshots, 2, out, error, [&](const Loaded& loaded, snapdiff_answer& answer) {
    const library::Settings settings = library::read_settings(options, library::kViewGroup);
    answer.growth = value_or_throw(compare(loaded.snapshots.front().ref, loaded.snapshots.back().ref, settings.view));
    session::add_left_out(loaded, answer.growth->notes);
  });
}

int32_t snapdiff_judge(const snapdiff_snapshots* snapshots, const snapdiff_option* options, snapdiff_answer** out,
                       snapdiff_error* error) {
  return make_answer(snapshots, 3, out, error, [&](const Loaded& loaded, snapdiff_answer& answer) {
    const library::Settings settings = library::read_settings(options, library::kViewGroup | library::kLimitGroup);
    session::TrendRequest wanted;
    wanted.limit = settings.limit;
    answer.trend = value_or_throw(session::find_trend(loaded, settings.view, wanted));
  });
}

int32_t snapdiff_gate(const snapdiff_snapshots* snapshots, const snapdiff_option* options, snapdiff_answer** out,
                      snapdiff_error* error) {
  return make_answer(snapshots, 2, out, error, [&](const Loaded& loaded, snapdiff_answer& answer) {
    const library::Settings settings = library::read_settings(options, library::kViewGroup | library::kGateGroup);
    const std::vector<SnapshotRef> refs = loaded.refs();
    answer.gate = value_or_throw(check_gate(refs, settings.gate, settings.view));
    session::add_left_out(loaded, answer.gate->trend.series.overall.notes);
  });
}

void snapdiff_answer_free(snapdiff_answer* answer) { delete answer; }

const char* snapdiff_text(const snapdiff_answer* answer, const char* name) {
  if (answer == nullptr || name == nullptr) return nullptr;
  const auto found = answer->texts.find(std::string_view(name));
  return found == answer->texts.end() ? nullptr : found->second.c_str();
}

int32_t snapdiff_number(const snapdiff_answer* answer, const char* name, int64_t* value) {
  if (value != nullptr) *value = 0;
  if (answer == nullptr || name == nullptr || value == nullptr) return 0;
  const auto found = answer->numbers.find(std::string_view(name));
  if (found == answer->numbers.end() || !found->second) return 0;
  *value = *found->second;
  return 1;
}

int32_t snapdiff_table(const snapdiff_answer* answer, const char* name, ArrowArrayStream* out, snapdiff_error* error) {
  if (out != nullptr) *out = {};
  return checked(error, [&] {
    library::ArrowTable table = library::answer_table(needed(answer, "answer"), &needed(name, "name"));
    library::export_stream(std::move(table), &needed(out, "output"));
  });
}

int32_t snapdiff_json(const snapdiff_answer* answer, snapdiff_bytes* out, snapdiff_error* error) {
  clear(out);
  return checked(error, [&] {
    const snapdiff_answer& given = needed(answer, "answer");
    report::Style style;
    style.form = report::Form::json;
    style.max_rows = 0;
    give(given.gate    ? report::write_gate(*given.gate, style)
         : given.trend ? to_json(*given.trend)
                       : to_json(*given.growth),
         &needed(out, "output"));
  });
}

int32_t snapdiff_draw(const snapdiff_snapshots* snapshots, const snapdiff_option* options, snapdiff_bytes* out,
                      snapdiff_error* error) {
  clear(out);
  return checked(error, [&] {
    const library::Settings settings = library::read_settings(options, library::kViewGroup | library::kDrawGroup);
    give(value_or_throw(draw_picture(loaded_of(snapshots, 1), settings.picture, settings.view)),
         &needed(out, "output"));
  });
}

int32_t snapdiff_report(const snapdiff_snapshots* snapshots, const char* folder, const snapdiff_option* options,
                        snapdiff_bytes* names, snapdiff_error* error) {
  clear(names);
  return checked(error, [&] {
    const std::filesystem::path path = &needed(folder, "folder");
    const library::Settings settings = library::read_settings(options, library::kViewGroup | library::kReportGroup);
    const std::vector<Document> documents =
        value_or_throw(make_postmortem_documents(loaded_of(snapshots, 1), settings.postmortem, settings.view));
    std::error_code refused;
    std::filesystem::create_directories(path, refused);
    if (refused) fail({ErrorCode::io, "cannot make the folder: " + refused.message(), {}, path.string()});
    std::string written;
    for (const Document& document : documents) {
      value_or_throw(session::write_file((path / document.name).string(), document.bytes));
      written += document.name + "\n";
    }
    give(std::move(written), names);
  });
}

}  // extern "C"

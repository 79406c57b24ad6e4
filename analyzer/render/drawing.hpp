#pragma once

#include "analyzer/render/render.hpp"

/// Drawing on demand: what draws is a module, libsnapdiff_draw.so, that a program opens when it draws. Cairo, pango and
/// Graphviz bring 40 shared objects with them: a program that is linked with them needs 9 ms and 8 MiB more to start.
namespace snapdiff::render {

/// The functions of the module; each is that of the same name in render.hpp.
struct Drawing {
  Result<std::string> (*to_pdf)(const Story& story, const graph::GraphOptions& options, Paper paper);
  Result<std::string> (*to_svg)(const Story& story, const graph::GraphOptions& options);
  Result<std::string> (*to_png)(const Story& story, const graph::GraphOptions& options);
  Result<std::string> (*to_dot)(const Story& story, const graph::GraphOptions& options);
  Result<std::string> (*draw_memory)(const MemoryStory& story, PictureForm form, Paper paper);
  FlameStory (*tell_flame_of_growth)(FlameTree tree, const GrowthReport& report);
  FlameStory (*tell_flame_of_top)(FlameTree tree, const TopReport& report);
  Result<std::string> (*draw_flame)(const FlameStory& story, PictureForm form, Paper paper);
  Result<std::string> (*draw_series)(const Story& story, PictureForm form, Paper paper);
  Result<std::string> (*draw_retained)(const RetainedStory& story, PictureForm form, const graph::GraphOptions& options,
                                       Paper paper);
  Result<std::string> (*retained_as_dot)(const RetainedStory& story, const graph::GraphOptions& options);
  Result<std::string> (*postmortem_pdf)(const Postmortem& postmortem, const std::string& source,
                                        const graph::GraphOptions& options, Paper paper);
  Result<std::string> (*growth_svg)(const Postmortem& postmortem, const graph::GraphOptions& options);
};

/// The module's functions; it is opened at the first call and stays open. It is looked for beside the program, then in
/// the folder for it of the installation that the program is part of, by paths relative to the program (to the library,
/// in another program that uses it): nothing that
/// the environment or the working directory says is looked at. Taken is only a module that belongs to the program's
/// owner or to root, and that was built from the same headers by the same compiler.
/// Errors: io, where no module of this build is found; the message says what to install. Safe from several threads.
Result<const Drawing*> open_drawing();

}  // namespace snapdiff::render

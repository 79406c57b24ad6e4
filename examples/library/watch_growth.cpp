// Says what grew between snapshots, whether it is a leak, and where it was allocated; holds it against budgets and
// writes the report:
//   watch_growth [--budget BUDGET]... [--picture FILE]... [--report FOLDER] OPERAND...
// Ends 1 where a budget is broken, 2 where an input or the usage is wrong.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <snapdiff/snapdiff.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Wanted {
  std::vector<std::string> operands, pictures;
  std::string folder;
  snapdiff::GateOptions gate;
};

int fail(const snapdiff::Error& error) {
  std::cerr << error.text() << '\n';
  return 2;
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  std::cout << "wrote " << path.string() << '\n';
}

void tell(const snapdiff::GrowthReport& report) {
  if (report.story == nullptr) return;
  const snapdiff::Story& story = *report.story;
  std::cout << snapdiff::prose_text(story.headline) << ": " << story.figures << '\n';
  for (const snapdiff::Culprit& culprit : story.culprits) {
    std::cout << "  " << culprit.text.label << ' ' << snapdiff::prose_text(culprit.text.name);
    if (!culprit.path.empty() && !culprit.path.back().file.empty())
      std::cout << " at " << culprit.path.back().file << ':' << culprit.path.back().line;
    std::cout << ": " << culprit.value.growth() << ' ' << report.unit;
    if (!culprit.verdict.word.empty()) std::cout << ", " << culprit.verdict.slope << " a snapshot";
    std::cout << '\n';
  }
}

/// "growth.svg" is a picture of that form; "flame.svg" and "timeline.pdf" are of that kind.
snapdiff::PictureOptions picture_of(const std::filesystem::path& path) {
  using namespace snapdiff;
  snapdiff::PictureOptions options;
  constexpr std::array<std::pair<std::string_view, PictureForm>, 4> kForms = {{{".html", PictureForm::html},
                                                                               {".svg", PictureForm::svg},
                                                                               {".png", PictureForm::png},
                                                                               {".dot", PictureForm::dot}}};
  for (const auto& [ending, form] : kForms) {
    if (path.extension() == ending) options.form = form;
  }
  if (path.stem() == "flame") options.kind = PictureKind::flame;
  if (path.stem() == "timeline") options.kind = PictureKind::timeline;
  return options;
}

int run(const Wanted& wanted) {
  const auto opened = snapdiff::open_snapshots(wanted.operands);
  if (!opened) return fail(opened.error());
  for (const auto& one : opened->left_out) std::cerr << "left out: " << one.why << '\n';
  const auto snapshots = opened->refs();
  if (snapshots.size() == 2) {
    const auto growth = snapdiff::compare(snapshots[0], snapshots[1]);
    if (!growth) return fail(growth.error());
    tell(*growth);
  } else {
    const auto trend = snapdiff::judge(snapshots);
    if (!trend) return fail(trend.error());
    tell(trend->series.overall);
  }
  for (const std::string& path : wanted.pictures) {
    const auto bytes = snapdiff::draw_picture(*opened, picture_of(path));
    if (!bytes) return fail(bytes.error());
    write(path, *bytes);
  }
  if (!wanted.folder.empty()) {
    const auto documents = snapdiff::make_postmortem_documents(*opened);
    if (!documents) return fail(documents.error());
    std::filesystem::create_directories(wanted.folder);
    for (const auto& [name, bytes] : *documents) write(std::filesystem::path(wanted.folder) / name, bytes);
  }
  if (wanted.gate.budgets.empty()) return 0;
  const auto gate = snapdiff::check_gate(snapshots, wanted.gate);
  if (!gate) return fail(gate.error());
  for (const auto& finding : gate->findings) {
    if (finding.outcome == snapdiff::Outcome::broken)
      std::cout << "over budget " << gate->budgets[finding.budget].text << ": " << finding.name << '\n';
  }
  return gate->is_breached() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Wanted wanted;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "--budget" && has_value) {
      wanted.gate.budgets.push_back(words[++i]);
    } else if (words[i] == "--picture" && has_value) {
      wanted.pictures.push_back(words[++i]);
    } else if (words[i] == "--report" && has_value) {
      wanted.folder = words[++i];
    } else {
      wanted.operands.push_back(words[i]);
    }
  }
  return run(wanted);
}

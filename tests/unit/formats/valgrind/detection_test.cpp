#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "formats/input/open_input.hpp"
#include "formats/registry.hpp"
#include "support/imported.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

/// Which of heaptrack, massif and dhat a sample is, by what SOURCES.md says of its name.
std::string format_of(const std::string& folder, const std::string& name) {
  if (folder == "heaptrack") return name.ends_with(".zst") || name.ends_with(".gz") ? "heaptrack" : "";
  if (name.starts_with("massif-") && name.ends_with(".out")) return "massif";
  return name.starts_with("dhat-") ? "dhat" : "";
}

}  // namespace

TEST_CASE("trackers: every sample of heaptrack and Valgrind is claimed by its format, and no other tracker's is") {
  namespace fs = std::filesystem;
  const auto samples = test::shared_sample("trackers");
  if (!samples) return;
  int own = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(*samples)) {
    if (!entry.is_regular_file()) continue;
    const fs::path& path = entry.path();
    const Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(path.string(), {});
    if (!opened) continue;
    const std::string expected = format_of(path.parent_path().filename().string(), path.filename().string());
    own += expected.empty() ? 0 : 1;
    for (const Format* importer : all()) {
      const std::string name(importer->info.name);
      const bool mine = name == "heaptrack" || name == "massif" || name == "dhat";
      if (!mine && expected.empty()) continue;
      INFO(path << " " << name);
      CHECK((importer->sniff((*opened)->head()) != Match::no) == (name == expected));
    }
  }
  CHECK(own >= 21);
}

TEST_CASE("trackers: heads that are too short, or only alike, are not claimed for certain") {
  const auto match = [](std::string_view format, std::string_view head) {
    for (const Format* importer : all()) {
      if (importer->info.name == format) return importer->sniff(head);
    }
    return Match::no;
  };
  CHECK(match("heaptrack", "v 10400 3\ns 1 a\n") == Match::certain);
  CHECK(match("heaptrack", "v 10400 3\n") == Match::possible);
  CHECK(match("heaptrack", "v 10400 3\nhello\n") == Match::no);
  CHECK(match("heaptrack", "v 1.2.3\n") == Match::no);
  CHECK(match("heaptrack", "v 10400 3 4\ns 1 a\n") == Match::no);
  CHECK(match("heaptrack", "version 1\n") == Match::no);
  CHECK(match("massif", "desc: a\ncmd: b\ntime_unit: i\n") == Match::certain);
  CHECK(match("massif", "desc: a\ncmd: b\n") == Match::possible);
  CHECK(match("massif", "desc: a\nevents: Ir\n") == Match::no);
  CHECK(match("dhat", " {\n\"dhatFileVersion\" : 2") == Match::certain);
  CHECK(match("dhat", "{\"version\":2") == Match::no);
}

#include "formats/input/open_input.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compress.hpp"
#include "formats/input/sha256.hpp"
#include "formats/registry.hpp"

using namespace snapdiff;
using namespace snapdiff::formats;

namespace {

/// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "snapdiff-test-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string drain(OpenedInput& opened) {
  Result<Input*> body = opened.body();
  REQUIRE(body);
  std::string out;
  for (;;) {
    Result<std::string_view> view = (*body)->peek(1);
    REQUIRE(view);
    if (view->empty()) return out;
    out.append(*view);
    (*body)->consume(view->size());
  }
}

std::string sha256_of(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

}  // namespace

TEST_CASE("open: a file gives bytes, hash, size and time") {
  const TemporaryFolder folder;
  // The second is long enough to be hashed in a thread beside the reading.
  for (const std::string& bytes : {std::string("short"), std::string(3'000'000, 'x') + "end"}) {
    const std::string path = folder.file("a.heap", bytes);
    Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(path, {});
    REQUIRE(opened);
    CHECK((drain(**opened) == bytes));
    const Result<SourceFacts> facts = (*opened)->finish();
    REQUIRE(facts);
    CHECK(facts->name == path);
    CHECK(facts->sha256 == sha256_of(bytes));
    CHECK(facts->size_bytes == bytes.size());
    CHECK(facts->file_time_ns.value_or(0) > 1'600'000'000'000'000'000);
  }
}

TEST_CASE("open: hash and size are those of the compressed bytes") {
  const TemporaryFolder folder;
  const std::string packed = packed_by::gzip(std::string(100'000, 'x'));
  Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(folder.file("a.gz", packed), {});
  REQUIRE(opened);
  CHECK(drain(**opened).size() == 100'000);
  const Result<SourceFacts> facts = (*opened)->finish();
  REQUIRE(facts);
  CHECK(facts->sha256 == sha256_of(packed));
  CHECK(facts->size_bytes == packed.size());
}

TEST_CASE("open: pipes work as files do") {
  const std::string plain = std::string(700'000, 'p') + "end";
  for (const std::string& given : {plain, packed_by::gzip(plain), packed_by::zstd(plain)}) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    std::thread writer([&] {
      std::size_t at = 0;
      while (at < given.size()) {
        const ssize_t wrote = ::write(ends[1], given.data() + at, given.size() - at);
        if (wrote <= 0) break;
        at += static_cast<std::size_t>(wrote);
      }
      ::close(ends[1]);
    });
    Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path("/dev/fd/" + std::to_string(ends[0]), {});
    REQUIRE(opened);
    CHECK((drain(**opened) == plain));
    const Result<SourceFacts> facts = (*opened)->finish();
    writer.join();
    ::close(ends[0]);
    REQUIRE(facts);
    CHECK(facts->sha256 == sha256_of(given));
    CHECK(facts->size_bytes == given.size());
    CHECK_FALSE(facts->file_time_ns);
  }
}

TEST_CASE("open: what is no readable file is an io error in plain words") {
  const TemporaryFolder folder;
  const auto error_of = [](const std::string& path) {
    const Result<std::vector<Snapshot>> read = read_file(path, {});
    REQUIRE_FALSE(read);
    return read.error();
  };
  CHECK(error_of(folder.path()).code == ErrorCode::io);
  CHECK(error_of(folder.path()).message == "is a directory: expected a file");
  CHECK(error_of(folder.path()).subject == folder.path());
  CHECK(error_of(folder.path() + "/absent").message.find("no such file") == 0);
  if (::geteuid() == 0) {
    WARN("skipped: root may read everything");
  } else {
    const std::string path = folder.file("secret", "x");
    std::filesystem::permissions(path, std::filesystem::perms::none);
    CHECK(error_of(path).code == ErrorCode::io);
  }
}

TEST_CASE("open: nothing, compressed or not, is an empty input file") {
  const TemporaryFolder folder;
  for (const std::string& bytes : {std::string(), packed_by::gzip(""), packed_by::zstd(""), packed_by::xz("")}) {
    const Result<std::vector<Snapshot>> read = read_file(folder.file("empty", bytes), {});
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::malformed);
    CHECK(read.error().message == "empty input file");
  }
}

TEST_CASE("open: a huge sparse file is refused by its head") {
  const TemporaryFolder folder;
  const std::string path = folder.file("sparse", "x");
  std::filesystem::resize_file(path, std::uintmax_t{10} << 30);
  const Result<std::vector<Snapshot>> read = read_file(path, {});
  REQUIRE_FALSE(read);
  CHECK(read.error().code == ErrorCode::unsupported);
}

TEST_CASE("open: progress ends at the size of the file") {
  const TemporaryFolder folder;
  const std::string bytes(9'000'000, 'x');
  std::vector<std::uint64_t> seen;
  InputOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t size) {
    CHECK(size == bytes.size());
    seen.push_back(done);
  };
  Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(folder.file("a", bytes), options);
  REQUIRE(opened);
  drain(**opened);
  REQUIRE(seen.size() >= 2);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(seen.back() == bytes.size());
}

TEST_CASE("open: a file is hashed where its hash is asked for") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.txt", "heap\n");
  for (const bool hash : {true, false}) {
    InputOptions options;
    options.hash = hash;
    Result<std::unique_ptr<OpenedInput>> opened = OpenedInput::open_path(path, options);
    REQUIRE(opened);
    CHECK(drain(**opened) == "heap\n");
    const Result<SourceFacts> facts = (*opened)->finish();
    REQUIRE(facts);
    CHECK(facts->sha256 == (hash ? sha256_of("heap\n") : ""));
    CHECK(facts->size_bytes == 5);
  }
}

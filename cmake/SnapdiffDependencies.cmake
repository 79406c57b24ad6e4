# Debian 12 packages, found and never downloaded. README.md lists their names and versions.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(zstd REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(toml11 REQUIRED)
find_package(EXPAT 2.4 REQUIRED)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw libelf)
pkg_check_modules(GVC REQUIRED IMPORTED_TARGET libgvc libcgraph libcdt)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo cairo-pdf cairo-svg pangocairo fontconfig)
find_path(PROTOZERO_INCLUDE_DIR protozero/version.hpp REQUIRED)
add_library(protozero INTERFACE)
target_include_directories(protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE_DIR})

# What a header may need when it is compiled alone.
add_library(snapdiff_third_party INTERFACE)
target_link_libraries(snapdiff_third_party INTERFACE
  SQLite::SQLite3 zstd::libzstd_shared ZLIB::ZLIB LibLZMA::LibLZMA Boost::headers CLI11::CLI11 fmt::fmt
  nlohmann_json::nlohmann_json simdjson::simdjson toml11::toml11 EXPAT::EXPAT PkgConfig::DEFLATE PkgConfig::LZ4 PkgConfig::NETTLE PkgConfig::RE2 PkgConfig::GVC
  PkgConfig::CAIRO PkgConfig::DW protozero)

if(SNAPDIFF_TESTS)
  find_package(Catch2 2.13 REQUIRED)
  include(Catch)
  find_package(Python3 COMPONENTS Interpreter)
endif()
if(SNAPDIFF_BENCH)
  find_package(benchmark REQUIRED)
endif()

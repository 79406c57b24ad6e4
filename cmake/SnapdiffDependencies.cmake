# Debian 12 packages, found and never downloaded. README.md lists their names and versions.

# A static program takes the archives of the same packages.
set(SNAPDIFF_ZSTD zstd::libzstd_shared)
if(SNAPDIFF_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
  set(SNAPDIFF_ZSTD zstd::libzstd_static)
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(zstd REQUIRED)
find_package(ZLIB REQUIRED)
find_package(LibLZMA REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(toml11 REQUIRED)
find_package(EXPAT 2.4 REQUIRED)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)
pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw libelf)
if(SNAPDIFF_STATIC)
  # pkg-config knows what these archives need only for all of its libraries at once.
  find_library(BZIP2_ARCHIVE bz2 REQUIRED)
  target_link_libraries(PkgConfig::DW INTERFACE LibLZMA::LibLZMA ${BZIP2_ARCHIVE} ${SNAPDIFF_ZSTD} ZLIB::ZLIB)
else()
  find_package(simdjson REQUIRED)
  pkg_check_modules(GVC REQUIRED IMPORTED_TARGET libgvc libcgraph libcdt)
  pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo cairo-pdf cairo-svg pangocairo fontconfig)
endif()
find_path(PROTOZERO_INCLUDE_DIR protozero/version.hpp REQUIRED)
add_library(protozero INTERFACE)
target_include_directories(protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE_DIR})

# What a header may need when it is compiled alone.
add_library(snapdiff_third_party INTERFACE)
target_link_libraries(snapdiff_third_party INTERFACE
  SQLite::SQLite3 ${SNAPDIFF_ZSTD} ZLIB::ZLIB LibLZMA::LibLZMA Boost::headers CLI11::CLI11
  nlohmann_json::nlohmann_json $<TARGET_NAME_IF_EXISTS:simdjson::simdjson> toml11::toml11 EXPAT::EXPAT PkgConfig::DEFLATE PkgConfig::LZ4 PkgConfig::NETTLE PkgConfig::RE2
  $<TARGET_NAME_IF_EXISTS:PkgConfig::GVC> $<TARGET_NAME_IF_EXISTS:PkgConfig::CAIRO> PkgConfig::DW protozero)

if(SNAPDIFF_TESTS)
  find_package(Catch2 2.13 REQUIRED)
  include(Catch)
  find_package(Python3 COMPONENTS Interpreter)
endif()
if(SNAPDIFF_BENCH)
  find_package(benchmark REQUIRED)
endif()

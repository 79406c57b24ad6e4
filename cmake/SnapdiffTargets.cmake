# Targets of one kind are made in one way: a module (a static library), a test program, a fuzz target.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(snapdiff_options INTERFACE)
target_compile_options(snapdiff_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
    -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual>)
# g++ 12 sees overlaps in "text" + std::string that are not there (its bug 105651, mended in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(snapdiff_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(SNAPDIFF_QUICK_BUILD)
  # What lies in an anonymous namespace of a source that is not the only one of its compilation, g++ takes for a
  # header's. Of larger compilations more is inlined, where g++ 12 sees overruns that are not there (bug 105329).
  target_compile_options(snapdiff_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage
    -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread>)
  # From 128 MB on, g++ looks again and again for memory to reuse: a twelfth of the time of forty sources together. From
  # 500 MB on the largest compilation (diff, 1.1 GB) takes no more memory than before, others 100 MB.
  if(NOT SNAPDIFF_TESTS)
    target_compile_options(snapdiff_options INTERFACE
      "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=500000>")
  endif()
endif()
# A program that answers in milliseconds pays for each page of code that is mapped: what nobody calls is left out.
if(NOT SNAPDIFF_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(snapdiff_options INTERFACE -ffunction-sections -fdata-sections)
  target_link_options(snapdiff_options INTERFACE LINKER:--gc-sections,--as-needed)
endif()
# Some libraries ask for it: with the same macros everywhere, one precompiled header serves all.
target_compile_options(snapdiff_options INTERFACE -pthread)
if(SNAPDIFF_WERROR)
  target_compile_options(snapdiff_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()
if(SNAPDIFF_SANITIZE)
  target_compile_options(snapdiff_options INTERFACE
    -fsanitize=${SNAPDIFF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(snapdiff_options INTERFACE -fsanitize=${SNAPDIFF_SANITIZE})
  # What the undefined-behaviour checks say of places in the source are two million addresses in the program. Where it
  # lies at a fixed address the loader has none to set, which was half of a short run.
  if(SNAPDIFF_SANITIZE MATCHES undefined AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_link_options(snapdiff_options INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
endif()
if(SNAPDIFF_FUZZ)
  target_compile_options(snapdiff_options INTERFACE
    -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/tests/fuzz/coverage_ignore.txt)
endif()

# The model and the seams: headers, and the sources of analyzer/base. Standard library only.
add_library(snapdiff_core INTERFACE)
target_include_directories(snapdiff_core INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# Sources of a quick build in this number of compilations of one size. Two are right for a target that little else is
# compiled beside: two cores share it.
function(snapdiff_compile_in_parts target parts)
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  math(EXPR batch "(${count} + ${parts} - 1) / ${parts}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${batch})
endfunction()

# With SNAPDIFF_QUICK_BUILD, several sources of a target are one compilation, and what they include of the standard
# library is compiled once for all targets: reading the same headers again is half the time of a whole build. All
# compilations of a target get as many sources, so that none is left for one core at the end.
function(snapdiff_compile_together target precompiled)
  if(SNAPDIFF_QUICK_BUILD)
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    math(EXPR parts "(${count} + ${SNAPDIFF_QUICK_BATCH} - 1) / ${SNAPDIFF_QUICK_BATCH}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
    snapdiff_compile_in_parts(${target} ${parts})
    if(TARGET ${precompiled})
      target_precompile_headers(${target} REUSE_FROM ${precompiled})
    endif()
  endif()
endfunction()

# What runs once a command, where a quarter of the compile time went into optimising it. The last -O counts.
function(snapdiff_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# A module is opened beside libsnapdiff.so, perhaps of another version: of the model each has its own.
function(snapdiff_keep_to_itself module)
  target_link_options(${module} PRIVATE LINKER:--exclude-libs,ALL)
endfunction()

# Links a part of a wheel with the libraries of an older system, where SNAPDIFF_WHEEL_ROOT names one.
function(snapdiff_goes_into_wheel target)
  if(SNAPDIFF_WHEEL AND SNAPDIFF_WHEEL_ROOT)
    set(launcher ${PROJECT_SOURCE_DIR}/cmake/packaging/link_for_root.py)
    set_target_properties(${target} PROPERTIES RULE_LAUNCH_LINK "${launcher} ${SNAPDIFF_WHEEL_ROOT}" LINK_DEPENDS ${launcher})
  endif()
endfunction()

# Owner of a precompiled header. clang takes one only where all macros are the same.
function(snapdiff_precompile name header)
  if(NOT SNAPDIFF_QUICK_BUILD OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cpp CONTENT "// Only to own a precompiled header.\n")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cpp)
  target_precompile_headers(${name} PRIVATE ${header})
  target_link_libraries(${name} PRIVATE snapdiff_options ${ARGN})
endfunction()

snapdiff_precompile(snapdiff_precompiled ${PROJECT_SOURCE_DIR}/cmake/precompiled/standard_library.hpp)

# snapdiff_module(NAME SOURCES ... PUBLIC targets ... PRIVATE targets ...)
#   makes the static library snapdiff_NAME. Third-party libraries go under PRIVATE.
function(snapdiff_module name)
  cmake_parse_arguments(MODULE "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(snapdiff_${name} STATIC ${MODULE_SOURCES})
  snapdiff_compile_together(snapdiff_${name} snapdiff_precompiled)
  target_include_directories(snapdiff_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(snapdiff_${name}
    PUBLIC snapdiff_core ${MODULE_PUBLIC}
    PRIVATE $<BUILD_INTERFACE:snapdiff_options> ${MODULE_PRIVATE})
endfunction()

# snapdiff_test(NAME SOURCES ... APART ... LIBRARIES ...)
#   makes the Catch2 program NAME and registers each of its test cases with ctest, sanitized the program as a whole.
#   A quick build compiles the sources together, and those of APART together.
function(snapdiff_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;APART;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  snapdiff_compile_together(${name} snapdiff_precompiled_tests)
  if(TEST_APART)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${TEST_SOURCES} PROPERTIES UNITY_GROUP together)
    set_source_files_properties(${TEST_APART} PROPERTIES UNITY_GROUP apart)
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE
    SNAPDIFF_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data"
    SNAPDIFF_SHARED_DATA="${PROJECT_SOURCE_DIR}/../shared/data")
  # The modules under test are optimised as the preset says; the tests themselves are built once and run once.
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE snapdiff_core snapdiff_options Catch2::Catch2WithMain ${TEST_LIBRARIES})
  # A name that ctest passes on and that matches nothing is a failure: a semicolon in it would make two of it.
  if(SNAPDIFF_SANITIZE)
    # All in one process: a sanitized one takes a quarter of a second to start, and there are more than a thousand.
    add_test(NAME ${name} COMMAND ${name} --warn NoTests)
    set_tests_properties(${name} PROPERTIES COST 150 TIMEOUT 1800)
  else()
    catch_discover_tests(${name} TEST_PREFIX "${name}: " EXTRA_ARGS --warn NoTests PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# snapdiff_long_tests(TESTS ... [TIMEOUT seconds] [ENVIRONMENT VARIABLE=value ...] [PROPERTIES name value ...])
#   Tests of whole commands, registered before: they start first, and the short ones fill what is left of the time.
#   Programs that are not optimised, or sanitized, have twice the time.
#   SNAPDIFF_SANITIZED in their environment says that rounds which run no other code may be fewer.
function(snapdiff_long_tests)
  cmake_parse_arguments(LONG "" "TIMEOUT" "TESTS;ENVIRONMENT;PROPERTIES" ${ARGN})
  if(NOT LONG_TIMEOUT)
    set(LONG_TIMEOUT 600)
  endif()
  if(SNAPDIFF_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    math(EXPR LONG_TIMEOUT "2 * ${LONG_TIMEOUT}")
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(APPEND LONG_ENVIRONMENT SNAPDIFF_UNOPTIMISED=1)
  endif()
  list(APPEND LONG_ENVIRONMENT PYTHONDONTWRITEBYTECODE=1
    "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/lsan_suppressions.txt:print_suppressions=0")
  if(SNAPDIFF_SANITIZE)
    list(APPEND LONG_ENVIRONMENT SNAPDIFF_SANITIZED=1)
  endif()
  set_tests_properties(${LONG_TESTS} PROPERTIES COST 100 TIMEOUT ${LONG_TIMEOUT} ENVIRONMENT "${LONG_ENVIRONMENT}" ${LONG_PROPERTIES})
endfunction()

# Sets `result` to the folder of the seeds of tests/fuzz/corpus/NAME.tar.xz, unpacked in the build folder, and to
# tests/fuzz/corpus/NAME where new seeds lie loose until tests/fuzz/pack packs them.
function(snapdiff_fuzz_seeds result name)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set(seeds)
  if(EXISTS ${corpus}.tar.xz)
    set(unpacked ${PROJECT_BINARY_DIR}/fuzz_corpus/${name})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${corpus}.tar.xz)
    if(${corpus}.tar.xz IS_NEWER_THAN ${unpacked}.stamp)
      file(REMOVE_RECURSE ${unpacked})
      file(ARCHIVE_EXTRACT INPUT ${corpus}.tar.xz DESTINATION ${unpacked})
      file(TOUCH ${unpacked}.stamp)
    endif()
    list(APPEND seeds ${unpacked})
  endif()
  if(IS_DIRECTORY ${corpus})
    list(APPEND seeds ${corpus})
  endif()
  if(NOT seeds)
    message(FATAL_ERROR "no seeds: neither ${corpus}.tar.xz nor ${corpus}/ exists")
  endif()
  set(${result} ${seeds} PARENT_SCOPE)
endfunction()

# Compiles each header on its own that is not the first one its own source includes: the others are compiled first,
# and so alone, by every build without SNAPDIFF_QUICK_BUILD.
function(snapdiff_check_headers)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    include/*.hpp formats/*.hpp analyzer/*.hpp)
  set(units)
  foreach(header IN LISTS headers)
    string(REPLACE "include/snapdiff/" "snapdiff/" include_path ${header})
    string(REGEX REPLACE "hpp$" "cpp" source ${PROJECT_SOURCE_DIR}/${header})
    set(first "")
    if(EXISTS ${source})
      file(STRINGS ${source} first REGEX "^#include" LIMIT_COUNT 1)
    endif()
    if(first STREQUAL "#include \"${include_path}\"")
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${header} unit)
    set(file ${PROJECT_BINARY_DIR}/header_check/${unit}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "#include \"${include_path}\"\n")
    list(APPEND units ${file})
  endforeach()
  add_library(snapdiff_header_check OBJECT ${units})
  # Of the standard library, what a quick build has compiled already: tests/layering/check_standard_includes.py looks for
  # its headers, and a build without SNAPDIFF_QUICK_BUILD compiles each one with nothing before it.
  if(TARGET snapdiff_precompiled)
    target_precompile_headers(snapdiff_header_check REUSE_FROM snapdiff_precompiled)
  else()
    target_compile_options(snapdiff_header_check PRIVATE -O0)
  endif()
  target_include_directories(snapdiff_header_check PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(snapdiff_header_check PRIVATE snapdiff_core snapdiff_options snapdiff_third_party)
endfunction()

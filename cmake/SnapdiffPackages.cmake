# Debian packages, by `cpack` in a build folder: the program, what draws, and what other programs are built with. What they
# depend on is found by dpkg-shlibdeps in what they hold.

set(packaging ${PROJECT_BINARY_DIR}/packaging)
set(SNAPDIFF_MAINTAINER "snapdiff maintainers <maintainers@snapdiff.invalid>")
string(TIMESTAMP SNAPDIFF_PACKAGED_AT "%a, %d %b %Y %H:%M:%S +0000" UTC)

# The changelog of README.md in the form of Debian's.
file(READ ${PROJECT_SOURCE_DIR}/README.md readme)
string(REGEX REPLACE "^.*\n## Changelog\n+### ${PROJECT_VERSION}\n+" "" SNAPDIFF_CHANGES "${readme}")
string(REGEX REPLACE "\n###? .*$" "" SNAPDIFF_CHANGES "${SNAPDIFF_CHANGES}")
string(STRIP "${SNAPDIFF_CHANGES}" SNAPDIFF_CHANGES)
string(REGEX REPLACE "\n+" "\n    " SNAPDIFF_CHANGES "${SNAPDIFF_CHANGES}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/packaging/changelog.in ${packaging}/changelog @ONLY)
execute_process(COMMAND gzip -9nf changelog WORKING_DIRECTORY ${packaging} COMMAND_ERROR_IS_FATAL ANY)

function(snapdiff_package component name section description)
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${key}_DESCRIPTION "${description}" PARENT_SCOPE)
  set(documents ${CMAKE_INSTALL_DATADIR}/doc/${name})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/packaging/copyright DESTINATION ${documents} COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(FILES ${packaging}/changelog.gz DESTINATION ${documents} COMPONENT ${component} EXCLUDE_FROM_ALL)
  set(overrides ${PROJECT_SOURCE_DIR}/cmake/packaging/overrides/${name})
  if(EXISTS ${overrides})
    install(FILES ${overrides} DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides COMPONENT ${component} EXCLUDE_FROM_ALL)
  endif()
endfunction()

snapdiff_package(program snapdiff devel "The program. It says from heap profiles, memory snapshots, tracker dumps or logs
alone what grew, by how much, on which allocation stacks, and whether that is
a leak. Documents and pictures need the package snapdiff-draw beside it.")
snapdiff_package(draw snapdiff-draw devel "What the program needs to write PDF, SVG, PNG and DOT: reports, retention
graphs, flame graphs and charts.")
snapdiff_package(development libsnapdiff-dev libdevel "Headers, CMake package and shared library with which other programs read and
compare heap snapshots as snapdiff does.")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME snapdiff)
set(CPACK_PACKAGE_CONTACT "${SNAPDIFF_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program draw development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "snapdiff-draw, libcurl4")
set(CPACK_DEBIAN_DRAW_PACKAGE_DEPENDS "snapdiff (= ${PROJECT_VERSION}), fonts-dejavu-core")
set(CPACK_DEBIAN_DRAW_PACKAGE_RECOMMENDS "fonts-inter, fonts-jetbrains-mono")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/packaging/triggers)
include(CPack)

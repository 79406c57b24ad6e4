#!/bin/sh
# Builds snapdiff from the clone that this script is in and installs it: install.sh PREFIX. With SNAPDIFF_BUILD, a
# build folder that is there already, nothing is built.
set -eu
prefix=$1
cd "$(dirname "$0")/../.."
build=${SNAPDIFF_BUILD:-}
if [ -z "$build" ]; then
  build=build/first-diff # what examples/first-diff has built is not built again
  .ci/install-packages build
  cmake --preset user -B "$build" >/dev/null
  cmake --build "$build"
fi
cmake --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/snapdiff" --version

#!/bin/sh
# Makes the Debian packages of the clone that this script is in and installs the program and what draws: install.sh.
# With SNAPDIFF_BUILD, a build folder that is there already, nothing is built.
set -eu
cd "$(dirname "$0")/../.."
build=${SNAPDIFF_BUILD:-}
if [ -z "$build" ]; then
  build=build/first-diff # what examples/first-diff has built is not built again
  .ci/install-packages package
  cmake --preset user -B "$build" >/dev/null
  cmake --build "$build"
fi
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT
chmod 755 "$packages" # apt reads them as a user of its own
cpack --config "$build/CPackConfig.cmake" -B "$packages" >"$packages/log" 2>&1 || { cat "$packages/log" >&2; exit 1; }
as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
$as_root apt-get install -y -qq --no-install-recommends "$packages"/snapdiff_*.deb "$packages"/snapdiff-draw_*.deb >/dev/null
snapdiff --version

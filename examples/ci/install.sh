#!/bin/sh
# Makes the Debian packages of the clone that this script is in and installs the program and what draws: install.sh.
# With SNAPDIFF_BUILD, a build folder that is there already, nothing is built. With SNAPDIFF_DOWNLOADS, a folder or address
# that .ci/release filled, the static program out of it goes to SNAPDIFF_INTO (/usr/local/bin), its sum checked.
set -eu
if [ -n "${SNAPDIFF_DOWNLOADS:-}" ]; then
  into=${SNAPDIFF_INTO:-/usr/local/bin}
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  for file in SHA256SUMS snapdiff-linux-x64; do
    case $SNAPDIFF_DOWNLOADS in
      https://* | http://*) curl -fsS --proto-redir =https -L -o "$scratch/$file" "$SNAPDIFF_DOWNLOADS/$file" ;;
      *) cp "$SNAPDIFF_DOWNLOADS/$file" "$scratch/$file" ;;
    esac
  done
  (cd "$scratch" && grep '  snapdiff-linux-x64$' SHA256SUMS | sha256sum --quiet -c -)
  as_root=
  [ -w "$into" ] || as_root=sudo
  $as_root install -m 755 "$scratch/snapdiff-linux-x64" "$into/snapdiff"
  "$into/snapdiff" --version
  exit 0
fi
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

#!/bin/sh
# Builds the leaking service beside this file, runs it, and leaves its heap dumps in a folder.
#
#   make-series.sh [tcmalloc|go] [FOLDER] [ROUNDS]      (default: tcmalloc series 8)
#
# tcmalloc needs g++ and libgoogle-perftools-dev. The dumps hold addresses only: with google-perftools
# installed too, its pprof finds the names, and the dumps that carry them along are in FOLDER/named.
# The last dump is the one at exit. go needs golang-go.
# Exit 77: the tools for it are not installed.
set -eu

kind=${1:-tcmalloc}
folder=${2:-series}
rounds=${3:-8}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

missing() { echo "make-series: $1 is not installed" >&2; exit 77; }

case $kind in
  tcmalloc)
    command -v g++ >/dev/null || missing g++
    g++ -std=c++20 -O1 -g "$here/leaky_service.cpp" -o "$folder/leaky_service" \
      -Wl,--no-as-needed -ltcmalloc 2>"$folder/link-errors" || {
      cat "$folder/link-errors" >&2
      missing libgoogle-perftools-dev
    }
    rm -f "$folder/link-errors"
    # Dumps come from HeapProfilerDump alone, not also from every 1 GiB allocated.
    HEAPPROFILE=$folder/leaky HEAP_PROFILE_ALLOCATION_INTERVAL=0 HEAP_PROFILE_INUSE_INTERVAL=0 \
      "$folder/leaky_service" "$rounds" 2>"$folder/leaky.log"
    if command -v google-pprof >/dev/null; then
      mkdir -p "$folder/named"
      for dump in "$folder"/leaky.[0-9][0-9][0-9][0-9].heap; do
        # pprof would turn what follows the names into a CPU profile; the dump itself is wanted. It
        # also marks names that occur at several addresses with one of them.
        {
          google-pprof --raw "$folder/leaky_service" "$dump" 2>>"$folder/leaky.log" |
            sed -e '/^---$/q' -e 's/<[0-9a-f]\{16\}>$//'
          echo '--- heap'
          cat "$dump"
        } >"$folder/named/${dump##*/}"
      done
    fi
    ;;
  go)
    command -v go >/dev/null || missing golang-go
    GOCACHE=${GOCACHE:-$folder/go-build} GO111MODULE=off go build -o "$folder/leaky_service_go" "$here/leaky_service.go"
    "$folder/leaky_service_go" "$folder" "$rounds"
    ;;
  *)
    echo "usage: make-series.sh [tcmalloc|go] [FOLDER] [ROUNDS]" >&2
    exit 2
    ;;
esac
echo "dumps of $rounds rounds are in $folder"

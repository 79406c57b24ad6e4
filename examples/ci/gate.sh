#!/bin/sh
# Fails (1) when a folder of heap dumps shows a leak. gate.sh DUMPS [OUT]; SNAPDIFF names the program.
set -eu
dumps=$1 out=${2:-.}
snapdiff=${SNAPDIFF:-snapdiff}
status=0
"$snapdiff" gate "$dumps" --db "$out/leaks.db" --budget 0/step --budget total:1%/step \
  --junit "$out/gate.junit.xml" --sarif "$out/gate.sarif" || status=$?
[ "$status" -le 1 ] || exit "$status"
"$snapdiff" render --db "$out/leaks.db" --pdf -o "$out/growth.pdf"
exit "$status"

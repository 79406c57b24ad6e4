#!/bin/sh
# Fails (1) when a folder of heap dumps shows a leak. gate.sh DUMPS [OUT]; SNAPDIFF names the program, BUDGETS what may
# grow. On GitHub the table is in the summary of the job.
set -eu
dumps=$1 out=${2:-.}
snapdiff=${SNAPDIFF:-snapdiff}
set -- # budgets as options
for budget in ${BUDGETS:-0/step total:1%/step}; do set -- "$@" --budget "$budget"; done
status=0
"$snapdiff" gate "$dumps" --db "$out/leaks.db" "$@" --junit "$out/gate.junit.xml" --sarif "$out/gate.sarif" || status=$?
[ "$status" -le 1 ] || exit "$status"
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  "$snapdiff" gate "$dumps" --db "$out/leaks.db" "$@" --as md >>"$GITHUB_STEP_SUMMARY" || true
fi
"$snapdiff" render --db "$out/leaks.db" --pdf -o "$out/growth.pdf"
exit "$status"

#!/bin/sh
# What is left of a process that grew: its heap dumps. Puts them in order, says what grew, and leaves
# a report (PDF, one HTML page, Markdown, JSON) and a store to attach to the incident.
#
#   post-mortem.sh [-o OUT] [-p PID] [-s STORE] [-k KEEP] [-l LIMIT] [-r] FOLDER|FILE...
#
#   -o OUT    folder for the report (default: post-mortem in the current one)
#   -p PID    only dumps with this process number in their name (prog_123.0001.heap, prog.123.4.i4.heap)
#   -s STORE  also keep the snapshots in this store, over the incidents
#   -k KEEP   of each series in that store, the newest KEEP snapshots (default: all)
#   -l LIMIT  memory limit of the service (24GiB): the report says when it would have been met
#   -r        redact: names and paths become tokens, so that the report can leave the house
#
# Given a folder, it takes the dumps in it whose names share the newest dump's name but for the
# number, ordered by that number: file times lie after a copy, and a restarted service leaves dumps
# of two processes. Given files, it takes them as they are. Dumps that cannot be read, such as the
# last one of a process that was killed while writing, are left out with a line.
#
# Exit: 0 everything is in OUT; 1 no dump can be read, nothing was written but the reasons; 2 wrong
# usage; 3 the answer is on stdout, but some result is missing.
# SNAPDIFF names the program to use (default: snapdiff on the PATH).
set -eu

snapdiff=${SNAPDIFF:-snapdiff}
out=post-mortem
pid=
store=
keep=
limit=
redact=

usage() {
  sed -n '/^#   post-mortem.sh \[/,/^#   -r /s/^# \{0,3\}//p' "$0" >&2
  exit 2
}
say() { printf 'post-mortem: %s\n' "$*" >&2; }

while getopts o:p:s:k:l:r option; do
  case $option in
    o) out=$OPTARG ;;
    p) pid=$OPTARG ;;
    s) store=$OPTARG ;;
    k) keep=$OPTARG ;;
    l) limit=$OPTARG ;;
    r) redact=--redact ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || usage
command -v "$snapdiff" >/dev/null || { say "no program $snapdiff; set SNAPDIFF"; exit 2; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 3' HUP INT TERM

# The name of a dump without its number: prog.0007.heap -> prog.#.heap, x.9.3.i3.heap -> x.9.#.heap
series_of() {
  printf '%s\n' "$1" | sed -E 's/\.[0-9]+\.[imuf][0-9]*\.heap/.#.heap/; t
    s/[0-9]+(\.(heap|pb|pprof)(\.(gz|zst))?)$/#\1/'
}

is_dump() {
  case $1 in
    *.heap | *.heap.gz | *.heap.zst | *.pb | *.pb.gz | *.pb.zst | *.pprof) ;;
    *) return 1 ;;
  esac
  [ -z "$pid" ] || case $1 in
    *[._-]"$pid".*) ;;
    *) return 1 ;;
  esac
}

# One file per line, oldest first. Names with a line break are not taken.
collect() {
  if [ -d "$1" ]; then
    newest=
    for path in "$1"/*; do
      is_dump "${path##*/}" || continue
      # shellcheck disable=SC3013  # dash, bash and busybox have -nt
      if [ -z "$newest" ] || [ "$path" -nt "$newest" ]; then newest=$path; fi
    done
    [ -n "$newest" ] || return 0
    series=$(series_of "${newest##*/}")
    others=0
    : >"$scratch/unsorted"
    for path in "$1"/*; do
      is_dump "${path##*/}" || continue
      if [ "$(series_of "${path##*/}")" = "$series" ]; then
        printf '%s\n' "$path" >>"$scratch/unsorted"
      else
        others=$((others + 1))
      fi
    done
    sort -V "$scratch/unsorted"
    [ "$others" -eq 0 ] || say "$1: $others dumps of another name or process left out"
  else
    printf '%s\n' "$1"
  fi
}

: >"$scratch/list"
for operand; do
  [ -e "$operand" ] || { say "$operand: no such file or folder"; exit 2; }
  collect "$operand" >>"$scratch/list"
done

set --
while IFS= read -r path; do
  if "$snapdiff" --db :memory: info "$path" >/dev/null 2>"$scratch/why"; then
    set -- "$@" "$path"
  else
    say "left out: $(head -n 1 "$scratch/why")"
  fi
done <"$scratch/list"
if [ $# -eq 0 ]; then
  say "no heap dump that can be read"
  exit 1
fi

mkdir -p "$out"
code=0
if [ $# -eq 1 ]; then
  say "one dump only: its heaviest stacks, no growth"
  "$snapdiff" --db :memory: top "$1" || code=3
  "$snapdiff" --db :memory: top "$1" --as json >"$out/report.json" || code=3
else
  "$snapdiff" --db :memory: "$@" >"$out/growth.txt" || { say "snapdiff failed on $# dumps"; exit 3; }
  cat "$out/growth.txt"
  "$snapdiff" postmortem -o "$out" ${limit:+--limit "$limit"} $redact "$@" || code=3
  [ -z "$redact" ] || rm -f "$out/growth.txt"
fi
if [ -n "$store" ]; then
  "$snapdiff" --db "$store" import "$@" || code=3
  [ -z "$keep" ] || "$snapdiff" --db "$store" prune --keep "$keep" --yes || code=3
fi
[ "$code" -eq 0 ] || say "some results are missing in $out"
say "results are in $out: $(cd "$out" && echo ./* | sed 's,\./,,g')"
exit "$code"

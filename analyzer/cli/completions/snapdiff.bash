# bash completion for snapdiff
_snapdiff() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local commands="diff trend gate top pins ranks retained paths peek render postmortem import list rm prune merge info formats sql export symbolize"
  local common="--db --no-color --help" view="--metric --by --sort --focus --ignore --hide --show --allocator-frames --frames --recursion"
  local rows="-n --rows --min-bytes --cum" files="--format --max-input --strict --pattern --group-by --units" symbols="--symbols --sysroot --debuginfod --demangle" options command="" candidate
  case $previous in
    --by) mapfile -t COMPREPLY < <(compgen -W "stack function file line module type label:" -- "$word"); return ;;
    --as) mapfile -t COMPREPLY < <(compgen -W "text json jsonl csv md" -- "$word"); return ;;
    --sort) [[ " ${COMP_WORDS[*]} " == *" retained "* ]] && { mapfile -t COMPREPLY < <(compgen -W "growth retained self objects new detached name" -- "$word"); return; }
      mapfile -t COMPREPLY < <(compgen -W "change growth after objects name" -- "$word"); return ;;
    --allocator-frames) mapfile -t COMPREPLY < <(compgen -W "hide show" -- "$word"); return ;;
    --frames) mapfile -t COMPREPLY < <(compgen -W "python native all" -- "$word"); return ;;
    --recursion) mapfile -t COMPREPLY < <(compgen -W "fold show" -- "$word"); return ;;
    --demangle) mapfile -t COMPREPLY < <(compgen -W "none simple full" -- "$word"); return ;;
    --units) mapfile -t COMPREPLY < <(compgen -W "binary si" -- "$word"); return ;;
    --paper) mapfile -t COMPREPLY < <(compgen -W "a4 letter" -- "$word"); return ;;
  esac
  for candidate in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ " $commands " == *" $candidate "* ]] && { command=$candidate; break; }
  done
  case $command in
    ""|diff) options="$common --series $view $rows $files $symbols --as --steps --counters" ;;
    trend) options="$common --series $view $rows $files $symbols --as --limit --floor --loops --triple --counters" ;;
    gate) options="$common --series $view $rows $files $symbols --as --budget --budgets --allow --allow-unjudged --accept --until --reason --junit --sarif" ;;
    top) options="$common $view $rows $files $symbols --as --counters" ;;
    peek) options="$common --series $view $rows $files $symbols --as" ;;
    pins) options="$common $files --hide --show --frames -n --rows --as" ;;
    retained) options="$common $files -n --rows --as --sort" ;;
    paths) options="$common $files -n --rows --as --loops" ;;
    ranks) options="$common $view $files -n --rows --as" ;;
    render) options="$common --series $view $files $symbols --pdf --svg --png --dot --html --flame --baseline --current --union --growth --timeline --segments --pins --retained --output --paper --max-nodes" ;;
    postmortem) options="$common --series $view $files $symbols -n --rows --output --limit --hints --print-hints --redact --redact-key --paper" ;;
    export) options="$common $view $files $symbols --pprof --folded --speedscope --csv --jsonl --plain-sqlite --output" ;;
    import) options="$common $files $symbols --series --label --per-device" ;;
    symbolize) options="$common $symbols --again" ;;
    info) options="$common $files --as --validate" ;;
    prune) options="$common --keep --series" ;;
    *) options="$common --as" ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  elif [[ -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$word"; compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _snapdiff snapdiff

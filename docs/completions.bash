# bash completion for gate(1). A test holds it and the commands' help together.

# The ids in what the gate that is called prints of WORDS, one JSON object a
# line; only of the schema $1 where that is given. Nothing where it fails.
_gate_ids() {
  local schema=$1 line
  shift
  while IFS= read -r line; do
    [[ -z $schema || $line == *"\"schema\":\"$schema\""* ]] || continue
    [[ $line =~ \"id\":\"([A-Za-z0-9._-]+)\" ]] &&
      printf '%s ' "${BASH_REMATCH[1]}"
  done < <("${COMP_WORDS[0]}" "${places[@]}" "$@" --json 2>/dev/null </dev/null)
}

_gate() {
  local word=${COMP_WORDS[COMP_CWORD]} command="" second="" i words="" ids=""
  local -a places=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --config-dir | --state-dir)
        places+=("${COMP_WORDS[i]}" "${COMP_WORDS[i + 1]}")
        ((i++))
        ;;
      -*) ;;
      *)
        if [[ -z $command ]]; then
          command=${COMP_WORDS[i]}
        else
          second=${COMP_WORDS[i]}
          break
        fi
        ;;
    esac
  done
  # Values of the option before the cursor.
  case $command:${COMP_WORDS[COMP_CWORD - 1]} in
    run:--network) words="none loopback domains open" ;;
    sandbox:--network) words="none loopback" ;;
    *:--why-not | *:--action) words="allow sandbox ask deny" ;;
    rules:--layer) words="builtin user system project session" ;;
    rules:--allow-as) words="allow sandbox" ;;
    audit:--by) words="action rule agent backend mode status" ;;
    audit:--mode) words="hook check run sandbox" ;;
    hook:--mode | install:--mode) words="contain intent" ;;
  esac
  [[ -n $words ]] || case $command in
    "") words="check run sandbox parse explain hook install uninstall status doctor backends rules replay audit trust untrust allow approve pending approvals sessions pause resume --config-dir --state-dir --verbose --version --help" ;;
    check | explain | parse) words="--json --explain --trace --why-not --batch --cwd --agent -c" ;;
    run) words="--profile --backend --network --host --timeout --json --cwd --agent --session --ticket --preview --preview=auto -c --" ;;
    sandbox) words="--profile --backend --network --timeout --session -c --" ;;
    hook) words="claude codex generic --framed --mode" ;;
    install) words="claude codex --project --mode --dry-run" ;;
    uninstall) words="claude codex --project --dry-run" ;;
    status) words="--json" ;;
    doctor) words="--json --prove" ;;
    backends) words="probe --json" ;;
    replay) words="--rules --since -n --json" ;;
    trust) words="--show --json --remote" ;;
    allow) words="--with-arguments --show --json" ;;
    untrust) words="--remote" ;;
    approve) words="--session --for --project --sandbox" ;;
    pending) words="list show commit discard --json" ;;
    sessions)
      case $second in
        end) words="--all" ;;
        *) words="list end --json" ;;
      esac
      ;;
    approvals)
      case $second in
        revoke) words="--all" ;;
        list) words="--json" ;;
        *) words="list revoke" ;;
      esac
      ;;
    pause) words="15m 1h --all --end" ;;
    rules)
      case $second in
        "") words="list show lint test fmt diff import suggest" ;;
        list) words="--json --action --layer" ;;
        show) words="--json" ;;
        lint) words="--json --sarif --strict" ;;
        test) words="--coverage --min --json --verbose" ;;
        fmt) words="--check" ;;
        diff) words="--commands --json builtin" ;;
        import) words="codex claude gemini opencode dcg cc-safety-net --allow-as --keep-going" ;;
        suggest) words="--min" ;;
      esac
      ;;
    audit)
      case $second in
        "") words="list show stats verify net" ;;
        net) words="--host --verdict --sum --since --until --action --agent --session --rule --backend --mode --cwd --text -n --reverse --json" ;;
        list) words="--since --until --action --agent --session --rule --backend --mode --cwd --text -n --reverse --json" ;;
        stats) words="--by --since --until --action --agent --session --rule --backend --mode --cwd --text -n --reverse --json" ;;
        show) words="last --json" ;;
        verify) words="--anchor --require-anchor --json" ;;
      esac
      ;;
  esac
  # What waits or is kept, by its id.
  case $command:$second:$word in
    *:-*) ;;
    approve::*) ids=$(_gate_ids gate.pending/1 pending) ;;
    pending:show:* | pending:commit:* | pending:discard:*)
      ids=$(_gate_ids gate.preview/1 pending)
      ;;
    sessions:end:*) ids=$(_gate_ids gate.sessions/1 sessions) ;;
    approvals:revoke:*) ids=$(_gate_ids gate.approval/1 approvals list) ;;
    audit:show:*) ids=$(_gate_ids gate.record/1 audit list -n 20) ;;
    rules:show:*) ids=$(_gate_ids gate.rule/1 rules list) ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words $ids" -- "$word")
  # Files stand where nothing else is known.
  if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _gate gate

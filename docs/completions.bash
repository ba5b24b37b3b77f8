# bash completion for gate(1)
_gate() {
  local commands="check run sandbox parse explain hook install uninstall doctor backends rules replay audit approve pending approvals pause resume trust untrust"
  local word=${COMP_WORDS[COMP_CWORD]} command=""
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --config-dir | --state-dir) ((i++)) ;;
      -*) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
    "") mapfile -t COMPREPLY < <(compgen -W "$commands --config-dir --state-dir --version --help" -- "$word") ;;
    hook) mapfile -t COMPREPLY < <(compgen -W "claude codex generic" -- "$word") ;;
    install | uninstall) mapfile -t COMPREPLY < <(compgen -W "claude codex --project --dry-run" -- "$word") ;;
    rules) mapfile -t COMPREPLY < <(compgen -W "list show lint test fmt diff import suggest --coverage --min --check --strict --sarif --json" -- "$word") ;;
    audit) mapfile -t COMPREPLY < <(compgen -W "list show stats verify --since --until --action --agent --rule --text --json" -- "$word") ;;
    approve) mapfile -t COMPREPLY < <(compgen -W "--session --for --project" -- "$word") ;;
    approvals) mapfile -t COMPREPLY < <(compgen -W "list revoke --all --json" -- "$word") ;;
    pause) mapfile -t COMPREPLY < <(compgen -W "15m 1h --all --end" -- "$word") ;;
    replay) mapfile -t COMPREPLY < <(compgen -W "--rules --since -n --json" -- "$word") ;;
    trust) mapfile -t COMPREPLY < <(compgen -W "--show --json" -- "$word") ;;
    untrust) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    backends) mapfile -t COMPREPLY < <(compgen -W "probe --json" -- "$word") ;;
    run) mapfile -t COMPREPLY < <(compgen -W "--profile --backend --network --timeout --preview --preview=auto --json -c --" -- "$word") ;;
    pending) mapfile -t COMPREPLY < <(compgen -W "list show commit discard --json" -- "$word") ;;
    sandbox) mapfile -t COMPREPLY < <(compgen -W "--profile --backend --network --timeout -c --" -- "$word") ;;
    check | explain | parse) mapfile -t COMPREPLY < <(compgen -W "--json --explain --why-not --batch --cwd --agent -c" -- "$word") ;;
  esac
}
complete -F _gate gate

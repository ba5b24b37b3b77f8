#compdef gate
# zsh completion for gate(1): what the bash completion offers.
_gate() {
  local here=${functions_source[_gate]:A:h} file
  local -a offered
  for file in $here/completions.bash \
    $here/../../bash-completion/completions/gate; do
    [[ -r $file ]] || continue
    offered=("${(@f)$(bash --norc -c '
      source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gate
      printf "%s\n" "${COMPREPLY[@]}"' $file "${(@)words[1,CURRENT]}")}")
    break
  done
  compadd -- "${(@)offered:#}"
}
_gate "$@"

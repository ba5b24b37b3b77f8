# fish completion for gate(1): what the bash completion offers.
set -g __gate_completions (realpath (status dirname))

function __gate_complete
    for file in $__gate_completions/completions.bash \
            $__gate_completions/../../bash-completion/completions/gate
        test -r $file; or continue
        bash --norc -c '
          source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gate
          printf "%s\n" "${COMPREPLY[@]}"' $file \
            (commandline -opc) (commandline -ct)
        return
    end
end

complete -c gate -f -a '(__gate_complete)'

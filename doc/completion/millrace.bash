# SPDX-License-Identifier: Apache-2.0
#
# bash completion for millrace; commands and options come from the program itself.

_millrace_words() {
    COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_millrace() {
    local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} options value
    COMPREPLY=()

    if ((COMP_CWORD == 1)); then
        _millrace_words "$("$program" help --list-commands 2>/dev/null | cut -f1)" "$current"
        return
    fi
    # The program after "--", and what follows, completes as if it stood alone.
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [[ $command == record && ${COMP_WORDS[i]} == -- ]]; then
            if ((i + 1 == COMP_CWORD)); then
                COMPREPLY=($(compgen -c -- "$current"))
            else
                COMPREPLY=($(compgen -f -- "$current"))
            fi
            return
        fi
    done
    if [[ $command == help ]]; then
        _millrace_words "$("$program" help --list-commands 2>/dev/null | cut -f1)" "$current"
        return
    fi
    options=$("$program" help --list-options "$command" 2>/dev/null)
    # bash splits --name=value at the sign
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD-2]}
    fi
    value=$(awk -F'\t' -v option="$previous" '$1 == option || $2 == option { print $3 }' <<<"$options")
    # Words to choose from; in capitals it is only a description, such as SIZE|TIME.
    if [[ $value == *'|'* && $value != *[[:upper:]]* ]]; then
        _millrace_words "${value//|/ }" "$current"
    elif [[ $current == -* ]]; then
        _millrace_words "$(cut -f1 <<<"$options")" "$current"
    elif [[ -n $value && $value != - ]]; then
        COMPREPLY=($(compgen -f -- "$current"))
    else
        COMPREPLY=($(compgen -d -- "$current"))
    fi
}

complete -o filenames -F _millrace millrace

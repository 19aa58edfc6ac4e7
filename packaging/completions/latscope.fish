# fish completion for latscope; the program itself knows the answers. SPDX-License-Identifier: BSD-2-Clause
function __latscope_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l word $words[-1]
    set -l answers ($words[1] --complete $words[2..-1] 2>/dev/null)
    switch "$answers[1]"
        case ':files*'
            __fish_complete_path (string replace -r '^--[^=]*=' '' -- $word)
        case ':dirs*'
            __fish_complete_directories (string replace -r '^--[^=]*=' '' -- $word)
        case ':command*'
            __fish_complete_command
        case '*'
            printf '%s\n' $answers
    end
end
complete -c latscope -f -a '(__latscope_complete)'

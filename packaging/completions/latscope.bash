# bash completion for latscope; the program itself knows the answers. SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
_latscope()
{
	local words=() word value prefix='' i line first=1

	# bash divides --by=disk at "=" into three words.
	for ((i = 1; i <= COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ ${#words[@]} -gt 0 && ($word == = || ${COMP_WORDS[i - 1]} == =) && ${words[-1]} == --* ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	word=${words[-1]}
	[[ $word != --*=* ]] || prefix=${word%%=*}=
	COMPREPLY=()
	while IFS= read -r line; do
		value=${line%%$'\t'*}
		if [ -n "$first" ]; then
			first=
			case $value in
			:files) mapfile -t COMPREPLY < <(compgen -f -- "${word#"$prefix"}") && compopt -o filenames && return ;;
			:dirs) mapfile -t COMPREPLY < <(compgen -d -- "${word#"$prefix"}") && compopt -o filenames && return ;;
			:command) mapfile -t COMPREPLY < <(compgen -c -- "$word") && return ;;
			esac
		fi
		[[ $value != :* ]] || continue
		COMPREPLY+=("${value#"$prefix"}")
	done < <("${COMP_WORDS[0]}" --complete "${words[@]}" 2>/dev/null)
	# A list goes on after a comma, a path after a slash, and a value follows "=".
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *[,=/] ]] || compopt -o nospace
}
complete -F _latscope latscope

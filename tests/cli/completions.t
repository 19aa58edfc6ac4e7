#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# Completion: the answers of latscope --complete, and of real shells that ask it.
. "$(dirname "$0")/cli.sh"

export PATH=$built:$PATH

# answers WORD...: the values, on one line
answers() { "$latscope" --complete "$@" | cut -f1 | sort | paste -sd' '; }

# ask_bash LINE: what bash makes of the line, sorted; with a plus where the word goes on
ask_bash() {
	bash --norc -c '
		. packaging/completions/latscope.bash
		compopt() { [ "$*" != "-o nospace" ] || glue=+; }
		read -ra COMP_WORDS <<<"${1//=/ = }"
		[[ $1 != *[\ =] ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_latscope
		printf "%s\n" "${COMPREPLY[@]/%/${glue-}}"' _ "$1" | sort -u | paste -sd' '
}

ask_fish() { XDG_DATA_HOME=$dir XDG_CONFIG_HOME=$dir HOME=$dir fish --no-config -c '
	source packaging/completions/latscope.fish; complete -C "$argv[1]"' "$1" | cut -f1 | sort | paste -sd' '; }

# zsh completes only on a terminal: it presses tab there, and the screen shows the answers. With MORE that is typed after the tab, and
# the screen shows <ARGUMENTS>.
# ask_zsh LINE WANTED [MORE]
ask_zsh() {
	timeout 60 zsh -f -c '
		zmodload zsh/zpty
		zpty shell "HOME='"$dir"' zsh -f -i"
		zpty -w shell "PS1=; fpath=(${(q)PWD}/packaging/completions \$fpath); autoload -U compinit; compinit -u -d '"$dir"'/dump; LISTMAX=0
			latscope() { [[ \$1 = --complete ]] && command latscope \"\$@\" || print -r \"<\$*>\"; }; print REA""DY"
		zpty -r -m shell line "*READY*"
		zpty -w -n shell "$1"$'\''\t'\''"$3"
		zpty -r -m shell line "*$2*" && print found' _ "$1" "$2" "${3-}"
}

# same_options COMMAND: completion offers what --help lists
same_options() {
	diff <("$latscope" "$1" --help | grep -oE '^  (-[A-Za-z], |    )--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort) \
		<("$latscope" --complete "$1" -- | cut -f1 | tr -d = | sort)
}

is 'commands' "$(answers "" | tr ' ' '\n' | grep -vE '^(-|help)')" \
	"$("$latscope" --help | sed -nE 's/^  ([a-z]+) {2,}[^ ].*/\1/p' | sort)"
is 'part of a command' "$(answers re)" 'record report'
is 'a command after help' "$(answers help re)" 'record report'
is 'no such command' "$(answers nothing --)" ''
for command in $(answers "" | tr ' ' '\n' | grep -vE '^(-|help)'); do
	ok "$command: the options of --help" same_options "$command"
done
is 'a split' "$(answers runqlat --by cg)" 'cgroup'
is 'a name of fleet in a list' "$(answers fleet --by service,ke)" 'service,kernel'
is 'a condition of fleet' "$(answers fleet compare --against=ho)" '--against=host='
is 'a percentile of fleet' "$(answers fleet p99.99)" 'p99.99'
is 'a metric of fleet' "$(answers fleet p99 runq)" 'runqlat'
is 'a state that fleet knows shares of' "$(answers fleet share dis)" 'disk'
is 'the splits of a probe' "$(answers where --by "")" 'call cgroup process state thread'
is 'a split of a probe in a list' "$(answers where --by process,ca)" 'process,call'
is 'the splits of one of several probes' "$(answers record --by vec)" 'vector'
is 'a counter in a list' "$(answers rmid --counters cycles,llc-m)" 'cycles,llc-misses'
is 'a threshold of a probe in a list' "$(answers record --tail-us 100,io)" '100,iolat='
is 'a threshold in a list after =' "$(answers record --tail-us=100,run)" '--tail-us=100,runqlat='
is 'a split after =' "$(answers runqlat --by=th)" '--by=thread'
is 'what a list has is not offered again' "$(answers iolat --by process,pro)" ''
is 'the options without a command' "$(answers --du)" '--duration='
is 'a probe: not the options that it cannot follow' "$(answers memlat --dis)$(answers softirq --pi)$(answers runqlat --metri)" '--metric='
is 'a split in a list' "$(answers iolat --by process,di)" 'process,disk'
is 'one of a list of values' "$(answers serve --otlp-temporality=d)" '--otlp-temporality=delta'
is 'methods of a probe' "$(answers memlat --method "")" 'fentry kprobe perf-event'
is 'methods of ringlat' "$(answers ringlat --method "")" 'kvm module user'
is 'probes' "$(answers report --probe r)" 'ringlat rmid runqlat'
is 'loads' "$(answers load "")" 'dio fleet hog mixed pingpong pressure touch'
ok 'a process' tap_match " $(answers runqlat -p "${$%?}") " " $$ "
ok 'a process after options without value' tap_match " $(answers runqlat -qp $$) " " $$ "
is 'directories' "$(answers record -o "")" ':dirs'
is 'recordings' "$(answers compare a "")" ':dirs'
is 'a workload' "$(answers record -d 1s -- "")" ':command'
is 'an argument of a workload' "$(answers record -- dd --by)" ':files'
is 'a value that nobody knows' "$(answers record -d "")" ''
is 'an option that does not exist' "$(answers record --nothing=)" ''

# A process may have any name.
cp "$(command -v sleep)" "$dir/sleep"
ln -s sleep "$dir/$(printf 'a\033[31mb')"
"$dir/$(printf 'a\033[31mb')" 60 &
on_exit kill $!
ok 'no escape sequence' test -z "$("$latscope" --complete runqlat --comm "" | tr -cd '\033')"

# Other suites make and remove loop devices.
lasting() { tr ' ' '\n' | grep -vE '^(loop|dm-|md|ram|zram|nbd)' | sort | paste -sd' '; }
disk=$(for path in /sys/block/*; do [ "$(<"$path/size")" = 0 ] || echo "${path##*/}"; done 2>/dev/null | lasting)
is 'disks' "$(answers iolat --disk "" | lasting)" "$disk"
cgroup=$(find /sys/fs/cgroup -mindepth 1 -maxdepth 1 -type d | head -1)
if [ -n "$cgroup" ]; then
	ok 'a cgroup' tap_match " $(answers record --cgroup "${cgroup%?}") " " $cgroup "
else
	skip 'a cgroup' 'there is none'
fi

is 'bash: a command' "$(ask_bash 'latscope rep')" 'report'
is 'bash: a split after =' "$(ask_bash 'latscope iolat --by=process,di')" 'process,disk'
is 'bash: a value follows' "$(ask_bash 'latscope runqlat --meth')" '--method=+'
is 'bash: a path goes on' "$(ask_bash 'latscope runqlat --cgroup ')" '/sys/fs/cgroup/+'
mkdir "$dir/runs"
is 'bash: directories' "$(ask_bash "latscope report $dir/ru")" "$dir/runs"
is 'bash: a workload' "$(ask_bash 'latscope record -- mkfif')" 'mkfifo'
if command -v fish >/dev/null; then
	is 'fish: a command' "$(ask_fish 'latscope rep')" 'report'
else
	skip 'fish' 'fish is not installed'
fi
if command -v zsh >/dev/null; then
	is 'zsh: a command' "$(ask_zsh 'latscope rep' 'latscope report')" 'found'
	is 'zsh: a value follows' "$(ask_zsh 'latscope runqlat --meth' '<runqlat --method=raw>' $'raw\n')" 'found'
	is 'zsh: a path goes on' "$(ask_zsh 'latscope runqlat --cgroup ' '<runqlat --cgroup /sys/fs/cgroup/more>' $'more\n')" 'found'
	is 'zsh: a split' "$(ask_zsh 'latscope iolat --by=process,di' 'process,disk')" 'found'
else
	skip 'zsh' 'zsh is not installed'
fi

# in_shells WHAT LINE WANTED: every shell offers this for the line, of which one word is left to say
in_shells() {
	tap_match " $(ask_bash "$2") " " $3 " || return
	! command -v fish >/dev/null || tap_match " $(ask_fish "$2") " " $3 " || return
	! command -v zsh >/dev/null || [ "$(ask_zsh "$2" "$3")" = found ] || { echo "zsh does not find $3" && return 1; }
}
while read -r what line wanted; do
	[ -z "$wanted" ] || ok "bash, fish, zsh: $what" in_shells "$what" "${line//_/ }" "$wanted"
done <<-END
	method latscope_memlat_--method_kpr kprobe
	split latscope_runqlat_--by_cgr cgroup
	probe latscope_report_--probe_iol iolat
	PID latscope_runqlat_--pid_${$%?} $$
	disk latscope_iolat_--disk_${disk%%[0-9 ]*} ${disk%% *}
	cgroup latscope_record_--cgroup_${cgroup%?} $cgroup
	load latscope_load_ping pingpong
END
done_testing

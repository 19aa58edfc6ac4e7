#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# stdout of the real program that is full, closed, a pipe without a reader, or a terminal; output that only a terminal gets.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able
printf -v program %q "$latscope"

# full TITLE ARG..., closed TITLE ARG...: stdout cannot be written, which is an error with one line on stderr
full() {
	"$latscope" "${@:2}" 2>"$dir/stderr" >/dev/full
	status=$? out='' err=$(<"$dir/stderr")
	ok "$1 to a full disk" refused 1 'cannot write to standard output: No space left on device'
}

closed() {
	"$latscope" "${@:2}" 2>"$dir/stderr" >&-
	status=$? out='' err=$(<"$dir/stderr")
	ok "$1 to a closed stdout" refused 1 'cannot write to standard output: Bad file descriptor'
}

run record -q -d 50ms -o "$dir/kept"
kept=$(recording "$dir/kept")
for where in full closed; do
	$where help --help
	$where 'help of a command' record --help
	$where version --version
	$where doctor doctor
	$where 'a probe' runqlat -d 50ms
	$where '-i' runqlat -d 100ms -i 20ms
	$where '--json' memlat --json -d 50ms
	$where '-i --json' memlat --json -d 100ms -i 20ms
	$where '--csv' iolat --csv -d 50ms
	$where 'report' report "$kept"
	$where 'report --json' report --json "$kept"
	$where 'report --intervals' report --intervals "$kept"
	$where 'compare' compare "$kept" "$kept"
	$where 'compare --json' compare --json "$kept" "$kept"
	$where 'compare --csv' compare --csv "$kept" "$kept"
	$where 'validate' validate memlat --only overhead --replicates 1
	$where record record -q -d 50ms -i 10ms -o "$dir/$where"
	ok 'and yet the recording is complete' complete "$(recording "$dir/$where")"
done
"$latscope" record -d 50ms -o "$dir/all" <&- >&- 2>&-
is 'all three are closed: exit status' $? 1
ok 'all three are closed: the recording is complete' complete "$(recording "$dir/all")"

# The reader exits after a line. The window must end then, not after an hour.
{
	timeout 300 "$latscope" record -d 1h -i 50ms -o "$dir/left" 2>"$dir/stderr"
	echo $? >"$dir/status"
} | head -n 1 >"$dir/stdout"
status=$(<"$dir/status") out=$(<"$dir/stdout") err=$(<"$dir/stderr")
ok 'a pipe whose reader leaves ends the window' ended 0 '^recording in [^[:cntrl:]]*$' '^ +time +probe'
ok 'the recording is complete' complete "$(recording "$dir/left")"
"$latscope" runqlat -d 50ms 2>"$dir/stderr" | true
is 'nobody reads: exit status' "${PIPESTATUS[0]}" 0
is 'nobody reads: nothing is said' "$(<"$dir/stderr")" ''

# on_terminal COMMAND [TITLE REGEX]: sets $shown to its output on a terminal, and $status; with TITLE, a test that it matches
on_terminal() {
	shown=$(cd "$dir" && script -qec "$1" /dev/null)
	status=$?
	[ $# = 1 ] || like "$2" "$shown" "$3"
}

escape=$'\e\\['
check 'no terminal: no progress, no colour' 0 '' $'^[^\e\r]*balances[^\e\r]*$' runqlat -d 600ms
on_terminal "$program runqlat -d 600ms >out"
is 'stderr on a terminal: exit status' $status 0
like 'stderr on a terminal: progress, which is wiped' "$shown" "^("$'\r'"${escape}K([0-9.]+ s of 0.6 s)?)+$"
like 'stderr on a terminal: it says how far' "$shown" 'K[0-9.]+ s of 0.6 s'
like 'stdout to a file: no colour' "$(<"$dir/out")" $'^[^\e\r]*balances[^\e\r]*$'
on_terminal "$program runqlat -d 600ms 2>err"
is 'stderr to a file: nothing is said' "$(<"$dir/err")" ''
like 'stdout on a terminal: colour' "$shown" "${escape}[0-9]+mrunqlat .*balances"
on_terminal "NO_COLOR=1 $program runqlat -d 50ms 2>err" 'NO_COLOR' $'^[^\e]*balances[^\e]*$'
on_terminal "$program runqlat -q -d 600ms >out"
is '--quiet: no progress' "$shown" ''
on_terminal "$program record -q -d 50ms -o quiet >out"
is '--quiet: nothing of where the recording is' "$shown" ''
on_terminal "NO_COLOR=1 $program runqlat -d 700ms -i 300ms" \
	'-i on a terminal: no progress within its lines' $'^ +time [^\e]*balances[^\e]*$'
on_terminal "NO_COLOR=1 $program runqlat -- sh -c 'sleep .4; echo hello'" \
	'a workload on a terminal: no progress within its lines' $'^hello\r\n'"workload: sh -c sleep .4; echo hello: exit"
on_terminal "$program report $kept" 'report on a terminal: colour' "${escape}[0-9]+mrunqlat .*balances"
on_terminal "NO_COLOR=1 $program report $kept" 'report and NO_COLOR' $'^[^\e]*balances[^\e]*$'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# Early ends of the real program: after signals the recording is complete, after kill -9 only the last interval is missing. Two
# recorders at the same time. latscope leaves nothing in this machine's kernel.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able

# whole TITLE [SIGNAL]: tests that the recording of start succeeds, with all its files and its result
whole() {
	[ $# = 1 ] || kill "-$2" "$pid" 2>/dev/null
	finish
	ok "$1: exit status, result" ended 0 '' 'memlat .*(balances|recursion_missed).*runqlat .*balances.*iolat .*balances'
	ok "$1: the recording is complete" complete "$(recording "$dir/runs")"
}

start
whole 'Ctrl-C' INT
start -i 50ms
kill -INT "$pid"
whole 'Ctrl-C twice' INT
start
whole SIGTERM TERM
start
whole 'the terminal is closed' HUP
as=(nohup)
start -d 600ms
as=()
whole 'nohup' HUP
ok 'nohup: until its end' jq -e '.duration_sec >= 0.6' "$(recording "$dir/runs")/runqlat.summary.json"

# As on a terminal, where Ctrl-C goes to all foreground processes. A script starts background processes that ignore it.
as=(setsid env '--default-signal=INT,QUIT')
start -- sh -c 'echo $$; exec sleep 1000'
wait_for grep -q . "$dir/stdout"
kill -INT -- -"$pid"
finish
as=()
ok 'Ctrl-C with a workload: exit status, result' ended 0 '' \
	$'^[0-9]+\nworkload: .*: killed by signal.*balances'
ok 'Ctrl-C with a workload: the recording is complete' complete "$(recording "$dir/runs")"
ok 'Ctrl-C with a workload: it is gone' gone "$(head -n 1 "$dir/stdout")"

"$latscope" record -q -d 600ms -o "$dir/one" >/dev/null &
one=$!
start -d 600ms
wait "$one"
is 'two at once: the first' $? 0
ok 'two at once: the first is complete' complete "$(recording "$dir/one")"
whole 'two at once: the second'

# told: prints the number of intervals that it has printed; each should be in run.db by then
told() { grep -c ' runqlat ' "$dir/stdout"; }
has_told() { [ "$(told)" -ge "$1" ]; }

# all_kept: run.db has all printed intervals
all_kept() {
	local told

	told=$(told) # first: there may be another meanwhile
	[ "$(intervals "$recorded")" -ge "$told" ]
}

start -i 100ms -- sh -c 'while :; do date +%N >"$0"; sleep .02; done' "$dir/beat"
recorded=$(recording "$dir/runs")
loaded=$(ids "$pid")
like 'it has BPF programs and maps' "$loaded" 'map .*prog '
ok 'intervals arrive while it runs' wait_for has_intervals "$recorded" 5
for n in {3..12}; do # at each, as who writes only now and then may have just done so
	wait_for has_told "$n"
	all_kept || behind+="$n "
done
is 'each is in run.db by the time it is printed' "${behind-}" ''
check 'report of one that still goes on says so' 0 '' '^workload: .*incomplete: the recording is still running.*runqlat .*balances' \
	report "$recorded"
check 'also by its run.db' 0 '' 'the recording is still running' report "$recorded/run.db"
unprivileged refuses 'not to others' 1 'Permission denied' report "$recorded"
chmod -R a+rX "$recorded"
unprivileged check 'unless they may read it' 0 '' 'the recording is still running' report "$recorded"
workload=$(pgrep -P "$pid" -x sh)
before=$(intervals "$recorded")
end_by KILL 2>/dev/null
after=$(intervals "$recorded")
goes_on() { ! gone "$1"; }
ok 'kill -9: the workload goes on' goes_on "$workload"
ok 'kill -9: every interval that was there is there' test "$after" -ge "$before"
ok 'kill -9: every interval that was printed is there' all_kept
is 'kill -9: no gaps' "$(sqlite3 -readonly "$recorded/run.db" 'SELECT count(*) FROM interval AS a
	WHERE start_ns != ifnull((SELECT max(end_ns) FROM interval WHERE id < a.id), 0)')" 0
last=$(sqlite3 -readonly "$recorded/run.db" 'SELECT max(end_ns) FROM interval')
is 'kill -9: only run.db and its log are left' "$(cd "$recorded" && echo *)" 'run.db run.db-shm run.db-wal'
check 'kill -9: report says that it was cut off' 0 '' \
	'^workload: .*incomplete: the recording was cut off.*memlat .*(balances|recursion_missed).*runqlat .*balances' report "$recorded"
chmod -R a+rX "$recorded"
unprivileged check 'kill -9: others can read it if they may' 0 '' 'incomplete: .*balances' report "$recorded"
check 'kill -9: the intervals' 0 '' 'runqlat ' report --intervals "$recorded"
is 'kill -9: they are all there' "$(grep -c ' runqlat ' <<<"$out")" "$after"
run report --json "$recorded"
ok 'kill -9: JSON says it' jq -e ".complete == false and .running == false and (.duration_sec * 1e9 | round) == $last" <<<"$out"
ok 'kill -9: no BPF program or map is left' unloaded "$loaded"
rm "$dir/beat"
ok 'kill -9: the workload goes on' wait_for test -s "$dir/beat"
kill "$workload"

start
loaded=$(ids "$pid")
end_by INT
ok 'nor at an orderly end' unloaded "$loaded"
done_testing

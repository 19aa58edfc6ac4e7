#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The workload of the real program, among the processes and users of this machine: it runs as it would alone, the window is its life,
# and its end is reported.
. "$(dirname "$0")/host.sh"
skip_unless_able

must='the workload must be an executable file'
refuses 'it is missing' 1 "cannot run '/no/such': No such file or directory; $must" record -o "$dir/never" -- /no/such
refuses 'it is not in PATH' 1 "cannot run 'no-such-command': No such file or directory; $must" \
	runqlat -- no-such-command
refuses 'it is a duration' 1 "cannot run '5s': No such file or directory; a duration needs -d before it" runqlat 5s
touch "$dir/plain"
refuses 'it is not executable' 1 "cannot run '$dir/plain': Permission denied; $must" runqlat -- "$dir/plain"
refuses 'it is a directory' 1 "cannot run '/etc': Permission denied; $must" runqlat -- /etc
refuses 'its name is empty' 1 "cannot run '': .*; $must" runqlat -- ''
printf '#!/no/such/interpreter\n' >"$dir/interpreted"
printf 'echo said by a script\n' >"$dir/script"
chmod +x "$dir/interpreted" "$dir/script"
refuses 'its interpreter is missing' 1 \
	"cannot run '$dir/interpreted': No such file or directory; does the interpreter in its first line exist\?" \
	record -o "$dir/never" -- "$dir/interpreted"
is 'what cannot run leaves no recording' "$(find "$dir/never" -mindepth 1 2>&1)" ''
check 'a script without a first line runs as from a shell' 0 '' $'^said by a script\nworkload: .*: exit status 0' \
	runqlat -- "$dir/script"
PATH=$dir:$PATH check 'it is found by PATH' 0 '' '^said by a script' runqlat -- script

# Otherwise BPF programs would stay attached as long as a workload on a file system that does not answer.
"${CC:-gcc}" -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC tests/cli/slow_exec.c -o "$dir/slow_exec.so"
as=(env LD_PRELOAD="$dir/slow_exec.so")
run runqlat -q -- /bin/echo run
is 'before it is another program it has two descriptors more than its caller gave us' \
	"$(awk '/descriptors/ { before = now; now = $1 } END { print now - before }' <<<"$out")" 2
as=()

check 'it exits with an error' 0 '^latscope: workload: exited with status 3$' \
	'^workload: sh -c exit 3: exit status 3.*balances' runqlat -- sh -c 'exit 3'
check 'it crashes' 0 '^latscope: workload: was killed by signal 11 \(Segmentation fault\); the recording ends there$' \
	'^workload: .*: killed by signal 11.*balances' runqlat -- sh -c 'kill -SEGV $$'
# In a window of 300 ms the shell comes to its first lines, unless the machine is busy.
measure run runqlat -d 300ms -- sh -c 'echo $$; exec sleep 1000'
ok 'it still runs at the end' ended 0 '^latscope: workload: still running at the end of the window; terminated$' \
	$'^[0-9]+\nworkload: .*: killed by signal 15.*balances'
ok 'then it is gone' gone "${out%%$'\n'*}"
measure run runqlat -d 300ms -- sh -c 'trap "" TERM; echo $$; exec sleep 1000'
ok 'it ignores SIGTERM' ended 0 'still running at the end of the window; terminated$' \
	$'^[0-9]+\nworkload: .*: killed by signal 9.*balances'
ok 'then it is gone, too' gone "${out%%$'\n'*}"
check 'it is stopped' 0 'still running at' 'killed by signal' runqlat -d 300ms -- sh -c 'kill -STOP $$'
measure run runqlat -d 500ms -- bash -c 'trap "echo bye; exit 5" TERM; while :; do sleep .05; done'
ok 'it ends itself at SIGTERM' ended 0 'still running at' $'^bye\nworkload: .*:[[:space:]]+exit[[:space:]]+status 5'
calm
check '--quiet leaves the result to tell' 0 '' '^workload: sh -c exit 3: exit status 3' runqlat -q -- sh -c 'exit 3'

run runqlat --json -d 1h -- sleep .4
ok 'the window is its life' jq -e '.duration_sec >= 0.4 and .duration_sec < 3600' <<<"$out"
ok 'JSON has how it ended' jq -e '.workload == {command: "sleep .4", exit_status: 0, signal: null, outlived: 0}' <<<"$out"
run runqlat --json -q -- sh -c 'kill -KILL $$'
ok 'JSON has its signal' jq -e '.workload | .exit_status == null and .signal == 9' <<<"$out"
check 'its arguments are its own' 0 '' $'^-d --json -- x y\n' runqlat -q -- echo -d --json -- 'x y'
out=$(echo by stdin | "$latscope" runqlat -q -- cat)
like 'its stdin is ours' "$out" $'^by stdin\nworkload: cat'
check 'its stdout and stderr are ours' 0 '^to stderr$' $'^to stdout\n' runqlat -q -- sh -c 'echo to stdout; echo to stderr >&2'

# untouched WHAT CMD...: CMD, which prints its own properties, prints the same without latscope
untouched() {
	local alone

	alone=$("${as[@]}" timeout 300 "${@:2}")
	run record -q -o "$dir/same" -- "${@:2}"
	is "its $1: as without us" "${out%%$'\n'workload: *}" "$alone"
}

# With privileges to lose.
as=(env '--block-signal=USR1,INT' '--ignore-signal=USR2,PIPE')
untouched 'open files' sh -c 'cd /proc/$$/fd && echo *'
untouched 'signals' grep -E '^Sig(Blk|Ign):' /proc/self/status
untouched 'privileges' grep -E '^(Cap|NoNewPrivs|Seccomp|Uid|Gid|Groups)' /proc/self/status
untouched 'limits' cat /proc/self/limits
untouched 'directory' readlink /proc/self/cwd
as=()

# Four processes are left behind, two of them children of another. Three that end before are not, and none stays a zombie.
cat >"$dir/leaves" <<'END'
sleep 1001 >/dev/null 2>&1 & echo $!
(exec 3>&1 >/dev/null 2>&1; sleep 1001 3>&- & echo $! >&3; sleep 1001 3>&- & echo $! >&3; exec 3>&-; : >"$0.started"; wait) & echo $!
for i in 1 2 3; do
	(sh -c 'sleep .1 & echo $! >>"$0"' "$0.short")
done
unreaped() {
	for pid in $(cat "$0.short"); do
		[ ! -e "/proc/$pid" ] || echo "$pid"
	done
	grep -lE 'State:.*Z' $(grep -lE "^PPid:.$PPID$" /proc/[0-9]*/status 2>/dev/null) 2>/dev/null | grep -v "/$job/"
}
for try in $(seq 600); do
	unreaped >"$0.zombies"
	[ -e "$0.started" ] && [ ! -s "$0.zombies" ] && break
	sleep .1
done
exit 3
END
# A script that has a job in the background executes latscope: the job is its oldest child, and stays a zombie.
printf '#!/bin/bash\ntrue &\njob=$! exec "%s" "$@"\n' "$latscope" >"$dir/executes"
chmod +x "$dir/executes"
latscope=$dir/executes run record -o "$dir/left" -- sh "$dir/leaves"
ok 'processes that outlive the window' ended 0 \
	$'workload: 4 processes that it started outlived the window; latscope does not end them\n.*exited with status 3' \
	$'\nworkload: sh .*: exit status 3; 4 processes that it[[:space:]]+started outlived the[[:space:]]+window\n'
is 'they are not ended' "$(ps -o stat= -p "$(head -n 4 <<<"$out" | paste -sd,)" | grep -vc Z)" 4
is 'three others ended meanwhile' "$(wc -l <"$dir/leaves.short")" 3
is 'they were reaped' "$(<"$dir/leaves.zombies")" ''
# shellcheck disable=SC2046 # their numbers
kill $(head -n 4 <<<"$out")
check 'report has them, too' 0 '' '4 processes that it' report "$(recording "$dir/left")"
run report --json "$(recording "$dir/left")"
ok 'so has its JSON' jq -e '.workload | .outlived == 4 and .exit_status == 3' <<<"$out"

# With these mount options, the user that latscope has become cannot see other processes.
hidden_record() { in_mounts 'mount -t proc -o hidepid=2 proc /proc' run record "$@"; }
uncounted='processes that the workload started and that outlived the window: cannot be counted; .*hidepid'
hidden_record -o "$dir/hidden" -- sh -c 'sleep 1002 >/dev/null 2>&1 & echo $! >&2'
if [[ $err == *mount:* ]]; then
	skip 'processes that /proc hides' "$(head -n 1 <<<"$err")"
else
	ok 'processes that /proc hides' ended 0 "$uncounted" \
		'^workload: sh .*: exit status 0; unknown[[:space:]]+whether its processes outlived[[:space:]]'
	kill "$(head -n 1 <<<"$err")"
	check 'report says so as well' 0 '' '; unknown[[:space:]]+whether its processes outlived' report "$(recording "$dir/hidden")"
	run report --json "$(recording "$dir/hidden")"
	ok 'JSON has no number' jq -e '.workload | has("outlived") and .outlived == null' <<<"$out"
	hidden_record -q -o "$dir/seen" -- true
	is 'none were left behind: nothing is said' "$err" ''
	run report --json "$(recording "$dir/seen")"
	ok 'and JSON has 0' jq -e '.workload.outlived == 0' <<<"$out"
fi

check '--user: its user and groups, but not its environment' 0 '' $'^Uid:\t65534\t65534.*\nGid:\t65534.*\nCapEff:\t0+\n/root-like\n' \
	runqlat -q --user nobody -- env HOME=/root-like sh -c 'grep -E "^(Uid|Gid|CapEff):" /proc/self/status; echo $HOME'
printf 'extra:x:54321:nobody\n' | cat /etc/group - >"$dir/group"
in_mounts "mount --bind '$dir/group' /etc/group" check '--user: also groups that it is only a member of' 0 '' $'^65534 54321\n' \
	runqlat -q --user nobody -- id -G
check 'without --user it is ours' 0 '' $'^0\n' runqlat -q -- id -u
as=(env SUDO_UID=65534 SUDO_GID=65534)
check 'under sudo, too' 0 '' $'^0\n' runqlat -q -- id -u
as=()
refuses '--user: nobody is called so' 1 "cannot run the workload as user 'no-such-user': no such user" \
	record -o "$dir/never" --user no-such-user -- true
chmod 700 "$dir/script"
refuses '--user: may not execute it' 1 "cannot run '$dir/script': Permission denied" \
	record -o "$dir/never" --user nobody -- "$dir/script"
is '--user: then there is no recording' "$(find "$dir/never" -mindepth 1 2>&1)" ''
wrong '--user: without a workload' '--user needs a workload' runqlat --user nobody
run runqlat -d 500ms --user nobody -- sh -c 'trap "" TERM; echo $$; exec sleep 1000'
ok '--user: it is ended with the window' gone "${out%%$'\n'*}"
done_testing

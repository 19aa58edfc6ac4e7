#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What latscope may still do while it measures, and that all goes on with so little.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
skip_unless_able

none=0000000000000000 kill=0000000000000020
nobody=$(id -u nobody) group=$(id -g nobody)

# rights PID: user, group, capabilities and so on of all its threads, as in "Uid 65534 65534 65534 65534, ..."
rights() {
	awk '/^(Uid|Gid|Groups|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):/ {
		sub(":", "", $1); $1 = $1; printf "%s, ", $0 }' "/proc/$1"/task/*/status
}

# those UID GID PERMITTED BOUNDING: what rights prints of a process that has no more
those() {
	printf '%s, ' "Uid $1 $1 $1 $1" "Gid $2 $2 $2 $2" Groups "CapPrm $3" "CapEff $3" "CapBnd $4" "CapAmb $none" \
		'NoNewPrivs 1' 'Seccomp 2'
}

# ends_well TITLE: what start began, after Ctrl-C
ends_well() {
	kill -INT "$pid"
	finish
	ok "$1: result" ended 0 '' 'memlat .*balances.*runqlat .*balances.*iolat .*balances'
	ok "$1: the recording is complete" complete "$(recording "$dir/runs")"
}

owners() { find "$dir/runs" -mindepth 1 -printf '%U:%G\n' | sort -u; }

start --by process,cgroup,disk
is 'root becomes nobody, without a capability' "$(rights "$pid")" "$(those "$nobody" "$group" $none $none)"
ends_well 'as nobody'
is 'the recording belongs to nobody' "$(owners)" "$nobody:$group"
ok 'processes have names' jq -e '[.keys[] | select(.by == "process" and (.name | test("^[^ ]+ \\([0-9]+\\)$")))]
	| length > 0' "$(recording "$dir/runs")/runqlat.summary.json"
check 'report after it' 0 '' 'memlat .*balances' report "$(recording "$dir/runs")"

caller=$(id -u daemon)
as=(env "SUDO_UID=$caller" SUDO_GID=12346)
start
is 'under sudo it becomes the caller' "$(rights "$pid")" "$(those "$caller" 12346 $none $none)"
ends_well 'as the caller'
is 'the recording belongs to the caller' "$(owners)" "$caller:12346"
for ids in 'SUDO_UID=0 SUDO_GID=0' 'SUDO_UID=x SUDO_GID=12' 'SUDO_UID=12' 'SUDO_UID=-1 SUDO_GID=-1' \
	'SUDO_UID=4294967295 SUDO_GID=1' 'SUDO_UID=4242424 SUDO_GID=1'; do
	# shellcheck disable=SC2206 # words
	as=(env $ids)
	start
	is "$ids: nobody" "$(rights "$pid")" "$(those "$nobody" "$group" $none $none)"
	kill -INT "$pid"
	finish
done
as=()

start -- sleep 1000
is 'with a workload there is CAP_KILL, too' "$(rights "$pid")" "$(those "$nobody" "$group" $kill $none)"
workload=$(pgrep -P "$pid")
like 'and the workload is root' "$(rights "$workload")" '^Uid 0 0 0 0, .*NoNewPrivs 0, Seccomp 0'
ends_well 'with a workload'
ok 'the workload is ended all the same' gone "$workload"

mkdir -m700 "$dir/closed"
"$latscope" record -o "$dir/closed/runs" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
kept_in_closed() { [ -e "$(recording "$dir/closed/runs")/run.db" ]; }
wait_for kept_in_closed
is 'below a closed directory it needs no capability' "$(rights "$pid")" "$(those "$nobody" "$group" $none $none)"
kill -INT "$pid"
finish
ok 'below a closed directory: result' ended 0 "^recording in $dir/closed/runs/" 'runqlat .*balances'
ok 'below a closed directory: the recording is complete' complete "$(recording "$dir/closed/runs")"

# least CMD...: not root, with no more than it takes
caps=+bpf,+perfmon
install -d -m777 "$dir/theirs"
install -m755 "$latscope" "$dir/latscope"
root=$latscope latscope=$dir/latscope
as=(setpriv --reuid=12345 --regid=12346 --clear-groups --inh-caps="$caps" --ambient-caps="$caps")
rm -rf "$dir/runs" && install -d -m777 "$dir/runs"
"${as[@]}" "$latscope" record -q -o "$dir/runs" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
wait_for is_open
bounding=$(awk '$1 == "CapBnd:" { print $2 }' /proc/self/status)
is 'a user with CAP_BPF and CAP_PERFMON gives up both' "$(rights "$pid")" "$(those 12345 12346 $none "$bounding")"
ends_well 'as a user'
as=() latscope=$root

# In a root that cannot change the user: an error, and nothing is run or left.
as=(setpriv '--bounding-set=-setuid,-setgid')
refuses 'root that cannot become another user' 1 \
	'cannot give up privileges: cannot become user [0-9]+, .*CAP_SETUID.*: Operation not permitted' \
	record -o "$dir/never" -- touch "$dir/ran"
refuses 'also without a workload' 1 'cannot give up privileges' iolat -d 1s
refuses 'ringlat, too' 1 'cannot give up privileges' ringlat --backend user -n 1000
check 'doctor says so' 77 '' $'privileges.*\n    given up    no\n +cannot become user' doctor
as=()
check 'doctor says that it works here' 0 '' $'privileges.*\n    given up    yes' doctor
is 'then nothing is run, and there is no recording' "$(find "$dir/never" "$dir/ran" -mindepth 1 2>/dev/null)" ''

printf '#!/no/such/interpreter\n' >"$dir/interpreted"
chmod +x "$dir/interpreted"
mkdir -m700 "$dir/mine"
refuses 'what cannot be run leaves no directory in that of root' 1 "cannot run '$dir/interpreted'" \
	record -o "$dir/mine" -- "$dir/interpreted"
is 'there is none' "$(ls -A "$dir/mine")" ''

if [ "$(uname -m)" = x86_64 ]; then
	check 'ringlat measures and records' 0 "^recording in $dir/mine/" 'minor_fault' \
		ringlat --backend user -n 20000 -o "$dir/mine"
	is 'its recording belongs to nobody' "$(stat -c %u "$dir/mine"/*)" "$nobody"
fi
done_testing

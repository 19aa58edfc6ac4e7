#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The privileges that the real program keeps while it measures, among the users of this machine, and that everything works with them.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able

none=0000000000000000 kill=0000000000000020

# rights PID: prints user, group, capabilities and so on of all its threads, as in "Uid 65534 65534 65534 65534, ..."
rights() {
	awk '/^(Uid|Gid|Groups|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs|Seccomp):/ {
		sub(":", "", $1); $1 = $1; printf "%s, ", $0 }' "/proc/$1"/task/*/status
}

# those UID GID PERMITTED BOUNDING: prints what rights prints for a process with only these
those() {
	printf '%s, ' "Uid $1 $1 $1 $1" "Gid $2 $2 $2 $2" Groups "CapPrm $3" "CapEff $3" "CapBnd $4" "CapAmb $none" \
		'NoNewPrivs 1' 'Seccomp 2'
}

# ends_well TITLE: tests that the recording of start succeeds after Ctrl-C
ends_well() {
	end_by INT
	ok "$1: result" ended 0 '' 'memlat .*(balances|recursion_missed).*runqlat .*balances.*iolat .*balances'
	ok "$1: the recording is complete" complete "$(recording "$dir/runs")"
}

# owners [WHAT...]: prints the owners of all files in the recording, or of those that `find WHAT...` finds
owners() { find "$dir/runs" -mindepth 1 "$@" -printf '%U:%G\n' | sort -u; }
owned_by() { [ "$(owners "${@:2}")" = "$1" ]; }
fails() { ! "$@" 2>/dev/null; }

# alone_as USER: it is the user of no account, and of no other process
alone_as() {
	[ "$1" -gt 65535 ] && ! getent passwd "$1" && ! getent group "$1" &&
		[ "$(ps -U "$1" -u "$1" -o pid= | tr -d ' ')" = "$pid" ]
}

user() { stat -c %u "/proc/$1"; }

start --by process,cgroup,disk
spare=$(user "$pid")
is 'root becomes another user, without a capability' "$(rights "$pid")" "$(those "$spare" "$spare" $none $none)"
ok 'which nobody else is' alone_as "$spare"
is 'meanwhile the recording belongs to it' "$(owners)" "$spare:$spare"
# A daemon that runs as the user nobody.
as_nobody=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
for signal in STOP KILL; do
	ok "nobody cannot send SIG$signal" fails "${as_nobody[@]}" kill -$signal "$pid"
done
ok 'nor look into the recording' fails "${as_nobody[@]}" ls "$(recording "$dir/runs")"
ok 'nor rename run.db' fails "${as_nobody[@]}" mv "$(recording "$dir/runs")/run.db" "$(recording "$dir/runs")/x"
undoer=$(eventually pgrep -P "$pid" -x latscope-undo)
like 'the process that gives it back has one capability' "$(rights "$undoer")" \
	"^Uid 0 0 0 0, .*CapPrm 0000000000000001, CapEff 0000000000000001, CapBnd $none, CapAmb $none, NoNewPrivs 1"
is 'and two descriptors, none of a terminal or of BPF' \
	"$(readlink "/proc/$undoer/fd"/* | sed 's/:.*//' | sort | tr '\n' ' ')" "$(recording "$dir/runs") socket "
ends_well 'as another user'
is 'then the recording belongs to root' "$(owners)" 0:0
ok 'nothing else is left running' gone "$undoer"
ok 'processes have names' jq -e '[.keys[] | select(.by == "process" and (.name | test("^[^ ]+ \\([0-9]+\\)$")))]
	| length > 0' "$(recording "$dir/runs")/runqlat.summary.json"
check 'report after it' 0 '' 'memlat .*(balances|recursion_missed)' report "$(recording "$dir/runs")"

caller=$(id -u daemon)
as=(env "SUDO_UID=$caller" SUDO_GID=12346)
start
is 'under sudo it becomes the caller' "$(rights "$pid")" "$(those "$caller" 12346 $none $none)"
ends_well 'as the caller'
is 'the recording belongs to the caller' "$(owners)" "$caller:12346"
as=()
start
ok 'another recording has another user' test "$(user "$pid")" -gt 65535 -a "$(user "$pid")" != "$spare"
end_by KILL 2>/dev/null
ok 'after a SIGKILL the recording belongs to root, too' eventually owned_by 0:0
ok 'a helper: a SIGKILL once the directory has changed hands' \
	"${CC:-gcc}" -O2 -Wall -Wextra -Werror -shared -fPIC tests/cli/kill_at_fchown.c -o "$dir/kill.so"
rm -rf "$dir/runs"
(LD_PRELOAD=$dir/kill.so exec "$latscope" runqlat -q -d 1s -o "$dir/runs") >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
finish 2>/dev/null
is 'while it tries to write there: the exit status' "$status" 137
ok 'then the directory belongs to root, too' eventually owned_by 0:0
start
for signal in TERM QUIT USR1; do
	eventually pkill -$signal -P "$pid" -x latscope-undo # once it has this name
done
ends_well 'a signal to the process that gives the recording back'
is 'does not end it' "$(owners)" 0:0
start
eventually pkill -KILL -P "$pid" -x latscope-undo
end_by INT
is 'if nothing can give it back: the exit status' "$status" 1
like 'it says so' "$err" 'cannot return .*/runs/2[^/]* to root: its helper process was killed; use chown -R root:root'
ok 'the recording is complete all the same' complete "$(recording "$dir/runs")"
start
ln "$(recording "$dir/runs")/run.db" "$dir/second-name"
end_by INT
is 'a file that has another name elsewhere: the exit status' "$status" 1
like 'it says so' "$err" 'cannot return .*/runs/2[^/]* to root: a file in it has another hard link; use chown'
is 'all else belongs to root' "$(owners ! -name run.db)" 0:0
rm "$dir/second-name"
start
ln "$(recording "$dir/runs")/run.db" "$dir/second-name"
touch "$dir/elsewhere"
chown daemon "$dir/elsewhere"
ln -s "$dir/elsewhere" "$(recording "$dir/runs")/link"
ln "$dir/elsewhere" "$(recording "$dir/runs")/elsewhere"
touch "$dir/apart"
chown daemon "$dir/apart"
ln -s "$dir/apart" "$(recording "$dir/runs")/to-apart"
chmod 777 "$(recording "$dir/runs")"
end_by KILL 2>/dev/null
ok 'a directory is given back' eventually owned_by 0:0 -type d
is 'and is open to nobody else' "$(stat -c %a "$(recording "$dir/runs")")" 700
is 'but nothing that has a name elsewhere' "$(stat -c %U "$dir/elsewhere")" daemon
is 'nor what a link in it leads to' "$(stat -c %U "$dir/apart")" daemon

for ids in 'SUDO_UID=0 SUDO_GID=0' 'SUDO_UID=x SUDO_GID=12' 'SUDO_UID=12' 'SUDO_UID=-1 SUDO_GID=-1' \
	'SUDO_UID=4294967295 SUDO_GID=1' 'SUDO_UID=4242424 SUDO_GID=1'; do
	# shellcheck disable=SC2206 # words
	as=(env $ids)
	start
	spare=$(user "$pid")
	is "$ids: another user" "$(rights "$pid")" "$(those "$spare" "$spare" $none $none)"
	ok "$ids: not that one" alone_as "$spare"
	end_by INT
done
as=()

start -- sleep 1000
spare=$(user "$pid")
is 'with a workload there is CAP_KILL, too' "$(rights "$pid")" "$(those "$spare" "$spare" $kill $none)"
workload=$(pgrep -P "$pid" -x sleep)
like 'and the workload is root' "$(rights "$workload")" '^Uid 0 0 0 0, .*NoNewPrivs 0, Seccomp 0'
ends_well 'with a workload'
ok 'the workload is ended all the same' gone "$workload"

"${CC:-gcc}" -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -shared -fPIC tests/cli/rights_at_exit.c -o "$dir/rights.so" || exit
as=(env LD_PRELOAD="$dir/rights.so")
check 'once the workload has ended, nothing may be signalled any more' 0 "latscope CapPrm:[[:space:]]*$none" \
	'balances' runqlat -q -- true
as=()

mkdir -m700 "$dir/closed"
"$latscope" record -vo "$dir/closed/runs" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
kept_in_closed() { [ -e "$(recording "$dir/closed/runs")/run.db" ]; }
wait_for kept_in_closed
spare=$(user "$pid")
is 'below a closed directory it needs no capability' "$(rights "$pid")" "$(those "$spare" "$spare" $none $none)"
end_by INT
ok 'below a closed directory: result' ended 0 "^recording in $dir/closed/runs/" 'runqlat .*balances'
ok 'below a closed directory: the recording is complete' complete "$(recording "$dir/closed/runs")"

# least CMD...: not root, with the least privileges
caps=+bpf,+perfmon
install -d -m777 "$dir/theirs"
install -m755 "$latscope" "$dir/latscope"
root=$latscope latscope=$dir/latscope
as=(setpriv --reuid=12345 --regid=12346 --clear-groups --inh-caps="$caps" --ambient-caps="$caps")
rm -rf "$dir/runs" && install -d -m777 "$dir/runs"
"${as[@]}" "$latscope" record -qvo "$dir/runs" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
wait_for is_open
bounding=$(awk '$1 == "CapBnd:" { print $2 }' /proc/self/status)
is 'a user with CAP_BPF and CAP_PERFMON gives up both' "$(rights "$pid")" "$(those 12345 12346 $none "$bounding")"
ends_well 'as a user'
as=() latscope=$root

# As a root user that cannot change its user: an error; nothing is run or left behind.
as=(setpriv '--bounding-set=-setuid,-setgid')
refuses 'root that cannot become another user' 1 \
	'cannot give up privileges: cannot become user [0-9]+, .*CAP_SETUID.*: Operation not permitted' \
	record -o "$dir/never" -- touch "$dir/ran"
refuses 'also without a workload' 1 'cannot give up privileges' iolat -d 1s
refuses 'ringlat, too' 1 'cannot give up privileges' ringlat --method user -n 1000
check 'doctor says so' 77 '' $'privileges.*\n    drop        no\n +cannot become user' doctor
as=()
check 'doctor says that it works here' 0 '' $'privileges.*\n    drop        yes' doctor
is 'then nothing is run, and there is no recording' "$(find "$dir/never" "$dir/ran" -mindepth 1 2>/dev/null)" ''

# A directory whose owner cannot change, as on a file server without owners.
as=(setpriv '--bounding-set=-chown,-dac_override')
refuses 'a directory for root alone, before anything is measured or run' 1 \
	"cannot write to $dir/never/2.*: user [0-9]+ cannot write a file there: Permission denied; choose .* with -o" \
	record -o "$dir/never" -- touch "$dir/ran"
refuses 'ringlat cannot, either' 1 'cannot write a file there' ringlat --method user -n 1000 -o "$dir/never"
as=()
is 'nothing is run, and nothing is left' "$(find "$dir/never" "$dir/ran" -mindepth 1 2>/dev/null)" ''

printf '#!/no/such/interpreter\n' >"$dir/interpreted"
chmod +x "$dir/interpreted"
mkdir -m700 "$dir/mine"
refuses 'what cannot be run leaves no directory in that of root' 1 "cannot run '$dir/interpreted'" \
	record -o "$dir/mine" -- "$dir/interpreted"
is 'there is none' "$(ls -A "$dir/mine")" ''

# A container has only users below 65536, so no spare user.
entered() { [ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]; }
few_users() {
	mkfifo "$dir/mapped"
	unshare -U sh -c 'read -r _ <"$0" && exec "$@"' "$dir/mapped" "$@" >"$dir/stdout" 2>"$dir/stderr" &
	pid=$!
	wait_for entered
	echo '0 0 65536' >"/proc/$pid/uid_map"
	echo '0 0 65536' >"/proc/$pid/gid_map"
	echo >"$dir/mapped"
	finish
}
if [ "$(uname -m)" = x86_64 ] && unshare -U true 2>/dev/null; then
	few_users "$latscope" ringlat --method user -q -n 20000
	ok 'where there is no spare user, nobody has to do' ended 0 '' 'minor_fault'
else
	skip 'where there is no spare user, nobody has to do' 'no user namespaces here, or no x86-64'
fi

if [ "$(uname -m)" = x86_64 ]; then
	check 'ringlat measures and records' 0 "^recording in $dir/mine/" 'minor_fault' \
		ringlat --method user -n 20000 -o "$dir/mine"
	is 'its recording belongs to root' "$(stat -c %u "$dir/mine"/* "$dir/mine"/*/* | sort -u)" 0
fi
done_testing

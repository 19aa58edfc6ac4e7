# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Functions for tests of the command line. Source it first: it changes to the top of the tree. A test is one line: title, exit code,
# regexes for stderr and stdout (empty: no output), arguments.
#
#	check 'help' 0 '' '^usage: ' record --help
#	wrong 'a negative duration' 'invalid duration' record -d -1
[ -z "${arguments+set}" ] || return 0 # sourced already, by another file
cd "${BASH_SOURCE[0]%/*}/../.." || exit
. tests/tap.sh
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND # latscope would give up root for the caller

umask 022 # whatever that of the caller is
arguments=("$@") # of the suite
built=${LATSCOPE_BUILT:-$PWD/.output}
latscope=$built/latscope
dir=$(mktemp -d)
chmod 755 "$dir" # for those who are not root
on_exit rm -rf "$dir"
cgroups=() # of cgroup_new
on_exit remove_cgroups
out='' err='' status='' # of the last run
as=() # what it is run under

# run ARG...: runs latscope, and sets $out, $err and $status; 124 if it hangs
run() {
	out=$("${as[@]}" timeout -k 5 "$((tap_patience * 3))" "$latscope" "$@" 2>"$dir/stderr")
	status=$?
	err=$(<"$dir/stderr")
}

# check TITLE CODE STDERR STDOUT ARG...
check() {
	run "${@:5}"
	ok "$1" ended "$2" "$3" "$4"
}

# refuses TITLE CODE REASON ARG...: one line on stderr has the reason, and stdout is empty
refuses() {
	run "${@:4}"
	ok "$1" refused "$2" "$3"
}

# wrong TITLE REASON ARG...: wrong usage, with a pointer to --help
wrong() { refuses "$1" 2 "$2.*; try 'latscope ${3-} --help'" "${@:3}"; }

refused() {
	ended "$1" "^latscope.*$2" '' || return
	[ "$(wc -l <"$dir/stderr")" = 1 ] || { printf 'not one line:\n%s\n' "$err" && false; }
}

ended() {
	local bad=0

	[ "$status" = "$1" ] || { echo "exit status $status, not $1" && bad=1; }
	tap_said stderr "$err" "$2" || bad=1
	tap_said stdout "$out" "$3" || bad=1
	return $bad
}

# tap_said WHERE GOT REGEX
tap_said() {
	if [ -n "$3" ]; then
		[[ $2 =~ $3 ]] || { printf 'wanted a match of: %s\non %s:\n%s\n' "$3" "$1" "$2" && false; }
	else
		[ -z "$2" ] || { printf 'unwanted on %s:\n%s\n' "$1" "$2" && false; }
	fi
}

# unprivileged CMD...: runs it, and latscope, as a user without privileges, which the caller may be. $dir has a copy of the program, as the user may not
# have access to the tree.
unprivileged() {
	local as=(setpriv --reuid=65533 --regid=65533 --clear-groups) latscope=$dir/latscope

	[ -x "$latscope" ] || install -m755 .output/latscope "$latscope"
	[ "$(id -u)" = 0 ] || as=()
	"$@"
}

# in_mounts SCRIPT CMD...: runs CMD. Each latscope that it starts has a mount namespace of its own, where SCRIPT ran before.
in_mounts() { local as=(unshare -m sh -c "$1"' && exec "$@"' -) && "${@:2}"; }

# in_a_container CMD...: in a PID namespace
in_a_container() { local as=(unshare -p -f --mount-proc) && "$@"; }

# skip_unless_able: skips the whole suite if this machine cannot measure anything; skip_unless PROBE ARG...: if it cannot measure that
skip_unless_able() { skip_unless runqlat; }
skip_unless() {
	[ "$(id -u)" = 0 ] || skip_all 'only root can measure'
	run "$@" -d 10ms
	[ "$status" != 77 ] || skip_all "$1 does not run here: $err"
}

# own_mounts: runs the suite again, with its arguments, in a mount namespace of its own, so that its mounts end with it
own_mounts() {
	[ "$(readlink /proc/self/ns/mnt)" != "${CLI_MOUNTS-}" ] || return 0
	unshare -m true 2>/dev/null || skip_all 'cannot make a mount namespace'
	rm -rf "$dir"
	exec unshare -m bash -c 'CLI_MOUNTS=$(readlink /proc/self/ns/mnt) exec "$0" "$@"' "$0" "${arguments[@]}"
}

# stored NAME: unpacks recordings of tests/cli/recordings/make as $dir/NAME
stored() { tar -xJf "tests/cli/recordings/$1.tar.xz" -C "$dir" --no-same-owner; }

# loop_new FILE [OPTION...]: makes a loop device of the file as $loop. The kernel removes it when the last process that has it
# open ends: the script, or a child.
# shellcheck disable=SC2034 # the descriptor is only held
loop_new() {
	loop=$(losetup -f --show "${@:2}" "$1" 2>/dev/null) && exec {loop_held}<"$loop" && losetup -d "$loop"
}

# emulate NAME TEXT: starts tests/emu/NAME as $server, an emulator in a file system at $emu; skips the whole suite where that cannot be
# mounted
emulate() {
	emu=$dir/emu
	mkdir "$emu"
	".output/tests/emu/$1/$1" "$emu" "$2" &
	server=$!
	on_exit end_emulator
	wait_for mounted_or_gone
	if gone "$server"; then
		wait "$server"
		[ $? != 4 ] || skip_all 'a FUSE file system, as the emulator is, cannot be mounted here' # libfuse's status
		exit 1
	fi
}
# tiers ARG...: as run, but it runs tests/emu/tiers
tiers() { local latscope=tests/emu/tiers && run "$@"; }
# skip_unless_tiers: skips the whole suite where that cannot be mounted; makes the directory $dir/at
skip_unless_tiers() {
	mkdir "$dir/at"
	tiers "$dir/at" true
	[ "$status" != 77 ] || skip_all "$err"
}
mounted_or_gone() { [ -e "$emu/ctl" ] || gone "$server"; }
end_emulator() { kill "$server" 2>/dev/null && wait "$server"; }

# csv_value NAME TIER: of the last row of that tier in $out, CSV of tierlat
csv_value() {
	awk -F, -v name="$1" -v tier="$2" '
		/^time_ns,/ { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["tier"] == tier { value = $at[name] }
		END { print value }' <<<"$out"
}

# seconds_over N: waits until the clock has gone on by N seconds, for what is done by the clock: recordings of one second would have
# the same name
seconds_over() {
	local now

	printf -v now '%(%s)T'
	wait_for is_past $((now + $1))
}
is_past() { [ "$(printf '%(%s)T')" -ge "$1" ]; }

# wait_for CMD...: waits until it succeeds, as eventually does, but prints nothing
wait_for() {
	local until=$((SECONDS + tap_patience))

	while [ $SECONDS -lt $until ]; do
		! "$@" >/dev/null 2>&1 || return 0
		sleep .05
	done
	return 1
}

# recording BELOW: prints the directory of the only recording there
recording() { printf '%s\n' "$1"/2*Z*; }

# meta DIR NAME: prints a value of this name in the recording
meta() { sqlite3 -readonly "$1/run.db" "SELECT value FROM meta WHERE name = '$2'"; }

# start ARG...: starts latscope record in the background as $pid, and waits until its window is open. finish waits for its end.
start() {
	rm -rf "$dir/runs"
	"${as[@]}" "$latscope" record -qv -o "$dir/runs" "$@" >"$dir/stdout" 2>"$dir/stderr" &
	pid=$!
	wait_for is_open
}

# has_intervals DIR COUNT: the recording has at least so many intervals so far
intervals() { sqlite3 -readonly "$1/run.db" 'SELECT count(*) FROM interval'; }
has_intervals() { [ "$(intervals "$1")" -ge "$2" ]; }

is_open() { [ -e "$(recording "$dir/runs")/run.db" ]; }

# finish: waits for $pid, which is latscope itself, as setsid and env exec it; sets $out, $err and $status
finish() {
	wait "$pid"
	status=$?
	out=$(<"$dir/stdout")
	err=$(<"$dir/stderr")
}

# end_by SIGNAL: ends $pid, and waits for it as finish does
end_by() {
	kill "-$1" "$pid"
	finish
}

# ids PID: prints the BPF programs and maps that it holds, as "prog 12"
ids() { sed -nE 's/^(prog|map)_id:\s*([0-9]+)$/\1 \2/p' "/proc/$1"/fdinfo/* 2>/dev/null | sort -u; }

# unloaded IDS: waits until the kernel has none of these
unloaded() { eventually none_loaded "$1"; }
none_loaded() {
	local kind id

	while read -r kind id; do
		! bpftool "$kind" show id "$id" || return
	done <<<"$1"
}

# complete DIR: the recording is complete, and its accounting adds up; events that no program saw are stated
complete() {
	local found

	found=$(cd "$1" && echo *)
	tap_match "$found" 'iolat.csv .*iolat.summary.json.* memlat.csv .*run.db runqlat' || return
	[[ $found != *wal* ]] || { echo "the log was left: $found" && return 1; }
	jq -es 'all(.complete) and (map(.accounting // empty) | length == 3 and all(.balanced or .recursion_missed > 0 and .seen == .recorded +
		.filtered + .missed_start + .unmatched + .map_full + .negative + .excluded + .continued))' "$1"/*.summary.json >/dev/null ||
		{ jq -c '[.module, .complete, .accounting]' "$1"/*.summary.json && false; }
}

# fits: $out has at most 80 columns and no trailing blanks
fits() { ! LC_ALL=C.UTF-8 grep -nE '.{81,}|[[:blank:]]$' <<<"$out"; }

# cgroup_new: makes a cgroup of version 2 as $cgroup, which the end of the script removes with all below it; false: it cannot
cgroup_new() {
	local mount

	mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
	[ -n "$mount" ] && cgroup=$(mktemp -d "$mount/latscope-test-XXXXXX" 2>/dev/null) && cgroups+=("$cgroup") && chmod 755 "$cgroup"
}

# The processes in it need a moment to end.
cgroup_gone() { [ ! -d "$1" ] || find "$1" -depth -type d -exec rmdir {} +; }
remove_cgroups() {
	local one

	for one in "${cgroups[@]}"; do
		[ ! -e "$one/cgroup.kill" ] || echo 1 >"$one/cgroup.kill"
		eventually cgroup_gone "$one"
	done 2>/dev/null
}

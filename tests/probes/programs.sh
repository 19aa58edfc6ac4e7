# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with window.sh
# Programs of a window, which create latencies. Each is one of tests/reference, or another program with the same protocol:
# with -w it prints "ready=1" and waits for a line on stdin; then it works and prints lines KEY=VALUE, its reference,
# and "done=1"; it waits for another line and exits with 0 if the reference is valid.
#
#	start NAME PROGRAM ARG...    starts it and waits until it is ready
#	release NAME                 lets it work
#	run_programs                 lets all work and waits until all are done
#	printed NAME [LINE] KEY      prints a value of its reference
#	end_program NAME             ends it

# has_printed NAME LINE: succeeds if the program has printed LINE, or has ended
has_printed() {
	slurp "$w/$1.out"
	[[ $'\n'$slurped = *$'\n'"$2"$'\n'* ]] || gone "${programs[$1]}"
}

# make_cgroups: creates $cgroups/wanted/below and $cgroups/other
make_cgroups() {
	local top

	top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$top" ] || return
	cgroups=$top/latscope-test-$$
	mkdir -p "$cgroups"/wanted/below "$cgroups"/other || return
	at_exit+=("rmdir $cgroups/wanted/below $cgroups/wanted $cgroups/other $cgroups")
}

# start NAME PROGRAM ARG...: starts it, waits until it is ready, and sets $pid. PROGRAM is one of tests/reference, or a path.
# It runs in the cgroup $cgroup, if that is set. Fails if it cannot create its latency here: that is a skipped test, and in
# the VM a failed one.
start() {
	local fd path=$reference/$2

	[[ $2 != /* ]] || path=$2

	mkfifo "$w/$1.in"
	: >"$w/$1.out"
	(
		[ -z "${cgroup-}" ] || echo "$BASHPID" >"$cgroup/cgroup.procs"
		cd "$w" && exec "$path" -w "${@:3}"
	) <"$w/$1.in" >"$w/$1.out" 2>"$w/$1.err" &
	programs[$1]=$! pid=$!
	exec {fd}>"$w/$1.in"
	inputs[$1]=$fd
	await "$2 is ready" has_printed "$1" ready=1
	! gone "$pid" || cannot_start "$1" "$2"
}

# cannot_start NAME PROGRAM: prints the test that start says
cannot_start() {
	local status=0

	wait "${programs[$1]}" || status=$?
	drop_program "$1"
	slurp "$w/$1.err"
	# In the VM all programs must start, except waits where perf events miss switches.
	if [ $status = 77 ] && { [ -z "${LATSCOPE_VM-}" ] || [ "$2" = waits ]; }; then
		skip "$2" "${slurped%$'\n'}"
	else
		is "$2 starts" "status $status: $slurped" ''
	fi
	return 1
}

# release NAME: sends the line that the program waits for
release() { echo >&"${inputs[$1]}"; }

# run_programs: lets all programs work, and waits until all are done
run_programs() {
	local name

	for name in "${!programs[@]}"; do
		release "$name"
	done
	for name in "${!programs[@]}"; do
		await "the end of $name" has_printed "$name" 'done=1'
	done
}

# end_program NAME: lets the program end. Its exit status says whether its reference is valid; if not, sets $no_reference.
end_program() {
	local status=0

	release "$1" 2>/dev/null
	wait "${programs[$1]}" || status=$?
	drop_program "$1"
	slurp "$w/$1.err"
	[ "$status$slurped" = 0 ] || no_reference="$1, exit status $status: $slurped"
}

# drop_program NAME: forgets a program that has ended
drop_program() {
	local fd=${inputs[$1]}

	exec {fd}>&-
	unset "programs[$1]" "inputs[$1]"
}

# printed NAME [LINE] KEY: prints the value of KEY=VALUE in the output of the program; with LINE, in the line that begins
# with LINE
printed() { read_printed "$@" && echo "$answer"; }

# read_printed NAME [LINE] KEY: the same, in $answer
read_printed() {
	local lines

	answer=''
	slurp "$w/$1.out"
	lines=$'\n'$slurped
	if [ $# = 3 ]; then
		[[ $lines =~ $'\n'"$2 "([^$'\n']*) ]] || return
		lines=" ${BASH_REMATCH[1]} "
	fi
	[[ $lines =~ [[:space:]]"${*: -1}"=([^[:space:]]+) ]] && answer=${BASH_REMATCH[1]}
}

# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Functions for test scripts in bash, which print TAP. Source this file, run tests, and call done_testing at the end: a
# script that dies before prints no plan, and fails by that. An unset variable is an error from then on.
#
#	. tests/tap.sh
#	ok 'help is printed' .output/latscope --help
#	is 'the answer' "$(cat answer)" 42
#	done_testing
#
# Tests:       ok, is, like, within, passed, skip, skip_all, need_kernel, done_testing
# Waiting:     eventually, gone
# The script:  on_exit, diag

set -u
tap_count=0
tap_patience=120 # s, for what takes a fraction of a second on an idle machine
[ -z "${LATSCOPE_VM-}" ] || tap_patience=1000000 # there time runs on while a CPU waits for the host
disturbance='' # why what was measured last proves nothing; set by tests/measure.sh

# ok DESC CMD...: a test that passes if CMD succeeds. If it fails, the output of CMD follows as diagnostics. A failure of a
# disturbed measurement is no failure: the result is "disturbed".
ok() {
	local desc=$1 said

	shift
	tap_count=$((tap_count + 1))
	if said=$("$@" 2>&1); then
		echo "ok $tap_count - $desc"
	elif [ -n "$disturbance" ]; then
		echo "ok $tap_count - $desc # DISTURBED $disturbance"
		diag "$said"
	else
		echo "not ok $tap_count - $desc"
		diag "$said"
	fi
}

# is DESC GOT WANTED: a test that passes if GOT is WANTED
is() {
	if [ "$2" = "$3" ]; then # starts no process: in the VM that takes long
		passed "$1"
	else
		ok "$1" tap_same "$2" "$3"
	fi
}

# like DESC GOT REGEX: a test that passes if GOT has a match of REGEX
like() { ok "$1" tap_match "$2" "$3"; }

# within DESC LOW VALUE HIGH: a test that passes if VALUE, a whole number, is from LOW to HIGH
within() {
	if [[ $2 -le $3 && $3 -le $4 ]]; then # no process, as above
		passed "$1"
	else
		ok "$1" is_within "$2" "$3" "$4"
	fi
}

# passed DESC: a test that has passed
passed() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

# skip DESC REASON: a test that cannot run here
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# skip_all REASON: ends a script that has run no test yet
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# need_kernel SERIES: ends a script that has run no test yet, if this kernel cannot be had for the VM
need_kernel() {
	tests/vm/kernel "$1" >/dev/null || {
		[ $? = 77 ] || exit 1
		skip_all "there is no $1 kernel here"
	}
}

# done_testing: prints the plan
done_testing() { echo "1..$tap_count"; }

# diag TEXT: prints TEXT as diagnostics
diag() { [ -z "$1" ] || printf '# %s\n' "${1//$'\n'/$'\n'# }"; }

# eventually CMD...: repeats CMD until it succeeds, for at most two minutes, and prints the last output of CMD. Use it
# for effects that follow a moment after what the script waited for.
eventually() {
	local end=$((SECONDS + tap_patience)) said

	until said=$("$@" 2>&1); do
		[ $SECONDS -lt $end ] || { echo "$said" && return 1; }
		sleep 0.1
	done
	[ -z "$said" ] || echo "$said"
}

# gone PID: succeeds if the process has ended. `kill -0` does not tell: it can succeed for a zombie, even for a child of
# this script that has ended already.
gone() {
	local stat

	{ IFS='' read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	[[ ${stat##*) } = [ZX]* ]]
}

# on_exit COMMAND [ARG...]: runs COMMAND at the end of the script, before those of earlier calls. A forked child that gets a
# signal before its exec runs the trap too, hence the comparison of process IDs.
tap_at_exit=''
# shellcheck disable=SC2064 # the commands as they are now
on_exit() {
	tap_at_exit="$(printf '%q ' "$@"); $tap_at_exit"
	trap "[ \$BASHPID != \$\$ ] || { $tap_at_exit}" EXIT
}

# ---- internal ----

is_within() { [[ $1 -le $2 && $2 -le $3 ]] || { echo "$2 is not from $1 to $3" && false; }; }

tap_same() { [ "$1" = "$2" ] || { printf 'got:\n%s\nwanted:\n%s\n' "$1" "$2" && false; }; }

tap_match() { [[ $1 =~ $2 ]] || { printf 'got:\n%s\nwanted a match of:\n%s\n' "$1" "$2" && false; }; }

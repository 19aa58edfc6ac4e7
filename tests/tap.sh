# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What a test script in bash sources to speak TAP. It ends with done_testing: should it die before,
# the missing plan tells.

tap_count=0

# ok DESC CMD...: a test that passes if CMD succeeds; if not, what CMD said follows as diagnostics.
ok() {
	local desc=$1 said

	shift
	tap_count=$((tap_count + 1))
	if said=$("$@" 2>&1); then
		echo "ok $tap_count - $desc"
	else
		echo "not ok $tap_count - $desc"
		diag "$said"
	fi
}

# is DESC GOT WANTED
is() {
	if [ "$2" = "$3" ]; then # without a process, which in the VM takes long
		passed "$1"
	else
		ok "$1" tap_same "$2" "$3"
	fi
}

# passed DESC
passed() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

# like DESC GOT REGEX
like() { ok "$1" tap_match "$2" "$3"; }

# skip DESC REASON
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# skip_all REASON: instead of any test
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# eventually CMD...: CMD, again and again until it succeeds, for at most a minute: for what comes a moment later
# than what was waited for, which may be long on a busy machine. What it said last is said.
eventually() {
	local end=$((SECONDS + 60)) said

	until said=$("$@" 2>&1); do
		[ $SECONDS -lt $end ] || { echo "$said" && return 1; }
		sleep 0.1
	done
	[ -z "$said" ] || echo "$said"
}

# again CMD...: CMD, until it succeeds, five times at most. CMD measures anew each time, and fails if what came of it
# is not what it should be, as where the machine stood still meanwhile. The tests after it judge the last try: what
# is wrong in earnest is so every time. $dir is a directory of the script's own.
again() {
	local try

	for try in 1 2 3 4 5; do
		! "$@" >"${dir:?}/said" 2>&1 || return 0
		diag "try $try: $*: $(<"$dir/said")"
	done
}

# on_exit COMMAND [ARG...]: at the end of the script. Not of what it forked: a signal before the exec has that run the
# trap, too.
# shellcheck disable=SC2064 # the command as it is now
on_exit() { trap "[ \$BASHPID != \$\$ ] || $(printf '%q ' "$@")" EXIT; }

diag() { [ -z "$1" ] || printf '# %s\n' "${1//$'\n'/$'\n'# }"; }

done_testing() { echo "1..$tap_count"; }

tap_same() { [ "$1" = "$2" ] || { printf 'got:\n%s\nwanted:\n%s\n' "$1" "$2" && false; }; }

tap_match() { [[ $1 =~ $2 ]] || { printf 'got:\n%s\nwanted a match of:\n%s\n' "$1" "$2" && false; }; }

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Every command of the tutorial in latscope(1) runs on this machine, in its order, as it is printed there.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able

export PATH=$built:$PATH
commands() { sed -n '/^# TUTORIAL/,/^# SEE/p' man/latscope.1.scd | sed -nE 's/^\t?\*(latscope .*)\*(\+\+)?$/\1/p' | tr -d "\\134"; }

# On stderr are only where the recording is, that a load had to be ended, and the name of a probe that cannot run here.
expected='^(latscope: (memlat|runqlat|iolat|softirq|rmid|ringlat|tierlat|record) cannot (run|be measured)|latscope: workload: still running at the end of the window; terminated$|recording in o(n|ff)/)'

# ran STATUS: it ended with that, said nothing else on stderr, and printed something
ran() {
	[[ $status =~ ^$1$ ]] || { echo "exit status $status, not $1" && return 1; }
	tap_said stderr "$err" '' && tap_said stdout "$out" '.'
}

nr=0
mkdir "$dir/tutorial"
chmod 755 "$dir/tutorial"
while read -r command; do
	nr=$((nr + 1))
	out=$(cd "$dir/tutorial" && timeout 60 bash -c "$command" 2>"$dir/stderr" </dev/null)
	status=$?
	err=$(grep -vE "$expected" "$dir/stderr")
	wanted=0
	# doctor: a probe, such as rmid with its kernel module, may not run here; it says which.
	if [ "$command" = 'latscope doctor' ] && grep -qE '^[a-z]+: .*(not|no)' <<<"$out"; then
		wanted='(0|77)'
	fi
	ok "$command" ran "$wanted"
done < <(commands)
is 'all commands were found' "$nr" 8
done_testing

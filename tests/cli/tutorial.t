#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# Every command of the tutorial in latscope(1) runs, in its order, as it is printed there.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
skip_unless_able

export PATH=$built:$PATH
commands() { sed -n '/^# TUTORIAL/,/^# SEE/p' man/latscope.1.scd | sed -nE 's/^\t?\*(latscope .*)\*(\+\+)?$/\1/p' | tr -d "\\134"; }

nr=0
mkdir "$dir/tutorial"
chmod 755 "$dir/tutorial"
while read -r command; do
	nr=$((nr + 1))
	out=$(cd "$dir/tutorial" && timeout 60 bash -c "$command" 2>"$dir/stderr" </dev/null)
	status=$?
	err='' # a probe that cannot run here is named there
	# doctor: a probe, such as rmid with its kernel module, may not run here.
	[ "$command" != 'latscope doctor' ] || [ "$status" != 77 ] || status=0
	ok "$command" ended 0 '' '.'
done < <(commands)
is 'all commands were found' "$nr" 7
done_testing

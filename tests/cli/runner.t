#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The test runner: it starts suites as their tags say, and fails each suite that does not deserve to pass.
# shellcheck disable=SC2016 # expanded by the suites
set -u
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh

dir=$(mktemp -d)
on_exit rm -rf "$dir"
unset V

# suite NAME SCRIPT
suite() {
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1"
	chmod +x "$dir/$1"
}

options=() # of tests/run

# run NAME...: sets $out and $status
run() {
	out=$(LATSCOPE_SUITES="${*/#/$dir/}" LATSCOPE_LOG_DIR=$dir/log tests/run "${options[@]}" 2>&1)
	status=$?
}

total() { like "$1: the last line counts" "$(tail -n 1 <<<"$out")" "^$2 in [0-9]+ min [0-9]+ s$"; }

# fails DESC NAME SCRIPT TOTAL REASON: the runner must fail this suite and print REASON, a regex
fails() {
	suite "$2" "$3"
	run "$2"
	total "$1" "$4"
	is "$1: exit status" $status 1
	like "$1: says why" "$out" "$5"
}

suite good 'echo 1..2; echo "ok 1 - a"; echo chatter; echo "ok 2 - b"; echo "soak $LATSCOPE_SOAK"'
LATSCOPE_SOAK=1 run good
total 'all pass' '2 passed, 0 failed, 0 skipped'
is 'all pass: exit status' $status 0
is 'all pass: nothing but the verdict is shown' "$(wc -l <<<"$out")" 2
like 'all pass: the log has every line, and LATSCOPE_SOAK came through' \
	"$(cat "$dir/log/good.log")" $'chatter\nok 2 - b\nsoak 1$'

suite skips 'echo "ok 1 - a # SKIP no disk"; echo "not ok 2 # skip too old"; echo 1..2'
suite skips_all 'echo "1..0 # SKIP no kernel"'
run good skips skips_all
total 'skips' '2 passed, 0 failed, 3 skipped'
is 'skips: exit status' $status 0
like 'skips: the reasons are shown' "$out" 'no disk.*too old'
like 'skips: that of a whole suite, too' "$out" 'no kernel'

fails 'a failing test' bad 'echo 1..3; echo "ok 1 - a"; echo "not ok 2 - b"; echo "# one"; echo two; echo "ok 3 - c"
exit 1' '2 passed, 1 failed, 0 skipped' $'not ok 2 - b\n *# one\n *two\n *2 passed'
fails 'two plans of cmocka' groups 'echo 1..1; echo "ok 1 - a"; echo 1..1; echo "not ok 1 - b"' \
	'1 passed, 1 failed, 0 skipped' 'not ok 1 - b'
fails 'a suite that dies' dies 'echo 1..2; echo "ok 1 - a"; echo last words; kill -SEGV $$' \
	'1 passed, 1 failed, 0 skipped' $'last words\n *FAILED: died of signal 11'
fails 'an error though no test failed' error 'echo 1..1; echo "ok 1 - a"; exit 3' \
	'1 passed, 1 failed, 0 skipped' 'exit status 3'
fails 'no plan' no_plan 'echo "ok 1 - a"' '1 passed, 1 failed, 0 skipped' 'no plan'
fails 'too few tests' few 'echo 1..3; echo "ok 1 - a"; echo "not ok 2 - b"' \
	'1 passed, 2 failed, 0 skipped' 'planned 3 tests, ran 2'
fails 'too many tests' many 'echo 1..1; echo "ok 1 - a"; echo "ok 2 - b"' \
	'2 passed, 1 failed, 0 skipped' 'planned 1 tests, ran 2'
fails 'a skip without a reason' mute_skip 'echo 1..2; echo "ok 1 - a # SKIP"; echo "ok 2 - b"' \
	'1 passed, 1 failed, 0 skipped' 'must say why'
fails 'nothing planned without a reason' mute_plan 'echo 1..0' '0 passed, 1 failed, 0 skipped' 'did not say why'
fails 'a silent suite' silent ':' '0 passed, 1 failed, 0 skipped' 'no plan'
fails 'a last line without a newline' cut 'echo 1..1; printf "not ok 1 - cut"' \
	'0 passed, 1 failed, 0 skipped' 'not ok 1 - cut'

none_runs() { ! pgrep -af "$1"; }

suite slow 'sleep 600'
LATSCOPE_SUITES=$dir/slow LATSCOPE_LOG_DIR=$dir/log tests/run >/dev/null 2>&1 &
runner=$!
while none_runs "$dir/slow" >/dev/null; do sleep 0.05; done
kill $runner
wait $runner
is 'ended by a signal: exit status' $? 130
# The suite takes a moment to end.
ok 'ended by a signal: so is the suite' eventually none_runs "$dir/slow"

run missing
total 'a suite that is not there' '0 passed, 1 failed, 0 skipped'
like 'a suite that is not there: says so' "$out" 'cannot be started'
run bad good
total 'several suites' '4 passed, 1 failed, 0 skipped'

# meets NAME...: three suites that pass if all of them run at the same time. They wait for each other for a minute.
meets() {
	local name

	for name; do
		suite "$name" "cd $dir && echo 1..1 && touch $name.here
for i in \$(seq 600); do [ ! -e ${1}.here ] || [ ! -e ${2}.here ] || [ ! -e ${3}.here ] || { echo ok 1; exit; }; sleep 0.1; done
echo not ok 1"
	done
	run "$@"
}
options=(-j 3)
meets one two three
total '-j 3: three suites run at a time' '3 passed, 0 failed, 0 skipped'

suite alone_1 "mkdir $dir/busy && sleep 0.3 && rmdir $dir/busy && echo ok 1; echo 1..1"
cp "$dir/alone_1" "$dir/alone_2"
options=(-j 1)
run alone_1 alone_2
total '-j 1: one suite runs at a time' '2 passed, 0 failed, 0 skipped'
options=(-j many)
run good
is '-j many: exit status' $status 2

# tagged NAME TAGS: a suite that passes if no other one runs at the same time
tagged() { suite "$1" "# suite: $2
mkdir $dir/busy && sleep 0.3 && rmdir $dir/busy && echo ok 1 - $1; echo 1..1"; }
for lane in alone native; do
	tagged one $lane
	tagged two $lane
	options=(-j 3)
	run one two
	total "tag $lane: two such suites do not run at the same time" '2 passed, 0 failed, 0 skipped'
done
tagged lonely alone
run lonely alone_1
total 'tag alone: no other suite runs at the same time' '2 passed, 0 failed, 0 skipped'

for tag in last slow slower slowest alone fast; do
	suite "$tag" "# suite: $tag
echo ok 1; echo 1..1"
done
cp "$dir/good" "$dir/untagged"
suite quick $'# suite: native fast\necho ok 1; echo 1..1'
options=(-j 1)
run last slow slower untagged slowest alone fast
is 'suites start in the order of their tags' "$(grep -o '^[a-z]\+ .*passed  ' <<<"$out" | cut -d ' ' -f 1 | tr '\n' ' ')" \
	'fast alone untagged slowest slower slow last '
options=(-t fast)
run fast slow quick untagged
total '-t fast: only these suites run' '2 passed, 0 failed, 0 skipped'
suite misspelt '# suite: quick'
options=()
run misspelt
is 'an unknown tag: exit status' $status 2
run bad
like 'a failing suite: the command that runs only this suite is shown' "$out" "LATSCOPE_SUITES=$dir/bad tests/run -v bad"

out=$(tests/run no-such-suite 2>&1)
is 'an unknown name: exit status' $? 2
like 'an unknown name: says which there are' "$out" 'no-such-suite.*lint'

# A suite that has a command of its own for the end, and leaves a cgroup with another one and a process in it.
made=$(bash -c '. tests/cli/cli.sh
	on_exit true
	echo "$dir"
	cgroup_new || exit
	mkdir "$cgroup/below"
	(echo "$BASHPID" >"$cgroup/below/cgroup.procs" && exec sleep 601 >/dev/null) &
	wait_for grep -q . "$cgroup/below/cgroup.procs"
	echo "$cgroup"')
# shellcheck disable=SC2086 # to be split
is 'a suite leaves nothing of what it makes' "$(ls -d $made 2>/dev/null)" ''
if [ "$(wc -w <<<"$made")" = 2 ]; then
	ok 'nor the processes in it' none_runs '^sleep 601$'
else
	skip 'a cgroup' 'no cgroup can be made here'
fi

done_testing

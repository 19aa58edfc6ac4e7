#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The test runner: it starts suites as their tags say, and fails each suite that does not deserve to pass.
. "$(dirname "$0")/cli.sh"

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

total() { is "$1: the last line counts" "$(tail -n 1 <<<"$out")" "$2"; }

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
is 'all pass: nothing but the verdict is shown' "$(wc -l <<<"$out")" 3
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

# A test that failed while something disturbed what it measures.
suite disturbed 'echo 1..2; echo "ok 1 - a"; echo "ok 2 - b # DISTURBED steal 3.0 %"; echo "# got 4"'
run disturbed
total 'a disturbed test has not passed' '1 passed, 0 failed, 1 skipped'
is 'a disturbed test: exit status' $status 0
like 'a disturbed test: the reason is shown, and its output' "$out" $'disturbed: 2 - b: steal 3.0 %\n *# got 4\n *1 passed, 1 disturbed '
like 'a disturbed test: the end says so' "$out" 's; 1 tests were disturbed and count as skipped'
judged() {
	bash -c '. tests/tap.sh; disturbance=$1; ok a test $2 = 1; ok b true; done_testing' - "$@"
}
is 'tests/tap.sh: a failure of a disturbed measurement is none' "$(judged steal 2 | grep -v '^#')" $'ok 1 - a # DISTURBED steal\nok 2 - b\n1..2'
is 'what passes is not disturbed' "$(judged steal 1)" $'ok 1 - a\nok 2 - b\n1..2'
is 'without evidence it is a failure' "$(judged '' 2)" $'not ok 1 - a\nok 2 - b\n1..2'

none_runs() { ! pgrep -af "$1"; }
one_runs() { pgrep -f "$1"; }

mkfifo "$dir/never"
suite slow "cat $dir/never"
LATSCOPE_SUITES=$dir/slow LATSCOPE_LOG_DIR=$dir/log tests/run >/dev/null 2>&1 &
runner=$!
eventually one_runs "$dir/slow" >/dev/null
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

# meets NAME NAME NAME: suites that pass if all three run at the same time. Each pipe opens when two of them are there.
meets() {
	mkfifo "$dir"/{a,b,c}
	suite "$1" "echo 1..1; cd $dir; timeout 60 sh -c ': >a; : >b' && echo ok 1"
	suite "$2" "echo 1..1; cd $dir; timeout 60 sh -c ': <a; : >c' && echo ok 1"
	suite "$3" "echo 1..1; cd $dir; timeout 60 sh -c ': <b; : <c' && echo ok 1"
	run "$@"
}
options=(-j 3)
meets one two three
total '-j 3: three suites run at a time' '3 passed, 0 failed, 0 skipped'

# tagged NAME TAGS: a suite that passes if no other one of these runs meanwhile
tagged() { suite "$1" "# suite: $2
mkdir $dir/busy && seq 1000000 >/dev/null && rmdir $dir/busy && echo ok 1 - $1; echo 1..1"; }
tagged alone_1 slow
tagged alone_2 slow
options=(-j 1)
run alone_1 alone_2
total '-j 1: one suite runs at a time' '2 passed, 0 failed, 0 skipped'
options=(-j many)
run good
is '-j many: exit status' $status 2

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

for tag in slow alone native; do
	suite "$tag" "# suite: $tag
echo ok 1; echo 1..1"
done
options=(-j 1)
run good alone native slow
is 'suites start in the order of their tags' "$(grep -o '^[a-z]\+ .*passed  ' <<<"$out" | cut -d ' ' -f 1 | tr '\n' ' ')" \
	'slow good native alone '
suite misspelt '# suite: fast'
options=()
run misspelt
is 'an unknown tag: exit status' $status 2
run bad
like 'a failing suite: the command that runs only this suite is shown' "$out" "LATSCOPE_SUITES=$dir/bad tests/run -v bad"

out=$(tests/run no-such-suite 2>&1)
is 'an unknown name: exit status' $? 2
like 'an unknown name: says which there are' "$out" 'no-such-suite.*lint'

# ---- a tree of its own: which suites a name stands for ----

tree="$dir/a tree"
mkdir -p "$tree"/.output/tests/unit "$tree"/tests/{unit,emu,cli,virtual,host,kernels,vm}
cp tests/run "$tree/tests/"
touch "$tree/tests/unit/test_u.c"
for path in .output/tests/unit/test_u tests/lint tests/cli/c.t tests/virtual/v-6.1.t tests/host/h.t tests/kernels/boot.t tests/kernels/listed; do
	printf '#!/bin/sh\necho ok 1; echo 1..1\n' >"$tree/$path"
	chmod +x "$tree/$path"
done
for tool in kernel headers; do
	printf '#!/bin/sh\necho "%s $1" >>"%s"\n' $tool "$dir/downloads" >"$tree/tests/vm/$tool"
	chmod +x "$tree/tests/vm/$tool"
done
printf '%s\n' '# NAME MINUTES COMMAND' "torture-6.1 3 'tests/kernels/listed' a" 'torture-7 2 tests/kernels/listed' 'rmid-7 1 false' >"$tree/tests/kernels/list"
# ran NAME...: sets $out, and prints the suites that ran
ran() {
	: >"$dir/downloads"
	"$tree/tests/run" -j 1 "$@" >"$dir/out" 2>&1
	grep -oE '^(lint|[a-z]+/[a-z0-9_.-]+) ' "$dir/out" | tr -d ' ' | sort | paste -sd' '
}
check='cli/c.t lint unit/test_u virtual/v-6.1.t'
is 'without a name it is the tier check' "$(ran)" "$check"
is 'check' "$(ran check)" "$check"
is 'what runs in the VM is downloaded before' "$(<"$dir/downloads")" 'kernel 6.1'
is 'a folder' "$(ran host)" host/h.t
is 'a suite' "$(ran cli/c tests/lint)" 'cli/c.t lint'
is 'the tier kernels' "$(ran kernels | tr ' ' '\n' | wc -l)" 4
like 'how long it takes' "$(<"$dir/out")" 'suites in the VM: about 6 minutes of CPU time, on 1 CPUs 6 minutes'
like 'a listed command that fails' "$(<"$dir/out")" $'FAILED: exit status 1'
is 'kernels by topic' "$(ran torture)" 'kernels/torture-6.1 kernels/torture-7'
is 'kernels by kernel' "$(ran 6.1)" kernels/torture-6.1
is 'one of them' "$(ran kernels/torture-7)" kernels/torture-7

# -c leaves out what has passed since the tree changed.
git_here() { git -C "$tree" -c user.name=a -c user.email=a "$@"; }
git_here init -q && echo .output >"$tree/.gitignore" && git_here add -A && git_here commit -qm a
is '-c: what has not passed runs' "$(ran -c cli host)" 'cli/c.t host/h.t'
is '-c: what has passed does not' "$(ran -c check)" 'lint unit/test_u virtual/v-6.1.t'
like '-c: it says so' "$(<"$dir/out")" '^1 suites have passed already, since the tree last changed'
is '-c: everything has passed' "$(ran -c check)" ''
like '-c: then nothing fails' "$(tail -n 1 "$dir/out")" '^0 passed, 0 failed, 0 skipped$'
printf '#!/bin/sh\necho not ok 1; echo 1..1\n' >"$tree/tests/cli/c.t"
is '-c: after a change all run' "$(ran -c cli host)" 'cli/c.t host/h.t'
is '-c: what failed runs again' "$(ran -c cli host)" 'cli/c.t'
git_here commit -qam b
is '-c: after a commit, too' "$(ran -c host)" 'host/h.t'

# A suite that has a command of its own for the end, and leaves a cgroup with another one and a process in it.
made=$(bash -c '. tests/cli/cli.sh
	on_exit true
	echo "$dir"
	cgroup_new || exit
	mkdir "$cgroup/below"
	(echo "$BASHPID" >"$cgroup/below/cgroup.procs" && exec cat "$0" >/dev/null) &
	wait_for grep -q . "$cgroup/below/cgroup.procs"
	echo "$cgroup"' "$dir/never")
# shellcheck disable=SC2086 # to be split
is 'a suite leaves nothing of what it makes' "$(ls -d $made 2>/dev/null)" ''
if [ "$(wc -w <<<"$made")" = 2 ]; then
	ok 'nor the processes in it' none_runs "^cat $dir/never"
else
	skip 'a cgroup' 'no cgroup can be made here'
fi

done_testing

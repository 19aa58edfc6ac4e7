#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# validate passes on this machine's own kernel, disks and CPUs, and finds every injected fault there. tests/unit/test_validate.c and
# test_judge.c have the verdicts.
. "$(dirname "$0")/host.sh"

faults=.output/faults/latscope # the same with -DLATSCOPE_FAULTS

# run ARG...: runs latscope validate, and sets $status; its output is in $dir/out and $dir/err
run() {
	"$latscope" validate "$@" >"$dir/out" 2>"$dir/err"
	status=$?
}

said() { cat "$dir/out" "$dir/err"; }
ended() { [ "$status" = "$1" ] || { echo "exit status $status" && said && false; }; }
fields() { jq -e "$1" "$dir/out" >/dev/null || { said && false; }; }
narrow() { awk 'length > 80 { print; bad = 1 } END { exit bad }' "$dir/out"; }

run nonsense
ok 'another probe: wrong usage' ended 2
run --break drop
ok 'no fault can be injected: wrong usage' ended 2
like 'no fault can be injected: the option is unknown' "$(said)" "option '--break'"
latscope=$faults run --break nonsense
ok 'with faults: an unknown fault is wrong usage' ended 2
like 'with faults: why' "$(said)" "unknown fault 'nonsense'"

# structs OUT: what a probe shares with user space, with the offset of each member, as its objects have it
structs() {
	local probe

	for probe in memlat runqlat iolat; do
		bpftool btf dump file "$1/src/probes/$probe/$probe.bpf.o" |
			awk '/^\[/ { on = /STRUCT .lat_/ } on { gsub(/\[[0-9]+\]|type_id=[0-9]+/, ""); print }'
	done
}
structs .output >"$dir/structs"
ok 'with faults: structs of the probes are found' test "$(grep -c STRUCT "$dir/structs")" -ge 20
is 'with faults: they are the same' "$(structs .output/faults)" "$(<"$dir/structs")"
run --disk /dev/null
ok 'a disk that is none: error' ended 1
head -c 1M /dev/urandom >"$dir/file"
for named in file nothing; do
	sum=$(sha1sum "$dir/$named" 2>&1)
	run iolat --dir "$dir/$named"
	ok "--dir with $named: error" ended 1
	like "--dir with $named: why" "$(said)" "^latscope: $dir/$named: no such directory; use --dir"
	is "--dir with $named: it is as it was" "$(sha1sum "$dir/$named" 2>&1)" "$sum"
done
[ "$(id -u)" = 0 ] || skip_rest='not root'

# Some machines run no BPF program while certain tasks are current, and miss some completions; busy machines have other load on
# one side of a comparison.
measure run all --replicates 3 --window 100ms
cp "$dir/out" "$dir/plain"
if [ "$status" = 77 ] || [ -n "${skip_rest-}" ]; then
	skip 'validate on this machine' "${skip_rest-$(head -n 1 "$dir/err")}"
else
	ok 'all pass' ended 0
fi
like 'it says how many passed' "$(tail -n 1 "$dir/plain")" '^[0-9]+ passed, 0 failed, [0-9]+ skipped$'
calm
ok 'it fits 80 columns' narrow

measure run memlat --only reference --json
ok 'JSON has a verdict per check' fields '.checks | length > 0 and all(.verdict | IN("pass", "skip"))'
calm
ok 'JSON says what was expected and got' \
	fields '[.checks[] | select(.verdict == "pass")] | all(.expected and .got and .method)'

# If other I/O is many times its own, a rate proves nothing, and the check is skipped.
if grep -q '^iolat:' "$dir/plain"; then
	mkdir "$dir/io"
	"$latscope" load dio --tasks 24 -q -d 5m --dir "$dir/io" &
	measure run iolat --only reaction --replicates 1 --window 100ms --dir "$dir/io"
	kill $!
	wait $!
	like 'a busy disk is no fault of ours' "$(said)" 'skip +sequential reads: rate, idle to load.*the machine is busy'
	calm
else
	skip 'a busy disk is no fault of ours' 'iolat cannot run here'
fi

# A reference that cannot be made is a check with an error, and validate continues: here no file can be opened.
run_without_files() {
	prlimit --nofile=5 "$latscope" validate --only reference "$@" >"$dir/out" 2>"$dir/err"
	status=$?
}
run_without_files --json
ok 'errors: exit status' ended 1
ok 'errors: each probe is tried, and each check says why' fields '.errors == 6 and ([.checks[]
	| select(.verdict == "error" and .reason == "Too many open files") | .module] | unique | length == 3)'
is 'errors: a line for each probe' "$(grep -c '^latscope: cannot validate [a-z]*: Too many open files$' "$dir/err")" 3
run_without_files
like 'errors: the result has them' "$(said)" 'ERR +first touches.*ERR +one process.*, 6 errors'
run iolat --dir /proc --replicates 1 --window 50ms
ok 'no file can be made there: error' ended 1
like 'no file can be made there: each part says so' "$(said)" \
	'ERR +direct reads[[:space:]]+cannot create a file in /proc: .*ERR +loads on and off.*ERR +overhead: direct reads'
run iolat --dir /dev --replicates 1 --window 50ms
ok 'no direct I/O is there: nothing can be told' ended 77
like 'no direct I/O is there: it is the directory' "$(said)" \
	'skip +loads on and off.*cannot validate iolat: no direct I/O to /dev: its file system is in memory; choose another disk with --dir or --disk'

# has_lines COUNT: validate runs, and has printed so many passed checks so far
has_lines() { [ "$(grep -c '  pass ' "$dir/out")" -ge "$1" ] && pgrep -P "$pid"; }

# interrupts COUNT ARG...: Ctrl-C for all processes, once so many checks have passed
interrupts() {
	setsid env --default-signal=INT "$latscope" validate "${@:2}" --replicates 100 >"$dir/out" 2>"$dir/err" &
	pid=$!
	until has_lines "$1" >/dev/null || gone "$pid"; do
		sleep .01
	done
	kill -INT -- -"$pid"
	wait "$pid"
	status=$?
	ended 1 && tap_match "$(<"$dir/err")" '^latscope: cannot validate [a-z]+: interrupted$'
}

if grep -q '^memlat:' "$dir/plain"; then
	ok 'Ctrl-C at its first process' interrupts 0
	ok 'Ctrl-C while a reference is made' interrupts 1
	ok 'Ctrl-C while loads go on and off' interrupts 9 memlat
	ok 'Ctrl-C without a probe' interrupts 0 --only overhead --window 10ms
	ok 'Ctrl-C: the result is printed' grep -q '^[0-9]* passed, ' <(interrupts 1 >/dev/null && cat "$dir/out")
else
	skip 'Ctrl-C' 'memlat cannot run here'
fi

# Each method is validated for what it measures; not all methods see the submitter of a request.
if grep -q '^iolat:' "$dir/plain"; then
	for method in '' stamps tp_btf; do
		run iolat --replicates 1 --window 50ms --json ${method:+--method "$method"}
		if [ "$status" = 77 ]; then
			skip "iolat ${method:-unasked}: the method" "$(head -n 1 "$dir/err")"
			continue
		fi
		ok "iolat ${method:-unasked}: reference, reaction and overhead are of the one method" fields '.checks[0].method as $method
			| ([.checks[].part] | unique == ["overhead", "reaction", "reference"])
			and ([.checks[] | select(.part == "reference") | .method][:6] + [.checks[] | select(.part != "reference") | .method]
				| unique == [$method]) and ("'"$method"'" | . == "" or . == $method)'
	done
	ok 'a method that sees the submitter has the checks of one process' \
		fields '[.checks[].check] | index("one process\u0027s direct reads")'
	run iolat --only reference --method stamps
	like 'one that does not says so' "$(said)" "skip +one process's reads[[:space:]]+stamps: cannot do --pid"
	run iolat --only reference
	like 'another method has another heading' "$(said)" $'^iolat: (tp_btf|stamps.*\niolat: tp_btf)\n'
else
	skip 'iolat: methods' 'it cannot run here'
fi

# fio is one of the references, if installed. program BODY: makes a fake fio, the only program in $dir/bin
program() { printf '#!/bin/sh\n%s\n' "$1" >"$dir/bin/fio" && chmod +x "$dir/bin/fio"; }
with_program() { PATH=$dir/bin run iolat --only reference; }

mkdir "$dir/bin"
if grep -q '^iolat:' "$dir/plain"; then
	run iolat --only reference --json
	ok 'fio: its reads and writes are held against iolat' \
		fields '[.checks[].check] | index("fio\u0027s reads") and index("fio\u0027s writes")'
	with_program
	like 'fio: not installed' "$(said)" 'skip +I/O by fio[[:space:]]+fio is not installed'
	program 'echo "fio: no such engine" >&2; exit 3'
	with_program
	ok 'fio: an error of its own is an error' ended 1
	like 'fio: says which' "$(said)" 'ERR +I/O by fio[[:space:]]+fio ended with status 3: fio: no such engine'
	program 'echo {}'
	with_program
	like 'fio: without figures' "$(said)" 'ERR +I/O by fio[[:space:]]+the result of fio is incomplete'
else
	skip 'fio' 'iolat cannot run here'
fi

# A disk is only read, by whatever name it is given.
if grep -q '^iolat:' "$dir/plain" && head -c 16M /dev/urandom >"$dir/image" && loop_new "$dir/image"; then
	sum=$(sha1sum <"$dir/image")
	ln -s "$loop" "$dir/disk"
	for disk in "$dir/disk" "/$loop" "$loop" "${loop#/dev/}"; do
		run iolat --only reaction --replicates 1 --window 50ms --disk "$disk"
		like "--disk ${disk#"$dir"}: no writes" "$(said)" 'skip +random writes: rate, idle to load.*--disk is never written to'
	done
	# fio is its only user.
	measure run iolat --only reference --disk "$loop" --json
	ok 'fio: as many reads, none longer, no longer in sum' fields '([.checks[].check] | index("fio\u0027s reads")) as $at
		| [.checks[$at:$at + 3][] | .check, .verdict] == ["fio\u0027s reads", "pass", "none longer than fio saw",
		"pass", "sum of total, by fio\u0027s clock", "pass"] and .checks[$at].got == "2,000"'
	calm
	ok 'fio: --disk is never written to' fields '[.checks[].check] | index("fio\u0027s writes") | not'
	latscope=$faults measure run iolat --only reference --disk "$loop" --break drop # fio has 3 s for its reads
	like 'fio: what is lost is found' "$(said)" "FAIL +fio's reads +2,000 +1,8"
	calm
	sync "$loop" "$dir/image"
	is 'a disk is as it was' "$(sha1sum <"$dir/image")" "$sum"
	is 'a disk is as it was, to those who read it' "$(sha1sum <"$loop")" "$sum"
else
	skip 'a disk is as it was' "${loop:-no loop disk, or iolat cannot run here}"
fi

# Page faults of other processes do not count.
if grep -q '^memlat:' "$dir/plain"; then
	"$latscope" load touch --tasks 4 -q -d 5m &
	until pgrep -P $! >/dev/null; do
		sleep .01
	done
	load=$!
	measure run memlat --only reaction --replicates 1 --window 100ms --json
	ok "others' page faults are left out" fields '.passed == 2 and (.checks[0].expected | test("^>= 1.5 x [0-9.]{1,5}/s$"))'
	calm
	kill $load
	wait $load
else
	skip "others' page faults are left out" 'memlat cannot run here'
fi

finds() {
	latscope=$faults run "$1" --only reference --break "$2"
	ended 3
}

# A check that passes without the fault must fail with it. A probe that cannot run here shows nothing.
for module in memlat runqlat iolat; do
	if ! grep -q "^$module:" "$dir/plain"; then
		skip "$module: faults" 'it cannot run here'
		continue
	fi
	for fault in drop leak double shift unit stale late; do
		measured "$module: $fault is found" finds "$module" "$fault" # a reference that fails is an error, and no verdict
	done
done

done_testing

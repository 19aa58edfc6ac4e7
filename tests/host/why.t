#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# why on this machine's own kernel and in its time: what it blames, whom its filters choose, and its output.
# tests/kernels/why-* have every culprit on others.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able
refuses 'a method that cannot explain' 77 'runqlat.*tp_btf.*cannot do --why' runqlat --why --method tp_btf -d 1s
check 'why: nothing was slow' 0 '' 'runqlat: no sample took at least 100 s' why -q --over 100s -d 300ms
check 'why: the other probe goes on' 0 'runqlat.*tp_btf.*cannot do --why' 'memlat: ' why --method tp_btf -d 1s

. tests/probes/why.sh

# has_parts: the JSON in $out has a probe runqlat whose slow time, pairs and slow events are sums of parts
has_parts() {
	jq -e '.probes[] | select(.module == "runqlat") | .why | .slow_ns == ([.parts_ns[]] | add) and .slow_ns == ([.names[].ns] | add) and
		(.pairs | length > 0) and (.slowest | length > 0 and all(.ns == ([.parts_ns[]] | add)))
		and (.conclusion | test("%"))' <<<"$out" >/dev/null || { printf '%s\n' "$out" && false; }
}
culprits=("$built/tests/reference/culprits" one "$why_cpu" 300)
check 'why: text has a conclusion, parts, pairs and the slowest' 0 '' \
	'runqlat: .*samples took at least.*(waited most: |For [0-9]+ % of the slow time).*where the slow time went.*victim +culprit.*slowest.*stack of [^ ]+ \([0-9]+\), which had the CPU' \
	why -q --over 10us -- "${culprits[@]}"
run why -q --json --over 10us -- "${culprits[@]}"
out=$(sed -n '/^{/,$p' <<<"$out")
ok 'why --json: all sums are the same' has_parts
check 'record --why: the recording has it' 0 '' 'runqlat.*slow time.*where the slow time went' \
	record -q --why --over 10us -o "$dir/runs" -- "${culprits[@]}"
check 'report begins with it, and prints it again' 0 '' 'Slow waits for a CPU: .*run_queue.*slow time.*where the slow time went.*slowest' report "$(recording "$dir/runs")"
run report --json "$(recording "$dir/runs")"
ok 'report --json: all sums are the same' has_parts
check 'by cgroup' 0 '' 'victim +culprit.*/' why -q --by cgroup --over 1us -- "${culprits[@]}"
check 'by thread' 0 '' 'hog1 \([0-9]+\)' why -q --by thread --over 10us -- "${culprits[@]}"

# choose ARG...: only waits that are chosen are explained; the culprit is not
choose() {
	rm -rf "$why_dir/runs"
	"$latscope" runqlat --why -q -o "$why_dir/runs" --over 10us "$@" >/dev/null || return
	db=$(echo "$why_dir"/runs/*/run.db)
	tap_same "$(query "SELECT DISTINCT victim_id FROM runqlat_why WHERE victim NOT LIKE 'victim (%'")" '' &&
		[ "$(query "SELECT sum(ns) FROM runqlat_why WHERE culprit LIKE 'hog1 (%'")" -gt 0 ]
}

# choose_by OPTION: the same for the victim of culprits, which runs meanwhile, and never on another CPU
choose_by() {
	local pid victim status

	"$built/tests/reference/culprits" one "$why_cpu" 60000 >/dev/null &
	pid=$!
	wait_for pgrep -P $pid -x victim && victim=$(pgrep -P $pid -x victim)
	[ "$1" != --cgroup ] || { echo "$victim" >"$cgroup/cgroup.procs" && victim=$cgroup; }
	choose -d 1s "$1" "$victim" && tap_same "$(query "SELECT sum(ns) FROM runqlat_why WHERE part = 'moved'")" ''
	status=$?
	kill $pid
	wait $pid
	return $status
}
ok '--comm chooses victims' choose --comm victim -- "${culprits[@]}"
ok '--pid chooses victims' choose_by --pid
ok '--tid chooses victims' choose_by --tid
if cgroup_new; then
	ok '--cgroup chooses victims' choose_by --cgroup
	rmdir "$cgroup"
else
	skip '--cgroup' 'no cgroup v2 can be made here'
fi

# A process is called first, then second, then it ends; many end in the window.
short_lives='
	spin() { for ((i = 0; i < 200000; i++)); do :; done; }
	taskset -cp $1 $BASHPID >/dev/null
	(spin; spin; spin) & (printf first >/proc/self/comm; spin; printf second >/proc/self/comm; spin) &
	for ((n = 0; n < 50; n++)); do /bin/true; done
	wait'
names_last() {
	rm -rf "$why_dir/runs"
	"$latscope" runqlat --why -q -i 100ms -o "$why_dir/runs" --over 10us -- bash -c "$short_lives" - "$why_cpu" >/dev/null || return
	db=$(echo "$why_dir"/runs/*/run.db)
	adds_up || return
	tap_same "$(query "SELECT DISTINCT victim FROM runqlat_why WHERE victim_id AND victim NOT GLOB '?* ([0-9]*)' UNION
		SELECT DISTINCT culprit FROM runqlat_why WHERE culprit_id AND culprit NOT GLOB '?* ([0-9]*)'")" '' || return
	[ "$(query "SELECT count(DISTINCT victim_id) FROM runqlat_why WHERE victim GLOB 'second (*' AND victim_id IN
		(SELECT victim_id FROM runqlat_why WHERE victim GLOB 'first (*')")" = 1 ] ||
		{ query "SELECT DISTINCT victim FROM runqlat_why" && false; }
}
measured 'processes that end or change their names have names' names_last
check 'a ring buffer too small says so' 0 '' 'found no room; see --events' \
	runqlat --why -q --events 1 --over 1us -- "$latscope" load pingpong -d 1s
check 'a threshold below the median is raised, and it says so' 0 'over 1 us: [0-9,]+/s samples; only those over .* are explained' 'at least 1.00 us to ' \
	runqlat --why -d 1s --over 1us -- "$latscope" load pingpong -d 1s
done_testing

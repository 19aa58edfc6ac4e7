#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# rmid on this machine's own kernel, some switches of which may be hidden: the accuracy of CPU times, what is lost, its memory, output
# and recordings. tests/kernels/rmid-* and compact-* have the methods on other kernels.
. "$(dirname "$0")/host.sh"
skip_unless rmid --method switches
wrong 'no such method' "--method 'ladder': unknown method" rmid --method ladder -d 1s
if [ ! -e /proc/latscope_rmid ]; then
	refuses 'without the kernel module: --method module is refused' 77 \
		"rmid cannot be measured by method module on this machine: not loaded; needs the kernel module: the package latscope-dkms or 'make modules' builds it, .*insmod" \
		rmid --method module -d 1s
	check 'without the kernel module: says what it does instead, and what to do' 0 \
		'^latscope: rmid: attributing by process instead of by RMID: module: not loaded; needs .*insmod[^[:cntrl:]]*$' \
		'rmid: .* rows.*pid  name .*method: switches: .*caches[[:space:]]+and[[:space:]]+memory[[:space:]]+traffic[[:space:]]+need[[:space:]]+the[[:space:]]+kernel' \
		rmid -d 20ms
fi

run rmid -d 10ms --counters cycles
if [ "$status" = 77 ]; then
	like 'an event that this machine has not' "$err" 'no perf event cycles: the machine has no such counter'
else
	skip 'an event that this machine has not' 'it counts cycles'
fi

check 'a table' 0 '' '  pid  name .*CPU ms .*method: switches: .* slots[[:space:]]+incomplete,.* records[[:space:]]+lost' \
	rmid -q -d 300ms --method switches
ok 'it fits' fits
# background ARG...: starts rmid as $pid; finish waits for its end
background() {
	rm -rf "$dir/rmid" "$dir/stdout" # or the one before would be waited for
	"$latscope" rmid -q --method switches "$@" >"$dir/stdout" 2>"$dir/stderr" &
	pid=$!
}
two_intervals() { [ "$(grep -c '^[0-9.]* s' "$dir/stdout")" -ge 2 ]; }
background -i 100ms
wait_for two_intervals
end_by INT
ok 'a table an interval, and one of all' \
	ended 0 '' $'^[0-9.]+ s[^\n]*\n.*  pid .*\n[0-9.]+ s[^\n]*\n.*  pid .*rmid: .*  pid '
ok 'they fit' fits
check '--top' 0 '' 'more process' rmid -q -d 300ms --top 1 --method switches
background -i 100ms --top 1
wait_for two_intervals
end_by INT
ok '--top: also of an interval' ended 0 '' $'^[0-9.]+ s[^\n]*\n +pid[^\n]*\n +[0-9]+ [^\n]*\n( +- [^\n]*\n)* +[0-9]+ more processes\n'

run rmid -q -d 200ms --csv --method switches
like 'CSV: what the columns are' "${out%%$'\n'*}" '^time_ns,process,pid,comm,cpu_ns,switches,incomplete,rmid$'
balance='NR > 1 && $1 > 1e6 && $1 < 199e6 { sum[$1] += $5 } END { for (t in sum) if (sum[t] != cpus * 1e6) { print t, sum[t]; bad = 1 }; exit bad }'
ok 'CSV: the rows of a slot add up to the time of all CPUs' awk -F, -v cpus="$(nproc --all)" "$balance" <<<"$out"
has_own_row() { jq -e '.probes[0].top_k | map(select(.comm == "latscope")) | length > 0' <<<"$out"; }
measure run rmid -q -d 200ms --json --method switches
ok 'JSON: the sums, also its own' has_own_row # unless it did not have a CPU, or the host hid that
calm
ok 'JSON: the columns' jq -e '.probes[0] | .module == "rmid" and .rows > 0
	and (.columns | map(.name) | index("cpu_ns"))' <<<"$out"

. tests/probes/rmid.sh
module=
[ ! -e /proc/latscope_rmid ] || module=yes
[ -z "$module" ] || duties module
duties switches
turns
reuse
calm

# adds_up TITLE TASKS ARG...: tests that rows, idle and lost add up to CPUs x window, while so many tasks want a CPU
adds_up() {
	local load=''

	if [ "$2" != 0 ]; then
		"$latscope" load hog -q --tasks "$2" -d 1h &
		load=$!
	fi
	observe "${@:3}"
	[ -z "$load" ] || { kill "$load" && wait "$load"; }
	ok "$1: rows, idle and lost add up to the time of all CPUs" wall
	ok "$1: so they do in every slot" whole_slots
}
for method in switches ${module:+module}; do
	adds_up "$method, no load" 0 --method "$method" -d 400ms
	adds_up "$method, half loaded" 1 --method "$method" -d 400ms
	adds_up "$method, overloaded, with intervals" 8 --method "$method" -d 400ms -i 70ms
	as=(taskset -c 0)
	adds_up "$method, overloaded, on one CPU" 8 --method "$method" -d 400ms
	as=()
	adds_up "$method, overloaded, a task begins and ends" 8 --method "$method" -- .output/tests/reference/storm 50 true
done
run rmid -q -d 300ms -i 70ms --json --method switches
ok 'JSON: the rows of all intervals add up to the time of all CPUs' jq -es --argjson cpus "$(nproc --all)" '
	([.[] | .probes[0].rows | arrays | .[].cpu_ns] | add) as $until |
	($until / $cpus / .[-1].duration_sec / 1e9) as $share | $share > 0.999999 and $share < 1.000001' <<<"$out"

# A process that existed before: a sleeper with a unique name, which works while the window is open.
cp "$(command -v bash)" "$dir/early-bird"
"$dir/early-bird" -c 'while [ ! -e "$0" ]; do read -rt .01 <> <(:); done' "$dir/done" 2>/dev/null &
early_ran() { rows "SELECT sum(cpu_ns) FROM rmid WHERE comm = 'early-bird'"; }
measure observe -d 300ms --method switches # it may not come to work within the window
touch "$dir/done"
wait
like 'a process that was there before is known' "$(early_ran)" '^[1-9]'
calm
is 'the rows are in the CSV, too' "$(($(wc -l <"$recording/rmid.csv") - 1))" "$(rows 'SELECT count(*) FROM rmid')"
as_printed=$out
refuses 'compare has nothing of it to compare' 1 'cannot compare rmid: it has a table, not latencies' \
	compare "$recording" "$recording"
check 'report prints the same' 0 '' 'rmid: .*  pid .*method: switches' report "$recording"
is 'to the letter' "$out" "$as_printed"
is 'report: the same CSV' "$("$latscope" report --csv -P rmid "$recording" | md5sum)" "$(md5sum <"$recording/rmid.csv")"

# More processes than the table can hold, and then one that works. No heavy process is missing, and the output has a bound
# for the others. What the libraries take differs with the machine's page cache, and what loading takes with the kernel's BTF:
# the most memory from the open window until the very end is compared with that of a window in which nothing happens.
anew='echo 5 >/proc/$PPID/clear_refs && exec "$@"'
rm -rf "$dir/rmid"
as=(.output/tests/reference/peak "$dir/peak")
observe --method switches -- sh -c "$anew" sh sleep .5
low=$(<"$dir/peak")
cp "$(command -v bash)" "$dir/latecomer"
rm -rf "$dir/rmid"
observe --method switches -- sh -c "$anew" sh \
	.output/tests/reference/storm 5000 "$dir/latecomer" -c 'while ((i++ < 100000)); do :; done'
as=()
ok 'a storm of forks is measured' ended 0 '' '  latecomer  .*  \(other\)  .*more processes.*\(other\): [0-9]+ processes .*method: '
ok 'it fits' fits
high=$(<"$dir/peak")
ok "a storm of forks: until the very end less than 6 MB more than of nothing ($low kB, then $high)" \
	test $((high - low)) -lt 6000
# missing: prints processes that had more than the stated bound, but have less in the output
missing() {
	jq -r '.others.most as $most | .top_k[] | select(.process > 0) | [.process, $most, .cpu_ns.mean * .cpu_ns.rows] | @tsv' \
		"$recording/rmid.summary.json" |
		awk -F'\t' 'NR == FNR { told[$1] += $3; most = $2; next }
			$2 > told[$1] + most + 1e3 { print $1, $2, told[$1] + 0, most }
			END { if (!most) print "nobody was told" }' - \
			<(rows 'SELECT process, sum(cpu_ns) FROM rmid WHERE process GROUP BY process' | tr '|' '\t')
}
is 'a storm of forks: nobody who had much is missing' "$(missing)" ''
is 'a storm of forks: all rows are told of' \
	"$(jq '([.top_k[].cpu_ns.rows] | add) + .others.cpu_ns.rows' "$recording/rmid.summary.json")" \
	"$(rows 'SELECT count(*) FROM rmid')"
as_printed=$out
run report "$recording"
like 'a storm of forks: report prints the same' "$out" 'latecomer'
is 'to the letter' "$(sed -n '/^rmid:/,$p' <<<"$out")" "$(sed -n '/^rmid:/,$p' <<<"$as_printed")"

# A perf event counts page faults, as it would count cycles on a machine with a PMU. If a host hides switches, slots may be
# incomplete.
count_faults() {
	local pid gaps least most faults

	observe --counters page-faults --method switches -- .output/tests/reference/touch 5000
	pid=$(sed -n 's/^pid=//p' <<<"$out")
	gaps=$(rows "SELECT sum(incomplete OR page_faults IS NULL) FROM rmid WHERE cpu_ns AND (pid = $pid OR comm = '(lost)')")
	least=$(sed -n 's/^minflt_loop=\([0-9]*\) .*/\1/p' <<<"$out") most=$(sed -n 's/^minflt_life=\([0-9]*\) .*/\1/p' <<<"$out")
	faults=$(rows "SELECT sum(page_faults) FROM rmid WHERE pid = $pid")
	echo "$gaps slots are incomplete or lost, $faults of $least to $most"
	[ "$gaps" = 0 ] && is_within "$least" "$faults" $((most + 50))
}
measured 'a perf event counts what a process did' count_faults
run rmid -q -d 100ms --counters page-faults --method switches
like 'the timer is judged' "$out" 'of[[:space:]]+ticks[[:space:]]+within[[:space:]]+100[[:space:]]+us'

# Ctrl-C ends it, and the recording is complete.
begun() { [ -e "$(recording "$dir/rmid")/run.db" ]; }
background -i 50ms -o "$dir/rmid"
wait_for begun
wait_for has_intervals "$(recording "$dir/rmid")" 5
own=$(sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")
ok "it takes less than 4 MB of its own ($own kB)" test "$own" -lt 4000
end_by INT
recording=$(recording "$dir/rmid")
ok 'Ctrl-C: the table is printed' ended 0 '' 'rmid: .*method: switches'
is 'Ctrl-C: the recording is complete' "$(rows "SELECT value FROM meta WHERE name = 'complete'")" 1
ok 'Ctrl-C: and adds up' wall

# stopped TASKS SWITCHES: runs rmid, and stops it while so many processes wake each other so often
stopped() {
	local load until

	"$latscope" load pingpong -q --tasks "$1" -d 1h &
	load=$!
	background --counters none -o "$dir/rmid"
	wait_for begun
	kill -STOP $pid
	until=$(($(switches) + $2))
	wait_for switched "$until"
	kill $load
	wait $load
	kill -CONT $pid
	end_by INT
	recording=$(recording "$dir/rmid")
}

switches() { sed -n 's/^ctxt //p' /proc/stat; }
switched() { [ "$(switches)" -ge "$1" ]; }

# Some hundred thousand switches make few records, because BPF adds them up first.
stopped 2 200000 2>/dev/null
like 'switches are added up: 200,000 of them fit into the kernel' "$out" ' 0[[:space:]]+records[[:space:]]+lost'
ok 'switches are added up: and nothing is missing' wall

# The ring buffer overflows. No process may appear to have run less, and no CPU to have been idle.
measure stopped 80 1000000
like 'lost records: are counted' "$out" ' [1-9][0-9]*[[:space:]]+records[[:space:]]+lost'
like 'lost records: their time is told' "$out" '\(lost\) +[0-9.]+'
calm
ok 'lost records: every slot has the time of every CPU' whole_slots
ok 'lost records: all slots have that of the window' wall
is 'lost records: their slots are marked' "$(rows "SELECT count(*) FROM rmid WHERE comm = '(lost)' AND NOT incomplete")" 0
is 'lost records: so is who else was there' "$(rows "SELECT count(*) FROM rmid WHERE NOT incomplete AND time_ns IN
	(SELECT time_ns FROM rmid WHERE comm = '(lost)')")" 0

# rmid in a recording with other probes.
rm -rf "$dir/rmid"
check 'record --rmid' 0 '' 'memlat.*runqlat.*iolat.*rmid: .*method: switches' \
	record -qv --rmid -d 300ms -o "$dir/rmid"
recording=$(recording "$dir/rmid")
ok 'record --rmid: the same window, and every slot adds up' whole_slots
is 'record --rmid: one file for all' "$(rows "SELECT count(*) FROM probe WHERE name IN ('rmid', 'runqlat')")" 2
run record -q --rmid -d 300ms -i 100ms -o "$dir/live"
ok 'record --rmid -i: lines for the other probes, a table for rmid' \
	ended 0 '' $'  time  probe .* s  iolat [^\n]*\n[0-9.]+ s\n +pid  name '
ok 'record --rmid -i: they fit' fits
is 'record --rmid -i: no line a millisecond' "$(grep -c ' cpu_ns ' <<<"$out")" 0
check 'report -I prints the same' 0 '' $'  time  probe .* s  iolat [^\n]*\n[0-9.]+ s\n +pid  name ' \
	report -I "$(recording "$dir/live")"
is 'report -I: no line a millisecond' "$(grep -c ' cpu_ns ' <<<"$out")" 0
check 'compare: of all but rmid' 0 '' 'rmid: not compared: it has a table,.*memlat ' \
	compare "$(recording "$dir/live")" "$(recording "$dir/live")"
check 'record --rmid with a filter: a warning says which probes it applies to' 0 '^latscope: rmid measures all processes: the filter is for the other probes' \
	'rmid: ' record -v --rmid --comm nobody -d 10ms -o "$dir/filtered"
check 'record without it has none' 0 '' 'runqlat' record -qv -d 100ms -o "$dir/without"
is 'record without it: no file' "$(find "$dir/without" -name 'rmid*')" ''
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# serve exports where the time of threads went: processes of which each does one known thing, in a cgroup of their own. A cgroup with
# one thread that sleeps is the clock: its time is exactly that between two readings, however late these are.
. "$(dirname "$0")/../cli/serve.sh"
skip_unless_able
cgroup_new || skip_all 'no cgroup can be made here'
mkdir "$cgroup"/{clock,busy,other}
name=/${cgroup##*/}

# in_cgroup NAME CMD...: starts it there, as $!
in_cgroup() {
	(echo "$BASHPID" >"$cgroup/$1/cgroup.procs" && exec "${@:2}") <&3 &
	servers+=($!)
}
mkfifo "$dir/never"
exec 3<>"$dir/never" # both ends, so that who reads waits for ever

in_cgroup clock sleep 1000
for _ in 1 2 3 4 5; do in_cgroup busy sleep 1000; done
for _ in 1 2 3; do in_cgroup busy cat; done
readers=("${servers[@]: -3}")
for _ in 1 2; do in_cgroup busy sh -c 'while :; do :; done'; done

# spent CGROUP [STATE]: ns in $dir/metrics, of all states if none is given
spent() {
	awk -v start="latscope_time_seconds_total{cgroup=\"$name/$1\",state=\"${2-}" 'index($0, start) == 1 { ns += $2 * 1e9 } END { printf "%.0f", ns }' \
		"$dir/metrics"
}
scrape() { get /metrics >"$dir/metrics" && cp "$dir/metrics" "$dir/$1"; }
# ticks SECONDS: they have passed for the clock since the scrape `before`; the scrape then is `after`
ticks() {
	scrape after && [ $(($(spent clock) - $(cp "$dir/before" "$dir/metrics" && spent clock))) -ge $(($1 * 1000000000)) ]
}
# gained CGROUP [STATE]: ns from the scrape `before` to that `after`
gained() {
	local first

	cp "$dir/before" "$dir/metrics" && first=$(spent "$@")
	cp "$dir/after" "$dir/metrics" && echo $(($(spent "$@") - first))
}
# threads CGROUP [STATE]: how many were in that state, times 1000
threads() { echo $((1000 * $(gained "$@") / $(gained clock))); }

serve_start
known() { scrape before && [ "$(spent clock timer)" -gt 0 ] && [ "$(spent busy)" -gt 0 ]; }
ok 'both cgroups are exported' wait_for known
ok 'promtool finds nothing' quiet promtool check metrics <"$dir/metrics"
ok 'it is a counter in seconds' has '# TYPE latscope_time_seconds_total counter'
ok 'its path is told' has "latscope_cgroup_info{cgroup=\"$name/busy\",path=\"$name/busy\"} 1"
ok 'time passes' wait_for ticks 3
within 'five sleep' 4950 "$(threads busy timer)" 5050
within 'three read a pipe' 2970 "$(threads busy socket)" 3030
within 'two have a CPU or wait for one' 1980 $(($(threads busy cpu) + $(threads busy ready))) 2020
within 'the states sum to the threads' 9950 "$(threads busy)" 10050
within 'the clock only sleeps' 990 "$(threads clock timer)" 1000
get /metrics -H 'Accept: application/openmetrics-text' >"$dir/open"
ok 'OpenMetrics has it, too' grep -q '^# TYPE latscope_time_seconds counter$' "$dir/open"
is 'each cgroup has every state' "$(grep -c "^latscope_time_seconds_total{cgroup=\"$name/clock\"" "$dir/metrics")" 14

# ---- threads end, others move, the cgroup goes ----

scrape before
before=$(spent busy socket)
moved=$(spent clock)
kill "${readers[@]}"
for pid in "${servers[@]:1:5}"; do echo "$pid" >"$cgroup/other/cgroup.procs"; done # those that sleep
quiet_now() { scrape before && wait_for ticks 1 && [ "$(gained busy socket)" = 0 ] && [ "$(gained busy timer)" = 0 ]; }
ok 'they are gone from the cgroup' wait_for quiet_now
ok 'what ended threads had stays' test "$(spent busy socket)" -ge "$before"
within 'those that moved go on in the other' 4950 "$(threads other timer)" 5050
within 'and bring nothing of their past' 1 "$(spent other)" $((5 * ($(spent clock) - moved)))
before=$(spent busy)
echo 1 >"$cgroup/busy/cgroup.kill"
eventually cgroup_gone "$cgroup/busy"
still() { scrape before && wait_for ticks 1 && [ "$(gained busy)" = 0 ]; }
ok 'time passes without it' wait_for still
ok 'its counters stay' test "$(spent busy)" -ge "$before"

# A service that starts again goes on counting.
mkdir "$cgroup/busy"
in_cgroup busy sleep 1000
again() { scrape after && [ "$(gained busy timer)" -gt 0 ]; }
ok 'one of the same name goes on' wait_for again

# ---- the flight recorder has the same ----

scrape before
snapshot_new --last 1h
scrape after
in_snapshot() { sqlite3 -readonly "$snapshot/run.db" "SELECT coalesce(sum($1), 0) FROM \"where\" WHERE cgroup = '$name/clock'"; }
# at SCRAPE CGROUP: ns of it then
at() { cp "$dir/$1" "$dir/metrics" && spent "$2"; }
within 'a snapshot has the time of the clock' $(($(at before clock) - 1000000)) "$(in_snapshot timer_ns)" $(($(at after clock) + 1000000))
is 'which only sleeps' "$(in_snapshot life_ns-timer_ns)" "$(in_snapshot cpu_ns+ready_ns)"
run report "$snapshot"
like 'report shows it' "$out" 'the machine: [0-9,]+ threads .*lived '
serve_ends_silently 'it ends'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# serve with many real cgroups: its memory and the size of a scrape with 1,000 of them; that its memory does not grow with the number of
# cgroups that ever existed, nor the flight recorder beyond its size. Under soak: 20,000 cgroups within 30 minutes.
. "$(dirname "$0")/../cli/serve.sh"
skip_unless_able
cgroup_new || skip_all 'no cgroup can be made here'

# paths FIRST LAST: sets $paths to those of these cgroups
paths() { mapfile -t paths < <(seq -f "$cgroup/%.0f" "$1" "$2"); }
# enter FIRST LAST: makes these cgroups, in each of which a process starts and waits for a CPU
enter() {
	local path paths started=()

	paths "$1" "$2"
	mkdir "${paths[@]}"
	for path in "${paths[@]}"; do
		(echo "$BASHPID" >"$path/cgroup.procs" && exec sleep .02) &
		started+=($!)
	done
	wait "${started[@]}"
}
# leave FIRST LAST: removes them
leave() {
	local paths

	paths "$1" "$2"
	rmdir "${paths[@]}"
}

resident() { awk '/^VmRSS:/ { printf "%d", $2 * 1024 }' "/proc/$server/status"; }
# both: prints the bytes of the service and of the process that gives its files back, which has most pages in common with it
both() {
	local pid

	for pid in "$server" $(pgrep -P "$server"); do
		cat "/proc/$pid/smaps_rollup"
	done | awk '/^Pss:/ { sum += $2 } END { printf "%d", sum * 1024 }'
}
# size OPTION...: bytes of a scrape as they are sent
size() { get /metrics -o /dev/null -w '%{size_download}' "$@"; }
protobuf='Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited'
# exported: prints how many of these have their own histogram
exported() { get /metrics | grep -c "^latscope_cgroup_runqlat_run_queue_seconds_count{cgroup=\"/${cgroup##*/}/"; }

# ---- 1,000 cgroups at a time ----

keys() { get /metrics | sed -n 's/^latscope_keys{probe="runqlat"} //p'; }
all_counted() { [ "$(keys)" -ge 990 ]; } # some were gone before their first wait was counted
serve_start --max-keys 4096
for ((i = 1; i <= 1000; i += 100)); do
	enter $i $((i + 99))
done
ok '1,000 cgroups are counted' wait_for all_counted
within 'resident memory with 1,000 cgroups' 1000000 "$(resident)" 40000000
within '100 of them are exported' 80 "$(exported)" 100 # the machine's own ones are among the 100
within 'a scrape in text' 100000 "$(size)" 1000000
echo "# resident: $(resident) bytes, both processes: $(both); a scrape in text: $(size), $(get /metrics -o /dev/null -w '%{time_total}') s"
serve_stop
leave 1 1000

# All exported: in text this is more than 1 MB for 1,000, so Prometheus asks for gzip.
many=300
[ -z "${LATSCOPE_SOAK-}" ] || many=1000
serve_start --max-keys 4096 --cgroups 1100
for ((i = 1; i <= many; i += 100)); do
	enter $i $((i + 99))
done
all_exported() { [ "$(exported)" -ge $((many - 10)) ]; }
ok 'all are exported' wait_for all_exported
within 'a scrape in gzip' 10000 "$(size -H 'Accept-Encoding: gzip')" $((1000 * many))
within 'a scrape in protobuf' 50000 "$(size -H "$protobuf")" $((1000 * many))
within 'a scrape in protobuf and gzip' 10000 "$(size -H "$protobuf" -H 'Accept-Encoding: gzip')" $((1000 * many))
echo "# resident: $(resident) bytes, both processes: $(both); text: $(size), $(get /metrics -o /dev/null -w '%{time_total}') s;" \
	"gzip: $(size -H 'Accept-Encoding: gzip'), protobuf: $(size -H "$protobuf"), both: $(size -H "$protobuf" -H 'Accept-Encoding: gzip')"
serve_stop
leave 1 $many

# ---- many that come and go ----

warm=1000 more=4000 pause=0
[ -z "${LATSCOPE_SOAK-}" ] || warm=2000 more=18000 pause=3.5 # s for 50 of them
# churn NUMBER: so many cgroups come and go
churn() {
	local i

	for ((i = 1; i <= $1; i += 50)); do
		enter $i $((i + 49))
		sleep $pause
		leave $i $((i + 49))
		[ "$(du -sb "$dir/ring" | cut -f 1)" -le $((16 << 20)) ] || echo "$i" >>"$dir/large"
	done
}
serve_start --max-keys 128
seen() { get /metrics | awk -v least="$1" '/^latscope_accounted_events_total.probe="runqlat".*term="seen"/ { ok = $2 > least } END { exit !ok }'; }
churn $warm
wait_for seen 1000 # a scrape needs memory, too
before=$(resident)
churn $more
ok 'they are measured' wait_for seen 3000
# A cgroup that is not forgotten costs a histogram, a path and a name: more than 1 KB.
echo "# resident: $before bytes after $warm of them, $(resident) after all"
within 'memory after them' 0 "$(resident)" $((before + 1000 * more))
ok 'the flight recorder never exceeds its size' test ! -e "$dir/large"
serve_ends_silently 'it ends'
done_testing

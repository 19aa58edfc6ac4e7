#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# Output formats: JSON parses, CSV is as documented, text fits a terminal; and report prints the same.
# shellcheck disable=SC2016 # jq's
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
skip_unless_able

# json TITLE FILTER: tests $out, as an array of its JSON values
json() { ok "$1" jq -es "$2" <<<"$out"; }

start --json -i 50ms
wait_for has_intervals "$(recording "$dir/runs")" 5
kill -INT "$pid"
finish
json '-i --json is NDJSON: intervals, then the whole' 'length >= 3
	and all(.[:-1][]; keys == ["end_sec", "pressure", "probes", "schema", "start_sec"])
	and (.[-1] | has("start_utc") and .complete)'
is '-i --json: an object a line' "$(wc -l <<<"$out")" "$(jq -s length <<<"$out")"
json '-i --json: one interval follows the other' '.[-1].duration_sec == .[-2].end_sec
	and ([.[:-1][] | .start_sec] == [0] + [.[:-2][] | .end_sec])'
json '-i --json: the whole is the sum of the intervals' '[.[:-1][].probes[] | .metrics[0].total_events] as $parts
	| [.[-1].probes[].total_events] as $whole | ($parts | add) == ($whole | add)'
json 'iolat: how far the kernel was off is a mean, with its unit' 'all(.[-1].probes[] | select(.module == "iolat").mechanism.text;
	(test("own (issue|start) stamps") | not)
	or test("; own (issue|start) stamps: [0-9,]+, the kernel.s off by [0-9.]+ (n|u|m)?s on average"))'
json 'cost: the share of a CPU is of the whole window' '.[-1] | .duration_sec as $sec | all(.probes[];
	.accounting.seen as $seen | .mechanism.cost | . == null or .ns_per_event == null
	or (.cpu_share - .ns_per_event * $seen / $sec / 1e9 | fabs) <= 2e-6 + .cpu_share * 1e-2)'
whole=$(tail -n 1 <<<"$out")
recorded=$(recording "$dir/runs")
run report --json "$recorded"
is 'report --json is the same as record --json, and the time line' \
	"$(jq -S 'del(.timeline, .correlation, .contributors, .pressure)' <<<"$out")" "$(jq -S . <<<"$whole")"
ok 'the time line has every interval' jq -e "(.timeline.intervals | length) == $(intervals "$recorded")" <<<"$out"
json 'report --json is one object' 'length == 1 and .[0].schema == 3'
thresholds='[.probes[] | {(.module): .tail_threshold_us}] | add | tojson'
is 'each probe has a threshold of its own' "$(jq -r "$thresholds" <<<"$out")" '{"memlat":8,"runqlat":8,"iolat":1024}'
run record -q --json -d 50ms --tail-us 64,iolat=4000,runqlat=100 -o "$dir/tails"
is 'and may be given one' "$(jq -r "$thresholds" <<<"$out")" '{"memlat":64,"runqlat":100,"iolat":4000}'
run report --json "$(recording "$dir/tails")"
is 'which is kept' "$(jq -r "$thresholds" <<<"$out")" '{"memlat":64,"runqlat":100,"iolat":4000}'
run compare --json -P runqlat "$(recording "$dir/tails")" "$recorded"
is 'compare counts the tails from the same threshold' "$(jq -c '[.comparisons[].tail_threshold_us] | unique' <<<"$out")" '[100]'
run report --json -P runqlat "$recorded"
json 'report --json -P: of one probe' '[.[].probes[].module] == ["runqlat"]'
run report --intervals --json "$recorded"
json 'report --intervals --json' 'length >= 2 and all(.[]; has("end_sec") and (.probes | length) == 3)'
check 'report --intervals' 0 '' '^ +time  probe +events/s .*memlat .*runqlat .*iolat ' report --intervals "$recorded"
ok 'it fits' fits
check 'report --intervals -P' 0 '' '^ +time  probe' report -I -P runqlat "$recorded"
ok 'it has a line an interval of this probe and of no other' test \
	"$(tail -n +2 <<<"$out" | awk '{ print $3 }' | uniq)" = runqlat

run runqlat --json -d 50ms
ok '--json: one object and nothing else' ended 0 '' '^\{.*\}$'
json '--json: of one probe' 'length == 1 and [.[0].probes[].module] == ["runqlat"]
	and .[0].probes[0].accounting.balanced'

csv='^bucket,lo_us,hi_us,count(.[0-9]+,[0-9]+,([0-9]+|inf),[0-9]+)+$'
for module in memlat runqlat iolat; do
	dd if=/dev/zero of="$dir/io" bs=4k count=4 conv=fsync status=none &
	check "$module --csv" 0 '' "${csv/)+/)*}" $module --csv -d 100ms -i 20ms
	wait $!
done

by=process,thread,cgroup,disk,op,mode,type
run record -v --top 3 --by $by --label name=twice --label k=v -o "$dir/text" -- \
	sh -c 'dd if=/dev/zero of="$0" bs=4k count=8 conv=fsync status=none; exit 3' "$dir/io"
recorded=$(recording "$dir/text")
text=$out
like 'text: the workload, the labels' "$text" '^workload: sh -c .*exit status 3.*labels: name=twice, k=v'
like 'text: every split' "$text" 'process  .*mode  .*thread  .*disk  .*op  '
ok 'text fits' fits
like 'on stderr: the workload, where the recording is' "$err" \
	$'^latscope: workload: exited with status 3\nrecording in [^[:cntrl:]]*-twice$'
check 'report -v prints the same again' 0 '' . report -v --top 3 "$recorded"
is 'to the letter, with the time line after it' "${out%$'\n\n'time line: *}" "$text"
check 'report of run.db itself too' 0 '' . report -v --top 3 "$recorded/run.db"
is 'to the letter again' "${out%$'\n\n'time line: *}" "$text"
check 'report -P of one probe' 0 '' '^workload: .*iolat device:' report -P iolat "$recorded"
ok 'of this one only' test -z "$(grep -E '^(memlat|runqlat)' <<<"$out")"
for module in memlat runqlat iolat; do
	run report --csv -P $module "$recorded"
	is "report --csv -P $module is $module.csv" "$out" "$(<"$recorded/$module.csv")"
	like "$module.csv" "$out" "$csv"
done
ok 'CSV of the splits' grep -qx 'key,events,mean_us,p50_us,p99_us,p999_us,max_us,tail_events,sum_us' \
	"$recorded/runqlat-by-thread.csv"
ok 'the summaries are JSON' jq -es 'length == 3' "$recorded"/*.summary.json

# report of files that are no recording, or are damaged.
refuses 'report of a probe that is not in it' 1 'nosuch: no such probe in this recording; choose from memlat, runqlat, iolat' \
	report -P nosuch "$recorded"
refuses 'report of nothing' 1 'there is no recording; give the directory of a recording, or its run.db' \
	report "$dir/nosuch"
mkdir "$dir/empty"
refuses 'report of a directory without one' 1 'there is no recording; give the directory' report "$dir/empty"
refuses 'report of the directory above' 1 'directory of 1 recording; choose one, such as: latscope report' report "$dir/text"

# not_ours TITLE REASON COMMAND...: after COMMAND on a copy of run.db, report refuses it for REASON
remedy='; give the directory of a recording, or its run.db'
not_ours() {
	cp "$recorded/run.db" "$dir/empty/run.db"
	"${@:3}" >/dev/null
	refuses "report of $1" 1 "empty: $2$remedy\$" report "$dir/empty"
}
copy=$dir/empty/run.db
not_ours 'a text file' 'this is not a recording of latscope' cp "$0" "$copy"
not_ours 'a database of others' 'this is not a recording of latscope' sqlite3 "$copy" 'PRAGMA application_id=1'
remedy='; use that version to read it' not_ours 'a newer recording' 'this recording was made by another version of latscope' \
	sqlite3 "$copy" 'PRAGMA user_version=4'
remedy='' not_ours 'one that is cut short' 'this recording is damaged' truncate -s 20000 "$copy"
not_ours 'an empty one' 'this is not a recording of latscope' truncate -s 0 "$copy"
remedy='' not_ours 'one with rubbish in it' 'this recording is damaged' \
	dd if=<(yes rubbish) of="$copy" bs=4096 seek=1 count=8 iflag=fullblock conv=notrunc status=none
remedy='' not_ours 'one with figures that do not fit' 'this recording is damaged' \
	sqlite3 "$copy" 'UPDATE slots SET count = count + 1'
remedy='' not_ours 'one that lacks a table' 'this recording is damaged' sqlite3 "$copy" 'DROP TABLE sums'
rm "$copy"
mkdir "$copy"
refuses 'report of a run.db that is a directory' 1 'empty: .*; give the directory of a recording' report "$dir/empty"
done_testing

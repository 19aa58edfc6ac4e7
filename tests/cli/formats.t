#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Output formats: JSON parses, CSV is as documented, text fits a terminal; and report prints what record printed and kept.
. "$(dirname "$0")/cli.sh"
stored json
stored mixed

# json TITLE FILTER: tests $out, as an array of its JSON values
json() { ok "$1" jq -es "$2" <<<"$out"; }

out=$(<"$dir/json/stdout")
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
whole=$(tail -n 1 <<<"$out") parts=$(head -n -1 <<<"$out")
run report --json "$dir/json"
is 'report --json is the same as record --json, and the time line' \
	"$(jq -S 'del(.timeline, .correlation, .contributors, .pressure)' <<<"$out")" "$(jq -S . <<<"$whole")"
ok 'the time line has every interval' jq -e "(.timeline.intervals | length) == $(intervals "$dir/json")" <<<"$out"
json 'report --json is one object' 'length == 1 and .[0].schema == 3'
thresholds='[.probes[] | {(.module): .tail_threshold_us}] | add | tojson'
is 'each probe has a threshold of its own' "$(jq -r "$thresholds" <<<"$out")" '{"memlat":8,"runqlat":8,"iolat":1024}'
run report --json "$dir/mixed"
is 'and one that it was given' "$(jq -r "$thresholds" <<<"$out")" '{"memlat":64,"runqlat":100,"iolat":4000}'
run compare --json -P runqlat "$dir/mixed" "$dir/json"
is 'compare counts the tails from the same threshold' "$(jq -c '[.comparisons[].tail_threshold_us] | unique' <<<"$out")" '[100]'
run report --json -P runqlat "$dir/json"
json 'report --json -P: of one probe' '[.[].probes[].module] == ["runqlat"]'
run report --intervals --json "$dir/json"
json 'report --intervals --json' 'length >= 2 and all(.[]; has("end_sec") and (.probes | length) == 3)'
is 'it is what record --json -i printed' "$out" "$parts"
check 'report --intervals' 0 '' '^ +time  probe +events/s .*memlat .*runqlat .*iolat ' report --intervals "$dir/json"
ok 'it fits' fits
check 'report --intervals -P' 0 '' '^ +time  probe' report -I -P runqlat "$dir/json"
ok 'it has a line an interval of this probe and of no other' test \
	"$(tail -n +2 <<<"$out" | awk '{ print $3 }' | uniq)" = runqlat

# Its last table, of waits as shares of the life of processes, is no longer printed: the account of where has replaced it.
text=$(<"$dir/mixed/stdout") text=${text%$'\n\nWaits of each process'*}
like 'text: the workload, the labels' "$text" '^workload: sh script: exit status 3.*labels: name=twice, k=v'
like 'text: every split' "$text" 'process  .*mode  .*thread  .*disk  .*op  '
out=$text
ok 'text fits' fits
# lines TEXT: its lines, in no order: the recording is of a version that printed the histogram first
lines() { grep . <<<"$1" | sort; }
check 'report -v prints the same' 0 '' . report -v --top 3 "$dir/mixed"
is 'to the letter, with the time line after it' "$(lines "${out%$'\n\n'time line: *}")" "$(lines "$text")"
first=$out
check 'report of run.db itself too' 0 '' . report -v --top 3 "$dir/mixed/run.db"
is 'to the letter as well' "$out" "$first"
check 'report -P of one probe' 0 '' '^workload: .*iolat device:' report -P iolat "$dir/mixed"
ok 'of this one only' test -z "$(grep -E '^(memlat|runqlat)' <<<"$out")"
csv='^bucket,lo_us,hi_us,count(.[0-9]+,[0-9]+,([0-9]+|inf),[0-9]+)+$'
for module in memlat runqlat iolat; do
	run report --csv -P $module "$dir/mixed"
	is "report --csv -P $module is $module.csv" "$out" "$(<"$dir/mixed/$module.csv")"
	like "$module.csv" "$out" "$csv"
done
ok 'CSV of the splits' grep -qx 'key,events,mean_us,p50_us,p99_us,p999_us,max_us,tail_events,sum_us' \
	"$dir/mixed/runqlat-by-thread.csv"
ok 'the summaries are JSON' jq -es 'length == 3' "$dir"/mixed/*.summary.json
done_testing

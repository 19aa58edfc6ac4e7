#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# compare of recordings of known loads: its output in every format, and its exit status.
. "$(dirname "$0")/cli.sh"

wrong 'nothing to compare' 'missing argument; give two groups of recordings' compare
wrong 'one side only' 'missing argument; give two groups of recordings' compare a
wrong 'three sides' "unexpected argument 'c'" compare a b c
wrong 'an unknown figure' "--metric 'p98': unknown statistic; choose from tail, p50, " compare --metric p98 a b
wrong 'a confidence of nothing' '--confidence 0: use 50 to 99.999 percent' compare --confidence 0 a b
wrong 'a confidence of letters' "--confidence 'high': invalid percentage" compare --confidence high a b
wrong 'a negative effect' "--min-effect '-5%': invalid percentage" compare --min-effect -5% a b
wrong 'an effect in points' "--min-effect '5pp': invalid percentage" compare --min-effect 5pp a b
wrong 'a spread of letters' "--run-spread 'wide': invalid percentage" compare --run-spread wide a b
wrong 'an unknown verdict' "--fail-on 'better': unknown verdict; use 'worse'" compare --fail-on better a b
wrong 'no tail' '--tail-us 0: use a number from 1' compare --tail-us 0 a b
refuses 'no recording' 1 "$dir/a: there is no recording; give a recording" compare "$dir/a" "$dir/b"
refuses 'a directory without recordings' 1 "$dir: there is no recording" compare "$dir" "$dir"
refuses 'a file that is none' 1 '/etc/passwd: this is not a recording' compare /etc/passwd /etc/passwd

stored groups
groups=$dir/groups
off=$groups/off on=$groups/on many_off=$groups/many/off many_on=$groups/many/on

# valid_json: $out is JSON with a verdict for each judged figure
valid_json() {
	jq -e '(.comparisons | length > 0) and ([.comparisons[].statistics[]
		| select(.tested) | .verdict | IN("worse", "better", "more", "fewer", "no difference shown")] | all)' \
		<<<"$out" >/dev/null
}

# value JQ: prints a value of the last JSON
value() { jq -r "$1" <<<"$out"; }

# agrees: the figures of the JSON agree with each other, and the counts of verdicts with the verdicts
agrees() {
	jq -e 'def near($a; $b; $of): ($a - $b | fabs) <= 1e-5 * $of;
		[.comparisons[].statistics[] | select(.verdict != null) | .verdict] as $verdicts
		| ([.comparisons[].statistics[] | select(.tested and .off > 0 and .statistic != "tail")
			| near(.difference; .on - .off; .on + .off), .ratio_low < .ratio, .ratio < .ratio_high, .p <= .p_adjusted,
				near(.relative; .ratio - 1; .ratio + 1), (.on > .off) == (.ratio > 1)] | length > 0 and all)
		and ([.verdicts | to_entries[] | (.key | gsub("_"; " ")) as $word
			| .value == ($verdicts | map(select(. == $word)) | length)] | all)' <<<"$out"
}

# as_csv: prints the figures of the JSON as CSV has them
as_csv() {
	jq -r '.comparisons[] | . as $row | .statistics[]
		| [$row.probe, $row.metric, .statistic, (.off, .on, .ratio, .ratio_low, .ratio_high, .p, .p_adjusted
			| if . == null then "" else . end), .verdict] | @tsv' <<<"$out"
}

# of_csv: prints the same of the last CSV
of_csv() { tail -n +2 <<<"$out" | grep -v ',bucket [0-9]' | awk -F, -v OFS='\t' '{ print $1, $2, $5, $6, $7, $8, $9, $10, $11, $12, $13 }'; }

# rounded: rounds numbers to 4 digits
rounded() { awk -F'\t' '{ for (i = 4; i <= 10; i++) if ($i != "") $i = sprintf("%.3e", $i); print }'; }

# OFF is idle, ON has a load, with the default interval of a duration of a second. No task of OFF has the name of the
# load, so none of its up to 60 intervals has an event, and that is an observation.
idle=$groups/idle busy=$groups/busy
for side in "$idle" "$busy"; do
	run report "$side"
	ok "a second is enough for report: ${side##*/}" test "${out#*too few intervals}" = "$out"
done
run compare "$idle" "$busy"
ok 'a second is enough for compare' test "${out#*too few intervals}" = "$out"
ok 'idle against busy fits a terminal' fits
like 'idle is a rate of 0' "$out" $'runqlat [^\n]*\n[^\n]*verdict\n[^\n]*\nrate +0/s [^\n]* more\n'
like 'a latency of no events is none, for that reason' "$out" \
	'tail, p50, p90, p99, p99.9, p99.99, mean: cannot tell: no events on[[:space:]]+OFF'
run compare --json -P runqlat "$idle" "$busy"
is 'more is not worse' "$(value '[.verdicts.worse, .verdicts.more > 0] | @csv')" '0,true'
run compare --fail-on worse -P runqlat --metric rate "$idle" "$busy"
is '--fail-on worse does not fail because there is more' "$status" 0

# Ping-pong waits some us for a CPU; CPU hogs that outnumber the CPUs wait for ms.
like '--help has the default that is used' "$("$latscope" compare --help)" 'run to run[[:space:]]+\(100\)'
check 'one against one' 0 '' "^WORSE: wait for a CPU, .*OFF: 1 recording, .* from [0-9]+ and [0-9]+[[:space:]]intervals.*run_queue.*worse \(" \
	compare -v --run-spread 25 "$off" "$on"
ok 'it fits a terminal' fits
like 'the share is the first line of the table' "$out" $'verdict\ntail +[^\n]*%[^\n]*\nrate '
check 'hogs are worse, and --fail-on says so' 3 '' '[1-9] worse' compare --run-spread 25 --fail-on worse "$off" "$on"
check 'the other way round they are better' 0 '' '0 worse; [1-9]' compare --run-spread 25 --fail-on worse "$on" "$off"
check 'one run a side says how little it can tell' 0 '' \
	'100 % is[[:space:]]assumed[[:space:]].*by a[[:space:]]factor[[:space:]]of[[:space:]]10[[:space:]]' compare -v "$off" "$on"
check 'a recording with itself' 0 '' 'are the same recording.*0 worse; 0 better' \
	compare --fail-on worse "$off" "$off/run.db"

check 'five against five' 0 '' 'An observation is a run: 5 against 5.*tail [^
]*worse' compare -v "$many_off" "$many_on"
ok 'it fits a terminal, too' fits
check 'the first line is the answer, and the method is for -v' 0 '' '^WORSE: wait for a CPU, [^
]* x[0-9.]+ \[.*[(]5[[:space:]]+runs[[:space:]]+against 5\)' compare "$many_off" "$many_on"
ok 'it fits a terminal, too' fits
is 'no word of the method' "$(grep -c 'Holm\|Wilson\|^OFF: ' <<<"$out")" 0
first=$out
run compare "$many_off" "$many_on"
is 'twice the same' "$out" "$first"
# At 95 % it would correctly fail in one of twenty runs.
check 'five against five of the same' 0 '' '0 worse; 0 better' \
	compare --confidence 99.9 --fail-on worse "$many_off" "$groups/many/same"
check 'one figure' 0 '' 'for 1 test .*p50 [^
]*not tested' compare -v --metric mean "$many_off" "$many_on"
check 'an effect that nothing has' 0 '' 'ratios up to 1e\+05 .*0 worse; 0 better' \
	compare -v --fail-on worse --min-effect 9999900% "$many_off" "$many_on"
if [ "$(id -u)" = 0 ]; then
	chmod -R a+rX "$groups" && chmod 700 "$many_on/20260101T000003Z"
	unprivileged refuses 'one of several that may not be read' 1 "/20260101T000003Z: Permission denied; run compare as a user" \
		compare "$many_off" "$many_on"
else
	skip 'one of several that may not be read' 'only root can make what a user cannot read'
fi
run compare --json "$many_off" "$many_on"
ok '--json is JSON' valid_json
ok '--json agrees with itself' agrees
json=$(as_csv | rounded)
buckets=$(value '.comparisons[0] | [.off.log2_counts, .on.log2_counts] | [.[0] + [range(40) | 0], .[1] + [range(40) | 0]] | transpose
	| to_entries[] | select(.value[0] > 0 or .value[1] > 0) | "\(.key) \(.value[0] // 0) \(.value[1] // 0)"')
is '--json has each event in a bucket' "$(value '[.comparisons[0] | .off, .on | (.log2_counts | add) == .events] | all')" true
is '--json says what an observation is' "$(value .observation)" run
is '--json has the worse tail, its interval above 1' \
	"$(value '.comparisons[0].statistics[0] | [.statistic, .verdict, .ratio_low > 1] | @csv')" '"tail","worse",true'
run compare --json --by process --top 3 "$off" "$on"
ok '--json with keys is JSON' valid_json
is '--by process compares names, not numbers' \
	"$(value '[.comparisons[] | select(.key == "load")] | length')" 1
# Recordings of each directory, as the patterns of docs/experiments.md give: the same as the two directories.
run compare --json "$many_off" "$many_on"
as_directories=$(jq -S 'del(.. | .path?)' <<<"$out")
documented=$(sed -nE 's/.*latscope compare (off[^`]*)`.*/\1/p' docs/experiments.md)
# expand PATTERN: what the shell makes of the command line of the page, in a directory with these recordings
expand() { (cd "$groups/many" && eval "printf '%s\n' $1"); }
mapfile -t expanded < <(expand "$documented")
is 'the patterns of docs/experiments.md have five recordings each' "${#expanded[@]}" 10
run compare --json "${expanded[@]/#/$groups/many/}"
is '... which are compared as their directories are' "$(jq -S 'del(.. | .path?)' <<<"$out")" "$as_directories"
is '... and are of their own groups' "$(jq -r '[(.off, .on)[].path | split("/")[-2]] | join(" ")' <<<"$out")" \
	'off off off off off on on on on on'
check 'as many as there are of each: three and five' 0 '' 'OFF: 3 recordings,.*ON: 5 recordings,' \
	compare -v "$many_off"/*[123]Z "$many_on"/*Z
check '... and one of one, and all of the other' 0 '' 'OFF: 1 recording,.*ON: 5 recordings,' compare -v "$many_off"/*1Z "$many_on"/*Z
wrong '... of one directory' "unexpected argument '.*3Z'; more than two are of two directories" compare "$many_off"/*[123]Z
wrong '... of three directories' "unexpected argument '.*same/.*1Z'; of more than two, give first those of one directory" \
	compare "$many_off"/*1Z "$many_on"/*1Z "$groups/many/same"/*1Z
wrong '... mixed' "unexpected argument '.*off/.*2Z'; of more than two, give first those of one directory" \
	compare "$many_off"/*1Z "$many_on"/*1Z "$many_off"/*2Z
wrong '... one of them twice' "'.*off/.*1Z' is named twice" compare "$many_off"/*1Z "$many_off/"/*1Z "$many_on"/*1Z
refuses '... a pattern that matches nothing' 1 'on/3\*: there is no recording' compare "$many_off"/*Z "$many_on/3*"
run compare --csv "$many_off" "$many_on"
is '--csv has a line a figure' "$(grep -vc ',bucket [0-9]' <<<"$out")" 10
is '--csv has the distributions of --json' "$(awk -F, '/,bucket / { print substr($5, 8), $6, $7 }' <<<"$out")" "$buckets"
is '--csv has the figures of --json' "$(of_csv | rounded)" "$json"
like '--csv has the tail first' "$out" $'\nrunqlat,run_queue,,,tail,'
check '--tail-us counts anew' 0 '' 'tail: 1.024 ms or more' compare --tail-us 1024 "$many_off" "$many_on"
refuses '--tail-us within a slot' 1 'is not the edge of a histogram slot' compare --tail-us 1025 "$many_off" "$many_on"
refuses 'a probe that is not there' 1 'iolat: no such probe in these recordings' compare -P iolat "$off" "$on"

cp -r "$off" "$groups/raw"
sqlite3 "$groups/raw/run.db" "UPDATE probe SET method = 'raw_tp'"
check 'another method of the same metric' 0 '' 'warning: runqlat: method [a-z_]+ on OFF, but raw_tp on ON: the methods may[[:space:]]+explain' \
	compare "$off" "$groups/raw"
sqlite3 "$on/run.db" "UPDATE meta SET value = 'pid 1' WHERE name = 'filter';
	INSERT OR IGNORE INTO meta VALUES ('filter', 'pid 1')"
check 'another filter' 0 '' 'warning: the filters differ: .* but pid 1 on ON' compare "$off" "$on"
sqlite3 "$on/run.db" 'PRAGMA user_version = 99'
refuses 'a newer recording' 1 'made by another version of latscope; use that version to compare them' \
	compare "$off" "$on"
truncate -s 20000 "$on/run.db"
refuses 'a damaged recording' 1 'this recording is damaged' compare "$off" "$on"

done_testing

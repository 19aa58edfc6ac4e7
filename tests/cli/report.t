#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report across probes: whether two are slow at the same time, and which processes cause the slow events; and what it says of
# recordings that it cannot read, or that have no end. The recordings are those of known waits for a CPU and known I/O.
. "$(dirname "$0")/cli.sh"

wrong 'a confidence of nothing' '--confidence 0: use 50 to 99.999 percent' report --confidence 0 a
wrong 'nothing is slow' '--slow-us 0: use a number from 1' report --slow-us 0 a
stored waits
together=$dir/waits/together apart=$dir/waits/apart
hog='waits (8428)' # which is disturbed; it does no I/O

# pair PROBE PROBE: prints their pair in the last JSON
pair() {
	jq -c --argjson probes "[\"$1\",\"$2\"]" '.correlation.pairs[] | select(.probes == $probes)' <<<"$out"
}

# The slowest 1 % are few in so short a time: slow is here what neither has if it is left alone. The second pair has all four
# combinations about equally often.
is_together() { jq -e '.verdict == "positive correlation" and .rho_low > 0' <<<"$(pair runqlat iolat)"; }
is_apart() { jq -e '.rho < 0.4 and .rho > -0.4' <<<"$(pair runqlat iolat)"; }

check 'both at the same time: it says so' 0 '' \
	$'runqlat and iolat: positive correlation: \\+.*\n    both are in their worst quarter in [0-9]+ of [0-9]+' \
	report --slow-us 200 "$together"
ok 'it fits a terminal' fits
like 'a line is several intervals' "$out" 'time line: [2-9] intervals of 50 ms per line \(--all-intervals'
like 'intervals are marked' "$out" $'\n\\* +[0-9]'
run report --slow-us 200 --json "$together"
ok '--json: so it does' is_together
is '--json: whose the slow waits are' \
	"$(jq -r '.contributors[] | select(.probe == "runqlat" and .by == "process") | .name' <<<"$out" | head -n 1)" "$hog"
ok '--json: it has most of them, also in the intervals marked' \
	jq -e '[.contributors[] | select(.probe == "runqlat")][0] | .share_of_slow > 0.5 and .share_of_slow_correlated > 0.5' \
	<<<"$out"
# agrees: the numbers of the last JSON agree with each other. The p99 of all is at most the largest p99 of the parts.
agrees() {
	jq -e '. as $all | (.probes[] | select(.module == "runqlat").metrics[0].percentiles.p99_us) as $p99
		| def cells: [$all.timeline.intervals[].probes[] | select(.probe == "runqlat" and .events > 0)];
		def slow($of): [$all.timeline.probes[] | select(.probe == $of)][0].slow_events;
		([$all.correlation.pairs[] | select(.rho != null) | .rho_low <= .rho, .rho <= .rho_high, .p <= .p_adjusted] | all)
		and (cells | map(.p99_us) | max) >= 0.9 * $p99
		and (cells | map(.p99_us <= .max_us * 1.01, .slow_events <= .events) | all)
		and (cells | map(.slow_events) | add) == slow("runqlat")
		and ([$all.contributors[] | .slow_events <= .events,
			(.share_of_slow * slow(.probe) - .slow_events | fabs) < 1e-3 * .events] | length > 0 and all)' <<<"$out"
}
ok '--json agrees with itself' agrees
check 'its intervals' 0 '' 'time line: 1 interval of 50 ms per line' report --all-intervals "$together"
ok 'they fit a terminal, too' fits
lines() { sed -n "$1" <<<"$out" | grep -cE '^[* ] +[0-9]+\.[0-9]{3}  '; }
is 'each has a line' "$(lines '/^time line/,/^Correlation/p')" "$(intervals "$together")"
is 'and one of the pressure' "$(lines '/^Pressure/,$p')" "$(intervals "$together")"

check 'at times of their own: it says nothing of the kind' 0 '' 'runqlat and iolat: no correlation shown' \
	report --slow-us 200 --confidence 99.9 "$apart"
run report --slow-us 200 --json "$apart"
ok '--json: the correlation is small' is_apart

# The share nearest to 1 %, among those that begin with a slot.
nearest() {
	sqlite3 -readonly "$together/run.db" <<-END
		$(sed '/^SELECT/,$d' tests/probes/facts.sql)
		WITH tails AS (SELECT 1.0 * sum(count) OVER (ORDER BY slot DESC) / sum(count) OVER () AS share
			FROM hists WHERE name = 'iolat')
		SELECT share FROM tails ORDER BY max(share / 0.01, 0.01 / share) LIMIT 1;
	END
}
run report --json "$together"
ok 'without a threshold it is the slowest 1 %, as near as slots allow' jq -e "[.timeline.probes[] |
	select(.probe == \"iolat\")][0] | .slow_share / $(nearest) - 1 | fabs < 1e-3" <<<"$out"
check 'a threshold' 0 '' 'slow: >= 5.12 ms .*slow: >= 5.12 ms' report --slow-us 5200 "$together"
check 'one probe has no time line' 0 '' 'runqlat run_queue' report -P runqlat "$together"
ok 'nor has it' test "${out#*time line}" = "$out"

# ---- of a recorder that was killed, and of one that still runs, which holds a lock ----

stored cut
check 'a workload whose end was not seen' 0 '' '^workload: sleep 1000: exit status unknown.*cut off' report "$dir/cut"
run report --json "$dir/cut"
ok 'JSON has no status of it' jq -e '.workload | .exit_status == null and .signal == null' <<<"$out"
as=(flock "$dir/cut")
check 'a workload that still runs' 0 '' '^workload: sleep 1000: still running' report "$dir/cut"
run report --json "$dir/cut"
ok 'JSON has no status of it, either' jq -e '.running and .workload.exit_status == null and .workload.signal == null' <<<"$out"
as=()

# ---- arguments that are no recording, and the reasons ----

stored mixed
mkdir "$dir/made" "$dir/empty"
made=$dir/made one=$dir/made/20260101T000000Z copy=$dir/made/99990101T000000Z
cp -r "$dir/mixed" "$one"
refuses 'a directory that has one recording' 1 "$made: directory of 1 recording; choose one, such as: latscope report $one$" report "$made"
cp -r "$one" "$copy"
refuses 'a directory of recordings' 1 "directory of 2 recordings; .*: latscope report $copy$" report "$made"
refuses 'a directory without one' 1 'there is no recording; give the directory of a recording, or its run.db$' report "$dir/empty"
refuses 'nothing' 1 'there is no recording; give the directory of a recording, or its run.db$' report "$dir/none"
for suffix in wal journal; do
	mkfifo "$copy/run.db-$suffix"
	for command in report compare; do
		args=("$copy")
		[ "$command" = report ] || args+=("$one")
		refuses "$command: a pipe as run.db-$suffix" 1 'its run.db-wal or run.db-journal is not a regular file$' "$command" "${args[@]}"
	done
	rm "$copy/run.db-$suffix"
done
printf '\xd9\xd5\x05\xf9\x20\xa1\x63\xd7%01000d' 0 >"$copy/run.db-journal"
refuses 'a journal that is left' 1 'its run.db-journal holds a change that another program did not finish$' report "$copy"
rm "$copy/run.db-journal"
mkdir "$made/closed"
chmod -R a+rX "$made"
chmod 700 "$made/closed"
if [ "$(id -u)" = 0 ]; then
	unprivileged refuses 'compare does not pass over what it cannot see' 1 \
		"$made/closed: Permission denied; run compare as a user who can read it, or move it away" compare "$made" "$made"
else
	skip 'compare does not pass over what it cannot see' 'only root can make what a user cannot see'
fi
refuses 'a probe that is not in it' 1 'nosuch: no such probe in this recording; choose from memlat, runqlat, iolat' report -P nosuch "$one"

# not_ours TITLE REASON COMMAND...: after COMMAND on a copy of run.db, report refuses it for REASON
copy=$dir/empty/run.db
remedy='; give the directory of a recording, or its run.db'
not_ours() {
	cp "$one/run.db" "$copy"
	"${@:3}" >/dev/null
	refuses "report of $1" 1 "empty: $2$remedy\$" report "$dir/empty"
}
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
# widest COLUMNS: columns of the widest line that report prints on a terminal of so many
widest() {
	script -qec "stty cols $1; NO_COLOR=1 $(printf '%q ' "$latscope" report "$together")" /dev/null </dev/null |
		tr -d '\r' | LC_ALL=C.UTF-8 awk 'length > most { most = length } END { print most }'
}
within 'a wide terminal is used' 100 "$(widest 150)" 150
within 'but not more than can be read' 100 "$(widest 400)" 200
within 'a narrow one gets what a file gets' 70 "$(widest 60)" 80
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The questions of fleet, to a directory of recordings and to a real server of ClickHouse: both give the same answers, which are those
# of one recording with all events.
. "$(dirname "$0")/clickhouse.sh"
. tests/cli/fleet.sh

now=$(date +%s) runs=$dir/runs

wrong 'no metric' 'missing metric; give a probe, such as runqlat' fleet p99
wrong 'no probe' "unknown probe 'METRIC'; use memlat, runqlat, iolat or softirq" fleet p99 METRIC
wrong 'no percentile' "'p100': invalid percentile" fleet p100 runqlat
wrong 'a list with an empty element' "'p50,': invalid percentile" fleet p50, runqlat
wrong 'a metric without a name' "'runqlat.': use PROBE or PROBE.METRIC" fleet p50 runqlat.
wrong 'an empty name to group by' "--by 'host,,kernel': use a list of host, kernel, service" fleet p50 runqlat --by host,,kernel
wrong 'a name to group by twice' "--by 'host,host': a name is there twice" fleet p50 runqlat --by host,host
wrong 'too many names to group by' "--by 'a,b,c,d,e': at most 4 names" fleet p50 runqlat --by a,b,c,d,e
wrong 'a condition without a value' "--where 'kernel': use NAME=VALUE" fleet p50 runqlat --where kernel
wrong 'a comparison with one side' 'compare needs --where and --against' fleet compare runqlat --where kernel=6.1
wrong 'a comparison of an unknown statistic' "--metric 'mean': unknown statistic; use a percentile" fleet compare runqlat --metric mean
wrong 'an unknown verdict' "--fail-on 'better': unknown verdict; use 'worse'" fleet compare runqlat --fail-on better
wrong 'an option of compare elsewhere' "--against is an option of 'compare'" fleet p50 runqlat --against kernel=6.1
wrong 'an option of questions elsewhere' "--by is no option of 'init'" fleet init --by host
wrong 'a format of questions elsewhere' "'rollup' prints no JSON" fleet rollup --json
wrong 'a metric elsewhere' "unexpected argument 'runqlat'" fleet init runqlat
wrong 'two sources' 'give --dir or --clickhouse, not both' fleet p50 runqlat --dir . --clickhouse http://127.0.0.1:1
wrong 'a time of nothing' '--last 0: use a time above 0' fleet p50 runqlat --last 0
states='choose from cpu, ready, disk, memory, fault, lock, futex, socket, work, timer, child, stopped, other, unknown'
wrong 'a share of nothing' "missing state; $states" fleet share
wrong 'a share of an unknown state' "unknown state 'run_queue'; $states" fleet share run_queue
wrong 'an option of compare with a share' "--against is an option of 'compare'" fleet share disk --against kernel=6.1
refuses 'no directory' 1 "cannot read recordings in $dir/none: there is none" fleet p50 runqlat --dir "$dir/none"
refuses 'no recordings' 1 "cannot read recordings in $dir: there is none; give a directory" fleet p50 runqlat --dir "$dir"
refuses 'no server' 1 'cannot use http://127.0.0.1:1/: .*; check the URL, and that the server runs' fleet p50 runqlat --clickhouse http://127.0.0.1:1

for i in 1 2 3 4 5 6; do
	fleet_recording "$runs/old$i" "h$i" 6.1.0-27-amd64 $((now - 7200 - i)) "$i"
	fleet_recording "$runs/new$i" "g$i" 6.12.3-amd64 $((now - 3600 - i)) "1$i" 17
done
fleet_merge "$dir/all" "$runs"/old? "$runs"/new?

# ask FORMAT ARG...: asks what is in $source
source=(--dir "$runs")
ask() { run fleet "${@:2}" "${source[@]}" ${1:+"$1"}; }

# slots: prints those of the first group of the last JSON, as of the recording $dir/all of a series
slots() { jq -c '.groups[0].slots[]' <<<"$out" | tr -d '[]'; }
slots_of() { sqlite3 -separator , "$dir/all/run.db" "SELECT slot, count FROM slots WHERE series = $1 ORDER BY slot"; }

refuses 'a share of which there is nothing' 1 'there is no data of this time; check that the hosts record where time goes' \
	fleet share disk --dir "$runs"
refuses 'a metric that no host has' 1 'there is no data of this time; check the name of the metric and --where' \
	fleet p99 runqlat.none --dir "$runs"
refuses 'hosts that do not exist' 1 'there is no data of this time; check the name of the metric and --where' \
	fleet p99 runqlat --where host=none --dir "$runs"
for i in 1 2; do
	fleet_recording "$dir/whole/$i" h1 6.1.0-27-amd64 $((now - 7200 - i)) "$i"
	sqlite3 "$dir/whole/$i/run.db" "UPDATE module SET split = ''"
done
run fleet top --dir "$dir/whole" --last 1d
like 'no services: the answer says what to do' "$status $err" '^1 .*no data of this time; record with --by cgroup, or use --by host'
is 'and that once for each host' "$(grep -c 'h1 has recordings without services: they were not split by cgroup' <<<"$err")" 1
refuses 'a probe that no host has' 1 'there is no data of this time; look further back' fleet p99 softirq --dir "$runs"
ask --json p50,p90,p99,p99.9 runqlat
is 'every slot is the sum of all hosts' "$(slots)" "$(slots_of 7)"
is 'percentiles are those of one recording with all events' "$(jq -c '[.groups[0].statistics[].us]' <<<"$out")" \
	"$("$latscope" report -P runqlat --json "$dir/all" | jq -c '.probes[0].percentiles | [.p50_us, .p90_us, .p99_us, .p99_9_us]')"
is 'hosts are counted' "$(jq -c '[.hosts, .groups[0].hosts]' <<<"$out")" '[12,12]'
ask --json p50 runqlat --where service=db.service
is 'a service has the slots of its cgroup' "$(slots)" "$(slots_of 102)"
ask '' p99.9 runqlat --by service,kernel
like 'the answer as text' "$out" 'runqlat run_queue of 12 hosts
.*db.service +6.12.3-amd64 +6 +[0-9,]+ +[0-9.]+ us +\[[0-9.]+ us, [0-9.]+ us\]'
ok 'it fits into 80 columns' fits
ask '' top --last 1d
like 'top has the most time first' "$out" $'service +hosts +p50 +p99 +p99.9 +total\ndb.service +12 .*\nweb.service +12 '
ask --json p50 runqlat --by host --top 3
is '--top shows so many groups' "$(jq -c '[(.groups | length), .groups_left_out]' <<<"$out")" '[3,9]'
is 'one host has no interval' "$(jq -r '.groups[0].statistics[0] | [.low_us, .reason] | @csv' <<<"$out")" ',"too few hosts"'
ask '' p99 iolat
like 'a metric without events: as text' "$status $out" '^0 iolat device of 12 hosts.*hosts +events +p99 .* 0 +0 +- +no events'
ask --json p99 iolat
is 'a metric without events: as JSON' "$(jq -c '.groups[0] | [.events, .statistics[0].reason]' <<<"$out")" '[0,"no events"]'

compare=(compare runqlat --where kernel=6.1 --against kernel=6.12)
ask '' "${compare[@]}" --fail-on worse
is 'a longer wait is worse: exit status' "$status" 3
like 'a longer wait is worse' "$out" 'p99 +[0-9.]+ us +[0-9.]+ us +\+[0-9.]+ % +\[\+[0-9.]+ %, \+[0-9.]+ %\] +worse.*4 worse, 0 better'
like 'a comparison says that nothing was randomised' "$out" 'hosts were not assigned to the sides by chance'
ok 'it fits into 80 columns' fits
ask '' compare runqlat --where kernel=6.12 --against kernel=6.1 --fail-on worse
is 'the other way round it is better' "$status$(grep -o '4 better' <<<"$out")" '04 better'
ask --json "${compare[@]}" --metric p99 --min-effect 1000%
is 'up to the least effect there is no difference' "$(jq -c '[.verdicts.no_difference_shown, .verdicts.worse, .groups[0].statistics[0].statistic]' \
	<<<"$out")" '[1,0,"p99"]'
ask --json compare runqlat --where kernel=6.1 --against host=g1
is 'one host is too few for a verdict' "$(jq -r '.groups[0].statistics[0] | [.verdict, .reason] | @csv' <<<"$out")" \
	'"cannot tell","too few hosts: ON has 1 with events, 3 are needed"'
ask --json compare runqlat --where service=web.service --against service=db.service
is 'a host on both sides is compared with itself' "$(jq -c '[.hosts_on_both, .verdicts.worse]' <<<"$out")" '[12,4]'

# Of what cannot be true, is there twice, or lies in the future, nothing counts.
ask --json p50,p99 runqlat
answer=$(jq -c '.groups' <<<"$out")
# make_false DIR: three such recordings
make_false() {
	fleet_recording "$1/bad1" liar 6.1.0 $((now - 60)) 3
	sqlite3 "$1/bad1/run.db" 'UPDATE sums SET sum_ns = sum_ns * 1000000'
	fleet_recording "$1/bad2" negative 6.1.0 $((now - 60)) 3
	sqlite3 "$1/bad2/run.db" 'UPDATE slots SET count = -5 WHERE slot = 120'
	fleet_recording "$1/bad3" tomorrow 6.1.0 $(($(date +%s) + 86400)) 3
}
make_false "$runs"
cp -r "$runs/old1" "$runs/copy"
ask --json p50,p99 runqlat
is 'what cannot be true does not count' "$(jq -c '.groups' <<<"$out")" "$answer"
notes=$(jq -r '.notes[]' <<<"$out")
like 'a sum that does not fit is reported' "$notes" 'liar reports what cannot be true \(sum\): 1 of its intervals'
like 'a negative count is reported' "$notes" 'bad2 is left out: this recording is damaged'
like 'a clock that is ahead is reported' "$notes" 'the clock of tomorrow is ahead by up to 24.0 h: 1 of its intervals'
like 'a copy counts once' "$notes" '1 recordings of h1 are there more than once, and count once'
ask --json p50,p99 runqlat --last 90m
is '--last leaves out older recordings' "$(jq .hosts <<<"$out")" 6
fleet_recording "$runs/busy" busy 6.1.0 $((now - 60)) 3
sqlite3 "$runs/busy/run.db" 'UPDATE slots SET count = count * 100; UPDATE sums SET count = count * 100, sum_ns = sum_ns * 100, tail = tail * 100'
ask --json p50 runqlat
like 'a host with most of the events is reported' "$(jq -r '.notes[]' <<<"$out")" 'busy alone has [0-9.]+ % of the events'
fleet_recording "$runs/h9/late" '' 6.1.0 $((now - 60)) 3
ask --csv p50 runqlat --by host --top 0
like 'the directory names a host that has no other name' "$out" $'\nh9,p50,1,'
rm -r "$runs"/{bad?,copy,busy,h9}

# Labels with any bytes: quotes, backslashes, commas, line breaks, what SQL could take for its own
odd="a'b\\c,d\"e; DROP TABLE rows --"
quoted=${odd//\'/\'\'}
label_odd() {
	local i

	for i in 1 2 3; do
		sqlite3 "$runs/old$i/run.db" "INSERT INTO label(name, value) VALUES('od''d', '$quoted')"
	done
}
label_odd
ask --json p50 runqlat --by "od'd"
is 'an odd label as a group' "$(jq -r --arg odd "$odd" '[.groups[].key["od'\''d"] == $odd, .groups[].hosts] | @csv' <<<"$out")" 'false,true,9,3'
ask --json p50 runqlat --where "od'd=$odd"
is 'an odd label as a condition' "$(jq .hosts <<<"$out")" 3
run fleet p50 runqlat --where "x=' OR 1=1 -- "$'\n\e' --by "'; DROP TABLE rows; --" --sql
is 'SQL has no byte of a text that could end it' "$(grep -c "' OR 1=1\|'; DROP\|"$'\e' <<<"$out")" 0
like 'SQL has the text escaped' "$out" "= '\\\\x27 OR 1=1 -- \\\\x0A\\\\x1B'"

# What is known of the times: in disk are db.service by 1, 2, ... 6 %, web.service never. In cpu web.service is for 10 %.
times=$dir/times
for i in 1 2 3 4 5 6; do
	fleet_times "$times/$i" "h$i" "6.$((i > 4 ? 12 : 1)).3-amd64" $((now - 1800 - i)) "$i"
done
source=(--dir "$times")
# shares COLUMN...: of each group of the last JSON
shares() { jq -r ".groups[] | [$1] | map(if type == \"number\" then . * 1e6 | round / 1e6 else . end) | @csv" <<<"$out" | tr -d '"' | paste -sd ' '; }
ask --json share disk
is 'a share is that of the time of all threads' "$(shares '.key.service, .hosts, .share, .us, .of_us')" \
	'db.service,6,0.035,25200000,720000000 web.service,6,0,0,360000000'
is 'it names the host with the highest share' "$(shares '.highest, .highest_host' | cut -d ' ' -f 1)" '0.06,h6'
ask --json share disk --by host --top 2
is 'the largest share is first' "$(shares '.key.host, .share') $(jq .groups_left_out <<<"$out")" 'h6,0.04 h5,0.033333 4'
ask --json share disk --by service,kernel --where service=db.service
is 'by two names, of one service' "$(shares '.key.service, .key.kernel, .hosts, .share')" 'db.service,6.12.3-amd64,2,0.055 db.service,6.1.3-amd64,4,0.025'
ask --json share cpu
is 'another state' "$(shares '.key.service, .share')" 'web.service,0.1 db.service,0'
ask '' share disk --top 1
like 'a share as text' "$out" 'where disk of 6 hosts
.*service +hosts +share +time +of +highest
db.service +6 +3.50 % +25.2 s +720 s +6.00 %, h6
1 more groups with smaller shares; raise --top'
ok 'it fits into 80 columns' fits
ask --csv share disk --by host
like 'a share as CSV' "$out" $'^host,state,hosts,share,us,of_us,highest,highest_host\nh6,disk,1,0.04,7.2e\+06,1.8e\+08,0.04,h6\n'
ask --json share disk --last $(($(date +%s) - now + 1772))s # from the second interval of each
is 'a part of a recording: that of its time' "$(shares '.hosts, .us, .of_us' | cut -d ' ' -f 1)" '6,12600000,360000000'
fleet_times "$times/odd" odd 6.1 $((now - 60)) 50 '(other)'
fleet_times "$times/bad" bad 6.1 $((now - 60)) 50
sqlite3 "$times/bad/run.db" 'UPDATE "where" SET disk_ns = -disk_ns WHERE interval = 2'
ask --json share disk
is 'a cgroup that is not known is a service of its own' "$(shares '.key.service, .hosts, .share')" \
	'(unknown),1,0.5 db.service,6,0.035 web.service,7,0'
like 'negative times do not count' "$(jq -r '.notes[]' <<<"$out")" 'bad reports what cannot be true \(counts\): 1 of its intervals'
rm -r "$times"/{odd,bad}
source=(--dir "$runs")

if ! command -v clickhouse-server >/dev/null; then
	skip 'the same answers from ClickHouse' 'clickhouse-server is not installed'
	done_testing
	exit
fi

clickhouse_start one || exit
run fleet p50 runqlat --clickhouse "$clickhouse"
like 'a server without tables' "$status $err" "1 latscope: cannot use .*: it has no schema of latscope; run 'latscope fleet init'"
run fleet init --clickhouse "$clickhouse"
for recording in "$runs"/*; do
	sql "$(fleet_rows "$recording")"
done
sql "$(fleet_rows "$runs/old1")" # a second time

for recording in "$times"/*; do
	sql "$(fleet_times_rows "$recording")"
done

# same TITLE ARG...: both sources give the same answer in all formats, and it is no error
same() {
	local format mine mine_is=$runs bad=0

	[ "$2" != share ] || mine_is=$times
	for format in '' --json --csv; do
		run fleet "${@:2}" --dir "$mine_is" ${format:+"$format"}
		mine=$out$err$status
		run fleet "${@:2}" --clickhouse "$clickhouse" ${format:+"$format"}
		[ "$mine" = "$out$err$status" ] || { diff <(echo "$mine") <(echo "$out$err$status") && false; } || bad=1
		[ "$status" = 0 ] || bad=1
	done
	return $bad
}
all_same() {
	ok "ClickHouse: percentiles$1" same '' p50,p99.9 runqlat
	ok "ClickHouse: by service and kernel$1" same '' p99 runqlat --by service,kernel --last 7d
	ok "ClickHouse: of some hosts$1" same '' p99 runqlat --where kernel=6.1 --by host
	ok "ClickHouse: top$1" same '' top --last 1d
	ok "ClickHouse: a comparison$1" same '' compare runqlat --where kernel=6.1 --against kernel=6.12 --by service
	ok "ClickHouse: a comparison of services$1" same '' compare runqlat --where service=web.service --against service=db.service
	ok "ClickHouse: a share$1" same '' share disk --last 7d
	ok "ClickHouse: shares of hosts$1" same '' share disk --by host,kernel --where kernel=6.1 --last all
	ok "ClickHouse: of a service$1" same '' share cpu --where service=web.service --top 1 --last 7d
	ok "ClickHouse: odd labels$1" same '' p50 runqlat --by "od'd" --where "od'd=$odd"
}
all_same ''
source=(--clickhouse "$clickhouse")
ask --json p50 runqlat
is 'ClickHouse: every slot is the sum of all hosts' "$(slots)" "$(slots_of 7)"
run fleet p50 runqlat --clickhouse "$clickhouse" --by "'; DROP TABLE rows; --" --where "host=h1' OR ''='"
like 'ClickHouse: a hostile condition finds nothing' "$status $err" '1 .*there is no data of this time'
is 'ClickHouse: the rows are still there' "$(sql "SELECT uniqExact(host) FROM rows WHERE probe = 'runqlat'")" 12

ask --json p50,p99 runqlat
answer=$(jq -c '.groups' <<<"$out")
make_false "$dir"
for i in 1 2 3; do
	sql "$(fleet_rows "$dir/bad$i" | sed 's/,-5,/,18446744073709551611,/')"
done
ask --json p50,p99 runqlat
is 'ClickHouse: what cannot be true does not count' "$(jq -c '.groups' <<<"$out")" "$answer"
notes=$(jq -r '.notes[]' <<<"$out")
like 'ClickHouse: a sum that does not fit is reported' "$notes" 'liar reports what cannot be true \(sum\)'
like 'ClickHouse: a negative count is reported' "$notes" 'negative reports what cannot be true \(counts\)'
like 'ClickHouse: a clock that is ahead is reported' "$notes" 'the clock of tomorrow is ahead by up to 24.0 h: 1 of its intervals'
sql 'TRUNCATE TABLE rows'

# The same minutes, but three days ago: then complete days are in the roll-up, and the others in rows. Those of today are of today
# also just after midnight.
now=$(date +%s) midnight=$((now / 86400 * 86400))
recent=$((now - 3600 > midnight ? now - 3600 : midnight))
for i in 1 2 3 4 5 6; do
	fleet_recording "$runs/old$i" "h$i" 6.1.0-27-amd64 $((midnight - 3 * 86400 + i * 60)) "$i"
	fleet_recording "$runs/new$i" "g$i" 6.12.3-amd64 "$recent" "1$i" 17
	fleet_times "$times/$i" "h$i" "6.$((i > 4 ? 12 : 1)).3-amd64" $((i > 4 ? recent : midnight - 3 * 86400 + i * 60)) "$i"
done
label_odd
for recording in "$runs"/*; do
	sql "$(fleet_rows "$recording")"
done
for recording in "$times"/*; do
	sql "$(fleet_times_rows "$recording")"
done
ok 'the roll-up is made' "$latscope" fleet rollup -q --clickhouse "$clickhouse"
is 'the roll-up has the older half' "$(sql 'SELECT uniqExact(host) FROM days')" 6
all_same ', with a roll-up'
sql "ALTER TABLE rows DROP PARTITION '$(date -ud @$((midnight - 3 * 86400)) +%F)'"
ok 'ClickHouse: the roll-up is enough' same '' p99 runqlat --by service,kernel --last 7d
run fleet p99 runqlat --clickhouse "$clickhouse" --sql
like 'the SQL has both tables' "$out" "FROM rows FINAL .*FROM days WHERE .* IN \('[0-9-]+'\)"
# The same rows, and the same statements, with the engine of a new version, if it is installed: see fleet-rollup.t.
statements=()
for question in 'p99 runqlat --by service,kernel' 'compare runqlat --where kernel=6.1 --against service=web.service' 'share disk'; do
	# shellcheck disable=SC2086 # words
	run fleet $question --last 7d --sql
	mapfile -d '' -t -O "${#statements[@]}" statements < <(perl -0777 -ne 'print join "\0", split /;\n+/' <<<"$out")
done
# normal: prints JSON without the quotes that only some versions put around numbers
normal() { sed 's/"\([0-9]\+\)"/\1/g' | jq -cS .; }
newest() {
	{
		cat packaging/clickhouse/{tables,problem}.sql
		for recording in "$runs"/*; do
			fleet_rows "$recording" && echo ';'
		done
		for recording in "$times"/*; do
			fleet_times_rows "$recording" && echo ';'
		done
		printf '%s;\n' "${statements[@]}"
	} | "$dir/chdb" "$library" "$dir/newest"
}
if has_chdb; then
	for recording in "$runs"/*; do
		sql "$(fleet_rows "$recording")"
	done
	for recording in "$times"/*; do
		sql "$(fleet_times_rows "$recording")"
	done
	is 'the engine of a new version gives the same answers' "$(newest | normal)" \
		"$(for statement in "${statements[@]}"; do sql "$statement"; done | normal)"
else
	skip 'the engine of a new version gives the same answers' 'libchdb.so of @chdb/lib-linux-x64-gnu is not installed'
fi

sql 'DROP TABLE schema_version'
sql 'CREATE VIEW schema_version AS SELECT toUInt32(99) AS version'
refuses 'a schema of another version' 1 'version 99 of the schema' fleet p99 runqlat --clickhouse "$clickhouse"
done_testing

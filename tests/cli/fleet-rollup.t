#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# fleet init and rollup, and load fleet, with Debian's ClickHouse: on one server, on a cluster of two, and the SQL also with the
# engine of a new version, if it is installed (LATSCOPE_CHDB: the path of libchdb.so).
. "$(dirname "$0")/clickhouse.sh"
skip_unless_clickhouse
unset LATSCOPE_CLICKHOUSE_USER LATSCOPE_CLICKHOUSE_PASSWORD

wrong 'no command' 'missing command; choose from pN, top, compare, share, init, rollup' fleet
wrong 'an unknown command' "unknown command 'nothing'; choose from pN, top, compare, share, init, rollup" fleet nothing
wrong 'no server' 'missing --clickhouse URL' fleet init
wrong 'a URL of another protocol' "--clickhouse 'ftp://a': .*; use a URL such as" fleet init --clickhouse ftp://a
wrong 'a database with an odd name' 'only .database=NAME may follow' fleet init --clickhouse 'http://127.0.0.1/?database=a;b'
wrong 'a cluster with an odd name' "--cluster 'a,b': use letters, digits and _" fleet init --clickhouse http://127.0.0.1 --cluster a,b
wrong 'rows that are not kept' '--keep-rows' fleet init --clickhouse http://127.0.0.1 --keep-rows 0
wrong 'load fleet without a server' 'fleet needs --clickhouse URL' load fleet
wrong 'an option of load fleet' 'are for fleet' load touch --hosts 3
refuses 'no server there' 1 "cannot create the tables in http://127.0.0.1:1/: " fleet init --clickhouse http://127.0.0.1:1
refuses 'something that is no server of ClickHouse' 1 'cannot use http://127.0.0.1:[0-9]*/: ' fleet rollup --clickhouse "http://127.0.0.1:$(free_port)"

# ---- one server ----

clickhouse_start solo
refuses 'no tables' 1 "cannot use $clickhouse/: it has no schema of latscope; run 'latscope fleet init'" fleet rollup --clickhouse "$clickhouse"
refuses 'no tables for a load' 1 "cannot store rows: it has no schema of latscope; run 'latscope fleet init'" load fleet --clickhouse "$clickhouse"
LATSCOPE_CLICKHOUSE_USER=writer refuses 'no password' 1 'cannot .* 401.*; give the user with --clickhouse-login' fleet init --clickhouse "$clickhouse"
check 'init' 0 'rows are kept 20 days, roll-ups 400 days' '' fleet init --clickhouse "$clickhouse" --keep-rows 20
check 'init again' 0 'rows are kept 14 days, roll-ups 300 days' '' fleet init --clickhouse "$clickhouse" --keep 300
is 'the last one decides how long' "$(sql 'SELECT * FROM retention')" '14	300'

# load ARG...: sets $out and $events, which were sent
load() {
	run load fleet -q --clickhouse "$clickhouse" --hosts 12 --series 8 -d 3m "$@"
	events=$(sed -nE 's/.* rows with ([0-9,]+) events.*/\1/p' <<<"$out" | tr -d ,)
}
rollup() { run fleet rollup --clickhouse "$clickhouse"; }
# The day before yesterday. Not a whole day, so that it is in one day. Each load counts from its own now, and aims at the middle
# of a minute, as it begins with a whole one: however long the suite takes, the same load has the same rows.
now=$(date +%s) day=$((now / 86400 * 86400 - 172800))
ago() { echo $(($(date +%s) - day - $1 * 3600 - 30))s; }

load --ago "$(ago 10)"
ok 'load' ended 0 '' '288 rows with [0-9,]+ events'
total=$events
load --ago "$(ago 10)"
is 'the same load is the same rows' "$events" "$total"
is 'sent twice, they count once' "$(sql 'SELECT count(), sum(recorded) FROM rows FINAL')" "288	$total"
rollup
ok 'rollup' ended 0 '1 hours and 1 days rolled up' ''
is 'the hour has all events once' "$(sql 'SELECT sum(recorded), sum(rows), sum(hosts) / uniq(probe, metric, split, key) FROM hours')" "$total	288	12"
is 'the day has all events once' "$(sql 'SELECT sum(recorded), sum(rows), uniq(host) FROM days')" "$total	288	12"
slots() { sql "SELECT probe, metric, split, key, slot, sum(n) FROM (SELECT * FROM $1) ARRAY JOIN hist.slot AS slot, hist.n AS n
	GROUP BY probe, metric, split, key, slot ORDER BY probe, metric, split, key, slot FORMAT TabSeparated"; }
same_slots() { diff <(slots 'rows FINAL') <(slots "$1"); }
ok 'the hour has the slots of the rows, one by one' same_slots hours
ok 'the day, too' same_slots days
sums() { sql "SELECT probe, metric, split, key, sum(sum_ns), max(max_ns), sum(tail), sum(interval_ns), sum(seen), sum(lost)
	FROM $1 GROUP BY probe, metric, split, key ORDER BY probe, metric, split, key FORMAT TabSeparated"; }
same_sums() { diff <(sums 'rows FINAL') <(sums "$1"); }
ok 'the hour has the sums of the rows' same_sums hours
ok 'the day, too' same_sums days
is 'what is unknown is not 0' "$(sql "SELECT countIf(isNull(seen)), countIf(isNull(lost)) FROM hours WHERE split != ''")" \
	"$(sql "SELECT count(), count() FROM hours WHERE split != ''")"

# An hour that comes later, and late rows of the one that is there.
load --ago "$(ago 11)" --seed 1
total=$((total + events))
rollup
is 'another hour of the day' "$(sql 'SELECT sum(recorded), uniq(hour) FROM hours')" "$total	2"
is 'the day has both' "$(sql 'SELECT sum(recorded) FROM days')" "$total"
load --ago "$(ago 10)" --seed 2
total=$((total + events))
rollup
is 'late rows' "$(sql 'SELECT sum(recorded), uniq(hour) FROM hours')" "$total	2"
is 'late rows of the day' "$(sql 'SELECT sum(recorded) FROM days')" "$total"
is 'no table is left' "$(sql "SELECT count() FROM system.tables WHERE database = 'latscope' AND name LIKE 'rollup%'")" 0

# A rollup that is killed at any moment: the next one is whole.
for pause in 0.02 0.05 0.1 0.2; do
	sql 'INSERT INTO arrivals SELECT hour, now() FROM arrivals'
	(timeout -s KILL $pause "$latscope" fleet rollup --clickhouse "$clickhouse"; true) 2>/dev/null
	is "killed after $pause s: all is there" "$(sql 'SELECT sum(recorded) FROM hours')/$(sql 'SELECT sum(recorded) FROM days')" "$total/$total"
done
rollup
is 'then it is whole' "$(sql 'SELECT sum(recorded) FROM hours')/$(sql 'SELECT sum(recorded) FROM days')" "$total/$total"

# ---- each request that fails, and each allocation, is an error ----

node_start tests/cli/failing-proxy.js "$clickhouse"
proxy=$node_url
# fails_at HOW NUMBER ARG...: latscope ends with an error and a message, or it made fewer requests ($requests)
fails_at() {
	curl -sS "$proxy/$1/$2" >/dev/null
	run "${@:3}" --clickhouse "$proxy"
	requests=$(curl -sS "$proxy/end")
	[ "$requests" -lt "$2" ] || [ "$status $(grep -c '^latscope: cannot .*; \|^latscope: cannot .*: ' <<<"$err")" = '1 1' ] || {
		echo "request $2: status $status, $err" && false
	}
}
# fails_always TITLE HOW LEAST ARG...: so for each of at least LEAST requests
fails_always() {
	local at bad=''

	for ((at = 1; at < 200; at++)); do
		[ "${*:4}" != 'fleet rollup' ] || sql 'INSERT INTO arrivals SELECT hour, now() FROM arrivals'
		fails_at "$2" $at "${@:4}" || bad+=" $at"
		[ "$requests" -ge $at ] || break
	done
	is "$1: each of the $requests requests" "$bad" ''
	ok "$1: they are at least $3, and without a failure it succeeds" eval "[ $requests -ge $3 ] && [ $status = 0 ]"
}
for how in refuse lose; do
	fails_always "rollup, $how" $how 12 fleet rollup
	fails_always "init, $how" $how 8 fleet init --keep 300
	fails_always "a question, $how" $how 5 fleet p99 runqlat --last 3d
done
is 'then all is still there' "$(sql 'SELECT sum(recorded) FROM hours')/$(sql 'SELECT sum(recorded) FROM days')" "$total/$total"
gcc -shared -fPIC -O2 -o "$dir/no_memory.so" tests/cli/no_memory.c
# no_memory: sets $failed, the number of allocations that failed, and $bad, those after which it did not say so
no_memory() {
	failed=0 bad=''
	for ((at = 1; at < 100; at++)); do
		sql 'INSERT INTO arrivals SELECT hour, now() FROM arrivals'
		as=(env "NO_MEMORY=$at" "LD_PRELOAD=$dir/no_memory.so")
		rollup
		as=()
		[[ $err = *'no memory'* ]] || break
		failed=$((failed + 1))
		[[ $status = 1 && $err =~ latscope:\ .*(annot\ allocate|out\ of)\ memory ]] || bad+=" $at"
	done
}
no_memory
is 'out of memory is an error' "$bad" ''
ok 'there were several allocations' test "$failed" -ge 5
is 'without one that fails it succeeds' "$status" 0

# ---- hosts that lie, clocks that are ahead ----

columns='start, host, run, number, interval_ns, probe, metric, split, key, kernel, method, hist.slot, hist.n, recorded, sum_ns, max_ns, tail, seen'
# row HOST SECONDS SLOTS COUNTS RECORDED: inserts a row
row() {
	curl -sS -w '%{http_code}' "$clickhouse/?database=latscope" --data-binary @- <<-END
		INSERT INTO rows ($columns) FORMAT TabSeparated
		$2	$1	r	1	60000000000	runqlat	run_queue			6.1	x	$3	$4	$5	7000	3000	0	$5
	END
}
at=$((day + 36000))
like 'a negative count is refused at once' "$(row liar $at '[1,2]' '[3,-4]' 1)" '^Code: .*(400|500)$'
row liar $at '[1,2]' '[3,18446744073709551612]' 18446744073709551615 >/dev/null
row liar $((at + 1)) '[2,1]' '[3,4]' 7 >/dev/null
row liar $((at + 2)) '[1,2]' '[3,4]' 8 >/dev/null
row liar $((at + 3)) '[1,2000]' '[3,4]' 7 >/dev/null
row honest $((at + 4)) '[1,90]' '[3,4]' 7 >/dev/null
total=$((total + 7))
is 'rows that contradict themselves are found' \
	"$(sql "SELECT arrayStringConcat(groupArray(problem), ' ') FROM (SELECT problem FROM rows FINAL WHERE host = 'liar' ORDER BY start)")" \
	'counts slots counts slots'
# spent NUMBER NS: a row of the time that threads spent on a lock, in a minute
spent() { sql "INSERT INTO rows (start, host, run, number, interval_ns, probe, metric, kernel, method, sum_ns)
	VALUES ($at, 'threads', 'r', $1, 60000000000, 'where', 'lock', '6.1', 'x', $2)"; }
problems() { sql "SELECT arrayStringConcat(groupArray(problem), ' ') FROM (SELECT problem FROM rows FINAL WHERE host = 'threads' ORDER BY number)"; }
spent 1 120000000000000
spent 2 300000000000000000
is 'time of more threads than Linux has is found' "$(problems)" ' sum'
sql "ALTER TABLE rows MODIFY COLUMN problem String ALIAS 'of an earlier version'"
check 'init of tables that exist' 0 'rows are kept 14 days, roll-ups 300 days' '' fleet init --clickhouse "$clickhouse" --keep 300
is 'renews the rule' "$(problems)" ' sum'
rollup
is 'time of threads is rolled up' "$(sql "SELECT sum(sum_ns) FROM hours WHERE probe = 'where'")/$(sql "SELECT sum(sum_ns) FROM days WHERE host = 'threads'")" \
	120000000000000/120000000000000
like 'they are reported' "$err" 'latscope: 2 rows of host liar refused: counts; they contradict themselves'
is 'they are in no roll-up' "$(sql 'SELECT sum(recorded) FROM hours')/$(sql 'SELECT sum(recorded) FROM days')" "$total/$total"
row ahead $((now + 90000)) '[1,90]' '[3,4]' 7 >/dev/null
rollup
like 'a clock that is ahead is reported' "$err" 'latscope: the clock of host ahead is ahead by [0-9]+ s: '
is 'its row is kept' "$(sql "SELECT count() FROM rows WHERE host = 'ahead'")" 1

# ---- retention ----

row old $((now - 16 * 86400)) '[1,90]' '[3,4]' 7 >/dev/null
rollup
is 'rows that are too old are deleted' "$(sql "SELECT count() FROM rows WHERE host = 'old'")" 0
like 'and were too late for a roll-up' "$err" 'late rows of 1 hours are in no roll-up'
is 'others are not' "$(sql "SELECT count() > 500 FROM rows")" 1

sql 'DROP TABLE schema_version'
sql 'CREATE VIEW schema_version AS SELECT toUInt32(7) AS version'
refuses 'a schema of another version' 1 'it has version 7 of the schema, this latscope uses 1; use the latscope that made it' \
	fleet rollup --clickhouse "$clickhouse"
refuses 'init does not change it' 1 'it has version 7' fleet init --clickhouse "$clickhouse"
sql 'DROP TABLE schema_version'
check 'init again' 0 '.' '' fleet init --clickhouse "$clickhouse"
refuses 'tables of one server do not become those of a cluster' 1 'the database has the tables of a single server' \
	fleet init --clickhouse "$clickhouse" --cluster fleet
clickhouse_kill solo

# ---- a cluster of two ----

clickhouse_start one two
for shard in one two; do
	clickhouse=http://127.0.0.1:${clickhouse_http[$shard]}
	check "cluster: init on $shard" 0 '.' '' fleet init --clickhouse "$clickhouse" --cluster fleet
done
refuses 'cluster: a shard is no single server' 1 'the server is a shard of a cluster; add --cluster' fleet init --clickhouse "$clickhouse"
load --ago "$(ago 10)"
total=$events
load --ago "$(ago 10)"
is 'cluster: all rows, once' "$(sql 'SELECT count(), sum(recorded) FROM rows FINAL')" "288	$total"
ok 'cluster: each shard has a part' test "$(sql 'SELECT uniq(host) BETWEEN 1 AND 11 FROM rows' latscope_local)" = 1
for shard in one two; do
	clickhouse=http://127.0.0.1:${clickhouse_http[$shard]}
	rollup
	ok "cluster: rollup on $shard" ended 0 '1 hours and 1 days rolled up' ''
done
is 'cluster: hours' "$(sql 'SELECT sum(recorded), sum(rows) FROM hours')" "$total	288"
is 'cluster: days' "$(sql 'SELECT sum(recorded), uniq(host) FROM days')" "$total	12"
ok 'cluster: the hours have the slots of the rows, one by one' same_slots hours
ok 'cluster: the days, too' same_slots days
clickhouse_kill one
refuses 'cluster: a shard that is away' 1 'cannot store rows: ' load fleet --clickhouse "$clickhouse" --hosts 40 -d 1m --series 4
clickhouse_start one
load --hosts 12 --ago "$(ago 10)"
is 'cluster: nothing is lost' "$(sql 'SELECT sum(recorded) FROM rows FINAL WHERE start < now() - 90000')" "$total"

# ---- the engine of a new version ----

fill() { sed -e 's/{into}/made/; s/{as_of}/1767225600/; s/{slices}/1/; s/{slice}/0/; s/{rows_days}/10000/; s/{days}/20000/' -e "s/{start}/$1/g" "packaging/clickhouse/$2.sql"; }
# newest: runs all files, and prints sums by each
newest() {
	{
		fill 0 tables && fill 0 problem && fill 0 retention && fill 0 ttl
		for _ in 1 2; do
			printf '%s\n' "INSERT INTO rows ($columns) SELECT 1767225600 + 600 * number, 'h', 'r', number, 60, 'p', 'm', '', '', 'k', 'x',
				[1, 90 + number], [3, number + 1], 4 + number, 7000 + number * 20000, 3000 + number * 1000, 0, 4 + number FROM numbers(10);"
		done
		echo 'CREATE TABLE made AS hours;' && fill 1767225600 hours && fill 1767229200 hours
		echo "ALTER TABLE hours REPLACE PARTITION '2026-01-01' FROM made;"
		echo "DROP TABLE made;" && echo 'CREATE TABLE made AS days;' && fill 1767225600 days
		echo "ALTER TABLE days REPLACE PARTITION '2026-01-01' FROM made;"
		echo 'SELECT sum(recorded), sum(rows), uniq(hour) FROM hours;'
		echo 'SELECT sum(recorded), sum(rows), sum(arraySum(hist.n)) FROM days;'
		echo 'SELECT * FROM retention; SELECT * FROM schema_version;'
	} | "$dir/chdb" "$library" "$dir/newest"
}
if has_chdb; then
	is 'the engine of a new version' "$(newest | paste -sd' ')" '85	10	2 85	10	85 10000	20000 1'
else
	skip 'the engine of a new version' 'libchdb.so of @chdb/lib-linux-x64-gnu is not installed'
fi
done_testing

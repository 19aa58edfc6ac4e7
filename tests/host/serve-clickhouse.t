#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# serve --clickhouse, with a real server, Debian's ClickHouse: each row is stored once, whatever ends in between. What the server
# has is compared with the flight recorder of the same window, slot by slot.
. "$(dirname "$0")/../cli/clickhouse.sh"
skip_unless_able
skip_unless_clickhouse
own_mounts
unset LATSCOPE_CLICKHOUSE_USER LATSCOPE_CLICKHOUSE_PASSWORD

echo writer:secret >"$dir/login"
chmod 600 "$dir/login"

# ---- while there is no server, and one without tables ----

metric() { get /metrics | sed -n "s|^latscope_clickhouse_$1 ||p"; }
at_least() { [ "$(metric "$1")" -ge "$2" ]; }
said() { grep -qF "$1" "$dir/serve.err"; }
# host NAME ARG...: as serve_start, on a machine of that name
host() {
	as=(unshare -u sh -c 'hostname "$0" && exec "$@"' "$1")
	serve_start --clickhouse "$clickhouse" --clickhouse-interval 1s "${@:2}"
	as=()
}

clickhouse_http[one]=$(free_port)
clickhouse=http://127.0.0.1:${clickhouse_http[one]}
host red --label role=db --label "odd='\\"
ok 'rows wait for a server' wait_for at_least spool_rows 20
ok 'it is known for how long' wait_for at_least spool_age_seconds 1
ok 'it is said why' wait_for said "latscope: cannot store rows in $clickhouse/: "
is 'it is said once' "$(grep -c 'cannot store rows' "$dir/serve.err")" 1
clickhouse_start one
echo precious >"$dir/something"
refuses 'the file of something else' 1 "cannot use the spool $dir/something: it has something else in it" \
	serve -q --listen 127.0.0.1:0 --ring-dir "$dir/ring" --clickhouse http://127.0.0.1:1 --clickhouse-spool "$dir/something"
is 'it stays as it was' "$(<"$dir/something")" precious
refuses 'a spool that another process uses' 1 'cannot use the spool .*: another latscope uses it' \
	serve -q --listen 127.0.0.1:0 --ring-dir "$dir/ring" --clickhouse "$clickhouse"
check 'init' 0 'tables in the database latscope: rows are kept 14 days' '' fleet init --clickhouse "$clickhouse"
ok 'then the rows are stored' wait_for at_least 'rows_total{result="stored"}' 20
ok 'it is said' wait_for said "$clickhouse/ takes rows again"
ok 'none waits' wait_for at_least works 1
age_is_absent() { [ "$(metric spool_rows)$(metric spool_age_seconds)" = 0 ]; }
ok 'the age of rows is absent while none waits' wait_for age_is_absent
is 'none is lost' "$(metric 'rows_total{result="lost"}')$(metric 'rows_total{result="refused"}')" 00
is 'the clock is that of the server' "$(metric clock_skew_seconds)" 0

loads=() sleepers=()

# ---- the server is killed, again and again, while it takes rows ----

"$latscope" load -q mixed -d 12s --dir "$dir" &
load=$!
for _ in 1 2 3; do # of the server's deaths
	before=$(metric 'rows_total{result="stored"}')
	wait_for at_least 'rows_total{result="stored"}' $((before + 1))
	clickhouse_kill one
	wait_for at_least spool_rows 5
	clickhouse_start one
done
wait $load
stored() { [ "$(metric spool_rows)" = 0 ]; }
ok 'what waited is stored' wait_for stored
serve_ends 'it ends'
ok 'nothing waits in the end' test "$(sqlite3 "$dir/ring/clickhouse.spool" 'SELECT count(*) FROM batch')" = 0
ok 'then the file is small' test "$(stat -c %s "$dir/ring/clickhouse.spool")" -le 2048

# slots_of HOST, slots_recorded: of the whole host, "probe metric slot count"; sums_of, sums_recorded: events, time, maximum, tail
slots_of() { sql "SELECT probe, metric, slot, sum(n) FROM (SELECT * FROM rows FINAL WHERE host = '$1' AND split = '')
	ARRAY JOIN hist.slot AS slot, hist.n AS n GROUP BY probe, metric, slot ORDER BY probe, metric, slot FORMAT TabSeparated"; }
sums_of() { sql "SELECT probe, metric, sum(recorded), sum(sum_ns), max(max_ns), sum(tail), sum(seen) FROM rows FINAL
	WHERE host = '$1' AND split = '' GROUP BY probe, metric HAVING sum(recorded) > 0 ORDER BY probe, metric FORMAT TabSeparated"; }
in_recording() { sqlite3 -readonly -separator $'\t' "$snapshot/run.db" "$1"; }
slots_recorded() { in_recording "SELECT probe.name, metric.name, slot, sum(count) FROM slots JOIN series ON series.id = slots.series
	JOIN metric ON metric.id = series.metric JOIN probe ON probe.id = metric.probe WHERE series.id = series.metric
	GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"; }
sums_recorded() { in_recording "SELECT probe.name, metric.name, sum(count), sum(sum_ns), max(max_ns), sum(tail), (SELECT sum(count) FROM acct
	WHERE acct.metric = metric.id AND acct.name = 'seen') FROM sums JOIN series ON series.id = sums.series
	JOIN metric ON metric.id = series.metric JOIN probe ON probe.id = metric.probe WHERE series.id = series.metric
	GROUP BY 1, 2 HAVING sum(count) > 0 ORDER BY 1, 2"; }
same() { diff <("$1") <("$2" "$3"); }
snapshot_new --last 1h
ok 'a snapshot of all of it' ended 0 '' ''
echo "# $(slots_recorded | wc -l) slots"
ok 'it has many slots' test "$(slots_recorded | wc -l)" -gt 300
ok 'the server has the slots of the recording, one by one' same slots_recorded slots_of red
ok 'and its sums' same sums_recorded sums_of red
is 'no batch is missing' "$(sql "SELECT max(number) + 1 - uniq(number), max(number) > 3 FROM rows")" '0	1'
is 'no row contradicts itself' "$(sql "SELECT count() FROM rows WHERE problem != ''")" 0
is 'labels, kernel, method' "$(sql "SELECT DISTINCT labels, kernel, method != '' FROM rows FORMAT TabSeparated")" \
	"['odd=\\'\\\\','role=db']	$(uname -r)	1"

# ---- serve is killed while rows wait; the next one sends them ----

rows_of() { sql "SELECT count(), count(DISTINCT number), max(number) + 1 FROM rows FINAL WHERE host = '$1' FORMAT TabSeparated"; }
clickhouse_kill one
host green --no-ring
ok 'rows wait again' wait_for at_least spool_rows 25
waited=$(metric spool_rows)
kill -KILL "$server"
wait "$server" 2>/dev/null
clickhouse_start one
host blue --no-ring
ok 'the next process finds them' wait_for at_least 'rows_total{result="stored"}' "$waited"
serve_stop
read -r rows batches last <<<"$(rows_of green)"
ok 'all are stored' test "$rows" -ge "$waited"
is 'once' "$batches" "$last"

# ---- answers that are lost ----

direct=$clickhouse
node_start tests/cli/lossy-proxy.js "$direct" 2
clickhouse=$node_url
host grey
# Two cgroups that are one service.
service=''
if cgroup_new && mkdir "$cgroup"/{a,b} "$cgroup"/{a,b}/web.service; then
	service=web.service
	mkdir "$cgroup"/{a,b}/{first,db,last}.service
	for place in a/first a/db a/db b/db b/last; do # threads that sleep
		(echo "$BASHPID" >"$cgroup/$place.service/cgroup.procs" && exec sleep 1000) &
		sleepers+=($!)
	done
	for half in a b; do
		(echo "$BASHPID" >"$cgroup/$half/web.service/cgroup.procs" && exec "$latscope" load -q pingpong -d 1500ms) &
		loads+=($!)
	done
	wait "${loads[@]}"
fi
ok 'rows are sent again after an answer is lost' wait_for at_least retries_total 2
ok 'and stored' wait_for at_least 'rows_total{result="stored"}' 20
ok 'none waits after that' wait_for stored
slept() { sql "SELECT sum(sum_ns) FROM rows FINAL WHERE host = 'grey' AND probe = 'where' AND $1 HAVING sum(sum_ns) > 1e9"; }
has_slept() { [ -n "$(clickhouse=$direct slept "key = 'last.service'")" ]; }
[ -z "$service" ] || ok 'times of threads are stored' wait_for has_slept
serve_stop
clickhouse=$direct
snapshot_new --last 1h
ok 'the server has the slots of the recording again' same slots_recorded slots_of grey
if [ -n "$service" ]; then
	within 'three threads of a service have three times the time of one' $((297 * $(slept "key = 'last.service'") / 100)) \
		"$(slept "key = 'db.service' AND metric = 'timer'")" $((303 * $(slept "key = 'first.service'") / 100))
	sql "$(sed -n '/^```sql/,/^```/{//!p}' docs/fleet.md | sed "s/'disk', 'lock'/'timer'/") FORMAT TabSeparated" >"$dir/lost"
	ok 'the question of docs/fleet.md finds who lost time' grep -q '^db.service' "$dir/lost"
	run fleet share timer --where host=grey --clickhouse "$clickhouse" --json
	within 'a share of a service whose threads sleep' 990 \
		"$(jq '.groups[] | select(.key.service == "db.service") | .share * 1000 | floor' <<<"$out")" 1000
	is 'services sum to the host' "$(slept "split = 'service'")" "$(slept "split = ''")"
	kill "${sleepers[@]}"
	wait "${sleepers[@]}" 2>/dev/null
	rmdir "$cgroup"/{a,b}/{web,first,db,last}.service "$cgroup"/{a,b} "$cgroup"
	events=$(in_recording "SELECT sum(count) FROM sums JOIN series ON series.id = sums.series JOIN metric ON metric.id = series.metric
		WHERE series.split = 'cgroup' AND series.name LIKE '%web.service' AND metric.name = 'run_queue'")
	is 'cgroups of one service are one row with all their events' "$(sql "SELECT sum(recorded) FROM rows FINAL
		WHERE host = 'grey' AND key = 'web.service' AND metric = 'run_queue'")" "$events"
	ok 'they are many' test "$events" -gt 1000
else
	skip 'cgroups of one service' 'cannot make cgroups of version 2'
fi

# ---- a batch that the server never takes: others pass it, and it is dropped ----

node_start tests/cli/lossy-proxy.js "$direct" 0 2
clickhouse=$node_url
host violet --no-ring
ok 'refused for ever: other rows are stored' wait_for at_least 'rows_total{result="stored"}' 30
ok 'refused for ever: it is dropped in the end' wait_for at_least 'rows_total{result="refused"}' 1
refused=$(metric 'rows_total{result="refused"}')
ok 'refused for ever: it is said, with what the server says' \
	said "latscope: $refused rows are dropped: $clickhouse/ does not take them: HTTP status 500, Code: 999, the rows of this interval"
ok 'refused for ever: it was put off each time' at_least put_off_total 4
ok 'refused for ever: no other waits' wait_for stored
serve_stop
clickhouse=$direct
read -r rows batches last <<<"$(rows_of violet)"
is 'refused for ever: one batch is missing' "$((last - batches)) $(sql "SELECT count() FROM rows WHERE host = 'violet' AND number = 2")" '1 0'
ok 'refused for ever: there were others after it' test "$last" -gt 8
is 'refused for ever: no row is stored twice' "$(sql "SELECT uniqExact(number, probe, metric, split, key) FROM rows WHERE host = 'violet'")" "$rows"

# ---- a full disk: the newest rows remain, and what is lost is counted ----

mkdir "$dir/small"
if mount -t tmpfs -o size=28k none "$dir/small" 2>/dev/null; then
	clickhouse_kill one
	host pink --no-ring --clickhouse-spool "$dir/small/spool"
	ok 'full: rows are lost' wait_for at_least 'rows_total{result="lost"}' 10
	ok 'full: others still wait' at_least spool_rows 5
	clickhouse_start one
	ok 'full: they are stored' wait_for stored
	serve_stop
	read -r rows batches last <<<"$(rows_of pink)"
	ok 'full: the first ones are missing' test "$batches" -lt "$last"
	is 'full: the last ones are not' "$(sql "SELECT count(DISTINCT number) FROM rows WHERE host = 'pink' AND number >= $((last - 3))")" 3
	umount "$dir/small"
else
	skip 'a full disk' 'cannot mount a tmpfs'
fi

# ---- refused ----

export LATSCOPE_CLICKHOUSE_USER=writer LATSCOPE_CLICKHOUSE_PASSWORD=wrong
host black --no-ring
unset LATSCOPE_CLICKHOUSE_USER LATSCOPE_CLICKHOUSE_PASSWORD
ok 'a wrong password is said' wait_for said 'HTTP status 401'
is 'it is not shown' "$(grep -c wrong "$dir/serve.err")" 0
ok 'the rows wait' wait_for at_least spool_rows 5
serve_stop
host white --no-ring --clickhouse-login "$dir/login"
ok 'with the right one they are stored' wait_for at_least 'rows_total{result="stored"}' 10
is 'no user or password is on the command line' "$(tr '\0' ' ' <"/proc/$server/cmdline" | grep -c secret)" 0
serve_stop
ok 'also those that waited' test "$(sql "SELECT count() FROM rows WHERE host = 'black'")" -ge 5
sql 'DROP TABLE schema_version'
sql 'CREATE VIEW schema_version AS SELECT toUInt32(0) AS version'
host brown --no-ring
ok 'a schema of another version is said' wait_for said 'it has version 0 of the schema, this latscope uses 1'
serve_stop
is 'nothing is stored in it' "$(sql "SELECT count() FROM rows WHERE host = 'brown'")" 0
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# serve: the exporter, read by curl, promtool and a real Prometheus, about a real load. All ports are on the loopback device.
# shellcheck disable=SC2119 # options of serve are optional
. "$(dirname "$0")/../cli/serve.sh"
skip_unless_able

# ---- the exporter ----

serve_start
run serve --listen "$address"
ok 'the port is in use' refused 1 "cannot listen on $address: Address already in use; choose another with --listen"

ok '/healthz' tap_match "$(get /healthz)" '^ok$'
ok '/ has links' tap_match "$(get /)" '/metrics.*/report.*/healthz'
is 'an unknown page' "$(get_status /no/such)" 404
is 'POST is refused' "$(get_status /metrics -d x=1)" 405
is 'HEAD is answered' "$(get_status /metrics -I)" 200
get /metrics >"$dir/metrics"
ok 'promtool finds nothing' quiet promtool check metrics <"$dir/metrics"
ok 'the accounting balances' has 'latscope_accounting_balanced{probe="runqlat",metric="run_queue"} 1'
ok 'the method is told' has 'latscope_probe_info{probe="runqlat",method="'
ok 'the build is told' has 'latscope_build_info{version="'
lacks_unknown() { ! grep -E ' (NaN|-1)$' "$dir/metrics"; }
ok 'what is unknown is absent' lacks_unknown
get /metrics -H 'Accept: application/openmetrics-text' >"$dir/open"
is 'OpenMetrics has an end' "$(tail -n 1 "$dir/open")" '# EOF'
# samples FILE: the names of all samples
samples() { grep -oE '^[a-z_]+' "$1" | sort -u; }
same_samples() { # a value may become known between two requests
	get /metrics >"$dir/metrics" && get /metrics -H 'Accept: application/openmetrics-text' >"$dir/open" &&
		[ "$(samples "$dir/metrics")" = "$(samples "$dir/open")" ]
}
ok 'OpenMetrics has the samples of the text' wait_for same_samples
ok 'OpenMetrics: a counter without its suffix' grep -q '^# TYPE latscope_accounted_events counter$' "$dir/open"

# encoding OPTION...: of an answer
encoding() { get /metrics -o /dev/null -D - "$@" | tr -d '\r' | awk -F ': ' 'tolower($1) == "content-encoding" { print $2 }'; }
is 'gzip for those that take it' "$(encoding -H 'Accept-Encoding: br, gzip')" gzip
is 'not for others' "$(encoding)$(encoding -H 'Accept-Encoding: br')$(encoding -H 'Accept-Encoding: gzip;q=0, br')" ''
names() { sed -n 's/^# TYPE \([^ ]*\).*/\1/p'; }
is 'it has the same metrics' "$(get /metrics --compressed | names)" "$(get /metrics | names)"
is 'gzip and protobuf' "$(encoding -H 'Accept-Encoding: gzip' -H 'Accept: application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited')" gzip

# ---- Prometheus ----

# The first one asks for OpenMetrics, the second one for protobuf. promtool has read the text above.
prometheus_start
ok 'Prometheus reads OpenMetrics' wait_for answers text 'up' '1'
ok 'Prometheus reads native histograms' wait_for answers native 'up' '1'

if load_in_cgroup 2s; then
	ok 'the cgroup is exported' wait_for settled
	ok 'it waited often' test "$(waited count)" -gt 1000
	# scraped KIND QUERY: Prometheus has what a scrape has now: more than before, if a reading of the keys was late
	scraped() { answers "$1" "$2" "$(waited count)"; }
	ok 'text: the count is equal' wait_for scraped text "${waits}_count{cgroup=\"$name\"}"
	ok 'native: the count is equal' wait_for scraped native "histogram_count($waits{cgroup=\"$name\"})"

	# Both have the whole load. A bucket is 9 % wide, and a slot of 3 % may be in the next one.
	snapshot_new --last 1m
	quantile() {
		json runqlat "first(.keys[]? | select(.name == \"$name\")) | .percentiles.p$1_us / 1e6"
	}
	# near KIND QUANTILE NAME FACTOR: what Prometheus says is at most this far from the report
	near() {
		local series="${waits}_bucket{cgroup=\"$name\"}" theirs ours

		[ "$1" = text ] || series="$waits{cgroup=\"$name\"}"
		theirs=$(ask "$1" "histogram_quantile($2, $series)") && ours=$(quantile "$3") || return
		awk -v a="$theirs" -v b="$ours" -v most="$4" \
			'BEGIN { print a, b; exit !(a > 0 && b > 0 && a / b <= most && b / a <= most) }'
	}
	get /metrics >"$dir/metrics"
	ok 'its path is told' has "latscope_cgroup_info{cgroup=\"$name\",path=\"$name\"} 1"
	ok 'promtool finds nothing with cgroups' quiet promtool check metrics <"$dir/metrics"
	is 'the report has the same count' "$(json runqlat "first(.keys[]? | select(.name == \"$name\")) | .total_events")" \
		"$(waited count)"
	for q in '0.5 50' '0.99 99' '0.999 99_9'; do
		ok "native: p${q#* } is that of the report" near native "${q% *}" "${q#* }" 1.13
		ok "text: p${q#* } is that of the report" near text "${q% *}" "${q#* }" 4
	done
else
	skip 'the load of a cgroup' 'no cgroup can be made here'
fi

serve_ends_silently 'SIGTERM ends it'
done_testing

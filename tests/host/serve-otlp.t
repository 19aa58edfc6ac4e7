#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# serve --otlp over real connections: metrics for an OpenTelemetry collector, which is one that keeps what it gets (otlp-receiver.js). What it got is
# compared with the schema (otlp-check.js) and with a scrape.
. "$(dirname "$0")/../cli/serve.sh"
skip_unless_able

hide_curl='for file in $(ldconfig -p | sed -n "s/.*libcurl.* => //p"); do mount --bind /dev/null "$(readlink -f "$file")" || exit 99; done'
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
	in_mounts "$hide_curl" refuses 'no libcurl: it says which package has it' 1 \
		'cannot send metrics: libcurl is missing; install the package libcurl3-gnutls$' \
		serve -q --listen 127.0.0.1:0 --no-ring --otlp http://127.0.0.1:1
else
	skip 'no libcurl: it says which package has it' 'only root can hide it'
fi

# receiver_start NAME: a collector at $collector, which keeps bodies in $got
receiver_start() {
	got=$dir/$1
	mkdir "$got"
	node tests/cli/otlp-receiver.js "$got" >"$got/port" 2>"$got/err" &
	receiver=$!
	servers+=("$receiver")
	wait_for test -s "$got/port"
	collector=127.0.0.1:$(cat "$got/port")
}
bodies() { find "$got" -name '*.json' | wc -l; }
have() { [ "$(bodies)" -ge "$1" ]; }
last() { printf '%s\n' "$got"/*.json | sort -V | tail -n 1; }
valid() { quiet node tests/cli/otlp-check.js "$got"/*.json; }
# points METRIC FILTER FILE...: of the data points of a metric
points() {
	jq -r --arg name "$1" '.resourceMetrics[].scopeMetrics[].metrics[] | select(.name == $name) |
		(.exponentialHistogram // .sum // .gauge).dataPoints[] | '"$2" "${@:3}"
}
metric() { get /metrics | sed -n "s|^$1 ||p"; }
of_cgroup='select(.attributes[] | .key == "cgroup" and .value.stringValue == $ENV.name)'
export name=''

# ---- cumulative ----

receiver_start cumulative
export OTEL_EXPORTER_OTLP_HEADERS='x-key=secret=1, x-other=2'
serve_start --no-ring --otlp "http://$collector" --otlp-interval 1s
unset OTEL_EXPORTER_OTLP_HEADERS
if load_in_cgroup 1s; then
	wait_for settled
	# same NAME: the last body has what a scrape has now, which is more than before if a reading of the keys was late
	same() {
		local sent

		sent=$(points "$waits" "$of_cgroup | .$1" "$(last)")
		[ -n "$sent" ] && tap_same "$sent" "$(jq -n "$(waited "$1")")"
	}
	ok 'the count is that of a scrape' wait_for same count
	ok 'it is large' test "$(waited count)" -gt 1000
	ok 'the sum is that of a scrape' wait_for same sum
fi
wait_for have 3
ok 'bodies are valid' valid
is 'the path is that of OTLP' "$(jq -r .path "$got/1.headers")" /v1/metrics
is 'headers of the environment are sent' "$(jq -r '.["x-key"] + .["x-other"] + .["content-type"]' "$got/1.headers")" \
	'secret=12application/json'
is 'the start of a counter does not move' \
	"$(points latscope_accounted_events_total .startTimeUnixNano "$got"/*.json | sort -u | wc -l)" 1
is 'who sends it' "$(jq -r '.resourceMetrics[0].resource.attributes[] | select(.key == "host.name").value.stringValue' "$(last)")" \
	"$(uname -n)"

# ---- a collector that is away, or refuses ----

before=$(bodies)
echo 503 >"$got/status"
fails() { get /metrics | grep -qx 'latscope_otlp_works 0'; }
ok 'a collector that is busy is noticed' wait_for fails
said() { grep -qx "latscope: cannot send metrics to http://$collector/v1/metrics: HTTP status 503, not today" "$dir/serve.err"; }
ok 'it is said' wait_for said
puts_off() { [ "$(grep -c . "$got/refused")" -ge 3 ]; }
ok 'it is tried again' wait_for puts_off
is 'it is said once' "$(wc -l <"$dir/serve.err")" 1
rm "$got/status"
works() { get /metrics | grep -qx 'latscope_otlp_works 1'; }
ok 'it is sent again' wait_for works
is 'nothing is lost' "$(metric 'latscope_otlp_bodies_total{result="refused"}')$(metric 'latscope_otlp_bodies_total{result="dropped"}')" 00
ok 'all arrive' wait_for have $((before + 3))
echo 400 >"$got/status"
refused() { get /metrics | grep -qE '^latscope_otlp_bodies_total.result="refused". [1-9]'; }
ok 'what is refused is counted' wait_for refused
kill "$receiver"
serve_ends 'it ends without a collector'

# ---- delta ----

receiver_start delta
serve_start --no-ring --otlp "http://$collector/otlp" --otlp-interval 1s --otlp-temporality delta
if load_in_cgroup 1s; then
	wait_for settled
	whole() { tap_same "$(points "$waits" "$of_cgroup | .count" "$got"/*.json | awk '{ sum += $1 } END { print sum }')" "$(waited count)"; }
	ok 'delta: their sum is that of a scrape' wait_for whole
fi
serve_stop
seen=$(points latscope_accounted_events_total 'select(.attributes[1:] | map(.value.stringValue) == ["run_queue", "seen"]) | .asDouble' "$got"/*.json |
	awk '{ sum += $1 } END { print (sum > 1000) }')
is 'delta: the last body is sent at the end' "$status $seen" '0 1'
ok 'delta: bodies are valid' valid
is 'delta: the temporality' "$(jq -c '[.. | .aggregationTemporality? // empty] | unique' "$(last)")" '[1]'
is 'the path is the one that was given' "$(jq -r .path "$got/1.headers")" /otlp
# The end of one is the start of the next.
gaps() {
	# shellcheck disable=SC2046 # no name has a blank
	points latscope_http_requests_total '"\(.startTimeUnixNano) \(.timeUnixNano)"' $(printf '%s\n' "$got"/*.json | sort -V) |
		awk 'NR > 1 && $1 != end { print } { end = $2 }'
}
is 'delta: no gap in time' "$(gaps)" ''
done_testing

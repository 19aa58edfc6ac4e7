# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # variables of cli.sh
# Functions for tests of serve, and those of cli.sh.
# shellcheck source=tests/cli/cli.sh
. "${BASH_SOURCE[0]%/*}/cli.sh"

address='' # of the exporter
server=''
servers=() # process IDs that end with the test

end_servers() {
	[ ${#servers[@]} = 0 ] || kill "${servers[@]}" 2>/dev/null
	[ ${#servers[@]} = 0 ] || wait "${servers[@]}" 2>/dev/null
}
on_exit end_servers

# serve_start ARG...: starts latscope serve on a free port as $server, and waits until it listens at $address
serve_start() {
	local said

	: >"$dir/serve.err"
	"${as[@]}" "$latscope" serve --listen 127.0.0.1:0 --ring-dir "$dir/ring" --ring 16M "$@" >"$dir/serve.out" 2>>"$dir/serve.err" &
	server=$!
	servers+=("$server")
	wait_for grep -q '^listening on' "$dir/serve.err" || { cat "$dir/serve.err" && return 1; }
	address=$(sed -n 's|^listening on http://\(.*\)/$|\1|p' "$dir/serve.err")
	# Not sed -i: serve would go on writing to the old file.
	said=$(sed '/^listening on/d' "$dir/serve.err")
	printf '%s' "$said" >"$dir/serve.err"
	wait_for get /healthz
}

# serve_stop: ends it with SIGTERM, and sets $status
serve_stop() {
	kill -TERM "$server"
	wait "$server"
	status=$?
}

# serve_ends TITLE: a test that it ends well; serve_ends_silently TITLE: and that it has said nothing
serve_ends() {
	serve_stop
	is "$1" "$status" 0
}
serve_ends_silently() {
	serve_ends "$1"
	ok 'nothing was said' quiet cat "$dir/serve.err"
}

# get PATH [OPTION...]: prints the answer of the exporter
get() { curl -sSf --max-time 20 "${@:2}" "http://$address$1"; }
get_status() { curl -s --max-time 20 -o /dev/null -w '%{http_code}' "${@:2}" "http://$address$1"; }

# span LEVEL SECONDS: the flight recorder has so much
span() {
	get /metrics | awk -v name="latscope_recorder_span_seconds{level=\"$1\"}" -v least="$2" \
		'$1 == name && $2 >= least { found = 1 } END { exit !found }'
}

# load_in_cgroup TIME: a load in a cgroup that is gone afterwards, $name: what is counted of it later is all of it
load_in_cgroup() {
	cgroup_new || return
	(echo "$BASHPID" >"$cgroup/cgroup.procs" && exec "$latscope" load -q pingpong -d "$1")
	rmdir "$cgroup"
	name=/${cgroup##*/}
}
waits=latscope_cgroup_runqlat_run_queue_seconds

# waited count|sum: of the waits of that load, by a scrape; settled: it does not change any more
waited() { get /metrics | sed -n "s|^${waits}_$1{cgroup=\"$name\"} ||p"; }
settled() { local one; one=$(waited count) && seconds_over 2 && [ -n "$one" ] && [ "$one" = "$(waited count)" ]; }

# has TEXT: $dir/metrics has a line that begins with it
has() { grep -qF "$1" "$dir/metrics" || { grep -v '_bucket{' "$dir/metrics" | head -n 40 && false; }; }

# quiet CMD...: it succeeds and prints nothing
quiet() {
	local said

	said=$("$@" 2>&1) || { echo "$said" && return 1; }
	[ -z "$said" ] || { echo "$said" && false; }
}

# node_start ARG...: starts a server of node that prints its port; sets $node_url
node_start() {
	rm -f "$dir/port"
	node "$@" >"$dir/port" &
	servers+=($!)
	wait_for test -s "$dir/port"
	node_url=http://127.0.0.1:$(<"$dir/port")
}

# free_port: prints a port that nobody listens on
free_port() {
	local port

	while :; do
		port=$((20000 + RANDOM % 12000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port" && return; }
	done
}

# prometheus_start: starts two that scrape the exporter every second: "text", and "native", with native histograms
declare -A prometheus=()
prometheus_start() {
	local kind port

	for kind in text native; do
		port=$(free_port)
		cat >"$dir/$kind.yml" <<-END
			global: { scrape_interval: 1s, scrape_timeout: 1s }
			scrape_configs:
			- job_name: latscope
			  static_configs: [ { targets: [ "$address" ] } ]
		END
		prometheus --config.file="$dir/$kind.yml" --storage.tsdb.path="$dir/$kind.tsdb" \
			--web.listen-address="127.0.0.1:$port" --log.level=warn \
			"--enable-feature=$([ $kind = native ] && echo native-histograms)" 2>"$dir/$kind.log" &
		servers+=($!)
		prometheus[$kind]=127.0.0.1:$port
	done
}

# ask KIND QUERY: prints the value of a query of one series
ask() {
	curl -sSf --max-time 10 --data-urlencode "query=$2" "http://${prometheus[$1]}/api/v1/query" |
		jq -er '.data.result | if length == 1 then .[0].value[1] else error("\(length) results") end'
}

# answers KIND QUERY VALUE
answers() { [ "$(ask "$1" "$2" 2>/dev/null)" = "$3" ]; }

# ring: prints the directory of the newest flight recorder
ring() { printf '%s\n' "$dir"/ring/*-ring | tail -n 1; }

# snapshot_new ARG...: makes a snapshot as $snapshot, and sets $out, $err and $status
snapshot_new() {
	rm -rf "$dir/snapshots"
	run snapshot -q -o "$dir/snapshots" "$@" "$dir/ring"
	snapshot=$(recording "$dir/snapshots")
}

# json PROBE FILTER: of the snapshot
json() { "$latscope" report --json "$snapshot" | jq -er --arg probe "$1" '.. | objects | select(.module? == $probe) | '"$2"; }

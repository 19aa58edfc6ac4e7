#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The alert rules for Prometheus and the dashboard for Grafana have no metric that latscope does not export: some are only there
# when all probes run, so that a server must measure. tests/cli/serve-rules.t tests the rules themselves.
# shellcheck disable=SC2119 # options of serve are optional
. "$(dirname "$0")/../cli/serve.sh"
skip_unless_able

rules=packaging/prometheus/latscope.rules.yml
jq -r '.panels[].targets[].expr' packaging/grafana/latscope.json >"$dir/queries"

# not_exported: prints names of metrics that the rules and the dashboard have and the exporter does not
not_exported() {
	local name

	grep -ohE '\b(latscope|process)_[a-z_]+' "$rules" "$dir/queries" | sort -u | while read -r name; do
		[ "$name" = latscope_memlat_ ] || grep -q "^${name}[{ ]" "$dir/metrics" || echo "$name"
	done
}
# A server of ClickHouse with the schema that takes no rows: then some wait.
node_start -e 'require("http").createServer((request, response) => {
	response.statusCode = request.url.includes("INSERT") ? 500 : 200;
	response.end(`1\t${Math.floor(Date.now() / 1000)}\n`);
}).listen(0, "127.0.0.1", function () { console.log(this.address().port); })'
serve_start --clickhouse "$node_url" --clickhouse-interval 1s
"$latscope" load -q mixed -d 2s --dir "$dir"
checked() {
	local name

	get /metrics >"$dir/metrics"
	for name in kernel_check_agrees clickhouse_clock_skew_seconds clickhouse_spool_age_seconds; do
		grep -q "^latscope_${name}[ {]" "$dir/metrics" || return
	done
}
wait_for checked
get /metrics >"$dir/metrics"
is 'all metrics are exported' "$(not_exported)" ''
serve_ends 'it ends'
done_testing

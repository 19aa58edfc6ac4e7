#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The alert rules for Prometheus and the dashboard for Grafana: each alert in both directions, and queries that parse.
. "$(dirname "$0")/cli.sh"
command -v promtool >/dev/null || skip_all 'promtool is not installed'

rules=packaging/prometheus/latscope.rules.yml
dashboard=packaging/grafana/latscope.json
ok 'promtool accepts the rules' promtool check rules "$rules"
cp "$rules" tests/cli/serve-rules.yml "$dir"
ok 'each alert fires when it should, and only then' promtool test rules "$dir/serve-rules.yml"

# The queries as rules, so that promtool parses them.
jq -r '.panels[].targets[].expr' "$dashboard" >"$dir/queries"
sed 's/\$__rate_interval/5m/g; s/\$instance/.*/g; s/\$cgroup/.*/g' "$dir/queries" |
	jq -nR '{groups: [{name: "queries", rules: [[inputs] | to_entries[] | {record: "q\(.key)", expr: .value}]}]}' >"$dir/queries.yml"
ok 'promtool accepts the queries of the dashboard' promtool check rules "$dir/queries.yml"
is 'no two panels overlap' "$(jq '[.panels[].gridPos | range(.x; .x + .w) as $x | range(.y; .y + .h) as $y | [$x, $y]] |
	length - (unique | length)' "$dashboard")" 0

done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# /report of serve: the last minutes as a page.
# shellcheck disable=SC2119 # options of serve are optional
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
. tests/cli/serve.sh
skip_unless_able

serve_start
has_span() { get /metrics | grep -qE '^latscope_recorder_span_seconds.level="coarse".*[3-9]'; }
wait_for has_span
"$latscope" load -q mixed -d 2s
sleep 1.1

# ---- the page is that of a snapshot ----

page=$dir/page.html
get '/report?last=10m' -D "$dir/headers" >"$page"
ok 'it is a page' grep -qix $'content-type: text/html; charset=utf-8\r' "$dir/headers"
ok 'it is complete' tap_match "$(tail -n 1 "$page")" '</html>$'
snapshot_new --last 10m
# of_page FILTER: of the data in the page
of_page() {
	sed -n 's|.*<script type="application/json" id="data">||p' "$page" | sed 's|</script>.*||' | jq -erc ".report | $1"
}
end=$(of_page .duration_sec)
# The snapshot is longer: the service went on.
of_snapshot() { "$latscope" report --json --to "${end}s" "$snapshot" | jq -erc "$1"; }
for what in '[.probes[] | .module, .total_events, .max_us, .accounting.seen, .percentiles]' .start .host; do
	is "the page has the numbers of a snapshot: $what" "$(of_page "$what")" "$(of_snapshot "$what")"
done
ok 'it has events' test "$(of_page '.probes | map(select(.module == "runqlat"))[0].total_events')" -gt 100
shorter=$(get '/report?last=2s' >"$page" && of_page .duration_sec)
ok 'it has the time that was asked for' tap_match "$shorter" '^(1\.|2$|2\.0)'

# ---- bounds ----

# Two at once: only one is made.
get_status '/report?last=1h' >"$dir/first" &
first=$!
other=$(for _ in 1 2 3 4; do get_status '/report?last=1h'; done | sort | uniq -c | tr -s ' \n' ' ')
wait "$first"
ok 'one page at a time' tap_match "$(cat "$dir/first") $other" '(^200 .*503|^503 .*200)'
is 'a time that is none' "$(get_status '/report?last=x')" 400
is 'a time that is too long' "$(get_status '/report?last=2h')" 400
is 'no time: ten minutes' "$(get_status /report)" 200
curl -s --max-time 0.05 -o /dev/null "http://$address/report?last=1h"
again() { [ "$(get_status '/report?last=1s')" = 200 ]; }
ok 'a client that goes away does no harm' wait_for again

# ---- what is left ----

# Its only child gives the files back to root (architecture.md).
is 'no process is left' "$(pgrep -P "$server" | wc -l)" "$([ "$(id -u)" = 0 ] && echo 1 || echo 0)"
is 'no file is left' "$(find "$dir/ring" -mindepth 2 -maxdepth 2 ! -name 'fine-*' ! -name 'coarse-*')" ''
get_status '/report?last=1h' >/dev/null &
sleep 0.1
kill -KILL "$server"
wait "$server" 2>/dev/null
serve_start
gone() { [ -z "$(find "$dir/ring" -name '*-page')" ]; }
ok 'the service is killed meanwhile: the next one leaves no file' wait_for gone
serve_stop

serve_start --no-ring
is 'without a flight recorder' "$(get_status /report)" 404
get_status '/report?last=1h' >/dev/null &
serve_stop
is 'it ends' "$status" 0
ok 'nothing was said' quiet cat "$dir/serve.err"
done_testing

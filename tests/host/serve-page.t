#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# /report of serve: the last minutes of this machine as a page, over real connections. tests/cli/page.t has the page.
# shellcheck disable=SC2119 # options of serve are optional
. "$(dirname "$0")/../cli/serve.sh"
. tests/measure.sh
skip_unless_able

serve_start
has_page() { [ "$(get_status '/report?last=1s')" = 200 ]; }
ok 'a page is asked for before there is anything: then again, until it is made' wait_for has_page
wait_for span coarse 3
"$latscope" load -q mixed -d 2s
seconds_over 2

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
# It begins with a whole interval, and an interval of a busy machine may be a long one.
begin_evidence
get '/report?last=2s' >"$page"
snapshot_new --last 10s
end_evidence
longest_ms=$(sqlite3 -readonly "$snapshot/run.db" 'SELECT max(end_ns - start_ns) / 1000000 FROM interval')
within 'it has the time that was asked for' 1000 "$(of_page '.duration_sec * 1000 | floor')" $((2001 + longest_ms))
calm

# ---- bounds ----

# While one page is asked for, others are: of two at once, only one is made. The codes of all tries are in $dir/codes.
ask_page() { get_status '/report?last=1h' && echo; }
two_pages() {
	local one

	ask_page >>"$dir/codes" &
	one=$!
	until gone "$one"; do
		ask_page >>"$dir/codes"
	done
	wait "$one"
	tap_same "$(sort -u "$dir/codes" | paste -sd ' ')" '200 503'; }
measured 'one page at a time' two_pages # on a busy machine they may come one after the other
is 'a time that is none' "$(get_status '/report?last=x')" 400
is 'a time that is too long' "$(get_status '/report?last=2h')" 400
is 'no time: ten minutes' "$(get_status /report)" 200
curl -s --max-time 0.05 -o /dev/null "http://$address/report?last=1h"
ok 'a client that goes away does no harm' wait_for has_page

# ---- what is left ----

# Its only child gives the files back to root (architecture.md).
is 'no process is left' "$(pgrep -P "$server" | wc -l)" "$([ "$(id -u)" = 0 ] && echo 1 || echo 0)"
is 'no file is left' "$(find "$dir/ring" -mindepth 2 -maxdepth 2 ! -name 'fine-*' ! -name 'coarse-*')" ''
get_status '/report?last=1h' >/dev/null &
asked=$!
until [ -n "$(find "$dir/ring" -name '*-page')" ] || gone "$asked"; do :; done
kill -KILL "$server"
wait "$server" 2>/dev/null
serve_start
no_page_left() { [ -z "$(find "$dir/ring" -name '*-page')" ]; }
ok 'the service is killed meanwhile: the next one leaves no file' wait_for no_page_left
serve_stop

serve_start --no-ring
is 'without a flight recorder' "$(get_status /report)" 404
get_status '/report?last=1h' >/dev/null &
serve_ends_silently 'it ends'
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# report --html: options, and what cannot be written. tests/cli/page.t opens pages in a browser.
. "$(dirname "$0")/cli.sh"

wrong 'a page as JSON' '--html is of the whole recording' report --html page.html --json a
wrong 'a page of one probe' '--html is of the whole recording' report --html page.html -P iolat a
refuses 'no recording' 1 'a: there is no recording' report --html "$dir/page.html" "$dir/a"
wrong 'a picture and a page' 'choose one of --html and --svg' report --html page.html --svg page.svg a
wrong 'a picture as JSON' '--svg is of the whole recording' report --svg page.svg --json a
wrong 'a span without length' '--from must be before --to' report --from 2s --to 1s a
wrong 'a span of nothing' 'invalid duration|--to 0' report --to 0 a
wrong 'a comparison as JSON' '--html writes all of it' compare --html page.html --json a b
is 'then there is no page' "$(ls -A "$dir")" stderr

stored memlat
recording=$dir/memlat # four intervals of half a second
cannot() { refuses "$1" 1 "cannot write $2: $3" report --html "$2" "$recording"; }
cannot 'no directory' "$dir/none/page.html" 'No such file or directory'
cannot 'a file as directory' "$recording/run.db/page.html" 'Not a directory'
cannot 'a directory' "$dir/memlat" 'not a regular file'
cannot 'no name' "$dir/" 'not the name of a file'
cannot 'a device' /dev/null 'not a regular file'
is 'which is still there' "$(stat -c %F /dev/null)" 'character special file'
ln -s "$dir/victim" "$dir/link"
cannot 'a link' "$dir/link" 'not a regular file'
ok 'whose target is not made' test ! -e "$dir/victim"
mkdir -m 777 "$dir/open"
if [ "$(id -u)" = 0 ]; then
	cannot 'a directory in which anybody may rename files' "$dir/open/page.html" 'other users can rename'
	is 'where nothing is left' "$(ls -A "$dir/open")" ''
else
	skip 'a directory in which anybody may rename files' 'only root does not trust it'
fi
chmod 1777 "$dir/open" && ln -s "$dir/victim" "$dir/open/.page.html.tmp"
check 'a planted temporary file' 0 'page in ' '' report --html "$dir/open/page.html" "$recording"
ok 'is not followed' test ! -e "$dir/victim"
is 'and is gone' "$(ls -A "$dir/open")" page.html
check 'the page is replaced' 0 'page in ' '' report --html "$dir/open/page.html" "$recording"
check 'quiet' 0 '' '' report -q --html "$dir/open/page.html" "$recording"
check 'standard output' 0 '' '^<!DOCTYPE html>.*</html>$' report --html - "$recording"
is 'has the page and nothing else' "$out" "$(<"$dir/open/page.html")"
check 'a comparison on standard output' 0 '' '^<!DOCTYPE html>.*</html>$' compare -q --html - "$recording" "$recording"
check 'a picture' 0 'picture in ' '' report --svg "$dir/open/page.svg" "$recording"
check 'a picture on standard output' 0 '' '^<svg xmlns.*</svg>$' report --svg - "$recording"
is 'is the same' "$out" "$(<"$dir/open/page.svg")"
cannot_write() { ! "$latscope" report --html - "$recording" 2>"$dir/stderr" >/dev/full && grep -q 'cannot write to standard output: No space left' "$dir/stderr"; }
ok 'standard output that is full' cannot_write
is 'none is a file' "$(find . "$dir" -maxdepth 1 -name '-*')" ''
wrong 'a page and JSON on one output' '--html - needs standard output' ab --html - --json --off true --on true
run report --from 600ms --to 10m --json "$recording"
like 'a part of a recording says which' "$(jq -c '[.span_from_sec > 0.3, (.span_to_sec - .timeline.intervals[-1].end_sec | fabs) < 1e-4]' <<<"$out")" '\[true,true\]'
is 'and not what is known of the whole only' \
	"$(jq -c '.probes[0].accounting | [.in_flight, .recursion_missed, .lost, .kernel_check]' <<<"$out")" '[null,null,null,null]'
whole=$("$latscope" report --json "$recording" | jq '.probes[0].total_events')
parts=0
for span in '--from 0 --to 700ms' '--from 700ms --to 1300ms' '--from 1300ms'; do
	# shellcheck disable=SC2086 # to be split
	part=$("$latscope" report --json $span "$recording" | jq '.probes[0].total_events')
	parts=$((parts + part))
done
is 'parts that follow each other have all events' "$parts" "$whole"
refuses 'a span after the end' 1 'no interval of it is in this span; change --from' report --from 5m "$recording"
check 'a part as text' 0 '' 'part of the recording: 0.[0-9]* s to' report --from 600ms "$recording"
done_testing

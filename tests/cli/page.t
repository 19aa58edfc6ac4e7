#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# Pages of report --html and compare --html in a browser: they open, ask nobody, show the numbers of report --json for the same
# span, in the dark, in the light and without scripts; and stay small.
. "$(dirname "$0")/cli.sh"

for tool in chromium node jq sqlite3 perl pdftotext; do
	command -v $tool >/dev/null || skip_all "$tool is not installed"
done

# chrome FILE#FRAGMENT OPTION...: runs the browser; $dir/console has what it logged
chrome() {
	timeout -k 5 60 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
		--user-data-dir="$dir/profile" --window-size=1300,1800 --virtual-time-budget=5000 \
		--enable-logging=stderr --log-file=/dev/null "${@:2}" "file://$1" 2>"$dir/log"
	grep CONSOLE "$dir/log" >"$dir/console" || :
}
dom() { chrome "$1" --dump-dom >"$dir/dom"; }
silent() { ! grep . "$dir/console"; }
# with SCRIPT: $dir/framed.html is the page with one more script
with() {
	(sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$dir/page.html" && echo '<script>' && cat "tests/cli/page/$1" &&
		echo '</script>') >"$dir/framed.html"
}
# fits TITLE: a test that at no width anything of $dir/page.html is cut, unfolded; each width is a frame
fits() {
	with fits.js
	(echo '<script>onmessage = (event) => { document.body.append(event.data, document.createElement("br")); };</script>' &&
		printf '<iframe src="framed.html" width="%s" height="1800" style="border: 0"></iframe>\n' 400 800 1280 1920) >"$dir/frames.html"
	dom "$dir/frames.html"
	is "$1" "$(sed 's/<br>/\n/g' "$dir/dom" | sed 's/<[^>]*>//g; s/^onmessage.*;//' | grep . | sort -n)" \
		"$(printf '%s: nothing is cut\n' 400 800 1280 1920)"
}
# opens TITLE [FRAGMENT]: a test that the browser has nothing to say about $dir/page.html
opens() { dom "$dir/page.html${2-}" && ok "$1" silent; }

# page ARG...: writes $dir/page.html
page() { check "$1" 0 '^(latscope: )?page in ' '' report --html "$dir/page.html" "${@:2}"; }

stored hostile
recording=$dir/hostile
page 'report writes a page' "$recording"
is 'that only its owner can read' "$(stat -c %a "$dir/page.html")" 600
is 'and leaves no other file' "$(find "$dir" -maxdepth 1 -name '.*')" ''
is 'the page names no address but that of SVG' "$(grep -oE '[a-z]+://[^"]*' "$dir/page.html" | sort -u)" 'http://www.w3.org/2000/svg'
is 'no name ends a script' "$(grep -o '</script' "$dir/page.html" | wc -l)" 2
is 'nor has escape sequences' "$(LC_ALL=C grep -c $'\e\|\xff\|\xe2\x80\xae' "$dir/page.html")" 0
within 'a short recording is a small page' 20000 "$(stat -c %s "$dir/page.html")" 600000

opens 'the page opens without an error'
like 'it shows the name as text' "$(<"$dir/dom")" '&lt;/script&gt;&lt;b&gt;x'
like 'a stack has its thread' "$(<"$dir/dom")" '<div>stack of ([^<]+ \([0-9]+\)|thread [0-9]+)(, which made it wait)?</div>'
like 'and its title' "$(<"$dir/dom")" '<title>latscope report 2'
# section ID: its text; headings: those of the page
section() { tr '\n' ' ' <"$dir/dom" | grep -oP "<section id=\"$1\">.*?</section>" | sed 's/<[^>]*>/ /g; s/  */ /g'; }
headings() { tr '\n' ' ' <"$dir/dom" | sed 's/<div id="static".*//' | grep -oP '<h2>\K[^<]*'; }
is 'the answer comes first, its accounting last' "$(headings)" "$(printf '%s\n' 'Who slowed whom' Pressure 'Latency over time' 'Who waited' \
	'Slow events of runqlat' 'Percentiles of runqlat' 'Accounting and method')"
like 'the accounting is folded' "$(tr '\n' ' ' <"$dir/dom")" '<details><summary>Accounting, method and host: all events are accounted for'
is 'what has no link is one line' "$(grep -oP '<p class="note correlation">\K[^:<]*' "$dir/dom" | sort | uniq -c | sed 's/^ *//' | grep found)" '1 No link found'
# The page weighs intervals by the time between their ends, report by that between the readings.
same_pressure() {
	paste <(section bars | grep -oP 'waited for it \(PSI\): \K.*?%.*?%.*?%' | grep -oE '[0-9.]+') \
		<("$latscope" report --json "$recording" | jq '.pressure.columns[:3][].mean * 100') |
		awk '{ print; off = $1 - $2; if (NF != 2 || off < -0.1 || off > 0.1) bad = 1 } END { exit bad || NR != 3 }'
}
ok 'the pressure is that of report' same_pressure
fits 'nothing is cut'
with more.js
dom "$dir/framed.html"
like 'ten slow events, and ten more at a time' "$(grep '<title>shown' "$dir/dom")" '<title>shown: 10 20 26<'
is 'no column has the name that it has in files' "$(grep -cE ' and [a-z_]+_ns' "$dir/dom")" 0

# The rows of a metric and of a key in the page, and the same of report --json.
of_page() { node tests/cli/page/values.js <"$dir/dom" | jq -c "select(.[0] == \"$1\" and length == 11) | [.[1], .[3:10][]]"; }
numbers='[.total_events, .percentiles.p50_us, .percentiles.p90_us, .percentiles.p99_us, .percentiles.p99_9_us, .percentiles.p99_99_us,
	.max_us, .mean_us] | if .[0] == 0 then [0] + ([range(7)] | map("–")) else . end'
of_report() { jq -c ".probes[] | select(.module == \"$1\") | .metrics[] | select(.metric == \"$2\") | $numbers" <<<"$out"; }
same_numbers() {
	local metric wanted got

	for metric in $(jq -r ".probes[] | select(.module == \"$1\") | .metrics[].metric" <<<"$out"); do
		got=$(of_page "$metric") wanted=$(of_report "$1" "$metric")
		[ "$got" = "${wanted:-none}" ] || { echo "$metric: page $got, report $wanted" && return 1; }
	done
	[ -n "${metric-}" ]
}
# Not the lines of the table of victims and culprits, all of whose cells are numbers: with nine culprits they are as long.
keys_of_page() {
	node tests/cli/page/values.js <"$dir/dom" |
		jq -c 'select(length == 9 and (.[0] | type) == "string" and .[1] != .[0]) | [.[0], .[3], .[4], .[5], .[6], .[7]]' | sort
}
same_keys() {
	local all

	all=$(jq -c '.probes[] | select(.module == "iolat") | .metrics[0].metric as $first | .keys[] |
		select(.by == "disk" and .metric == $first) |
		[.name, .total_events, .mean_us, .percentiles.p50_us, .percentiles.p99_us, .max_us]' <<<"$out" | sort)
	[ "$(keys_of_page)" = "${all:-none}" ] || { printf 'page:\n%s\nreport:\n%s\n' "$(keys_of_page)" "$all" && false; }
}
run report --json "$recording"
for probe in memlat iolat; do
	dom "$dir/page.html#probe=$probe&by=disk"
	ok "the numbers of $probe are those of report --json" same_numbers $probe
	[ $probe = memlat ] || ok 'and those of its disks' same_keys
done
# At both ends there is an interval of which more than half is within, or not.
run report --from 4.1s --to 5.1s --json "$recording"
for probe in memlat iolat; do
	dom "$dir/page.html#t=4.1..5.1&probe=$probe&by=disk"
	ok "the numbers of $probe in a span are those of --from and --to" same_numbers $probe
	[ $probe = memlat ] || ok 'and those of its disks' same_keys
done
ok 'a span has no error' silent
is 'the address keeps the span' "$(grep -oP 'id="span">\K[^<]*' "$dir/dom")" "$(sqlite3 "$recording/run.db" "
	SELECT printf('%g s to %g s (%d intervals)', round(min(start_ns) / 1e9, 3), round(max(end_ns) / 1e9, 3), count(*)) FROM interval
	WHERE start_ns + (end_ns - start_ns) / 2 BETWEEN 4100000000 AND 5100000000")"

# A page that says how much of the slow time its table leaves out: one pair has 60 of 100, 50 pairs share the rest. The kernel's
# account is off by a thirtieth of a percent.
mkdir "$dir/many" && cp "$recording/run.db" "$dir/many/"
sqlite3 "$dir/many/run.db" "
	CREATE TEMP TABLE one AS SELECT * FROM memlat_why LIMIT 1;
	DELETE FROM memlat_why;
	INSERT INTO memlat_why (interval, time_ns, victim_id, victim, part, culprit_id, culprit, ns, events, over_ns)
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
		SELECT interval, time_ns, i, 'v' || i || ' (' || i || ')', 'io', 7, 'vda', iif(i, 800000, 60000000), 1, over_ns FROM one, n;
	UPDATE acct SET count = count + 500 WHERE metric = 1 AND name = 'seen' AND interval = 2;
	INSERT INTO acct SELECT 2, 1, 'missed_start', 500;
	UPDATE kernel_check SET ours_low = 9997, ours_high = 9997, kernel_low = 10000, kernel_high = 10000, tolerance = 100
		WHERE probe = 1 AND sum = 'events'"
page 'many pairs' "$dir/many"
dom "$dir/page.html#probe=memlat"
like 'what its table leaves out is stated' "$(<"$dir/dom")" \
	'id="left-out">Not shown: 32\.8 ms \(32\.8 %\) of victims.*; 8\.80 ms of that is of pairs that are not among the 40 largest'
like 'lost events are a warning' "$(<"$dir/dom")" '<span class="bad">memlat: 500 events lost</span>.*<details open=""><summary>memlat: 500 events lost<'
like 'a small difference from the kernel has its place value' "$(<"$dir/dom")" 'events agree \(-0\.03 %\)'

colours() { read -r colours bright < <(node tests/cli/page/png.js "$dir/shot.png"); }
chrome "$dir/page.html" --screenshot="$dir/shot.png" && colours
within 'a picture in the light has colours' 200 "$colours" 1000000
within 'and is light' 80 "$bright" 99
chrome "$dir/page.html" --force-dark-mode --screenshot="$dir/shot.png" && colours
within 'a picture in the dark has colours' 200 "$colours" 1000000
within 'and is dark' 3 "$bright" 30

# printed OPTION...: the size of the paper, and the headings on the first sheet
printed() {
	chrome "$dir/page.html" "$@" --print-to-pdf="$dir/page.pdf"
	pdfinfo "$dir/page.pdf" | grep -o 'A4'
	pdftotext -l 1 "$dir/page.pdf" - | grep -xE 'latscope|Latency over time'
}
is 'it prints on A4, with its headings' "$(printed)" $'A4\nlatscope\nLatency over time'
is 'and so does one in the dark' "$(printed --force-dark-mode)" $'A4\nlatscope\nLatency over time'
chrome "$dir/page.html" --blink-settings=scriptEnabled=false --screenshot="$dir/shot.png" && colours
within 'without scripts pictures and tables remain' 20 "$colours" 1000000
like 'which are in the file' "$(<"$dir/page.html")" '<svg viewBox=.*<td>iolat|<td>device</td>'

# ---- where the time went ----

is 'a recording without parts of time has only its pressure' "$(section bars | grep -o 'all threads\|pressure share')" 'pressure share'
stored memlat
sqlite3 "$dir/memlat/run.db" <tests/cli/bars.sql
page 'parts of time' "$dir/memlat"
opens 'parts of time: the page opens without an error'
# bands: of each band its name, and what it says of its parts
bands() { grep -oP '<section id="bars">.*?</section>' <(tr '\n' ' ' <"$dir/dom") | grep -oP '<title>\K[^<]*</title><desc>[^<]*' | sed 's|</title><desc>|: |'; }
is 'parts of time: a band for each process that did something, in shares of its life' "$(bands)" \
	'worker (100): 4.02 s of threads: 62.5 % waited for a futex, 18.8 % on a CPU, 18.8 % waited for a disk
hog (200): 2.01 s of threads: 75.0 % on a CPU, 25.0 % waited for a CPU
others: 4.02 s of threads: 50.0 % waited for a futex, 50.0 % waited for a socket or pipe'
like 'parts of time: all threads at a time, without those that sleep all the time' "$(section bars)" \
	'all threads on average 3\.00 ran or waited at a time: 1\.25 waited for a futex, 1\.13 on a CPU, 0\.38 waited for a disk, 0\.25 waited for a CPU'
like 'parts of time: who waited, for what, because of whom' "$(section who)" \
	'worker \(100\) 3\.26 s 81\.2 % futex 62\.5 %, disk 18\.8 % holder: disk 100 % hog'
# fills: the colour of each path of the first band; the y of its second interval
fills() { grep -oP '<title>worker.*?</svg>' <(tr '\n' ' ' <"$dir/dom") | grep -oP '<path d="[^"]*" fill="\K[^"]*'; }
is 'parts of time: in the colours of top' "$(fills)" $'#009e73\n#d55e00\n#56b4e9'
steps() { grep -oP '<title>worker.*?</svg>' <(tr '\n' ' ' <"$dir/dom") | grep -oP '<path d="[^"]*' | sed 's/.*="//' | grep -oP '^M[0-9.]+ [0-9.]+H[0-9.]+V[0-9.]+' | sed -E 's/M[0-9.]+ ([0-9.]+)H[0-9.]+V/\1 to /'; }
is 'parts of time: stacked from the bottom' "$(steps)" $'44.0 to 33.0\n33.0 to 22.0\n22.0 to 0.0'
like 'parts of time: a chain with what ended the wait' "$(<"$dir/dom")" \
	'waited for a futex in futex</span>.*ended by holder \(101\): disk 19\.0 ms</span>.*&lt; softirq block</span>'
is 'parts of time: the link is as long as its share of the wait' \
	"$(grep -oP 'rect width="\K[0-9.]+(?=" height="10" fill="#d55e00")' "$dir/dom" | cut -c 1-5 | sort -u)" 142.4
dom "$dir/page.html#t=1.02..1.5"
is 'parts of time: of a span' "$(bands | head -1)" 'worker (100): 1.00 s of threads: 100 % waited for a futex'
fits 'parts of time: nothing is cut'
like 'parts of time: without scripts there is a table' "$(<"$dir/page.html")" '<td>worker \(100\)</td><td>4\.02 s</td><td>18\.8 %</td><td>0 %</td><td>18\.8 %</td>'
sqlite3 "$dir/memlat/run.db" "UPDATE \"where\" SET comm = '</script><b>x' WHERE pid = 100; UPDATE where_waits SET chain = '</script><b>y (1): disk 5 ms'"
page 'hostile names in parts of time' "$dir/memlat"
is 'hostile names in parts of time: none ends a script' "$(grep -o '</script' "$dir/page.html" | wc -l)" 2
opens 'hostile names in parts of time: the page opens without an error'
sqlite3 "$dir/memlat/run.db" "DELETE FROM series; DELETE FROM metric; DELETE FROM sums; DELETE FROM slots; DELETE FROM acct;
	DELETE FROM kernel_check; UPDATE probe SET refused = 'no' WHERE id = 1"
page 'parts of time alone' "$dir/memlat"
opens 'parts of time alone: the page opens without an error'
unlike_text() { ! grep -q "$1" "$dir/dom" || { echo "there is $1" && false; }; }
ok 'parts of time alone: no empty section' unlike_text '<p class="empty">No probe measured'

# ---- what tierlat --act did ----

# A copy of the recording with an action in each interval: waits, moves to two tiers, a stop for a reason that tries to leave the
# page. In one interval no latency is known.
mkdir "$dir/acted" && cp "$recording/run.db" "$dir/acted/"
sqlite3 "$dir/acted/run.db" "
	CREATE TEMP TABLE p AS SELECT * FROM probe WHERE name = 'memlat';
	UPDATE p SET id = (SELECT max(id) + 1 FROM probe), name = 'tierlat', method = 'msr';
	INSERT INTO probe SELECT * FROM p;
	CREATE TABLE tierlat(interval INTEGER, time_ns INTEGER, socket INTEGER);
	CREATE TABLE tierlat_actions(interval INTEGER, time_ns INTEGER, action TEXT, 'to' TEXT, why TEXT, latency_default_ns REAL,
		latency_alternate_ns REAL, placement_before REAL, placement_after REAL, moved_bytes INTEGER);
	INSERT INTO table_column (of_table, position, name, unit, what, kind, is_key, mean_scale) VALUES
		('tierlat', 0, 'socket', '', '', 'INTEGER', 1, 0), ('tierlat_actions', 0, 'action', '', '', 'TEXT', 1, 0),
		('tierlat_actions', 1, 'to', '', '', 'TEXT', 1, 0), ('tierlat_actions', 2, 'why', '', '', 'TEXT', 1, 0),
		('tierlat_actions', 3, 'latency_default_ns', 'ns', '', 'REAL', 0, 0),
		('tierlat_actions', 4, 'latency_alternate_ns', 'ns', '', 'REAL', 0, 0),
		('tierlat_actions', 5, 'placement_before', '', '', 'REAL', 0, 0),
		('tierlat_actions', 6, 'placement_after', '', '', 'REAL', 0, 0),
		('tierlat_actions', 7, 'moved_bytes', 'B', '', 'INTEGER', 0, 0);
	INSERT INTO tierlat SELECT id, end_ns, 0 FROM interval;
	INSERT INTO tierlat_actions SELECT id, end_ns, 'move', 'local-cxl', 'default tier slower', 220.5 - 5 * id, 101.25 + 3 * id,
		1 - 0.02 * id, 0.98 - 0.02 * id, 1000 * id FROM interval;
	UPDATE tierlat_actions SET action = 'wait', 'to' = 'none', placement_after = NULL, moved_bytes = NULL WHERE interval IN (1, 2);
	UPDATE tierlat_actions SET latency_default_ns = NULL, latency_alternate_ns = NULL WHERE interval = 2;
	UPDATE tierlat_actions SET 'to' = 'local-ddr' WHERE interval IN (5, 6, 8);
	UPDATE tierlat_actions SET action = 'stop', 'to' = 'none', why = '</svg></script><b>x', latency_default_ns = NULL,
		latency_alternate_ns = NULL, placement_before = NULL, placement_after = NULL, moved_bytes = NULL WHERE interval = 9"
page 'actions' "$dir/acted"
opens 'actions: the page opens without an error'
sed -n '/<section id="actions">/,/<\/section>/p' "$dir/dom" >"$dir/actions"
like 'actions: there is a picture, with a text for those who do not see it' "$(<"$dir/actions")" '<svg [^>]*role="img" aria-label="Latency of both'
is 'actions: no reason ends the picture' "$(grep -c '</svg>' "$dir/actions"):$(grep -c '<b>' "$dir/actions")" 1:0

# path CLASS NUMBER: the y of each point of a line, or the x of each mark of a lane
path() { grep "class=\"$1\"" "$dir/actions" | sed -n "${2}s/.* d=\"\([^\"]*\)\".*/\1/p" | sed 's/h0//g; s/[ML]/\n/g' | sed 1d; }
recorded() { sqlite3 "$dir/acted/run.db" "$1"; }
for line in 'near latency_default_ns 10 (SELECT max(max(latency_default_ns),max(latency_alternate_ns))FROM(tierlat_actions))' \
	'far latency_alternate_ns 10 (SELECT max(max(latency_default_ns),max(latency_alternate_ns))FROM(tierlat_actions))' \
	'share placement_before 140 1'; do
	read -r class column top most <<<"$line"
	is "actions: the line of $column has its points" "$(path "line $class" 2 | cut -d ' ' -f 2)" \
		"$(recorded "SELECT printf('%.1f', $top + 110 * (1 - $column / $most)) FROM tierlat_actions WHERE $column IS NOT NULL")"
done
columns=$(recorded 'SELECT count(*) FROM interval')
lane=0
for kind in "'move' AND \"to\" = 'local-cxl'" "'move' AND \"to\" = 'local-ddr'" "'stop'"; do
	lane=$((lane + 1))
	is "actions: a mark for each $kind" "$(path mark $lane | cut -d ' ' -f 1)" \
		"$(recorded "SELECT printf('%.1f', 230 + (interval - 0.5) * 600 / $columns) FROM tierlat_actions WHERE action = $kind")"
done
run report --json "$dir/acted"
is 'actions: the numbers in the table are those of report --json' \
	"$(perl -ne 'print join("|", map { s/&lt;/</gr =~ s/&gt;/>/gr } /<td>(.*?)<\/td>/g), "\n" if /^<tr><td>/' "$dir/actions")" \
	"$(jq -r '.probes[] | select(.module == "tierlat").actions[] | [.action, .to, .why, .placement_before.rows,
		.latency_default_ns.mean, .latency_alternate_ns.mean, .placement_before.mean, .placement_after.mean, .moved_bytes.mean] |
		map(. // "-") | join("|")' <<<"$out" | awk -F'|' -v OFS='|' '
			{ $4 = $4 ? $4 : 1; for (i = 5; i <= 9; i++) if ($i != "-") $i = sprintf(i < 7 ? "%.1f ns" : i < 9 ? "%.3f" : "%.0f", $i); print }')"
shown_in_print() {
	chrome "$dir/page.html" "$@" --print-to-pdf="$dir/page.pdf"
	pdftotext -layout "$dir/page.pdf" - | grep -oE 'Actions of tierlat|move to local-cxl: [0-9]+' | sort -u | paste -sd ' '
}
wanted="Actions of tierlat move to local-cxl: $(recorded "SELECT count(*) FROM tierlat_actions WHERE action = 'move' AND \"to\" = 'local-cxl'")"
is 'actions: they are shown' "$(shown_in_print)" "$wanted"
is 'actions: also without scripts' "$(shown_in_print --blink-settings=scriptEnabled=false)" "$wanted"
for mode in '' --force-dark-mode; do
	chrome "$dir/page.html" --window-size=1300,9000 ${mode:+"$mode"} --screenshot="$dir/shot.png" && colours
	within "actions: a picture ${mode:-in the light} has colours" 200 "$colours" 1000000
done

# grown NAME FACTOR SLOTS: a copy of the recording with FACTOR times the intervals, of which the new ones have at most SLOTS slots
# of each series
grown() {
	mkdir "$dir/$1" && cp "$recording/run.db" "$dir/$1/"
	sqlite3 "$dir/$1/run.db" "
		CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $2 - 1) SELECT i FROM n;
		CREATE TEMP TABLE w AS SELECT max(id) AS last, max(end_ns) AS ns FROM interval;
		CREATE TEMP TABLE old AS SELECT id FROM interval;
		INSERT INTO interval SELECT id + i * w.last, start_ns + i * w.ns, end_ns + i * w.ns FROM interval, n, w ORDER BY 1;
		INSERT INTO sums SELECT interval + i * w.last, series, count, sum_ns, max_ns, tail FROM sums, n, w WHERE $3;
		INSERT INTO slots SELECT interval + i * w.last, series, slot, count FROM slots, n, w WHERE $3;
		UPDATE meta SET value = (SELECT max(end_ns) FROM interval) WHERE name = 'duration_ns';"
}
grown ten 50 true
page 'ten minutes of intervals' --top 20 "$dir/ten"
within 'are less than 1.5 MB' 200000 "$(stat -c %s "$dir/page.html")" 1500000
diag "$(sqlite3 "$dir/ten/run.db" 'SELECT count(*) FROM interval') intervals: $(stat -c %s "$dir/page.html") bytes"
run report --json "$dir/ten"
dom "$dir/page.html#probe=iolat&by=disk"
ok 'all keys have percentiles' same_keys
# More slots than a page has room for: each disk has 500 in each interval.
sqlite3 "$dir/ten/run.db" "
	CREATE TEMP TABLE s AS SELECT id FROM series WHERE split = 'disk';
	CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 200 UNION ALL SELECT i + 1 FROM n WHERE i < 699) SELECT i FROM n;
	DELETE FROM slots WHERE series IN (SELECT id FROM s);
	DELETE FROM sums WHERE series IN (SELECT id FROM s);
	INSERT INTO slots SELECT interval.id, s.id, i, 1 FROM interval, s, n ORDER BY 1, 2, 3;
	INSERT INTO sums SELECT interval.id, s.id, 500, 500000000, 4000000000, 0 FROM interval, s ORDER BY 1, 2"
page 'keys with many slots' --top 20 "$dir/ten"
within 'are less than 2.5 MB' 500000 "$(stat -c %s "$dir/page.html")" 2500000
run report --json "$dir/ten"
dom "$dir/page.html#probe=iolat&by=disk"
ok 'all of these have percentiles, too' same_keys
dom "$dir/page.html#t=100.1..200.1&probe=iolat&by=disk"
ok 'also in a part' grep -q . <<<"$(keys_of_page | jq -c 'select(.[3] > 0 and .[4] > .[3])')"
like 'which are those of groups, as it says' "$(section who)" 'The percentiles are of [0-9.]+ s to [0-9.]+ s; of exactly this range: '

grown long 4800 'interval = (SELECT min(id) FROM old) AND series = 1'
sqlite3 "$dir/long/run.db" "UPDATE sums SET max_ns = 5123456789 WHERE interval = 54321 OR
	(series = 1 AND interval = (SELECT max(interval) FROM sums WHERE interval < 60000 AND series = 1))"
page '100,000 intervals' "$dir/long"
within 'are less than 1.5 MB, too' 100000 "$(stat -c %s "$dir/page.html")" 1500000
opens 'they open without an error' '#probe=memlat'
like 'with a note that they were joined' "$(<"$dir/dom")" 'id="thinned">[0-9,]* intervals: [0-9]* are one column'
out=$("$latscope" report --json "$dir/long" | jq '{"probes": [.probes[] | {"module": .module, "metric": .metric, "metrics": .metrics}]}')
ok 'sums and maxima are kept' same_numbers memlat
like 'also that of one interval' "$(of_page "$(jq -r '.probes[0].metric' <<<"$out")")" '5123456.789'

cp -r "$recording" "$dir/one"
sqlite3 "$dir/one/run.db" "DELETE FROM interval WHERE id > 1; DELETE FROM slots WHERE interval > 1; DELETE FROM sums WHERE interval > 1;
	DELETE FROM acct WHERE interval > 1"
page 'a recording of one interval' "$dir/one"
opens 'opens without an error'
mkdir "$dir/empty" && cp "$recording/run.db" "$dir/empty/"
sqlite3 "$dir/empty/run.db" "DELETE FROM interval; DELETE FROM slots; DELETE FROM sums; DELETE FROM acct; DELETE FROM memlat_why;
	DELETE FROM memlat_slow; DELETE FROM iolat_why; DELETE FROM iolat_slow; UPDATE meta SET value = 0 WHERE name = 'complete'"
page 'an empty recording' "$dir/empty"
opens 'opens without an error'
like 'and says so' "$(<"$dir/dom")" 'The recording has no interval.*|cut off'
like 'where something is missing, the accounting is unfolded' "$(<"$dir/dom")" '<details open=""><summary>cut off'
cp -r "$dir/empty" "$dir/none"
sqlite3 "$dir/none/run.db" "DELETE FROM series; DELETE FROM metric; UPDATE probe SET refused = 'not <b>here</b>'"
page 'a recording without a probe' "$dir/none"
opens 'opens without an error'
like 'and says why' "$(<"$dir/dom")" 'not &lt;b&gt;here'
like 'its accounting is unfolded' "$(<"$dir/dom")" '<details open=""><summary>[^<]*memlat not measured'
cp -r "$recording" "$dir/newer" && sqlite3 "$dir/newer/run.db" 'PRAGMA user_version = 99'
refuses 'a newer schema' 1 'another version of latscope' report --html "$dir/newer.html" "$dir/newer"
ok 'then there is no page' test ! -e "$dir/newer.html"

# ---- a picture of the first screen ----

# picture NAME RECORDING: writes $dir/picture.svg. $dir/dom: what the browser makes of it, with the texts that are cut
picture() {
	check "$1: a picture" 0 'picture in ' '' report --svg "$dir/picture.svg" "$2"
	! command -v xmllint >/dev/null || ok "$1: it is well-formed" xmllint --noout "$dir/picture.svg"
	(echo '<body style="margin: 0">' && cat "$dir/picture.svg" && echo '<script>' && cat tests/cli/page/overlaps.js && echo '</script>') >"$dir/drawn.html"
	dom "$dir/drawn.html"
	like "$1: no text of it is cut or over another" "$(grep -oP '<title>\K[^<]*' "$dir/dom")" '^[0-9]+ texts: none is cut$'
	ok "$1: it asks nobody" test -z "$(grep -oE '(href|src|url|@import)[=( ]|<script|<style' "$dir/picture.svg")"
}
texts() { grep -oP '<text [^>]*>\K[^<]*' "$dir/dom" | paste -sd '|'; }
rm -r "$dir/memlat" && stored memlat
sqlite3 "$dir/memlat/run.db" <tests/cli/bars.sql
picture 'parts of time' "$dir/memlat"
like 'the picture has the threads of each part at a time' "$(texts)" '\|on a CPU 1\.13\|waited for a CPU 0\.25\|waited for a disk 0\.38\|waited for a futex 1\.25\|'
like 'the picture has who waited, for what, because of whom' "$(texts)" \
	'\|worker \(100\)\|3\.26 s\|81\.2 %\|futex 62\.5, disk 18\.8\|holder: disk 100 %\|hog \(200\)'
sqlite3 "$dir/memlat/run.db" "UPDATE \"where\" SET comm = '</svg><script>x</script>-and-a-name-that-no-kernel-has' WHERE pid = 100"
picture 'hostile names' "$dir/memlat"
picture 'without parts of time' "$recording"
like 'then the picture has the keys' "$(texts)" 'Who slowed whom.*\|Pressure\|.*\|process\|waited\|events\|.* \([0-9]+\)\|'
picture 'an empty recording' "$dir/empty"
chrome "$dir/picture.svg" --screenshot="$dir/shot.png" && colours
within 'the browser shows it, too' 2 "$colours" 1000000

check 'compare writes a page' 0 'page in ' '' compare --html "$dir/page.html" "$recording" "$dir/ten"
opens 'it opens without an error'
like 'it has verdicts in words' "$(<"$dir/dom")" 'no difference shown|worse|better'
fits 'nothing of it is cut'
dom "$dir/page.html"
like 'and a difference' "$(<"$dir/dom")" 'aria-label="Difference of memlat'
chrome "$dir/page.html" --screenshot="$dir/shot.png" && colours
within 'and colours' 150 "$colours" 1000000

stored groups
verdict() { grep -oP 'id="verdict">\K[^<]*' "$dir/dom"; }
for side in 'off on WORSE' 'on off BETTER'; do
	read -r off on word <<<"$side"
	check "$word" 0 'page in ' '' compare --run-spread 25 --html "$dir/page.html" "$dir/groups/$off" "$dir/groups/$on"
	dom "$dir/page.html"
	like "$word is what the page begins with" "$(verdict)" "^$word: runqlat run_queue, [a-z0-9./]+ ×[0-9.]+ \\[[0-9.]+, [0-9.]+\\]: [^;]+ OFF, [^;]+ ON"
done
for copy in "$dir"/cut/{1,2}/a; do
	mkdir -p "$copy" && cp "$dir/groups/off/run.db" "$copy/" && sqlite3 "$copy/run.db" "UPDATE meta SET value = 0 WHERE name = 'complete'"
done
check 'two that were cut off' 0 'page in ' '' compare --html "$dir/page.html" "$dir/cut/1" "$dir/cut/2"
dom "$dir/page.html"
is 'are one warning, with its number' "$(grep -oP '<dt>warning</dt><dd>[^<]*' "$dir/dom" | grep -o 'waits in flight.*(recording).*times)' | wc -l)" 1
done_testing

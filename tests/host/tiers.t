#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Emulated tiers (tests/emu/tiers) in real time: tierlat measures them as they are, and its decisions move their requests. In virtual
# time tests/emu/test_*.c have that; cli/tiers.t has what is left behind.
. "$(dirname "$0")/host.sh"
[ "$(id -u)" != 0 ] || own_mounts
skip_unless_tiers

# in_loop OPTION... -- ARG...: latscope tierlat ARG... on tiers OPTION...; sets $known to the lines at the end, as one
in_loop() {
	local options=()

	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	tiers "${options[@]}" "$dir/at" "$latscope" tierlat -q "${@:2}"
	known=$(sed -n '/^tiers: p /,$p' <<<"$out" | tr -s '\n ' '  ' | sed 's/ $//')
	as_said=$(sed -nE 's/^tiers: p ([0-9.]+) after ([0-9]+) moves? [a-z-]+: ([0-9.]+) ns.* [a-z-]+: ([0-9.]+) ns.*/\1 \2 \3 \4/p' <<<"$known")
	read -r p moves near far <<<"$as_said"
}

# about GOT WANTED SHARE
about() { awk "BEGIN { exit !($1 > $2 * (1 - $3) && $1 < $2 * (1 + $3)) }" || { echo "$1, not $2: $known" && false; }; }
less() { awk "BEGIN { exit !($1 < $2) }" || { echo "$1 is not less than $2: $known" && false; }; }

# From both sides, to where both tiers are equally slow: at the start they differ by four times.
balances() { in_loop --share "$1" -- -d 3s -i 10ms --weight 0.25; }
measure balances .2
ok 'its decisions move requests' test "${moves:-0}" -gt 40
ok 'until the tiers are equally slow' about "$near" "$far" .3
ok 'most requests are near then' less .6 "$p"
ok 'tierlat has seen them move' tap_match "$out" 'Colloid at the end: p 0\.[6-9]'
ok 'and printed each decision' tap_match "$out" '% \(2\.0\) to local-ddr'
measure balances .97
ok 'nearly all requests are near: they move away' less "$p" .95
ok 'until the tiers are equally slow, too' about "$near" "$far" .3

# Hardly anything moves, so what is said at the end is true of the whole run.
holds() {
	in_loop --share .5 --requests "$1" -- --max-shift 0.000001 -d 300ms --csv
}
for requests in 20 300; do
	measure holds $requests
	ok "$requests requests: the near tier is as slow as it is" about "$(csv_value latency_ns local-ddr)" "$near" .05
	ok "$requests requests: the far tier is as slow as it is" about "$(csv_value latency_ns remote-ddr)" "$far" .05
	ok "$requests requests: half of them are near" about "$(csv_value p local-ddr)" .5 .02
done

measure in_loop --tiers 3 --share .3 -- -d 300ms --max-shift 0.000001 --csv
like 'three tiers' "$known" 'local-ddr: .* local-cxl: .* remote-ddr: 150 ns, 50 M reads/s$'
ok 'the third one is as slow as it is' about "$(csv_value latency_ns remote-ddr)" 150 .05
calm
is 'requests move between the first and CXL' "$(csv_value move_to local-ddr)" local-ddr

# Per CHA: the emulator spreads the reads unevenly, and each CHA measures the latency of one tier.
by_cha_is_true() {
	awk -F, -v near="$near" -v far="$far" -v all="$(sed -nE 's/.*local-ddr: [0-9.]+ ns, ([0-9.]+) M.*/\1/p' <<<"$known")" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ tier = $at["tier"]; ns = $at["latency_ns"]; rate = $at["requests_per_s"] / 1e6 }
		tier == "local-ddr" { sum += rate; if (rate > most) most = rate; if (!least || rate < least) least = rate }
		ns != "" { n[tier]++; true_ns = tier == "local-ddr" ? near : far; off += ns < .95 * true_ns || ns > 1.05 * true_ns }
		END {
			print sum, all, most, least, n["local-ddr"], n["remote-ddr"], off + 0
			exit !(sum > .95 * all && sum < 1.05 * all && most > 1.1 * least && n["local-ddr"] == 3 && n["remote-ddr"] == 3 && !off)
		}' "$(recording "$dir/cha")/tierlat_cha.csv"
}
measure in_loop --share .5 -- --max-shift 0.000001 -d 300ms --per-cha -o "$dir/cha"
ok 'the reads of all CHAs are those of the tier, unevenly, and each latency is true' by_cha_is_true
calm
like 'a line for each CHA and tier' "$out" ' 0 +5 remote-ddr +[0-9.]+ +[0-9.]+ M +[0-9.]+ ns'
is 'six CHAs, two tiers' "$(grep -cE '^ +0 +[0-5] (local|remote)-ddr' <<<"$out")" 12

# Pages: of a process that holds 64 MiB, with a name that is not for a terminal.
if [ "$(id -u)" = 0 ] && [ -e /proc/self/numa_maps ]; then
	perl -e '$0 = "ev\e[2Jil) S 1"; $held = "a" x (64 << 20); $held .= "b"; open F, ">", $ARGV[0]; close F; sleep 600' "$dir/holds" &
	holder=$!
	wait_for test -e "$dir/holds"
	tiers -q "$dir/at" "$latscope" tierlat -q --pages -d 50ms --json -o "$dir/pages"
	held=$(jq "[.probes[0].pages[] | select(.pid == $holder)]" <<<"$out")
	is 'pages of a process: its name is sanitized' "$(jq -r '.[0].name' <<<"$held")" 'ev?[2Jil) S 1'
	ok 'pages of a process: as many as it holds' jq -e 'map(.bytes.max) | add | . >= 67108864 and . < 2 * 67108864 + 33554432' <<<"$held"
	like 'the method says how many processes' "$(jq -r '.probes[0].mechanism.text' <<<"$out")" 'pages of [0-9]+ processes at the end'
	run report -P tierlat "$(recording "$dir/pages")"
	largest=$(awk -F, 'NR == 2 { print $5 }' "$(recording "$dir/pages")/tierlat_pages.csv")
	like 'report has them, the largest first' "$out" "tierlat_pages.*over all rows[^,]*, tier local-ddr, node [0-9]+, pid $largest,"
	tiers -q "$dir/at" "$latscope" tierlat -q --pages -d 50ms
	like 'as text, with shares' "$out" 'local-ddr +[0-9]+ .* %  [0-9]+ process.* [KMG]iB .* % .* \([0-9]+\)'
	ok 'as text, without escape sequences' tap_same "$(tr -dc '\033' <<<"$out")" ''
	kill "$holder"
fi
# Two terminals: what it prints is what to type.
tests/emu/tiers --share .5 "$dir/at" >"$dir/how" 2>&1 &
pid=$!
wait_for grep -q tierlat "$dir/how"
read -ra how <"$dir/how"
true_latency() { jq ".streams[] | select(.name == \"$1\").latency" "$dir/at/state"; }
measure run "${how[@]:1}" -q --max-shift 0.000001 -d 300ms --csv
known=$(true_latency local-ddr)
ok 'the printed command measures it' about "$(csv_value latency_ns local-ddr)" "$known" .05
calm
is 'and succeeds' "$status" 0
kill "$pid"
wait "$pid"
done_testing

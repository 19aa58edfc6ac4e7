#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# load tiers: tierlat measures the emulated tiers as they are, its decisions move their requests, and nothing is left behind.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh
. tests/measure.sh

unlinked() { ! ldd "$latscope" | grep fuse; }
ok 'the program is not linked with libfuse' unlinked
mkdir "$dir/lib" "$dir/at"
for name in libfuse3.so.3 libfuse3.so.4; do : >"$dir/lib/$name"; done
as=(env LD_LIBRARY_PATH="$dir/lib")
refuses 'without libfuse' 77 'cannot mount the emulator: (libfuse is missing; install it|this latscope was built without)' \
	load tiers --dir "$dir/at"
as=()
refuses 'no such directory' 1 'cannot mount the emulator: No such file or directory; choose another directory' \
	load tiers --dir "$dir/nowhere"

run load tiers -d 100ms --dir "$dir/at"
[ "$status" != 77 ] || skip_all "the emulator cannot be mounted here: $err"
nothing_left() { [ -z "$(ls -A "$dir/at")" ] && ! grep -F "$dir/at" /proc/self/mounts; }
ok 'it ends with its time' tap_same "$status" 0
ok 'and leaves nothing behind' nothing_left

# in_loop ARG... -- ARG...: load tiers ARG... -- latscope tierlat ARG...; sets $known to the lines at the end, as one
in_loop() {
	local load=()

	while [ "$1" != -- ]; do
		load+=("$1")
		shift
	done
	run load tiers --dir "$dir/at" "${load[@]}" -- "$latscope" tierlat -q "${@:2}"
	known=$(sed -n '/^load tiers: p /,$p' <<<"$out" | tr -s '\n ' '  ' | sed 's/ $//')
	as_said=$(sed -nE 's/^load tiers: p ([0-9.]+) after ([0-9]+) moves? [a-z-]+: ([0-9.]+) ns.* [a-z-]+: ([0-9.]+) ns.*/\1 \2 \3 \4/p' <<<"$known")
	read -r p moves near far <<<"$as_said"
}

# about GOT WANTED SHARE
about() { awk "BEGIN { exit !($1 > $2 * (1 - $3) && $1 < $2 * (1 + $3)) }" || { echo "$1, not $2: $known" && false; }; }
less() { awk "BEGIN { exit !($1 < $2) }" || { echo "$1 is not less than $2: $known" && false; }; }

# column NAME TIER: of the last row of CSV of that tier
column() {
	# shellcheck disable=SC2016 # awk's
	awk -F, -v name="$1" -v tier="$2" '
		/^time_ns,/ { for (i = 1; i <= NF; i++) at[$i] = i }
		$at["tier"] == tier { value = $at[name] }
		END { print value }' <<<"$out"
}

# From both sides, to where both tiers are equally slow: at the start they differ by four times.
balances() { in_loop --share "$1" -d 3s -- -i 10ms --weight 0.25 && about "$near" "$far" .3; }
measure balances 20%
is 'most requests are far: the command succeeds' "$status" 0
ok 'its decisions move requests' test "${moves:-0}" -gt 40
ok 'until the tiers are equally slow' about "$near" "$far" .3
ok 'most requests are near then' less .6 "$p"
ok 'tierlat has seen them move' tap_match "$out" 'Colloid at the end: p 0\.[6-9]'
ok 'nothing is left' nothing_left
measure balances 97%
ok 'nearly all requests are near: they move away' less "$p" .95
ok 'until the tiers are equally slow, too' about "$near" "$far" .3

# Hardly anything moves, so what is said at the end is true of the whole run.
holds() {
	in_loop --share 50% --requests "$1" -d 10s -- --max-shift 0.000001 -d 300ms --csv
	about "$(column latency_ns local-ddr)" "$near" .05 && about "$(column latency_ns remote-ddr)" "$far" .05 &&
		about "$(column p local-ddr)" .5 .02
}
for requests in 20 300; do
	measure holds $requests
	ok "$requests requests: the near tier is as slow as it is" about "$(column latency_ns local-ddr)" "$near" .05
	ok "$requests requests: the far tier is as slow as it is" about "$(column latency_ns remote-ddr)" "$far" .05
	ok "$requests requests: half of them are near" about "$(column p local-ddr)" .5 .02
done

three() {
	in_loop --tiers 3 --share 30% -d 10s -- -d 300ms --max-shift 0.000001 --csv
	about "$(column latency_ns remote-ddr)" 150 .05 && about "$(column requests_per_s remote-ddr)" 5e7 .05
}
measure three
like 'three tiers' "$known" 'local-ddr: .* local-cxl: .* remote-ddr: 150.0 ns, 50.0 M reads/s$'
ok 'the third one is as slow as it is' about "$(column latency_ns remote-ddr)" 150 .05
is 'requests move between the first and CXL' "$(column move_to local-ddr)" local-ddr

# Per CHA: the emulator spreads the reads unevenly, and each CHA measures the latency of one tier.
by_cha_anew() {
	rm -rf "$dir/cha"
	in_loop --share 50% -d 10s -- --max-shift 0.000001 -d 300ms --per-cha -o "$dir/cha"
	by_cha_is_true
}
by_cha_is_true() {
	# shellcheck disable=SC2016 # awk's
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
measure by_cha_anew
ok 'the reads of all CHAs are those of the tier, unevenly, and each latency is true' by_cha_is_true
like 'a line for each CHA and tier' "$out" ' 0 +5 remote-ddr +[0-9.]+ +[0-9.]+ M +[0-9.]+ ns'
is 'six CHAs, two tiers' "$(grep -cE '^ +0 +[0-5] (local|remote)-ddr' <<<"$out")" 12

# Pages: of a process that holds 64 MiB, with a name that is not for a terminal.
if [ "$(id -u)" = 0 ] && [ -e /proc/self/numa_maps ]; then
	perl -e '$0 = "ev\e[2Jil) S 1"; $held = "a" x (64 << 20); $held .= "b"; open F, ">", $ARGV[0]; close F; sleep 600' "$dir/holds" &
	holder=$!
	wait_for test -e "$dir/holds"
	run load tiers --dir "$dir/at" -q -d 10s -- "$latscope" tierlat -q --pages -d 50ms --json -o "$dir/pages"
	held=$(jq "[.probes[0].pages[] | select(.pid == $holder)]" <<<"$out")
	is 'pages of a process: its name is sanitized' "$(jq -r '.[0].name' <<<"$held")" 'ev?[2Jil) S 1'
	ok 'pages of a process: as many as it holds' jq -e 'map(.bytes.max) | add | . >= 67108864 and . < 2 * 67108864 + 33554432' <<<"$held"
	like 'the method says how many processes' "$(jq -r '.probes[0].mechanism.text' <<<"$out")" 'pages of [0-9]+ processes at the end'
	run report -P tierlat "$(recording "$dir/pages")"
	largest=$(awk -F, 'NR == 2 { print $5 }' "$(recording "$dir/pages")/tierlat_pages.csv")
	like 'report has them, the largest first' "$out" "tierlat_pages.*over all rows[^,]*, tier local-ddr, node [0-9]+, pid $largest,"
	run load tiers --dir "$dir/at" -q -d 10s -- "$latscope" tierlat -q --pages -d 50ms
	like 'as text, with shares' "$out" 'local-ddr +[0-9]+ .* %  [0-9]+ process.* [KMG]iB .* % .* \([0-9]+\)'
	ok 'as text, without escape sequences' tap_same "$(tr -dc '\033' <<<"$out")" ''
	kill "$holder"
fi
mkdir "$dir/no-numa"
# shellcheck disable=SC2016 # the inner shell's
run load tiers --dir "$dir/at" -q -d 10s -- \
	sh -c 'root=$1 && shift && exec "$0" tierlat -q "$@" --sysfs-root "$root" --pages -d 50ms' "$latscope" "$dir/no-numa"
is 'a kernel without NUMA: exit status' "$status" 77
like 'a kernel without NUMA: that is said' "$err" 'no pages by node .this kernel has no NUMA.; leave out --pages$'

# The file of decisions has those of the rows.
printed_moves() { awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["shift"] != "" { print $1 "," $at["socket"] "," $at["p"] "," $at["p_target"] "," $at["shift"] "," $at["move_to"] }'; }
# shellcheck disable=SC2016 # the inner shell's
run load tiers --dir "$dir/at" -q -d 5s -- sh -c '"$0" tierlat -q "$@" -d 50ms --decisions "$2/new"' "$latscope"
is '--decisions in the measured tree: exit status' "$status" 1
like 'a file in a file system of registers cannot be made' "$err" 'cannot write decisions to .*; choose another file'
# shellcheck disable=SC2016 # the inner shell's
run load tiers --dir "$dir/at" -q -d 5s -- \
	sh -c 'out=$1 && shift && exec "$0" tierlat -q "$@" --csv -i 20ms -d 200ms --decisions "$out"' "$latscope" "$dir/moves"
is '--decisions FILE' "$status" 0
is 'has a heading, and the decisions of the rows' "$(<"$dir/moves")" \
	"time_ns,socket,p,p_target,shift,move_to"$'\n'"$(printed_moves <<<"$out")"
ok 'which are several' test "$(wc -l <"$dir/moves")" -ge 3

# decide FILE: tierlat --decisions FILE
decide() {
	# shellcheck disable=SC2016 # the inner shell's
	run load tiers --dir "$dir/at" -q -d 5s -- \
		sh -c 'out=$1 && shift && exec "$0" tierlat -q "$@" -d 50ms --decisions "$out"' "$latscope" "$1"
	tap_same "$status" 1 && tap_match "$err" "cannot write decisions to .*: $2; choose another file" &&
		tap_same "$(wc -l <<<"$err")" 1
}
ln -s "$dir/moves" "$dir/link"
mkfifo "$dir/pipe"
ln "$dir/moves" "$dir/second"
ok 'decisions do not follow a link' decide "$dir/link" 'it is a symbolic link.*'
ok 'nor go to a pipe' decide "$dir/pipe" 'not a regular file'
ok 'nor to a directory' decide "$dir" 'Is a directory'
ok 'nor to a file of two names' decide "$dir/second" 'other users own it.*'
rm "$dir/second"
if [ "$(id -u)" = 0 ]; then
	chown 65533 "$dir/moves"
	ok "nor to another user's file" decide "$dir/moves" 'other users own it.*'
fi

# Two terminals: what it prints is what to type.
"$latscope" load tiers --dir "$dir/at" --share 50% -d 1h >"$dir/how" 2>&1 &
pid=$!
wait_for grep -q tierlat "$dir/how"
read -ra how <"$dir/how"
tree=$(echo "$dir"/at/latscope-tiers-*)
is 'it prints a command' "${how[*]:0:2}" 'latscope tierlat'
is 'only its user can enter its directory' "$(find "$dir/at" -mindepth 1 -maxdepth 1 -printf '%U\n')" "$(id -u)"
true_latency() { jq ".streams[] | select(.name == \"$1\").latency" "$tree/state"; }
typed() {
	run "${how[@]:1}" -q --max-shift 0.000001 -d 300ms --csv
	known="$(true_latency local-ddr)"
	about "$(column latency_ns local-ddr)" "$known" .05
}
measure typed
is 'which works' "$status" 0
ok 'and measures it' about "$(column latency_ns local-ddr)" "$known" .05
before=$(jq .p "$tree/state")
printf 'socket,shift\n0,0.25\n' >"$tree/move"
ok 'a shell moves requests, too' awk "BEGIN { exit !($(jq .p "$tree/state") - $before > 0.249) }"
kill -INT "$pid"
wait "$pid"
is 'a signal ends it: exit status' $? 0
ok 'a signal ends it: nothing is left' nothing_left

"$latscope" load tiers --dir "$dir/at" -d 1h >"$dir/how" 2>&1 &
pid=$!
wait_for grep -q tierlat "$dir/how"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
ok 'kill -9: its server unmounts' eventually nothing_left

"$latscope" load tiers --dir "$dir/at" -d 1h >"$dir/how" 2>"$dir/stderr" &
pid=$!
wait_for grep -q tierlat "$dir/how"
kill -KILL "$(pgrep -P "$pid")"
wait "$pid"
is 'its server is killed: exit status' $? 1
like 'its server is killed: that is said' "$(<"$dir/stderr")" '^latscope: load tiers: the process of the emulator was killed$'
ok 'its server is killed: nothing is left' nothing_left

run load tiers --dir "$dir/at" -q -- sh -c 'exit 3'
is 'the exit status is that of the command' "$status" 3
check 'a command that does not exist' 127 'cannot run nothing-like-this' '' load tiers --dir "$dir/at" -q -- nothing-like-this

# Root writes only to registers that root put there.
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$dir/theirs/tree/0" "$dir/open/tree/0" "$dir/sticky/0" "$dir/ours/0"
	chown -R 65533 "$dir/theirs"
	chmod 777 "$dir/open"
	chmod 1777 "$dir/sticky"
	for tree in theirs/tree open/tree sticky; do
		ln -s "$dir/victim" "$dir/$tree/0/msr"
		echo untouched >"$dir/victim"
		refuses "registers in $tree are not for root" 1 'others than root can change .*/(theirs|open|sticky), so root writes no' \
			tierlat --model icx --boxes 2 --msr-root "$dir/$tree" -d 10ms
		is 'nothing is written' "$(<"$dir/victim")" untouched
	done
	ln -s "$dir/theirs/tree" "$dir/ours/tree"
	refuses 'not by a link of root, either' 1 'others than root can change' \
		tierlat --model icx --boxes 2 --msr-root "$dir/ours/tree" -d 10ms
	refuses 'registers of root are for root' 77 'there is no .*/0/msr' \
		tierlat --model icx --boxes 2 --msr-root "$dir/ours" -d 10ms
	# A FUSE file system says what it likes of its owners, and its user says what it is called.
	if [ "$(uname -m)" = x86_64 ]; then
		mkdir "$dir/fuse"
		# shellcheck disable=SC2016 # of sh
		as=(unshare -m sh -c '
			exec 3<>/dev/fuse
			mount -i -t fuse -o "fd=3,rootmode=40000,user_id=65533,group_id=65533,allow_other" "$1" "$0" || exit
			.output/tests/emu/msrfs/msrfs /dev/fd/3 &
			exec 3>&-
			shift
			exec "$@"' "$dir/fuse")
		for source in theirs 'theirs,user_id=0,x'; do
			as[6]=$source
			refuses "registers of a FUSE file system of another user: $source" 1 'others than root can change .*/fuse, so root writes no' \
				tierlat --model icx --boxes 2 --msr-root "$dir/fuse/cpu" -d 10ms
		done
		as=()
	fi
fi
done_testing

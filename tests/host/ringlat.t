#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# ringlat on this machine's real CPU: each method works or says why not; and the method user is compared with the kernel's own count
# of faults and with the clock.
. "$(dirname "$0")/host.sh"

# says FILTER: jq finds it true for $out
says() { jq -e "$1" <<<"$out" >/dev/null || { jq -c .ring <<<"$out" && false; }; }

# count_faults N [OPTION...]: sets $faults to the page faults of a run with N crossings of each kind
count_faults() {
	local before after

	read -ra before </proc/$$/stat
	run ringlat --method user "${@:2}" -n "$1" --json
	read -ra after </proc/$$/stat
	faults=$((after[10] - before[10]))
}

# whole_or_none DIR: each recording below can be reported
whole_or_none() {
	local one

	for one in "$1"/*/; do
		[ ! -e "$one" ] || "$latscope" report "$one" || return
	done
}

check 'user: text' 0 '' 'ringlat by user: round trips.*minor_fault: .*round_trip cycles .*attempted = .* kept.*syscall: .*vdso: ' \
	ringlat --method user -n 20000
ok 'user: text fits' fits
like 'it says where: never bare metal under a hypervisor' "$out" \
	"$(grep -qw hypervisor /proc/cpuinfo && echo '(virtual|nested|emulated): ' || echo '(bare metal|virtual|nested|emulated): ')"
if grep -qw hypervisor /proc/cpuinfo; then
	ok 'nor anywhere else' tap_said text "$(grep -i 'bare metal' <<<"$out")" ''
fi
check 'user: with histogram' 0 '' 'crossings +share.*\[[0-9]+, [0-9]+\) .*@' ringlat --method user -n 20000 --histogram
ok 'user: histogram fits' fits
unprivileged check 'user: without privilege' 0 '' 'minor_fault' ringlat --method user -n 20000

# If the machine stands still within a window, but in no crossing, the clock continues and no sample shows it.
filled='.ring as $r | $r.events[0] | (.ways[0].sum_cycles * 1e6 / $r.tsc_khz) > .clock_ns / 2'
fills_windows() {
	run ringlat --method user -n 50000 --json
	says "$filled"
}
measured 'and for faults fill most of it' fills_windows
run ringlat --method user -n 50000 --json
is 'user: JSON: exit status' "$status" 0
ok 'what was attempted is what was asked for' says '[.ring.events[].attempted] == [50000, 50000, 50000]'
ok 'and kept, or missed by a name' says 'all(.ring.events[]; .attempted == .kept + ([.misses[]] | add))'
ok 'most is kept' says 'all(.ring.events[]; .kept > 5000)'
ok 'round trips are called so' says 'all(.ring.events[]; .round_trip and .ways[0].way == "round_trip")'
ok 'figures are in order' says 'all(.ring.events[].ways[].cycles; .min <= .p50 and .p50 <= .p99 and .p99 <= .p99_9 and .p99_9 <= .max)'
ok 'a call by the vDSO is less than one by SYSCALL, and that less than a fault' \
	says '[.ring.events[].ways[0].cycles.p50] | .[2] < .[1] and .[1] < .[0]'
ok 'the samples are no longer than the clock says the windows were' \
	says '.ring as $r | all($r.events[]; (.ways[0].sum_cycles * 1e6 / $r.tsc_khz) <= .clock_ns)'
ok 'the probe of the common schema balances' \
	says '.probes[0] | .module == "ringlat" and .metric == "minor_fault" and all(.metrics[]; .accounting.balanced)'
ok 'ticks and ns are the same times' says '.ring as $r | all($r.events[].ways[];
	(.ns.p50 - .cycles.p50 * 1e6 / $r.tsc_khz) | fabs < 0.1)'
run ringlat --method user -n 20000 --json --histogram
ok 'the histogram has every crossing' says 'all(.ring.events[]; .kept == ([.ways[0].histogram[][2]] | add))'

count_faults 1024
few=$faults
count_faults 201024
within 'the kernel counted as many minor faults as crossings' 199500 $((faults - few)) 200500

check 'CSV' 0 '' '^method,event,way,attempted,.*user,minor_fault,round_trip,20000,' ringlat --method user -n 20000 --csv
is 'CSV: a line each' "$(wc -l <<<"$out")" 4
check 'CSV of the histogram' 0 '' '^method,event,way,baseline_cycles,lo_cycles,hi_cycles,count' \
	ringlat --method user -n 20000 --csv --histogram

check 'a recording' 0 'recording in ' 'minor_fault' ringlat --method user -n 20000 -o "$dir/runs" --label name=x
recorded=$(recording "$dir/runs")
is 'its files' "$(cd "$recorded" && echo *)" 'ringlat-syscall.csv ringlat-vdso.csv ringlat.csv ringlat.summary.json run.db'
check 'report shows it' 0 '' 'ringlat minor_fault: .*seen 20,000 = .*: balances' report "$recorded"
is 'report: one interval has no time line' "$(grep -E 'time line|Spearman|720 h' <<<"$out")" ''
check 'compare: two recordings' 0 '' '^CANNOT TELL: first read of an anonymous page \(minor_fault\),.*\(syscall\).*cannot tell' compare "$recorded" "$recorded"
is 'compare: it says once why it cannot tell' "$(tr -s '\n ' ' ' <<<"$out" | grep -o 'too few intervals' | wc -l) $(grep -c 'no difference shown' <<<"$out")" '1 1'
ok 'compare: it fits' fits
"$latscope" ringlat -q --method user -n 20000 -o "$dir/unread" 2>"$dir/stderr" | true
is 'nobody reads: exit status' "${PIPESTATUS[0]}" 0
is 'nobody reads: it is recorded' "$(cd "$(recording "$dir/unread")" && echo *)" "$(cd "$recorded" && echo *)"
refuses 'nowhere to write' 1 'cannot create a directory in /proc/none: .*; choose another with -o' ringlat --method user -n 600 -o /proc/none

"$latscope" ringlat --method user -n 1000000000 --json >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
# It begins with page faults, which the kernel counts: so many show that it works.
at_work() { [ "$(cut -d ' ' -f 10 "/proc/$pid/stat")" -gt 100000 ]; }
wait_for at_work
end_by INT
is 'SIGINT: exit status' "$status" 0
ok 'SIGINT: what came before is there' says '.ring | .interrupted and .events[0].kept > 1000'

# As soon as it handles the signal, so most likely before it has any result.
"$latscope" ringlat --method user -n 1000000000 --json -o "$dir/at-once" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
takes_sigint() { [ "$(<"/proc/$pid/comm")" = latscope ] && [ $((0x$(sed -n 's/^SigBlk:\t//p' "/proc/$pid/status") & 2)) != 0 ]; }
wait_for takes_sigint
end_by INT
is 'SIGINT at once: exit status' "$status" 0
ok 'SIGINT at once: JSON says so' says '.ring.interrupted and all(.ring.events[]; .kept > 0)'
ok 'SIGINT at once: a recording is whole, or not there' whole_or_none "$dir/at-once"

# Like xperf: a fresh page each time, means, nothing subtracted. The file of stamps gives the same mean by other arithmetic.
stamps=$dir/stamps
measure run ringlat --method user --like xperf -n 20000 --json --raw "$stamps"
is 'like xperf: exit status' "$status" 0
ok 'like xperf: one kind of crossing, as stamped' says '.ring.events | length == 1 and .[0].event == "fresh_fault" and
	.[0].ways[0].baseline_cycles == 0 and .[0].ways[0].empty_cycles > 0 and .[0].kept > 500'
calm
is 'the stamps: a line for each crossing' "$(tail -n +2 "$stamps" | wc -l)" 20000
is 'the stamps: its head' "$(head -1 "$stamps")" event,window,crossing,verdict,u2k_u,u2k_k,k2u_k,k2u_u
is 'the stamps: two of four by this method' "$(awk -F, 'NR > 1 && ($5 == "" || $6 != "" || $7 != "" || $8 == "")' "$stamps" | wc -l)" 0
is 'the stamps: as many are kept, and their sum is that of the result' \
	"$(awk -F, '$4 == "kept" { n++; sum += $8 - $5 } END { printf "%d %d\n", n, sum }' "$stamps")" \
	"$(jq -r '.ring.events[0] | "\(.kept) \(.ways[0].sum_cycles)"' <<<"$out")"
is 'the stamps: the mean' "$(awk -F, '$4 == "kept" { n++; sum += $8 - $5 } END { printf "%.1f\n", sum / n }' "$stamps")" \
	"$(jq -r '.ring.events[0].ways[0].cycles.mean * 10 | round / 10' <<<"$out" | awk '{ printf "%.1f\n", $1 }')"
ok 'the stamps: each write faults before the next' awk -F, 'NR > 1 { bad += $5 < last || $8 < $5; last = $8 } END { exit bad > 0 }' "$stamps"
check 'like xperf: text' 0 '' 'platform +user to kernel +kernel to user.* ~600 +~370.* ~440 +~270.*by user +- +-.*round trip [0-9.]+' \
	ringlat --method user --like xperf -n 20000
ok 'like xperf: text fits' fits
check 'like xperf: a recording' 0 'recording in ' fresh_fault ringlat --method user --like xperf -n 20000 -o "$dir/like"
like 'it says that nothing is subtracted' "$(jq -r .mechanism.text "$(recording "$dir/like")/ringlat.summary.json")" 'like xperf: nothing subtracted'
refuses 'stamps do not replace a file' 1 'cannot write stamps to .*: File exists; choose another file' \
	ringlat --method user -n 600 --raw "$stamps"
: >"$dir/again"
run ringlat --method user -n 600 --raw "$dir/again"
is 'a file that a failed attempt left empty can be used' "$status" 0
ln -s "$dir/nowhere" "$dir/link"
refuses 'stamps do not follow a link' 1 'cannot write stamps to .*/link: ' ringlat --method user -n 600 --raw "$dir/link"
ok 'nothing is made there' test ! -e "$dir/nowhere"
run ringlat --method user -n 600 --raw "$dir/all"
is 'stamps of every event' "$(cut -d, -f1 "$dir/all" | sort -u | paste -sd' ')" 'event minor_fault syscall vdso'
count_faults 1024 --like xperf
few=$faults
count_faults 101024 --like xperf
within 'like xperf: the kernel counted a fault for each crossing' 99500 $((faults - few)) 101500

# method NAME REASON: it has samples of every event, or says why not
method() {
	run ringlat --method "$1" -n 20000 --json -o "$dir/by-$1"
	if [ "$status" = 0 ]; then
		ok "$1: samples of every event" says '.ring.events | length == 3 and all(.[]; .kept > 0)'
	else
		like "$1: says why not" "$err" "method $1 does not work here: $2"
		like "$1: exit status" "$status" '^(1|77)$'
		ok "$1: no directory is left behind" test ! -e "$dir/by-$1"
	fi
}

method kvm '(there is no /dev/kvm|/dev/kvm is software|.* is off|no permission|KVM counts|this KVM)'
method module '(there is no /dev/latscope-ringlat|no permission|the kernel module)'

run ringlat -n 20000 --json
is 'the best method that works is taken: exit status' "$status" 0
like 'and what does not work is named' "$(jq -r .ring.method <<<"$out") $err" \
	'^(user .*method module does not .*method kvm does not|kvm .*method module does not|module )'

if [ "$(id -u)" != 0 ]; then
	skip 'with memlat' 'only root can measure it'
	done_testing
	exit
fi
run doctor
like 'doctor explains the methods' "$out" 'ringlat: crossings .*module .*kvm .*user        yes.*--method NAME'
unprivileged refuses 'with memlat, without privilege' 1 'ringlat --with-memlat: ' ringlat --with-memlat
memlat_events() { sqlite3 "$1/run.db" "SELECT events FROM totals WHERE probe = 'memlat' AND split = ''"; }
rm -rf "$dir/runs"
measure run ringlat --method user -n 20000 --with-memlat -o "$dir/runs" # the kernel may move a page meanwhile, and the host hide a fault
is 'with memlat: exit status' "$status" 0
if [[ $err = *'memlat cannot run'* ]]; then
	skip 'with memlat: the whole fault' "$err"
else
	recorded=$(recording "$dir/runs")
	like 'with memlat: the whole fault' "$out" 'page fault as a whole: ringlat by user, memlat by .*handler .*rest .*round trip .*100.0 %'
	ok 'with memlat: it fits' fits
	is 'memlat saw the faults that were made for it' "$(memlat_events "$recorded")" 65536
	whole=$(grep -A6 'page fault as a whole' <<<"$out")
	run report "$recorded"
	is 'report says the same' "$(grep -A6 'page fault as a whole' <<<"$out")" "$whole"
fi
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The first answer on this machine: of all of it, of a process, of a workload; when it ends, and where it cannot be had.
# tests/probes/incidents-vm has whom it blames.
. "$(dirname "$0")/host.sh"

# fits: what was printed is one screen
fits() { [ "$(wc -l <<<"$out")" -le 24 ] && ! grep -E '^.{81}' <<<"$out"; }

check 'alone: the machine' 0 '' \
	'^[0-9.]+ m?s of .*who waited .*CPU .* busy; .*memory .*disk .*locks .*Not explained: .*Next: latscope ' -d 500ms
ok 'on one screen' fits
check 'a process' 0 '' "^answer.t \\($$\\), 1 thread, .*on a CPU .*CPU .*Not explained: .*Next: latscope why -p $$ " -p $$ -d 300ms
ok 'on one screen' fits
check 'a process, while a workload runs' 0 '' "answer.t \\($$\\), 1 thread, .*Next: latscope why -p $$ " -p $$ -- sleep .3
check 'a name that nobody has' 0 '' '^no thread that the filter selects lived' --comm nobody-has-it -d 200ms
check 'a workload: its account, and its status' 0 'exited with status 3' \
	'^workload: .*exit status 3.*the workload, .*waited for a child' -- sh -c 'sleep .3; exit 3'
check '--json' 0 '' '^\{.*"probes"' --json -d 200ms
ok 'is JSON' jq -e '.probes | map(.module) | index("where") != null' <<<"$out"
check 'record ends with it' 0 'recording in ' '^[0-9.]+ m?s of .*who waited .*Next: latscope ' record -d 300ms -o "$dir/kept"
ok 'on one screen' fits
kept=$out
run report "$(recording "$dir/kept")"
like 'report begins with the same' "$out" "^$(printf '%s' "$kept" | head -c 300 | sed 's/[][().*^$+?{}|\\/]/\\&/g')"
check 'record -v has the histograms, too' 0 'recording in ' 'Next: latscope .*runqlat run_queue: .*method: ' record -v -d 300ms -o "$dir/more"
check 'record --no-why explains nothing' 0 'recording in ' 'who waited .*Not explained: (100|0) %' record --no-why -d 300ms -o "$dir/less"

"$latscope" >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
attached() { grep -q '^link_type' "/proc/$pid/fdinfo/"* 2>/dev/null; }
# Then the threads that load programs are over.
one_thread() { [ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" = 1 ]; }
ok 'it measures' eventually attached
ok 'the window is open' eventually one_thread
sleep 1
end_by INT
is 'Ctrl-C ends it' "$status" 0
like 'and it answers' "$out" 'who waited .*Next: latscope '

unprivileged refuses 'without privilege it says what it needs' 1 'needs root, or CAP_BPF and CAP_PERFMON; run it with sudo' -d 1s
without_sys() { unshare -m sh -c 'mount -t tmpfs none /sys && exec "$@"' sh "$latscope" "$@" 2>&1; }
if unshare -m true 2>/dev/null; then
	like 'in a chroot without /sys it says so' "$(without_sys why -d 100ms)" '^latscope: why: /sys is not mounted here'
else
	skip 'a chroot without /sys' 'cannot make a mount namespace'
fi
done_testing

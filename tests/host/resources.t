#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# The memory of latscope itself, with this machine's libraries, kernel and processes.
. "$(dirname "$0")/../cli/cli.sh"
skip_unless_able

# kb FIELD...: prints the sum of these fields of the started process
kb() {
	local pattern

	printf -v pattern '%s:|' "$@"
	awk -v wanted="^(${pattern%|})$" '$1 ~ wanted { sum += $2 } END { print sum }' "/proc/$pid/status"
}

# How much of libraries and of the kernel's maps is resident depends on what else the machine does.
start --no-why -i 50ms
wait_for has_intervals "$(recording "$dir/runs")" 20
own=$(kb RssAnon RssShmem)
ok 'record --no-why needs less than 6 MB of memory of its own' test "$own" -lt 6000
diag "$own kB its own, $(kb RssFile) kB of files and maps; $(kb VmHWM) kB while it loaded"
end_by INT

start -i 50ms
wait_for has_intervals "$(recording "$dir/runs")" 20
own=$(kb RssAnon RssShmem)
ok 'record needs less than 16 MB of memory of its own' test "$own" -lt 16000
diag "$own kB its own, $(kb RssFile) kB of files and maps; $(kb VmHWM) kB while it loaded"
end_by INT

start --why --over 1us -i 50ms
wait_for has_intervals "$(recording "$dir/runs")" 20
own=$(kb RssAnon RssShmem)
ok 'record --why needs less than 16 MB of memory of its own' test "$own" -lt 16000
diag "$own kB its own, $(kb RssFile) kB of files and maps; $(kb VmHWM) kB while it loaded"
end_by INT

# The maximum number of keys per split in each probe, of processes that live at the same time.
touch "$dir/written"
start --no-why -i 100ms --by process,cgroup,disk --max-keys 1024
ok 'there are 1,100 processes' "$built/tests/reference/throng" 1100 5 "$dir/written"
kill -INT "$pid"
most=$(kb VmHWM)
while now=$(kb VmHWM) && [ -n "$now" ]; do
	most=$now
done
finish
keys=$(sqlite3 -readonly "$(recording "$dir/runs")/run.db" "SELECT count(*) FROM series WHERE split = 'process'")
ok "they are keys: $keys" test "$keys" -gt 1500
ok 'record --no-why with 1,024 keys needs at most 40 MB of memory' test "$most" -le 40000
diag "$most kB at most"

# Time from the start of the process to the open window: only shown, as a busy machine takes longer.
perl -MTime::HiRes=clock_gettime,CLOCK_MONOTONIC -e 'open F, ">", shift; printf F "%d", 1e9 * clock_gettime(CLOCK_MONOTONIC); close F; exec @ARGV' \
	"$dir/started" "$latscope" record -q -d 50ms -o "$dir/timed" >/dev/null
opened=$(meta "$(recording "$dir/timed")" start_mono_ns) started=$(<"$dir/started")
ok 'the window opens after the start' test "$opened" -gt "$started"
diag "$(((opened - started) / 1000000)) ms from the start to the open window"
done_testing

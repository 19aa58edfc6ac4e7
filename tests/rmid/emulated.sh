# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# Traces of emulated RMIDs, merged with the kernel's own events, for tests/rmid/check.
[ -n "${dir-}" ] || . tests/cli/cli.sh
instance=/sys/kernel/tracing/instances/latscope-test-$$

# head_of NAME, list, listed PID: parts of the dump in $out
head_of() { sed -n "s/^$1 //p" <<<"$out"; }
list() { sed '1,/^$/d' <<<"$out"; }
listed() { list | grep "^[0-9]* $1 "; }

end_instance() {
	[ ! -e "$instance" ] || { echo 0 >"$instance/events/enable" && rmdir "$instance"; }
}

# In the VM of another architecture the programs of the tests are those of the host.
programs_run() {
	[ -x .output/tests/rmid/check ] || return
	.output/tests/rmid/check >/dev/null 2>&1
	[ $? -lt 126 ]
}

traces_can_be_made() {
	programs_run && mkdir "$instance" 2>/dev/null || return
	on_exit end_instance
	end_instance
}

# Events of the kernel alone, by the clock of latscope.
start_instance() {
	local event

	mkdir -p "$instance" && echo mono >"$instance/trace_clock" && echo 16384 >"$instance/buffer_size_kb" || return
	for event in task/task_newtask sched/sched_process_exec sched/sched_switch; do
		echo 1 >"$instance/events/$event/enable"
	done
	echo dumped >"$instance/trace_marker"
}

# Deaths and births of every kind: a leader that goes first, exec by a thread, a PID that is used again, many at once.
busy() {
	"$dir/lives" -q 3 >"$dir/lives.log" && .output/tests/reference/storm 600 true
}

missed() { echo $(($(head_of missed) + $(head_of miscounted) + $(head_of untracked))); }

# traced RMIDS: makes a trace in $dir/trace; succeeds if it keeps all guarantees
traced() {
	cp .output/tests/rmid/lives "$dir/lives"
	rm -f "$dir/stdout" # or the one before would be waited for
	start_instance || return
	"$latscope" rmid -q --method switches --counters none --rmids "$1" --trace --dump >"$dir/stdout" 2>"$dir/stderr" &
	pid=$!
	wait_for grep -q rmid_alloc "$dir/stdout"
	busy
	sleep .2
	kill -INT $pid
	finish
	echo 0 >"$instance/tracing_on"
	merge <"$instance/trace" >"$dir/trace"
	grep -E 'overrun|dropped' "$instance"/per_cpu/cpu*/stats | grep -vE '(overrun|dropped events): 0$'
	end_instance
	[ "$status" = 0 ] && all_hold "$1"
}

# merge: puts the trace of latscope between the kernel's events of the same time, up to the end of both
merge() {
	{ cat && sed '/^#/d; /: rmid_/!d' "$dir/stdout"; } | awk -v until="$(sed -n 's/^# until *//p' "$dir/stdout")" '
		match($0, /[0-9]+\.[0-9]+: [a-z_]+: /) {
			time = substr($0, RSTART, RLENGTH)
			sub(/:.*/, "", time)
			if (time + 0 <= until + 0 || /tracing_mark_write/)
				print time, NR, $0
		}' | sort -s -n -k1,1 -k2,2 | cut -d' ' -f3-
}

# holds RMIDS PROPERTY
holds() { .output/tests/rmid/check trace "$dir/trace" "$1" 2000000 "$2"; }

all_hold() {
	local property

	for property in order unique limbo fifo last leak; do
		holds "$1" $property || return
	done
}

# judge_trace RMIDS: unless the host hid switches from programs, and with them deaths
judge_trace() {
	if [ "$(missed)" != 0 ] && ! all_hold "$1" >/dev/null; then
		skip "$1 RMIDs: the trace" "$(missed) switches were hidden, or records lost"
		return
	fi
	ok "$1 RMIDs: records are numbered without a gap, and agree with each other" holds "$1" order
	ok "$1 RMIDs: no RMID had two living processes" holds "$1" unique
	ok "$1 RMIDs: at least 2 ms lay between each free and reuse" holds "$1" limbo
	ok "$1 RMIDs: what was freed first was reused first" holds "$1" fifo
	ok "$1 RMIDs: each was freed by the last thread, as it was switched out for good" holds "$1" last
	ok "$1 RMIDs: nobody who is over has an RMID" holds "$1" leak
}

# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with window.sh
# Waits at the edges of runqlat's window: that begin before it, and that have not ended when it closes.

loop='while :; do :; done' loops=()
at_exit+=(end_loops)

# start_loop PRIORITY: adds a real-time task on the last CPU
start_loop() {
	chrt -f "$1" taskset -c $(($(nproc) - 1)) bash -c "$loop" &
	loops+=($!)
}

end_loops() {
	[ ${#loops[@]} = 0 ] || kill "${loops[@]}"
	loops=()
}

# unchanged TASK FILE: succeeds if the account of TASK is still that of FILE: it has not had a CPU since
unchanged() { [ "$(<"/proc/$1/schedstat")" = "$(<"$2")" ]; }

changed() { ! unchanged "$@"; }

# stuck TASK: succeeds if it has not had a CPU for a while
stuck() {
	cat "/proc/$1/schedstat" >"$w/account"
	nap 0.1
	unchanged "$1" "$w/account"
}

# starve: sets $waiter, the first task, and adds a task of higher priority; from the account in $w/account on, the first one has no CPU
starve() {
	waiter=${loops[0]}
	start_loop 2
	await 'an end of its turns' stuck "${loops[0]}"
	cat "/proc/${loops[0]}/schedstat" >"$w/account"
}

# let_wait: has it wait for $waited_ns, at least
let_wait() {
	local since=${EPOCHREALTIME/./}

	nap 0.2
	waited_ns=$(((${EPOCHREALTIME/./} - since) * 1000))
}

# give_turn: ends the task of higher priority, so that the other one, which has waited until now, gets the CPU
give_turn() {
	unchanged "${loops[0]}" "$w/account" || no_reference='the task got a CPU too early'
	kill "${loops[1]}"
	loops=("${loops[0]}")
	await 'its turn' changed "${loops[0]}" "$w/account"
}

# A real-time task has a CPU for itself, until a task of higher priority starts; the kernel may throttle the latter, but not in
# favour of the former. The task has waited as long as its account has not changed while the other one's has. Sets $waited_ns.
stuck_window() {
	begin
	start_loop 1
	watch_all runqlat -t "${loops[0]}"
	await_recorders
	cat "/proc/${loops[0]}/schedstat" >"$w/account"
	await 'a turn of the waiter' changed "${loops[0]}" "$w/account"
	starve
	cat "/proc/${loops[1]}/schedstat" >"$w/above"
	let_wait
	close_window
	unchanged "${loops[0]}" "$w/account" && changed "${loops[1]}" "$w/above" || no_reference='the waiter got a CPU'
	end_loops
}

# open_at_close DESC WINDOW: tests that the wait of the window is in flight, and as old as it is
open_at_close() {
	local began=${EPOCHREALTIME/./} waited_ns method

	window "$2" || return
	for method in "${methods[@]}"; do
		is "$method: $1 is in flight" "$(fact "$method" runqlat.in_flight)" 1
		like "$method: $1: its process" "$(fact "$method" runqlat.in_flight_of)" "\\($waiter\\)\$"
		within "$method: $1: its age" "$waited_ns" "$(fact "$method" runqlat.in_flight_ns)" $(((${EPOCHREALTIME/./} - began) * 1000))
		balance "$method: $1" "$method"
	done
}

open_wait() { open_at_close 'a wait without an end' stuck_window; }

# As stuck_window, but the task of higher priority ends when the windows have closed and before the recorders have counted what
# is in flight.
late_window() {
	begin
	start_loop 1
	watch_held 0 runqlat -t "${loops[0]}"
	await_recorders
	starve
	let_wait
	hold 2
	kill "${recorders[@]}"
	await_held 2
	give_turn
	hold 0
	close_window
	end_loops
}

late_end() { make_hold && open_at_close 'a wait that ends right after the window' late_window; }

# ---- tasks that are moved while they wait ----

# The tasks start after the attach, so that the recorders see the whole of their waits.
moved_before_window() {
	begin
	watch_held 1 runqlat
	await_held 1
	start pushed pushed before 3 1000 || { hold 0 && return 1; }
	hold 0
	work
}

# The recorders are attached during the waits.
moved_across_attach() {
	begin
	start pushed pushed across 3 1000 || return
	nap 1
	watch_all runqlat
	work
}

# early_whole METHOD: all that the moves added is in what the kernel may have added before the window, and nothing of what it
# added afterwards
early_whole() {
	[ "$1" = stamps ] || return 0
	is_within "$(printed pushed moved_ns)" "$(fact stamps runqlat.early_ns)" "$forever" &&
		is_within $(($(printed pushed run_delay_ns) - $(printed pushed moved_ns))) \
			$(($(fact stamps runqlat.kernel_ns) - $(fact stamps runqlat.early_ns))) "$forever"
}

# pushed_wait METHOD: the pushed tasks are in flight, and have been since before they were moved
pushed_wait() {
	is_within 3 "$(fact "$1" runqlat.in_flight)" "$forever" &&
		is_within "$(printed pushed waited_ns)" "$(fact "$1" runqlat.in_flight_ns)" "$forever"
}

# all_in_flight METHOD: the pushed tasks are in flight
all_in_flight() { is_within 3 "$(fact "$1" runqlat.in_flight)" "$forever"; }

# The kernel adds a part of a wait when it moves the task: before the window opens, though the wait ends in it; or in the
# window, though the wait does not end. Other tasks of the machine may have such waits too.
moved_waiters() {
	local method

	make_hold || return
	window moved_before_window || return
	for method in "${methods[@]}"; do
		[ "$method" != stamps ] || ok 'stamps: moved before the window: what the kernel added then' early_whole stamps
		balance "$method: moved before the window" "$method"
	done
	window one_program runqlat pushed pushed within 3 1000 || return
	for method in "${methods[@]}"; do
		ok "$method: moved, and waiting at the end: they are in flight, and as old as their waits" pushed_wait "$method"
		balance "$method: moved, and waiting at the end" "$method"
	done
	[[ " ${methods[*]} " = *' stamps '* ]] || return 0
	window moved_across_attach || return
	ok 'stamps: waiting since before the attach, and moved: they are in flight' all_in_flight stamps
	balance 'stamps: waiting since before the attach, and moved' stamps
}

# As stuck_window, but the window opens during the wait, and the task of higher priority ends before it closes.
early_window() {
	begin
	start_loop 1
	starve
	watch_all runqlat -t "${loops[0]}"
	await_recorders
	give_turn
	nap 0.1
	close_window
	end_loops
}

# Own clocks do not know its start. The kernel has stamped it, but since 6.12 that may be the time of a move.
early_wait() {
	local began=${EPOCHREALTIME/./} method

	window early_window || return
	for method in "${methods[@]}"; do
		[ "$method" = stamps ] ||
			is "$method: a wait since before the attach has no start" "$(fact "$method" runqlat.missed_start)" 1
		within "$method: a wait since before the attach: nothing is longer" \
			0 "$(fact "$method" runqlat.max_ns)" $(((${EPOCHREALTIME/./} - began) * 1000))
		balance "$method: a wait since before the attach" "$method"
	done
}

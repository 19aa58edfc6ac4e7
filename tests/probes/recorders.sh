# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # shared with window.sh
# Recorders of a window: latscope processes, each with the recording directory $w/NAME.
#
#	watch NAME PROBE METHOD ARG...   starts one
#	watch_all PROBE ARG...           starts one for each of $methods
#	await_recorders                  waits until all of them record
#	watch_held, hold, await_held     have them wait before the window opens, or after it has closed
#	stop_recorders NAME...           ends them and reads what they recorded, see facts.sh

# watch_all PROBE ARG...: starts a recorder for each of $methods, with the method's name
watch_all() {
	local method

	for method in "${methods[@]}"; do
		watch "$method" "$1" "$method" "${@:2}"
	done
}

# is_recording NAME: succeeds if the recorder has opened its window, which creates run.db, or has ended
is_recording() { compgen -G "$w/$1/*/run.db" >/dev/null || gone "${recorders[$1]}"; }

# watch NAME PROBE METHOD ARG...: starts a recorder, which records until stop_recorders. METHOD may be empty.
watch() {
	"$latscope" "$2" ${3:+--method "$3"} -q -i 300ms -o "$w/$1" "${@:4}" >"$w/$1.out" 2>"$w/$1.err" &
	recorders[$1]=$!
}

# await_recorders: waits until all recorders record
await_recorders() {
	local name

	for name in "${!recorders[@]}"; do
		await "$name records" is_recording "$name"
	done
}

# stop_recorders NAME...: ends their windows, and reads their facts
stop_recorders() {
	local name status

	for name; do
		kill "${recorders[$name]}" 2>/dev/null
	done
	for name; do
		status=0
		wait "${recorders[$name]}" || status=$?
		unset "recorders[$name]"
		slurp "$w/$name.err"
		[ "$status$slurped" = 0 ] || is "recorder $name ends well" "status $status: $slurped" ''
	done
	read_facts "$@"
}

# refused_split PROBE METHOD SPLIT: tests that the method refuses it
refused_split() {
	local status=0

	"$latscope" "$1" --method "$2" --by "$3" -d 1ms >"$scratch/out" 2>"$scratch/err" || status=$?
	is "$2: --by $3 is refused" $status 2
	like "$2: --by $3: says why" "$(<"$scratch/err")" "method $2 cannot do --by $3; leave out"
}

# ---- recorders that wait at a step, see HOLD in tests/cli/fail_bpf.c ----

# hold WHERE: has all recorders wait there; 0: has them go on
hold() {
	local name

	for name in "${!recorders[@]}"; do
		printf '%s' "$1" 1<>"$scratch/hold.${recorders[$name]}"
	done
}

# await_held WHERE: until all recorders wait there
await_held() {
	local name

	for name in "${!recorders[@]}"; do
		await "$name waits" grep -qs "$1$1" "$scratch/hold.${recorders[$name]}"
	done
}

# watch_held WHERE PROBE ARG...: as watch_all, but they wait there
watch_held() { LD_PRELOAD=$scratch/fail_bpf.so HOLD=$scratch/hold HOLD_FIRST=$1 watch_all "${@:2}"; }

# make_hold: before the first watch_held
make_hold() {
	[ -e "$scratch/fail_bpf.so" ] || gcc -shared -fPIC -O2 -o "$scratch/fail_bpf.so" tests/cli/fail_bpf.c
}

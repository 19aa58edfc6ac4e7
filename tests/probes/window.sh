# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the tests
# A window: programs that create a known latency, and recorders that measure it at the same time. Tests of a probe
# compare the two. A window proceeds in these steps:
#
#	1. The programs start, and wait before their work.
#	2. The recorders start: one latscope process for each method of the probe, with BPF programs and maps of its own.
#	3. Once all recorders record, the programs work. Then they print their reference: what the kernel counted, or bounds.
#	4. The recorders end, then the programs. The test compares facts of the recordings with the reference.
#
# All methods see the same events this way, and a machine with several CPUs loads them at the same time. The VM's time is
# virtual, so every reference comes about. Elsewhere a window may be disturbed: see tests/measure.sh.
#
# Example, a test of memlat with the recorder "fentry" and the program "fast":
#
#	touch_window() {
#		begin
#		start fast touch 1000 || return        # 1000 page faults, see tests/reference/touch.c; sets $pid
#		watch fentry memlat fentry -p "$pid"   # latscope memlat --method fentry -p PID
#		work
#	}
#
#	window touch_window || return             # or: window one_program 'memlat -p PID' fast touch 1000
#	is 'every fault is recorded' "$(fact fentry memlat.events)" "$(printed fast minflt_window)"
#	balance 'touch' fentry
#
# A window leaves these files in its directory $w, until the script ends:
#
#	NAME.in NAME.out NAME.err   stdin (a FIFO), stdout (the reference) and stderr of the program NAME
#	NAME/*/run.db ...           the recording of the recorder NAME, with NAME.out and NAME.err of latscope
#
# Functions of this file:
#
#	window COMMAND...           runs COMMAND, a function like touch_window
#	begin, work, close_window   the steps of a window, see below
#	one_program 'PROBE ARG...' NAME PROGRAM ARG...   a window of one program, and a recorder for each method
#	on SERIES COMMAND...        runs COMMAND on one kernel of the VM only
#	await WHAT COMMAND...       waits until COMMAND succeeds; a test WHAT fails if that takes too long
#
# programs.sh, recorders.sh, facts.sh and accounting.sh have the others. These assert, that is, print a test: start,
# stop_recorders and window only if they fail; balance always. `is`, `within` and so on are in tests/tap.sh.

[ -z "${scratch-}" ] || return 0 # sourced already, by another test
. tests/tap.sh
. tests/measure.sh
. tests/probes/doctor.sh
. tests/probes/programs.sh
. tests/probes/recorders.sh
. tests/probes/facts.sh
. tests/probes/accounting.sh

built=${LATSCOPE_BUILT:-$PWD/.output} # elsewhere for another architecture
latscope=$built/latscope
reference=$built/tests/reference
soak=${LATSCOPE_SOAK:+5} soak=${soak:-1} # multiplies counts
# A directory of a file system that is on a disk and can do direct I/O.
disk_fs=$PWD/.output
[ -z "${LATSCOPE_VM-}" ] || disk_fs=/mnt

scratch=$(mktemp -d)
begun=0 # windows so far
extent=${extent-long}
mkdir "$scratch"/{1..99} # the directories of windows, made by one process
mkfifo "$scratch/never"
exec {never}<>"$scratch/never"
declare -A programs=() inputs=() recorders=() facts=()
at_exit=() # commands that leave runs
handed_over=() handed_over_desc=() strict=false
on_exit leave
trap '' PIPE # release writes to a program that may have ended

leave() {
	local command

	drop_all
	for command in "${at_exit[@]}"; do
		$command
	done
	rm -rf "$scratch"
}

# nap SECS: sleeps without a process, which in the VM would take longer than the nap
nap() { read -rt "$1" -u "$never" || true; }

await() {
	local until=$((SECONDS + tap_patience))

	while ! "${@:2}"; do
		[ $SECONDS -lt $until ] || { ok "$1 comes about within $tap_patience s" false && return 1; }
		nap 0.02
	done
}

# slurp FILE: reads it into $slurped
slurp() { IFS='' read -rd '' slurped <"$1" || true; }

# ---- the window ----

# begin: ends and forgets the previous window, and sets $w
begin() {
	drop_all
	w=$scratch/$((++begun))
	[ -d "$w" ] || mkdir "$w"
	facts=()
}

# drop_all: kills all programs and recorders
drop_all() {
	local name all=("${programs[@]}" "${recorders[@]}")

	[ ! -e "$scratch/fail_bpf.so" ] || hold 0 # else they would not end
	if [ ${#all[@]} -gt 0 ]; then
		kill "${all[@]}" 2>/dev/null
		wait "${all[@]}" 2>/dev/null
	fi
	for name in "${!programs[@]}"; do
		drop_program "$name"
	done
	recorders=()
}

# work: lets all programs work while all recorders record, and closes the window
work() {
	await_recorders
	run_programs
	close_window
}

# one_program 'PROBE ARG...' NAME PROGRAM ARG...: a window of one program, and a recorder for each of $methods. PID stands for that of
# the program.
one_program() {
	local watched

	begin
	start "${@:2}" || return
	read -ra watched <<<"${1//PID/$pid}"
	watch_all "${watched[@]}"
	work
}

# close_window: ends the recorders, then the programs
close_window() {
	local name

	stop_recorders "${!recorders[@]}"
	for name in "${!programs[@]}"; do
		end_program "$name"
	done
}

# window COMMAND...: COMMAND runs a window by the functions above. Fails, with a test that says why, if a program reports that
# its reference did not come about.
window() {
	no_reference=''
	begin_evidence
	"$@" || return
	end_evidence
	[ -z "$no_reference" ] || { is "$*: the reference comes about" "$no_reference" '' && false; }
}

# on SERIES COMMAND...: the long tests run in the VM on two kernels. A test that does not depend on the kernel runs on one of
# them, under soak on both.
on() {
	if [ -n "${LATSCOPE_SOAK-}" ] || [ "${LATSCOPE_VM:-$1}" = "$1" ]; then
		"${@:2}"
	fi
}

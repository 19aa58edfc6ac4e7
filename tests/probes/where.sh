# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by window.sh
# where compared with threads whose lives are known. Source it and call tests of it; in the VM or natively, on a disk $disk_fs.
#
#	states ROUNDS         threads that wait for one known thing each
#	states_on_one_cpu ROUNDS   the same to the clock read, in the VM
#	lives_offline         on a CPU that goes offline
#	refused               a kernel that is too old
#	lives THREADS [ARG]   stopped, killed, traced, ... and so many threads that come and go
#	chains ROUNDS         tokens that threads pass: the chain of each wait is known; and commits that wait for a lock, whose
#	                      holder waits for a disk, which serves a backup
#	faulty ROUNDS         states, with a fault injected: each thousandth switch is not seen
. tests/probes/window.sh

declare -A known=() # of the recorder that recount has read

# recount NAME: reads the facts of a recorder of where, by where.sql
recount() {
	local line paths=("$w/$1"/*/run.db)

	known=()
	while IFS= read -r line; do
		known[${line%=*}]=${line##*=}
	done < <(sqlite3 -readonly -separator $'\n' "${paths[0]}" '.read tests/probes/where.sql' 2>&1)
}

# watch_where BY INTERVAL ARG...: starts a recorder, called by its split
watch_where() { watch "$1" where '' --no-why --by "$1" -i "$2" "${@:3}"; }

# adds_up DESC: of what recount has read
adds_up() {
	ok "$1: there are rows" [ "${known[rows]-0}" -gt 0 ]
	is "$1: the parts of each row sum to its life" "${known[sums_off]-}" 0
	is "$1: no part is negative" "${known[negative]-}" 0
	# Natively the kernel hides switches from BPF: these are unknown.
	[[ -z ${LATSCOPE_VM-} || -n ${faulty-} ]] || like "$1: nothing is unknown" "${known[unknown_of]-}" "^${may_be_unknown-}\$"
}

# ---- threads that wait for one known thing ----

declare -A part_of=([timer]=timer [pipe]=socket [poll]=work [epoll]=work [eventfd]=socket [socket]=socket [futex]=futex [child]=child
	[signal]=work [disk]=disk [lock]=lock)
# What they do between: both ends of a pipe can meet at its mutex.
declare -A rest_of=([futex]='work socket lock' [lock]='futex socket')

states_window() {
	begin
	start states states "$disk_fs" "$1" || return
	watch_where thread 300ms -p "$pid"
	watch_where process 300ms -p "$pid"
	work
}

# over OURS KERNEL: prints how much more than the kernel the thread $name had of a part, by our account
over() {
	local ns=$((${known[$name.$1]-0} - ${known[$name.$2]-0}))

	echo $((ns > 0 ? ns : 0))
}

# judge_state NS RUN QUEUE WAITS: of the thread $name. What is unknown is missing.
#
# A wait is known to 5 us, which is 5000 instructions in the VM: two reads of the clock, and what the kernel does between the read of
# its own and the switch, as PSI, which it leaves out of its accounts. On one CPU the part is as exact. On two, more can pass there:
# the kernel looks for work on the other CPU; interrupts and the hypervisor take the CPU; so does the VM's other CPU, until its next
# timer, 4 ms at most. The thread still has its CPU then, or waits for it: by so much the part can be shorter.
judge_state() {
	local part=${part_of[$name]} missing=${known[$name.unknown]-0} clocks=$(($4 * 5000)) wait=$(($1 - $2 - $3)) most=$1 late got

	got=${known[$name.$part]-0}
	late=$(($(over cpu run) + $(over ready queue)))
	# Both ends of a pipe can meet at its mutex in the wait, too; with PREEMPT_RT spin locks sleep.
	[ "$part" = lock ] || missing=$((missing + ${known[$name.lock]-0}))
	if [[ -n ${exact-} && ${LATSCOPE_VM-} != *-rt ]]; then
		most=$((wait + clocks)) late=0
		# The kernel does not count the wait for a CPU of a thread that is preempted on its way to sleep.
		! grep -qsE '\((full|lazy)\)' /sys/kernel/debug/sched/preempt || late=$(over ready queue)
	elif [[ -n ${LATSCOPE_VM-} && ${LATSCOPE_VM-} != *-rt ]]; then
		within "states: $name: at most two of its switches were late" 0 $late $((8000000 + clocks))
	fi
	within "states: $name: as long as its clock says" $((wait - clocks - late - missing)) "$got" "$most"
	[ -z "${LATSCOPE_VM-}" ] || ok "states: $name: it does wait" [ "$got" -ge $(($4 * 1000000)) ]
	is "states: $name: it does nothing else" "$(others)" ''
}

# others: prints what the thread $name did besides waiting for what it says, and between its waits
others() {
	local part few=0

	[ -n "${LATSCOPE_VM-}" ] || few=$((${known[$name.life]} / 1000)) # a page can be missing, for example
	for part in disk memory fault lock futex socket work timer child stopped other; do
		[[ " ${part_of[$name]} ${rest_of[$name]-futex lock} " != *" $part "* ]] || continue
		[ "${known[$name.$part]-0}" -le $few ] || echo "$part ${known[$name.$part]} ns:" \
			"$(printf '%s\n' "${!known[@]}" | grep -F "$name.$part.")"
	done
}

judge_states() {
	local name tid ns run queue waits

	recount process
	adds_up 'states, by process'
	recount thread
	adds_up 'states, by thread'
	slurp "$w/states.out"
	while read -r name tid ns run queue waits; do
		[[ $name = state=* ]] || continue
		name=${name#*=}
		judge_state "${ns#*=}" "${run#*=}" "${queue#*=}" "${waits#*=}"
	done <<<"$slurped"
}

states() { window states_window "$1" && judge_states; }

# states_on_one_cpu ROUNDS: in the VM
states_on_one_cpu() {
	local exact=1 online=/sys/devices/system/cpu/cpu1/online

	echo 0 >$online && states "$1"
	echo 1 >$online
}

# Parts are missing then, but none is longer than it was.
faulty() {
	[ -x "$built/faults/latscope" ] || { skip 'switches that are not seen' 'no faults are built for this machine' && return; }
	local latscope=$built/faults/latscope faulty=1

	window states_window "$1" && judge_states
	within 'switches that are not seen: what is missing is unknown' 1 "${known[unknown_ns]-0}" $((known[life_ns] / 20))
}

# ---- lives ----

# nap32: prints the path of a 32-bit program, if this machine can have one
nap32() {
	local path=$built/tests/probes/nap32

	[ "$(uname -m)" = x86_64 ] || return 0
	[ "$path" -nt tests/probes/nap32.S ] || gcc -m32 -nostdlib -static -o "$path" tests/probes/nap32.S >&2 || return 0
	[ -z "${1-}" ] || "$path" >&2 || return 0
	echo "$path"
}

lives_window() {
	begin
	start lives lives "$@" || return
	watch_where thread 1000s
	watch_where process 300ms
	work
}

# claims: what the program claims of its threads
claims() {
	local name part low high

	slurp "$w/lives.out"
	while read -r name part low high; do
		[[ $name = claim=* ]] || continue
		name=${name#*=} part=${part#*=}
		within "lives: $name: $part" "${low#*=}" "${known[$name.$part]--1}" "${high#*=}"
	done <<<"$slurped"
}

# No tracepoint is called on a CPU that is not online. So its stopper, the threads that this wakes up, and a recorder that was on it
# have unknown parts: others have none.
lives_offline() {
	local may_be_unknown='((migration/[01]|cpuhp/1|kworker/[^ ]+|lives|latscope) [0-9]+(, )?)*'

	lives 8 -c
}

lives() {
	local program

	program=$(nap32 run)
	window lives_window "$@" ${program:+"$program"} || return
	recount process
	adds_up 'lives, by process'
	recount thread
	adds_up 'lives, by thread'
	is 'lives: one that waits from before the window to its end has no other part' "${known[l-old.work]-}" "${known[l-old.life]-0}"
	claims
	if [ -n "$program" ]; then
		ok 'lives: a 32-bit program sleeps in the calls of its table' [ "${known[nap32.timer.nanosleep (32-bit)]-0}" -gt 79000000 ]
	else
		skip 'lives: a 32-bit program' 'it cannot be built, or run'
	fi
}

# ---- kernels that are too old ----

# refused: with --over, probes that explain waits run in addition, or do not: the account is what the command is about
refused() {
	local option said status

	for option in --no-why --over=1ms; do
		status=0
		said=$("$latscope" where $option -d 1s 2>&1) || status=$?
		is "a kernel that is too old, with $option: exit status" $status 77
		like "a kernel that is too old, with $option: one line says so" "$said" \
			$'^latscope: where cannot run on this machine: [^\n]*needs Linux 5\\.[^\n]*$'
	done
}

# ---- chains ----

# make_disk: a disk that has one request at a time, for 5 ms. Others wait in the scheduler's queue, not for room in it.
make_disk() {
	local queue=/sys/block/nullb0/queue

	modprobe null_blk nr_devices=1 queue_mode=2 irqmode=2 completion_nsec=5000000 hw_queue_depth=1 submit_queues=1 || return
	modprobe -q mq-deadline
	echo mq-deadline >$queue/scheduler && echo 64 >$queue/nr_requests && echo 1 >$queue/iosched/fifo_batch
}

# Few waits are kept of an interval: so it is short, and the programs follow each other.
chains_window() {
	begin
	start "$1" "$@" || return
	watch chains where '' --by thread -i 100ms
	await_recorders
	release "$1"
	await "the end of $1" has_printed "$1" 'done=1'
	close_window
}

# judge_rings: prints each wait of the last thread of a ring, whose chain is not what it is known to be, and how many are
judge_rings() {
	sqlite3 -readonly -separator $'\t' "$w"/chains/*/run.db "SELECT 'wait', comm, state, ns, chain FROM where_waits" |
		cat "$w/rings.out" - | awk -f tests/probes/where-rings.awk
}

# incident_share CONDITION: prints the share of the time, in percent, that commits waited for a futex, with such a cause
incident_share() {
	sqlite3 -readonly "$w"/chains/*/run.db "SELECT CAST(100 * sum((cause $1) * ns) / sum(ns) AS INTEGER) FROM where_causes
		WHERE comm = 'commit' AND state = 'futex'"
}

# incident_served CONDITION: prints the share of the time, in percent, that commits waited for a disk in the worst waits, with such a chain
incident_served() {
	sqlite3 -readonly "$w"/chains/*/run.db "SELECT CAST(100 * sum((chain $1) * ns) / sum(ns) AS INTEGER) FROM where_waits WHERE comm = 'commit' AND (state = 'disk' OR chain GLOB '* disk *')"
}

incident() {
	local disk_ns=${known[commit.disk]-0}

	within 'incident: commits wait for a futex, as long as they say' $(($(printed incident futex_ns) * 95 / 100)) \
		"${known[commit.futex]-0}" "$(printed incident futex_ns)"
	if grep -aqw sched_delayed /sys/kernel/btf/vmlinux; then # its delay accounting is wrong then
		is "incident: the kernel's delay accounting is no witness" "${known[commit.io]-}" ''
	else
		within "incident: the kernel's delay accounting says the same of the disk" $((disk_ns * 99 / 100)) \
			"${known[commit.io]-0}" $((disk_ns * 101 / 100))
	fi
	within 'incident: it is held by a commit that waits for a disk' 90 "$(incident_share "GLOB 'commit (*): disk'
		OR cause GLOB 'commit (*): futex < *: disk'")" 100
	# iolat explains slow requests, not all; and whom the disk served is said if it did so for most of the wait.
	within 'incident: the disk is named' 25 "$(incident_served "GLOB '*nullb0*'")" 100
	within 'incident: and that it served the backup' 10 "$(incident_served "GLOB '*nullb0: served backup (*) * ms'")" 100
	is 'incident: it served nobody else' "$(incident_served "GLOB '*: served *' AND chain NOT GLOB '*: served backup (*)*'")" 0
	slurp "$w/chains.out"
	like 'incident: the text has the chain' "$slurped" \
		'futex[^A-Z]* <[[:space:]]+commit([[:space:]]\([0-9]+\))?:[[:space:]]+disk'
}

chains() {
	make_disk && window chains_window rings "$1" || return
	is 'rings: each wait of the last threads has the chain that is known' "$(judge_rings)" \
		"pipe=$1 futex=$1 eventfd=$1 epoll=$1"
	recount chains
	adds_up rings
	window chains_window incident /dev/nullb0 /dev/nullb0 5 || return
	recount chains
	adds_up incident
	incident
}

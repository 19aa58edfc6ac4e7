# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by runqlat.sh, which sources this
# runqlat compared with a capture of the same waits by another clock and other code, tests/reference/waits.c: nothing false is
# recorded, and nothing is lost.

# slack NS: sets $below and $above, by which a recorder may differ from a capture's NS: 1/16 and the time of the programs of all
# recorders at one tracepoint: 3 us, or 15 us in the VM, where an instruction takes 4 ns
slack() {
	local programs=3000

	[ -z "${LATSCOPE_VM-}" ] || programs=15000
	below=$(($1 / 16 + programs)) above=$below
}

# The programs have a short way for switches without filters and metric wakeup: recorders of their own go that way.
waits_window() {
	local method

	begin
	start waits waits "$@" || return
	for method in "${methods[@]}"; do
		watch "$method" runqlat "$method" --comm waits-worker --metric wakeup
		watch "$method-usual" runqlat "$method" --by thread
	done
	work
}

# decile TENTHS: sets $low and $high, the edges of the decile in the slots read last, give or take 1 % of the ranks and 2: a
# few samples have other ranks there than in the capture
decile() {
	local i=0 rank=$((samples * $1 / 10)) off=$((samples / 100 + 2))

	slot_of $((rank - off))
	low=${lows[i]-0}
	slot_of $((rank + off))
	high=${highs[i]-0}
}

# deciles NAME METRIC LEAST MOST: each decile is between those of the capture's LEAST and MOST
deciles() {
	local tenths low high least most below above bad=0

	read_slots "$1" "$2"
	for tenths in 1 2 3 4 5 6 7 8 9; do
		decile $tenths
		read_printed waits "$3_${tenths}0"
		least=$answer
		read_printed waits "$4_${tenths}0"
		most=$answer
		[ "$most" -ge "$least" ] || most=$least # where tasks lose the CPU, not all waits have a request
		slack "$most"
		[ "$low" -le $((most + above)) ] || bad=1
		slack "$least"
		[ $((least - below)) -le "$high" ] || bad=1
		[ $bad = 0 ] || { echo "($2: decile $tenths is $low to $high ns, the capture's $least to $most)" && return 1; }
	done
}

# Own clocks stamp at sched_wakeup; the kernel stamps a little before, at the enqueueing, which follows the request.
# Between the two the waker may send an interrupt.
waits_deciles() {
	local highest=run_queue

	[ "$1" != stamps ] || highest=wakeup
	deciles "$1" runqlat run_queue "$highest"
}

workers() {
	slurp "$w/waits.out"
	sed -n 's/^worker=//p' <<<"$slurped"
}

# usual_deciles METHOD: of the one worker of a shape, if there is only one
usual_deciles() {
	local worker

	worker=$(workers)
	[[ $worker = *$'\n'* ]] || deciles "$1-usual" "runqlat.thread.$worker" run_queue wakeup
}

wakeup_deciles() { deciles "$1" wakeup wakeup wakeup; }

# With stamps the kernel's account includes waits that a host hides from BPF and from the capture: joined, rarely.
summed() {
	is_sum "$(fact "$1" runqlat.sum_ns)"
}

is_sum() {
	local sum each=3000

	sum=$(printed waits run_queue_sum_ns)
	is_within $((sum * 97 / 100)) "$1" $((sum * 103 / 100 + each * $(printed waits run_queue_count)))
}

usual_sum() {
	local sum=0 worker

	for worker in $(workers); do
		sum=$((sum + $(fact "$1-usual" "runqlat.thread.$worker.sum_ns")))
	done
	is_sum $sum
}

# summed_waits SHAPE ROUNDS
summed_waits() {
	local method

	window waits_window "$@" || return
	for method in "${methods[@]}"; do
		ok "$method: $1: the sum is that of the capture" summed "$method"
		ok "$method: $1: without filters, too" usual_sum "$method"
		balance "$method: $1" "$method"
	done
}

# decile_waits SHAPE ROUNDS
decile_waits() {
	local method

	window waits_window "$@" || return
	for method in "${methods[@]}"; do
		ok "$method: $1: every decile is that of the capture" waits_deciles "$method"
		ok "$method: $1: those of wakeup, too" wakeup_deciles "$method"
		ok "$method: $1: and without filters" usual_deciles "$method"
		balance "$method: $1" "$method"
	done
}

# The request and the switch are between the peer's two readings of the clock, and most of that time.
peer_saw() { deciles "$1" wakeup wakeup peer && wakeup_deciles "$1"; }

# longer NAME: compares medians, because the higher quantiles include waits without a request
longer() {
	local low high least

	read_slots "$1" runqlat
	decile 5
	least=$low
	read_slots "$1" wakeup
	decile 5
	is_within "$least" "$high" "$forever"
}

peers() {
	local method rounds=300

	[ -z "${LATSCOPE_VM-}" ] || rounds=60
	window waits_window peer $rounds || return
	for method in "${methods[@]}"; do
		ok "$method: peer: wakeup is no more than what the peer saw" peer_saw "$method"
		ok "$method: peer: wakeup is longer than run_queue" longer "$method"
	done
}

all_shapes() {
	local times=5

	[ -z "${LATSCOPE_VM-}" ] || times=1
	decile_waits idle $((60 * times)) # the run queue's clock stands still from such a wakeup to the switch
	on 6.12 decile_waits half $((60 * times))
	on 6.1 decile_waits over $((20 * times))
	on 6.12 summed_waits over $((20 * times))
	summed_waits repin $((20 * times))
	on 6.12 summed_waits lazy $((20 * times))
	on 6.1 peers
}

# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# shellcheck disable=SC2004,SC2034,SC2154 # set by window.sh (facts is associative), used by the tests
# Facts: the numbers in the recordings of a window, by facts.sql. KEY is
#	METRIC.events .sum_ns .max_ns .tail           of the metric; the first metric of a probe has the probe's name
#	METRIC.SPLIT.KEY.events .sum_ns .max_ns       of one key of a split
#	METRIC.seen .filtered .missed_start ...       the terms of the accounting
#	PROBE.program_ns                              time of the programs for one event, while it was measured
#	PROBE.in_flight .in_flight_ns .in_flight_before .method .recursion_missed .no_event
#
#	fact NAME KEY                      prints a number; 0 if the recording has no such number
#	at_least NAME METRIC LOW           prints how many samples are LOW ns or longer
#	between NAME METRIC LOW HIGH       prints how many samples are from LOW to HIGH ns
#	most_ns NAME METRIC LOW HIGH       prints the time that these make up, at most
#	keys NAME METRIC.SPLIT             prints the keys that have an event
#	read_slots, slot_of                for percentiles

# read_facts NAME...: sets facts[NAME KEY] from the recordings of these recorders, or from the recording below $w/NAME. One
# sqlite3 reads them all: in the VM its start takes as long as a recording.
read_facts() {
	local name='' line paths

	while IFS= read -r line; do
		[[ $line != '@ '* ]] || name=${line#@ }
		facts[$name ${line%%=*}]=${line#*=}
	done < <(
		for name; do
			paths=("$w/$name"/*/run.db)
			[ ! -e "${paths[0]}" ] ||
				printf '%s\n' ".print '@ $name'" ".open --readonly '${paths[0]}'" '.read tests/probes/facts.sql'
		done | sqlite3 -separator $'\n' 2>&1
	)
}

fact() { echo "${facts[$1 $2]-0}"; }

# read_slots NAME METRIC: reads the slots that hold a sample, the shortest first. Sets, for slot I, its edges ${lows[I]} and
# ${highs[I]} (ns), and ${sums[I]}, the number of samples up to this slot; and $samples, the number of all samples.
read_slots() {
	local slot rest

	lows=() highs=() sums=() samples=0
	for slot in ${facts[$1 $2.hist]-}; do # starts no process: there are hundreds of slots
		rest=${slot#*:}
		samples=$((samples + ${rest#*:}))
		lows+=("${slot%%:*}") highs+=("${rest%:*}") sums+=("$samples")
	done
}

# slot_of RANK: sets $i to the slot, among those read last, with the sample of that rank (from 0), or to the last slot
slot_of() {
	for ((i = 0; i < ${#sums[@]} - 1; i++)); do
		[ "${sums[i]}" -le "$1" ] || return 0
	done
}

# sum_slots NAME METRIC LOW HIGH: sets $count, the samples in slots that overlap LOW to HIGH (ns), and $most_ns, the longest
# time that these samples can make up
sum_slots() {
	local i before=0

	count=0 most_ns=0
	read_slots "$1" "$2"
	for i in "${!sums[@]}"; do
		if [ "${highs[i]}" -gt "$3" ] && [ "${lows[i]}" -le "$4" ]; then
			count=$((count + sums[i] - before))
			most_ns=$((most_ns + highs[i] * (sums[i] - before)))
		fi
		before=${sums[i]}
	done
}

between() {
	local count most_ns

	sum_slots "$@"
	echo "$count"
}

most_ns() {
	local count most_ns

	sum_slots "$@"
	echo "$most_ns"
}

forever=$((1 << 62)) # ns

at_least() { between "$1" "$2" "$3" "$forever"; }

# keys NAME METRIC.SPLIT: sorted, each with a blank after it
keys() {
	local fact key

	for fact in "${!facts[@]}"; do
		key=${fact#"$1 $2."}
		[ "$key" = "$fact" ] || [ "${key%.events}" = "$key" ] || [ "${facts[$fact]}" = 0 ] || echo "${key%.events}"
	done | sort | tr '\n' ' '
}

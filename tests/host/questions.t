#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# First questions of somebody with a slow machine: the command, and where its answer stands. All are within a screen of 24 lines.
. "$(dirname "$0")/host.sh"

# asks QUESTION REGEX ARG...: the answer of a command, and its line
asks() {
	local line

	run "${@:3}"
	line=$(grep -nE -m 1 -- "$2" <<<"$out" | cut -d: -f1)
	within "$1" 1 "${line:-0}" 24
	[ -n "$line" ] || diag "latscope ${*:3}: $err$'\n'$out"
}

row='^[^ ]+ ?\([0-9]+( tasks)?\) +[0-9]'
percentiles='^ +[a-z_]+ +[0-9.]+ [num]?s '

"$latscope" record -q -o "$dir/old" --by process -- "$latscope" load mixed -q -d 2s >/dev/null
"$latscope" record -q -o "$dir/new" --by process -- "$latscope" load mixed -q -d 2s >/dev/null
old=$(recording "$dir/old") new=$(recording "$dir/new")
"$latscope" load mixed -q -d 30min &
load=$!
on_exit kill $load

asks 'what waits on this machine?' '^[a-z].* [0-9.]+ (s|ms) +[0-9.]+ ' -d 500ms
asks 'who makes it wait?' ' is behind [0-9]+ % of the waiting of others| had the CPU for ' -d 500ms
asks 'is it short of CPU?' '^CPU .* tasks? waiting on average' -d 300ms
asks 'of memory?' '^memory ' -d 300ms
asks 'is a disk too slow?' '^disk ' -d 300ms
asks 'does it wait for locks?' '^locks ' -d 300ms
asks 'how much is not explained?' '^Not explained: ' -d 300ms
asks 'what do I type next?' '^Next: latscope ' -d 300ms
asks 'where does the time of this process go?' '^ +on a CPU ' -p $load -d 300ms
asks 'what does this service wait for?' '^ +waited for a CPU ' --comm latscope -d 300ms
asks 'where does the time of this command go?' '^ +on a CPU ' -- sleep .2
asks 'how long do tasks wait for a CPU?' "$percentiles" runqlat -d 300ms
asks 'which process waits longest for a CPU?' "$row" runqlat --by process -d 300ms
asks 'who had the CPU meanwhile?' ' had the CPU' why -d 1s --over 1ms
asks 'how long do page faults take?' "$percentiles" memlat -d 300ms
asks 'which process has most of them?' "$row" memlat --by process -d 300ms
asks 'how long do requests of disks take?' "$percentiles" iolat -d 500ms
asks 'which disk is slow?' '^[a-z]+[a-z0-9-]* +[0-9,]+ +[0-9.]+ ' iolat --by disk -d 500ms
asks 'reads or writes?' '^(read|write) +[0-9]' iolat --by op -d 500ms
asks 'how long do softirqs run?' "$percentiles" softirq -d 300ms
asks 'which ones?' '^(timer|net_rx|sched|rcu|block|hrtimer|tasklet) +[0-9]' softirq --by vector -d 300ms
asks 'in which system calls do threads sleep?' '^[a-z_0-9]+ +(timer|work|socket|futex|child|disk) ' where --by call -d 300ms
asks 'which threads wait?' "$row" where --threads -d 300ms
asks 'which cgroup waits?' '^/' where --by cgroup -d 300ms
asks 'does it change from second to second?' '^ *[0-9.]+ s .* runqlat | runqlat +[0-9]' record -i 200ms -d 1s -o "$dir/lines"
asks 'what was in the recording?' '^who waited ' report "$old"
asks 'is it worse than before?' '^(WORSE|BETTER|SAME|UNKNOWN|NOTHING|CANNOT)' compare "$old" "$new"
asks 'what can this machine measure?' 'runqlat' doctor
asks 'which commands are there?' '^ +top ' --help
asks 'which loads can I try?' '^ +--tasks' load --help
done_testing

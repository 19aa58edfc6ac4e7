#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# why: its options, its output, and what it blames, on this machine.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/cli/cli.sh

check 'why --help' 0 '' 'Usage: latscope why .*--over=LIMIT.*latscope why -d 10s' why --help
wrong 'an invalid threshold' "--over 'soon': invalid threshold; use 1ms, 500us or p99.9" why --over soon
wrong 'a threshold of 0' "--over '0': invalid threshold" why --over 0
wrong 'a percentile below the median' '--over p49: use p50 to p99.9999' why --over p49
wrong 'a percentile of 100' '--over p100: use' why --over p100
wrong 'no room for events' '--events 0: use a number from 1 to 65536' why --events 0
wrong 'a split that is no task' '--by takes one of process, thread, cgroup' why --by disk
wrong 'two splits' '--by takes one of process, thread, cgroup' why --by process,cgroup
wrong 'record: --over without --why' '--over and --events need --why' record --over 1ms
wrong 'CSV on the terminal' '--csv is for one probe' why --csv
refuses 'an unknown method' 2 "no method 'fast'" why --method fast
skip_unless_able
refuses 'a method that cannot explain' 77 'runqlat.*tp_btf.*cannot do --why' why --method tp_btf

. tests/probes/why.sh

# shellcheck disable=SC2154 # cli.sh sets these
has_parts() {
	jq -e '.probes[0].why | .slow_ns == ([.parts_ns[]] | add) and (.pairs | length > 0)
		and (.slowest | length > 0 and all(.ns == ([.parts_ns[]] | add)))
		and (.conclusion | test("%"))' <<<"$out" >/dev/null
}
check 'why: text has a conclusion, parts, pairs and the slowest' 0 '' \
	'runqlat: .*samples took at least.*% of the slow time.*where the slow time went.*victim +culprit.*slowest' \
	why -q --over 10us -- "$built/tests/reference/culprits" one "$why_cpu" 300
run why -q --json --over 10us -- "$built/tests/reference/culprits" one "$why_cpu" 300
out=$(sed -n '/^{/,$p' <<<"$out")
ok 'why --json: all sums are the same' has_parts
check 'record --why: the recording has it' 0 '' 'runqlat.*the slow time.*where the slow time went' \
	record -q --why --over 10us -o "$dir/runs" -- "$built/tests/reference/culprits" one "$why_cpu" 300
check 'report prints it again' 0 '' 'the slow time.*where the slow time went.*slowest' report "$(recording "$dir/runs")"
run report --json "$(recording "$dir/runs")"
out=$(jq '.probes |= map(select(.module == "runqlat"))' <<<"$out")
ok 'report --json: all sums are the same' has_parts
check 'by cgroup' 0 '' 'victim +culprit.*/' why -q --by cgroup --over 1us -- "$built/tests/reference/culprits" one "$why_cpu" 300
check 'by thread' 0 '' 'hog1 \([0-9]+\)' why -q --by thread --over 10us -- "$built/tests/reference/culprits" one "$why_cpu" 300
check 'a ring buffer too small says so' 0 '' 'found no room; see --events' \
	why -q --events 1 --over 1us -- "$latscope" load pingpong -d 1s
check 'a threshold below the median is raised, and it says so' 0 'over 1 us: [0-9,]+/s samples; only those over .* are explained' 'at least 1.00 us to ' \
	why -d 1s --over 1us -- "$latscope" load pingpong -d 1s
done_testing

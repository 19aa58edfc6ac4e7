#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# libFuzzer searches for steps in which the book of RMIDs and its oracle differ.
. "$(dirname "$0")/cli.sh"

limit=-runs=2000
[ -z "${LATSCOPE_SOAK-}" ] || limit=-max_total_time=600

fuzzed() {
	mkdir "$dir/corpus"
	.output/tests/rmid/fuzz -seed=1 -max_len=1200 -len_control=0 "$limit" -print_final_stats=1 \
		-artifact_prefix="$dir/" "$dir/corpus" >"$dir/log" 2>&1 || { tail -n 30 "$dir/log" && false; }
}

ok 'no input makes them differ' fuzzed
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/log")
ok "it tried more than 100 ($runs)" test "${runs:-0}" -gt 100
done_testing

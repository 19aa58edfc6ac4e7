#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# How often compare and fleet compare are wrong, and how often they find a real difference: bench/compare-power with smaller
# numbers. The numbers are the same in every run.
. "$(dirname "$0")/cli.sh"

pairs=60
[ -z "${LATSCOPE_SOAK-}" ] || pairs=1000

# within VALUE LIMIT: the share of wrong verdicts, three standard errors allowed
within() { awk -v v="$1" -v l="$2" -v n="$pairs" 'BEGIN { exit !(v <= l + 3 * sqrt(l * (100 - l) / n)) }'; }
beyond() { awk -v v="$1" -v l="$2" 'BEGIN { exit !(v >= l) }'; }

while read -r figure value _ limit _; do
	figure=${figure#*=} value=${value#*=} at=${limit#*=}
	case $limit in
	limit=*) ok "$figure: $value %, at most $at" within "$value" "$at" ;;
	least=*) ok "$figure: $value %, at least $at" beyond "$value" "$at" ;;
	esac
done < <(.output/bench/power -n $pairs && .output/bench/fleet -n $pairs)
ok 'there are figures' test "${tap_count-0}" -gt 10
done_testing

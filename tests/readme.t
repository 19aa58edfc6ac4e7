#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone last
# The table in README.md of what runs on which kernel is the one that the suites of tests/vm found.
set -u
cd "$(dirname "$0")/.." || exit
. tests/tap.sh

missing=''
for suite in tests/vm/{compact,rmid}-*.t tests/vm/probes-6.1.t tests/vm/ringlat-[67]*.t; do
	[[ $suite != */compact-6.1.t ]] || continue # of make soak only: probes-6.1.t has that kernel
	log=.output/tests/log/vm-$(basename "$suite").log
	grep -qs '^1\.\.[1-9]' "$log" || missing+=" $(basename "$suite")"
done
if [ -z "$missing" ]; then
	ok 'README.md has the table that the suites give' tests/matrix -c
else
	skip 'README.md has the table that the suites give' "not all suites have run: $missing; make matrix runs them"
fi
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# rmid with the module and without, on each kernel of the VM.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/tap.sh

for series in 6.1 6.12; do
	if ! modules=$(tests/kmod/build $series 2>&1); then
		skip "$series: rmid with its module" "${modules##*$'\n'}"
	elif [ ! -e "$modules/rmid.ko" ]; then
		skip "$series: rmid with its module" 'there is no module rmid in this tree'
	else
		# Interrupts are emulated, too: an account that leaves them out would be off by whole stalls.
		ok "$series: rmid with its module" tests/vm/run -k $series -t 280 -a tsc=noirqtime \
			tests/probes/rmid-guest "$modules/rmid.ko"
	fi
done
done_testing

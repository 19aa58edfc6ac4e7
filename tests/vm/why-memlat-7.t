#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slower
# The parts of slow page faults, by every method, on kernel 7.
[ -n "${LATSCOPE_SOAK-}" ] || {
	echo '1..0 # SKIP why-memlat-6.12.t has the same on 6.12; make soak runs this suite'
	exit 0
}
exec "$(dirname "$0")/../probes/why-memlat-vm" 7

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# Each method of the probes with one known latency, on kernel 6.1.
[ -n "${LATSCOPE_SOAK-}" ] || {
	echo '1..0 # SKIP probes-6.1.t has none and full, and probes-6.12.t has voluntary; make soak runs this suite'
	exit 0
}
exec "$(dirname "$0")/../probes/in-vm" 6.1 '' 'voluntary none full'

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Each method of the probes against one known latency, on kernel 6.1.
[ -n "${LATSCOPE_SOAK-}" ] || {
	echo '1..0 # SKIP probes-6.1.t has this kernel, and compact-6.12.t the preemption models; make soak runs this suite'
	exit 0
}
exec "$(dirname "$0")/../probes/in-vm" 6.1 compact

#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# What runqlat blames for slow waits, on kernel 6.1.
[ -n "${LATSCOPE_SOAK-}" ] || {
	echo '1..0 # SKIP why-6.12.t has the same on 6.12; make soak runs this suite'
	exit 0
}
cd "$(dirname "$0")/../.." || exit
tests/vm/kernel 6.1 >/dev/null || { echo '1..0 # SKIP there is no 6.1 kernel here' && exit 0; }
exec tests/vm/run -k 6.1 -- bash -uc '. tests/tap.sh && . tests/probes/why.sh && done_testing'

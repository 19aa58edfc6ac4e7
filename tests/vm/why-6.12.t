#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# What runqlat blames for slow waits, on kernel 6.12.
cd "$(dirname "$0")/../.." || exit
tests/vm/kernel 6.12 >/dev/null || { echo '1..0 # SKIP there is no 6.12 kernel here' && exit 0; }
exec tests/vm/run -k 6.12 -- bash -uc '. tests/tap.sh && . tests/probes/why.sh && done_testing'

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Random workloads on this machine's own kernel, on CPUs that run at the same time: tests/kernels/torture-* has them on others.
set -u
cd "$(dirname "$0")" || exit
if [ -n "${LATSCOPE_SOAK-}" ]; then
	exec ../torture/run -n 100 -t 5000
fi
exec ../torture/run -s 1 -n 1 -t 1000

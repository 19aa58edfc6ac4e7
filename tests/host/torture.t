#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# Random workloads on this kernel.
set -u
cd "$(dirname "$0")" || exit
if [ -n "${LATSCOPE_SOAK-}" ]; then
	exec ./run -n 100 -t 5000
fi
exec ./run -s 1 -n 3 -t 2000

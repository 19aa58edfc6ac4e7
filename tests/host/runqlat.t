#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# runqlat on this machine, compared with known latencies.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/probes/runqlat.sh
done_testing

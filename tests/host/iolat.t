#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# iolat on this machine, compared with known latencies.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/probes/iolat.sh
done_testing

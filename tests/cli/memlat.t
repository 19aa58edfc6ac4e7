#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# memlat on this machine, held against known latencies.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/probes/memlat.sh
done_testing

#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# iolat loads into this machine's own kernel, by every method, and counts and times the requests of a loop device on a real disk, by
# real clocks. tests/kernels/probes-* have every kind of request and a disk of a known delay.
cd "$(dirname "$0")/../.." || exit
. tests/probes/iolat.sh
done_testing

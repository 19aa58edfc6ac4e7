#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: alone
# The parts of slow block requests, on this machine's own kernel and in its time. tests/kernels/why-* have every part on others.
exec "$(dirname "$0")/../probes/why-iolat.sh"

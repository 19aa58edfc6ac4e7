#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slowest
# Every method of every probe compared with known latencies, on kernel 6.12.
exec "$(dirname "$0")/../probes/in-vm" 6.12 voluntary ''

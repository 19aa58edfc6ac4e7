#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# Each method of the probes with one known latency, on kernel 6.1-rt.
exec "$(dirname "$0")/../probes/in-vm" 6.1-rt '' 'none lazy full'

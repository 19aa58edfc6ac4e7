#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# Each method of the probes with one known latency, on kernel 7.
exec "$(dirname "$0")/../probes/in-vm" 7 '' 'none lazy full'

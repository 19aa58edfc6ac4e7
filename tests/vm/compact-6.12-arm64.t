#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slow
# Each method of the probes with one known latency, on arm64.
exec "$(dirname "$0")/../probes/in-vm" 6.12-arm64 '' 'none lazy full'

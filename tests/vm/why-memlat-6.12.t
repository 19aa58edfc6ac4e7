#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: slower
# The parts of slow page faults, by every method, on kernel 6.12.
exec "$(dirname "$0")/../probes/why-memlat-vm" 6.12

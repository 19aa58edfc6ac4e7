#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# suite: native
# The parts of slow page faults, on this kernel.
exec "$(dirname "$0")/../probes/why-memlat.sh"
